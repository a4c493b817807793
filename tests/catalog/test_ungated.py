"""Captured devices without gates of their driver are those that planned nodes of the same driver would have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import replace

import msgspec
import pytest

from fleet import FLEET
from poolwright.catalog.gates import list_driver_names
from poolwright.catalog.planned_nodes import build_planned_slices
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, ResourceSlice
from poolwright.catalog.ungated import drop_gated
from poolwright.cli.load import LoadedProject, load_project
from poolwright.specs.stack import Stack

NVIDIA = "gpu.nvidia.com"


def with_gates(stack: Stack, gates: Mapping[str, bool], settings: Mapping[str, str | int]) -> Stack:
    driver = msgspec.structs.replace(stack.spec.dra_drivers[0], feature_gates=dict(gates), settings=dict(settings))
    return msgspec.structs.replace(stack, spec=msgspec.structs.replace(stack.spec, dra_drivers=(driver,)))


def plan(project: LoadedProject, gates: Mapping[str, bool], **settings: str | int) -> tuple[ResourceSlice, ...]:
    pool = next(one.value for one in project.specs.pools if one.value.metadata.name == "h200-shares")
    stack = next(one.value for one in project.specs.stacks if one.value.metadata.name == "operator-26-7-shares")
    wanted = with_gates(stack, gates, {"computeDomains": "disabled", **settings})
    return build_planned_slices(pool, wanted, project.facts)


def drop(project: LoadedProject, slices: tuple[ResourceSlice, ...], *gates: str) -> tuple[list[Device], int, int]:
    before = [dataclasses.replace(one) for one in slices]
    found = drop_gated(slices, drivers=(NVIDIA,), release="0.5.0", gates=gates, facts=project.facts)
    assert list(slices) == before
    return [device for one in found.slices for device in one.devices], len(found.gone), len(found.altered)


CASES: dict[str, tuple[tuple[str, ...], Mapping[str, str | int], int, int]] = {
    "shares-without-limit": (("ConsumableShares",), {"consumableShares": "unlimited"}, 0, 8),
    "shares-of-memory": (("ConsumableShares",), {"consumableShares": "memory"}, 0, 8),
    "a-number-of-shares": (("ConsumableShares",), {"consumableShares": 4}, 0, 8),
    "for-virtual-machines": (("PassthroughSupport",), {}, 8, 0),
    "fabric-partitions": (("FabricManagerPartitioning",), {}, 0, 8),
    "lists": (("DRAListTypeAttributes",), {}, 0, 8),
    "several": (("DRAListTypeAttributes", "PassthroughSupport"), {}, 8, 8),
}


@pytest.mark.parametrize("name", CASES)
def test_devices_without_gates(name: str) -> None:
    gates, settings, gone, altered = CASES[name]
    project = load_project(str(FLEET))
    slices = plan(project, dict.fromkeys(gates, True), **settings)
    devices, lost, changed = drop(project, slices, *gates)
    assert devices == [device for one in plan(project, {}) for device in one.devices]
    assert (lost, changed) == (gone, altered)


def test_a_list_of_one_is_its_value_again() -> None:
    project = load_project(str(FLEET))
    slices = plan(project, {"DRAListTypeAttributes": True})
    key = "resource.kubernetes.io", "numaNode"
    first = slices[0].devices[0]
    attributes = {**first.attributes, key: AttributeOnDevice(type="ints", value=(1,))}
    captured = replace(slices[0], devices=(replace(first, attributes=attributes),))
    (device,), _, _ = drop(project, (captured,), "DRAListTypeAttributes")
    assert device.attributes[key] == AttributeOnDevice(type="int", value=1)


def test_partitions_that_the_driver_makes() -> None:
    project = load_project(str(FLEET))
    slices = plan(project, {"DynamicMIG": True})
    devices, gone, altered = drop(project, slices, "DynamicMIG")
    whole = [device for one in plan(project, {}) for device in one.devices]
    assert [(one.name, one.consumes, set(one.capacity)) for one in devices] == [
        (one.name, (), set(one.capacity)) for one in whole
    ]
    assert (gone + altered, altered) == (sum(len(one.devices) for one in slices), 8)
    assert gone > 8


def test_what_other_gates_and_drivers_bring_stays() -> None:
    project = load_project(str(FLEET))
    slices = plan(project, {"ConsumableShares": True}, consumableShares="unlimited")
    assert drop(project, slices, "TimeSlicingSettings")[0] == [device for one in slices for device in one.devices]
    others = tuple(
        replace(one, driver="x.dev", devices=tuple(replace(device, driver="x.dev") for device in one.devices))
        for one in slices
    )
    found = drop_gated(others, drivers=(NVIDIA,), release="0.5.0", gates=("ConsumableShares",), facts=project.facts)
    assert (found.slices, found.gone, found.altered) == (others, (), ())
    driver = project.specs.stacks[0].value.spec.dra_drivers[0]
    assert NVIDIA in list_driver_names(driver, project.facts)
