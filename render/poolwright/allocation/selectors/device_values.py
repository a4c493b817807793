"""A device as a selector sees it.

Source: k8s.io/dynamic-resource-allocation v0.37 cel/compile.go.
"""

from __future__ import annotations

from functools import lru_cache

from poolwright.allocation.selectors.functions.quantities import build_quantity
from poolwright.allocation.selectors.functions.versions import parse_semver
from poolwright.allocation.selectors.values import UNKNOWN, DomainMap, Failure, Value
from poolwright.catalog.resource_slice import AttributeOnDevice, Device
from poolwright.specs.quantity import Quantity

UNSUPPORTED = "unsupported"  # the type of an attribute whose value has none of the types known here
_LISTS = ("strings", "ints", "bools", "versions")


def check_attributes(device: Device, *, knows_lists: bool) -> Failure | None:
    """What makes every selector fail on a device, whatever it reads; None if nothing does.

    knows_lists: the scheduler's version and gates know list attributes.
    """
    problems = [
        (key, problem)
        for key, attribute in device.attributes.items()
        if (problem := _check_attribute(attribute, knows_lists))
    ]
    if not problems:
        return None
    (domain, name), problem = min(problems)
    return Failure(f"attribute {domain}/{name}: {problem}")


def _check_attribute(attribute: AttributeOnDevice, knows_lists: bool) -> str:
    kind = attribute.type
    if kind == UNSUPPORTED or (kind in _LISTS and not knows_lists):
        return "unsupported attribute value"
    if kind in ("version", "versions"):
        try:
            _to_value(attribute)
        except ValueError as error:
            return f"parse semantic version: {error}"
    return ""


def build_values(device: Device) -> tuple[Value, ...]:
    """Driver, allowMultipleAllocations, attributes and capacity of a device that passed `check_attributes`."""
    attributes: dict[str, dict[str, Value]] = {}
    for (domain, name), attribute in device.attributes.items():
        attributes.setdefault(domain, {})[name] = _to_value(attribute)
    capacity: dict[str, dict[str, Value]] = {}
    for (domain, name), amount in device.capacity.items():
        capacity.setdefault(domain, {})[name] = UNKNOWN if amount.value is None else _to_quantity(amount.value)
    return (
        device.driver,
        device.allow_multiple_allocations,
        DomainMap("attribute", attributes),
        DomainMap("capacity", capacity),
    )


def _to_value(attribute: AttributeOnDevice) -> Value:
    value = attribute.value
    if value is None:
        return UNKNOWN
    if attribute.type == "version":
        return _parse_semver(str(value))
    if attribute.type == "versions":
        return tuple(_parse_semver(str(one)) for one in value) if isinstance(value, tuple) else UNKNOWN
    return value


def _to_quantity(quantity: Quantity) -> Value:
    # The scheduler reads what the API server stores, and that is the canonical text.
    return _build_quantity(quantity.canonical)


_parse_semver = lru_cache(maxsize=4096)(parse_semver)
_build_quantity = lru_cache(maxsize=4096)(build_quantity)
