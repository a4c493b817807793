"""More hardware than there is: copies are like the original for all that claims go by, and have names of their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plan_world import DRIVER, Want, World, demand_of, draw_mixed, draw_partitions, workload
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, Placement, ResourceSlice
from poolwright.plan.demand import find_pinned, pin_to
from poolwright.plan.engine import judge
from poolwright.plan.what_if.clearing import judge_clearing
from poolwright.plan.what_if.copies import add_devices, add_nodes, list_own_devices
from poolwright.plan.what_if.room import judge_room

WORLD = World(((0, 1), (2,)), (Want(4, (frozenset(range(3)),)),), charges={0: 1, 1: 1}, counter=2)


def test_a_copy_of_a_node() -> None:
    demand = demand_of(WORLD)
    demand = replace(demand, nodes=(replace(demand.nodes[0], labels={"kubernetes.io/hostname": "n0", "n": "0"}),))
    grown = add_nodes(demand, "n0", 2)
    assert [(node.name, dict(node.labels)) for node in grown.nodes] == [
        (name, {"kubernetes.io/hostname": name, "n": "0"}) for name in ("n0", "n0+1", "n0+2")
    ]
    assert grown.slices[: len(demand.slices)] == demand.slices
    copied = [one for one in grown.slices if one.pool == "n0+2"]
    assert [(one.name, one.placement.node_name, len(one.devices), len(one.shared_counters)) for one in copied] == [
        ("n0+2", "n0+2", 2, 0),
        ("n0-counters+2", "n0+2", 0, 1),
    ]
    assert {(device.pool, device.name) for device in copied[0].devices} == {("n0+2", "d0"), ("n0+2", "d1")}
    assert list_own_devices(demand, "n0") == ((DRIVER, "n0", "d0"), (DRIVER, "n0", "d1"))
    assert demand_of(WORLD).slices == demand.slices


def test_names_of_earlier_copies_are_passed_over() -> None:
    demand = demand_of(WORLD)
    assert add_nodes(add_nodes(demand, "n1", 1), "n1", 1) == add_nodes(demand, "n1", 2)
    like = (DRIVER, "n0", "d0")
    assert add_devices(add_devices(demand, like, 1), like, 1) == add_devices(demand, like, 2)


def test_what_reaches_several_nodes_is_not_copied() -> None:
    everywhere = ResourceSlice(
        name="net", driver="net.dev", pool="net", generation=1, slice_count=1, placement=Placement(all_nodes=True)
    )
    demand = demand_of(WORLD)
    grown = add_nodes(replace(demand, slices=(*demand.slices, everywhere)), "n1", 1)
    assert [one.name for one in grown.slices].count("net") == 1
    assert len(grown.slices) == len(demand.slices) + 1 + 2


def test_a_copy_has_a_uuid_of_its_own() -> None:
    said = {
        (DRIVER, "uuid"): AttributeOnDevice(type="string", value="GPU-1"),
        (DRIVER, "model"): AttributeOnDevice(type="string", value="X"),
    }
    device = Device(driver=DRIVER, pool="a", name="d", attributes=said)
    one = ResourceSlice(
        name="a",
        driver=DRIVER,
        pool="a",
        generation=1,
        slice_count=1,
        placement=Placement(node_name="a"),
        devices=(device,),
    )
    demand = replace(demand_of(WORLD), nodes=(Node(name="a"),), slices=(one,))
    for grown in (add_nodes(demand, "a", 1).slices[-1], add_devices(demand, (DRIVER, "a", "d"), 1).slices[-1]):
        values = {name: found.value for (_, name), found in grown.devices[-1].attributes.items()}
        assert values == {"uuid": "GPU-1+1", "model": "X"}


def test_a_daemon_set_has_a_pod_on_each_copy() -> None:
    """One more node brings a device for the daemon's pod there and none for anybody else."""
    single = workload("d", Want(1, (frozenset(range(3)),)))
    daemon = replace(single, pods=(replace(single.pods[0], node_affinity=pin_to("n0")),), is_per_node=True)
    demand = replace(
        demand_of(World(((0,), (1, 2)), ())), workloads=(daemon, workload("w", Want(3, (frozenset(range(3)),))))
    )
    grown = add_nodes(demand, "n0", 2)
    assert [find_pinned(pod) for pod in grown.workloads[0].pods] == ["n0", "n0+1", "n0+2"]
    assert [one.replicas for one in grown.workloads] == [1, 3]
    assert add_nodes(demand, "n1", 1).workloads == demand.workloads
    bound = replace(demand, workloads=(replace(daemon, is_per_node=False), *demand.workloads[1:]))
    assert add_nodes(bound, "n0", 2).workloads == bound.workloads
    assert judge(demand).shortfall.least == 1
    assert judge(grown).shortfall.least == 1
    (found,) = judge_clearing(demand, judge(demand))
    assert [(one.thing, one.like, str(one.count)) for one in found.options if one.thing == "node"] == [
        ("node", "n1", "1")
    ]
    (first, _) = judge_room(demand, judge(demand))
    assert (first.always, first.best, first.reasons) == (None, None, ("it has a pod for each node",))


def test_names_that_nothing_has() -> None:
    demand = demand_of(WORLD)
    with pytest.raises(KeyError):
        add_nodes(demand, "n7", 1)
    with pytest.raises(KeyError):
        add_devices(demand, (DRIVER, "n0", "d2"), 1)


def test_a_copy_serves_as_much_as_another_node_of_the_same_devices() -> None:
    """The world twice over, once by copying each of its nodes and once drawn so, gets the same counts."""
    for seed in range(60):
        world = draw_partitions(seed) if seed % 2 else draw_mixed(seed)
        pods = tuple(replace(want, nodes=None) for want in world.pods)
        demand = demand_of(replace(world, pods=pods))
        grown = demand
        for node in demand.nodes:
            grown = add_nodes(grown, node.name, 1)
        twin = replace(
            demand,
            nodes=(*demand.nodes, *(replace(node, name=f"{node.name}x") for node in demand.nodes)),
            slices=(
                *demand.slices,
                *(
                    replace(
                        one,
                        name=f"{one.name}x",
                        pool=f"{one.pool}x",
                        placement=Placement(node_name=f"{one.pool}x"),
                        devices=tuple(replace(device, pool=f"{one.pool}x") for device in one.devices),
                    )
                    for one in demand.slices
                ),
            ),
        )
        a, b = judge(grown), judge(twin)
        assert [(one.word, one.always, one.at_best) for one in a.verdicts] == [
            (one.word, one.always, one.at_best) for one in b.verdicts
        ], seed
        assert a.shortfall == b.shortfall, seed
