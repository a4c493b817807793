"""What a call costs at run time, in CEL's units.

Source: cel-go v0.29 interpreter/runtimecost.go and ext; k8s.io/apiserver v0.37 pkg/cel/library/cost.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from poolwright.allocation.selectors.values import (
    LISTS,
    CelMap,
    CelQuantity,
    Cidr,
    EvaluationAbortedError,
    IpAddress,
    NamedFormat,
    Optional,
    Semver,
    Url,
    Value,
)

LIST_COST, MAP_COST = 10, 30

_STRING_FACTOR, _PATTERN_FACTOR = 0.1, 0.25
_Cost = Callable[[tuple[Value, ...], Value], int]
_OBJECTS = (CelQuantity, IpAddress, Cidr, NamedFormat, Url, Semver)


def find_cost(function: str, overload: str) -> _Cost:
    """How a call is charged, from its arguments and result, failures among them.

    overload: upstream's id; empty where the checker left several.
    """
    return _BY_OVERLOAD.get(overload) or _BY_FUNCTION.get(function) or _BASIC.get(overload) or _one


def cost_equality(arguments: tuple[Value, ...], is_negated: bool) -> int:
    """Of `==` or `!=`."""
    if not is_negated and type(arguments[0]) in _OBJECTS:
        return 1
    return _shorter(arguments, None)


def find_size(value: Value) -> int:
    """What counts as a value's size."""
    if isinstance(value, (str, bytes, CelMap, *LISTS)):
        return len(value)
    if isinstance(value, IpAddress):
        return 4 if value.version == 4 else 16
    if isinstance(value, Cidr):
        return -(-value.prefix // 8)
    return 1


def _find_size_in(value: Value) -> int:
    """The same, of what an optional holds."""
    while isinstance(value, Optional) and value.has_value:
        value = value.value
    return find_size(value)


def _scan(size: int) -> int:
    return math.ceil(size * _STRING_FACTOR)


def _one(_: tuple[Value, ...], __: Value) -> int:
    return 1


def _read_first(arguments: tuple[Value, ...], _: Value) -> int:
    return _scan(find_size(arguments[0]))


def _read_first_twice(arguments: tuple[Value, ...], _: Value) -> int:
    return math.ceil(find_size(arguments[0]) * 2 * _STRING_FACTOR)


def _read_second(arguments: tuple[Value, ...], _: Value) -> int:
    return _scan(_find_size_in(arguments[1]))


def _write_result(_: tuple[Value, ...], result: Value) -> int:
    return math.ceil(find_size(result) * 2 * _STRING_FACTOR)


def _search_pattern(arguments: tuple[Value, ...], _: Value) -> int:
    text = math.ceil((1.0 + find_size(arguments[0])) * _STRING_FACTOR)
    return text * math.ceil(find_size(arguments[1]) * _PATTERN_FACTOR)


def _search_text(arguments: tuple[Value, ...], _: Value) -> int:
    return _scan(_find_size_in(arguments[0])) * _scan(_find_size_in(arguments[1]))


def _shorter(arguments: tuple[Value, ...], _: Value) -> int:
    return _scan(min(_find_size_in(arguments[0]), _find_size_in(arguments[1])))


def _both(arguments: tuple[Value, ...], _: Value) -> int:
    return _scan(_find_size_in(arguments[0]) + _find_size_in(arguments[1]))


def _walk(arguments: tuple[Value, ...], _: Value) -> int:
    return _traverse(arguments[0])


def _traverse(value: Value) -> int:
    if isinstance(value, str):
        return int(len(value.encode()) * _STRING_FACTOR)
    if isinstance(value, bytes):
        return int(len(value) * _STRING_FACTOR)
    if isinstance(value, LISTS):
        return sum(map(_traverse, value))
    if isinstance(value, CelMap):
        return sum(_traverse(key) + _traverse(item) for key, item in value.pairs())
    return 1


def _look_up_ip(arguments: tuple[Value, ...], _: Value) -> int:
    return math.ceil(find_size(arguments[0]) * 2 * _STRING_FACTOR)


def _look_up_ip_text(arguments: tuple[Value, ...], result: Value) -> int:
    return _look_up_ip(arguments, result) + _scan(find_size(arguments[1]))


def _look_up_cidr(arguments: tuple[Value, ...], result: Value) -> int:
    return _look_up_ip(arguments, result) + _scan(find_size(arguments[0])) + 1


def _look_up_cidr_text(arguments: tuple[Value, ...], result: Value) -> int:
    return _look_up_cidr(arguments, result) + _scan(find_size(arguments[1]))


def _validate(arguments: tuple[Value, ...], _: Value) -> int:
    named, text = arguments
    if not isinstance(named, NamedFormat):
        return 1
    return math.ceil((1.0 + find_size(text)) * _STRING_FACTOR) * math.ceil(named.pattern_size * _PATTERN_FACTOR)


def _write_list(_: tuple[Value, ...], result: Value) -> int:
    return _find_size_in(result) + 1 + LIST_COST


def _flatten(arguments: tuple[Value, ...], _: Value) -> int:
    depth = arguments[1] if len(arguments) == 2 else 1
    if type(depth) is not int:
        raise EvaluationAbortedError("internal error: the depth of flatten() is no int")  # upstream panics
    return int(float(_find_size_in(arguments[0])) * (depth if depth >= 0 else 1)) + 1 + LIST_COST


def _compare_all(position: int) -> _Cost:
    def cost(arguments: tuple[Value, ...], _: Value) -> int:
        values = arguments[position]
        if not isinstance(values, LISTS):
            raise EvaluationAbortedError("internal error: a list was expected")  # upstream panics
        factor = 2.0 + (_STRING_FACTOR if values and isinstance(values[0], (str, bytes)) else 0)
        return int(float(len(values) ** 2) * factor) + 1 + LIST_COST

    return cost


def _compare_sets(factor: int) -> _Cost:
    return lambda arguments, _: 1 + _find_size_in(arguments[0]) * _find_size_in(arguments[1]) * factor


_SORTED = (
    *("int", "uint", "double", "bool", "google.protobuf.Duration", "duration", "google.protobuf.Timestamp"),
    *("timestamp", "string", "bytes"),
)
# What the extensions of CEL charge comes first, then what Kubernetes does, then what CEL's core does.
_BY_OVERLOAD: dict[str, _Cost] = {
    "list_slice": _write_list,
    "lists_range": _write_list,
    "list_reverse": _write_list,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _compare_all(0),
    **{f"list_{kind}_sort": _compare_all(0) for kind in _SORTED},
    **{f"list_{kind}_sortByAssociatedKeys": _compare_all(1) for kind in _SORTED},
    "list_sets_contains_list": _compare_sets(1),
    "list_sets_intersects_list": _compare_sets(1),
    "list_sets_equivalent_list": _compare_sets(2),
    "cidr_ip": _one,
    "cidr_contains_ip_string": _look_up_ip_text,
    "cidr_contains_cidr_string": _look_up_cidr_text,
}
_BY_FUNCTION: dict[str, _Cost] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _walk),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR"), _read_first),
    **dict.fromkeys(("ip", "quantity", "isQuantity", "semver", "isSemver"), _read_first),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _read_first_twice),
    **dict.fromkeys(("find", "findAll"), _search_pattern),
    "join": _write_result,
    "containsIP": _look_up_ip,
    "containsCIDR": _look_up_cidr,
    "validate": _validate,
}
_BASIC: dict[str, _Cost] = {
    **dict.fromkeys(("starts_with_string", "ends_with_string"), _read_second),
    "in_list": lambda arguments, _: _find_size_in(arguments[1]),
    **dict.fromkeys(("string_to_bytes", "bytes_to_string", "strings_quote", "string_format"), _read_first),
    **{
        f"{operator}_{kind}": _shorter
        for operator in ("less", "greater", "less_equals", "greater_equals")
        for kind in ("string", "bytes")
    },
    **dict.fromkeys(("add_string", "add_bytes"), _both),
    **dict.fromkeys(("matches", "matches_string"), _search_pattern),
    "contains_string": _search_text,
}
