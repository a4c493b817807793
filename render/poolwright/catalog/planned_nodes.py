"""Planned nodes expanded into the ResourceSlices that the stack's drivers would publish of them.

Which accelerators of a node are cut is the host's choice; here the first ones are, in the order of the pool's layouts.
Each accelerator has a PCIe root of its own, with its companions: which of them share one can't be known before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package, list_driver_names
from poolwright.catalog.mig_layout import Partition, place_partitions
from poolwright.catalog.planned_devices import PCIE_ROOT, AcceleratorPlan, build_domain_devices, build_driver_plan
from poolwright.catalog.qualified_name import split_name
from poolwright.catalog.resource_slice import AttributeOnDevice, Counters, Device, Placement, ResourceSlice
from poolwright.catalog.tables.hardware import HardwareFact
from poolwright.specs.pool import Companion, PlannedNode, Pool
from poolwright.specs.stack import DraDriver, Stack

MAX_DEVICES: Final = 128  # of a slice; k8s.io/api resource/v1 v0.36.0, ResourceSliceMaxDevices
# The Kubernetes from which the driver publishes counter sets in a slice of their own, and devices in one per GPU;
# kubernetes-sigs/dra-driver-nvidia-gpu cmd/gpu-kubelet-plugin/driver.go, main of 2026-08-07.
_COUNTERS_APART: Final = (1, 35)
_TYPES: Final[dict[type, str]] = {str: "string", bool: "bool", int: "int"}


def build_planned_slices(
    pool: Pool, stack: Stack, facts: Facts, *, max_nodes: int | None = None
) -> tuple[ResourceSlice, ...]:
    """The slices of a pool's planned nodes, by entry and node; all are marked planned, and of generation 0.

    stack:     of the pool's cluster.
    max_nodes: expand at most this many nodes of each entry; the nodes of an entry are alike.
    Needs:     a pool and a stack that `check_planned_nodes` finds nothing wrong with.
    """
    slices: list[ResourceSlice] = []
    for entry in pool.spec.planned_nodes:
        driver, hardware = find_gpu_driver(stack, facts), facts.hardware_model(entry.hardware_model)
        if driver is None or hardware is None:
            raise AssertionError(f"{entry.name}: check_planned_nodes says so")
        plan = NodePlan(entry, hardware, driver, stack, facts)
        for name in list_planned_names(entry)[:max_nodes]:
            slices += plan.build_slices(name)
    return tuple(slices)


def list_planned_names(entry: PlannedNode) -> tuple[str, ...]:
    """What an entry's nodes are called."""
    return tuple(f"{entry.name}-{number}" for number in range(entry.count))


def find_gpu_driver(stack: Stack, facts: Facts) -> DraDriver | None:
    """The stack's NVIDIA DRA driver, of a release that is known; None: it has none."""
    return next(
        (
            driver
            for driver in stack.spec.dra_drivers
            if is_nvidia_package(driver.name, facts) and facts.driver_release(driver.version)
        ),
        None,
    )


class NodePlan:
    """Builds the slices of the nodes of one entry."""

    def __init__(
        self, entry: PlannedNode, hardware: HardwareFact, driver: DraDriver, stack: Stack, facts: Facts
    ) -> None:
        profiles = facts.model_profiles(entry.hardware_model)
        self._entry = entry
        self._facts = facts
        self._driver = build_driver_plan(driver, stack, facts)
        self._driver_names = list_driver_names(driver, facts)
        self._accelerator = AcceleratorPlan(hardware, profiles, self._driver, facts)
        layouts = [
            place_partitions(layout.profiles, profiles) for layout in entry.partitions for _ in range(layout.devices)
        ]
        self._layouts = [*layouts, *[()] * (entry.devices_per_node - len(layouts))]
        # What the driver splits has each profile on each placement.
        self._possible = [
            Partition(profile=profile, start=placement.start, size=placement.size)
            for profile in profiles
            for placement in profile.placements
        ]
        self._counters_apart = _minor_release(stack) >= _COUNTERS_APART

    def build_slices(self, node: str) -> list[ResourceSlice]:
        """The slices of one node: of accelerators, compute domains and companions."""
        accelerators = [self._build_accelerator(node, minor) for minor in range(self._entry.devices_per_node)]
        slices = self._split_slices(accelerators) if self._accelerator.is_split else self._one_slice(accelerators)
        for name in self._driver_names:
            slices += _slices_of(build_domain_devices(name, node, self._driver, self._facts))
        for name in sorted({companion.driver for companion in self._entry.companions}):
            slices += _slices_of(self._build_companions(name, node))
        return slices

    def _build_accelerator(self, node: str, minor: int) -> list[Device]:
        """All devices of one accelerator, by name. One in MIG mode is published only if the driver splits it."""
        root, plan = _root(node, minor), self._accelerator
        cut = self._possible if plan.is_split else self._layouts[minor]
        whole = plan.build_whole(node, minor, root) if plan.is_split or not cut else ()
        devices = [*whole, *(plan.build_partition(node, minor, root, partition) for partition in cut)]
        return sorted(devices, key=lambda device: device.name)

    def _one_slice(self, accelerators: Sequence[list[Device]]) -> list[ResourceSlice]:
        """The driver publishes all devices of a node in one slice, however many there are."""
        devices = tuple(device for devices in accelerators for device in devices)
        return [_build_slice(devices[0], 0, 1, devices)] if devices else []

    def _split_slices(self, accelerators: Sequence[list[Device]]) -> list[ResourceSlice]:
        counters = tuple(self._accelerator.build_counters(minor) for minor in range(len(accelerators)))
        any_device = accelerators[0][0]
        if not self._counters_apart:
            return [
                _build_slice(any_device, index, len(accelerators), tuple(devices), (counters[index],))
                for index, devices in enumerate(accelerators)
            ]
        count = len(accelerators) + 1
        first = _build_slice(any_device, 0, count, (), counters)
        rest = [_build_slice(any_device, index, count, tuple(d)) for index, d in enumerate(accelerators, 1)]
        return [first, *rest]

    def _build_companions(self, driver: str, node: str) -> tuple[Device, ...]:
        companions = [companion for companion in self._entry.companions if companion.driver == driver]
        beside = [companion for companion in companions for _ in range(companion.per_device)]
        return tuple(
            _build_companion(companion, node, minor, number)
            for minor in range(self._entry.devices_per_node)
            for number, companion in enumerate(beside)
        )


def _build_companion(companion: Companion, node: str, minor: int, number: int) -> Device:
    attributes = {
        split_name(companion.driver, name): AttributeOnDevice(type=_TYPES[type(value)], value=value)
        for name, value in companion.attributes.items()
    }
    return Device(
        driver=companion.driver,
        pool=node,
        name=f"planned-{minor}-{number}",  # what their driver calls them isn't known
        attributes={**attributes, PCIE_ROOT: AttributeOnDevice(type="string", value=_root(node, minor))},
        planned=True,
    )


def _root(node: str, minor: int) -> str:
    """A PCIe root that no sysfs has: it only says which devices are beside each other."""
    return f"planned:{node}/{minor}"


def _slices_of(devices: tuple[Device, ...]) -> list[ResourceSlice]:
    """As few slices as Kubernetes takes."""
    parts = [devices[start : start + MAX_DEVICES] for start in range(0, len(devices), MAX_DEVICES)]
    return [_build_slice(part[0], index, len(parts), part) for index, part in enumerate(parts)]


def _build_slice(
    like: Device, index: int, count: int, devices: tuple[Device, ...], counters: tuple[Counters, ...] = ()
) -> ResourceSlice:
    """A slice of the pool that a device is in. Pools are named after their node."""
    return ResourceSlice(
        name=f"planned-{index:05x}-{like.driver}-{like.pool}",
        driver=like.driver,
        pool=like.pool,
        generation=0,
        slice_count=count,
        placement=Placement(node_name=like.pool),
        devices=devices,
        shared_counters=counters,
        planned=True,
    )


def _minor_release(stack: Stack) -> tuple[int, ...]:
    """The stack's minor release of Kubernetes: (1, 36)."""
    versions = stack.spec.kubernetes.version.range
    numbers = versions.exact[0].key[0] if versions.exact else versions.lines[0]
    return (*numbers, 0)[:2]
