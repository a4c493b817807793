"""Calls and operators.

Source: cel-go v0.29 interpreter/interpretable.go and decorators.go, cel/library.go.
"""

from __future__ import annotations

from poolwright.allocation.selectors.attributes import Frame, Run
from poolwright.allocation.selectors.compare import equal
from poolwright.allocation.selectors.costs import cost_equality, find_cost
from poolwright.allocation.selectors.functions.registry import find_function
from poolwright.allocation.selectors.planned import Planned
from poolwright.allocation.selectors.values import (
    Failure,
    Optional,
    Uint,
    Value,
    check_hashable,
    no_overload,
)


def build_and(terms: list[Run]) -> Run:
    """`a && b && ...`: false if any is, else the first failure."""
    return _build_chain(terms, decisive=False)


def build_or(terms: list[Run]) -> Run:
    """`a || b || ...`: true if any is, else the first failure."""
    return _build_chain(terms, decisive=True)


def build_equality(left: Run, right: Run, *, is_negated: bool) -> Run:
    """`==`, or `!=`, which a comparison that fails makes true."""

    def run(frame: Frame) -> Value:
        arguments = (left(frame), right(frame))
        failed = next((one for one in arguments if isinstance(one, Failure)), None)
        result: Value = failed
        if failed is None:
            same = equal(*arguments)
            result = same is not True if is_negated else same
        frame.spend(cost_equality(arguments, is_negated))
        return result

    return run


def build_or_value(optional: Run, other: Run, *, unwraps: bool) -> Run:
    """`a.or(b)`, `a.orValue(b)`; neither costs anything, and b is evaluated only where it is needed."""

    def run(frame: Frame) -> Value:
        value = optional(frame)
        if isinstance(value, Failure):
            return value
        if not isinstance(value, Optional):
            return no_overload()
        if not value.has_value:
            return other(frame)
        return value.value if unwraps else value

    return run


def build_call(name: str, overloads: tuple[str, ...], planned: list[Planned]) -> Run:
    """A call of a function or an operator that evaluates its arguments first."""
    arguments = [part.run for part in planned]
    if name == "@not_strictly_false":
        return _build_not_false(arguments[0])
    function = find_function(name, overloads, len(arguments))
    # Upstream compiles a constant pattern beforehand, and evaluates such a call in another way.
    has_pattern = name in ("matches", "find", "findAll") and isinstance(planned[1].constant, str)
    call, stops_early = function.call, function.stops_early or has_pattern
    cost = find_cost(name, function.overload)

    def run(frame: Frame) -> Value:
        values = []
        failed: Failure | None = None
        for argument in arguments:
            value = argument(frame)
            values.append(value)
            if isinstance(value, Failure):
                failed = failed or value
                if stops_early:
                    break
        result = call(*values) if failed is None else failed
        if len(values) == len(arguments):
            frame.spend(cost(tuple(values), result))
        return result

    return run


def build_membership(value: Planned, where: Planned) -> Planned | None:
    """`value in [constants]`, which is a lookup free of charge; None if it is none of these."""
    if not where.is_constant or isinstance(where.constant, Failure):
        return None
    if not where.constant:
        return Planned.of_constant(False)
    if not all(isinstance(one, (bool, int, float, str)) for one in where.constant):
        return None
    known = {(type(equal_one), equal_one) for one in where.constant for equal_one in _find_equals(one)}
    run_value = value.run

    def run(frame: Frame) -> Value:
        found = run_value(frame)
        if isinstance(found, Failure):
            return found
        check_hashable(found)
        return isinstance(found, (bool, int, float, str)) and (type(found), found) in known

    return Planned(run)


def _build_chain(terms: list[Run], *, decisive: bool) -> Run:
    def run(frame: Frame) -> Value:
        failed: Failure | None = None
        for term in terms:
            value = term(frame)
            if value is decisive:
                return decisive
            if type(value) is not bool and failed is None:
                failed = value if isinstance(value, Failure) else no_overload()
        return not decisive if failed is None else failed

    return run


def _build_not_false(argument: Run) -> Run:
    def run(frame: Frame) -> Value:
        value = argument(frame)
        frame.spend(1)
        return value if type(value) is bool else True

    return run


def _find_equals(value: Value) -> tuple[Value, ...]:
    """A value and its equals among numbers of other kinds, as upstream prepares them."""
    match value:
        case bool() | str():
            return (value,)
        case Uint():
            return (value, float(value), *((int(value),) if value < 2**63 else ()))
        case int():
            return (value, float(value), *((Uint(value),) if value >= 0 else ()))
        case float() if abs(value) < 2**64 and value == int(value):
            whole = int(value)
            signed = (whole,) if -(2**63) < whole < 2**63 else ()
            return (value, *signed, *((Uint(whole),) if whole >= 0 else ()))
        case float() if value != value:
            return ()
    return (value,)
