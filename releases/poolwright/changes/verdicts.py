"""Workloads by verdict, before and after, and what they are short of together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from poolwright.changes.report import Answer, Direction, ReportScenario, Shortfall, Stranded, WorkloadChange
from poolwright.changes.side import ClusterPair, ClusterSide
from poolwright.plan.demand import Demand
from poolwright.plan.report.sources import say_reasons
from poolwright.plan.report.words import count_of, say_counts
from poolwright.plan.verdict import Judgement, Verdict, Word
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

RULE: Final = "poolwright diff"
_RANKS: Final[dict[Word, int]] = {
    "error": 0,
    "unsatisfied": 1,
    "undecided": 2,
    "order-dependent": 3,
    "always-fits": 4,
}
_SEVERITIES: Final[dict[Word, Severity]] = {
    "error": "error",
    "unsatisfied": "error",
    "undecided": "warning",
    "order-dependent": "warning",
    "always-fits": "warning",  # worse by its risk alone
}
_MEANINGS: Final[dict[Word, str]] = {
    "error": "scheduling aborts on a pod of it, so that it never starts",
    "unsatisfied": "in no order do all its replicas find devices",
    "undecided": "that all its replicas find devices isn't proven, nor that they don't",
    "order-dependent": "whether all its replicas find devices depends on who comes first",
    "always-fits": "the scheduler gives it devices that the driver may refuse: a pod then has them and doesn't start",
}


def compare_workloads(pair: ClusterPair) -> Iterator[WorkloadChange]:
    """Every workload of either side, in the demand's order, those that are gone last; others' reservations aside."""
    yield from _compare(pair.name, "fresh", _fresh(pair.before), _fresh(pair.after))
    yield from _compare(pair.name, "live", _live(pair.before), _live(pair.after))


def check_workloads(pair: ClusterPair) -> Iterator[Finding]:
    """A finding for each workload whose verdict is worse than it was, or new and not a yes."""
    if pair.after is None:
        return
    for earlier, found, words in (
        (_fresh(pair.before), _fresh(pair.after), "on an empty cluster"),
        (_live(pair.before), _live(pair.after), "beside what runs"),
    ):
        for verdict in found.values():
            old = earlier.get(verdict.workload)
            is_doubted = verdict.word != "always-fits" or _has_risk(verdict)
            if find_direction(old, verdict) == "worse" or (old is None and is_doubted):
                place = _find_place(pair.after.demand, verdict.workload)
                runs_on = old is not None and verdict.workload not in pair.restarted
                yield _say_worse(pair.after, old, verdict, place, words, runs_on=runs_on)


def check_gone(pair: ClusterPair) -> Iterator[Finding]:
    """A warning for each workload that isn't there any more, and for a cluster that isn't."""
    if pair.before is None:
        return
    names = [one for one in _fresh(pair.before) if one not in _fresh(pair.after)]
    if pair.after is None:
        yield _say_gone(f"cluster {pair.name} is in the project no longer, with {count_of(len(names), 'workload')}")
        return
    yield from (_say_gone(f"{pair.name}/{name} goes away") for name in names)


def _say_gone(what: str) -> Finding:
    return Finding(
        code="workload-gone",
        severity="warning",
        place=Place(PROJECT_FILE),
        what=what,
        why="where pruning is on, its pods end with the next sync; where it is off, they run on and nobody looks after "
        "them",
        rule=RULE,
        fix="make sure that nobody is served by it any more; say so in the pull request",
    )


def list_shortfalls(pair: ClusterPair) -> Iterator[Shortfall]:
    """How many replicas can't have devices at the same time, where that is another number than before."""
    scenarios: tuple[tuple[ReportScenario, Judgement | None, Judgement | None], ...] = (
        ("fresh", pair.before.judgement if pair.before else None, pair.after.judgement if pair.after else None),
        ("live", _judgement_of(pair.before), _judgement_of(pair.after)),
    )
    for scenario, before, after in scenarios:
        old, new = (0 if one is None else one.shortfall.least for one in (before, after))
        if after is not None and old != new:
            yield Shortfall(cluster=pair.name, scenario=scenario, replicas=after.demanded, before=old, after=new)


def check_shortfalls(pair: ClusterPair, shortfalls: Iterable[Shortfall]) -> Iterator[Finding]:
    """An error for each that grew, though every workload alone may still be served."""
    for one in shortfalls:
        if pair.after is None or one.after <= one.before:
            continue
        was = "" if not one.before else f", and {one.before} on the base"
        where = "on an empty cluster" if one.scenario == "fresh" else "beside what runs"
        replicas = count_of(one.replicas, "replica")
        yield Finding(
            code="shortfall-grew",
            severity="error",
            place=Place(PROJECT_FILE),
            what=f"{pair.name}: of {replicas} at least {one.after} can't have devices {where}, in any order{was}",
            why="each workload alone may still be served, and all of them together can't be",
            rule=RULE,
            fix=f"see `{pair.after.asked_by}`: it names who competes for what, and what would clear it",
        )


def list_stranded(pair: ClusterPair) -> Iterator[Stranded]:
    """Workloads whose pods this change leaves alone, and whose replicas couldn't all be placed again any more."""
    if pair.after is None:
        return
    if pair.after.live is not None and pair.after.live.live is not None:
        yield from _list_stranded_live(pair)
    earlier = _fresh(pair.before)
    for verdict in _fresh(pair.after).values():
        old = earlier.get(verdict.workload)
        if old is None or verdict.workload in pair.restarted or verdict.word not in ("unsatisfied", "error"):
            continue
        most = 0 if verdict.word == "error" else verdict.at_best.most
        stuck = min(old.at_best.most, verdict.replicas) - most  # those that are new don't run yet
        if find_direction(old, verdict) == "worse" and stuck > 0:
            yield Stranded(
                cluster=pair.name,
                workload=verdict.workload,
                scenario="fresh",
                replicas=verdict.replicas,
                stuck=stuck,
                reasons=tuple(say_reasons(verdict)),
            )


def check_stranded(pair: ClusterPair, stranded: Iterable[Stranded]) -> Iterator[Finding]:
    """An error for each workload that was captured as it runs, and can't come back; others their verdict tells of."""
    side = pair.after
    for one in stranded:
        if side is None or one.scenario != "live":
            continue
        reasons = f": {'; '.join(one.reasons)}" if one.reasons else ""
        yield Finding(
            code="restart-stranded",
            severity="error",
            place=_find_place(side.demand, one.workload),
            what=f"{pair.name}/{one.workload}: {one.stuck} of {count_of(one.replicas, 'running replica')} couldn't "
            f"be placed again{reasons}",
            why="they keep their devices: nothing shows until a pod restarts or a node drains; it then stays Pending",
            rule=RULE,
            fix="keep devices that it can have before the class, node or claim changes, or move the workload first",
        )


def find_direction(before: Verdict | None, after: Verdict | None) -> Direction:
    """Which way a verdict went: by the word, by how many replicas are left out, by whether the driver may refuse."""
    if before is None or after is None:
        return "gone" if after is None else "new"
    old, new = _weigh(before), _weigh(after)
    return "same" if old == new else "worse" if new < old else "better"


def _weigh(verdict: Verdict) -> tuple[int, int, int, bool]:
    always, best = verdict.always.least - verdict.replicas, verdict.at_best.most - verdict.replicas
    rank, is_sure = _RANKS[verdict.word], not _has_risk(verdict)
    return (rank, 0, 0, is_sure) if verdict.word == "error" else (rank, best, always, is_sure)


def _has_risk(verdict: Verdict) -> bool:
    """Whether the scheduler gives it devices that the driver may refuse when a pod starts."""
    return any(one.kind == "prepare-risk" for one in verdict.qualifiers)


def _compare(
    cluster: str, scenario: ReportScenario, before: Mapping[str, Verdict], after: Mapping[str, Verdict]
) -> Iterator[WorkloadChange]:
    for name in (*after, *(one for one in before if one not in after)):
        old, new = before.get(name), after.get(name)
        direction = find_direction(old, new)
        yield WorkloadChange(
            cluster=cluster,
            name=name,
            scenario=scenario,
            before=_answer(old),
            after=_answer(new),
            change=direction,
            reasons=() if new is None or direction == "same" else tuple(_list_reasons(new)),
        )


def _answer(verdict: Verdict | None) -> Answer | None:
    return None if verdict is None else Answer(verdict=verdict.word, counts=say_counts(verdict))


def _fresh(side: ClusterSide | None) -> dict[str, Verdict]:
    return {} if side is None else _by_name(side.demand, side.judgement)


def _live(side: ClusterSide | None) -> dict[str, Verdict]:
    return {} if side is None or side.live is None else _by_name(side.live.demand, side.live.judgement)


def _by_name(demand: Demand, judgement: Judgement) -> dict[str, Verdict]:
    reserved = {one.title for one in demand.workloads if one.is_reservation}
    return {one.workload: one for one in judgement.verdicts if one.workload not in reserved}


def _judgement_of(side: ClusterSide | None) -> Judgement | None:
    return None if side is None or side.live is None else side.live.judgement


def _find_place(demand: Demand, title: str) -> Place:
    origin = next((one.origin for one in demand.workloads if one.title == title), None)
    return origin if isinstance(origin, Place) else Place(PROJECT_FILE)


def _say_worse(
    side: ClusterSide, old: Verdict | None, new: Verdict, place: Place, words: str, *, runs_on: bool
) -> Finding:
    """runs_on: its pods aren't replaced by the change."""
    answer = _say_answer(new)
    what = f"is new and {answer}" if old is None else f"was {_say_answer(old)} and is {answer}"
    reasons = "; ".join(_list_reasons(new))
    quiet = " (pods that run keep their devices: it shows once one restarts)" if runs_on else ""
    return Finding(
        code="fit-worse",
        severity=_SEVERITIES[new.word],
        place=place,
        what=f"{side.name}/{new.workload} {what}, {words}{f': {reasons}' if reasons else ''}",
        why=f"{_MEANINGS[new.word]}{quiet}",
        rule=RULE,
        fix=f"see `{side.asked_by}`: it names who takes the devices, and what would mend it",
    )


def _list_reasons(verdict: Verdict) -> Iterator[str]:
    yield from say_reasons(verdict)
    yield from (one.reason for one in verdict.qualifiers if one.kind == "prepare-risk")


def _say_answer(verdict: Verdict) -> str:
    return f"{verdict.word} {say_counts(verdict)}{', with a risk when pods start' if _has_risk(verdict) else ''}"


def _list_stranded_live(pair: ClusterPair) -> Iterator[Stranded]:
    after, before = pair.after, pair.before
    if after is None or after.live is None or after.live.live is None:
        return
    answer = after.live.live
    earlier = before.live.live if before is not None and before.live is not None else None
    for restarts, observed in zip(answer.restarts, answer.live.workloads, strict=True):
        old = None if earlier is None else earlier.find_restarts(restarts.workload)
        if restarts.stuck > (0 if old is None else old.stuck):
            yield Stranded(
                cluster=pair.name,
                workload=restarts.workload,
                scenario="live",
                replicas=len(observed.running),
                stuck=restarts.stuck,
                reasons=restarts.reasons,
            )
