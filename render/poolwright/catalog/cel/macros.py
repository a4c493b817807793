"""Reads expanded macros back: which macro call a node stands for.

The checker expands macros and keeps no record of them, but each leaves its own shape, and nothing else can be written
that makes one. Where two macros make the same shape, the shorter one is given: `map(x, p, x)` is `filter(x, p)`.

Shapes: cel-spec's standard macros, cel-go's ext/comprehensions, ext/bindings, ext/lists and optional types.
"""

from __future__ import annotations

import msgspec

from poolwright.catalog.cel.expression import Call, Comprehension, Const, Expr, Ident, ListExpr, MapExpr

_SORT_INPUT = "@__sortBy_input__"


class Macro(msgspec.Struct, frozen=True, kw_only=True):
    """`target.function(args)`; `cel.bind` has no target, and `cel.bind` for its function."""

    function: str
    target: Expr | None
    args: tuple[Expr, ...]  # variables first, each an Ident


def read_macro(expr: Expr) -> Macro | None:
    """The macro call this node stands for; None where it stands for itself, as every node but an expanded one does."""
    match expr:
        case Comprehension(iter_var="#unused"):
            return _read_sort_by(expr) or _read_bind(expr)
        case Comprehension():
            variables = tuple(Ident(name=name) for name in (expr.iter_var, expr.iter_var2) if name is not None)
            found = _read_fold(expr, variables)
            return found and Macro(function=found[0], target=expr.iter_range, args=(*variables, *found[1]))
        case Call(function="_?_:_"):
            return _read_optional_map(expr)
        case _:
            return None


def _read_fold(expr: Comprehension, variables: tuple[Ident, ...]) -> tuple[str, tuple[Expr, ...]] | None:
    """The name of the macro over a list or map, and its arguments after the variables."""
    two = len(variables) == 2
    match expr.accu_init, expr.step:
        case Const(value=True), Call(function="_&&_", args=(_, *parts)):
            return "all", (_chain("_&&_", parts),)
        case Const(value=False), Call(function="_||_", args=(_, *parts)):
            return "exists", (_chain("_||_", parts),)
        case Const(kind="int"), Call(function="_?_:_", args=(predicate, _, _)):
            return ("existsOne" if two else "exists_one"), (predicate,)
        case ((ListExpr() | MapExpr()), Call(function="_?_:_", args=(predicate, step, _))):
            name, value = _read_insert(step, two)
            return ("filter", (predicate,)) if not two and value == variables[0] else (name, (predicate, value))
        case ((ListExpr() | MapExpr()), step):
            name, value = _read_insert(step, two)
            return name, (value,)
    return None


def _read_insert(step: Expr, two: bool) -> tuple[str, Expr]:
    """What one round of a collecting macro adds, and the macro that adds it so."""
    match step:
        case Call(function="_+_", args=(_, ListExpr(elements=(value,)))):
            return ("transformList" if two else "map"), value
        case Call(function="cel.@mapInsert", args=(_, _, value)):
            return "transformMap", value
        case Call(function="cel.@mapInsert", args=(_, entry)):
            return "transformMapEntry", entry
    raise ValueError(f"no macro collects like this: {step}")


def _chain(function: str, parts: list[Expr]) -> Expr:
    """The macro's predicate, split up where it was itself a chain of the operator that collects the rounds."""
    return parts[0] if len(parts) == 1 else Call(function=function, args=tuple(parts))


def _read_bind(expr: Comprehension) -> Macro:
    return Macro(function="cel.bind", target=None, args=(Ident(name=expr.accu_var), expr.accu_init, expr.result))


def _read_sort_by(expr: Comprehension) -> Macro | None:
    match expr:
        case Comprehension(accu_var=name, result=Call(args=(Comprehension() as keys,))) if name == _SORT_INPUT:
            key_of = read_macro(keys)
            return key_of and Macro(function="sortBy", target=expr.accu_init, args=key_of.args)
    return None


def _read_optional_map(expr: Call) -> Macro | None:
    """`t.optMap(v, e)` is `t.hasValue() ? optional.of(cel.bind(v, t.value(), e)) : optional.none()`."""
    match expr.args:
        case (
            Call(function="hasValue", target=target, args=()),
            Call(function="optional.of", args=(Comprehension() as bound,)),
            Call(function="optional.none", args=()),
        ):
            name = "optMap"
        case (
            Call(function="hasValue", target=target, args=()),
            Comprehension() as bound,
            Call(function="optional.none", args=()),
        ):
            name = "optFlatMap"
        case _:
            return None
    match bound:
        case Comprehension(iter_var="#unused", accu_init=Call(function="value", target=same, args=())):
            if target is not None and same == target and bound.accu_var != _SORT_INPUT:
                return Macro(function=name, target=target, args=(Ident(name=bound.accu_var), bound.result))
    return None
