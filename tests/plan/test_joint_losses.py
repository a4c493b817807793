"""Losses of several things: those that come to the same stand for all, and what is one piece is lost together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest

from plan_world import DRIVER, Want, World, demand_of, draw_mixed, draw_singles
from poolwright.catalog.planned_devices import PCIE_ROOT
from poolwright.catalog.resource_slice import UNSUPPORTED, AttributeOnDevice, Counters, Device
from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge, judge_context
from poolwright.plan.methods.context import build_context
from poolwright.plan.what_if.alike import Lost, Thing, list_things
from poolwright.plan.what_if.joint import JointLosses, judge_joint_losses
from poolwright.plan.what_if.loss import lose
from poolwright.plan.what_if.pieces import NVIDIA, list_pieces

Outcome = tuple[object, ...]


def joint(demand: Demand, thing: Thing, most: int) -> JointLosses:
    context = build_context(demand, shows=False)
    things = list_things(context, thing)
    return judge_joint_losses(context, judge_context(context), things, most, frozenset(range(len(demand.workloads))))


def outcomes(found: JointLosses) -> set[Outcome]:
    return {tuple((one.word, one.always, one.at_best) for one in case.verdicts.values()) for case in found.cases}


def brute(demand: Demand, thing: Thing, most: int) -> set[Outcome]:
    """Every set of so many things lost, one by one."""
    things = list_things(build_context(demand, shows=False), thing)
    found = set()
    for count in range(most + 1):
        for names in combinations(sorted(things), count):
            lost = Lost(set())
            for name in names:
                lost = Lost(lost.devices | things[name].devices, lost.nodes | things[name].nodes)
            verdicts = judge(lose(demand, lost)).verdicts
            found.add(tuple((one.word, one.always, one.at_best) for one in verdicts))
    return found


@pytest.mark.parametrize("thing", ["node", "device"])
@pytest.mark.parametrize("draw", [draw_singles, draw_mixed])
def test_nothing_comes_out_that_losing_each_set_does_not(draw: Callable[[int], World], thing: Thing) -> None:
    for seed in range(25):
        demand = demand_of(draw(seed))
        found = joint(demand, thing, 2)
        assert found.is_complete
        assert outcomes(found) == brute(demand, thing, 2), seed


# Four nodes of two devices that share an attribute each, the values of which differ from node to node.
PAIRS = World(
    tuple((2 * node, 2 * node + 1) for node in range(4)),
    (Want(2, (frozenset(range(8)),), count=2, match="x"), Want(1, (frozenset(range(8)),))),
    {device: {"x": device // 2} for device in range(8)},
)


def test_sets_that_are_alike_are_judged_once() -> None:
    """Two devices of one node, or of two: not one and the same, though each device is like any other."""
    said = {thing: [case.names for case in joint(demand_of(PAIRS), thing, 2).cases] for thing in ("node", "device")}
    assert said["node"] == [(), ("n0",), ("n0", "n1")]
    first, second = f"{DRIVER}/n0/d0", f"{DRIVER}/n0/d1"
    assert said["device"] == [(), (first,), (first, second), (first, f"{DRIVER}/n1/d2")]


def test_a_pair_apart_is_not_like_one_that_shares_a_value() -> None:
    values = {**PAIRS.values, 6: {"x": 6}, 7: {"x": 7}}
    found = joint(demand_of(replace(PAIRS, values=values)), "node", 1)
    assert [case.names for case in found.cases] == [(), ("n0",), ("n3",)]


def test_fewer_lost_than_allowed_count_too() -> None:
    """Without one of its devices the node has no room for the pair, and the single one is safe; with both it isn't."""
    world = World(((0, 1),), (Want(1, (frozenset({0, 1}),), count=2), Want(1, (frozenset({0, 1}),))))
    words = [[one.word for one in case.verdicts.values()] for case in joint(demand_of(world), "device", 1).cases]
    assert words == [["order-dependent", "order-dependent"], ["unsatisfied", "always-fits"]]


def test_too_many_that_differ_are_not_taken_for_all() -> None:
    """Twenty nodes, each with one device more than the one before: no two are alike."""
    numbers = iter(range(1000))
    nodes = tuple(tuple(next(numbers) for _ in range(size)) for size in range(1, 21))
    everything = frozenset(device for node in nodes for device in node)
    found = joint(demand_of(World(nodes, (Want(1, (everything,)),))), "node", 2)
    assert (found.is_complete, len(found.cases)) == (False, 21)


def gpu(name: str, driver: str = DRIVER, **said: str) -> Device:
    attributes = {(driver, key): AttributeOnDevice(type="string", value=value) for key, value in said.items()}
    return Device(driver=driver, pool="n0", name=name, attributes=attributes)


def at(device: Device, key: tuple[str, str], value: str) -> Device:
    return replace(device, attributes={**device.attributes, key: AttributeOnDevice(type="string", value=value)})


def planned(device: Device, root: str) -> Device:
    return replace(at(device, PCIE_ROOT, root), planned=True)


def drawing(device: Device, *sets: str) -> Device:
    return replace(device, consumes=tuple(Counters(counter_set=name, counters={}) for name in sets))


BUS = ("resource.kubernetes.io", "pciBusID")
PIECES: dict[str, tuple[tuple[Device, ...], dict[str, list[str]]]] = {
    "every-other-device-is-a-piece": (
        (gpu("a"), gpu("a-mig-b", type="mig")),
        {"x.dev/n0/a": ["a"], "x.dev/n0/a-mig-b": ["a-mig-b"]},
    ),
    "partitions-by-nvidias-names": (
        tuple(gpu(name, NVIDIA) for name in ("gpu-1-mig-b", "gpu-1-mig-a", "gpu-10-mig-a")),
        {f"{NVIDIA}/n0/gpu-1": ["gpu-1-mig-a", "gpu-1-mig-b"], f"{NVIDIA}/n0/gpu-10": ["gpu-10-mig-a"]},
    ),
    "one-pci-address": (
        (at(gpu("gpu-0", NVIDIA), BUS, "0000:07"), at(gpu("gpu-vfio-0", NVIDIA), BUS, "0000:07")),
        {f"{NVIDIA}/n0/gpu-0": ["gpu-0", "gpu-vfio-0"]},
    ),
    # The network card is beside the accelerator, and not a part of it.
    "one-planned-accelerator": (
        (planned(gpu("a", type="mig"), "r0"), planned(gpu("b", type="vfio"), "r0"), planned(gpu("nic"), "r0")),
        {"x.dev/n0/a": ["a", "b"], "x.dev/n0/nic": ["nic"]},
    ),
    "one-counter-set": (
        (drawing(gpu("a"), "s0"), drawing(gpu("b"), "s0"), gpu("c")),
        {"x.dev/n0/s0": ["a", "b"], "x.dev/n0/c": ["c"]},
    ),
    "two-counter-sets": (
        (drawing(gpu("a"), "s0", "s1"), drawing(gpu("b"), "s0"), drawing(gpu("c"), "s1")),
        {"x.dev/n0/s0": ["a", "b"], "x.dev/n0/s1": ["a", "c"]},
    ),
}


@pytest.mark.parametrize(("devices", "pieces"), PIECES.values(), ids=PIECES)
def test_pieces_of_hardware(devices: tuple[Device, ...], pieces: dict[str, list[str]]) -> None:
    found = list_pieces({(one.driver, one.pool, one.name): one for one in devices})
    assert {name: sorted(device for _, _, device in piece) for name, piece in found.items()} == pieces


def test_values_of_an_unknown_type_are_like_no_others() -> None:
    """The pair of the first node shares a text; those of the second have what nobody can compare."""
    demand = demand_of(World(((0, 1), (2, 3)), (Want(1, (frozenset(range(4)),), count=2, match="x"),)))
    kinds = {"n0": AttributeOnDevice(type="string", value="a"), "n1": AttributeOnDevice(type=UNSUPPORTED, value=None)}
    slices = tuple(
        replace(
            one,
            devices=tuple(
                replace(device, attributes={**device.attributes, (DRIVER, "x"): kinds[one.pool]})
                for device in one.devices
            ),
        )
        for one in demand.slices
    )
    assert outcomes(joint(replace(demand, slices=slices), "node", 1)) == brute(
        replace(demand, slices=slices), "node", 1
    )
