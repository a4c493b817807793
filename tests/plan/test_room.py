"""Room for more replicas: never more than there is, and exactly so where every pod takes one device."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import pytest
from oracles import list_placements, try_packings

from plan_world import FEATURES, Want, World, demand_of, draw_mixed, draw_partitions, draw_singles, pod_of, workload
from poolwright.allocation.claim import Allocation
from poolwright.plan import engine
from poolwright.plan.demand import Workload
from poolwright.plan.engine import judge
from poolwright.plan.verdict import Count
from poolwright.plan.what_if.room import Further, Room, judge_room

COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "120"))
NEVER = Further(0, 0)


def find_truth(world: World, at: int) -> tuple[int, int]:
    """Further replicas that always fit, and that some packing holds beside everything that it competes with."""
    members = list_competing(world, at)
    always = best = 0
    for further in range(1 + sum(map(len, world.nodes))):
        wants = {one: world.pods[one] for one in members}
        wants[at] = replace(wants[at], replicas=wants[at].replicas + further)
        truth = try_packings(replace(world, pods=tuple(wants.values())))
        if truth.always[members.index(at)] == wants[at].replicas:
            always = further
        if truth.most == sum(one.replicas for one in wants.values()):
            best = further
    return always, best


def list_competing(world: World, at: int) -> list[int]:
    """The pods that share a device, or a node's counter, with one, or with one that does."""
    reach: list[set[object]] = []
    for number in range(len(world.pods)):
        devices = set[int]().union(*list_placements(world, number))
        nodes = {("node", one) for one, own in enumerate(world.nodes) if devices & set(own) and world.counter}
        reach.append({*devices, *nodes})
    near, todo = {at}, [at]
    while todo:
        one = todo.pop()
        more = [other for other in range(len(world.pods)) if other not in near and reach[one] & reach[other]]
        near.update(more)
        todo += more
    return sorted(near)


def judge_world(world: World) -> tuple[Room, ...]:
    demand = demand_of(world)
    return judge_room(demand, judge(demand))


def is_within(found: Further | None, truth: int) -> bool:
    return found is not None and found.least <= truth and (found.most is None or truth <= found.most)


def test_single_devices_are_exact() -> None:
    some = 0
    for seed in range(COUNT):
        world = draw_singles(seed)
        for at, room in enumerate(judge_world(world)):
            always, best = find_truth(world, at)
            assert (room.always, room.best) == (Further(always, always), Further(best, best)), (seed, at)
            some += always > 0
    assert some > COUNT // 10


@pytest.mark.parametrize("draw", [draw_mixed, draw_partitions])
def test_the_truth_is_never_overstated(draw: Callable[[int], World]) -> None:
    exact = total = some = 0
    for seed in range(COUNT):
        world = draw(seed)
        for at, room in enumerate(judge_world(world)):
            always, best = find_truth(world, at)
            assert is_within(room.always, always), (seed, at, room, always)
            assert is_within(room.best, best), (seed, at, room, best)
            exact += room.always is not None and room.always.least == room.always.most
            total += 1
            some += always > 0
    assert exact * 10 > total * 9
    assert some > COUNT // 10


def test_a_proof_that_is_one_too_high_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    true_count = engine.count_shortfall_of
    monkeypatch.setattr(
        "poolwright.plan.what_if.room.count_shortfall_of",
        lambda context, part: replace_most(true_count(context, part)),
    )
    caught = 0
    for seed in range(40):
        world = draw_mixed(seed)
        caught += sum(not is_within(room.best, find_truth(world, at)[1]) for at, room in enumerate(judge_world(world)))
    assert caught > 0


def replace_most(count: Count) -> Count:
    return Count(max(0, count.least - 1), max(0, count.most - 1))


ALL = frozenset(range(8))
ROWS: dict[str, tuple[World, list[tuple[Further, Further]]]] = {
    "others-may-take-eight-less-one": (World((tuple(range(8)),), (Want(1, (ALL,)),)), [(Further(7, 7), Further(7, 7))]),
    # Singles on both nodes leave no two free devices on either; packed well, two pairs more have room.
    "a-pair-that-singles-can-keep-away": (
        World(((0, 1), (2, 3), (4, 5)), (Want(2, (frozenset(range(6)),), 2), Want(1, (frozenset(range(6)),)))),
        [(NEVER, NEVER), (Further(1, 1), Further(1, 1))],
    ),
    "what-does-not-fit-has-no-room": (World(((0,),), (Want(2, (frozenset({0}),)),)), [(NEVER, NEVER)]),
    # It always fits, and somebody it competes with is left out already.
    "beside-a-shortfall-there-is-none": (
        World(((0, 1, 2),), (Want(1, (frozenset({0, 1, 2}),)), Want(2, (frozenset({0}),)))),
        [(Further(1, 1), NEVER), (NEVER, NEVER)],
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_room(name: str) -> None:
    world, expected = ROWS[name]
    assert [(one.always, one.best) for one in judge_world(world)] == expected
    assert [find_truth(world, at) for at in range(len(world.pods))] == [
        (always.least, best.least) for always, best in expected
    ]


def test_pods_of_one_replica_compete_with_each_other() -> None:
    """Four devices and a group of two pods: one further group, though either pod alone would find room for more."""
    single = workload("g", Want(1, (frozenset(range(4)),)))
    group = replace(single, pods=single.pods * 2)
    demand = replace(demand_of(World((tuple(range(4)),), ())), workloads=(group,))
    judgement = judge(demand)
    assert (judgement.verdicts[0].headroom_always, judgement.verdicts[0].headroom_best) == (None, None)
    (room,) = judge_room(demand, judgement)
    assert room.best == Further(1, 1)
    assert room.always in (Further(0, 1), Further(1, 1))


def test_a_shared_claim_has_so_many_users_at_most() -> None:
    one = workload("s", Want(3, (frozenset({0}),)))
    (claim,) = one.pods[0].claims
    shared = replace(one, shared=frozenset({("t", claim.name)}))
    demand = replace(demand_of(World(((0,),), ())), workloads=(shared,))
    (room,) = judge_room(demand, judge(demand))
    assert (room.always, room.best) == (Further(253, 253), Further(253, 253))


def test_what_is_not_judged_says_why() -> None:
    demand = demand_of(World(((0,),), (Want(1, (frozenset({0}),)),)))
    (one,) = demand.workloads
    affine = replace(one, unjudged=("pod affinity",))
    (claim,) = one.pods[0].claims
    taken = replace(claim, allocation=Allocation(devices=()))
    holds: Workload = replace(one, title="h", pods=(pod_of("h", taken),))
    reserved = replace(one, title="r", is_reservation=True)
    grown = replace(demand, workloads=(affine, holds, reserved), features=FEATURES)
    assert judge_room(grown, judge(grown)) == (
        Room(workload="w0", reasons=("pod affinity", *judge(grown).verdicts[0].reasons[1:])),
        Room(workload="h", reasons=("it takes no device of its own",)),
    )


@pytest.mark.parametrize(
    ("further", "said"),
    [(Further(20, 20), "+20"), (Further(3, 5), "+3 to +5"), (Further(256, None), "+256 or more")],
)
def test_words(further: Further, said: str) -> None:
    assert str(further) == said
