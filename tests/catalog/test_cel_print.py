"""The normal form: a table of what it makes of source text, and the laws it keeps on expressions of any shape."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poolwright.catalog.cel import parse_cel, render_cel

A = 'device.attributes["a.test"]'

FORMS = {
    # spaces, brackets, comments
    "one-space-around-operators": ("1+2*3==7&&!false", "1 + 2 * 3 == 7 && !false"),
    "no-line-breaks": ("true\n  && // always\n\tfalse", "true && false"),
    "no-needless-brackets": ("((true)) || ((false) && (true))", "true || false && true"),
    "needed-brackets": ("(true || false) && !(true && false)", "(true || false) && !(true && false)"),
    "chains-read-from-the-left": ("(5 - 2) - 1 == 5 - (2 - 1)", "5 - 2 - 1 == 5 - (2 - 1)"),
    # However a chain is bracketed, it gives one answer.
    "chains-of-and-or-have-no-brackets": ("true || (false || (true || false))", "true || false || true || false"),
    "operands-stay-in-order": ("false && true || true && false", "false && true || true && false"),
    "relations-in-relations": ("(1 == 2) == (3 == 4)", "1 == 2 == (3 == 4)"),
    "a-conclusion": ("true?false:true?true:false", "true ? false : true ? true : false"),
    "a-conclusion-as-condition": ("(true ? false : true) ? true : false", "(true ? false : true) ? true : false"),
    "a-conclusion-as-first-outcome": ("true ? (true ? false : true) : true", "true ? (true ? false : true) : true"),
    "a-conclusion-as-operand": ("!(true ? false : true)", "!(true ? false : true)"),
    "double-signs-vanish": ("!!true && --1 == 1", "true && 1 == 1"),
    "bracketed-signs-stay": ("!(!true) && -(-1) == 1", "!(!true) && -(-1) == 1"),
    "a-negated-number-is-no-negative-number": ("-(1) == -1", "-(1) == -1"),
    "in-binds-as-a-relation": ("!('a' in ['a'])", '!("a" in ["a"])'),
    # constants
    "strings-in-double-quotes": ("'it\\'s' == \"\\'\"", '"it\'s" == "\'"'),
    "raw-and-long-strings": ("r'\\d\"' == '''a\nb'''", '"\\\\d\\"" == "a\\nb"'),
    "escapes-that-reviewers-can-see": (
        '"\\x41\\101\\u00e9\\U0001F600\t\\a" == "é\u202e"',
        '"AA\\u00e9\\U0001f600\\t\\u0007" == "\\u00e9\\u202e"',
    ),
    "bytes-as-text-or-hexadecimals": ("b'a\"\\xff\\n' == b'\\101'", 'b"a\\"\\xff\\x0a" == b"A"'),
    "whole-numbers-in-decimals": ("0xFF == 0x10 && 7U == 0xau", "255 == 16 && 7u == 10u"),
    "the-lowest-int": ("-9223372036854775808 < 0", "-9223372036854775808 < 0"),
    "doubles-by-their-shortest-digits": (
        "1e2 < .5 && 1.50 < 1E-7 && 1e22 < -0.0",
        "100.0 < 0.5 && 1.5 < 1e-7 && 1e22 < -0.0",
    ),
    "functions-of-numbers": ("(-1).includes(1) || 1.5.includes(1)", "(-1).includes(1) || 1.5.includes(1)"),
    "null": ("null==null", "null == null"),
    # access
    "a-field-stays-a-field": (f"{A} . x == {A}['x']", f'{A}.x == {A}["x"]'),
    "the-fields-of-device-are-names": (".device . driver == (device).driver", "device.driver == device.driver"),
    "quoted-fields": (f"{A}.`x-y` == {A}.`x`", f"{A}.`x-y` == {A}.x"),
    "fields-that-are-words-of-cel": (f"{A}.`in` == {A}.type", f"{A}.`in` == {A}.type"),
    "optional-access": (f"{A}.? x.orValue(1) == {A}[ ? 'x' ].value()", f'{A}.?x.orValue(1) == {A}[?"x"].value()'),
    "a-global-that-a-variable-hides": ("[1].exists(int, type(int)==.int)", "[1].exists(int, type(int) == .int)"),
    "a-field-of-device-that-a-variable-hides": (
        'cel.bind(device, {"driver": "x"}, device.driver == .device.driver)',
        'cel.bind(device, {"driver": "x"}, device.driver == .device.driver)',
    ),
    "functions-and-methods-stay-what-they-are": (
        "size('a')==.size('a')&&'a'.size()==1",
        'size("a") == size("a") && "a".size() == 1',
    ),
    "functions-with-dots": ("optional . of(1).hasValue()", "optional.of(1).hasValue()"),
    # lists and maps
    "lists": ("[ ]==[1,2,]", "[] == [1, 2]"),
    "maps-in-their-order": ("{'b':1,'a':2,}=={}", '{"b": 1, "a": 2} == {}'),
    "optional-elements": (
        "[?optional.of(1),2]==[] && {?'a':optional.of(1)}=={}",
        '[?optional.of(1), 2] == [] && {?"a": optional.of(1)} == {}',
    ),
    # macros
    "has": (f"!has( {A} . x )", f"!has({A}.x)"),
    "all-and-exists": ("[1].all(i,i>0)&&[1].exists(i,i>0||i<0)", "[1].all(i, i > 0) && [1].exists(i, i > 0 || i < 0)"),
    "exists-one": ("[1].exists_one(i,i>0)", "[1].exists_one(i, i > 0)"),
    "two-variables": (
        "[1].all(i,v,v>i)&&{'a':1}.exists(k,v,v>0)",
        '[1].all(i, v, v > i) && {"a": 1}.exists(k, v, v > 0)',
    ),
    "exists-one-of-two-variables-has-one-name": (
        "[1].exists_one(i,v,v>0)==[1].existsOne(i,v,v>0)",
        "[1].existsOne(i, v, v > 0) == [1].existsOne(i, v, v > 0)",
    ),
    "map-and-filter": ("[1].map(i,i+1)==[1].filter(i,i>1)", "[1].map(i, i + 1) == [1].filter(i, i > 1)"),
    "map-with-a-condition": ("[1].map(i,i>1,i+1)==[]", "[1].map(i, i > 1, i + 1) == []"),
    "a-map-that-only-filters": ("[1].map(i, i > 1, i) == []", "[1].filter(i, i > 1) == []"),
    "transforms": (
        "[1].transformList(i,v,v)==[1].transformList(i,v,i>0,v)&&{1:2}.transformMap(k,v,v)=={1:2}.transformMap(k,v,v>1,v)",
        "[1].transformList(i, v, v) == [1].transformList(i, v, i > 0, v)"
        " && {1: 2}.transformMap(k, v, v) == {1: 2}.transformMap(k, v, v > 1, v)",
    ),
    "transforms-of-entries": (
        "{1:2}.transformMapEntry(k,v,{v:k})=={1:2}.transformMapEntry(k,v,k<v,{v:k})",
        "{1: 2}.transformMapEntry(k, v, {v: k}) == {1: 2}.transformMapEntry(k, v, k < v, {v: k})",
    ),
    "sort-by": ("[2,1].sortBy(i,-i)==[2,1]", "[2, 1].sortBy(i, -i) == [2, 1]"),
    "bind": (f"cel.bind(d,{A},d.x&&d.y)", f"cel.bind(d, {A}, d.x && d.y)"),
    "optional-maps": (
        f"{A}.?x.optMap(v,v+1).orValue(0)==0||{A}.?x.optFlatMap(v,v.?y).hasValue()",
        f"{A}.?x.optMap(v, v + 1).orValue(0) == 0 || {A}.?x.optFlatMap(v, v.?y).hasValue()",
    ),
    "an-optional-map-written-out": (
        "optional.of(1).hasValue() ? optional.of(cel.bind(v, optional.of(1).value(), v)) == optional.none() : false",
        "optional.of(1).hasValue() ? optional.of(cel.bind(v, optional.of(1).value(), v)) == optional.none() : false",
    ),
    "macros-in-macros": ("[[1]].all(l,l.exists(i,i in l))", "[[1]].all(l, l.exists(i, i in l))"),
}


@pytest.mark.parametrize(("text", "form"), FORMS.values(), ids=FORMS.keys())
def test_normal_form(text: str, form: str) -> None:
    expression = parse_cel(text)
    rendered = render_cel(expression)
    assert rendered == form
    again = parse_cel(rendered)
    assert (again, render_cel(again)) == (expression, form)


@dataclass(frozen=True, slots=True)
class Written:
    """One expression written twice: plainly, and with whatever changes nothing."""

    plain: str
    noisy: str

    def __add__(self, other: "Written") -> "Written":
        return Written(self.plain + other.plain, self.noisy + other.noisy)


# Between two tokens, where a space can stand.
GAPS = st.sampled_from(("", " ", "\n", "\t ", '  // a remark: ) && "\n', "\r\n"))


@st.composite
def write(draw: st.DrawFn, *parts: str | Written) -> Written:
    """Tokens and expressions side by side."""
    whole = Written("", "")
    for part in parts:
        gap = Written(" ", draw(GAPS) or " ")
        whole += gap + (Written(part, part) if isinstance(part, str) else part)
    return whole


@st.composite
def bracket(draw: st.DrawFn, inner: Written) -> Written:
    """Brackets that the plain text needs too, and perhaps more that it doesn't."""
    depth = draw(st.integers(1, 3))
    return Written(f"({inner.plain})", "(" * depth + inner.noisy + draw(GAPS) + ")" * depth)


@st.composite
def write_string(draw: st.DrawFn) -> Written:
    text = draw(st.text(alphabet="ab\"'\\\n\u00e9\U0001f600", max_size=4))
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n")
    double, single = escaped.replace('"', '\\"'), escaped.replace("'", "\\'")
    styles = [f'"{double}"', f"'{single}'", f'"""{double}"""', "'" + "".join(f"\\U{ord(c):08x}" for c in text) + "'"]
    if not set(text) & set("\"'\\\n"):
        styles.append(f'r"{text}"')
    return Written(f'"{double}"', draw(st.sampled_from(styles)))


@st.composite
def write_bool(draw: st.DrawFn, depth: int = 3, names: tuple[str, ...] = ()) -> Written:
    """An expression of type bool, over dynamic values named in `names` and those of a device."""
    kinds = ("attribute", "has", "compare", "in")
    whole = ("chain", "choose", "same", "not", "exists", "bind", "fold")
    kind = draw(st.sampled_from((*whole[:3], *whole) if depth > 1 else (*kinds, *whole) if depth else kinds))
    deeper = write_bool(depth - 1, names)
    value = write_value(depth - 1, names)
    variable = f"v{len(names)}"
    within = (*names, variable)
    match kind:
        case "attribute":
            return draw(write(draw(bracket(draw(value))), "==", draw(bracket(draw(value)))))
        case "has":
            return draw(write("has", "(", draw(write(draw(bracket(draw(value))), ".", "x")), ")"))
        case "compare":
            return draw(write(draw(bracket(draw(value))), draw(st.sampled_from(("<", ">=", "!="))), draw(value)))
        case "in":
            return draw(
                write(draw(bracket(draw(value))), "in", "[", draw(write_string()), ",", draw(write_string()), "]")
            )
        case "chain":
            sign = draw(st.sampled_from(("&&", "||")))
            parts = [draw(bracket(draw(deeper))) for _ in range(draw(st.integers(2, 5)))]
            return draw(write(*[token for part in parts for token in (sign, part)][1:]))
        case "not":
            return draw(write("!", draw(bracket(draw(deeper)))))
        case "same":
            first, second = (draw(bracket(draw(deeper))) for _ in range(2))
            return draw(write(first, draw(st.sampled_from(("==", "!="))), second))
        case "choose":
            first, second, third = (draw(bracket(draw(deeper))) for _ in range(3))
            return draw(write(first, "?", second, ":", third))
        case "exists":
            macro = draw(st.sampled_from(("all", "exists", "exists_one")))
            body = draw(write_bool(depth - 1, within))
            return draw(write(draw(bracket(draw(value))), ".", macro, "(", variable, ",", body, ")"))
        case "bind":
            body = draw(write_bool(depth - 1, within))
            return draw(write("cel.bind", "(", variable, ",", draw(value), ",", body, ")"))
        case _:
            step = draw(write_value(depth - 1, within))
            macro = draw(st.sampled_from(("map", "sortBy")))
            return draw(write(draw(bracket(draw(value))), ".", macro, "(", variable, ",", step, ")", ".size()", "> 0"))


@st.composite
def write_value(draw: st.DrawFn, depth: int, names: tuple[str, ...]) -> Written:
    """An expression of dynamic type."""
    kinds = ("field", "index", "optional", "text", "number", *(("name",) if names else ()))
    match draw(st.sampled_from(kinds if depth <= 0 else (*kinds, *["sum"] * 6, "maybe"))):
        case "field":
            return draw(write(A, ".", draw(st.sampled_from(("x", "y", "type", "`a-b`")))))
        case "index":
            return draw(write(A, "[", draw(write_string()), "]"))
        case "optional":
            return draw(write(A, draw(st.sampled_from((".?x", "[?'x']"))), ".", "orValue", "(", "dyn(1)", ")"))
        case "text":
            return draw(write("dyn", "(", draw(write_string()), ")"))
        case "number":
            number = draw(st.sampled_from(("-1", "255", "2u", "1.5", "-2.5e-7", "1e300")))
            return draw(write("dyn", "(", Written(number, number.replace("255", "0xff")), ")"))
        case "name":
            name = draw(st.sampled_from(names))
            return Written(name, name)
        case "sum":
            sign = draw(st.sampled_from(("+", "-", "*", "/", "%")))
            value = write_value(depth - 1, names)
            return draw(write(draw(bracket(draw(value))), sign, draw(bracket(draw(value)))))
        case _:
            value = write_value(depth - 1, names)
            name = f"o{len(names)}"
            body = draw(write_value(depth - 1, (*names, name)))
            return draw(
                write("optional.of", "(", draw(value), ")", ".", "optMap", "(", name, ",", body, ")", ".value()")
            )


@settings(max_examples=200, deadline=None)
@given(write_bool())
def test_form_keeps_the_tree_and_nothing_else(written: Written) -> None:
    expression = parse_cel(written.plain)
    form = render_cel(expression)
    again = parse_cel(form)
    assert (again, render_cel(again)) == (expression, form)
    noisy = parse_cel(written.noisy)
    assert (noisy, render_cel(noisy)) == (expression, form)
