"""Devices that are lost together because they are one piece of hardware: a GPU with all its partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from poolwright.allocation.held import DeviceId
from poolwright.catalog.planned_devices import PCIE_ROOT
from poolwright.catalog.resource_slice import Device

NVIDIA: Final = "gpu.nvidia.com"
_BUS_ID: Final = ("resource.kubernetes.io", "pciBusID")


def list_pieces(devices: Mapping[DeviceId, Device]) -> dict[str, set[DeviceId]]:
    """By name each piece of hardware with its devices.

    Devices are of one piece if they publish one PCI address; if they are planned for one accelerator; if they draw on
    one counter set; or if, as NVIDIA's do, they have one GPU's name before their own: `gpu-0-mig-1g10gb-19-2`. A device
    that draws on several sets goes with each of them. Every other one is a piece by itself.
    """
    pieces: dict[tuple[str, ...], set[DeviceId]] = {}
    for device in sorted(devices):
        for key in _find_keys(devices[device], device):
            pieces.setdefault(key, set()).add(device)
    found: dict[str, set[DeviceId]] = {}
    for key, members in pieces.items():
        found.setdefault(_name(key, min(members)), set()).update(members)
    return found


def _find_keys(one: Device, device: DeviceId) -> tuple[tuple[str, ...], ...]:
    """The pieces that a device is of, mostly one."""
    driver, pool, name = device
    bus, root = (found.value if (found := one.attributes.get(key)) else None for key in (_BUS_ID, PCIE_ROOT))
    if bus is not None:
        return (("bus", driver, pool, str(bus)),)
    if one.planned and (driver, "type") in one.attributes and root is not None:  # of an accelerator's own there
        return (("root", driver, pool, str(root)),)
    if one.consumes and driver != NVIDIA:
        return tuple(("counters", driver, pool, part) for part in sorted({each.counter_set for each in one.consumes}))
    return (("name", driver, pool, name.partition("-mig-")[0] if driver == NVIDIA else name),)


def _name(key: tuple[str, ...], first: DeviceId) -> str:
    """A GPU's name, a counter set's, or the first device's."""
    driver, pool, name = first
    if key[0] == "counters":
        return "/".join(key[1:])
    return "/".join((driver, pool, name.partition("-mig-")[0] if driver == NVIDIA else name))
