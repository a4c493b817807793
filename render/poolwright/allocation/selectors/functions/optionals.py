"""Optional values, and the map that a fold builds.

Source: cel-go v0.29 cel/library.go and ext/comprehensions.go.
"""

from __future__ import annotations

from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import (
    LISTS,
    NONE,
    CelMap,
    Duration,
    Failure,
    Optional,
    Timestamp,
    Value,
    no_overload,
    render_key,
)

_YEAR_ONE = -62135596800 * 10**9


def _of_non_zero(value: Value) -> Optional:
    """An object of a library has no zero; a timestamp's is the year one."""
    match value:
        case None:
            return NONE
        case Timestamp(nanoseconds=nanoseconds):
            is_zero = nanoseconds == _YEAR_ONE
        case Duration(nanoseconds=nanoseconds):
            is_zero = nanoseconds == 0
        case _ if isinstance(value, (bool, int, float, str, bytes, CelMap, *LISTS)):
            is_zero = not value if not isinstance(value, CelMap) else len(value) == 0
        case _:
            is_zero = False
    return NONE if is_zero else Optional(value)


def _insert(target: Value, *arguments: Value) -> Value:
    """Insert a key and value, or all of another map; in place where a fold owns the map."""
    if not isinstance(target, CelMap):
        return no_overload()
    if len(arguments) == 1 and not isinstance(arguments[0], CelMap):
        return no_overload()
    pairs = [arguments] if len(arguments) == 2 else list(arguments[0].pairs())
    result = target if target.is_shared else CelMap(target.pairs())
    for key, value in pairs:
        if result.contains(key):
            return Failure(f"insert failed: key {render_key(key)} already exists")
        result.insert(key, value)
    return result


def _value_of(optional: Optional) -> Value:
    return optional.value if optional.has_value else Failure("optional.none() dereference")


OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "optional.of": (Overload("optional_of", ("dyn",), Optional),),
    "optional.ofNonZeroValue": (Overload("optional_ofNonZeroValue", ("dyn",), _of_non_zero),),
    "optional.none": (Overload("optional_none", (), lambda: NONE),),
    "value": (Overload("optional_value", ("optional",), _value_of),),
    "hasValue": (Overload("optional_hasValue", ("optional",), lambda optional: optional.has_value),),
    "cel.@mapInsert": (
        Overload("@mapInsert_map_key_value", ("map", "dyn", "dyn"), _insert),
        Overload("@mapInsert_map_map", ("map", "map"), _insert),
    ),
}
