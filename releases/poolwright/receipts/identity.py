"""Which piece of hardware a device is, from what its slice publishes of it and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from poolwright.allocation.claim import Toleration
from poolwright.allocation.reasons.clauses import say_attribute
from poolwright.allocation.trial import BLOCKING_EFFECTS, tolerates
from poolwright.catalog.resource_slice import Device, ResourceSlice, Taint, newest_pools
from poolwright.receipts.document import DeviceKey, Identity, Mode, Tolerated

# Names by which drivers publish one thing; the first that a device has counts.
_UUID: Final = ("uuid",)
_BUS_ID: Final = ("pciBusID", "pcieBusID", "pciAddr")
_NUMA: Final = ("numaNode", "numa")
_PROFILE: Final = ("profile", "partitionProfile")
_PARENT: Final = ("parentUUID",)
_PARTITION: Final = "mig"  # a device's type, where it is a partition


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A device in its slice."""

    device: Device
    slice: ResourceSlice


class PublishedDevices:
    """The devices of each pool's newest generation: what a scheduler looks at."""

    def __init__(self, slices: Iterable[ResourceSlice]) -> None:
        self.by_key: dict[DeviceKey, Published] = {
            (one.driver, one.pool, device.name): Published(device=device, slice=one)
            for pool in newest_pools(slices).values()
            for one in pool
            for device in one.devices
        }
        self.generations = {key: pool[0].generation for key, pool in newest_pools(slices).items()}

    def build_identity(self, key: DeviceKey) -> Identity:
        """What is known of a device; of one that no slice has, its name alone."""
        driver, pool, name = key
        found = self.by_key.get(key)
        is_captured = found is not None and not found.device.planned
        return Identity(
            driver=driver,
            pool=pool,
            device=name,
            slice=found.slice.name if found is not None and is_captured else None,
            generation=found.slice.generation if found is not None and is_captured else None,
            uuid=self._find(found, _UUID),
            pci_bus_id=self._find(found, _BUS_ID),
            numa_node=self._find(found, _NUMA),
            profile=self._find(found, _PROFILE, also_planned=True),
            parent=self._find(found, _PARENT),
        )

    def find_mode(self, key: DeviceKey, *, is_share: bool) -> Mode:
        """How much of a device a claim has: a driver says of a partition that it is one, or of which profile."""
        found = self.by_key.get(key)
        if is_share:
            return "share"
        is_partition = self._find(found, _PROFILE, also_planned=True) is not None or (
            self._find(found, ("type",), also_planned=True) == _PARTITION
        )
        return "mig" if is_partition else "full"

    def _find(self, found: Published | None, names: Iterable[str], *, also_planned: bool = False) -> str | None:
        """An attribute as text; of a planned device nothing that tells one from another."""
        if found is None or (found.device.planned and not also_planned):
            return None
        attributes = found.device.attributes
        for name in names:
            # The driver's own domain first: others are of what it stands in.
            keys = [(found.slice.driver, name), *sorted(key for key in attributes if key[1] == name)]
            value = next((attributes[key] for key in keys if key in attributes), None)
            if value is not None and value.value is not None:
                return say_attribute(value)
        return None


def list_tolerated(
    device: Device | None, wanted: Iterable[Toleration], recorded: Iterable[Toleration] | None
) -> tuple[Tolerated, ...]:
    """The taints of a device that keep pods away, each with the first toleration that covers it.

    wanted:   of the request.
    recorded: in the allocation; None: there is none yet. By these evictions are decided, so they count first.
    """
    found = []
    kept = None if recorded is None else tuple(recorded)
    for taint in device.taints if device is not None else ():
        if taint.effect in BLOCKING_EFFECTS:
            held = next((one for one in kept or () if tolerates(one, taint)), None)
            asked = held or next((one for one in wanted if tolerates(one, taint)), None)
            found.append(
                Tolerated(
                    taint=say_taint(taint),
                    toleration=None if asked is None else say_toleration(asked),
                    seconds=None if asked is None else asked.seconds,
                    is_recorded=None if kept is None else held is not None,
                )
            )
    return tuple(found)


def say_taint(taint: Taint) -> str:
    """`key=value:effect`, without what it hasn't."""
    return f"{taint.key}{f'={taint.value}' if taint.value else ''}:{taint.effect}"


def say_toleration(one: Toleration) -> str:
    """`gpu.example.com/ecc Equal warn, effect NoExecute, for 600 s`."""
    value = f" {one.value}" if one.operator in ("", "Equal") else ""
    effect = f", effect {one.effect}" if one.effect else ""
    seconds = "" if one.seconds is None else f", for {one.seconds} s"
    return f"{one.key or 'any key'} {one.operator or 'Equal'}{value}{effect}{seconds}"
