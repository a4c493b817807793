"""Witnesses of rollouts that stick and of gang deadlocks, replayed: as they were, and with one thing changed."""

from __future__ import annotations

import os
import random
from dataclasses import replace

import pytest
from test_gang import EIGHT, Rig, demand_for, draw, eights
from test_recheck import change, record
from test_rollout import DRAWS, draw_rolled
from witness_oracle import find_problem

from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge
from poolwright.plan.recheck import End, recheck
from poolwright.plan.recorded import RecordedWitness
from poolwright.plan.verdict import Witness
from poolwright.plan.what_if.gang import find_gang_deadlocks
from poolwright.plan.what_if.rollout import judge_rollouts

COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "60"))


@pytest.mark.parametrize("kind", DRAWS)
def test_rollouts_stick_as_they_did(kind: str) -> None:
    same, otherwise = 0, 0
    for seed in range(COUNT):
        drawn = draw_rolled(kind, seed)
        if drawn is None:
            continue
        world, demand = drawn
        for one in judge_rollouts(demand, judge(demand)):
            if one.witness is None:
                continue
            recorded = RecordedWitness(
                workloads=(one.workload,), role="rollout", replicas=one.maximum + one.surge, witness=one.witness
            )
            (found,) = recheck(demand, record(demand, recorded))
            assert found.problem == "", seed
            at = int(one.workload.removeprefix("w"))
            changed = change(random.Random(seed), world, one.witness)
            (found,) = recheck(demand, record(demand, replace(recorded, witness=changed)))
            own = sum(move.workload == one.workload for move in changed.moves)
            is_stuck = not find_problem(world, at, changed, is_worst=True) and own < world.pods[at].replicas
            assert (found.problem == "") == is_stuck, (seed, found)
            same, otherwise = same + is_stuck, otherwise + (not is_stuck)
    assert same > 0
    assert otherwise > 0


def test_deadlocks_are_as_they_were() -> None:
    same, otherwise = 0, 0
    for seed in range(COUNT):
        world, groups = draw(seed)
        demand, rig = demand_for(world.nodes, groups), Rig(world, groups)
        for one in find_gang_deadlocks(demand, judge(demand)):
            recorded = RecordedWitness(
                workloads=one.workloads, role="deadlock", replicas=one.holding, witness=one.witness
            )
            (found,) = recheck(demand, record(demand, recorded))
            assert found.problem == "", seed
            assert found.end is not None
            assert (found.end.holding, found.end.served) == (one.holding, one.complete)
            for at in range(len(one.witness.moves)):
                fewer = replace(one.witness, moves=one.witness.moves[:at] + one.witness.moves[at + 1 :])
                (found,) = recheck(demand, record(demand, replace(recorded, witness=fewer)))
                if found.end is not None:
                    is_one = holds_a_part(rig, fewer, one.workloads) == (one.holding, one.complete, False)
                    assert (found.problem == "") == is_one, (seed, found)
                    same, otherwise = same + is_one, otherwise + (not is_one)
    assert same > 0
    assert otherwise > 0


def holds_a_part(rig: Rig, witness: Witness, titles: tuple[str, ...]) -> tuple[int, int, bool]:
    """Replicas of workloads that hold a part, complete ones, and whether a missing pod of the former finds room."""
    state = tuple(
        (
            int(move.workload.removeprefix("g")),
            move.replica,
            move.pod,
            frozenset(int(one[2][1:]) for one in move.devices),
        )
        for move in witness.moves
    )
    there = {one[:3] for one in state}
    about = {int(title.removeprefix("g")) for title in titles}
    whole = {one[:2]: [each for each in rig.pods if each[:2] == one[:2]] for one in rig.pods if one[0] in about}
    half = [key for key, pods in whole.items() if there & set(pods) and not set(pods) <= there]
    missing = [pod for key in half for pod in whole[key] if pod not in there]
    complete = sum(set(pods) <= there for pods in whole.values())
    return len(half), complete, bool(missing) and any(True for _ in rig.extend(state, missing))


def test_what_is_said_of_deadlocks() -> None:
    """Two replicas of two pods of a whole node each, on two nodes; then there is a third node."""
    demand = build_two(2)
    (deadlock,) = find_gang_deadlocks(demand, judge(demand))
    recorded = RecordedWitness(workloads=("g0",), role="deadlock", replicas=2, witness=deadlock.witness)
    larger = build_two(3)
    (found,) = recheck(larger, record(larger, recorded))
    assert found.problem == "a pod that was missing gets devices: g0#0 on n2"
    for changed, problem in (
        (replace(recorded, replicas=1), "2 replicas hold a part and wait, and the plan says 1"),
        (
            replace(recorded, witness=replace(deadlock.witness, placed=1)),
            "0 replicas are complete, and the plan says 1",
        ),
    ):
        (found,) = recheck(demand, record(demand, changed))
        assert (found.problem, found.end) == (problem, End(served=0, left_out=2, holding=2))


def build_two(nodes: int) -> Demand:
    """Two replicas of two pods that take a whole node each."""
    return demand_for(eights(nodes), ((2, (EIGHT, EIGHT)),))
