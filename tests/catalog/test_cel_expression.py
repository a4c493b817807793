"""What the tree of a selector holds, and when two are equal."""

import pytest

from poolwright.catalog.cel import (
    Call,
    Comprehension,
    Const,
    Expr,
    Ident,
    ListExpr,
    MapEntry,
    MapExpr,
    Select,
    parse_cel,
)

A = 'device.attributes["a.test"]'
DEVICE = Ident(name="device.attributes")
DOMAIN = Call(function="_[_]", args=(DEVICE, Const(kind="string", value="a.test")), overloads=("index_map",))
TRUE = Const(kind="bool", value=True)
RESULT = Ident(name="@result")


def number(value: int) -> Const:
    return Const(kind="int", value=value)


TREES: dict[str, tuple[str, Expr]] = {
    "a-constant": ("true", TRUE),
    "a-field-of-the-device-is-a-name": (
        "device.allowMultipleAllocations",
        Ident(name="device.allowMultipleAllocations"),
    ),
    "a-selection": (f"{A}.x", Select(operand=DOMAIN, field="x")),
    "has-is-a-selection-that-tests": (f"has({A}.x)", Select(operand=DOMAIN, field="x", test_only=True)),
    "kinds-of-constants": (
        '[dyn(1)].includes(1u) || dyn(-2.5) == null && b"\\xff" == b"" && "é" == ""',
        Call(
            function="_||_",
            overloads=("logical_or",),
            args=(
                Call(
                    function="includes",
                    target=ListExpr(elements=(Call(function="dyn", args=(number(1),), overloads=("to_dyn",)),)),
                    args=(Const(kind="uint", value=1),),
                    overloads=("list_includes_dyn_dyn",),
                ),
                Call(
                    function="_&&_",
                    overloads=("logical_and",),
                    args=(
                        Call(
                            function="_==_",
                            overloads=("equals",),
                            args=(
                                Call(function="dyn", args=(Const(kind="double", value=-2.5),), overloads=("to_dyn",)),
                                Const(kind="null", value=None),
                            ),
                        ),
                        Call(
                            function="_==_",
                            overloads=("equals",),
                            args=(Const(kind="bytes", value=b"\xff"), Const(kind="bytes", value=b"")),
                        ),
                        Call(
                            function="_==_",
                            overloads=("equals",),
                            args=(Const(kind="string", value="é"), Const(kind="string", value="")),
                        ),
                    ),
                ),
            ),
        ),
    ),
    "optional-parts": (
        '[?{?"k": optional.of(1)}.?k] == []',
        Call(
            function="_==_",
            overloads=("equals",),
            args=(
                ListExpr(
                    elements=(
                        Call(
                            function="_?._",
                            overloads=("select_optional_field",),
                            args=(
                                MapExpr(
                                    entries=(
                                        MapEntry(
                                            key=Const(kind="string", value="k"),
                                            value=Call(
                                                function="optional.of", args=(number(1),), overloads=("optional_of",)
                                            ),
                                            optional=True,
                                        ),
                                    )
                                ),
                                Const(kind="string", value="k"),
                            ),
                        ),
                    ),
                    optional=(0,),
                ),
                ListExpr(),
            ),
        ),
    ),
    "a-macro-is-expanded": (
        "[1].all(i, i > 0)",
        Comprehension(
            iter_var="i",
            iter_var2=None,
            iter_range=ListExpr(elements=(number(1),)),
            accu_var="@result",
            accu_init=TRUE,
            condition=Call(function="@not_strictly_false", args=(RESULT,), overloads=("not_strictly_false",)),
            step=Call(
                function="_&&_",
                overloads=("logical_and",),
                args=(
                    RESULT,
                    Call(function="_>_", args=(Ident(name="i"), number(0)), overloads=("greater_int64",)),
                ),
            ),
            result=RESULT,
        ),
    ),
    "bind-is-a-loop-over-nothing": (
        f"cel.bind(v, {A}.x, v)",
        Comprehension(
            iter_var="#unused",
            iter_var2=None,
            iter_range=ListExpr(),
            accu_var="v",
            accu_init=Select(operand=DOMAIN, field="x"),
            condition=Const(kind="bool", value=False),
            step=Ident(name="v"),
            result=Ident(name="v"),
        ),
    ),
    "two-variables": (
        "{1: 2}.exists(k, v, k == v)",
        Comprehension(
            iter_var="k",
            iter_var2="v",
            iter_range=MapExpr(entries=(MapEntry(key=number(1), value=number(2)),)),
            accu_var="@result",
            accu_init=Const(kind="bool", value=False),
            condition=Call(
                function="@not_strictly_false",
                overloads=("not_strictly_false",),
                args=(Call(function="!_", args=(RESULT,), overloads=("logical_not",)),),
            ),
            step=Call(
                function="_||_",
                overloads=("logical_or",),
                args=(
                    RESULT,
                    Call(function="_==_", args=(Ident(name="k"), Ident(name="v")), overloads=("equals",)),
                ),
            ),
            result=RESULT,
        ),
    ),
    # What the attribute is shows only at run time, so every overload that could serve is kept.
    "candidates-of-a-dynamic-receiver": (
        f"{A}.x.compareTo({A}.y) == 0",
        Call(
            function="_==_",
            overloads=("equals",),
            args=(
                Call(
                    function="compareTo",
                    target=Select(operand=DOMAIN, field="x"),
                    args=(Select(operand=DOMAIN, field="y"),),
                    overloads=("quantity_compare_to", "semver_compare_to"),
                ),
                number(0),
            ),
        ),
    ),
}


@pytest.mark.parametrize(("text", "root"), TREES.values(), ids=TREES.keys())
def test_tree(text: str, root: Expr) -> None:
    expression = parse_cel(text)
    assert (expression.root, expression.text) == (root, text)


@pytest.mark.parametrize(
    ("text", "result"),
    [("true", "bool"), (f"{A}.x", "dyn"), (f"{A}.x == 1", "bool"), (f"true ? {A}.x : false", "dyn"), ("dyn(1)", "dyn")],
    ids=["a-bool", "an-attribute", "a-comparison", "a-conclusion-that-may-be-either", "a-value-made-dynamic"],
)
def test_result(text: str, result: str) -> None:
    assert parse_cel(text).result == result


def test_nodes_know_their_ids_and_places() -> None:
    root = parse_cel('"é" ==\n  device.driver').root
    assert isinstance(root, Call)
    left, right = root.args
    assert [(node.offset, node.id) for node in (root, left, right)] == [(4, 2), (0, 1), (15, 4)]


def test_equality_is_of_meaning() -> None:
    plain = parse_cel("true && (false || true)")
    assert parse_cel("(true) &&  (false||true) // really") == plain
    assert parse_cel("true && (true || false)") != plain
    assert parse_cel("1 == 2") != parse_cel("1u == 2u")
