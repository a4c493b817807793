"""The cheapest addition that clears a shortfall: so many more nodes, or devices, like one that is there.

Cheapest is what brings the fewest devices, as nobody says prices. A number is said when a packing of everything was
found with it, and that fewer don't do when that is proven. More hardware never takes a packing away, so the border is
looked for by doubling and halving.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final, Literal

from poolwright.allocation.held import DeviceId
from poolwright.plan.demand import Demand
from poolwright.plan.engine import count_shortfall_of, is_plain, split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.verdict import Count, Judgement
from poolwright.plan.what_if.alike import group_alike
from poolwright.plan.what_if.border import find_last
from poolwright.plan.what_if.copies import add_devices, add_nodes, list_own_devices

MAX_MORE: Final = 64  # nodes or devices of a sort that are tried
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
    options: tuple[Option, ...] = ()  # those with the fewest devices first, then by name
    reasons: tuple[str, ...] = ()  # why there are none


def judge_clearing(demand: Demand, judgement: Judgement) -> tuple[Clearing, ...]:
    """What would clear each shortfall that is certain; nothing where there is none.

    A workload whose attempts abort isn't helped by hardware, and is left aside.
    judgement: of the demand.
    Cost:      none without a shortfall; else at most four shortfalls for each doubling of the number, for each sort
               of node, and of device where every pod takes one, that somebody who is short takes.
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
    demand = context.demand
    workloads = tuple(context.titles[at] for at in members)
    unjudged = tuple(f"{context.titles[at]} isn't judged" for at in members if at in context.barred)
    if unjudged:
        return Clearing(workloads=workloads, shortfall=shortfall, reasons=unjudged)
    own = replace(demand, workloads=tuple(demand.workloads[at] for at in members))
    options, vain = [], []
    for option, grow in _list_sorts(context, members, own):
        count = _find_count(grow)
        if count is None:
            vain.append(option)
        else:
            options.append(replace(option, count=count, devices=option.devices * count.most))
    options.sort(key=lambda one: (one.devices, one.thing, one.like))
    reasons = () if options else tuple(_list_reasons(context, members, judgement, vain))
    return Clearing(workloads=workloads, shortfall=shortfall, options=tuple(options), reasons=reasons)


def _list_sorts(
    context: Context, members: Sequence[int], own: Demand
) -> Iterator[tuple[Option, Callable[[int], Demand]]]:
    """Each sort of hardware that can help, as one more of it, with how the demand looks with some more."""
    accepted = frozenset(device for at in members for shape in context.shapes[at] for device in shape.accepted)
    one = Count(1, 1)
    for alike in group_alike(context, "node"):
        like = alike.names[0]
        devices = len(accepted.intersection(list_own_devices(context.demand, like)))
        if devices:
            yield Option(thing="node", like=like, count=one, devices=devices), partial(add_nodes, own, like)
    if is_plain(context, members):
        takers = {device: _list_takers(context, members, device) for device in sorted(accepted, reverse=True)}
        for device in sorted({who: device for device, who in takers.items()}.values()):
            option = Option(thing="device", like="/".join(device), count=one, devices=1)
            yield option, partial(add_devices, own, device)


def _list_takers(context: Context, members: Sequence[int], device: DeviceId) -> tuple[tuple[int, int], ...]:
    """The pods that take a device: those of one device can do without telling such devices apart."""
    return tuple(
        (at, pod) for at in members for pod, shape in enumerate(context.shapes[at]) if device in shape.accepted
    )


def _find_count(grow: Callable[[int], Demand]) -> Count | None:
    """How many more it takes; None: so many as are tried don't do, or don't for certain."""

    @cache
    def count_short(more: int) -> Count:
        context = build_context(grow(more), shows=False)
        return count_shortfall_of(context, range(len(context.shapes)))

    end = MAX_MORE + 1
    vain = find_last(lambda more: count_short(more).most > 0, 0, end)
    if vain == MAX_MORE:
        return None
    return Count(1 + find_last(lambda more: count_short(more).least > 0, 0, vain + 1), vain + 1)


def _list_reasons(
    context: Context, members: Sequence[int], judgement: Judgement, vain: Sequence[Option]
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
