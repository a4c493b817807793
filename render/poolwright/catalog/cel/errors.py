"""What is wrong with a selector, in words for the people who write selectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from poolwright.catalog.cel.environment import FIELDS

HAS_FIELD = "has({}) can't be judged here, although Kubernetes allows it: it is always true"


class CelProblem(msgspec.Struct, frozen=True, order=True):
    """One problem and where it stands: line and column count from 1, columns in code points."""

    line: int
    column: int
    message: str  # a clause without a final full stop


class CelError(Exception):
    """The text is no selector that can be used. Carries every problem found, by place; never none."""

    def __init__(self, problems: Iterable[CelProblem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        if not self.problems:
            raise ValueError("a CelError says what is wrong")
        super().__init__("\n".join(f"{p.line}:{p.column}: {p.message}" for p in self.problems))


def build_problem(text: str, offset: int, message: str) -> CelProblem:
    """A problem at an offset in code points."""
    before = text[:offset]
    return CelProblem(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1, message)


def parse_report(report: str) -> tuple[CelProblem, ...]:
    """The problems in the checker's own report; none where it failed for a reason that isn't in the expression.

    Every problem is a line of its own, and the excerpts of the expression between them start with ` | `, so an
    expression can't pose as a problem.
    """
    found = [match for line in report.split("\n") if (match := re.match(_LINE, line.removesuffix(_STATUS)))]
    # What only follows from a problem already told is left out.
    told = [match for match in found if not re.match(_ECHO, match[3])] or found
    # The checker says -1 for what concerns the expression as a whole.
    problems = [CelProblem(max(int(m[1]), 1), max(int(m[2]), 1), _translate(m[3])) for m in told]
    if not problems and re.match(_LIMIT, report):
        problems = [CelProblem(1, 1, _TOO_DEEP)]
    return tuple(problems)


_STATUS = " [INVALID_ARGUMENT]"
_LINE = r"(?:INVALID_ARGUMENT: )?ERROR: <input>:(-?\d+):(-?\d+): (.*)"
_LIMIT = r"CANCELLED: Expression recursion limit|INVALID_ARGUMENT: Maximum expression node count"
_ECHO = r"<<nil>> parsetree|expression of type '\*error\*'"


def _translate(message: str) -> str:
    """The checker's words made plain where they speak of its own workings; as they are otherwise."""
    for pattern, words in _PLAIN.items():
        found = re.fullmatch(pattern, message)
        if found:
            return words(found) if callable(words) else words.format(*found.groups())
    return message


_TOO_DEEP = (
    "the expression is nested more than about 30 levels deep or grows too large; split it into several selectors"
)
_DEVICE_ALONE = "device can't be a value of its own here, although Kubernetes allows it; name one of its fields: "
_FIELD_NAMES = ", ".join(f"device.{name}" for name in FIELDS)


def _undeclared(found: re.Match[str]) -> str:
    name = found[1].removeprefix(".")
    if name == "device":
        return _DEVICE_ALONE + _FIELD_NAMES
    if name.startswith("device."):
        return f"device has no field {name.split('.')[1]}; there are {_FIELD_NAMES}"
    return f"{name} is neither a variable nor a function here; of variables there is only device"


def _no_overload(found: re.Match[str]) -> str:
    function, types = found[1], found[2]
    if function == "_?_:_":
        return f"a condition must be a bool and its two outcomes of one type, which ({types}) is not"
    operator = re.fullmatch(r"_?(\W+)_|@(in)|(_\[\??_\])", function)
    if not operator:
        return f"{function}() can't be applied to ({types})"
    ordered = "kubernetes.Quantity" in types or "kubernetes.Semver" in types
    hint = "; use isGreaterThan(), isLessThan() or compareTo()" if ordered else ""
    return f"{operator[1] or operator[2] or '[]'} can't be applied to ({types}){hint}"


def _unreadable(found: re.Match[str]) -> str:
    start = found[1]
    if start.startswith("="):
        return "= is no operator; equality is =="
    if re.match(r"[rRbB]*[\"']", start):
        return "the string that starts here doesn't end, or has an escape that CEL doesn't know"
    return f"{start} can't stand here"


_PLAIN: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"undeclared reference to '(.*)' \(in container ''\)": _undeclared,
    r"found no matching overload for '(.*)' applied to '\((.*)\)'": _no_overload,
    r"expression of type '(.*)' cannot be the operand of a select operation": "a value of type {0} has no fields",
    r"has\(\) argument must be a field selection": 'has() asks for a field: has(device.attributes["example.com"].x)',
    r"Exceeded max recursion depth of \d+ when parsing\.": _TOO_DEEP,
    r"(\d+) more errors were truncated\.": "there are {0} more problems",
    r"Syntax error: \w+ input '<EOF>' expecting .*": "the expression ends where more is expected",
    r"Syntax error: token recognition error at: '(.*)'": _unreadable,
    r"Syntax error: missing '(.*)' at '<EOF>'": "{0} is missing at the end",
    r"Syntax error: missing '(.*)' at '(.*)'": "{0} is missing before {1}",
    r"Syntax error: (?:mismatched|extraneous) input '(.*)' expecting .*": "{0} can't stand here",
    r"Syntax error: no viable alternative at input '(.*)'": "{0} can't stand here",
}
