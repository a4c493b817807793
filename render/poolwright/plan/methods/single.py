"""Exact answers where every pod takes one device for itself: full devices, static partitions, alternatives of those.

A pod of a workload can be left out iff all others, its siblings among them, can take every device that it accepts;
siblings extend any matching. So one maximum flow per group of equal pods answers for all of the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from poolwright.plan.methods.market import SOURCE, Entry, Handed, Market
from poolwright.plan.verdict import Contest

EXAMPLES = 4  # devices that a contest names


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What is true of the pods of an entry."""

    accepted: int  # free devices that they take
    others: int  # of these, how many all other pods can take at once
    always: int
    at_best: int
    headroom_always: int
    headroom_best: int


def count_entry(market: Market, entry: Entry) -> Numbers:
    """The numbers of an entry. Cost: two maximum flows on classes per group, in the worst case."""
    at = market.find_group(entry)
    group = market.groups[at]
    accepted = market.count_devices(group.classes)
    others = match_others(market, entry)
    return Numbers(
        accepted=accepted,
        others=others,
        always=min(entry.count, accepted - others),
        at_best=min(entry.count, accepted),
        headroom_always=max(0, accepted - others - entry.count),
        headroom_best=_count_headroom(market, at, accepted),
    )


def match_others(market: Market, entry: Entry) -> int:
    """How many devices of an entry's all other pods can take at once."""
    at = market.find_group(entry)
    group = market.groups[at]
    strangers = market.match(market.count_others(at, group.count), set(group.classes)).size
    return min(market.count_devices(group.classes), strangers + group.count - entry.count)


def _count_headroom(market: Market, at: int, accepted: int) -> int:
    if market.shortfall:
        return 0
    counts = [count + accepted if other == at else count for other, count in enumerate(market.counts)]
    return market.match(counts).size - sum(market.counts)


def plan_best(market: Market, entry: Entry) -> list[Handed]:
    """Devices for as many pods of an entry as can be."""
    group = market.groups[market.find_group(entry)]
    devices = [device for number in group.classes for device in market.devices[number]]
    return [(entry, device) for device in sorted(devices)[: entry.count]]


def plan_worst(market: Market, entry: Entry) -> list[Handed]:
    """Devices for others, and then for as few pods of an entry as leave none of its devices free."""
    at = market.find_group(entry)
    group = market.groups[at]
    matching = market.match(market.count_others(at, entry.count), set(group.classes))
    amounts = matching.amounts()
    counts = [[one.count if one != entry else 0 for one in other.entries] for other in market.groups]
    handed = market.hand_out(amounts, counts)
    taken = {device for _, device in handed}
    rest = [device for number in group.classes for device in market.devices[number] if device not in taken]
    return [*handed, *((entry, device) for device in sorted(rest))]


def find_over_demanded(market: Market, titles: Sequence[str]) -> tuple[Contest, ...]:
    """The pods that some maximum matching leaves out, with all devices they take, part by part.

    This is the over-demanded part of Dulmage and Mendelsohn: it doesn't depend on the matching.
    """
    size = len(market.groups)
    short = market.everything.list_short()
    parts: list[set[int]] = []
    for at in short:
        reached = market.everything.flow.reach([2 + at], without=SOURCE)
        touching = [part for part in parts if part & reached]
        parts = [part for part in parts if not part & reached]
        parts.append(reached.union(*touching))
    contests = []
    for part in parts:
        entries = [entry for at in range(size) if 2 + at in part for entry in market.groups[at].entries]
        classes = [number for number in range(len(market.devices)) if 2 + size + number in part]
        counts = [(entry.workload, entry.count) for entry in entries]
        contests.append(_build_contest(market, counts, classes, titles))
    return tuple(sorted(contests, key=lambda one: (one.demanded, one.pods)))


def find_hall_sets(market: Market, titles: Sequence[str]) -> tuple[Contest, ...]:
    """For each group with a pod left out, an inclusion-minimal set of pods that take fewer devices than they are."""
    size, found = len(market.groups), set()
    amounts = market.everything.amounts()
    for at in market.everything.list_short():
        reached = market.everything.flow.reach([2 + at], without=SOURCE)
        classes = [number for number in range(len(market.devices)) if 2 + size + number in reached]
        counts: list[tuple[int, int]] = []
        for other in range(size):
            pods = sum(amounts.get((other, number), 0) for number in classes) + (other == at)
            for entry in market.groups[other].entries:
                counts.append((entry.workload, min(pods, entry.count)))
                pods -= counts[-1][1]
        found.add(_build_contest(market, counts, classes, titles))
    return tuple(sorted(found, key=lambda one: (one.demanded, one.pods)))


def _build_contest(
    market: Market, counts: Sequence[tuple[int, int]], classes: Sequence[int], titles: Sequence[str]
) -> Contest:
    by_workload: dict[int, int] = {}
    for workload, count in counts:
        by_workload[workload] = by_workload.get(workload, 0) + count
    devices = sorted(device for number in classes for device in market.devices[number])
    return Contest(
        pods=tuple((titles[workload], count) for workload, count in sorted(by_workload.items()) if count),
        demanded=sum(by_workload.values()),
        devices=len(devices),
        examples=tuple(devices[:EXAMPLES]),
    )
