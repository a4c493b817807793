"""`+ - * / %`, negation, and the operators that look at one value: `!`, size(), type().

Source: cel-go v0.29 common/types and common/stdlib.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from poolwright.allocation.selectors.functions.times import add_time, subtract_time
from poolwright.allocation.selectors.values import (
    LISTS,
    CelMap,
    CelType,
    ConcatList,
    Duration,
    Failure,
    SharedList,
    Timestamp,
    Uint,
    Value,
    no_overload,
    refuse,
    type_name,
)


def add(left: Value, right: Value) -> Value:
    """`left + right`."""
    if isinstance(left, LISTS):
        return _add_lists(left, right) if isinstance(right, LISTS) else no_overload()
    if isinstance(left, (Duration, Timestamp)):
        return add_time(left, right)
    if type(left) is not type(right):
        return no_overload()
    if isinstance(left, (str, bytes)):
        return left + right
    return _calculate(left, right, lambda a, b: a + b)


def subtract(left: Value, right: Value) -> Value:
    """`left - right`."""
    if isinstance(left, (Duration, Timestamp)):
        return subtract_time(left, right)
    return _calculate(left, right, lambda a, b: a - b)


def multiply(left: Value, right: Value) -> Value:
    """`left * right`."""
    return _calculate(left, right, lambda a, b: a * b)


def divide(left: Value, right: Value) -> Value:
    """`left / right`, cut towards zero for whole numbers."""
    if type(left) is float and type(right) is float:
        return _divide_doubles(left, right)
    if type(left) is type(right) and type(left) in (int, Uint) and right == 0:
        return Failure("division by zero")
    return _calculate(left, right, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def modulo(left: Value, right: Value) -> Value:
    """`left % right`, with the sign of the left."""
    if type(left) is float or type(left) is not type(right):
        return no_overload()
    if type(left) in (int, Uint) and right == 0:
        return Failure("modulus by zero")
    if type(left) is int and left == -(2**63) and right == -1:
        return Failure("integer overflow")
    return _calculate(left, right, lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1))


def negate(value: Value) -> Value:
    """`-value`."""
    if type(value) is float:
        return -value
    if type(value) is int:
        return check_whole(-value, int)
    if type(value) is Duration:
        nanoseconds = check_whole(-value.nanoseconds, int)
        return nanoseconds if isinstance(nanoseconds, Failure) else Duration(nanoseconds)
    return no_overload()


def negate_bool(value: Value) -> Value:
    """`!value`."""
    return not value if type(value) is bool else no_overload()


def size(value: Value) -> Value:
    """The elements of a list, entries of a map, code points of a string or bytes."""
    return len(value) if isinstance(value, (str, bytes, CelMap, *LISTS)) else no_overload()


def find_type(value: Value) -> CelType:
    """`type(value)`."""
    return CelType(type_name(value))


def check_whole(number: int, kind: type) -> Value:
    """The number as an int or Uint, or the failure of not fitting."""
    if kind is Uint:
        return Uint(number) if 0 <= number < 2**64 else Failure("unsigned integer overflow")
    return number if -(2**63) <= number < 2**63 else Failure("integer overflow")


def _calculate(left: Value, right: Value, operator: Callable[[Value, Value], Value]) -> Value:
    kind = type(left)
    if kind is not type(right):
        return no_overload()
    if kind is float:
        return operator(left, right)
    return check_whole(operator(int(left), int(right)), kind) if kind in (int, Uint) else no_overload()


def _divide_doubles(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1, right)
    return left / right


def _add_lists(left: Value, right: Value) -> Value:
    if isinstance(left, SharedList):
        if left is right and left:
            refuse("list-added-to-itself")
        left.extend(right)
        return left
    if not left or not right:
        return left or right
    return ConcatList((*left, *right))
