"""Slots: names that stay while claims change, and devices that go together."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from oracles import fits, list_placements

from fleet import FLEET, ROOT, copy_fleet, copy_small_fleet
from plan_world import DRIVER, Want, World, demand_of, draw_mixed, draw_partitions, draw_singles, pod_of
from poolwright.allocation.claim import AllocatedDevice, Allocation, Claim
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.report.plan_schema import plan_schema
from poolwright.plan.slots import Slot, SlotDevice, build_slots, name_slot
from run_poolwright import run

COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "150"))
DRAWN = {"singles": draw_singles, "mixed": draw_mixed, "partitions": draw_partitions}
NAMED = {"key": "metadata.name", "operator": "In"}
OWNER = ("Deployment", "chat", "chat-70b")


def test_names_are_what_they_were() -> None:
    """Receipts of releases go by them."""
    assert [name_slot("east", OWNER, *rest) for rest in ((0, "devices"), (2, "devices"), (0, "devices", 1))] == [
        "slot:sha256:899cbbaa6c6ec7ae2ade7ef1fb2e03136b037aeb977a668456aeb26898a7d94e",
        "slot:sha256:61bc6aa89a3f72aa91ec328dee79fadb1db7e41e79094ae0b6eae29c26fe1ce0",
        "slot:sha256:6544ecb8f1f0795cd21ac8967c9ac5db1bc7c4b9e857c37a8cbb1b8531c6b1dd",
    ]


def own(demand: Demand) -> Demand:
    """The demand with its workloads taken for Deployments, whose pods call their claims c0, c1, ..."""
    return replace(demand, workloads=tuple(_own(one, f"{at}") for at, one in enumerate(demand.workloads)))


def _own(one: Workload, name: str) -> Workload:
    pods = tuple(replace(pod, claim_names=tuple(f"c{at}" for at in range(len(pod.claims)))) for pod in one.pods)
    return replace(one, owner=("Deployment", "t", name), pods=pods)


@pytest.mark.parametrize("name", DRAWN)
def test_devices_go_together(name: str) -> None:
    """No device twice, each set one that the pod may get; who has none found no room, nor is there any in the end."""
    for seed in range(COUNT):
        world = DRAWN[name](seed)
        slots = build_slots(own(demand_of(world)), "c")
        assert len(slots) == len({one.id for one in slots}) == sum(want.replicas for want in world.pods)
        taken: frozenset[int] = frozenset()
        for slot in slots:
            at, devices = _read(slot)
            if slot.node:
                assert devices in list_placements(world, at), seed
                assert fits(world, devices, taken), seed
                assert {one.pool for one in slot.devices} == {slot.node}, seed
                taken |= devices
        for slot in slots:
            at, _ = _read(slot)
            if not slot.node:
                assert slot.reasons
                assert not slot.devices
                assert not any(fits(world, one, taken) for one in list_placements(world, at)), seed


def _read(slot: Slot) -> tuple[int, frozenset[int]]:
    """The number of the workload, and those of the devices."""
    return int(slot.workload.removeprefix("Deployment/")), frozenset(int(one.device[1:]) for one in slot.devices)


def device(number: int, like: int) -> SlotDevice:
    return SlotDevice(request="r", driver=DRIVER, pool="n0", device=f"d{number}", exact=True, interchangeable=like)


def test_how_many_do_as_well() -> None:
    """All that the request takes, whoever else does; with a constraint those that have the same value."""
    devices = frozenset(range(4))
    values = {0: {"x": 1}, 1: {"x": 1}, 2: {"x": 1}, 3: {"x": 2}}
    plain, tied, one = Want(1, (devices,), 2), Want(1, (devices,), 2, "x"), Want(1, (frozenset({1}),))
    for first, like in ((plain, 4), (tied, 3)):
        slots = build_slots(own(demand_of(World(((0, 1, 2, 3),), (first, one), values))), "c")
        assert [one.devices for one in slots] == [(device(0, like), device(1, like)), ()]
        assert slots[1].reasons[0].startswith("request r: 4 devices on 1 node: ")


def test_alternatives_do_not_count_for_each_other() -> None:
    world = World(((0, 1, 2),), (Want(2, (frozenset({0}), frozenset({1, 2}))),))
    slots = build_slots(own(demand_of(world)), "c")
    assert [slot.devices for slot in slots] == [
        (replace(device(0, 1), request="r/a0"),),
        (replace(device(1, 2), request="r/a1"),),
    ]


def test_what_is_held_is_not_as_good() -> None:
    world = World(((0, 1, 2, 3),), (Want(1, (frozenset(range(4)),)),))
    taken = Allocation(devices=(AllocatedDevice(request="r", driver=DRIVER, pool="n0", device="d0"),))
    held = (Claim(namespace="o", name="other", allocation=taken),)
    (slot,) = build_slots(replace(own(demand_of(world)), held=held), "c")
    assert slot.devices == (device(1, 3),)


def test_who_holds_the_devices_of_a_slot_without_is_named(tmp_path: Path) -> None:
    """Claims of a plan have a slash in their names."""
    ran = run("plan", "--slots", folder=copy_small_fleet(tmp_path))
    assert (
        "none: request gpu: 8 devices on 1 node: 8 held by chat/chat/chat-70b:chat-70b-devices-0, "
        "chat/chat/chat-70b:chat-70b-devices-1; 0 left, 4 wanted"
    ) in ran.stdout


def test_a_group_has_all_its_devices_or_none() -> None:
    """Of two replicas of two pods, one device each, three devices serve one; the third one is another workload's."""
    demand = own(demand_of(World(((0, 1, 2),), (Want(2, (frozenset(range(3)),)), Want(1, (frozenset({2}),))))))
    group, single = demand.workloads
    (pod,) = group.pods
    group = replace(group, pods=(pod, replace(pod, name="second")))
    slots = build_slots(replace(demand, workloads=(group, single)), "c")
    assert [(one.ordinal, one.pod, one.node, [each.device for each in one.devices]) for one in slots] == [
        (0, 0, "n0", ["d0"]),
        (0, 1, "n0", ["d1"]),
        (1, 0, "", []),
        (1, 1, "", []),
        (0, 0, "n0", ["d2"]),
    ]
    assert slots[2].reasons == slots[3].reasons != ()
    assert len({one.id for one in slots}) == len(slots)


def test_a_daemon_is_by_itself_and_called_by_its_node() -> None:
    """One pod for each node; that one has no devices takes nothing from the others."""
    demand = own(demand_of(World(((0,), (), (1,)), (Want(1, (frozenset({0, 1}),)),))))
    (workload,) = demand.workloads
    (pod,) = workload.pods
    owner = ("DaemonSet", "t", "d")
    bound = tuple(
        replace(pod, node_affinity={"nodeSelectorTerms": [{"matchFields": [dict(NAMED, values=[node])]}]})
        for node in ("n0", "n1", "n2")
    )
    daemons = replace(workload, pods=bound, owner=owner, is_per_node=True)
    slots = build_slots(replace(demand, workloads=(daemons,)), "c")
    assert [(one.id, one.node, len(one.devices)) for one in slots] == [
        (name_slot("c", owner, 0, "c0", "n0"), "n0", 1),
        (name_slot("c", owner, 0, "c0", "n1"), "", 0),
        (name_slot("c", owner, 0, "c0", "n2"), "n2", 1),
    ]
    assert [bool(one.reasons) for one in slots] == [False, True, False]


def test_a_shared_claim_stands_in_the_slot_of_each() -> None:
    demand = own(demand_of(World(((0, 1),), (Want(2, (frozenset({0, 1}),)),))))
    (workload,) = demand.workloads
    shared = replace(workload, shared=frozenset({("t", "c")}))
    slots = build_slots(replace(demand, workloads=(shared,)), "c")
    assert [(one.ordinal, one.shared, one.devices) for one in slots] == [
        (0, True, (device(0, 2),)),
        (1, True, (device(0, 2),)),
    ]


def test_what_is_not_looked_at_gets_nothing() -> None:
    demand = own(demand_of(World(((0,),), (Want(1, (frozenset({0}),)), Want(1, (frozenset({0}),))))))
    first, second = demand.workloads
    slots = build_slots(replace(demand, workloads=(replace(first, unjudged=("pod affinity",)), second)), "c")
    assert [(one.node, one.reasons) for one in slots] == [
        ("", ("its pods have pod affinity, which is not looked at",)),
        ("n0", ()),
    ]


def test_others_demand_takes_devices_and_has_no_slot() -> None:
    demand = demand_of(World(((0,),), (Want(1, (frozenset({0}),)), Want(1, (frozenset({0}),)))))
    first, second = demand.workloads
    (slot,) = build_slots(replace(demand, workloads=(replace(first, is_reservation=True), _own(second, "w"))), "c")
    assert (slot.workload, slot.node) == ("Deployment/w", "")


def test_a_pod_that_cannot_be_placed_says_why() -> None:
    demand = own(demand_of(World(((0,),), (Want(2, (frozenset({0}),)),))))
    (workload,) = demand.workloads
    pods = tuple(replace(pod, problem="the pod waits for its gates: g") for pod in workload.pods)
    slots = build_slots(replace(demand, workloads=(replace(workload, pods=pods),)), "c")
    assert [one.reasons for one in slots] == [("the pod waits for its gates: g",)] * 2


def test_extended_resources_have_a_slot() -> None:
    demand = own(demand_of(World(((0,),), (Want(1, (frozenset({0}),)),))))
    (workload,) = demand.workloads
    pod = replace(pod_of("p", workload.pods[0].claims[0]), claim_names=("",))
    (slot,) = build_slots(replace(demand, workloads=(replace(workload, pods=(pod,)),)), "c")
    assert (slot.pod_claim, slot.node) == ("", "n0")


def read_plan(project: Path) -> dict[str, list[dict[str, Any]]]:
    """The slots of each cluster of a project."""
    ran = run("plan", "--project", str(project), "--slots", "--format", "json", folder=ROOT)
    assert ran.stderr == ""
    document = json.loads(ran.stdout)
    jsonschema_rs.validate(plan_schema(), document)
    return {one["name"]: one["slots"] for one in document["clusters"]}


def test_the_example_fleet() -> None:
    plan = read_plan(FLEET)
    slots = [one for cluster in plan.values() for one in cluster]
    assert len({one["slot"] for one in slots}) == len(slots)
    assert all(one["claimUID"] is None and one["node"] for one in slots)
    exact = {device["pool"] for one in slots for device in one["devices"] if device["identity"] == "exact"}
    assert exact == {"gpu-a100-mig-a", "gpu-h100-a"}
    first = plan["east"][0]
    assert (first["slot"], first["workload"]) == (name_slot("east", OWNER, 0, "devices"), "Deployment/chat-70b")
    assert first["devices"][0] == {
        "request": "gpu",
        "driver": "gpu.nvidia.com",
        "pool": "gpu-h100-a",
        "device": "gpu-0",
        "identity": "exact",
        "interchangeable": 8,
    }


def test_names_stay_while_templates_change(tmp_path: Path) -> None:
    project = copy_fleet(tmp_path)
    before = read_plan(project)
    placement = project / "specs" / "placements" / "lab.yaml"
    said = placement.read_text(encoding="utf-8")
    assert said.count("version: 2.4.0") == 1
    placement.write_text(said.replace("version: 2.4.0", "version: 2.3.0"), encoding="utf-8")
    after = read_plan(project)
    assert [one["slot"] for one in after["lab"]] == [one["slot"] for one in before["lab"]]


def test_the_table() -> None:
    ran = run("plan", "--project", str(FLEET), "--cluster", "lab", "--slots", folder=ROOT)
    lines = ran.stdout.splitlines()
    at = lines.index("  slots: 2, 0 of them without devices")
    assert lines[at + 1] == (
        "    35e860735667  chat/Deployment/chat-70b#0 devices  h100-0  gpu: (gpu-0), (gpu-1), (gpu-2), (gpu-3)"
    )
    (assumed,) = [line for line in lines if line.startswith("  assumed: ")]
    assert "; slots are one packing and not a prediction: workloads in this order, " in assumed
    assert "slots" not in run("plan", "--project", str(FLEET), "--cluster", "lab", folder=ROOT).stdout


def test_what_would_make_room_is_found_by_its_whole_name() -> None:
    """A slot's claim has its workload's title in its name, with a slash, as a real one never has."""
    demand = own(demand_of(World(((0,),), (Want(2, (frozenset({0}),)),))))
    (workload,) = demand.workloads
    first, second = build_slots(replace(demand, workloads=(replace(workload, title="t/chat"),)), "c")
    assert (first.node, second.node) == ("n0", "")
    assert second.reasons[-1].startswith("not giving devices to claim ")
    assert second.reasons[-1].endswith(" (d0) would make room: d0 on n0")
