"""Quantity objects.

Source: k8s.io/apiserver v0.37 pkg/cel/library/quantity.go and k8s.io/apimachinery pkg/api/resource.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from poolwright.allocation.selectors.functions.overload import Overload
from poolwright.allocation.selectors.values import CelQuantity, Failure, Value, refuse
from poolwright.specs.quantity import parse_quantity

_SMALL = 2**63
# What upstream takes and parse_quantity() doesn't: no digit at all, a huge exponent, or a very long text.
_UNREAD = (
    r"[+-]?(?:\.?(?:[KMGTPE]i|[numkMGTPE])?|[0-9.]*[0-9][0-9.]*[eE][+-]?[0-9]{4,}|[0-9.]{200,}[A-Za-z0-9+-]*)(?<=.)"
)


def build_quantity(text: str) -> CelQuantity:
    """The object that upstream makes of a text.

    Raises: ValueError where it is no quantity.
    """
    quantity = parse_quantity(text)
    number, power, binary = _split(text)
    whole, point, decimals = number.lstrip("+-").partition(".")
    digits = (whole.lstrip("0") or "0") + decimals
    mantissa = int(digits) << binary
    # Upstream's short cut for what surely fits 64 bits; the length of the number counts without zeros in front.
    room = 18 - len(digits) if not binary else 15 - len(digits) - binary * 3 // 10 - 1
    is_small = room >= 0 and power - len(decimals) >= -9 and not (binary and point and decimals) and mantissa < _SMALL
    if is_small:
        sign = -1 if text.startswith("-") else 1
        return CelQuantity(quantity.nano, sign * mantissa, power - len(decimals), True)
    return CelQuantity(quantity.nano, quantity.nano, -9, False)


def _split(text: str) -> tuple[str, int, int]:
    """A number, its power of ten and its power of two."""
    number = text.rstrip("numkMGTPEi")
    suffix = text[len(number) :]
    if suffix.endswith("i"):
        return number, 0, 10 * ("KMGTPE".index(suffix[0]) + 1)
    if suffix and suffix not in ("E",):
        return number, 3 * "num kMGTPE".index(suffix) - 9, 0
    for letter in "eE":
        mantissa, found, exponent = text.partition(letter)
        if found and exponent:
            return mantissa, int(exponent), 0
    return number, 18 if suffix == "E" else 0, 0


def _read(text: str) -> Value:
    try:
        return build_quantity(text)
    except ValueError:
        if re.fullmatch(_UNREAD, text):
            refuse("quantity")
        return Failure("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")


def _as_integer(quantity: CelQuantity) -> int | None:
    """The number, where upstream holds it as a whole one; `1.0` and `1000m` it doesn't."""
    if not quantity.is_small or quantity.power < 0:
        return None
    number = quantity.mantissa * 10**quantity.power
    return number if -_SMALL <= number < _SMALL else None


def _to_integer(quantity: CelQuantity) -> Value:
    number = _as_integer(quantity)
    return Failure("cannot convert value to integer") if number is None else number


def _to_double(quantity: CelQuantity) -> float:
    try:
        base = float(quantity.mantissa)
    except OverflowError:
        base = math.copysign(math.inf, quantity.mantissa)
    return base * float(f"1e{quantity.power}") if quantity.power else base


def _compare(one: CelQuantity, other: CelQuantity) -> int:
    return (one.nano > other.nano) - (one.nano < other.nano)


def _combine(one: CelQuantity, other: CelQuantity, sign: int) -> CelQuantity:
    if one.is_small and other.is_small:
        # Upstream's negation of the lowest number of 64 bits is that number again.
        right = other.mantissa if other.mantissa == -_SMALL else sign * other.mantissa
        sum_ = _add_small(one, right, other.power)
        if sum_ is not None:
            mantissa, power = sum_
            return CelQuantity(mantissa * 10 ** (power + 9), mantissa, power, True, is_sum=True)
    power = min(one.power, other.power)
    mantissa = one.mantissa * 10 ** (one.power - power) + sign * other.mantissa * 10 ** (other.power - power)
    return CelQuantity(one.nano + sign * other.nano, mantissa, power, False, is_sum=True)


def _add_small(one: CelQuantity, other: int, other_power: int) -> tuple[int, int] | None:
    """Mantissa and power of a sum, None where it doesn't fit 64 bits."""
    if other == 0:
        return one.mantissa, one.power
    if one.mantissa == 0:
        return other, other_power
    power = min(one.power, other_power)
    left, right = one.mantissa * 10 ** (one.power - power), other * 10 ** (other_power - power)
    fits = all(-_SMALL <= number < _SMALL for number in (left, right, left + right))
    return (left + right, power) if fits else None


def _with_int(sign: int) -> Callable[[CelQuantity, int], CelQuantity]:
    return lambda one, other: _combine(one, CelQuantity(other * 10**9, other, 0, True), sign)


_Q = "quantity"
OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "sign": (Overload("quantity_sign", (_Q,), lambda one: (one.nano > 0) - (one.nano < 0)),),
    "quantity": (Overload("string_to_quantity", ("string",), _read),),
    "isQuantity": (Overload("is_quantity_string", ("string",), lambda text: not isinstance(_read(text), Failure)),),
    "isInteger": (Overload("quantity_is_integer", (_Q,), lambda one: _as_integer(one) is not None),),
    "asInteger": (Overload("quantity_get_int", (_Q,), _to_integer),),
    "asApproximateFloat": (Overload("quantity_get_float", (_Q,), _to_double),),
    "isGreaterThan": (Overload("quantity_is_greater_than", (_Q, _Q), lambda one, other: one.nano > other.nano),),
    "isLessThan": (Overload("quantity_is_less_than", (_Q, _Q), lambda one, other: one.nano < other.nano),),
    "compareTo": (Overload("quantity_compare_to", (_Q, _Q), _compare),),
    "add": (
        Overload("quantity_add", (_Q, _Q), lambda one, other: _combine(one, other, 1)),
        Overload("quantity_add_int", (_Q, "int"), _with_int(1)),
    ),
    "sub": (
        Overload("quantity_sub", (_Q, _Q), lambda one, other: _combine(one, other, -1)),
        Overload("quantity_sub_int", (_Q, "int"), _with_int(-1)),
    ),
}
