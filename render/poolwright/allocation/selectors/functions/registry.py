"""Every function a selector can call, and how a call finds the one for its arguments.

Source: cel-go v0.29 common/decls (dispatch) and common/stdlib (what has one implementation for all types).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from poolwright.allocation.selectors.compare import compare, contains
from poolwright.allocation.selectors.functions import (
    addresses,
    arithmetic,
    conversions,
    lists,
    named_formats,
    optionals,
    patterns,
    quantities,
    strings,
    times,
    urls,
    versions,
)
from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import (
    LISTS,
    CelMap,
    EvaluationAbortedError,
    Failure,
    Value,
    no_overload,
    type_name,
)


@dataclass(frozen=True, slots=True)
class Function:
    """What a call runs."""

    call: Callable[..., Value]
    overload: str  # upstream's id; empty where the checker left several
    stops_early: bool  # at the first argument that failed: the others aren't evaluated, and nothing is charged


def find_function(name: str, overloads: tuple[str, ...], count: int) -> Function:
    """The function of a call that the checker left these overloads, with so many arguments, a receiver included."""
    only = overloads[0] if len(overloads) == 1 else ""
    if name in _SINGLE:
        return Function(_SINGLE[name], only, stops_early=False)
    known = _OVERLOADS.get(name, ())
    fitting = tuple(overload for overload in known if len(overload.arguments) == count)
    if not fitting:
        return Function(_refuse(name), only, stops_early=False)
    # Ids of the library and of upstream differ in places where there is only one overload to choose.
    chosen = [overload for overload in fitting if overload.id in overloads] if only else []
    if only or len(known) == 1:
        overload = chosen[0] if chosen else fitting[0]
        return Function(_guard(name, overload), overload.id, stops_early=count > 2)
    return Function(_dispatch(name, fitting), "", stops_early=True)


def _guard(name: str, overload: Overload) -> Callable[..., Value]:
    def call(*arguments: Value) -> Value:
        return overload.call(*arguments) if overload.takes(arguments) else _fail(name, arguments)

    return call


def _dispatch(name: str, overloads: tuple[Overload, ...]) -> Callable[..., Value]:
    def call(*arguments: Value) -> Value:
        for overload in overloads:
            if overload.takes(arguments):
                return overload.call(*arguments)
        return _fail(name, arguments)

    return call


def _fail(name: str, arguments: tuple[Value, ...]) -> Failure:
    return Failure(f"no such overload: {name}({', '.join(map(type_name, arguments))})")


def _refuse(name: str) -> Callable[..., Value]:
    def call(*_: Value) -> Value:
        raise EvaluationAbortedError(f"this tool doesn't evaluate {name}()")

    return call


def _ordering(*wanted: int) -> Callable[[Value, Value], Value]:
    def test(left: Value, right: Value) -> Value:
        order = compare(left, right)
        return order if isinstance(order, Failure) else order in wanted

    return test


def _is_in(value: Value, where: Value) -> Value:
    if isinstance(where, LISTS):
        return contains(where, value)
    return where.contains(value) if isinstance(where, CelMap) else no_overload()


# One implementation for arguments of any type.
_SINGLE: dict[str, Callable[..., Value]] = {
    "_+_": arithmetic.add,
    "_-_": arithmetic.subtract,
    "_*_": arithmetic.multiply,
    "_/_": arithmetic.divide,
    "_%_": arithmetic.modulo,
    "-_": arithmetic.negate,
    "!_": arithmetic.negate_bool,
    "_<_": _ordering(-1),
    "_<=_": _ordering(-1, 0),
    "_>_": _ordering(1),
    "_>=_": _ordering(0, 1),
    "@in": _is_in,
    "size": arithmetic.size,
    "type": arithmetic.find_type,
    "dyn": lambda value: value,
    "sort": lists.sort,
    "@sortByAssociatedKeys": lists.sort_by_keys,
}


def _join_overloads() -> dict[str, tuple[Overload, ...]]:
    """By function; where upstream's libraries share a name, in the order in which they are added."""
    joined: dict[str, tuple[Overload, ...]] = {}
    for module in (
        *(conversions, times, urls, patterns, optionals, quantities, strings, addresses, named_formats, versions),
        lists,
    ):
        for name, overloads in module.OVERLOADS.items():
            joined[name] = (*joined.get(name, ()), *overloads)
    return joined


_OVERLOADS = _join_overloads()
