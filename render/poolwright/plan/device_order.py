"""The order in which drivers publish devices: what first-fit goes by, and a restart may change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from poolwright.allocation.held import DeviceId
from poolwright.catalog.resource_slice import ResourceSlice

# Of the devices of each slice: as they are published (None); turned round; or these first, each named once, and the
# others as they are.
DeviceOrder = Literal["reversed"] | tuple[DeviceId, ...] | None


def reorder(slices: Sequence[ResourceSlice], order: DeviceOrder) -> tuple[ResourceSlice, ...]:
    """The slices with the devices of each in another order, as a restarted driver may publish them."""
    if order == "reversed":
        return tuple(replace(one, devices=one.devices[::-1]) for one in slices)
    rank = {device: at for at, device in enumerate(order or ())}
    return tuple(
        replace(
            one,
            devices=tuple(
                sorted(one.devices, key=lambda device: rank.get((device.driver, device.pool, device.name), len(rank)))
            ),
        )
        for one in slices
    )
