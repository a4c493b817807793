"""Text to a checked device selector, judged as the scheduler of Kubernetes 1.37 would."""

from __future__ import annotations

import re
from functools import lru_cache

from poolwright.catalog.cel.checks import check_tree
from poolwright.catalog.cel.environment import build_environment
from poolwright.catalog.cel.errors import HAS_FIELD, CelError, CelProblem, build_problem, parse_report
from poolwright.catalog.cel.expression import Call, CelExpression, Expr, find_children
from poolwright.catalog.cel.print import render_cel
from poolwright.catalog.cel.wire import decode_checked, render_type

MAX_BYTES = 10 * 1024  # k8s.io/api resource/v1, CELSelectorExpressionMaxLength
# The checker copies what these macros are called on, so each one in a chain doubles the memory it takes.
MAX_OPTIONAL_MACROS = 4


@lru_cache(maxsize=4096)  # a fleet has few selectors, and reads each of them many times
def parse_cel(text: str) -> CelExpression:
    """The selector in this text.

    Judged as a stored expression of Kubernetes 1.37 is: every function and field that 1.36 or 1.37 knows is allowed,
    whatever the feature gates say. What upstream takes and this refuses, always saying so: `device` as a value of its
    own and has() of its fields, more than about 30 levels of nesting or 4 optMap, and message literals.
    Raises: CelError with every problem the parser, the checker or the checks after them found; each of the three
            speaks only if the ones before it were content.
    Cost:   about half a millisecond for a usual selector, and the environment's few milliseconds before the first.
    """
    return _parse(text, _MATCHES, "a selector must be a bool, or an attribute that may be one")


@lru_cache(maxsize=4096)
def parse_derived_cel(text: str) -> CelExpression:
    """The expression of a derived attribute in this text: as parse_cel, but for what it may give.

    Raises: CelError, as parse_cel does.
    """
    lists = tuple(f"list({name})" for name in _DERIVED)
    wanted = "a derived attribute must be a string, int, bool or semver, or a list of them"
    return _parse(text, (*_DERIVED, *lists), wanted)


_MATCHES = ("bool", "dyn")
_DERIVED = (*_MATCHES, "int", "string", "kubernetes.Semver")


def _parse(text: str, results: tuple[str, ...], wanted: str) -> CelExpression:
    """results: the types that the expression may have."""
    _check_text(text)
    environment = build_environment()
    source = rename_exists_one(text)
    try:
        checked = environment.compile(source)
    except RuntimeError as error:
        problems = parse_report(str(error))
        if not problems:
            raise  # the environment itself is broken, and that is our fault
        # The checker takes has(device.driver) for the string itself, and its complaint is about that.
        fields = (build_problem(text, at.start(), HAS_FIELD.format(at[1])) for at in re.finditer(_HAS_FIELD, text))
        raise CelError([*problems, *fields]) from None
    decoded = decode_checked(checked.serialize())
    problems = check_tree(decoded, source)
    result = render_type(decoded.types[decoded.root.id])
    if result not in results:
        message = f"{wanted}, and this is of type {result}"
        problems += (CelProblem(1, 1, message),)
    if problems:
        raise CelError(problems)
    expression = CelExpression(root=decoded.root, result="bool" if result == "bool" else "dyn", text=text)
    _check_rendered(expression)
    return expression


def _check_text(text: str) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise CelError([build_problem(text, error.start, "half a surrogate pair is no character")]) from None
    if size > MAX_BYTES:
        raise CelError([CelProblem(1, 1, f"the expression has {size:,} bytes and may have {MAX_BYTES:,}")])
    macros = list(re.finditer(r"\bopt(?:Flat)?Map\b", text))
    if len(macros) > MAX_OPTIONAL_MACROS:
        message = (
            f"optMap and optFlatMap may stand here {MAX_OPTIONAL_MACROS} times at most, though Kubernetes allows more"
        )
        raise CelError([build_problem(text, macros[MAX_OPTIONAL_MACROS].start(), message)])


def _check_rendered(expression: CelExpression) -> None:
    """The normal form is what gets written, so it must fit too; spaces and escapes can make it longer."""
    if len(expression.text) * 10 <= MAX_BYTES:  # no character takes more than the ten of an escape
        return
    size = len(render_cel(expression))
    if size > MAX_BYTES:
        message = f"written in its normal form the expression has {size:,} bytes and may have {MAX_BYTES:,}"
        raise CelError([CelProblem(1, 1, message)])


def rename_exists_one(text: str) -> str:
    """`exists_one(i, v, p)` as `existsOne (i, v, p)`: upstream knows both names, the checker only the second.

    The two are of one length, so every place stays what it was.
    """
    if "exists_one" not in text:
        return text
    try:
        parsed = decode_checked(build_environment().compile(text, disable_check=True).serialize())
    except RuntimeError:
        return text  # no CEL, as the caller is about to find out
    for offset in _find_exists_one(parsed.root):
        found = re.search(_EXISTS_ONE, text[:offset])
        if found:
            text = f"{text[: found.start()]}existsOne {text[found.start(1) :]}"
    return text


_HAS_FIELD = r"\bhas\(\s*(device\.\w+)\s*\)"
_EXISTS_ONE = r"exists_one((?:\s|//[^\n]*)*)\Z"  # the name before its bracket


def _find_exists_one(expr: Expr) -> list[int]:
    found = [offset for child in find_children(expr) for offset in _find_exists_one(child)]
    match expr:
        case Call(function="exists_one", target=target, args=(_, _, _)) if target is not None:
            found.append(expr.offset)
    return found
