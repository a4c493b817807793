"""Verdicts of workloads that compete among themselves alone, each pod of which takes one device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.plan.methods.context import Context
from poolwright.plan.methods.market import Entry, Market
from poolwright.plan.methods.single import (
    Numbers,
    count_entry,
    find_hall_sets,
    find_over_demanded,
    plan_best,
    plan_worst,
)
from poolwright.plan.report.words import count_of
from poolwright.plan.verdict import Contest, Count, Verdict, Word, exactly

NONE_ACCEPTED: Final = "no free device that it may use meets its request"  # of pods of one device


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What is said of workloads that compete with no other ones."""

    verdicts: Mapping[int, Verdict]  # by index in the demand
    shortfall: Count
    over_demanded: tuple[Contest, ...] = ()
    hall_sets: tuple[Contest, ...] = ()


def judge_singles(context: Context, members: Sequence[int], only: int | None = None) -> Part:
    """The exact verdicts of workloads whose pods take one device each.

    members: indices in the demand; nobody else takes any of their devices.
    only:    the one whose verdict is wanted; None: all.
    """
    entries = {
        (at, pod): Entry(workload=at, pod=pod, count=context.demand.workloads[at].replicas, accepted=shape.accepted)
        for at in members
        for pod, shape in enumerate(context.shapes[at])
    }
    market = Market(tuple(entries.values()))
    verdicts = {
        at: _judge(context, market, at, [entries[at, pod] for pod in range(len(context.shapes[at]))])
        for at in members
        if only in (None, at)
    }
    most_pods = max((len(context.shapes[at]) for at in members), default=1)
    short = market.shortfall
    return Part(
        verdicts=verdicts,
        shortfall=Count(-(-short // max(1, most_pods)), short),
        over_demanded=find_over_demanded(market, context.titles),
        hall_sets=find_hall_sets(market, context.titles),
    )


def _judge(context: Context, market: Market, at: int, entries: Sequence[Entry]) -> Verdict:
    workload = context.demand.workloads[at]
    numbers = [count_entry(market, entry) for entry in entries]
    always, at_best = _count_replicas(market, entries, numbers, workload.replicas)
    word = choose_word(always, at_best, workload.replicas)
    weakest = min(range(len(entries)), key=lambda pod: numbers[pod].always)
    best = worst = None
    if word == "order-dependent" and context.shows:
        worst = context.show(
            context.list_steps(plan_worst(market, entries[weakest])),
            at,
            weakest,
            target=numbers[weakest].always,
            replicas=workload.replicas,
        )
        if not workload.is_group:
            best = context.show(
                context.list_steps(plan_best(market, entries[0])),
                at,
                0,
                target=at_best.least,
                replicas=workload.replicas,
            )
    return Verdict(
        workload=workload.title,
        word=word,
        replicas=workload.replicas,
        always=always,
        at_best=at_best,
        method="single-device flow",
        best=best,
        worst=worst,
        lands_on=context.list_landings(at),
        # A further replica of a group brings further pods of each of its places, which compete with each other.
        headroom_always=None if workload.is_group else numbers[0].headroom_always,
        headroom_best=None if workload.is_group else numbers[0].headroom_best,
        reasons=_say(numbers[weakest], word, workload.replicas, is_group=workload.is_group),
    )


def choose_word(always: Count, at_best: Count, replicas: int) -> Word:
    """What the counts come to; undecided where the intervals leave more than one word."""
    if always.least >= replicas:
        return "always-fits"
    if at_best.most < replicas:
        return "unsatisfied"
    if always.most < replicas and at_best.least >= replicas:
        return "order-dependent"
    return "undecided"


def _count_replicas(
    market: Market, entries: Sequence[Entry], numbers: Sequence[Numbers], replicas: int
) -> tuple[Count, Count]:
    """Complete replicas: each pod of a group may be left out on its own, and of different replicas."""
    if len(entries) == 1:
        return exactly(numbers[0].always), exactly(numbers[0].at_best)
    missing = sum(replicas - one.always for one in numbers)
    always = Count(max(0, replicas - missing), min(one.always for one in numbers))
    low, high = 0, min(one.at_best for one in numbers)
    while low < high:
        middle = (low + high + 1) // 2
        if _match_groups(market, entries, middle):
            low = middle
        else:
            high = middle - 1
    return Count(min(always.least, low), min(always.most, low)), exactly(low)


def _match_groups(market: Market, entries: Sequence[Entry], replicas: int) -> bool:
    """Whether a packing holds so many complete replicas of a group, alone."""
    counts = [replicas * sum(entry in group.entries for entry in entries) for group in market.groups]
    return market.match(counts).size == sum(counts)


def _say(numbers: Numbers, word: Word, replicas: int, *, is_group: bool) -> tuple[str, ...]:
    if word == "always-fits":
        return ()
    free = count_of(numbers.accepted, "free device")
    if not numbers.accepted:
        said = [NONE_ACCEPTED]
    elif word == "unsatisfied":
        said = [f"{free} for {count_of(replicas, 'replica')}"]
    else:
        said = [f"of {free}, others can take {numbers.others}"]
    if is_group:
        said.append("the pods of a replica are placed one by one: replicas that hold a part of theirs can block others")
    return tuple(said)
