"""Functions of lists, sets included.

Source: cel-go v0.29 ext/lists.go (version 3), ext/sets.go and cel/library.go; k8s.io/apiserver v0.37
pkg/cel/library/lists.go.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise

from poolwright.allocation.selectors.compare import compare, contains, equal_value, is_comparable
from poolwright.allocation.selectors.functions.arithmetic import add
from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import (
    COST_EXCEEDED,
    COST_LIMIT,
    LISTS,
    NONE,
    Duration,
    EvaluationAbortedError,
    Failure,
    Optional,
    Uint,
    Value,
    no_overload,
    refuse,
)

_MAX_RANGE = 1_000_000
_STABLE_SIZE = 12  # up to here upstream's sort keeps the order of equals
ORDERED = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_ZEROS: dict[str, Value] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}


def sort(values: Value) -> Value:
    """`list.sort()`."""
    return sort_by_keys(values, values)


def sort_by_keys(values: Value, keys: Value) -> Value:
    """What `list.sortBy(x, key)` comes to: the list in the order of its keys."""
    if not isinstance(values, LISTS) or not isinstance(keys, LISTS):
        return no_overload()
    if len(values) != len(keys):
        return Failure("@sortByAssociatedKeys() expected lists of the same size")
    if not values:
        return values
    if not is_comparable(keys[0]):
        return Failure("list elements must be comparable")
    if any(type(key) is not type(keys[0]) for key in keys) and len(keys) > 1:
        return Failure("list elements must have the same type")
    order = _sort_short(keys) if len(keys) <= _STABLE_SIZE else _sort_long(keys)
    in_order = [keys[at] for at in order]
    is_certain = len(order) <= _STABLE_SIZE or all(compare(one, other) == -1 for one, other in pairwise(in_order))
    if not is_certain and not (values is keys and all(key == key for key in keys)):
        refuse("sort")
    return tuple(values[at] for at in order)


def check_pairs(count: int, others: int) -> None:
    """Stop what compares every pair where its price alone is beyond the limit: upstream charges for it afterwards."""
    if count * others > COST_LIMIT:
        raise EvaluationAbortedError(COST_EXCEEDED)


def _sort_short(keys: Value) -> list[int]:
    """Upstream's way for short lists; numbers that have no order come out as they do there."""
    order: list[int] = []
    for index, key in enumerate(keys):
        at = len(order)
        while at > 0 and compare(key, keys[order[at - 1]]) == -1:
            at -= 1
        order.insert(at, index)
    return order


def _sort_long(keys: Value) -> list[int]:
    by_key = cmp_to_key(lambda one, other: -1 if compare(keys[one], keys[other]) == -1 else 0)
    return sorted(range(len(keys)), key=by_key)


def includes(values: Value, wanted: Value) -> bool:
    """Whether a list has the value, or a single value is it."""
    found = values if isinstance(values, LISTS) else (values,)
    return any(equal_value(value, wanted) is True for value in found)


def _is_sorted(values: Value) -> Value:
    if not all(map(is_comparable, values)):
        return no_overload()
    return not any(compare(one, other) == 1 for one, other in pairwise(values))


def _summing(zero: Value) -> Callable[[Value], Value]:
    def total(values: Value) -> Value:
        result = zero
        for value in values:
            result = add(result, value)
            if isinstance(result, Failure):
                return result
        return result

    return total


def _choosing(name: str, unwanted: int) -> Callable[[Value], Value]:
    def choose(values: Value) -> Value:
        if not values:
            return Failure(f"{name} called on empty list")
        if not all(map(is_comparable, values)):
            return no_overload()
        best = values[0]
        for value in values[1:]:
            if compare(best, value) == unwanted:
                best = value
        return best

    return choose


def _index_of(values: Value, wanted: Value) -> int:
    return next((at for at, value in enumerate(values) if equal_value(value, wanted) is True), -1)


def _last_index_of(values: Value, wanted: Value) -> int:
    found = _index_of(values[::-1], wanted)
    return len(values) - 1 - found if found >= 0 else -1


def _slice(values: Value, start: int, end: int) -> Value:
    if start < 0 or end < 0:
        return Failure(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        return Failure(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(values) < end:
        return Failure(f"cannot slice({start}, {end}), list is length {len(values)}")
    return tuple(values[start:end])


def _flatten(values: Value, depth: Value = 1) -> Value:
    if not isinstance(values, LISTS) or type(depth) is not int:
        return no_overload()
    if depth < 0:
        return Failure("level must be non-negative")
    flat: list[Value] = []
    for value in values:
        flat += _flatten(value, depth - 1) if isinstance(value, LISTS) and depth else (value,)
    return tuple(flat)


def _range(count: int) -> Value:
    if count < 0:
        return Failure(f"lists.range: size must be non-negative, got {count}")
    if count > _MAX_RANGE:
        return Failure(f"lists.range: size {count} exceeds maximum allowed ({_MAX_RANGE})")
    return tuple(range(count))


def _distinct(values: Value) -> Value:
    if not values:
        return values
    check_pairs(len(values), len(values))
    unique: list[Value] = []
    for value in values:
        if not contains(unique, value):
            unique.append(value)
    return tuple(unique)


def _contains_all(values: Value, others: Value) -> bool:
    check_pairs(len(values), len(others))
    return all(contains(values, other) for other in others)


def _contains_any(values: Value, others: Value) -> bool:
    check_pairs(len(values), len(others))
    return any(contains(others, value) for value in values)


def _unwrap(values: Value) -> Value:
    if not all(isinstance(value, Optional) for value in values):
        return Failure("a value is not optional")
    return tuple(value.value for value in values if value.has_value)


_ANY = "list(dyn)"
OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "slice": (Overload("list_slice", (_ANY, "int", "int"), _slice),),
    "flatten": (
        Overload("list_flatten", (_ANY,), _flatten, is_guarded=False),
        Overload("list_flatten_int", (_ANY, "int"), _flatten, is_guarded=False),
    ),
    "lists.range": (Overload("lists_range", ("int",), _range),),
    "reverse": (Overload("list_reverse", (_ANY,), lambda values: tuple(values[::-1])),),
    "distinct": (Overload("list_distinct", (_ANY,), _distinct),),
    "first": (Overload("list_first", (_ANY,), lambda values: Optional(values[0]) if values else NONE),),
    "last": (Overload("list_last", (_ANY,), lambda values: Optional(values[-1]) if values else NONE),),
    "isSorted": tuple(Overload(f"list_{kind}_is_sorted_bool", (f"list({kind})",), _is_sorted) for kind in ORDERED),
    "sum": tuple(
        Overload(f"list_{kind}_sum_{kind}", (f"list({kind})",), _summing(zero)) for kind, zero in _ZEROS.items()
    ),
    "max": tuple(Overload(f"list_{kind}_max_{kind}", (f"list({kind})",), _choosing("max", -1)) for kind in ORDERED),
    "min": tuple(Overload(f"list_{kind}_min_{kind}", (f"list({kind})",), _choosing("min", 1)) for kind in ORDERED),
    "indexOf": (Overload("list_a_index_of_int", (_ANY, "dyn"), _index_of),),
    "lastIndexOf": (Overload("list_a_last_index_of_int", (_ANY, "dyn"), _last_index_of),),
    "includes": (Overload("list_includes_dyn_dyn", ("dyn", "dyn"), includes),),
    "sets.contains": (Overload("list_sets_contains_list", (_ANY, _ANY), _contains_all),),
    "sets.equivalent": (
        Overload(
            "list_sets_equivalent_list",
            (_ANY, _ANY),
            lambda one, other: _contains_all(one, other) and _contains_all(other, one),
        ),
    ),
    "sets.intersects": (Overload("list_sets_intersects_list", (_ANY, _ANY), _contains_any),),
    "optional.unwrap": (Overload("optional_unwrap", ("list(optional)",), _unwrap),),
    "unwrapOpt": (Overload("optional_unwrapOpt", ("list(optional)",), _unwrap),),
}
