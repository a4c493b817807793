"""Verdicts of a whole demand: who competes with whom, and by which method each part is judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from poolwright.allocation.held import DeviceId
from poolwright.plan.demand import Demand
from poolwright.plan.discharge import discharge
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.methods.exact import Part, choose_word, judge_singles
from poolwright.plan.methods.general import count_shortfall, judge_mixed
from poolwright.plan.methods.supplied import weaken
from poolwright.plan.qualifiers import list_qualifiers
from poolwright.plan.verdict import Count, Judgement, Verdict, exactly
from poolwright.plan.why import explain_nowhere


def judge(demand: Demand) -> Judgement:
    """The verdicts of a demand's workloads, in their order; the order of nodes and slices makes no difference.

    Cost: flows on classes for pods of one device; elsewhere bounded by `general.MAX_STEPS`, after which what is
          proven is said and the word is `undecided`.
    """
    context = build_context(demand)
    found = judge_context(context)
    return replace(
        found,
        verdicts=tuple(
            replace(explain_nowhere(demand, one), qualifiers=list_qualifiers(context, at, one))
            for at, one in enumerate(found.verdicts)
        ),
    )


def judge_context(context: Context) -> Judgement:
    """The same for shapes that are known, without what stands against those that no node serves."""
    demand, nodes = context.demand, discharge(context)
    verdicts: dict[int, Verdict] = {}
    shortfall = exactly(0)
    parts: list[Part] = []
    rivals: dict[int, Sequence[int]] = {}
    for members in split(context):
        rivals.update(dict.fromkeys(members, members))
        failing = {at: errors for at in members if (errors := _find_errors(context, at, members))}
        verdicts.update({at: _judge_error(context, at, errors) for at, errors in failing.items()})
        # Of a group that never runs, the pods that can be placed still compete.
        rest = [at for at in members if at not in failing or demand.workloads[at].is_group]
        if rest:
            part = judge_singles(context, rest) if is_plain(context, rest) else judge_mixed(context, rest)
            parts.append(_loosen(context, part, rest))
        left_out = sum(demand.workloads[at].replicas for at in failing if at not in rest)
        shortfall = Count(shortfall.least + left_out, shortfall.most + left_out)
    parts = list(weaken(context, nodes, parts))
    for part in parts:
        verdicts = {**part.verdicts, **verdicts}
        shortfall = Count(shortfall.least + part.shortfall.least, shortfall.most + part.shortfall.most)
    return Judgement(
        verdicts=tuple(_set_aside(context, at, rivals[at], verdicts[at]) for at in range(len(demand.workloads))),
        demanded=sum(workload.replicas for workload in demand.workloads),
        shortfall=shortfall,
        over_demanded=tuple(contest for part in parts for contest in part.over_demanded),
        hall_sets=tuple(contest for part in parts for contest in part.hall_sets),
        resources=nodes.resources,
    )


def judge_one(context: Context, members: Sequence[int], at: int) -> Verdict:
    """The verdict of one workload alone.

    members: those that it competes with, itself among them, as `split` has them.
    """
    failing = {other: errors for other in members if (errors := _find_errors(context, other, members))}
    if at in failing:
        return _judge_error(context, at, failing[at])
    rest = [other for other in members if other not in failing or context.demand.workloads[other].is_group]
    part = judge_singles(context, rest, at) if is_plain(context, rest) else judge_mixed(context, rest, at)
    verdict = _set_aside(context, at, members, part.verdicts[at])
    tight = {workload for workload, _ in discharge(context).tight}
    if tight.isdisjoint(members):
        return verdict
    # Nodes may run out of something else, so that others may be kept away, and it too: less is proven here.
    most = verdict.at_best.most
    proven = Count(0 if at in tight else min(verdict.always.least, most), most)
    word = choose_word(proven, proven, verdict.replicas)
    return replace(verdict, word=word, always=proven, at_best=proven, best=None, worst=None)


def is_plain(context: Context, members: Sequence[int]) -> bool:
    """Whether every pod takes one device for itself, and nothing that isn't modelled decides."""
    return all(at not in context.barred and all(shape.is_single for shape in context.shapes[at]) for at in members)


def count_shortfall_of(context: Context, members: Sequence[int]) -> Count:
    """The shortfall of workloads that compete with no other ones; of some that compete with none of these, the sum."""
    plain = is_plain(context, members)
    found = judge_singles(context, members).shortfall if plain else count_shortfall(context, members)
    found = _loosen_shortfall(context, found, members)
    if found.most < _count_replicas(context, members) and discharge(context).tight:
        return Count(found.least, _count_replicas(context, members))  # nodes may run out of something else
    return found


def _count_replicas(context: Context, members: Sequence[int]) -> int:
    return sum(context.demand.workloads[at].replicas for at in members)


def split(context: Context) -> Iterator[list[int]]:
    """The workloads in parts that share no device, no counter and no claim."""
    parent = list(range(len(context.shapes)))

    def find(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    owners: dict[object, int] = {}
    for at in range(len(context.shapes)):
        for key in _list_shared(context, at):
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
        for device in (*shape.accepted, *shape.watched):
            yield device
            candidate = context.acceptance.candidates[device]
            yield from (("counter", *_pool(device), counter) for counter, _ in candidate.charges)


def _pool(device: DeviceId) -> tuple[str, str]:
    return device[:2]


def _find_errors(context: Context, at: int, members: Sequence[int]) -> tuple[str, ...]:
    """What ends every attempt of a workload's pods. A device that does is hidden by another pod that has it."""
    found = []
    for shape in context.shapes[at]:
        device = shape.risk_device
        others = [other for member in members if member != at for other in context.shapes[member]]
        # Of several requests another one may get other devices once somebody is there, and then not come to this one.
        is_hidden = any(device in other.accepted for other in others) or (len(shape.options) > 1 and bool(others))
        if shape.error or (device is not None and not is_hidden):
            found.append(shape.error or shape.risk)
    return tuple(dict.fromkeys(found))


def _judge_error(context: Context, at: int, errors: tuple[str, ...]) -> Verdict:
    workload = context.demand.workloads[at]
    return Verdict(
        workload=workload.title,
        word="error",
        replicas=workload.replicas,
        always=exactly(0),
        at_best=exactly(0),
        method="alone",
        reasons=errors,
    )


def _set_aside(context: Context, at: int, members: Sequence[int], verdict: Verdict) -> Verdict:
    """A verdict that what isn't modelled may change. That more devices can't be had stays proven.

    members: those that it competes with, itself among them.
    """
    others = [context.demand.workloads[other] for other in members if other != at]
    crowd = tuple(f"how much {one.title} takes of its devices isn't known" for one in others if one.is_unbounded)
    if crowd and verdict.word != "error":
        verdict = _crowd(verdict, crowd)
    if at in context.uncertain and verdict.word != "error":
        verdict = replace(verdict, word="undecided", at_best=exactly(verdict.replicas))
    risks = [shape.risk for shape in context.shapes[at] if shape.risk]
    unknown = [context.uncertain[at]] if at in context.uncertain else []
    reasons = (*context.demand.workloads[at].unjudged, *unknown, *dict.fromkeys(risks))
    if not reasons or verdict.word == "error":
        return verdict
    if verdict.word == "unsatisfied":
        return replace(verdict, reasons=(*verdict.reasons, *reasons))
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


def _loosen(context: Context, part: Part, members: Sequence[int]) -> Part:
    """The same, where some of the members may do without devices: then how many stay without isn't proven."""
    if context.uncertain.keys().isdisjoint(members):
        return part
    return replace(part, shortfall=_loosen_shortfall(context, part.shortfall, members), over_demanded=(), hall_sets=())


def _loosen_shortfall(context: Context, found: Count, members: Sequence[int]) -> Count:
    free = _count_replicas(context, [at for at in members if at in context.uncertain])
    return Count(max(0, found.least - free), found.most)


def _crowd(verdict: Verdict, reasons: tuple[str, ...]) -> Verdict:
    """A verdict among others of which more may come: orders stay what they are, a proof that all fit doesn't."""
    return replace(
        verdict,
        word="undecided" if verdict.word == "always-fits" else verdict.word,
        always=Count(0, verdict.always.most),
        headroom_always=None,
        headroom_best=None,
        reasons=(*verdict.reasons, *reasons),
    )
