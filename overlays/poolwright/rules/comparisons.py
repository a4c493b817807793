"""Comparisons in selectors that compile and can't do what they look like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from poolwright.catalog.cel import Call, CelExpression, Const, Expr, ListExpr
from poolwright.catalog.cel.expression import find_children
from poolwright.rules.devices import GPU, PARTS, TYPES, VALUES
from poolwright.rules.placed import Field
from poolwright.rules.selector_facts import Value, find_value
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.quantity import NANO, parse_quantity

_RULE: Final = "Kubernetes DRA CEL"
_FITS: Final = {"string": ("string",), "int": ("int", "uint", "double"), "bool": ("bool",), "version": ()}
_ORDER: Final = ("_<_", "_<=_", "_>_", "_>=_")
_EQUAL: Final = ("_==_", "_!=_")
_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_PRERELEASE: Final = r"(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
_SEMVER: Final = (
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_PRERELEASE}(?:\.{_PRERELEASE})*)?"
    r"(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?"
)
_MEBI: Final = 1 << 20
_GIBI: Final = 1 << 30


def check_comparisons(selector: Field, parsed: CelExpression) -> Iterator[Finding]:
    """Findings for every comparison and literal of a selector."""
    yield from _check(selector, parsed.root)


def _check(selector: Field, expr: Expr) -> Iterator[Finding]:
    match expr:
        case Call(function=function, target=None, args=(left, right)) if function in (*_EQUAL, *_ORDER):
            yield from _check_pair(selector, function, left, right)
        case Call(function="@in", target=None, args=(left, ListExpr(elements=elements))):
            for element in elements:
                yield from _check_pair(selector, "@in", left, element)
        case Call(function=("quantity" | "semver") as function, target=None, args=(Const(value=str(text)),)):
            yield from _check_literal(selector, function, text)
    yield from _check_memory(selector, expr)
    for child in find_children(expr):
        yield from _check(selector, child)


def _check_pair(selector: Field, function: str, left: Expr, right: Expr) -> Iterator[Finding]:
    """An attribute of a known type beside a constant, in either order."""
    first = find_value(left)
    value, other = (first, right) if first else (find_value(right), left)
    if value is None or value.kind != "attribute" or not isinstance(other, Const) or other.kind == "null":
        return
    published = TYPES.get((value.domain, value.name))
    if published is None:
        return
    if other.kind not in _FITS[published]:
        # Only the left side of == knows how to compare itself: a version refuses a string, a string just differs.
        aborts = function in _ORDER or (published == "version" and function == "_==_" and first is not None)
        yield _mistyped(selector, value, published, other, function, aborts)
    elif published == "string" and function in ("_==_", "@in"):
        yield from _check_text(selector, value, str(other.value))


def _check_text(selector: Field, value: Value, text: str) -> Iterator[Finding]:
    known = VALUES.get((value.domain, value.name), ())
    meant = [name for name in known if name.lower() == text.lower()]
    if text not in known and (meant or (known and value.name == "type")):
        yield Finding(
            code="cel-never-matches",
            severity="error",
            place=selector.place,
            what=f'{value.cel} is never "{text}"',
            why="texts are compared letter by letter, upper and lower case too",
            rule="what the NVIDIA DRA driver publishes",
            fix=f'write "{meant[0]}"' if meant else f"write one of: {', '.join(known)}",
        )


def _check_literal(selector: Field, function: str, text: str) -> Iterator[Finding]:
    if function == "semver":
        if not re.fullmatch(_SEMVER, text):
            numbers = re.findall(r"\d+", text)[:3]
            fix = ".".join(str(int(number)) for number in [*numbers, "0", "0"][:3])
            yield _bad_literal(selector, f'semver("{text}")', "it isn't a semantic version", f'write semver("{fix}")')
        return
    try:
        parse_quantity(text)
    except ValueError as error:
        yield _bad_literal(selector, f'quantity("{text}")', str(error), "correct the quantity")


def _check_memory(selector: Field, expr: Expr) -> Iterator[Finding]:
    """Memory that must reach as many Gi as a part is sold with GB."""
    match expr:
        case Call(
            function="_>=_" | "_>_" | "_==_",
            args=(Call(function="compareTo", target=target, args=(literal,)), Const(kind="int", value=0)),
        ):
            pass
        case Call(function="isGreaterThan", target=target, args=(literal,)):
            pass
        case _:
            return
    value = find_value(target) if target is not None else None
    if value != Value(kind="capacity", domain=GPU, name="memory"):
        return
    match literal:
        case Call(function="quantity", args=(Const(value=str(text)),)):
            yield from _check_size(selector, text)


def _check_size(selector: Field, text: str) -> Iterator[Finding]:
    try:
        nano = parse_quantity(text).nano
    except ValueError:
        return
    for sold_gb, product, memory_mi in PARTS:
        if nano == sold_gb * _GIBI * NANO:
            yield Finding(
                code="cel-memory-size",
                severity="note",
                place=selector.place,
                what=f"the selector asks for {text} of memory, more than {product} has with {memory_mi}Mi",
                why=f"that part is sold as {sold_gb} GB and publishes {memory_mi * _MEBI / _GIBI:.1f}Gi: the claim is "
                "valid and never satisfied by it",
                rule="memory as NVML reports it",
                fix=f'write quantity("{sold_gb}G"), {sold_gb} GB in powers of ten, if it is meant too',
            )


def _mistyped(selector: Field, value: Value, published: str, other: Const, function: str, aborts: bool) -> Finding:
    severity: Severity = "warning" if function == "_!=_" else "error"
    outcome = "is always true" if function == "_!=_" else "is never true"
    if aborts:
        outcome = "fails, and aborts the pod's whole scheduling attempt"
    literal = f'"{other.value!s}"' if other.kind == "string" else str(other.value).lower()
    fix = f"compare with a value of type {published}"
    if published == "version":
        fix = f'compare versions: {value.cel}.compareTo(semver("1.2.3")) >= 0'
    return Finding(
        code="cel-never-matches",
        severity=severity,
        place=selector.place,
        what=f"{value.cel} is published as {published} and compared with the {other.kind} {literal}",
        why=f"values of two types don't compare: the comparison {outcome}",
        rule=_RULE,
        fix=fix,
    )


def _bad_literal(selector: Field, literal: str, reason: str, fix: str) -> Finding:
    return Finding(
        code="cel-never-matches",
        severity="error",
        place=selector.place,
        what=f"{literal} can only fail: {reason}",
        why="the API server takes it, and the first device it meets aborts the pod's whole scheduling attempt",
        rule=_RULE,
        fix=fix,
    )
