"""From text to a selector: every problem, in words that a selector's author understands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolwright.catalog.cel import CelError, CelProblem, parse_cel, render_cel

A = 'device.attributes["a.test"]'
FIELDS = "device.allowMultipleAllocations, device.attributes, device.capacity, device.driver"

PROBLEMS = {
    # syntax
    "empty": ("", [(1, 1, "the expression ends where more is expected")]),
    "an-operand-too-few": ("true &&", [(1, 8, "the expression ends where more is expected")]),
    "an-operator-too-many": ("true && && false", [(1, 9, "&& can't stand here")]),
    "an-open-bracket": ("(true", [(1, 6, ") is missing at the end")]),
    "two-expressions": ("true false", [(1, 6, "false can't stand here")]),
    "an-assignment": (
        'device.driver = "a"',
        [(1, 15, "= is no operator; equality is =="), (1, 17, '"a" can\'t stand here')],
    ),
    "an-open-string": (
        'device.driver == "a',
        [
            (1, 18, "the string that starts here doesn't end, or has an escape that CEL doesn't know"),
            (1, 20, "the expression ends where more is expected"),
        ],
    ),
    "a-character-that-nothing-starts-with": ("true && # false", [(1, 9, "# can't stand here")]),
    "a-number-too-large": ("9223372036854775808 > 0", [(1, 1, "invalid int literal")]),
    "a-double-too-large": ("1e999 > 0.0", [(1, 1, "the number is too large for a double")]),
    "has-of-an-index": (f"has({A})", [(1, 22, 'has() asks for a field: has(device.attributes["example.com"].x)')]),
    # names
    "an-unknown-field-of-the-device": (
        "device.drivr == 'a'",
        [(1, 7, f"device has no field drivr; there are {FIELDS}")],
    ),
    "the-device-as-a-value": (
        "cel.bind(d, device, d.driver == 'a')",
        [
            (
                1,
                13,
                "device can't be a value of its own here, although Kubernetes allows it;"
                f" name one of its fields: {FIELDS}",
            )
        ],
    ),
    "has-of-a-field-of-the-device": (
        "has(device.allowMultipleAllocations)",
        [
            (
                1,
                4,
                "has(device.allowMultipleAllocations) can't be judged here, although Kubernetes allows it:"
                " it is always true",
            )
        ],
    ),
    "has-of-a-field-of-the-device-in-an-expression": (
        "has(device.driver) && true",
        [
            (1, 1, "has(device.driver) can't be judged here, although Kubernetes allows it: it is always true"),
            (1, 20, "&& can't be applied to (string, bool)"),
        ],
    ),
    "an-unknown-variable": (
        "node == 'a'",
        [(1, 1, "node is neither a variable nor a function here; of variables there is only device")],
    ),
    "an-unknown-function": (
        "device.driver.matchs('a')",
        [(1, 21, "matchs is neither a variable nor a function here; of variables there is only device")],
    ),
    # types
    "every-problem-at-once-by-place": (
        "device.drivr == 1 &&\n  1 + 'a' == 2 ||\n  x",
        [
            (1, 7, f"device has no field drivr; there are {FIELDS}"),
            (2, 5, "+ can't be applied to (int, string)"),
            (3, 3, "x is neither a variable nor a function here; of variables there is only device"),
        ],
    ),
    "columns-count-code-points": (
        '"\U0001f600é" == 1',
        [(1, 6, "== can't be applied to (string, int)")],
    ),
    "quantities-have-no-order": (
        'device.capacity["a.test"].mem > quantity("1")',
        [
            (
                1,
                31,
                "> can't be applied to (kubernetes.Quantity, kubernetes.Quantity);"
                " use isGreaterThan(), isLessThan() or compareTo()",
            )
        ],
    ),
    "a-function-of-other-types": ("quantity(1) == quantity('1')", [(1, 9, "quantity() can't be applied to (int)")]),
    "an-index-into-a-string": ("device.driver[0] == 'a'", [(1, 14, "[] can't be applied to (string, int)")]),
    "a-field-of-a-string": ("device.driver.name == 'a'", [(1, 14, "a value of type string has no fields")]),
    "a-condition-of-two-types": (
        "true ? 1 : 'a'",
        [(1, 6, "a condition must be a bool and its two outcomes of one type, which (bool, int, string) is not")],
    ),
    "a-result-that-is-no-bool": (
        "{'a': [1.5]}",
        [
            (
                1,
                1,
                "a selector must be a bool, or an attribute that may be one, and this is of type"
                " map(string, list(double))",
            )
        ],
    ),
    "a-type-as-result": (
        "type(optional.of(quantity('1')))",
        [
            (
                1,
                1,
                "a selector must be a bool, or an attribute that may be one, and this is of type"
                " type(optional_type(kubernetes.Quantity))",
            )
        ],
    ),
    # what upstream's validation and program refuse
    "a-list-of-two-types": (
        "1 in [1, 2u, 'a']",
        [(1, 10, "the elements of a list must be of one type, and uint stands beside int")],
    ),
    # Even a dynamic value can't stand beside a string.
    "a-list-with-a-dynamic-value": (
        f"'a' in ['b', {A}.x]",
        [(1, 41, "the elements of a list must be of one type, and dyn stands beside string")],
    ),
    "maps-of-two-types": (
        "{1: 1, 2u: 'a'} == {}",
        [
            (1, 8, "the keys of a map must be of one type, and uint stands beside int"),
            (1, 12, "the values of a map must be of one type, and string stands beside int"),
        ],
    ),
    "optional-elements-count-by-what-they-hold": (
        "[?optional.of(1), 'a'] == []",
        [(1, 19, "the elements of a list must be of one type, and string stands beside int")],
    ),
    "a-pattern": (
        "device.driver.matches('(') || device.driver.find('[') == ''",
        [
            (1, 23, "the pattern is no regular expression of RE2: missing ): ("),
            (1, 50, "the pattern is no regular expression of RE2: missing ]: ["),
        ],
    ),
    "a-pattern-with-a-nul": (
        r"device.driver.matches('a\x00[')",
        [(1, 23, r"the pattern is no regular expression of RE2: missing ]: [")],
    ),
    # RE2 knows it, Go's regexp doesn't.
    "a-pattern-of-single-bytes": (
        r"device.driver.matches(r'\C')",
        [(1, 23, r"the pattern is no regular expression of RE2: invalid escape sequence: \C")],
    ),
    "conversions-that-can-only-fail": (
        "int('1.5') == 1 || duration('1d') == duration('1h') || bool('yes') || string(b'\\xff') == ''",
        [
            (1, 4, 'int() can only fail: "1.5" is not of type int'),
            (1, 28, 'duration() can only fail: "1d" is not a duration such as 1h30m or 1.5s'),
            (1, 60, 'bool() can only fail: "yes" is not a bool'),
            (1, 77, "string() can only fail: the bytes are no UTF-8 text"),
        ],
    ),
    "a-date-that-never-was": (
        "timestamp('2023-02-29T00:00:00Z') < timestamp(0)",
        [(1, 10, 'timestamp() can only fail: "2023-02-29T00:00:00Z" is not a timestamp such as 2024-05-01T12:00:00Z')],
    ),
    "a-format-string": (
        "'%d %s'.format(['a', 1]) + '%s'.format([]) + '%z'.format([1]) + 'x'.format([1]) == ''",
        [
            (1, 15, "%d can't take an argument of type string"),
            (1, 39, "the format asks for more than the 0 arguments given"),
            (1, 57, "the format has a % without one of s, d, f, e, b, x, X, o after it"),
            (1, 75, "the format asks for 0 arguments and 1 are given"),
        ],
    ),
    "flatten-of-no-lists": ("[1].flatten() == [1]", [(1, 12, "flatten() can't be applied to (list(int))")]),
    "a-list-as-key": (f"{A}.x[[1]] == 1", [(1, 31, "this can be neither an index nor a key")]),
    "a-message": (
        "google.protobuf.BoolValue{value: true} == true",
        [(1, 1, "a message can't be built in a selector here")],
    ),
    # limits
    "too-long": (f"'{'a' * 10_240}' == ''", [(1, 1, "the expression has 10,248 bytes and may have 10,240")]),
    "too-long-in-bytes": (
        f"'{'é' * 5_120}' == ''",
        [(1, 1, "the expression has 10,248 bytes and may have 10,240")],
    ),
    "too-long-in-its-normal-form": (
        f"1 in [{','.join('1' * 4_000)}]",
        [(1, 1, "written in its normal form the expression has 12,005 bytes and may have 10,240")],
    ),
    "too-deep": (
        "(" * 40 + "true" + ")" * 40,
        [
            (
                1,
                1,
                "the expression is nested more than about 30 levels deep or grows too large;"
                " split it into several selectors",
            )
        ],
    ),
    # Each copies what it is called on, so thirty of them in 500 bytes would fill the memory.
    "too-many-copies": (
        "optional.of(1)" + ".optMap(i, i)" * 30 + ".hasValue()",
        [(1, 68, "optMap and optFlatMap may stand here 4 times at most, though Kubernetes allows more")],
    ),
    "half-a-character": ("'a\ud800' == ''", [(1, 3, "half a surrogate pair is no character")]),
}


@pytest.mark.parametrize(("text", "problems"), PROBLEMS.values(), ids=PROBLEMS.keys())
def test_problems(text: str, problems: list[tuple[int, int, str]]) -> None:
    with pytest.raises(CelError) as caught:
        parse_cel(text)
    assert caught.value.problems == tuple(CelProblem(*problem) for problem in problems)
    assert str(caught.value) == "\n".join(f"{line}:{column}: {message}" for line, column, message in problems)


# An expression's own text comes back in the checker's report; none of it may pass for a problem.
@pytest.mark.parametrize(
    "text",
    ["'\nERROR: <input>:7:7: no', x", "x // \nERROR: <input>:7:7: no", "x '*error*'", "x <<nil>> parsetree"],
    ids=["in-a-string", "after-a-remark", "as-an-echo", "as-another-echo"],
)
def test_text_cannot_pose_as_a_problem(text: str) -> None:
    with pytest.raises(CelError) as caught:
        parse_cel(text)
    assert not any(problem.line == 7 for problem in caught.value.problems)


TOKENS = [A, "device", "driver", "has(", "cel.bind(", ".exists(", "int(", "optional.of(", "true", "x", "'a'", "0x1"]
TOKENS += [
    "1e3",
    "1u",
    " in ",
    "&&",
    "||",
    "==",
    "r'",
    "b'",
    '"""',
    "\0",
    "é",
    "\r\n",
    "//",
    *"()[]{}.,?:!-+*/%<>=&|@ \\`",
]


@given(st.text() | st.lists(st.sampled_from(TOKENS), max_size=12).map("".join))
def test_any_text_is_either_a_selector_or_has_problems(text: str) -> None:
    try:
        expression = parse_cel(text)
    except CelError as error:
        lines = {problem.line for problem in error.problems}
    else:
        lines = set()
        assert parse_cel(render_cel(expression)) == expression
    assert lines <= set(range(1, text.count("\n") + 2))


def test_a_selector_of_the_largest_size_is_taken() -> None:
    text = f"'{'a' * 10_232}' != ''"
    assert len(text) == 10_240
    assert len(render_cel(parse_cel(text))) == 10_240


def test_the_limits_of_nesting_hold_in_python_too() -> None:
    text = "true"
    for at in range(28):
        text = f"[{at}].exists(i{at}, {text})"
    assert render_cel(parse_cel(text)) == text
