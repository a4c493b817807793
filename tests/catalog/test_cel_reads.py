"""What a selector reads of a device: a table, and the law that nothing else can change its answer."""

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from poolwright.catalog.cel import Read, find_reads, parse_cel
from poolwright.catalog.cel.environment import build_environment

A = 'device.attributes["a.test"]'
C = 'device.capacity["a.test"]'

X = Read(kind="attribute", domain="a.test", name="x")
X_GUARDED = Read(kind="attribute", domain="a.test", name="x", guarded=True)
Y = Read(kind="attribute", domain="a.test", name="y")
Y_GUARDED = Read(kind="attribute", domain="a.test", name="y", guarded=True)
ANY_NAME = Read(kind="attribute", domain="a.test")
ANY_NAME_GUARDED = Read(kind="attribute", domain="a.test", guarded=True)
X_ANYWHERE = Read(kind="attribute", name="x")
ANYTHING = Read(kind="attribute")
MEM = Read(kind="capacity", domain="a.test", name="mem")
DRIVER = Read(kind="driver")

READS = {
    "nothing": ("true", ()),
    "a-field": (f"{A}.x", (X,)),
    "an-index": (f'{A}["x"]', (X,)),
    "a-quoted-field": (f"{A}.`x`", (X,)),
    "a-domain-as-field": ("device.attributes.domain.x", (Read(kind="attribute", domain="domain", name="x"),)),
    "a-capacity": (f'{C}.mem.isGreaterThan(quantity("1"))', (MEM,)),
    "the-driver": ('device.driver == "a.test"', (DRIVER,)),
    "whether-it-can-be-shared": ("device.allowMultipleAllocations", (Read(kind="allowMultipleAllocations"),)),
    "each-once-in-order": (
        f'{A}.y && {A}.x && device.driver == "" && {C}.mem == {C}.mem && {A}.x && device.attributes["Z"].x',
        (Read(kind="attribute", domain="Z", name="x"), X, Y, MEM, DRIVER),
    ),
    "in-both-outcomes": (
        f"{A}.x ? {A}.y : device.allowMultipleAllocations",
        (Read(kind="allowMultipleAllocations"), X, Y),
    ),
    "inside-an-attribute-nothing-more": (f"{A}.x.y[0].z", (X,)),
    # guards
    "has": (f"has({A}.x)", (X_GUARDED,)),
    "has-beside-a-read": (f"has({A}.x) && {A}.x", (X, X_GUARDED)),
    "has-inside-an-attribute-guards-only-the-inside": (f"has({A}.x.y)", (X,)),
    "in": (f'"x" in {A}', (X_GUARDED,)),
    "in-the-value-of-an-attribute-is-no-guard": (f'"x" in {A}.x', (X,)),
    "optional-field": (f"{A}.?x.orValue(1) == 1", (X_GUARDED,)),
    "optional-index": (f'{A}[?"x"].hasValue()', (X_GUARDED,)),
    "a-field-of-an-optional-domain": ('device.attributes[?"a.test"].x.hasValue()', (X_GUARDED,)),
    "an-optional-chain": ('device.attributes[?"a.test"].?x.orValue(1) == 1', (X_GUARDED,)),
    "an-optional-map": (f"{A}.?x.optMap(v, v == {A}.y).orValue(false)", (X_GUARDED, Y)),
    "a-domain-in-the-map": ('"a.test" in device.attributes', (ANY_NAME_GUARDED,)),
    "has-of-a-domain-as-field": (
        "has(device.attributes.domain)",
        (Read(kind="attribute", domain="domain", guarded=True),),
    ),
    "an-optional-domain-alone": ('device.attributes[?"a.test"].hasValue()', (ANY_NAME_GUARDED,)),
    "a-value-taken-out-of-an-optional-domain": ('device.attributes[?"a.test"].value().x', (X,)),
    "a-default-for-an-optional-domain": (
        f'device.attributes[?"b"].orValue({A}).x',
        (X, Read(kind="attribute", domain="b", name="x")),
    ),
    # computed keys
    "a-computed-name": (f"{A}[device.driver]", (ANY_NAME, DRIVER)),
    "a-computed-domain": ("device.attributes[device.driver].x", (X_ANYWHERE, DRIVER)),
    "a-computed-key-asked-for": (f"device.driver in {A}", (ANY_NAME_GUARDED, DRIVER)),
    "a-key-out-of-another-attribute": (f"{A}[{A}.y]", (ANY_NAME, Y)),
    "a-domain-and-name-in-one-key": (
        'device.attributes["a.test/x"].size() == 0',
        (Read(kind="attribute", domain="a.test/x"),),
    ),
    # maps as values
    "every-name-of-a-domain": (f'{A}.exists(name, name == "x")', (ANY_NAME,)),
    "names-and-values": (f"{A}.all(name, value, value == 1)", (ANY_NAME,)),
    "every-domain": ('device.attributes.exists(d, d == "x")', (ANYTHING,)),
    "every-capacity": ("device.capacity.all(d, names, has(names.mem))", (Read(kind="capacity"),)),
    "a-comparison-of-maps": (f"{A} == {{}}", (ANY_NAME,)),
    "the-size-of-a-map": (f"size({A}) == 1 || {C}.size() == 1", (ANY_NAME, Read(kind="capacity", domain="a.test"))),
    "a-map-in-a-list": (f"[{A}].exists(m, m.x)", (ANY_NAME,)),
    "a-map-in-a-map": (f'{{"m": {A}}}.m.x', (ANY_NAME,)),
    "a-map-in-an-optional": (f"optional.of({A}).value().x", (ANY_NAME,)),
    "a-map-as-a-result": (f"dyn({A})", (ANY_NAME,)),
    "a-map-behind-dyn": (f"dyn({A}).x", (X,)),
    "a-choice-of-maps": (
        f'(device.driver == "" ? {A} : device.attributes["b"]).x',
        (X, Read(kind="attribute", domain="b", name="x"), DRIVER),
    ),
    "a-condition-on-a-map": (f"({A} == {{}} ? 1 : 2) == 1", (ANY_NAME,)),
    # names for maps
    "a-bound-domain": (f"cel.bind(a, {A}, a.x && has(a.y))", (X, Y_GUARDED)),
    "all-domains-bound": ('cel.bind(all, device.attributes, all["a.test"].x)', (X,)),
    "a-name-bound-twice": (
        f'cel.bind(a, {A}, cel.bind(a, device.attributes["b"], a.y) && a.x)',
        (X, Read(kind="attribute", domain="b", name="y")),
    ),
    "a-bound-value": (f"cel.bind(v, {A}.x, v == 1)", (X,)),
    "a-bound-map-that-nobody-reads": (f"cel.bind(a, {A}, true)", ()),
    "a-bound-map-as-a-value": (f"cel.bind(a, {A}, a.size() == 0)", (ANY_NAME,)),
    "a-bound-choice": (f"cel.bind(a, true ? {A} : {{}}, a.x)", (X,)),
    "a-name-bound-in-a-loop": (f"[1].exists(i, cel.bind(a, {A}, a.x == i))", (X,)),
    "a-loop-that-reuses-the-name": (f'cel.bind(a, {A}, [{{"x": true}}].exists(a, a.x))', ()),
    "a-variable-called-device": ('cel.bind(device, {"attributes": {"x": true}}, device.attributes.x)', ()),
    "the-device-behind-such-a-variable": (f"[1].exists(device, .{A}.x == device)", (X,)),
    "sorted-by-an-attribute": (f"[1].sortBy(i, {A}.x == 1 ? i : 2) == []", (X,)),
}


@pytest.mark.parametrize(("text", "reads"), READS.values(), ids=READS.keys())
def test_finds(text: str, reads: tuple[Read, ...]) -> None:
    assert find_reads(parse_cel(text)) == reads


NAMES = ("x", "y")
DOMAINS = ("a", "b")
VALUES = st.sampled_from((0, 1, True, False, "x", "a"))


def write_maps(depth: int, variables: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Expressions for the map of one domain."""
    plain = st.sampled_from(
        ("device.attributes['a']", "device.attributes.b", "device.attributes[?'b'].orValue({})", *variables * 3)
    )
    if depth == 0:
        return plain
    choice = st.builds(lambda c, m, n: f"({c} == 1 ? {m} : {n})", write_values(depth - 1, variables), plain, plain)
    computed = st.builds(lambda v: f"device.attributes[string({v})]", write_values(depth - 1, variables))
    return plain | choice | computed | st.builds(lambda m: f"dyn({m})", plain)


def write_values(depth: int, variables: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Expressions of dynamic type that read attributes in one way or another."""
    if depth == 0:
        return st.sampled_from(("dyn(1)", "dyn('x')", "device.attributes['a'].x", "device.attributes.b['y']"))
    maps, values = write_maps(depth - 1, variables), write_values(depth - 1, variables)
    names = st.sampled_from(NAMES)
    variable = f"m{len(variables)}"
    bound = st.builds(
        lambda m, v: f"cel.bind({variable}, {m}, {v})", maps, write_values(depth - 1, (*variables, variable))
    )
    return st.one_of(
        values,
        bound,
        bound,
        st.builds(lambda m, n: f"{m}.{n}", maps, names),
        st.builds(lambda m, v: f"{m}[{v}]", maps, values),
        st.builds(lambda m, n, v: f"{m}.?{n}.orValue({v})", maps, names, values),
        st.builds(lambda m, n: f"dyn(has({m}.{n}))", maps, names),
        st.builds(lambda m, v: f"dyn({v} in {m})", maps, values),
        st.builds(lambda m: f"dyn({m}.size())", maps),
        st.builds(lambda m, v: f"dyn({m}.exists(k, k == {v}))", maps, values),
        st.builds(lambda m, n: f"dyn([{m}].all(k, has(k.{n})))", maps, names),
        st.builds(lambda v, w, u: f"({v} == {w} ? {u} : {w})", values, values, values),
        st.builds(lambda v, w: f"dyn({v} == 1 || {w} == 1)", values, values),
    )


DEVICES = st.fixed_dictionaries(
    {domain: st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, VALUES)) for domain in DOMAINS}
)


@settings(max_examples=200, deadline=None)
@given(write_values(3, ()), DEVICES, DEVICES)
def test_what_is_not_listed_cannot_change_the_answer(text: str, before: Any, other: Any) -> None:
    reads = find_reads(parse_cel(text))
    seen = {(domain, name) for domain in DOMAINS for name in NAMES if _is_read(reads, domain, name)}
    assume(len(seen) < len(DOMAINS) * len(NAMES))
    after = {
        domain: {
            name: source[domain][name]
            for name in NAMES
            if name in (source := before if (domain, name) in seen else other)[domain]
        }
        for domain in DOMAINS
    }
    assert _evaluate(text, after) == _evaluate(text, before)


def _is_read(reads: tuple[Read, ...], domain: str, name: str) -> bool:
    return any(read.domain in (None, domain) and read.name in (None, name) for read in reads)


def _evaluate(text: str, attributes: dict[str, dict[str, object]]) -> tuple[str, str]:
    """The library's own answer: type and value. Its errors differ in their words, so they count as one."""
    answer = build_environment().compile(text).eval(data={"device.attributes": attributes})
    kind = str(answer.type())
    return kind, "" if kind == "ERROR" else str(answer.value())
