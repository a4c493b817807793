"""Which claims hold a device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poolwright.allocation.claim import Allocation
from poolwright.allocation.held import DeviceId
from poolwright.allocation.subject import ClaimKey


class Holders:
    """Who holds what, looked up by device."""

    def __init__(self, allocations: Mapping[ClaimKey, Allocation]) -> None:
        self._by_device: dict[DeviceId, list[ClaimKey]] = {}
        for key, allocation in sorted(allocations.items()):
            for result in allocation.devices:
                if not result.admin_access:
                    self._by_device.setdefault((result.driver, result.pool, result.device), []).append(key)

    def of(self, devices: Iterable[DeviceId]) -> tuple[ClaimKey, ...]:
        """The claims that hold any of these devices, sorted."""
        return tuple(sorted({key for device in devices for key in self._by_device.get(device, ())}))
