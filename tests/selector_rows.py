"""Devices of recorded selector cases, as JSON writes them and as values."""

from collections.abc import Mapping
from typing import Any

from poolwright.catalog.resource_slice import AttributeOnDevice, CapacityOnDevice, Device
from poolwright.specs.quantity import parse_quantity


def build_device(row: Mapping[str, Any]) -> Device:
    """A device from {"driver": ..., "attributes": {name: {type: value}}, "capacity": {name: {"value": ...}}}."""
    driver = row["driver"]
    return Device(
        driver=driver,
        pool="pool",
        name="device",
        attributes={_qualify(name, driver): _attribute(value) for name, value in row.get("attributes", {}).items()},
        capacity={
            _qualify(name, driver): CapacityOnDevice(name=name, value=parse_quantity(value["value"]))
            for name, value in row.get("capacity", {}).items()
        },
        allow_multiple_allocations=row.get("allowMultipleAllocations", False),
    )


def _qualify(name: str, driver: str) -> tuple[str, str]:
    domain, slash, identifier = name.partition("/")
    return (domain, identifier) if slash else (driver, name)


def _attribute(value: Mapping[str, Any]) -> AttributeOnDevice:
    if not value:
        return AttributeOnDevice(type="unsupported", value=None)
    ((kind, found),) = value.items()
    return AttributeOnDevice(type=kind, value=tuple(found) if isinstance(found, list) else found)
