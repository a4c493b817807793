"""Whether rollouts of each workload complete in every order, or can stick with old replicas held and new ones waiting.

A rollout is stuck when no further replica of the workload finds room and no old one may be let go: with a surge and
nothing unavailable, while its maximum runs and no more; else, while fewer than its maximum run. So it completes in
every order if the workload is always served with one replica more than what can be in place then. Others that wait are
a part of the demand, each at its peak and its own surge: what holds whatever they do holds while they wait.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from poolwright.plan.demand import Demand, Turnover, Workload
from poolwright.plan.engine import judge_one, split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.methods.kinds import build_field
from poolwright.plan.report.words import count_of, verb_of
from poolwright.plan.verdict import Judgement, Verdict, Witness
from poolwright.plan.what_if.stuck import Stop, find_stuck

Outcome = Literal["completes", "can-stick", "not-known"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """What is said of a workload's rollouts. New replicas ask for what the old ones have."""

    workload: str
    outcome: Outcome
    maximum: int  # replicas at the peak
    surge: int
    unavailable: int
    why: str  # a sentence
    # An order that ends stuck; its replicas of the workload are those in place, old ones as far as any are left.
    witness: Witness | None = None
    fixes: tuple[str, ...] = ()  # each by itself makes rollouts complete in every order, as was judged


def judge_rollouts(demand: Demand, judgement: Judgement, *, only: Collection[str] | None = None) -> tuple[Rollout, ...]:
    """The rollouts of a fresh cluster's workloads, in the demand's order; of what doesn't roll, nothing.

    judgement: of the same demand.
    only:      titles of the workloads that are asked about; None: all.
    Returns:   nothing of a cluster that runs: old replicas are a part of what it holds, and do depart.
    Cost:      none where verdicts say that rollouts complete; else see `find_stuck`, and a verdict for each fix.
    """
    if demand.held or demand.scenario != "fresh":
        return ()
    judged: dict[int, Rollout] = {}
    open_: list[int] = []
    for at, (workload, verdict) in enumerate(zip(demand.workloads, judgement.verdicts, strict=True)):
        if workload.turnover is None or (only is not None and workload.title not in only):
            continue
        if verdict.always.least >= count_needed(workload, workload.turnover):
            judged[at] = _build(workload, workload.turnover, "completes", _say_completes(workload.turnover))
        else:
            open_.append(at)
    if open_:
        context = build_context(demand, shows=False)
        parts = {at: tuple(part) for part in split(context) for at in part}
        judged |= {at: _judge(context, parts[at], at, judgement.verdicts[at]) for at in open_}
    return tuple(judged[at] for at in sorted(judged))


def count_needed(workload: Workload, turnover: Turnover) -> int:
    """With so many of a workload's replicas always served, its rollouts complete in every order.

    A Deployment lets an old replica go as soon as more run than its maximum without what may be unavailable: the rest
    of its surge may wait. A LeaderWorkerSet counts ready replicas from the last one of its surge: where that waits,
    others that are ready don't count, unless all may be unavailable anyway.

    Source: kubernetes/kubernetes pkg/controller/deployment rolling.go; kubernetes-sigs/lws pkg/controllers
    rollingUpdatePartition.
    """
    if turnover.waits_for_all and turnover.unavailable < workload.maximum:
        return workload.replicas
    return workload.maximum + _count_beyond(workload, turnover)


def _count_beyond(workload: Workload, turnover: Turnover) -> int:
    """So many replicas beyond the maximum must be there for sure, or a rollout can stick."""
    if turnover.unavailable or not workload.maximum:
        return 0
    return turnover.surge if turnover.waits_for_all else 1


def _build(
    workload: Workload,
    turnover: Turnover,
    outcome: Outcome,
    why: str,
    witness: Witness | None = None,
    fixes: Sequence[str] = (),
) -> Rollout:
    return Rollout(
        workload=workload.title,
        outcome=outcome,
        maximum=workload.maximum,
        surge=turnover.surge,
        unavailable=turnover.unavailable,
        why=why,
        witness=witness,
        fixes=tuple(fixes),
    )


def _judge(context: Context, part: Sequence[int], at: int, verdict: Verdict) -> Rollout:
    """A rollout that the verdict doesn't settle."""
    workload = context.demand.workloads[at]
    turnover = workload.turnover
    if turnover is None:
        raise AssertionError(f"{workload.title}: judge_rollouts leaves it out")
    field = build_field(context.with_supply(), part)
    if at in context.barred:
        return _build(workload, turnover, "not-known", "; ".join(verdict.reasons))
    if any(kind.shares or not kind.is_own for kind in field.kinds if kind.workload == at):
        why = "its pods use claims together with others, and that they always fit isn't proven"
        return _build(workload, turnover, "not-known", why)
    maximum = workload.maximum
    most = maximum + _count_beyond(workload, turnover) - 1
    stop = Stop(workload=at, held=maximum - turnover.unavailable, most=most)
    witness = find_stuck(field, stop, verdict.worst)
    if witness is None:
        why = "neither that it always completes is proven, nor was an order found in which it doesn't"
        return _build(workload, turnover, "not-known", why)
    fixes = list(_find_fixes(context, part, at))
    return _build(workload, turnover, "can-stick", _say_stuck(workload, turnover, witness), witness, fixes)


def _find_fixes(context: Context, part: Sequence[int], at: int) -> Iterator[str]:
    """What makes the rollouts complete in every order: without surge, or with one replica fewer."""
    workload = context.demand.workloads[at]
    turnover, maximum = workload.turnover, workload.maximum
    if turnover is not None and turnover.surge:
        unavailable = max(1, turnover.unavailable)
        calm = replace(turnover, surge=0, unavailable=unavailable)
        if _completes(context, part, at, replace(workload, replicas=maximum, turnover=calm)):
            yield f"surge 0 and maxUnavailable {unavailable}"
    if turnover is not None and maximum > 1:
        # Percentages of fewer replicas round to less: with nothing unavailable is the strictest of them.
        surge = min(turnover.surge, maximum - 1)
        strict = replace(turnover, surge=surge, unavailable=0 if surge else 1)
        if _completes(context, part, at, replace(workload, replicas=maximum - 1 + surge, turnover=strict)):
            yield f"at most {count_of(maximum - 1, 'replica')} instead of {maximum}"


def _completes(context: Context, part: Sequence[int], at: int, changed: Workload) -> bool:
    workloads = list(context.demand.workloads)
    workloads[at] = changed
    # Shapes are those of pods: how many there are makes no difference to them.
    other = replace(context, demand=replace(context.demand, workloads=tuple(workloads)))
    turnover = changed.turnover
    return turnover is not None and judge_one(other, part, at).always.least >= count_needed(changed, turnover)


def _say_completes(turnover: Turnover) -> str:
    """What the yes rests on: nothing else is looked at while old replicas are replaced."""
    if turnover.surge and not turnover.unavailable:
        return "a new replica always finds devices beside the old ones"
    return "devices that an old replica gives back, or others, always serve a new one"


def _say_stuck(workload: Workload, turnover: Turnover, witness: Witness) -> str:
    """What holds it up at the end of the order."""
    maximum, placed = workload.maximum, witness.placed
    is_alone = all(move.workload == workload.title for move in witness.moves)
    taken = "no node has room for another one" if is_alone else "others have the rest, and no new one has room"
    if placed < maximum and (is_alone or placed < maximum - turnover.unavailable):
        few = (
            f"only {placed} of {count_of(maximum, 'replica')} {verb_of(placed, 'have')}" if placed else "no replica has"
        )
        return f"{few} devices, {taken}: new ones wait as the missing ones do"
    if placed < maximum:
        gone = "the old replica" if maximum == 1 else f"{maximum - placed} of {maximum} old replicas"
        return f"once {gone} gave devices back, {taken}"
    which = "old" if placed == maximum and not turnover.unavailable else "old and new"
    kept = f"{count_of(placed, f'{which} replica')} {'keeps its' if placed == 1 else 'keep their'} devices"
    return f"{kept}, {taken}: no old one is let go before a new one is ready"
