"""How much of a device's capacity a request takes: nothing named, rounded as the device's policy says, or refused.

Only devices that take several allocations are consumed; of all others a request for capacity is a condition.

Source: k8s.io/dynamic-resource-allocation structured, consumable_capacity.go of v0.36 and v0.37.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from poolwright.allocation.features import Features
from poolwright.catalog.resource_slice import CapacityOnDevice, Device, RequestPolicy, ValidRange
from poolwright.specs.quantity import NANO, Quantity

_MAX: Final = 2**63 - 1
_MILLI: Final = NANO // 1000


class CapacityError(Exception):
    """An amount that ends the whole attempt, in upstream's words."""


def find_consumed(
    requested: Mapping[str, Quantity] | None, device: Device, features: Features
) -> dict[str, Quantity] | None:
    """What an allocation takes of each capacity of a device, by name as published; None: the device can't serve it.

    requested: by name as written. A name is compared as it stands: a bare one isn't found under its domain.
    Not looked at is what others take of the device.
    Raises: CapacityError. Until 1.36 releases count on with what overflows or is negative (kubernetes/kubernetes
            #140441, #140468).
    """
    # In order of names, so that of two errors it is always the same one.
    published = {capacity.name: capacity for capacity in sorted(device.capacity.values(), key=lambda one: one.name)}
    if requested and any(name not in published for name in requested):
        return None
    consumed = {}
    for name, capacity in published.items():
        amount = _consume(None if requested is None else requested.get(name), capacity, features, name)
        if features.mended and amount.nano < 0:
            raise CapacityError(f'capacity "{name}": capacity value is negative')
        consumed[name] = amount
    for name, capacity in published.items():
        policy = capacity.request_policy
        if policy is not None and _violates(consumed[name], policy, features):
            return None
        if capacity.value is None or consumed[name] > capacity.value:
            return None
    return consumed


def has_room(device: Device, consumed: Mapping[str, Quantity], *taken: Mapping[str, int]) -> bool:
    """Whether a device has this much left beside what is taken, in billionths by name."""
    for capacity in device.capacity.values():
        total = consumed[capacity.name].nano + sum(amounts.get(capacity.name, 0) for amounts in taken)
        if capacity.value is None or total > capacity.value.nano:
            return False
    return True


def _consume(requested: Quantity | None, capacity: CapacityOnDevice, features: Features, name: str) -> Quantity:
    policy = capacity.request_policy
    if requested is None:
        default = policy.default if policy else None
        return default or capacity.value or Quantity(0, "DecimalSI")
    if policy is None:
        return requested
    if policy.valid_range is not None and policy.valid_range.min is not None:
        return _round_up(requested, policy.valid_range, features, name)
    return next((value for value in policy.valid_values if requested <= value), requested)


def _round_up(requested: Quantity, allowed: ValidRange, features: Features, name: str) -> Quantity:
    """The smallest allowed amount that isn't less: `min`, or a whole number of steps above it."""
    least, step = allowed.min, allowed.step
    if least is not None and requested < least:
        return least
    if least is None or step is None:
        return requested
    unit = _MILLI if _uses_milli(allowed, features) else NANO
    if features.mended:
        _check_representable(requested, unit, name)
    first, width = _in_units(least, unit), _in_units(step, unit)
    steps = -(-(_in_units(requested, unit) - first) // width)
    if features.mended and steps > (_MAX - first) // width and (unit == _MILLI or first >= 0):
        raise CapacityError(
            _say_range(name, f"rounding request {requested.canonical} up to the next step passes", unit)
        )
    return Quantity((first + width * steps) * unit, step.format if features.key >= 37 else "BinarySI")


def _check_representable(requested: Quantity, unit: int, name: str) -> None:
    if unit == _MILLI and not _is_milli(requested):
        raise CapacityError(_say_unfit(name, f"request {requested.canonical} is not a representable milli value"))
    if unit == NANO and requested.nano > _MAX * NANO:
        raise CapacityError(_say_range(name, f"request {requested.canonical} exceeds", unit))


def _say_range(name: str, what: str, unit: int) -> str:
    return _say_unfit(name, f"{what} {'the milli-value range' if unit == _MILLI else 'MaxInt64'}")


def _say_unfit(name: str, what: str) -> str:
    return f'capacity "{name}": capacity request cannot be represented in the device\'s range arithmetic: {what}'


def _violates(amount: Quantity, policy: RequestPolicy, features: Features) -> bool:
    if policy.default is not None and amount == policy.default:
        return False
    allowed = policy.valid_range
    if allowed is None:
        return bool(policy.valid_values) and amount not in policy.valid_values
    if allowed.max is not None and amount > allowed.max:
        return True
    if allowed.step is None or allowed.min is None:
        return False
    unit = _MILLI if _uses_milli(allowed, features) else NANO
    if unit == _MILLI and not _is_milli(amount):
        return True
    return (_in_units(amount, unit) - _in_units(allowed.min, unit)) % _in_units(allowed.step, unit) != 0


def _uses_milli(allowed: ValidRange, features: Features) -> bool:
    """Whether a range is counted in thousandths: with the gate on, and if none of its bounds is finer."""
    if not features.fractional_capacity_range:
        return False
    bounds = [bound for bound in (allowed.min, allowed.max, allowed.step) if bound is not None]
    return all(_is_milli(bound) for bound in bounds) and (allowed.step is None or allowed.step.nano >= _MILLI)


def _is_milli(amount: Quantity) -> bool:
    return amount.nano % _MILLI == 0 and abs(amount.nano) // _MILLI <= _MAX


def _in_units(amount: Quantity, unit: int) -> int:
    return -(-amount.nano // unit)
