"""What claims hold: devices, shares of devices, and the capacity those take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from poolwright.allocation.claim import AllocatedDevice, Allocation
from poolwright.allocation.features import Features

DeviceId = tuple[str, str, str]  # driver, pool, device
PoolId = tuple[str, str]  # driver, pool
NO_CAPACITY: Mapping[str, int] = {}


class Held:
    """The devices that claims of the whole cluster hold; it grows and shrinks as claims come and go.

    Devices granted for administration aren't held: others may have them.
    Source: kube-scheduler, plugin dynamicresources, allocateddevices.go.
    """

    def __init__(self, features: Features) -> None:
        self._shares_count = features.consumable_capacity
        self._dedicated: Counter[DeviceId] = Counter()
        self._shares: dict[DeviceId, Counter[str]] = {}
        self._consumed: dict[DeviceId, dict[str, int]] = {}
        self._consumers: Counter[DeviceId] = Counter()  # shares that say what they take, though it may be nothing
        self._versions: Counter[PoolId] = Counter()

    def add(self, allocation: Allocation) -> None:
        """What a claim was given."""
        for result in allocation.devices:
            self._change(result, 1)

    def remove(self, allocation: Allocation) -> None:
        """What a claim gives back; the same as was added."""
        for result in allocation.devices:
            self._change(result, -1)

    def version(self, pool: PoolId) -> int:
        """A number that differs whenever something of the pool was added or removed."""
        return self._versions[pool]

    def is_dedicated(self, device: DeviceId) -> bool:
        """Whether a claim has all of the device."""
        return device in self._dedicated

    def is_shared(self, device: DeviceId) -> bool:
        """Whether a claim has a share of the device."""
        return device in self._shares

    def is_held(self, device: DeviceId) -> bool:
        """Whether any claim has the device or a share of it."""
        return device in self._dedicated or device in self._shares

    def consumed(self, device: DeviceId) -> Mapping[str, int] | None:
        """The capacity that shares of a device take, in billionths by name; None: no share says any."""
        return self._consumed.get(device)

    def _change(self, result: AllocatedDevice, by: int) -> None:
        if result.admin_access:
            return
        device = (result.driver, result.pool, result.device)
        self._versions[device[:2]] += 1
        if result.share_id is None or not self._shares_count:
            self._dedicated[device] += by
            if not self._dedicated[device]:
                del self._dedicated[device]
            return
        shares = self._shares.setdefault(device, Counter())
        shares[result.share_id] += by
        if not shares[result.share_id]:
            del shares[result.share_id]
        if not shares:
            del self._shares[device]
        if result.consumed_capacity:
            self._consume(device, result, by)

    def _consume(self, device: DeviceId, result: AllocatedDevice, by: int) -> None:
        consumed = self._consumed.setdefault(device, {})
        for name, amount in (result.consumed_capacity or {}).items():
            consumed[name] = consumed.get(name, 0) + by * amount.nano
        self._consumers[device] += by
        if not self._consumers[device]:
            del self._consumers[device], self._consumed[device]
