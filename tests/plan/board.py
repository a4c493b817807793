"""What is possible in a small world: which devices a pod may get, and what is left beside what others have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

from plan_world import EVERY, Need, Option, Part, World

FREE = NOWHERE = -1
Takes = tuple[tuple[int, int], ...]  # devices, and how much of each: 0 of one that serves one claim
# Pods placed, by kind; of each device how much is taken, or FREE; of each shared claim its node, or NOWHERE.
State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Spot:
    """Devices that a pod may get on a node."""

    node: int
    own: Takes
    claims: tuple[tuple[int, Takes], ...]  # shared ones of which it is the first user
    borrows: Takes  # for administration: they must be there, and stay as they are

    @property
    def takes(self) -> Takes:
        return (*self.own, *(one for _, takes in self.claims for one in takes))


class Board:
    """A world and what is possible in it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.devices = sorted(device for node in world.nodes for device in node)
        self.index = {device: at for at, device in enumerate(self.devices)}
        self.kinds: list[tuple[int, int, Part]] = [
            (at, number, part) for at, want in enumerate(world.pods) for number, part in enumerate(want.parts)
        ]
        self._known: dict[tuple[Need, int], list[tuple[Takes, Takes]]] = {}
        self._spots: dict[tuple[int, tuple[int, ...]], list[Spot]] = {}
        self.start: State = ((0,) * len(self.kinds), (FREE,) * len(self.devices), (NOWHERE,) * len(world.claims))

    def moves(self, state: State, kind: int) -> Iterator[State]:
        """What comes of one more pod of a kind, wherever it goes."""
        counts, usage, homes = state
        for spot in self.list_spots(kind, homes):
            after = self.hold(usage, spot)
            if after is not None:
                settled = list(homes)
                for claim, _ in spot.claims:
                    settled[claim] = spot.node
                yield add_one(counts, kind), after, tuple(settled)

    def list_spots(self, kind: int, homes: tuple[int, ...]) -> list[Spot]:
        """Where a pod may go with nobody else there, but for shared claims that have their devices."""
        if (kind, homes) not in self._spots:
            self._spots[kind, homes] = list(self._find_spots(self.kinds[kind][2], homes))
        return self._spots[kind, homes]

    def _find_spots(self, part: Part, homes: tuple[int, ...]) -> Iterator[Spot]:
        for node in range(len(self.world.nodes)) if part.nodes is None else part.nodes:
            if any(homes[use] not in (NOWHERE, node) for use in part.uses):
                continue
            new = [use for use in part.uses if homes[use] == NOWHERE]
            own = [] if part.need is None else [part.need]
            for found in product(
                *(self.solve(need, node) for need in (*(self.world.claims[use] for use in new), *own))
            ):
                given = [takes for takes, _ in found]
                yield Spot(
                    node,
                    given[-1] if own else (),
                    tuple(zip(new, given[: len(new)], strict=True)),
                    tuple(one for _, borrows in found for one in borrows),
                )

    def solve(self, need: Need, node: int) -> list[tuple[Takes, Takes]]:
        """The devices that serve a claim on a node: those it takes, and those it only looks after."""
        if (need, node) not in self._known:
            found = set()
            for options in product(*need.requests):
                for chosen in product(*(self._choose(option, node) for option in options)):
                    given = list(zip(options, chosen, strict=True))
                    if self._is_sound(need, [device for devices in chosen for device in devices]):
                        found.add(tuple(self._sum(given, is_admin=one) for one in (False, True)))
            self._known[need, node] = sorted(found)  # type: ignore[arg-type]
        return self._known[need, node]

    def _choose(self, option: Option, node: int) -> Iterable[tuple[int, ...]]:
        accepted = [
            device
            for device in self.world.nodes[node]
            if device in option.accepts and self._measure(option, device) is not None
        ]
        healthy = [device for device in accepted if option.tolerates or device not in self.world.tainted]
        if option.count == EVERY:
            return [tuple(accepted)] if accepted and healthy == accepted else []
        return combinations(healthy, option.count)

    def _measure(self, option: Option, device: int) -> int | None:
        """How much a request takes of a device; None: the device can't give that."""
        step, there = self.world.step, self.world.capacity.get(device)
        if there is None:
            return None if option.amount else 0
        amount = -(-option.amount // step) * step if option.amount else there
        return amount if amount <= there and amount % step == 0 else None

    def _is_sound(self, need: Need, devices: list[int]) -> bool:
        whole = [device for device in devices if device not in self.world.capacity]
        if len(set(whole)) < len(whole):
            return False
        return not need.match or len({self.world.values[device][need.match] for device in devices}) == 1

    def _sum(self, given: list[tuple[Option, tuple[int, ...]]], *, is_admin: bool) -> Takes:
        return tuple(
            sorted(
                (device, self._measure(option, device) or 0)
                for option, devices in given
                if option.is_admin == is_admin
                for device in devices
            )
        )

    def hold(self, usage: tuple[int, ...], spot: Spot) -> tuple[int, ...] | None:
        """What is taken once a pod has this too; None: there isn't enough left."""
        after, extra = list(usage), 0
        for is_kept, takes in ((True, spot.takes), (False, spot.borrows)):
            looked = after if is_kept else list(after)
            for device, amount in takes:
                at, there = self.index[device], self.world.capacity.get(device)
                if there is None and is_kept and looked[at] != FREE:
                    return None
                if there is not None and max(0, looked[at]) + amount > there:
                    return None
                # Who only looks after a device takes from its counter for that moment, beside who has it.
                extra += (
                    self.world.charges.get(device, 0) if not is_kept and (there is None or looked[at] == FREE) else 0
                )
                looked[at] = max(0, looked[at]) + amount
        drawn = sum(
            self.world.charges.get(device, 0)
            for device in self.world.nodes[spot.node]
            if after[self.index[device]] != FREE
        )
        return None if self.world.counter and drawn + extra > self.world.counter else tuple(after)


def add_one(counts: tuple[int, ...], kind: int) -> tuple[int, ...]:
    return (*counts[:kind], counts[kind] + 1, *counts[kind + 1 :])
