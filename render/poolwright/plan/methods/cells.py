"""The devices of a node in cells: what is tied to each other by a shared value or a counter, and nothing else.

What a cell may still give is all that matters of it. So states of cells are told apart by that alone: eight GPUs in
any order, or the slices of one GPU taken from either end, come to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Final

from poolwright.allocation.capacity import find_consumed
from poolwright.allocation.constraints import as_values, find_attribute
from poolwright.allocation.held import DeviceId, PoolId
from poolwright.allocation.pools import CounterId
from poolwright.plan.methods.acceptance import Acceptance
from poolwright.plan.methods.needs import Bundle

MAX_STATES: Final = 4000  # of all cells of a part, by what is taken of each
MAX_CHOICES: Final = 200_000  # of devices for bundles, over all states

State = tuple[int, ...]  # of a cell: how many of each sort are taken, then what is left on each counter
Draws = tuple[tuple[int, int], ...]  # of counters by number
NodeState = tuple[
    int, ...
]  # of a node: what its cells may still give, by number, sorted; cells that give nothing left out


class NotSearchedError(Exception):
    """An exact search would look at more than it may, or at what it does not count."""


@dataclass(slots=True)
class Budget:
    """How much a search may still look at."""

    left: int

    def spend(self, amount: int = 1) -> None:
        """Look at so many things.

        Raises: NotSearchedError when it is more than is left.
        """
        self.left -= amount
        if self.left < 0:
            raise NotSearchedError


@dataclass(frozen=True, slots=True)
class Sort:
    """Devices of a cell that are the same for every bundle."""

    takers: tuple[tuple[int, int], ...]  # bundles that may take one, and for which of their parts
    labels: tuple[frozenset[int] | None, ...]  # by attribute that a tie goes by: its values, numbered; None: not there
    draws: tuple[Draws, ...]  # by taker
    is_shared: bool  # takers don't use it up, but what they draw


@dataclass(frozen=True, slots=True)
class Make:
    """What a cell is like: cells of one make are as good as each other."""

    sorts: tuple[tuple[Sort, int], ...]  # and how many devices of each
    room: tuple[int, ...]  # that is left on its counters

    @property
    def untouched(self) -> State:
        """Nothing of it is taken."""
        return (*(0 for _ in self.sorts), *self.room)

    def take(self, state: Sequence[int], sort: int, taker: tuple[int, int]) -> State | None:
        """What is taken once a device of a sort is taken too; None: there is none left for that taker."""
        known, count = self.sorts[sort]
        if taker not in known.takers or (not known.is_shared and state[sort] >= count):
            return None
        then = list(state)
        then[sort] += not known.is_shared
        for counter, amount in known.draws[known.takers.index(taker)]:
            then[len(self.sorts) + counter] -= amount
        return None if any(left < 0 for left in then[len(self.sorts) :]) else tuple(then)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a node."""

    make: Make
    devices: tuple[tuple[DeviceId, ...], ...]  # by sort, sorted


class Cells:
    """Cells of nodes, and what they can do, worked out once for each make."""

    def __init__(self, acceptance: Acceptance, bundles: Sequence[Bundle]) -> None:
        self.bundles = tuple(bundles)
        self._acceptance = acceptance
        self._attributes = tuple(dict.fromkeys(tie.attribute for bundle in bundles for tie in bundle.ties))
        self._lists = acceptance.features.list_type_attributes
        self._takers = _list_takers(self.bundles)
        self._on_node: dict[str, list[DeviceId]] = {}
        for device in sorted(self._takers):
            self._on_node.setdefault(acceptance.nodes_of[device][0], []).append(device)
        self._states, self._choices = Budget(MAX_STATES), Budget(MAX_CHOICES)
        self._numbers: dict[frozenset[tuple[int, int]], int] = {frozenset(): 0}
        self._after: list[dict[int, tuple[int, ...]]] = [{}]  # by number of a behaviour and of a bundle
        self._known: dict[tuple[Make, State], int] = {}
        self.place = cache(self._place)

    def list_cells(self, node: str) -> tuple[Cell, ...]:
        """The cells of a node's devices that some bundle takes.

        Raises: NotSearchedError where a counter is overdrawn or reaches further than the node, and where a list is
                compared that the version doesn't know.
        """
        own = self._on_node.get(node, [])
        parent = {device: device for device in own}

        def find(device: DeviceId) -> DeviceId:
            while parent[device] != device:
                device = parent[device]
            return device

        owners: dict[object, DeviceId] = {}
        for device in own:
            for key in self._list_ties(device):
                first, this = find(owners.setdefault(key, device)), find(device)
                parent[max(first, this)] = min(first, this)
        cells: dict[DeviceId, list[DeviceId]] = {}
        for device in own:
            cells.setdefault(find(device), []).append(device)
        room = self._count_room(node, {device[:2] for device in own})
        return tuple(self._build_cell(devices, room) for devices in cells.values())

    def start(self, cells: Iterable[Cell]) -> NodeState:
        """Nothing is taken of any of them."""
        return _sort_state(self.behave(cell.make, cell.make.untouched) for cell in cells)

    def behave(self, make: Make, state: State) -> int:
        """The number of what a cell may still give; 0: nothing.

        Raises: NotSearchedError.
        """
        found = self._known.get((make, state))
        if found is None:
            self._states.spend()
            after: dict[int, set[int]] = {}
            for bundle, _, then in self.list_moves(make, state):
                after.setdefault(bundle, set()).add(self.behave(make, then))
            key = frozenset((bundle, number) for bundle, numbers in after.items() for number in numbers)
            found = self._numbers.setdefault(key, len(self._numbers))
            if found == len(self._after):
                self._after.append({bundle: tuple(sorted(numbers)) for bundle, numbers in after.items()})
            self._known[make, state] = found
        return found

    def list_moves(self, make: Make, state: State) -> Iterator[tuple[int, tuple[int, ...], State]]:
        """Each bundle that goes into a cell, the sorts of the devices it gets, and what is taken then."""
        for number, bundle in enumerate(self.bundles):
            parts = [part for part, one in enumerate(bundle.parts) for _ in range(one.count or 1)]
            for chosen, then in self._choose(make, state, number, parts):
                if self._is_tied(make, bundle, parts, chosen):
                    yield number, chosen, then

    def _choose(
        self, make: Make, state: State, number: int, parts: Sequence[int], chosen: tuple[int, ...] = ()
    ) -> Iterator[tuple[tuple[int, ...], State]]:
        """Sorts for each device of a bundle; for those of one part in no particular order.

        parts: of each device.
        """
        at = len(chosen)
        if at == len(parts):
            yield chosen, state
            return
        first = chosen[-1] if at and parts[at - 1] == parts[at] else 0
        for sort in range(first, len(make.sorts)):
            then = make.take(state, sort, (number, parts[at]))
            if then is not None:
                self._choices.spend()
                yield from self._choose(make, then, number, parts, (*chosen, sort))

    def _is_tied(self, make: Make, bundle: Bundle, parts: Sequence[int], chosen: Sequence[int]) -> bool:
        for tie in bundle.ties:
            index = self._attributes.index(tie.attribute)
            labels = [
                make.sorts[at][0].labels[index] for part, at in zip(parts, chosen, strict=True) if part in tie.parts
            ]
            if not _holds(labels, is_distinct=tie.is_distinct):
                return False
        return True

    def _place(self, state: NodeState, picks: tuple[int, ...]) -> frozenset[NodeState]:
        """What a node may still give after bundles were taken of it, in each way that it can be done."""
        states = {state}
        for bundle in picks:
            found: set[NodeState] = set()
            for one in states:
                for at, number in enumerate(one):
                    if at and one[at - 1] == number:
                        continue
                    rest = (*one[:at], *one[at + 1 :])
                    for then in self._after[number].get(bundle, ()):
                        self._choices.spend()
                        found.add(_sort_state((*rest, then)))
            states = found
        return frozenset(states)

    def _list_ties(self, device: DeviceId) -> Iterator[object]:
        """What a device has in common with others of its cell."""
        candidate = self._acceptance.candidates[device]
        yield from (("counter", device[:2], counter) for counter, _ in candidate.charges)
        for bundle, part in self._takers[device]:
            for tie in self.bundles[bundle].ties:
                attribute = find_attribute(candidate.device, tie.attribute) if part in tie.parts else None
                if attribute is not None and tie.is_distinct:
                    yield tie.attribute
                elif attribute is not None:
                    yield from ((tie.attribute, value) for value in as_values(attribute))

    def _count_room(self, node: str, own: Set[PoolId]) -> Mapping[tuple[PoolId, CounterId], int]:
        """What is left on the counters of a node's own pools."""
        acceptance, held = self._acceptance, self._acceptance.build_held()
        there = acceptance.named[node]
        room: dict[tuple[PoolId, CounterId], int] = {}
        for pool in acceptance.allocator.pools(there).pools:
            if not pool.counters or pool.id not in own:
                continue
            available = acceptance.allocator.knowledge.available(pool, held)
            if available.is_overdrawn or pool.elsewhere:
                raise NotSearchedError
            room.update({(pool.id, counter): left for counter, left in available.left.items()})
        return room

    def _build_cell(self, devices: Sequence[DeviceId], room: Mapping[tuple[PoolId, CounterId], int]) -> Cell:
        values: dict[object, int] = {}
        counters: dict[object, int] = {}  # what is left, by counter
        sorts: dict[Sort, list[DeviceId]] = {}
        for device in devices:
            takers = self._takers[device]
            labels = tuple(self._label(device, name, values) for name in self._attributes)
            is_shared = self._acceptance.is_shareable(self._acceptance.candidates[device].device)
            if is_shared:
                known = self._list_shares(device)
            else:
                charges = self._acceptance.candidates[device].charges
                known = [{(device[:2], counter): (amount, room[device[:2], counter]) for counter, amount in charges}]
                known *= len(takers)
            for one in known:
                counters.update({key: left for key, (_, left) in one.items()})
            numbers = {key: number for number, key in enumerate(counters)}
            draws = tuple(tuple((numbers[key], amount) for key, (amount, _) in one.items()) for one in known)
            sorts.setdefault(Sort(takers, labels, draws, is_shared), []).append(device)
        make = Make(sorts=tuple((sort, len(own)) for sort, own in sorts.items()), room=tuple(counters.values()))
        return Cell(make, tuple(map(tuple, sorts.values())))

    def _label(self, device: DeviceId, attribute: str, values: dict[object, int]) -> frozenset[int] | None:
        """The values of an attribute, numbered as they come; None: it isn't published."""
        found = find_attribute(self._acceptance.candidates[device].device, attribute)
        if found is None:
            return None
        if isinstance(found.value, tuple) and not self._lists:
            raise NotSearchedError
        known = sorted(as_values(found), key=repr)
        return frozenset(values.setdefault((attribute, value), len(values)) for value in known)

    def _list_shares(self, device: DeviceId) -> list[dict[object, tuple[int, int]]]:
        """By taker what a share takes of each capacity of a device, and what is left of that, in billionths."""
        one, held = self._acceptance.candidates[device].device, self._acceptance.build_held().consumed(device) or {}
        shares: list[dict[object, tuple[int, int]]] = []
        for bundle, part in self._takers[device]:
            capacity = self.bundles[bundle].parts[part].capacity
            consumed = find_consumed(None if capacity is None else dict(capacity), one, self._acceptance.features)
            taken: dict[object, tuple[int, int]] = {
                (device, known.name): (consumed[known.name].nano, known.value.nano - held.get(known.name, 0))
                for known in one.capacity.values()
                if consumed is not None and known.value is not None
            }
            if not any(amount > 0 for amount, _ in taken.values()):
                raise NotSearchedError  # as many as one likes
            shares.append(taken)
        return shares


def _list_takers(bundles: Sequence[Bundle]) -> dict[DeviceId, tuple[tuple[int, int], ...]]:
    takers: dict[DeviceId, list[tuple[int, int]]] = {}
    for number, bundle in enumerate(bundles):
        for at, part in enumerate(bundle.parts):
            for device in part.accepted:
                takers.setdefault(device, []).append((number, at))
    return {device: tuple(found) for device, found in takers.items()}


def _holds(labels: Sequence[frozenset[int] | None], *, is_distinct: bool) -> bool:
    """Whether values are shared by all, or no two share one."""
    known = [one for one in labels if one is not None]
    if len(known) < len(labels):
        return False
    if not is_distinct:
        return bool(frozenset.intersection(*known)) if known else True
    return all(known) and sum(map(len, known)) == len(frozenset().union(*known))


def _sort_state(numbers: Iterable[int]) -> NodeState:
    return tuple(sorted(number for number in numbers if number))
