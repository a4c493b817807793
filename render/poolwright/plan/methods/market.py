"""Pods of one device each and the devices they take, by classes: what a maximum matching of them says.

Devices that the same pods take are one class, and pods that take the same devices are one group, so the networks are
small however large the cluster is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from poolwright.allocation.held import DeviceId
from poolwright.plan.methods.flow import UNBOUNDED, Flow

SOURCE, SINK = 0, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """The pods of a workload that are alike."""

    workload: int  # index in the demand
    pod: int = 0  # which of a replica's
    count: int
    accepted: frozenset[DeviceId]


@dataclass(frozen=True, slots=True)
class Group:
    """Entries that take the same devices."""

    entries: tuple[Entry, ...]
    classes: tuple[int, ...]

    @property
    def count(self) -> int:
        """Pods."""
        return sum(entry.count for entry in self.entries)


@dataclass(slots=True)
class Matching:
    """Pods by group that get devices of a class: a maximum flow, and what is left to flow."""

    flow: Flow
    supply: list[int]  # the edge of each group
    given: dict[tuple[int, int], int]  # by group and class the edge
    size: int
    counts: list[int]

    def amounts(self) -> dict[tuple[int, int], int]:
        """By group and class how many pods; none that are zero."""
        found = {key: self.flow.flow_on(edge) for key, edge in self.given.items()}
        return {key: amount for key, amount in found.items() if amount}

    def list_short(self) -> list[int]:
        """The groups of which some stay without."""
        return [at for at, edge in enumerate(self.supply) if self.flow.flow_on(edge) < self.counts[at]]


class Market:
    """Entries, grouped, and their devices by class."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        takers: dict[DeviceId, list[int]] = {}
        by_accepted: dict[frozenset[DeviceId], list[Entry]] = {}
        for entry in entries:
            by_accepted.setdefault(entry.accepted, []).append(entry)
        for at, accepted in enumerate(by_accepted):
            for device in accepted:
                takers.setdefault(device, []).append(at)
        by_takers: dict[tuple[int, ...], list[DeviceId]] = {}
        for device in sorted(takers):
            by_takers.setdefault(tuple(takers[device]), []).append(device)
        self.devices = [tuple(devices) for devices in by_takers.values()]  # by class
        classes: list[list[int]] = [[] for _ in by_accepted]
        for number, groups in enumerate(by_takers):
            for at in groups:
                classes[at].append(number)
        self.groups = [Group(tuple(by_accepted[one]), tuple(classes[at])) for at, one in enumerate(by_accepted)]

    def find_group(self, entry: Entry) -> int:
        """The group of an entry."""
        return next(at for at, group in enumerate(self.groups) if entry in group.entries)

    def count_devices(self, classes: Iterable[int]) -> int:
        """The devices of some classes."""
        return sum(len(self.devices[number]) for number in classes)

    def match(self, counts: Sequence[int], classes: Collection[int] | None = None) -> Matching:
        """A maximum matching of so many pods of each group.

        classes: those that may be given; None: all.
        """
        size = len(self.groups)
        flow = Flow(2 + size + len(self.devices))
        supply = [flow.add_edge(SOURCE, 2 + at, counts[at]) for at in range(size)]
        given: dict[tuple[int, int], int] = {}
        for at, group in enumerate(self.groups):
            for number in group.classes:
                if classes is None or number in classes:
                    given[at, number] = flow.add_edge(2 + at, 2 + size + number, UNBOUNDED)
        for number, devices in enumerate(self.devices):
            if classes is None or number in classes:
                flow.add_edge(2 + size + number, SINK, len(devices))
        return Matching(flow, supply, given, flow.augment(SOURCE, SINK), list(counts))

    @cached_property
    def counts(self) -> list[int]:
        """Pods by group."""
        return [group.count for group in self.groups]

    @cached_property
    def everything(self) -> Matching:
        """A maximum matching of all pods."""
        return self.match(self.counts)

    @property
    def shortfall(self) -> int:
        """Pods that every packing leaves out."""
        return sum(self.counts) - self.everything.size

    def count_others(self, at: int, own: int) -> list[int]:
        """Pods by group without `own` of this one."""
        return [count - own if other == at else count for other, count in enumerate(self.counts)]

    def hand_out(self, amounts: Mapping[tuple[int, int], int], counts: Sequence[Sequence[int]]) -> list[Handed]:
        """Devices by name for a matching.

        counts: by group, how many pods of each of its entries there are to serve, the first ones first.
        """
        left = [list(one) for one in counts]
        free = [list(reversed(devices)) for devices in self.devices]
        handed: list[Handed] = []
        for (at, number), amount in sorted(amounts.items()):
            for _ in range(amount):
                which = next(index for index, count in enumerate(left[at]) if count > 0)
                left[at][which] -= 1
                handed.append((self.groups[at].entries[which], free[number].pop()))
        return handed


Handed = tuple[Entry, DeviceId]
