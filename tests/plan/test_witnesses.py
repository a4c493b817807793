"""Witnesses hold what they say, checked from the outside: with the devices published in the order they rest on."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from witness_oracle import find_problem

from plan_world import demand_of, draw_mixed, draw_partitions, draw_singles
from poolwright.plan.engine import judge
from poolwright.plan.verdict import Witness

# Catalogs of each kind; POOLWRIGHT_PLAN_CATALOGS=6000 is what a change of the engine is judged by.
COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "150"))
DRAWN = {"singles": draw_singles, "mixed": draw_mixed, "partitions": draw_partitions}
# Of each kind a catalog with a witness that needs another order, turned round or with some devices first.
SEEDS = {"singles": (6, 7), "mixed": (0, 144, 4108), "partitions": (1, 26, 1478)}


@pytest.mark.parametrize("name", DRAWN)
def test_witnesses_hold(name: str) -> None:
    wrong, seen = [], Counter[str]()
    for seed in sorted({*range(COUNT), *SEEDS[name]}):
        world = DRAWN[name](seed)
        for at, verdict in enumerate(judge(demand_of(world)).verdicts):
            for role, witness in (("best", verdict.best), ("worst", verdict.worst)):
                if witness is not None:
                    seen[witness.replays] += 1
                    problem = find_problem(world, at, witness, is_worst=role == "worst")
                    if problem:
                        wrong.append(f"{seed} {verdict.workload} {role}: {problem}")
    assert wrong == []
    assert seen["now"] > COUNT // 3
    assert seen["after-reordering-or-restart"] > 0


def test_an_order_belongs_to_a_reordering_alone() -> None:
    assert Witness(moves=(), placed=0, replays="after-reordering-or-restart", device_order=()).device_order == ()
    with pytest.raises(ValueError, match="after-reordering-or-restart with the device order None"):
        Witness(moves=(), placed=0, replays="after-reordering-or-restart")
    with pytest.raises(ValueError, match="now with the device order reversed"):
        Witness(moves=(), placed=0, replays="now", device_order="reversed")


def test_another_order_is_found_out() -> None:
    """A witness that rests on an order of devices doesn't replay in the published one."""
    for name, seeds in SEEDS.items():
        for seed in seeds:
            world = DRAWN[name](seed)
            for at, verdict in enumerate(judge(demand_of(world)).verdicts):
                if verdict.worst is not None and verdict.worst.replays == "after-reordering-or-restart":
                    assert find_problem(world, at, replace(verdict.worst, device_order=()), is_worst=True), seed
