"""Verdicts of whole workloads in a cluster that runs: what runs, and what is proven of the replicas still to be placed.

Replicas that run count in every number, because nothing of theirs departs. Where a workload has begun replicas, which
are judged by themselves, its numbers are sums: the fewest of each are a lower bound for the fewest of all together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from poolwright.allocation.held import DeviceId
from poolwright.catalog.resource_slice import Device
from poolwright.plan.engine import judge
from poolwright.plan.live.replicas import Observed
from poolwright.plan.live.scenario import Live, Rest
from poolwright.plan.methods.context import build_landing
from poolwright.plan.methods.exact import choose_word
from poolwright.plan.verdict import Contest, Count, Judgement, Landing, Move, Verdict, Witness, exactly


def judge_live(live: Live) -> Judgement:
    """The verdicts of the observed workloads at their peak, then those of others that wait."""
    found = judge(live.demand)
    titles = [one.title for one in live.demand.workloads]
    rests = dict(zip(titles, live.rests, strict=False))
    of: dict[str, list[Verdict]] = {}
    for verdict in found.verdicts[: len(live.rests)]:
        of.setdefault(rests[verdict.workload].workload, []).append(_renumber(verdict, rests))
    devices = {(one.driver, one.pool, one.name): one for part in live.demand.slices for one in part.devices}
    whole = [_build_whole(one, of.get(one.workload.title, ()), devices) for one in live.workloads]
    return replace(
        found,
        verdicts=(*whole, *(_renumber(one, rests) for one in found.verdicts[len(live.rests) :])),
        demanded=found.demanded + sum(one.workload.replicas - one.to_place for one in live.workloads),
        over_demanded=tuple(_rename(one, rests) for one in found.over_demanded),
        hall_sets=tuple(_rename(one, rests) for one in found.hall_sets),
    )


def _build_whole(one: Observed, rests: Sequence[Verdict], devices: dict[DeviceId, Device]) -> Verdict:
    """The verdict of a workload.

    rests: of its replicas that are still to be placed; none: there are none.
    """
    title, replicas = one.workload.title, one.workload.replicas
    has, landings = replicas - one.to_place, set(_list_landings(one, devices))
    if not rests:
        return Verdict(
            workload=title,
            word="always-fits",
            replicas=replicas,
            always=exactly(replicas),
            at_best=exactly(replicas),
            method="running",
            lands_on=tuple(sorted(landings)),
        )
    weakest = next((rest for rest in rests if rest.word != "always-fits"), rests[0])
    always, at_best = _add(rests, has)
    is_error = any(rest.word == "error" for rest in rests)
    word = rests[0].word if len(rests) == 1 else "error" if is_error else choose_word(always, at_best, replicas)
    shows = word in ("order-dependent", "undecided")
    return replace(
        weakest,
        workload=title,
        word=word,
        replicas=replicas,
        always=always,
        at_best=at_best,
        best=_lift(weakest.best, weakest, replicas) if shows and len(rests) == 1 else None,
        worst=_lift(weakest.worst, weakest, replicas) if shows else None,
        lands_on=tuple(sorted(landings.union(*(rest.lands_on for rest in rests)))),
        # Of a replica that has a part of its devices, a further one isn't like the rest.
        headroom_always=None if one.begun else weakest.headroom_always,
        headroom_best=None if one.begun else weakest.headroom_best,
        qualifiers=tuple(dict.fromkeys(one for rest in rests for one in rest.qualifiers)),
        reasons=tuple(dict.fromkeys(line for rest in rests if rest.word != "always-fits" for line in rest.reasons)),
    )


def _add(rests: Sequence[Verdict], has: int) -> tuple[Count, Count]:
    """The fewest and most replicas of a workload whose parts are judged each by itself.

    has: those that run.
    """
    if len(rests) == 1:
        (rest,) = rests
        return _shift(rest.always, has), _shift(rest.at_best, has)
    least, possible = sum(rest.always.least for rest in rests), sum(rest.at_best.most for rest in rests)
    # The order that leaves out most of one part may serve as many of the others as any does.
    most = min(possible - rest.at_best.most + rest.always.most for rest in rests)
    # The order that serves most of one part serves of the others what every order does.
    best = max(least - rest.always.least + rest.at_best.least for rest in rests)
    return _shift(Count(least, most), has), _shift(Count(best, possible), has)


def _shift(count: Count, by: int) -> Count:
    return Count(count.least + by, count.most + by)


def _lift(witness: Witness | None, rest: Verdict, replicas: int) -> Witness | None:
    """The witness with the workload's replicas for those of a part: it leaves out as many."""
    return witness and replace(witness, placed=replicas - rest.replicas + witness.placed)


def _list_landings(one: Observed, devices: dict[DeviceId, Device]) -> Iterator[Landing]:
    """The hardware that the running replicas have."""
    claims = [claim for replica in one.running for pod in replica.pods for claim in pod.subject.claims]
    for allocation in (claim.allocation for claim in claims):
        for result in () if allocation is None else allocation.devices:
            device = devices.get((result.driver, result.pool, result.device))
            if device is not None:
                yield build_landing(device, result.request)


def _renumber(verdict: Verdict, rests: dict[str, Rest]) -> Verdict:
    """A verdict whose witnesses speak of the observed workloads' replicas."""
    return replace(verdict, best=_renumber_moves(verdict.best, rests), worst=_renumber_moves(verdict.worst, rests))


def _renumber_moves(witness: Witness | None, rests: dict[str, Rest]) -> Witness | None:
    if witness is None:
        return None
    return replace(witness, moves=tuple(_rename_move(move, rests.get(move.workload)) for move in witness.moves))


def _rename_move(move: Move, rest: Rest | None) -> Move:
    if rest is None:
        return move
    return replace(move, workload=rest.workload, replica=rest.first + move.replica, pod=rest.places[move.pod])


def _rename(contest: Contest, rests: dict[str, Rest]) -> Contest:
    counts: Counter[str] = Counter()
    for title, count in contest.pods:
        counts[rests[title].workload if title in rests else title] += count
    return replace(contest, pods=tuple(counts.items()))
