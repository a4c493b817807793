"""What can happen to a rollout in a small world, by trying everything: as a Deployment, and as a LeaderWorkerSet.

Any pod takes any devices, others come and go, the workload's own pods fail and come back. Nothing of the product is
asked here. Sources: kubernetes/kubernetes pkg/controller/deployment rolling.go (reconcileNewReplicaSet,
reconcileOldReplicaSets, cleanupUnhealthyReplicas); kubernetes-sigs/lws pkg/controllers rollingUpdateParameters.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from oracles import fits, list_placements

from plan_world import World

Devices = frozenset[int]
Others = tuple[tuple[int, Devices], ...]  # sorted: workload and devices
S = TypeVar("S", bound=Hashable)


@dataclass(frozen=True)
class Pace:
    maximum: int
    surge: int
    unavailable: int


@dataclass(frozen=True)
class Deployment:
    """Old and new pods; those that have no devices are counted alone."""

    old: tuple[Devices, ...]  # sorted, of those that have any
    new: tuple[Devices, ...] = ()
    wanted_old: int = 0  # with those that have none
    started: bool = False
    others: Others = ()


class Rig:
    """A world and the workload in it that is rolled."""

    def __init__(self, world: World, at: int, pace: Pace) -> None:
        self.world, self.at, self.pace = world, at, pace
        self.placements = [list_placements(world, one) for one in range(len(world.pods))]

    def list_room(self, taken: Devices) -> list[Devices]:
        return [devices for devices in self.placements[self.at] if fits(self.world, devices, taken)]

    def move_others(self, others: Others, taken: Devices) -> Iterator[Others]:
        yield from (others[:at] + others[at + 1 :] for at in range(len(others)))
        for at, want in enumerate(self.world.pods):
            if at != self.at and sum(one == at for one, _ in others) < want.replicas:
                for devices in self.placements[at]:
                    if fits(self.world, devices, taken):
                        yield tuple(sorted((*others, (at, devices)), key=lambda one: (one[0], sorted(one[1]))))


def deployment_sticks(world: World, at: int, pace: Pace) -> bool:
    """Whether a state can be reached in which its rollout doesn't move."""
    rig = Rig(world, at, pace)
    return _walk(Deployment(old=(), wanted_old=pace.maximum), lambda state: _step_deployment(rig, state))


def _step_deployment(rig: Rig, state: Deployment) -> tuple[list[Deployment], bool]:
    """What follows, and whether it is stuck."""
    pace = rig.pace
    taken = frozenset[int]().union(*state.old, *state.new, *(devices for _, devices in state.others))
    after = [replace(state, others=others) for others in rig.move_others(state.others, taken)]
    after += [replace(state, old=_without(state.old, one)) for one in state.old]
    after += [replace(state, new=_without(state.new, one)) for one in state.new]
    wanted_new = min(pace.maximum, pace.maximum + pace.surge - state.wanted_old) if state.started else 0
    room = rig.list_room(taken)
    moves: list[Deployment] = []
    if len(state.old) < state.wanted_old:
        moves += [replace(state, old=_with(state.old, one)) for one in room]
    if len(state.new) < wanted_new:
        moves += [replace(state, new=_with(state.new, one)) for one in room]
    if not state.started:
        return [*after, *moves, replace(state, started=True)], False
    fewer, least = replace(state, wanted_old=state.wanted_old - 1), pace.maximum - pace.unavailable
    if len(state.old) < state.wanted_old and state.wanted_old + len(state.new) > least:
        moves.append(fewer)
    if state.old and len(state.old) + len(state.new) > least:
        moves += [replace(fewer, old=_without(state.old, one)) for one in state.old]
    is_done = not state.wanted_old and len(state.new) == pace.maximum
    return [*after, *moves], not moves and not is_done


@dataclass(frozen=True)
class Group:
    """Groups by index, each of one pod."""

    groups: tuple[tuple[bool, Devices | None], ...]  # whether it is updated, and what it has
    partition: int
    started: bool = False
    others: Others = ()


def groups_stick(world: World, at: int, pace: Pace) -> bool:
    """The same of a LeaderWorkerSet."""
    rig = Rig(world, at, pace)
    start = Group(groups=((False, None),) * pace.maximum, partition=0)
    return _walk(start, lambda state: _step_group(rig, state))


def _step_group(rig: Rig, state: Group) -> tuple[list[Group], bool]:
    pace, groups = rig.pace, state.groups
    taken = frozenset[int]().union(
        *(devices for _, devices in groups if devices), *(devices for _, devices in state.others)
    )
    after = [replace(state, others=others) for others in rig.move_others(state.others, taken)]
    after += [_set(state, at, updated, None) for at, (updated, devices) in enumerate(groups) if devices]
    moves = [
        _set(state, at, updated, one)
        for at, (updated, devices) in enumerate(groups)
        if devices is None
        for one in rig.list_room(taken)
    ]
    if not state.started:
        more = ((True, None),) * pace.surge
        begun = replace(state, started=True, partition=pace.maximum, groups=(*groups, *more))
        return [*after, *moves, begun], False
    # The StatefulSet of the leaders goes down from the last one; it replaces one that isn't updated, from partition on.
    stale = [at for at, (updated, _) in enumerate(groups) if not updated and at >= state.partition]
    moves += [_set(state, at, True, None) for at in stale]
    partition = min(state.partition, _find_partition(groups, pace))
    unready = sum(not updated or devices is None for updated, devices in groups[: pace.maximum])
    wanted = pace.maximum + (max(0, unready - pace.unavailable) if unready <= pace.surge else pace.surge)
    if partition != state.partition:
        moves.append(replace(state, partition=partition))
    if wanted < len(groups):
        moves.append(replace(state, groups=groups[:wanted]))
    is_done = unready == 0 and len(groups) == pace.maximum
    return [*after, *moves], not moves and not is_done


def _find_partition(groups: tuple[tuple[bool, Devices | None], ...], pace: Pace) -> int:
    tail = 0
    for updated, devices in reversed(groups):
        if not updated or devices is None:
            break
        tail += 1
    step = pace.unavailable + pace.surge - (pace.maximum + pace.surge - len(groups))
    lowest = max(0, len(groups) - tail - step)
    partition = lowest + sum(devices is None for _, devices in groups[:lowest])
    for at in range(min(partition, len(groups) - 1), lowest - 1, -1):
        if groups[at][1] is not None and not groups[at][0]:
            break
        partition = at
    return partition


def _set(state: Group, at: int, updated: bool, devices: Devices | None) -> Group:
    return replace(state, groups=(*state.groups[:at], (updated, devices), *state.groups[at + 1 :]))


def _walk(start: S, step: Callable[[S], tuple[list[S], bool]]) -> bool:
    seen, todo = {start}, [start]
    while todo:
        after, is_stuck = step(todo.pop())
        if is_stuck:
            return True
        fresh = {one for one in after if one not in seen}
        seen |= fresh
        todo += fresh
    return False


def _with(given: tuple[Devices, ...], one: Devices) -> tuple[Devices, ...]:
    return tuple(sorted((*given, one), key=sorted))


def _without(given: tuple[Devices, ...], one: Devices) -> tuple[Devices, ...]:
    at = given.index(one)
    return given[:at] + given[at + 1 :]
