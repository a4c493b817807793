"""Captured devices of an NVIDIA DRA driver as the same release would publish them with some of its gates off.

The facts say which attributes and capacities a gate brings. Devices that a gate alone publishes are gone without it:
partitions that the driver makes itself, and GPUs for virtual machines. That a GPU in MIG mode is a whole one again is
taken for granted.

Source: kubernetes-sigs/dra-driver-nvidia-gpu cmd/gpu-kubelet-plugin, main of 2026-08-07.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from poolwright.catalog.facts import Facts
from poolwright.catalog.resource_slice import AttributeOnDevice, CapacityOnDevice, Device, QualifiedKey, ResourceSlice

DeviceName = tuple[str, str, str]  # driver, pool and device


@dataclass(frozen=True, slots=True, kw_only=True)
class Ungated:
    """Slices without what gates bring."""

    slices: tuple[ResourceSlice, ...]  # in the order given
    gone: tuple[DeviceName, ...]  # devices that aren't published any more, sorted
    altered: tuple[DeviceName, ...]  # devices of which something isn't, sorted


def drop_gated(
    slices: Iterable[ResourceSlice], *, drivers: Collection[str], release: str, gates: Collection[str], facts: Facts
) -> Ungated:
    """Slices as they would be captured with these gates of the driver off.

    drivers: what the driver is called in slices; those of others stay as they are.
    """
    found: list[ResourceSlice] = []
    gone: list[DeviceName] = []
    altered: list[DeviceName] = []
    strip = _Strip(release, gates, facts)
    for one in slices:
        if one.driver not in drivers:
            found.append(one)
            continue
        left = []
        for device in one.devices:
            after = strip.device(device)
            if after is not None:
                left.append(after)
            if after != device:
                (gone if after is None else altered).append((device.driver, device.pool, device.name))
        found.append(replace(one, devices=tuple(left)))
    return Ungated(slices=tuple(found), gone=tuple(sorted(gone)), altered=tuple(sorted(altered)))


class _Strip:
    """Devices without what some gates bring."""

    def __init__(self, release: str, gates: Collection[str], facts: Facts) -> None:
        self._release, self._gates, self._facts = release, gates, facts

    def device(self, device: Device) -> Device | None:
        """What is published of a device; None: nothing."""
        kind = _find_kind(device)
        if (kind == "vfio" and "PassthroughSupport" in self._gates) or (
            kind == "mig-dynamic" and "DynamicMIG" in self._gates
        ):
            return None
        if "DynamicMIG" in self._gates:
            device = replace(device, consumes=())
        if "ConsumableShares" in self._gates:
            device = replace(device, allow_multiple_allocations=False)
        return replace(device, attributes=self._attributes(device, kind), capacity=self._capacity(device, kind))

    def _attributes(self, device: Device, kind: str) -> dict[QualifiedKey, AttributeOnDevice]:
        rows = {(row.domain, row.name): row for row in self._facts.published_attributes(kind, self._release)}
        found = {}
        for key, one in device.attributes.items():
            row = rows.get(key)
            if row is not None and row.gate in self._gates:
                continue
            found[key] = one
            if row is not None and row.list_gate in self._gates:
                # A list of one.
                value = next(iter(one.value), None) if isinstance(one.value, tuple) else one.value
                found[key] = replace(one, type=row.type, value=value)
        return found

    def _capacity(self, device: Device, kind: str) -> dict[QualifiedKey, CapacityOnDevice]:
        gated = {row.name for row in self._facts.published_capacities(kind, self._release) if row.gate in self._gates}
        kept = {key: one for key, one in device.capacity.items() if key[1] not in gated}
        if "ConsumableShares" not in self._gates:
            return kept
        return {key: replace(one, request_policy=None) for key, one in kept.items()}


def _find_kind(device: Device) -> str:
    """The facts' id of a device's type."""
    said = device.attributes.get((device.driver, "type"))
    kind = str(said.value) if said is not None else ""
    if kind != "mig":
        return kind
    return "mig-dynamic" if device.consumes else "mig-static"
