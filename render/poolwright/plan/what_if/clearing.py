"""The cheapest addition that clears a shortfall: so many more nodes, or devices, like one that is there.

Cheapest is what brings the fewest devices, as nobody says prices. A number is said when a packing of everything was
found with it, and that fewer don't do when that is proven. More hardware never takes a packing away, so the border is
looked for by doubling and halving.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, Literal

from poolwright.allocation.held import DeviceId
from poolwright.plan.demand import Demand, keep_workloads
from poolwright.plan.engine import count_shortfall_of, is_plain, split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.methods.flow import UNBOUNDED, Flow
from poolwright.plan.methods.market import SINK, SOURCE
from poolwright.plan.verdict import Count, Judgement
from poolwright.plan.what_if.alike import group_alike
from poolwright.plan.what_if.border import find_last
from poolwright.plan.what_if.copies import add_devices, add_nodes, list_own_devices

MAX_MORE: Final = 64  # nodes or devices of a sort that are tried
MAX_OPTIONS: Final = 3  # of a shortfall that are said
MAX_NAMES: Final = 3  # of what was tried in vain


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """More of one sort of hardware that clears a shortfall."""

    thing: Literal["node", "device"]
    like: str  # the first by name of those that are alike
    count: Count  # most: so many do; least: fewer are proven not to
    devices: int  # that come with so many and that somebody here takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearing:
    """What clears the shortfall of workloads that compete with no other ones."""

    workloads: tuple[str, ...]  # in the demand's order
    shortfall: Count
    options: tuple[Option, ...] = ()  # the few with the fewest devices, these first; then by name
    reasons: tuple[str, ...] = ()  # why there are none


def judge_clearing(demand: Demand, judgement: Judgement) -> tuple[Clearing, ...]:
    """What would clear each shortfall that is certain; nothing where there is none.

    A workload whose attempts abort isn't helped by hardware, and is left aside.
    judgement: of the demand.
    Cost:      none without a shortfall; else flows on classes, and for each sort that can be among the cheapest two
               shortfalls of the grown demand where counting devices says how many it takes, and at most four for each
               doubling beyond that where it doesn't.
    """
    if not judgement.shortfall.least:
        return ()
    context = build_context(demand, shows=False)
    found = []
    for part in split(context):
        members = [at for at in part if judgement.verdicts[at].word != "error"]
        shortfall = count_shortfall_of(context, members)
        if shortfall.least:
            found.append(_clear(context, members, shortfall, judgement))
    return tuple(found)


def _clear(context: Context, members: Sequence[int], shortfall: Count, judgement: Judgement) -> Clearing:
    workloads = tuple(context.titles[at] for at in members)
    unjudged = tuple(f"{context.titles[at]} isn't judged" for at in members if at in context.barred)
    if unjudged:
        return Clearing(workloads=workloads, shortfall=shortfall, reasons=unjudged)
    sorts = _list_sorts(context, members)
    sorts.sort(key=lambda one: (one.least * one.devices, one.thing, one.like))
    options: list[Option] = []
    for one in sorts:
        is_dearer = len(options) == MAX_OPTIONS and one.least * one.devices > options[-1].devices
        if one.least > MAX_MORE or is_dearer:
            continue
        count = _find_count(one.grow, one.least)
        if count is not None:
            option = Option(thing=one.thing, like=one.like, count=count, devices=one.devices * count.most)
            options = sorted((*options, option), key=lambda one: (one.devices, one.thing, one.like))[:MAX_OPTIONS]
    reasons = () if options else tuple(_list_reasons(context, members, judgement, sorts))
    return Clearing(workloads=workloads, shortfall=shortfall, options=tuple(options), reasons=reasons)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sort:
    """A sort of hardware that may help."""

    thing: Literal["node", "device"]
    like: str
    devices: int  # that come with one more of it, and that the members take
    grow: Callable[[int], Demand]  # the members' demand with so many more
    least: int  # so many are needed, by counting devices


class _Units:
    """Devices one by one against what pods need of them, by the asks that take a device: see `Market`.

    What it misses is missing for certain, and is all that is missing where every pod takes one device.
    """

    def __init__(self, context: Context, members: Sequence[int]) -> None:
        candidates = context.acceptance.candidates
        takers: dict[DeviceId, list[int]] = {}
        self._wanted: list[int] = []  # devices, by ask
        for at in members:
            workload = context.demand.workloads[at]
            for ask in (ask for shape in context.shapes[at] for ask in shape.asks):
                is_divided = any(candidates[one].device.allow_multiple_allocations for one in ask.accepted)
                self._wanted.append(0 if workload.shared or is_divided else workload.replicas * ask.least)
                for device in ask.accepted:
                    takers.setdefault(device, []).append(len(self._wanted) - 1)
        self._takers = {device: tuple(asks) for device, asks in takers.items()}
        self._there = Counter(self._takers.values())

    def count_needed(self, own: frozenset[DeviceId]) -> int:
        """So many copies of some devices are needed at least; one more than MAX_MORE: those that are tried don't do."""
        copied = Counter(self._takers[device] for device in own)
        return 1 + find_last(lambda more: self._count_missing(copied, more) > 0, 0, MAX_MORE + 1)

    def _count_missing(self, copied: Counter[tuple[int, ...]], more: int) -> int:
        first = 2 + len(self._wanted)
        flow = Flow(first + len(self._there))
        for ask, wanted in enumerate(self._wanted):
            flow.add_edge(SOURCE, 2 + ask, wanted)
        for at, (asks, devices) in enumerate(sorted(self._there.items())):
            flow.add_edge(first + at, SINK, devices + more * copied[asks])
            for ask in asks:
                flow.add_edge(2 + ask, first + at, UNBOUNDED)
        return sum(self._wanted) - flow.augment(SOURCE, SINK)


def _list_sorts(context: Context, members: Sequence[int]) -> list[_Sort]:
    """The sorts of nodes that bring devices which members take, and of devices where every pod takes one."""
    demand = context.demand
    own = keep_workloads(demand, members)
    accepted = frozenset(device for at in members for shape in context.shapes[at] for device in shape.accepted)
    units, found = _Units(context, members), []
    for alike in group_alike(context, "node"):
        like = alike.names[0]
        devices = accepted.intersection(list_own_devices(demand, like))
        if devices:
            least = units.count_needed(devices)
            grow = partial(add_nodes, own, like)
            found.append(_Sort(thing="node", like=like, devices=len(devices), grow=grow, least=least))
    if is_plain(context, members):
        takers = {_list_takers(context, members, device): device for device in sorted(accepted, reverse=True)}
        for device in takers.values():
            least = units.count_needed(frozenset((device,)))
            grow = partial(add_devices, own, device)
            found.append(_Sort(thing="device", like="/".join(device), devices=1, grow=grow, least=least))
    return found


def _list_takers(context: Context, members: Sequence[int], device: DeviceId) -> tuple[tuple[int, int], ...]:
    """The pods that take a device: those of one device can do without telling such devices apart."""
    return tuple(
        (at, pod) for at in members for pod, shape in enumerate(context.shapes[at]) if device in shape.accepted
    )


def _find_count(grow: Callable[[int], Demand], least: int) -> Count | None:
    """How many more it takes; None: so many as are tried don't do, or don't for certain.

    least: a guess of how many are needed, from which the search starts; what it finds is judged.
    """

    @cache
    def count_short(more: int) -> Count:
        context = build_context(grow(more), shows=False)
        return count_shortfall_of(context, range(len(context.shapes)))

    end, start = MAX_MORE + 1, least - 1
    vain = find_last(lambda more: count_short(more).most > 0, start if count_short(start).most > 0 else 0, end)
    if vain == MAX_MORE:
        return None
    known = start if start <= vain and count_short(start).least > 0 else 0
    return Count(1 + find_last(lambda more: count_short(more).least > 0, known, vain + 1), vain + 1)


def _list_reasons(
    context: Context, members: Sequence[int], judgement: Judgement, vain: Sequence[_Sort]
) -> Iterator[str]:
    """Why more of what is there doesn't do."""
    for at in members:
        verdict = judgement.verdicts[at]
        if verdict.word == "unsatisfied" and not verdict.at_best.most:
            yield f"{context.titles[at]}: no node like one that is there can serve it: {verdict.reasons[-1]}"
    names = ", ".join(one.like for one in vain[:MAX_NAMES])
    more = f" or another of {len(vain)}" if len(vain) > MAX_NAMES else ""
    if vain:
        yield f"{MAX_MORE} more like {names}{more} weren't shown to do"
