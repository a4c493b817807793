"""Verdicts of a whole demand: who competes with whom, and by which method each part is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from poolwright.allocation.held import DeviceId
from poolwright.plan.context import Context, build_context
from poolwright.plan.demand import Demand
from poolwright.plan.exact import Part, judge_singles
from poolwright.plan.general import judge_mixed
from poolwright.plan.verdict import Count, Judgement, Verdict, exactly


def judge(demand: Demand) -> Judgement:
    """The verdicts of a demand's workloads, in their order; the order of nodes and slices makes no difference.

    Cost: flows on classes for pods of one device; elsewhere bounded by `general.MAX_STEPS`, after which what is
          proven is said and the word is `undecided`.
    """
    return judge_context(build_context(demand))


def judge_context(context: Context) -> Judgement:
    """The same for shapes that are known."""
    demand = context.demand
    verdicts: dict[int, Verdict] = {}
    shortfall = exactly(0)
    parts: list[Part] = []
    for members in _split(context):
        failing = [at for at in members if any(shape.error for shape in context.shapes[at])]
        for at in failing:
            verdicts[at] = _judge_error(context, at)
            replicas = demand.workloads[at].replicas
            shortfall = Count(shortfall.least + replicas, shortfall.most + replicas)
        rest = [at for at in members if at not in failing]
        if rest:
            parts.append(judge_singles(context, rest) if _is_plain(context, rest) else judge_mixed(context, rest))
    for part in parts:
        verdicts.update(part.verdicts)
        shortfall = Count(shortfall.least + part.shortfall.least, shortfall.most + part.shortfall.most)
    return Judgement(
        verdicts=tuple(_set_aside(context, at, verdicts[at]) for at in range(len(demand.workloads))),
        demanded=sum(workload.replicas for workload in demand.workloads),
        shortfall=shortfall,
        over_demanded=tuple(contest for part in parts for contest in part.over_demanded),
        hall_sets=tuple(contest for part in parts for contest in part.hall_sets),
    )


def _is_plain(context: Context, members: Sequence[int]) -> bool:
    """Whether every pod takes one device for itself, and nothing that isn't modelled decides."""
    return all(at not in context.barred and all(shape.is_single for shape in context.shapes[at]) for at in members)


def _split(context: Context) -> Iterator[list[int]]:
    """The workloads in parts that share no device, no counter and no claim. Those that end in an error take nothing."""
    parent = list(range(len(context.shapes)))

    def find(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    owners: dict[object, int] = {}
    for at, shapes in enumerate(context.shapes):
        for key in _list_shared(context, at) if not any(shape.error for shape in shapes) else ():
            first = owners.setdefault(key, at)
            low, high = sorted((find(first), find(at)))
            parent[high] = low
    parts: dict[int, list[int]] = {}
    for at in range(len(context.shapes)):
        parts.setdefault(find(at), []).append(at)
    yield from parts.values()


def _list_shared(context: Context, at: int) -> Iterator[object]:
    """What a workload may have in common with others."""
    yield from context.demand.workloads[at].shared
    for shape in context.shapes[at]:
        for device in shape.accepted:
            yield device
            candidate = context.acceptance.candidates[device]
            yield from (("counter", *_pool(device), counter) for counter, _ in candidate.charges)


def _pool(device: DeviceId) -> tuple[str, str]:
    return device[:2]


def _judge_error(context: Context, at: int) -> Verdict:
    workload = context.demand.workloads[at]
    return Verdict(
        workload=workload.title,
        word="error",
        replicas=workload.replicas,
        always=exactly(0),
        at_best=exactly(0),
        method="alone",
        reasons=tuple(dict.fromkeys(shape.error for shape in context.shapes[at] if shape.error)),
    )


def _set_aside(context: Context, at: int, verdict: Verdict) -> Verdict:
    """A verdict that what isn't modelled may change. That more devices can't be had stays proven."""
    risks = [shape.risk for shape in context.shapes[at] if shape.risk]
    reasons = (*context.demand.workloads[at].unjudged, *dict.fromkeys(risks))
    if not reasons or verdict.word in ("error", "unsatisfied"):
        return replace(verdict, reasons=(*verdict.reasons, *reasons)) if reasons else verdict
    return replace(
        verdict,
        word="undecided",
        always=Count(0, verdict.at_best.most),
        at_best=Count(0, verdict.at_best.most),
        method="not judged",
        best=None,
        worst=None,
        headroom_always=None,
        headroom_best=None,
        reasons=(*reasons, *verdict.reasons),
    )
