"""Pools' headroom: whether every minReplicas placed on them survives the losses that they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge, judge_context
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.promises.promised import RULE, Promise, Tolerance
from poolwright.plan.promises.sureness import rank, say_sureness, weigh
from poolwright.plan.report.words import count_of, verb_of
from poolwright.plan.verdict import Judgement, Verdict
from poolwright.plan.what_if.alike import list_things
from poolwright.plan.what_if.joint import MAX_CASES, JointLoss, judge_joint_losses
from poolwright.plan.what_if.loss import lose
from poolwright.specs.finding import Finding, Severity

_MAX_NAMES = 3


def check_headroom(
    demand: Demand, promises: Sequence[Promise], tolerances: Sequence[Tolerance], known: Set[str]
) -> Iterator[Finding]:
    """Losses that a pool says it survives, after which a placement on it isn't sure of its minReplicas.

    demand: of the whole cluster. Every workload of it is counted at its minimum, and reservations whole.
    known:  units whose verdicts are found short with everything there; only a loss that makes it worse counts.
    A loss takes what is only there; where survivors run doesn't matter. A device is lost with all that is of one piece
    with it. Silent is only what is proven, of losses of several things too.
    Cost: one judgement, and one for each loss that differs, of the workloads it touches.
    """
    if not tolerances:
        return
    least = keep_minimum(demand)
    context = build_context(least, shows=False)
    whole = judge_context(context)
    numbers = {one.title: at for at, one in enumerate(least.workloads)}
    for tolerance in tolerances:
        placed = {
            numbers[one.workload]: one
            for one in promises
            if one.pool == tolerance.pool and one.workload in numbers  # others claim no devices
        }
        yield from _check(_Case(context=context, whole=whole, tolerance=tolerance, placed=placed), known)


def keep_minimum(demand: Demand) -> Demand:
    """Every workload at its minimum: what headroom is judged of."""
    return replace(demand, workloads=tuple(replace(one, replicas=one.minimum) for one in demand.workloads))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A pool's headroom for one sort of loss."""

    context: Context
    whole: Judgement  # with everything there
    tolerance: Tolerance
    placed: Mapping[int, Promise]  # on the pool, by index in the demand


def _check(case: _Case, known: Set[str]) -> Iterator[Finding]:
    things, doubt = list_things(case.context, case.tolerance.thing), _say_doubt(case)
    found = judge_joint_losses(case.context, case.whole, things, case.tolerance.count, case.placed.keys())
    is_lost = False
    for at, promise in case.placed.items():
        worst = _choose_worst(promise, at, found.cases)
        severity = weigh(promise.behavior, worst.verdicts[at])
        is_known = promise.unit in known and _badness(promise, worst.verdicts[at]) <= _badness(
            promise, found.cases[0].verdicts[at]
        )
        if severity is not None and not is_known:
            said = f"{_say_loss(case, worst)}: {say_sureness(worst.verdicts[at])}"
            yield _build(case, severity, f'placement "{promise.unit}" at minReplicas, {said}')
        is_lost = is_lost or severity == "error"
    if not is_lost:
        yield from _find_shortfall(case, found.cases)
    if not found.is_complete:
        doubt.append(f"there are more than {MAX_CASES} losses that differ")
    if doubt:
        what = f'that pool "{case.tolerance.pool}" keeps every minReplicas isn\'t proven: {"; ".join(doubt)}'
        yield _build(case, "warning", what)


def _say_doubt(case: _Case) -> list[str]:
    """Why not everything that goes with a loss is known."""
    shapes = [shape for at in case.placed for shape in case.context.shapes[at]]
    names = sorted(node.name for node in case.context.demand.nodes if node.zone is None)
    used = [name for name in names if any(name in shape.on_node for shape in shapes)]
    if case.tolerance.thing != "zone" or not used:
        return []
    more = f" and {len(used) - _MAX_NAMES} more" if len(used) > _MAX_NAMES else ""
    return [f"the zone of {', '.join(used[:_MAX_NAMES])}{more} isn't known"]


def _choose_worst(promise: Promise, at: int, cases: Sequence[JointLoss]) -> JointLoss:
    """The loss that is worst for a placement, of equal ones the first."""
    return max(cases, key=lambda one: _badness(promise, one.verdicts[at]))


def _badness(promise: Promise, verdict: Verdict) -> tuple[int, ...]:
    return rank(weigh(promise.behavior, verdict)), -verdict.always.most, -verdict.at_best.most, -verdict.always.least


def _find_shortfall(case: _Case, cases: Sequence[JointLoss]) -> Iterator[Finding]:
    """A loss after which no packing holds all that the pool must keep, although each placement by itself may fit."""
    demand = case.context.demand
    for one in cases[1:]:
        if one.shortfall.least and any(verdict.word != "always-fits" for verdict in one.verdicts.values()):
            own = tuple(demand.workloads[at] for at in sorted(case.placed))
            short = judge(lose(replace(demand, workloads=own), one.lost)).shortfall.least
            if short:
                total = sum(workload.replicas for workload in own)
                least = f"{short} of the {count_of(total, 'replica')} that {verb_of(total, 'are')} its minimum"
                what = (
                    f'pool "{case.tolerance.pool}", {_say_loss(case, one)}: at least {least} '
                    f"{verb_of(short, 'find')} no devices, in every order"
                )
                yield _build(case, "error", what)
                return


def _build(case: _Case, severity: Severity, what: str) -> Finding:
    count, thing = case.tolerance.count, case.tolerance.thing
    lost = thing if count == 1 else f"{count} {thing}s"
    return Finding(
        code="headroom-short",
        severity=severity,
        place=case.tolerance.place,
        what=what,
        why=f"the pool promises that every minReplicas survives the loss of any {lost}; counted are all workloads of "
        "the cluster at their minimum, and reservations whole",
        rule=RULE,
        fix="make room: more devices, or fewer minReplicas on them; or promise less",
    )


def _say_loss(case: _Case, loss: JointLoss) -> str:
    if not loss.names:
        return "with nothing lost"
    thing = case.tolerance.thing
    return f"without {thing if len(loss.names) == 1 else f'{thing}s'} {' and '.join(loss.names)}"
