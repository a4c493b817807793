"""Equality and order of values.

Source: cel-go v0.29 common/types. Where upstream's lists and maps overlook a comparison that fails, so does this.
"""

from __future__ import annotations

from poolwright.allocation.selectors.values import (
    LISTS,
    MISSING,
    CelMap,
    CelQuantity,
    CelType,
    Cidr,
    ConcatList,
    Duration,
    Failure,
    IpAddress,
    NamedFormat,
    Optional,
    Semver,
    Timestamp,
    Uint,
    Url,
    Value,
    is_number,
    no_overload,
)

_PLAIN = (bool, str, bytes, Duration, CelType)
_STRICT = (Semver, IpAddress, Cidr)  # comparing them with another type fails


def equal(left: Value, right: Value) -> bool | Failure:
    """What `left == right` gives."""
    if left is None or right is None:
        return left is None and right is None
    return equal_value(left, right)


def equal_value(left: Value, right: Value) -> bool | Failure:
    """The same without the rule for null, as lists ask for their elements."""
    kind = type(left)
    if kind in _PLAIN:
        return type(right) is kind and bool(left == right)
    if is_number(left):
        return is_number(right) and compare(left, right) == 0
    if kind is Timestamp:
        return type(right) is Timestamp and left.nanoseconds == right.nanoseconds
    if kind is CelQuantity:
        comparable = type(right) is CelQuantity and not right.is_sum
        return left.nano == right.nano if comparable else no_overload()
    if kind in _STRICT:
        return bool(left == right) if type(right) is kind else no_overload()
    if kind is Url:
        return left.text == right.text if type(right) is Url else no_overload()
    if kind is NamedFormat:
        return left.name == right.name if type(right) is NamedFormat else no_overload()
    if isinstance(left, LISTS):
        return isinstance(right, LISTS) and _equal_lists(left, right)
    if isinstance(left, CelMap):
        return isinstance(right, CelMap) and _equal_maps(left, right)
    if kind is Optional:
        return _equal_optionals(left, right)
    return type(right) is kind  # null


def contains(values: Value, wanted: Value) -> bool:
    """Whether a list holds a value equal to this one."""
    return any(equal_value(wanted, value) is True for value in values)


def compare(left: Value, right: Value) -> int | Failure:
    """-1, 0 or 1 as left is less than, equal to or greater than right."""
    if is_number(left):
        return _compare_numbers(left, right) if is_number(right) else no_overload()
    if type(left) is not type(right) or not is_comparable(left):
        return no_overload()
    if isinstance(left, (Duration, Timestamp)):
        return _order(left.nanoseconds, right.nanoseconds)
    return _order(left, right)  # of strings too: code points and UTF-8 bytes have the same order


def is_comparable(value: Value) -> bool:
    """Whether values of this type have an order."""
    return type(value) in (bool, int, Uint, float, str, bytes, Duration, Timestamp)


def _compare_numbers(left: Value, right: Value) -> int | Failure:
    if left != left or right != right:
        return Failure("NaN values cannot be ordered")
    if isinstance(left, float) is not isinstance(right, float):
        # Upstream rounds the whole number to a double first, unless the double is out of its range.
        left, right = float(left), float(right)
    return _order(left, right)


def _order(left: Value, right: Value) -> int:
    return int(left > right) - int(left < right)


def _equal_lists(left: Value, right: Value) -> bool | Failure:
    if len(left) != len(right):
        return False
    failed: Failure | None = None
    for one, other in zip(left, right, strict=True):
        same = equal(one, other)
        if same is False:
            return False
        if isinstance(same, Failure):
            failed = failed or same
    return failed if failed is not None and isinstance(left, ConcatList) else True


def _equal_maps(left: CelMap, right: CelMap) -> bool:
    if len(left) != len(right):
        return False
    for key, value in left.pairs():
        other = right.find(key)
        if other is MISSING or equal(value, other) is False:
            return False
    return True


def _equal_optionals(left: Optional, right: Value) -> bool | Failure:
    if not isinstance(right, Optional):
        return False
    if not left.has_value or not right.has_value:
        return left.has_value == right.has_value
    return equal_value(left.value, right.value)
