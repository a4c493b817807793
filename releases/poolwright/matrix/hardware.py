"""Which accelerators a placement's claims can land on, by model and mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from poolwright.catalog.device_class import MEMORY, build_device_class
from poolwright.catalog.device_mode import device_mode
from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.planned_nodes import list_planned_names
from poolwright.catalog.resource_slice import Device
from poolwright.plan.cluster import DeviceKinds, build_device_kinds
from poolwright.plan.pricing.market import Market
from poolwright.specs.envelope import Isolation
from poolwright.specs.parse import Specs
from poolwright.specs.pool import DeviceClassSpec
from poolwright.specs.rehearsal import Hardware, HardwareMode
from poolwright.specs.resolve import ResolvedCluster, ResolvedPlacement

_MODES: Mapping[Isolation, HardwareMode] = {"exclusive": "full", "partition": "partition", "shared": "shared"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """Hardware that a claim may get."""

    hardware: Hardware
    unknown: str = ""  # why the model isn't known, in a sentence; empty: it is


class ClusterHardware:
    """The accelerators of a cluster, captured and planned."""

    def __init__(self, specs: Specs, on: ResolvedCluster, inventory: Inventory | None, facts: Facts) -> None:
        """What there is.

        specs: of a whole project, whose references all lead somewhere and whose planned nodes are sound.
        """
        self._facts = facts
        self._kinds: DeviceKinds = build_device_kinds(specs, on, inventory, facts)
        self._market = Market(self._kinds.slices, self._kinds.features)
        self._planned = {
            name: entry.hardware_model
            for pool in specs.pools
            if pool.value.spec.cluster_name == on.cluster.name
            for entry in pool.value.spec.planned_nodes
            for name in list_planned_names(entry)[:1]  # its nodes are alike, and one stands for all
        }

    def list_landings(self, resolved: ResolvedPlacement) -> tuple[Landing, ...]:
        """The hardware of every device that one of the placement's classes lets through, each once, sorted.

        A device counts where a selector has no answer, and where its node's zone isn't known: a claim may land there.
        """
        zone = resolved.placement.value.spec.zone
        found = {one for device_class in resolved.device_classes for one in self._list_of_class(device_class, zone)}
        return tuple(sorted(found, key=lambda one: (one.hardware.model, one.hardware.mode)))

    def _list_of_class(self, device_class: DeviceClassSpec, zone: str | None) -> Iterator[Landing]:
        mode, market = device_mode(device_class, self._facts), self._market
        devices = [
            market.devices[at]
            for at in sorted(market.list_possible(build_device_class(device_class)))
            if zone is None or self._kinds.zones.get(market.nodes[at] or "", zone) == zone
        ]
        if not devices:
            where = "" if zone is None else f' in zone "{zone}"'
            unknown = f'no captured or planned device{where} is in class "{device_class.name}"'
            hardware = Hardware(model=f"unknown hardware of class {device_class.name}", mode=_MODES[mode])
            yield Landing(hardware=hardware, unknown=unknown)
        for device in devices:
            yield self._build_landing(device, is_shared=mode == "shared" or device.allow_multiple_allocations)

    def _build_landing(self, device: Device, *, is_shared: bool) -> Landing:
        is_partition = _find_text(device, "type") == "mig"
        mode: HardwareMode = "shared" if is_shared else "partition" if is_partition else "full"
        planned = self._planned.get(device.pool) if device.planned else None
        if planned is not None:
            return Landing(hardware=Hardware(model=planned, mode=mode))
        product = _find_text(device, "productName")
        model = self._find_model(device, product, is_partition=is_partition)
        if model is not None:
            return Landing(hardware=Hardware(model=model, mode=mode))
        name = product or device.driver
        memory = device.capacity.get((device.driver, MEMORY))
        size = f" with {memory.value.canonical}" if memory and memory.value and not is_partition else ""
        said = f'publishes productName "{product}"{size}' if product else "publishes no productName"
        unknown = f"a device of {device.driver} {said}, and the facts have no such accelerator"
        return Landing(hardware=Hardware(model=f"unknown hardware {name}", mode=mode), unknown=unknown)

    def _find_model(self, device: Device, product: str, *, is_partition: bool) -> str | None:
        """The fact that a captured device is of: by product name, and of a whole one by its memory too."""
        memory = device.capacity.get((device.driver, MEMORY))
        for fact in self._facts.hardware:
            if fact.product_name != product:
                continue
            published = memory.value.bytes if memory and memory.value else None
            if is_partition or None in (published, fact.memory_mi) or published == (fact.memory_mi or 0) << 20:
                return fact.model
        return None


def _find_text(device: Device, name: str) -> str:
    attribute = device.attributes.get((device.driver, name))
    return str(attribute.value) if attribute and attribute.value is not None else ""
