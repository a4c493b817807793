"""Exact answers where on each node every free device is as good as another: gangs of 1, 2, 4, 8 on nodes of equal GPUs.

What a node holds is then how many pods of each kind. Nodes are gone through one by one, and of what is used so far
only the counts are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from poolwright.plan.methods.context import Step
from poolwright.plan.methods.kinds import Field

Counts = tuple[int, ...]  # pods by kind


@dataclass(frozen=True, slots=True)
class Room:
    """A node: how many devices, and the kinds that take them."""

    node: str
    devices: int
    kinds: tuple[int, ...]


class _Path(NamedTuple):
    """What the nodes gone through hold."""

    before: _Path | None
    node: str
    counts: Counts


def list_rooms(field: Field) -> list[Room] | None:
    """The nodes of a part; None: somewhere devices differ, or something ties them."""
    if not all(
        (kind.shape.is_counted or kind.shape.is_single) and not kind.is_barred and kind.is_local for kind in field.kinds
    ):
        return None
    found: dict[str, tuple[frozenset[object], list[int]]] = {}
    for at, kind in enumerate(field.kinds):
        for node, devices in kind.shape.on_node.items():
            if devices:
                known = found.setdefault(node, (devices, []))
                if known[0] != devices:
                    return None
                known[1].append(at)
    return [Room(node, len(devices), tuple(kinds)) for node, (devices, kinds) in sorted(found.items())]


def find_fewest(field: Field, rooms: Sequence[Room], at: int, *, max_steps: int) -> tuple[int, list[Step]] | None:
    """The fewest pods of a kind in a packing that keeps the next one out, and such a packing's steps.

    Its own count, without steps: no packing does. None: more than max_steps states.
    """
    size = field.kinds[at].size
    chosen = [room for room in rooms if at in room.kinds and room.devices >= size]
    list_blocking = cache(lambda devices, kinds: tuple(_list_blocking(field, devices, kinds, size)))
    states: dict[Counts, _Path | None] = {(0,) * len(field.kinds): None}
    steps = 0
    for room in chosen:
        after: dict[Counts, _Path | None] = {}
        for counts, path in states.items():
            for config in list_blocking(room.devices, room.kinds):
                steps += 1
                if steps > max_steps:
                    return None
                total = tuple(map(int.__add__, counts, config))
                # The last pod must stay out.
                if total not in after and _is_there(field, total) and total[at] < field.kinds[at].count:
                    after[total] = _Path(path, room.node, config)
        states = after
    if not states:
        return field.kinds[at].count, []
    best = min(states, key=lambda counts: (counts[at], counts))
    return best[at], _list_steps(field, states[best], at)


def find_most(field: Field, rooms: Sequence[Room], *, max_steps: int) -> int | None:
    """The most pods of all kinds that any packing holds; None: more than max_steps states."""
    list_full = cache(lambda devices, kinds: tuple(_list_blocking(field, devices, kinds, 1)))
    states: set[Counts] = {(0,) * len(field.kinds)}
    steps = 0
    for room in rooms:
        after: set[Counts] = set()
        for counts in states:
            for config in list_full(room.devices, room.kinds):
                steps += 1
                if steps > max_steps:
                    return None
                total = tuple(
                    min(one + more, kind.count) for one, more, kind in zip(counts, config, field.kinds, strict=True)
                )
                after.add(total)
        states = after
    return max(map(sum, states))


def _is_there(field: Field, counts: Counts) -> bool:
    return all(count <= kind.count for count, kind in zip(counts, field.kinds, strict=True))


def _list_blocking(field: Field, devices: int, kinds: tuple[int, ...], size: int) -> Iterator[Counts]:
    """The smallest choices of pods that leave a node fewer than `size` devices; with size 1, also all fullest ones."""
    for config in _list_configs(field, devices, kinds):
        used = sum(count * field.kinds[at].size for at, count in zip(kinds, config, strict=True))
        left = devices - used
        is_small = all(left + field.kinds[at].size >= size for at, count in zip(kinds, config, strict=True) if count)
        is_full = all(
            left < field.kinds[at].size or count >= field.kinds[at].count
            for at, count in zip(kinds, config, strict=True)
        )
        if (left < size and is_small) or (size == 1 and is_full):
            whole = dict(zip(kinds, config, strict=True))
            yield tuple(whole.get(at, 0) for at in range(len(field.kinds)))


def _list_configs(field: Field, devices: int, kinds: tuple[int, ...]) -> Iterator[Counts]:
    if not kinds:
        yield ()
        return
    kind = field.kinds[kinds[0]]
    for count in range(min(kind.count, devices // kind.size) + 1):
        for rest in _list_configs(field, devices - count * kind.size, kinds[1:]):
            yield (count, *rest)


def _list_steps(field: Field, path: _Path | None, last: int) -> list[Step]:
    """Others' pods before those of the kind itself."""
    found: list[tuple[bool, Step]] = []
    while path is not None:
        for at, count in enumerate(path.counts):
            kind = field.kinds[at]
            found += [(at == last, Step(kind.workload, kind.pod, path.node))] * count
        path = path.before
    return [step for _, step in sorted(found, key=lambda one: one[0])]
