"""Exact answers where each device is one node's: what every node may hold is listed, and nodes are put together.

Nodes are gone through one by one, and of what was used so far only the counts are kept, the smallest ones of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from poolwright.allocation.held import DeviceId
from poolwright.plan.methods.cells import Budget, Cells, NotSearchedError
from poolwright.plan.methods.contents import Contents, Counts, Picks, Room, keep_least, keep_most, list_contents
from poolwright.plan.methods.context import Step
from poolwright.plan.methods.kinds import Field
from poolwright.plan.methods.needs import Bundle, Need, Part, build_need
from poolwright.plan.methods.placements import list_placements

MAX_GROUPS: Final = 24  # of a part that is searched
MAX_CONTENTS: Final = 30_000  # of all nodes of a part that differ
MAX_STEPS: Final = 60_000  # choices for nodes that one question looks at
MAX_COMPARED: Final = 100_000  # of them, two by two


@dataclass(frozen=True, slots=True)
class Group:
    """Kinds that take the same on the same nodes: whichever of them is there, it is in the way alike."""

    need: Need  # in a scope that of the first of them: on its nodes they come to the same
    nodes: frozenset[str]
    kinds: tuple[int, ...]
    count: int  # pods of all of them


class _Path(NamedTuple):
    """What the nodes gone through hold."""

    before: _Path | None
    node: str
    counts: Counts


@dataclass(frozen=True, slots=True)
class _Scope:
    """Some nodes, and what each may hold of groups that are alike there."""

    groups: tuple[Group, ...]
    rooms: Mapping[str, Room]  # by node, in order of names; their picks are by group of the scope
    contents: Mapping[Room, Contents]


class NodeSearch:
    """The nodes of a part of the demand, and what each may hold."""

    def __init__(self, field: Field, groups: Sequence[Group]) -> None:
        """Find the cells of every node.

        Raises: NotSearchedError where they are too many, or something isn't counted here.
        """
        self.field = field
        self.groups = tuple(groups)
        bundles = dict.fromkeys(one for group in groups for several in group.need for one in _list_units(several))
        self.cells = Cells(field.context.acceptance, tuple(bundles))
        self._numbers = {bundle: number for number, bundle in enumerate(self.cells.bundles)}
        nodes = sorted(frozenset().union(*(group.nodes for group in groups)))
        self._rooms = {node: self._build_room(node) for node in nodes}
        self._budget = Budget(MAX_CONTENTS)
        self._contents: dict[tuple[Room, Counts], Contents] = {}
        self._fewest: dict[int, tuple[_Scope, int, _Path | None]] = {}

    def find_fewest(self, kind: int) -> tuple[int, list[Step]]:
        """The fewest pods of a kind in a packing that keeps the next one out, and such a packing's steps.

        Its own count, without steps: no packing does.
        Raises: NotSearchedError.
        """
        at = self._find_group(kind)
        if at not in self._fewest:
            self._fewest[at] = self._search_fewest(at)
        scope, group, path = self._fewest[at]
        own = self.field.kinds[kind].count
        if path is None:
            return own, []
        # Kinds of the same group are in the way first.
        placed = sum(counts[group] for _, counts in _walk(path))
        return max(0, placed - (scope.groups[group].count - own)), self._list_steps(scope, path, group, kind)

    def count_alone(self, kind: int) -> int:
        """The most pods of a kind, with nobody else there. Raises: NotSearchedError."""
        at = self._find_group(kind)
        scope = self._build_scope(self.groups[at].nodes, [at])
        most = sum(scope.contents[room].count_most() for room in scope.rooms.values())
        return min(self.field.kinds[kind].count, most)

    def count_most(self) -> int:
        """The most pods of all kinds together in any packing.

        Raises: NotSearchedError.
        """
        scope = self._build_scope(self._rooms, range(len(self.groups)))
        budget, compared = Budget(MAX_STEPS), Budget(MAX_COMPARED)
        full = {room: contents.list_full(compared) for room, contents in scope.contents.items()}
        states: tuple[Counts, ...] = ((0,) * len(scope.groups),)
        for room in scope.rooms.values():
            after: set[Counts] = set()
            for counts in states:
                for more in full[room]:
                    budget.spend()
                    total = zip(counts, more, scope.groups, strict=True)
                    after.add(tuple(min(one + another, group.count) for one, another, group in total))
            states = keep_most(after, compared)
        return max(map(sum, states))

    def _find_group(self, kind: int) -> int:
        return next(at for at, group in enumerate(self.groups) if kind in group.kinds)

    def _search_fewest(self, at: int) -> tuple[_Scope, int, _Path | None]:
        """Nodes one by one, each with as little as keeps the group out; None: that takes more pods than there are."""
        scope = self._build_scope(self.groups[at].nodes, range(len(self.groups)))
        own = next(number for number, group in enumerate(scope.groups) if self.groups[at].kinds[0] in group.kinds)
        budget, compared = Budget(MAX_STEPS), Budget(MAX_COMPARED)
        blocking = {room: contents.list_blocking(own, compared) for room, contents in scope.contents.items()}
        # One pod of the group must stay out.
        most = tuple(group.count - (number == own) for number, group in enumerate(scope.groups))
        states: dict[Counts, _Path | None] = {(0,) * len(most): None}
        for node, room in scope.rooms.items():
            after: dict[Counts, _Path | None] = {}
            for counts, path in states.items():
                for more in blocking[room]:
                    budget.spend()
                    total = tuple(map(int.__add__, counts, more))
                    if total not in after and all(map(int.__le__, total, most)):
                        after[total] = _Path(path, node, more)
            states = {counts: after[counts] for counts in keep_least(after, compared)}
        found = min(states, key=lambda counts: (counts[own], counts), default=None)
        return scope, own, None if found is None else states[found]

    def _build_scope(self, nodes: Iterable[str], groups: Iterable[int]) -> _Scope:
        """What some nodes may hold of some groups; those that take the same on each of these nodes are one."""
        names = sorted(nodes)
        alike: dict[tuple[tuple[Picks, ...], ...], list[int]] = {}
        for at in groups:
            picks = tuple(self._rooms[node].picks[at] for node in names)
            if any(picks):
                alike.setdefault(picks, []).append(at)
        merged = tuple(
            Group(
                need=self.groups[members[0]].need,
                nodes=frozenset(names),
                kinds=tuple(kind for at in members for kind in self.groups[at].kinds),
                count=sum(self.groups[at].count for at in members),
            )
            for members in alike.values()
        )
        most = tuple(group.count for group in merged)
        rooms = {
            node: Room(self._rooms[node].start, tuple(picks[index] for picks in alike))
            for index, node in enumerate(names)
        }
        return _Scope(merged, rooms, {room: self._list_contents(room, most) for room in dict.fromkeys(rooms.values())})

    def _list_contents(self, room: Room, most: Counts) -> Contents:
        key = room, most
        if key not in self._contents:
            self._contents[key] = list_contents(self.cells, room, most, self._budget)
        return self._contents[key]

    def _build_room(self, node: str) -> Room:
        cells = self.cells.list_cells(node)
        own = {device for cell in cells for devices in cell.devices for device in devices}
        first: dict[Bundle, int] = {}  # by what it comes to on the node
        same = [first.setdefault(_restrict(bundle, own), number) for number, bundle in enumerate(self.cells.bundles)]
        picks: list[tuple[Picks, ...]] = []
        for group in self.groups:
            alternatives = [one for one in group.need if node in group.nodes and _is_there(one, own)]
            numbers = ([same[number] for number in self._number(several, own)] for several in alternatives)
            picks.append(tuple(dict.fromkeys(tuple(sorted(one)) for one in numbers)))
        return Room(self.cells.start(cells), tuple(picks))

    def _number(self, bundles: Sequence[Bundle], own: Set[DeviceId]) -> Iterator[int]:
        """The bundles of a pod by number, as often as it takes them."""
        for bundle in bundles:
            part = bundle.parts[0]
            times = 1 if bundle.ties else len(part.accepted & own) if part.count is None else part.count
            unit = bundle if bundle.ties else _as_unit(part)
            yield from [self._numbers[unit]] * times

    def _list_steps(self, scope: _Scope, path: _Path, last: int, kind: int) -> list[Step]:
        """The steps of a packing, with the devices that each is meant to get; those of the kind itself come last."""
        left = [
            [(one, self.field.kinds[one].count) for one in sorted(group.kinds, key=lambda one: one == kind)]
            for group in scope.groups
        ]
        steps: list[tuple[bool, Step]] = []
        for node, counts in _walk(path):
            contents = scope.contents[scope.rooms[node]]
            for group, devices in list_placements(contents, self.cells.list_cells(node), counts, last):
                of, count = left[group][0]
                left[group][0] = of, count - 1
                if count == 1:
                    left[group].pop(0)
                placed = self.field.kinds[of]
                steps.append((of == kind, Step(placed.workload, placed.pod, node, devices)))
        return [step for _, step in sorted(steps, key=lambda one: one[0])]


def build_node_search(field: Field) -> NodeSearch | None:
    """What every node of a part may hold; None: there is too much, or something decides that isn't counted here."""
    found: dict[tuple[Need, frozenset[str]], list[int]] = {}
    for number, kind in enumerate(field.kinds):
        if not kind.count or not kind.shape.on_node or kind.shape.needs_nothing:
            continue  # it is nowhere, or in nobody's way
        nodes = frozenset(node for node, devices in kind.shape.on_node.items() if devices)
        need = build_need(field, kind)
        if need is None or not nodes:
            return None
        found.setdefault((need, nodes), []).append(number)
    groups = [
        Group(need, nodes, tuple(kinds), sum(field.kinds[one].count for one in kinds))
        for (need, nodes), kinds in found.items()
    ]
    if not groups or len(groups) > MAX_GROUPS:
        return None
    try:
        return NodeSearch(field, groups)
    except NotSearchedError:
        return None


def _is_there(bundles: Sequence[Bundle], own: Set[DeviceId]) -> bool:
    """Whether a node has any device for each request that takes all of them: without one it doesn't go there."""
    return all(part.count is not None or part.accepted & own for bundle in bundles for part in bundle.parts)


def _list_units(bundles: Sequence[Bundle]) -> Iterator[Bundle]:
    """What is chosen at once: without ties each device by itself."""
    for bundle in bundles:
        yield bundle if bundle.ties else _as_unit(bundle.parts[0])


def _restrict(bundle: Bundle, own: Set[DeviceId]) -> Bundle:
    """What a bundle is on one node."""
    return replace(bundle, parts=tuple(replace(part, accepted=part.accepted & own) for part in bundle.parts))


def _as_unit(part: Part) -> Bundle:
    return Bundle((Part(part.accepted, 1, part.capacity),))


def _walk(path: _Path | None) -> Iterator[tuple[str, Counts]]:
    """Nodes and what they hold, in the order they were gone through."""
    found = []
    while path is not None:
        found.append((path.node, path.counts))
        path = path.before
    yield from reversed(found)
