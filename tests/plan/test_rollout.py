"""Rollouts: what is said of them against everything that can happen in small worlds, and orders that end stuck."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace

import pytest
from rollout_oracle import Pace, deployment_sticks, groups_stick
from test_from_objects import read_cluster

from plan_world import Want, World, demand_of, draw_mixed, draw_partitions, draw_singles, node_name
from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import AllocatedDevice, Allocation, Claim
from poolwright.plan.demand import Demand, Turnover, Workload
from poolwright.plan.device_order import reorder
from poolwright.plan.engine import judge
from poolwright.plan.replay import Replay
from poolwright.plan.what_if import rollout
from poolwright.plan.what_if.rollout import Rollout, judge_rollouts

COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "50"))
MOST_PODS = 7  # of a world that everything is tried in
DRAWS = {"singles": draw_singles, "mixed": draw_mixed, "partitions": draw_partitions}

FOUR = frozenset(range(4))
SURGE, AWAY = Turnover(surge=1, unavailable=0), Turnover(surge=0, unavailable=1)
# The first workload of the world is rolled; said: outcome, why, fixes, and the pods and nodes of the order.
Said = tuple[str, str, tuple[str, ...], str]
BESIDE = "a new replica always finds devices beside the old ones"
GIVEN_BACK = "devices that an old replica gives back, or others, always serve a new one"
CASES: dict[str, tuple[World, Turnover | None, Said | None]] = {
    "surge-beside-the-maximum": (
        World(((0, 1, 2, 3),), (Want(3, (FOUR,)), Want(1, (FOUR,)))),
        SURGE,
        ("completes", BESIDE, (), ""),
    ),
    # Without surge one of the two waits for what the other gives back; with one replica the surge has room.
    "others-take-the-surge": (
        World(((0, 1, 2, 3),), (Want(3, (FOUR,)), Want(2, (FOUR,)))),
        SURGE,
        (
            "can-stick",
            "2 old replicas keep their devices, others have the rest, and no new one has room: no old one is let go "
            "before a new one is ready",
            ("surge 0 and maxUnavailable 1", "at most 1 replica instead of 2"),
            "w1#0 n0, w1#1 n0, w0#0 n0, w0#1 n0",
        ),
    ),
    "no-room-for-a-surge-at-all": (
        World(((0, 1),), (Want(3, (frozenset({0, 1}),)),)),
        SURGE,
        (
            "can-stick",
            "2 old replicas keep their devices, no node has room for another one: no old one is let go before a new "
            "one is ready",
            ("surge 0 and maxUnavailable 1", "at most 1 replica instead of 2"),
            "w0#0 n0, w0#1 n0",
        ),
    ),
    "without-surge": (
        World(((0, 1),), (Want(2, (frozenset({0, 1}),)),)),
        AWAY,
        ("completes", GIVEN_BACK, (), ""),
    ),
    "others-take-what-is-given-back": (
        World(((0, 1),), (Want(2, (frozenset({0, 1}),)), Want(1, (frozenset({0}),)))),
        AWAY,
        (
            "can-stick",
            "once 1 of 2 old replicas gave devices back, others have the rest, and no new one has room",
            ("at most 1 replica instead of 2",),
            "w1#0 n0, w0#0 n0",
        ),
    ),
    "the-maximum-has-no-room": (
        World(((0,),), (Want(2, (frozenset({0}),)),)),
        AWAY,
        (
            "can-stick",
            "only 1 of 2 replicas has devices, no node has room for another one: new ones wait as the missing ones do",
            ("at most 1 replica instead of 2",),
            "w0#0 n0",
        ),
    ),
    "no-device-anywhere": (
        World(((0,),), (Want(1, (frozenset(),)),)),
        AWAY,
        (
            "can-stick",
            "no replica has devices, no node has room for another one: new ones wait as the missing ones do",
            (),
            "",
        ),
    ),
    # A Deployment of two with a surge of two goes on as soon as one of the new ones is there.
    "one-of-the-surge-is-enough": (
        World(((0, 1, 2),), (Want(4, (frozenset({0, 1, 2}),)),)),
        Turnover(surge=2, unavailable=0),
        ("completes", BESIDE, (), ""),
    ),
    "a-leader-worker-set-waits-for-all-of-the-surge": (
        World(((0, 1, 2),), (Want(4, (frozenset({0, 1, 2}),)),)),
        Turnover(surge=2, unavailable=0, waits_for_all=True),
        (
            "can-stick",
            "3 old and new replicas keep their devices, no node has room for another one: no old one is let go before "
            "a new one is ready",
            ("surge 0 and maxUnavailable 1", "at most 1 replica instead of 2"),
            "w0#0 n0, w0#1 n0, w0#2 n0",
        ),
    ),
    "recreated": (
        World(((0, 1),), (Want(2, (frozenset({0, 1}),)),)),
        Turnover(surge=0, unavailable=2),
        ("completes", GIVEN_BACK, (), ""),
    ),
    "gangs-whose-surge-has-no-place": (
        World(((0, 1, 2, 3), (4, 5, 6, 7)), (Want(2, (frozenset(range(8)),), 4), Want(1, (frozenset(range(8)),)))),
        SURGE,
        (
            "can-stick",
            "1 old replica keeps its devices, others have the rest, and no new one has room: no old one is let go "
            "before a new one is ready",
            ("surge 0 and maxUnavailable 1",),
            "w1#0 n0, w0#0 n1",
        ),
    ),
    "nothing-to-roll": (
        World(((0,),), (Want(0, (frozenset({0}),)),)),
        Turnover(surge=0, unavailable=0),
        ("completes", GIVEN_BACK, (), ""),
    ),
    "what-does-not-roll": (World(((0,),), (Want(2, (frozenset({0}),)),)), None, None),
}


def roll_first(world: World, turnover: Turnover | None) -> Demand:
    demand = demand_of(world)
    return replace(demand, workloads=(replace(demand.workloads[0], turnover=turnover), *demand.workloads[1:]))


@pytest.mark.parametrize("name", CASES)
def test_rollouts(name: str) -> None:
    world, turnover, said = CASES[name]
    demand = roll_first(world, turnover)
    found = judge_rollouts(demand, judge(demand))
    assert [say(one) for one in found] == ([] if said is None else [said])


def say(one: Rollout) -> Said:
    moves = one.witness.moves if one.witness else ()
    return one.outcome, one.why, one.fixes, ", ".join(f"{move.workload}#{move.replica} {move.node}" for move in moves)


def test_what_is_not_modelled_is_not_known() -> None:
    demand = roll_first(World(((0,),), (Want(1, (frozenset({0}),)),)), AWAY)
    demand = replace(demand, workloads=(replace(demand.workloads[0], unjudged=("affinity.podAffinity",)),))
    (found,) = judge_rollouts(demand, judge(demand))
    assert (found.outcome, found.why, found.witness) == ("not-known", "affinity.podAffinity", None)


def test_who_is_asked_about_is_judged_as_among_all() -> None:
    """One rollout that completes and one that can stick: the workloads compete all the same."""
    demand = demand_of(World(((0, 1, 2),), (Want(1, (frozenset({0, 1, 2}),)), Want(2, (frozenset({1, 2}),)))))
    demand = replace(demand, workloads=tuple(replace(one, turnover=AWAY) for one in demand.workloads))
    judgement = judge(demand)
    found = judge_rollouts(demand, judgement)
    titles = [one.title for one in demand.workloads]
    assert [one.workload for one in found] == titles
    assert [judge_rollouts(demand, judgement, only={title}) for title in titles] == [(one,) for one in found]
    assert judge_rollouts(demand, judgement, only={"another"}) == ()


def test_only_fresh_clusters_are_judged() -> None:
    """Old replicas are among what is held, and they do depart."""
    device = AllocatedDevice(request="r", driver="x.dev", pool="n0", device="d0")
    held = Claim(namespace="t", name="old", allocation=Allocation(devices=(device,)))
    demand = replace(roll_first(World(((0, 1),), (Want(1, (frozenset({0, 1}),)),)), AWAY), held=(held,))
    assert judge_rollouts(demand, judge(demand)) == ()


def draw_rolled(kind: str, seed: int) -> tuple[World, Demand] | None:
    """A random world whose workloads all roll, each in its way; None: it is too large to try everything."""
    rng, world = random.Random(f"{kind} {seed}"), DRAWS[kind](seed)
    turnovers, wants = [], []
    for want in world.pods:
        maximum = min(want.replicas, 2) if rng.random() < 0.8 else want.replicas
        surge, unavailable = min(rng.choice((0, 1, 1, 2)), maximum), min(rng.choice((0, 1, 1, 2)), maximum)
        turnovers.append(
            Turnover(
                surge=surge,
                unavailable=unavailable if surge else max(1, unavailable),
                waits_for_all=rng.random() < 0.4,
            )
        )
        wants.append(replace(want, replicas=maximum + surge))
    if sum(want.replicas for want in wants) > MOST_PODS:
        return None
    world = replace(world, pods=tuple(wants))
    demand = demand_of(world)
    pairs = zip(demand.workloads, turnovers, strict=True)
    return world, replace(demand, workloads=tuple(replace(one, turnover=turnover) for one, turnover in pairs))


def sticks(world: World, at: int, workload: Workload) -> bool:
    turnover = workload.turnover
    assert turnover is not None
    wants = list(world.pods)
    wants[at] = replace(wants[at], replicas=workload.replicas)
    try_all = groups_stick if turnover.waits_for_all else deployment_sticks
    pace = Pace(workload.maximum, turnover.surge, turnover.unavailable)
    return try_all(replace(world, pods=tuple(wants)), at, pace)


@pytest.mark.parametrize("kind", DRAWS)
def test_against_everything_that_can_happen(kind: str) -> None:
    """Nothing that can stick is said to complete, nor the other way round; and every order is one, and ends stuck."""
    words: Counter[str] = Counter()
    wrong = []
    for seed in range(COUNT):
        drawn = draw_rolled(kind, seed)
        if drawn is None:
            continue
        world, demand = drawn
        for at, one in enumerate(judge_rollouts(demand, judge(demand))):
            words[one.outcome] += 1
            can = sticks(world, at, demand.workloads[at])
            if one.outcome != "not-known" and can != (one.outcome == "can-stick"):
                wrong.append((seed, at, one.outcome))
            if (one.outcome == "can-stick") != (one.witness is not None) or not ends_stuck(demand, at, one):
                wrong.append((seed, at, "witness"))
            wrong += [(seed, at, fix) for fix in one.fixes if sticks(world, at, mend(demand.workloads[at], fix))]
    assert wrong == []
    assert words["completes"] > COUNT // 5
    assert words["can-stick"] > COUNT // 2
    assert words["not-known"] * 8 < sum(words.values())


def ends_stuck(demand: Demand, at: int, one: Rollout) -> bool:
    """Whether the order happens as it is told, and no further replica has room while no old one may be let go."""
    if one.witness is None:
        return True
    slices = demand.slices
    if one.witness.replays != "now":
        slices = reorder(slices, one.witness.device_order)
    replay = Replay(demand, Allocator(slices, demand.classes, demand.features))
    titles = [workload.title for workload in demand.workloads]
    for move in one.witness.moves:
        if replay.place(titles.index(move.workload), move.replica, move.pod, move.node) != move:
            return False
    own = sum(move.workload == one.workload for move in one.witness.moves)
    nodes = [node.name for node in demand.nodes]
    waits = own < one.maximum + (0 if one.unavailable else one.surge)
    return own == one.witness.placed and waits and not replay.can_place(at, own, 0, nodes)


def mend(workload: Workload, fix: str) -> Workload:
    """A workload as a fix has it."""
    turnover = workload.turnover
    assert turnover is not None
    if fix.startswith("surge 0 and maxUnavailable "):
        calm = replace(turnover, surge=0, unavailable=int(fix.rpartition(" ")[2]))
        return replace(workload, replicas=workload.maximum, turnover=calm)
    maximum = int(fix.removeprefix("at most ").partition(" ")[0])
    surge, unavailable = min(turnover.surge, maximum), min(turnover.unavailable, maximum)
    return replace(workload, replicas=maximum + surge, turnover=replace(turnover, surge=surge, unavailable=unavailable))


@pytest.mark.parametrize("error", ["one too few suffice", "the surge may wait"])
def test_planted_errors_are_caught(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true_needed = rollout.count_needed

    def needed(workload: Workload, turnover: Turnover) -> int:
        if error == "the surge may wait":
            return workload.maximum
        return max(0, true_needed(workload, turnover) - 1)

    monkeypatch.setattr(rollout, "count_needed", needed)
    caught = 0
    for seed in range(60):
        drawn = draw_rolled("singles", seed)
        if drawn is not None:
            world, demand = drawn
            found = judge_rollouts(demand, judge(demand))
            caught += any(
                one.outcome == "completes" and sticks(world, at, demand.workloads[at]) for at, one in enumerate(found)
            )
    assert caught > 0


def test_the_old_replicas_are_in_place() -> None:
    """The verdict's own order leaves both out; a rollout starts with both, of which one is let go."""
    world = World(((0, 1, 2),), (Want(2, (frozenset({0, 1, 2}),)), Want(3, (frozenset({0, 1, 2}),))))
    demand = roll_first(world, AWAY)
    judgement = judge(demand)
    (found,) = judge_rollouts(demand, judgement)
    assert judgement.verdicts[0].worst is not None
    assert judgement.verdicts[0].worst.placed == 0
    assert found.witness is not None
    assert found.witness.placed == 1
    assert {move.node for move in found.witness.moves} == {node_name(0)}


def test_the_example_fleet() -> None:
    said = {}
    for cluster in ("east", "lab", "lab-alpha"):
        demand = read_cluster(cluster)[1]
        for one in judge_rollouts(demand, judge(demand)):
            said[cluster, one.workload] = (one.outcome, one.maximum, one.surge, one.unavailable, one.fixes)
    # Of these two the verdict itself is a matter of how much is proven.
    for open_ in ("chat/chat-70b", "search/rewrite-0b6"):
        said.pop(("east", open_))
    assert said == {
        ("east", "guard/guard-1b7"): ("completes", 2, 1, 0, ()),
        ("east", "chat/prefill-8b"): ("completes", 1, 1, 0, ()),
        ("east", "search/rag-8b"): ("completes", 1, 1, 0, ()),
        ("east", "reasoning/reason-671b"): ("can-stick", 1, 0, 1, ()),
        ("east", "offline/summarise-20b"): ("completes", 4, 0, 1, ()),
        ("east", "chat/tenants-8b"): ("completes", 1, 1, 0, ()),
        ("east", "chat/tenants-8b-b"): ("completes", 2, 1, 0, ()),
        ("lab", "chat/chat-70b"): ("completes", 1, 1, 0, ()),
        ("lab-alpha", "guard/guard-1b7"): ("completes", 1, 0, 1, ()),
    }
