"""Witnesses hold what they say, checked from the outside: with the devices published in the order they rest on.

The order is applied to the world itself, before there is a slice; a packing is judged by the world alone.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from oracles import fits, list_placements
from plan_world import DRIVER, World, demand_of, draw_mixed, draw_partitions, draw_singles, node_name

from poolwright.allocation.held import DeviceId
from poolwright.plan.engine import judge
from poolwright.plan.replay import Replay
from poolwright.plan.verdict import Move, Witness

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


def find_problem(world: World, at: int, witness: Witness, *, is_worst: bool) -> str:
    """Why a witness isn't one; empty: it is."""
    if witness.replays == "not-replayed":
        return find_problem_of_packing(world, at, witness.moves, witness.placed)
    demand = demand_of(publish(world, witness))
    replay = Replay(demand, demand.build_allocator())
    for number, move in enumerate(witness.moves):
        done = replay.place(_number(move), move.replica, move.pod, move.node)
        if done != move:
            return f"move {number} gives {done}"
    placed = sum(_number(move) == at for move in witness.moves)
    if placed != witness.placed:
        return f"{placed} are placed"
    nodes = [node.name for node in demand.nodes]
    has_room = placed < world.pods[at].replicas and replay.can_place(at, placed, 0, nodes)
    return "another one fits" if is_worst and has_room else ""


def publish(world: World, witness: Witness) -> World:
    """The world with each node's devices in the order that a witness rests on."""
    match witness.device_order:
        case None:
            return world
        case "reversed":
            return replace(world, nodes=tuple(devices[::-1] for devices in world.nodes))
        case first:
            early = [_device(one) for one in first]
            nodes = []
            for devices in world.nodes:
                own = [one for one in early if one in devices]
                nodes.append((*own, *(one for one in devices if one not in own)))
            return replace(world, nodes=tuple(nodes))


def find_problem_of_packing(world: World, at: int, moves: tuple[Move, ...], target: int) -> str:
    taken: frozenset[int] = frozenset()
    for number, move in enumerate(moves):
        devices = frozenset(map(_device, move.devices))
        if devices not in list_placements(world, _number(move)) or not fits(world, devices, taken):
            return f"move {number} is no placement"
        if not all(name == (DRIVER, move.node) for name in {one[:2] for one in move.devices}):
            return f"move {number} is on another node"
        taken |= devices
    counts = Counter(map(_number, moves))
    if any(counts[one] > want.replicas for one, want in enumerate(world.pods)) or counts[at] != target:
        return f"{counts[at]} are placed"
    return "another one fits" if any(fits(world, one, taken) for one in list_placements(world, at)) else ""


def _number(move: Move) -> int:
    return int(move.workload.removeprefix("w"))


def _device(device: DeviceId) -> int:
    driver, pool, name = device
    assert (driver, pool[0]) == (DRIVER, node_name(0)[0])
    return int(name.removeprefix("d"))
