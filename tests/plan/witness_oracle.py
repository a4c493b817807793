"""Whether a witness holds what it says, from the outside: the order of devices that it rests on is applied to the world
itself, before there is a slice, and a packing is judged by the world alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from oracles import fits, list_placements

from plan_world import DRIVER, World, demand_of
from poolwright.allocation.held import DeviceId
from poolwright.plan.replay import Replay
from poolwright.plan.verdict import Move, Witness


def find_problem(world: World, at: int, witness: Witness, *, is_worst: bool) -> str:
    """Why a witness isn't one; empty: it is."""
    if witness.replays == "not-replayed":
        return find_problem_of_packing(world, at, witness, is_worst=is_worst)
    if problem := find_stranger(world, witness.moves):
        return problem
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
    numbers = {move.replica for move in witness.moves if _number(move) == at}
    left = [one for one in range(world.pods[at].replicas) if one not in numbers]
    has_room = bool(left) and replay.can_place(at, left[0], 0, nodes)
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


def find_stranger(world: World, moves: tuple[Move, ...]) -> str:
    """A pod that there isn't, or that is placed twice."""
    seen = Counter((_number(move), move.replica) for move in moves)
    strange = [one for one in seen if seen[one] > 1 or one[1] >= world.pods[one[0]].replicas]
    if strange or any(move.pod for move in moves):
        return f"no pod of its own: {strange}"
    return ""


def find_problem_of_packing(world: World, at: int, witness: Witness, *, is_worst: bool) -> str:
    if problem := find_stranger(world, witness.moves):
        return problem
    taken: frozenset[int] = frozenset()
    for number, move in enumerate(witness.moves):
        devices = frozenset(map(_device, move.devices))
        if devices not in list_placements(world, _number(move)) or not fits(world, devices, taken):
            return f"move {number} is no placement"
        own = {(DRIVER, move.node, f"d{one}") for one in world.nodes[int(move.node.removeprefix("n"))]}
        if not own >= set(move.devices):
            return f"move {number} is on another node"
        taken |= devices
    placed = sum(_number(move) == at for move in witness.moves)
    if placed != witness.placed:
        return f"{placed} are placed"
    has_room = placed < world.pods[at].replicas and any(fits(world, one, taken) for one in list_placements(world, at))
    return "another one fits" if is_worst and has_room else ""


def _number(move: Move) -> int:
    return int(move.workload.removeprefix("w"))


def _device(device: DeviceId) -> int:
    return int(device[2].removeprefix("d"))
