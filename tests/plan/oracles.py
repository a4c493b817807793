"""What is true of a small world, by trying everything.

(A) all packings, from the world alone; (B) the real allocator, every order with every choice of nodes, for one order
in which devices are published or for several.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from math import factorial, prod

from plan_world import World, demand_of, node_name

from poolwright.plan.demand import Demand
from poolwright.plan.replay import Replay

State = tuple[tuple[int, frozenset[int]], ...]  # pods that have devices, sorted: workload and device numbers
MAX_ORDERS = 24


@dataclass(frozen=True)
class Truth:
    """By workload: the fewest and most replicas."""

    always: tuple[int, ...]
    at_best: tuple[int, ...]
    most: int  # replicas of any packing


def list_placements(world: World, at: int) -> list[frozenset[int]]:
    """The sets of devices that a workload's pod may get."""
    want, found = world.pods[at], set()
    for node, devices in enumerate(world.nodes):
        if want.nodes is not None and node not in want.nodes:
            continue
        for accepts in want.accepts:
            for chosen in combinations(sorted(set(devices) & accepts), want.count):
                has_room = fits(world, frozenset(chosen), frozenset())
                if has_room and (not want.match or len({world.values[one][want.match] for one in chosen}) == 1):
                    found.add(frozenset(chosen))
    return sorted(found, key=sorted)


def fits(world: World, devices: frozenset[int], taken: frozenset[int]) -> bool:
    """Whether devices of one node are free, and what they take of its counter is."""
    if devices & taken:
        return False
    node = next(set(own) for own in world.nodes if set(own) >= devices)
    total = sum(world.charges.get(device, 0) for device in (devices | taken) & node)
    # What takes nothing isn't in the way of an overdrawn counter either.
    return not world.counter or total <= world.counter


def try_packings(world: World) -> Truth:
    """Oracle A."""
    placements = [list_placements(world, at) for at in range(len(world.pods))]
    return judge_states(world, walk(world, placements), placements)


def walk(world: World, placements: list[list[frozenset[int]]], start: State = ()) -> set[State]:
    """The packings that pods come to which start from one; what that has needn't be a workload's."""
    seen: set[State] = {start}
    todo: list[State] = [start]
    while todo:
        state = todo.pop()
        for after in _extend(world, state, placements):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def walk_with_departures(world: World) -> set[State]:
    """Packings that are reached when pods also leave."""
    placements = [list_placements(world, at) for at in range(len(world.pods))]
    seen: set[State] = {()}
    todo: list[State] = [()]
    while todo:
        state = todo.pop()
        left = [state[:at] + state[at + 1 :] for at in range(len(state))]
        for after in (*_extend(world, state, placements), *left):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def all_packings(world: World) -> set[State]:
    placements = [list_placements(world, at) for at in range(len(world.pods))]
    return walk(world, placements)


def _extend(world: World, state: State, placements: list[list[frozenset[int]]]) -> Iterator[State]:
    taken = frozenset[int]().union(*(devices for _, devices in state))
    for at, want in enumerate(world.pods):
        if sum(one == at for one, _ in state) < want.replicas:
            for devices in placements[at]:
                if fits(world, devices, taken):
                    yield _sort((*state, (at, devices)))


def judge_states(world: World, states: set[State], placements: list[list[frozenset[int]]]) -> Truth:
    """What is true of these packings."""
    always = [want.replicas for want in world.pods]
    at_best = [0] * len(world.pods)
    for state in states:
        taken = frozenset[int]().union(*(devices for _, devices in state))
        for at, want in enumerate(world.pods):
            placed = sum(one == at for one, _ in state)
            at_best[at] = max(at_best[at], placed)
            if placed < want.replicas and not any(fits(world, devices, taken) for devices in placements[at]):
                always[at] = min(always[at], placed)
    return Truth(tuple(always), tuple(at_best), max(map(len, states)))


def try_allocator(world: World, *, reorders: bool) -> Truth:
    """Oracle B, for the order of devices as it is, or for several of them."""
    truths = [_try_order(one) for one in (_list_orders(world) if reorders else [world])]
    return Truth(
        tuple(min(numbers) for numbers in zip(*(one.always for one in truths), strict=True)),
        tuple(max(numbers) for numbers in zip(*(one.at_best for one in truths), strict=True)),
        max(one.most for one in truths),
    )


def count_orders(world: World) -> int:
    """In how many orders its devices may be published."""
    return prod(factorial(len(devices)) for devices in world.nodes)


def _list_orders(world: World) -> Iterator[World]:
    for at, nodes in enumerate(product(*(permutations(devices) for devices in world.nodes))):
        if at >= MAX_ORDERS:
            return
        yield replace(world, nodes=nodes)


def _try_order(world: World) -> Truth:
    demand = demand_of(world)
    allocator = demand.build_allocator()
    always = [want.replicas for want in world.pods]
    at_best = [0] * len(world.pods)
    seen: set[State] = {()}
    todo: list[tuple[State, tuple[tuple[int, str], ...]]] = [((), ())]
    most = 0
    while todo:
        state, history = todo.pop()
        most = max(most, len(state))
        for at, want in enumerate(world.pods):
            placed = sum(one == at for one, _ in state)
            at_best[at] = max(at_best[at], placed)
            if placed == want.replicas:
                continue
            found = False
            for node in range(len(world.nodes)):
                replay = _redo(demand, allocator, history)
                move = replay.place(at, placed, 0, node_name(node))
                if move is None:
                    continue
                found = True
                after = _sort((*state, (at, frozenset(int(name[1:]) for _, _, name in move.devices))))
                if after not in seen:
                    seen.add(after)
                    todo.append((after, (*history, (at, node_name(node)))))
            if not found:
                always[at] = min(always[at], placed)
    return Truth(tuple(always), tuple(at_best), most)


def _redo(demand: Demand, allocator: object, history: tuple[tuple[int, str], ...]) -> Replay:
    replay = Replay(demand, allocator)  # type: ignore[arg-type]
    counts: dict[int, int] = {}
    for at, node in history:
        counts[at] = counts.get(at, -1) + 1
        assert replay.place(at, counts[at], 0, node) is not None
    return replay


def _sort(state: State) -> State:
    return tuple(sorted(state, key=lambda one: (one[0], sorted(one[1]))))
