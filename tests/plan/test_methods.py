"""What each method says, one table a method; and what stands around them: errors, what is held, what isn't modelled."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plan_world import DRIVER, FEATURES, Want, World, demand_of, pod_of
from poolwright.allocation.claim import ALL, AllocatedDevice, Allocation, Claim, ClaimRequest, DeviceClass, Request
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import (
    AttributeOnDevice,
    CapacityOnDevice,
    Counters,
    Device,
    Placement,
    ResourceSlice,
    Taint,
)
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.engine import judge
from poolwright.plan.verdict import Contest, Judgement
from poolwright.specs.quantity import parse_quantity


def eight(node: int) -> tuple[int, ...]:
    return tuple(range(node * 8, node * 8 + 8))


ALL_16 = frozenset(range(16))
TWO_NODES = (eight(0), eight(1))
Said = list[tuple[str, str, str, str]]  # word, always, at best, method
FLOW, BLOCKING, SEARCH, BRACKET = "single-device flow", "blocking flow", "node search", "bounds and witnesses"
METHODS: dict[str, tuple[World, Said, str]] = {
    "one-device-each-and-enough": (
        World(((0, 1), (2,)), (Want(2, (frozenset({0, 1}),)), Want(1, (frozenset({2}),)))),
        [("always-fits", "2", "2", FLOW), ("always-fits", "1", "1", FLOW)],
        "0",
    ),
    # 10 pods compete for 8 devices: who stays without depends on the order, that two do doesn't.
    "two-of-ten-stay-without": (
        World((eight(0),), (Want(6, (frozenset(range(8)),)), Want(4, (frozenset(range(8)),)))),
        [("order-dependent", "4", "6", FLOW), ("order-dependent", "2", "4", FLOW)],
        "2",
    ),
    "no-device-anywhere": (World(((0,),), (Want(2, (frozenset(),)),)), [("unsatisfied", "0", "0", FLOW)], "2"),
    "no-replica": (World(((0,),), (Want(0, (frozenset({0}),)),)), [("always-fits", "0", "0", FLOW)], "0"),
    "alternatives-are-a-union": (
        World(((0, 1),), (Want(2, (frozenset({0}), frozenset({1}))),)),
        [("always-fits", "2", "2", FLOW)],
        "0",
    ),
    # To keep 2 of 4 devices from it takes 3.
    "two-singles-leave-a-pair": (
        World(((0, 1, 2, 3),), (Want(1, (frozenset(range(4)),), 2), Want(2, (frozenset(range(4)),)))),
        [("always-fits", "1", "1", BLOCKING), ("always-fits", "2", "2", BRACKET)],
        "0",
    ),
    "three-singles-do-not": (
        World(((0, 1, 2, 3),), (Want(1, (frozenset(range(4)),), 2), Want(3, (frozenset(range(3)),)))),
        [("order-dependent", "0", "1", BLOCKING), ("order-dependent", "1", "3", SEARCH)],
        "1",
    ),
    # Three others of four GPUs fill a node and a half: a place of four is always left.
    "gangs-of-four-do-not-fragment": (
        World(TWO_NODES, (Want(4, (ALL_16,), 4),)),
        [("always-fits", "4", "4", "alone")],
        "0",
    ),
    "one-single-splits-a-node-of-eight": (
        World(TWO_NODES, (Want(2, (ALL_16,), 8), Want(1, (ALL_16,)))),
        [("order-dependent", "1", "2", SEARCH), ("order-dependent", "0", "1", SEARCH)],
        "1",
    ),
    "threes-waste-two-of-eight": (
        World(TWO_NODES, (Want(5, (ALL_16,), 3),)),
        [("unsatisfied", "4", "4", SEARCH)],
        "1",
    ),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    world, said, shortfall = METHODS[name]
    found = judge(demand_of(world))
    assert say(found) == said
    assert str(found.shortfall) == shortfall


def say(found: Judgement) -> Said:
    return [(one.word, str(one.always), str(one.at_best), one.method) for one in found.verdicts]


def test_over_demanded_part_and_minimal_set() -> None:
    """The third workload isn't in it, and of the second as many as prove it."""
    takes = (Want(1, (frozenset({0}),)), Want(2, (frozenset({0, 1}),)), Want(1, (frozenset({2}),)))
    found = judge(demand_of(World(((0, 1, 2),), takes)))
    devices = tuple((DRIVER, "n0", f"d{number}") for number in range(2))
    assert found.over_demanded == (Contest(pods=(("w0", 1), ("w1", 2)), demanded=3, devices=2, examples=devices),)
    assert found.hall_sets == (Contest(pods=(("w0", 1), ("w1", 2)), demanded=3, devices=2, examples=devices),)


def test_gangs_that_need_more_than_there_is() -> None:
    """2 x 3, 2 x 1 and two more are 10: the last one is in it, because the third workload takes its device too."""
    seven, rest = frozenset(range(7)), frozenset({7})
    takes = (Want(2, (seven,), 3), Want(2, (seven,)), Want(1, (seven | rest,)), Want(1, (rest,)))
    found = judge(demand_of(World((tuple(range(7)), (7,)), takes)))
    devices = tuple((DRIVER, "n0", f"d{number}") for number in range(4))
    contest = Contest(pods=(("w0", 2), ("w1", 2), ("w2", 1), ("w3", 1)), demanded=10, devices=8, examples=devices)
    assert (found.hall_sets, found.over_demanded) == ((), (contest,))
    assert str(found.shortfall) == "1"


def test_room_for_more() -> None:
    takes = (Want(1, (frozenset({0, 1, 2}),)), Want(1, (frozenset({2}),)))
    rooms = [(one.headroom_always, one.headroom_best) for one in judge(demand_of(World(((0, 1, 2),), takes))).verdicts]
    assert rooms == [(1, 1), (0, 0)]


ONE = World(((0, 1),), (Want(2, (frozenset({0, 1}),)),))


def test_what_is_held_is_not_free() -> None:
    held = AllocatedDevice(request="r", driver=DRIVER, pool="n0", device="d0")
    claim = Claim(namespace="t", name="old", allocation=Allocation(devices=(held,)))
    assert say(judge(replace(demand_of(ONE), held=(claim,)))) == [("unsatisfied", "1", "1", FLOW)]


def test_taints_and_cordons_are_judged() -> None:
    demand = demand_of(ONE)
    tainted = replace(demand.nodes[0], taints=(Taint(key="down", effect="NoSchedule"),))
    cordoned = replace(demand.nodes[0], unschedulable=True)
    for node in (tainted, cordoned):
        assert say(judge(replace(demand, nodes=(node,)))) == [("unsatisfied", "0", "0", FLOW)]


def test_unknown_class_is_an_error() -> None:
    found = judge(replace(demand_of(ONE), classes={}))
    assert say(found) == [("error", "0", "0", "alone")]
    assert "could not retrieve device class any" in found.verdicts[0].reasons[0]
    assert str(found.shortfall) == "2"


def test_selector_that_fails_on_a_device() -> None:
    """Nobody can hide the device: an error. If another pod can hold it, that depends."""
    failing = Request(name="r", class_name="any", selectors=(f"device.attributes['{DRIVER}'].nope == 1",))
    claim = Claim(namespace="t", name="c", requests=(ClaimRequest(name="r", exactly=failing),))
    demand = demand_of(ONE)
    workload = Workload(title="w", replicas=1, pods=(pod_of("w", claim),))
    found = judge(replace(demand, workloads=(workload,)))
    assert say(found) == [("error", "0", "0", "alone")]
    assert "no such key: nope" in found.verdicts[0].reasons[0]
    found = judge(replace(demand, workloads=(workload, *demand.workloads)))
    assert [(one.word, str(one.always), one.method) for one in found.verdicts] == [
        ("undecided", "0-1", "not judged"),
        ("undecided", "1-2", BRACKET),
    ]
    assert "no such key: nope" in found.verdicts[0].reasons[0]


def test_what_is_not_modelled_is_undecided() -> None:
    demand = demand_of(World(((0, 1),), (Want(1, (frozenset({0, 1}),)), Want(1, (frozenset({1}),)))))
    first = replace(demand.workloads[0], unjudged=("topology spread isn't modelled",))
    found = judge(replace(demand, workloads=(first, demand.workloads[1])))
    # That the other one may be kept out can't be shown by an order that rests on it, nor that it can't be.
    assert [(one.word, str(one.always)) for one in found.verdicts] == [("undecided", "0-1"), ("undecided", "0-1")]
    assert found.verdicts[0].reasons[0] == "topology spread isn't modelled"


def test_groups_are_not_placed_at_once() -> None:
    """Two replicas of two pods each on three devices: each may hold one and wait for ever."""
    request = ClaimRequest(name="r", exactly=Request(name="r", class_name="any"))
    claim = Claim(namespace="t", name="c", requests=(request,))
    workload = Workload(title="w", replicas=2, pods=(pod_of("leader", claim), pod_of("worker", claim)))
    demand = demand_of(World(((0, 1, 2),), ()))
    found = judge(replace(demand, workloads=(workload,)))
    assert [(one.word, str(one.always), str(one.at_best)) for one in found.verdicts] == [("unsatisfied", "0-1", "1")]
    assert "placed one by one" in found.verdicts[0].reasons[-1]
    roomy = judge(replace(demand_of(World(((0, 1, 2, 3),), ())), workloads=(workload,)))
    assert [(one.word, str(one.always)) for one in roomy.verdicts] == [("always-fits", "2")]


def test_half_of_a_group_still_takes_devices() -> None:
    """Its worker's class doesn't exist, so it never serves; its leader takes the one device that another pod needs."""
    leader, worker = (
        Claim(namespace="t", name="c", requests=(ClaimRequest(name="r", exactly=Request(name="r", class_name=name)),))
        for name in ("any", "none")
    )
    group = Workload(title="g", replicas=1, pods=(pod_of("leader", leader), pod_of("worker", worker)))
    demand = demand_of(World(((0,),), (Want(1, (frozenset({0}),)),)))
    found = judge(replace(demand, workloads=(*demand.workloads, group)))
    assert [(one.word, str(one.always)) for one in found.verdicts] == [("order-dependent", "0"), ("error", "0")]
    assert found.shortfall.least == 1


def test_all_is_kept_away_by_one() -> None:
    request = ClaimRequest(name="r", exactly=Request(name="r", class_name="any", mode=ALL, count=0))
    claim = Claim(namespace="t", name="c", requests=(request,))
    demand = demand_of(World(((0, 1), (2, 3)), (Want(1, (frozenset({0, 1, 2, 3}),)),)))
    greedy = Workload(title="all", replicas=1, pods=(pod_of("all", claim),))
    found = judge(replace(demand, workloads=(*demand.workloads, greedy)))
    assert [one.word for one in found.verdicts] == ["always-fits", "always-fits"]
    twice = replace(demand.workloads[0], replicas=2)
    found = judge(replace(demand, workloads=(twice, greedy)))
    assert [(one.word, str(one.always)) for one in found.verdicts] == [("always-fits", "2"), ("order-dependent", "0")]


def test_partitions_of_one_device() -> None:
    """A whole GPU and its halves take from the same counters."""
    halves = [partition(f"half-{at}", 1, "half") for at in range(2)]
    one = ResourceSlice(
        name="s",
        driver=DRIVER,
        pool="n0",
        generation=1,
        slice_count=2,
        placement=Placement(node_name="n0"),
        devices=(partition("whole", 2, "whole"), *halves),
    )
    sets = replace(one, name="s-counters", devices=(), shared_counters=(memory(2),))
    classes = {
        kind: DeviceClass(name=kind, selectors=(f"device.attributes['{DRIVER}'].kind == '{kind}'",))
        for kind in ("whole", "half")
    }
    demand = replace(demand_of(World(((),), ())), nodes=(Node(name="n0"),), slices=(one, sets), classes=classes)
    found = judge(replace(demand, workloads=(takes("whole", 1), takes("half", 1))))
    assert [(one.word, str(one.always), str(one.at_best)) for one in found.verdicts] == [
        ("order-dependent", "0", "1"),
        ("order-dependent", "0", "1"),
    ]
    assert str(found.shortfall) == "1"
    assert [one.word for one in judge(replace(demand, workloads=(takes("half", 2),))).verdicts] == ["always-fits"]
    assert [one.word for one in judge(replace(demand, workloads=(takes("half", 3),))).verdicts] == ["unsatisfied"]
    # Where only halves are asked for, their counters can't be short.
    assert say(judge(replace(demand, workloads=(takes("half", 2),)))) == [("always-fits", "2", "2", FLOW)]


def partition(name: str, amount: int, kind: str) -> Device:
    said = {(DRIVER, "kind"): AttributeOnDevice(type="string", value=kind)}
    return Device(driver=DRIVER, pool="n0", name=name, attributes=said, consumes=(memory(amount),))


def memory(amount: int) -> Counters:
    return Counters(counter_set="gpu", counters={"memory": parse_quantity(str(amount))})


def takes(kind: str, replicas: int) -> Workload:
    request = Request(name="r", class_name=kind)
    claim = Claim(namespace="t", name="c", requests=(ClaimRequest(name="r", exactly=request),))
    return Workload(title=kind, replicas=replicas, pods=(pod_of(kind, claim),))


def test_nothing_is_changed() -> None:
    demand = demand_of(ONE)
    before = repr(demand)
    judge(demand)
    assert repr(demand) == before
    assert isinstance(demand, Demand)


def shared(title: str, replicas: int, *, nodes: tuple[int, ...] | None = None, own: bool = False) -> Workload:
    """Replicas that use one claim of one device together, and each another one if `own`."""
    request = ClaimRequest(name="r", exactly=Request(name="r", class_name="any"))
    together = Claim(namespace="t", name="together", requests=(request,))
    claims = (together, replace(together, name="own")) if own else (together,)
    pod = pod_of(title, *claims, nodes=nodes)
    return Workload(title=title, replicas=replicas, pods=(pod,), shared=frozenset({("t", "together")}))


SHARED: dict[str, tuple[World, tuple[Workload, ...], list[tuple[str, str, str]], str]] = {
    "one-device-for-three": (World(((0,),), ()), (shared("s", 3),), [("always-fits", "3", "3")], "0"),
    "a-single-user-is-like-any-other": (
        World(((0,),), (Want(1, (frozenset({0}),)),)),
        (shared("s", 1),),
        [("order-dependent", "0", "1"), ("order-dependent", "0", "1")],
        "1",
    ),
    # The other pod has the device, or all three have it together.
    "all-or-none": (
        World(((0,),), (Want(1, (frozenset({0}),)),)),
        (shared("s", 3),),
        [("order-dependent", "0", "1"), ("order-dependent", "0", "3")],
        "1",
    ),
    "two-workloads-are-one-user": (
        World(((0,), (1,)), (Want(1, (frozenset({0, 1}),)),)),
        (shared("s", 2), shared("t", 2)),
        [("always-fits", "1", "1"), ("always-fits", "2", "2"), ("always-fits", "2", "2")],
        "0",
    ),
    # The one that comes first may go where the other one can't follow.
    "users-with-other-nodes-are-not-alike": (
        World(((0,), (1,)), ()),
        (shared("s", 1), shared("t", 1, nodes=(1,))),
        [("undecided", "0-1", "1"), ("order-dependent", "0", "1")],
        "0",
    ),
    "more-users-than-a-claim-can-have": (
        World(((0,),), ()),
        (shared("s", 257),),
        [("unsatisfied", "1-256", "256")],
        "1",
    ),
    "users-with-claims-of-their-own-are-not-alike": (
        World(((0, 1, 2),), ()),
        (shared("s", 2, own=True),),
        [("undecided", "1-2", "2")],
        "0",
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_shared_claims(name: str) -> None:
    world, more, said, shortfall = SHARED[name]
    demand = demand_of(world)
    found = judge(replace(demand, workloads=(*demand.workloads, *more)))
    assert [(one.word, str(one.always), str(one.at_best)) for one in found.verdicts] == said
    assert str(found.shortfall) == shortfall


def shareable(name: str, memory_size: int) -> Device:
    capacity = {(DRIVER, "memory"): CapacityOnDevice(name="memory", value=parse_quantity(str(memory_size)))}
    return Device(driver=DRIVER, pool="n0", name=name, capacity=capacity, allow_multiple_allocations=True)


def share(title: str, replicas: int, size: int, *, count: int = 1) -> Workload:
    request = Request(name="r", class_name="any", capacity={"memory": parse_quantity(str(size))}, count=count)
    claim = Claim(namespace="t", name="c", requests=(ClaimRequest(name="r", exactly=request),))
    return Workload(title=title, replicas=replicas, pods=(pod_of(title, claim),))


SHARES: dict[str, tuple[tuple[int, ...], tuple[Workload, ...], Said]] = {
    "as-many-as-fit-into-it": ((80,), (share("s", 8, 10),), [("always-fits", "8", "8", "node search")]),
    "no-more-than-fit-into-it": ((80,), (share("s", 9, 10),), [("unsatisfied", "8", "8", "node search")]),
    # One of 30 and five of 10 leave nothing for the second one of 30.
    "small-ones-keep-a-large-one-out": (
        (80,),
        (share("s", 2, 30), share("t", 5, 10)),
        [("order-dependent", "1", "2", "node search"), ("order-dependent", "2", "5", "node search")],
    ),
    # On each device 70 must be taken to keep out 20: nine shares of 10 can't do that on two of them.
    "two-devices": (
        (80, 80),
        (share("s", 1, 20), share("t", 9, 10)),
        [("always-fits", "1", "1", "node search"), ("always-fits", "9", "9", "node search")],
    ),
    # How many of one device a request of two gets differs between versions, so nothing is counted.
    "two-of-a-request": (
        (80, 80),
        (share("s", 5, 40, count=2),),
        [("undecided", "1-2", "2-5", "bounds and witnesses")],
    ),
}


@pytest.mark.parametrize("name", SHARES)
def test_shares(name: str) -> None:
    sizes, workloads, said = SHARES[name]
    demand = demand_of(World(((0,),), ()), features=replace(FEATURES, consumable_capacity=True))
    one = replace(demand.slices[0], devices=tuple(shareable(f"d{at}", size) for at, size in enumerate(sizes)))
    assert say(judge(replace(demand, slices=(one,), workloads=workloads))) == said


def group(*sizes: int) -> tuple[Subject, ...]:
    """The pods of a replica, each of so many devices."""
    asked = (Request(name="r", class_name="any", count=size) for size in sizes)
    claims = (Claim(namespace="t", name="c", requests=(ClaimRequest(name="r", exactly=one),)) for one in asked)
    return tuple(pod_of("w", claim) for claim in claims)


GROUPS: dict[str, tuple[tuple[int, ...], int, tuple[int, ...], tuple[str, str, str]]] = {
    "one-node-for-two-pods-of-a-node-each": ((8,), 1, (8, 8), ("unsatisfied", "0", "0")),
    "three-nodes-for-four-pods": ((8, 8, 8), 2, (8, 8), ("unsatisfied", "0", "1")),
    # 20 devices are enough for two replicas of 10, but a node of 8 has no second five.
    "fives-on-nodes-of-eight": ((8, 8, 8), 2, (5, 5), ("unsatisfied", "0", "1")),
    "enough": ((8, 8), 1, (8, 8), ("always-fits", "1", "1")),
}


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("searches", [True, False], ids=["search", "bounds"])
def test_groups_alone(name: str, *, searches: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica's pods need devices together, whichever of them come first."""
    if not searches:
        monkeypatch.setattr("poolwright.plan.methods.general.build_node_search", lambda field: None)
    nodes, replicas, sizes, said = GROUPS[name]
    devices = iter(range(sum(nodes)))
    demand = demand_of(World(tuple(tuple(next(devices) for _ in range(size)) for size in nodes), ()))
    found = judge(replace(demand, workloads=(Workload(title="w", replicas=replicas, pods=group(*sizes)),)))
    (one,) = found.verdicts
    assert (one.word, str(one.always.least), str(one.at_best)) == said


def test_a_group_whose_pods_ask_for_the_same_and_share_it_or_not() -> None:
    """Its leader has a device of its own, and its workers have one together: three serve two replicas."""
    request = ClaimRequest(name="r", exactly=Request(name="r", class_name="any"))
    own = Claim(namespace="t", name="own", requests=(request,))
    together = replace(own, name="together")
    pods = (pod_of("leader", own), pod_of("worker", together))
    one = Workload(title="w", replicas=2, pods=pods, shared=frozenset({("t", "together")}))
    demand = demand_of(World(((0, 1, 2),), ()))
    (found,) = judge(replace(demand, workloads=(one,))).verdicts
    assert (found.word, str(found.always), str(found.at_best)) == ("undecided", "0-2", "2")


def test_a_claim_has_no_more_devices_than_its_allocation_holds() -> None:
    """Of two requests for 20 devices, or else one, a claim is given 21: the 40 of both would keep the other pod out."""
    many = tuple(Request(name=name, class_name="any", count=count) for name, count in (("a", 20), ("b", 1)))
    requests = tuple(ClaimRequest(name=name, first_available=many) for name in ("r", "s"))
    pods = [pod_of("two", Claim(namespace="t", name="c", requests=requests))]
    demand = demand_of(World((tuple(range(40)),), (Want(19, (frozenset(range(40)),)),)))
    two = Workload(title="two", replicas=1, pods=tuple(pods))
    found = judge(replace(demand, workloads=(*demand.workloads, two)))
    assert [(one.word, str(one.always)) for one in found.verdicts] == [("always-fits", "19"), ("always-fits", "1")]
