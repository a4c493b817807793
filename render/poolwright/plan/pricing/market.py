"""The devices of a cluster by class, as far as prices and counts go by them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from poolwright.admission.deployment import DeviceMemory
from poolwright.allocation.features import Features
from poolwright.allocation.selectors.cache import SelectorCache
from poolwright.catalog.device_class import MEMORY, DeviceClass
from poolwright.catalog.resource_slice import Device, ResourceSlice, is_complete, newest_pools


class Market:
    """Devices and who of them is in a class.

    slices: of the cluster, captured and planned; what a newer generation replaces is left out.
    """

    def __init__(self, slices: Sequence[ResourceSlice], features: Features) -> None:
        pools = newest_pools(slices).values()
        newest = [one for pool in pools for one in pool]
        self.devices = tuple(device for one in newest for device in one.devices)
        # Those that nothing but being taken stands against: of whole pools, nobody's part or share, and not tainted.
        self.plain = frozenset(
            at
            for at, device in enumerate(self.devices)
            if not (device.consumes or device.allow_multiple_allocations or device.taints or device.binding_conditions)
        ) & _number(pools)
        self.nodes = (
            tuple(  # of each device, the one that alone can reach it; None: others can too, or which isn't said
                (device.placement or one.placement).node_name for one in newest for device in one.devices
            )
        )
        self._selectors = SelectorCache(features)
        self._smallest: dict[DeviceClass, DeviceMemory | None] = {}
        self._possible: dict[DeviceClass, frozenset[int]] = {}

    def find_smallest(self, device_class: DeviceClass) -> DeviceMemory | None:
        """The memory of the smallest device that a class lets through; None: there is none, or it says no memory."""
        if device_class not in self._smallest:
            self._smallest[device_class] = self._find_smallest(device_class)
        return self._smallest[device_class]

    def list_possible(self, device_class: DeviceClass) -> frozenset[int]:
        """Devices by index that a class lets through, or may: where a selector has no answer, that isn't known."""
        if device_class not in self._possible:
            self._possible[device_class] = frozenset(
                at
                for at, device in enumerate(self.devices)
                if all(self._selectors.matches(text, device) is not False for text in device_class.selectors)
            )
        return self._possible[device_class]

    def _find_smallest(self, device_class: DeviceClass) -> DeviceMemory | None:
        sizes = sorted(
            (size, _is_partition(device), device.allow_multiple_allocations)
            for device in self.devices
            if (size := _find_memory(device)) is not None and self._is_in(device, device_class)
        )
        if not sizes:
            return None
        return DeviceMemory.of_published(
            device_class.name,
            sizes[0][0],
            is_partition=any(is_partition for _, is_partition, _ in sizes),
            is_shared=any(is_shared for _, _, is_shared in sizes),
        )

    def _is_in(self, device: Device, device_class: DeviceClass) -> bool:
        return all(self._selectors.matches(text, device) is True for text in device_class.selectors)


def _number(pools: Iterable[tuple[ResourceSlice, ...]]) -> frozenset[int]:
    """Numbers of the devices of whole pools, counted through all of them."""
    whole, number = set(), 0
    for pool in pools:
        count = sum(len(one.devices) for one in pool)
        whole |= set(range(number, number + count)) if is_complete(pool) else set()
        number += count
    return frozenset(whole)


def _find_memory(device: Device) -> int | None:
    capacity = device.capacity.get((device.driver, MEMORY))
    return None if capacity is None or capacity.value is None else capacity.value.bytes


def _is_partition(device: Device) -> bool:
    said = device.attributes.get((device.driver, "type"))
    return said is not None and said.value == "mig"
