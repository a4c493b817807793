"""A plan for people: a table by cluster, what each workload's verdict comes from, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.report.additions import render_growth
from poolwright.plan.report.changes import say_change
from poolwright.plan.report.clearing import render_clearings
from poolwright.plan.report.contests import render_contests
from poolwright.plan.report.live import list_live_lines, list_observed, list_restarts, say_held, say_others
from poolwright.plan.report.mends import list_mends
from poolwright.plan.report.prices import list_prices
from poolwright.plan.report.rollouts import render_rollouts
from poolwright.plan.report.room import render_room
from poolwright.plan.report.slots import list_slot_lines
from poolwright.plan.report.sources import say_origin, say_reasons
from poolwright.plan.report.words import count_of, say_counts, say_witness, say_word, verb_of
from poolwright.plan.verdict import Judgement, Verdict
from poolwright.plan.what_if.loss import Loss
from poolwright.specs.finding import render_text

MAX_NAMES = 3  # of things that are lost alike


def render_plan_text(answers: Sequence[ClusterAnswer]) -> tuple[str, ...]:
    """The lines of a plan, not escaped: they quote objects that nobody vouches for."""
    return tuple(line for answer in answers for line in _render_cluster(answer))


def _render_cluster(answer: ClusterAnswer) -> Iterator[str]:
    cluster, judgement = answer.cluster, answer.judgement
    devices = sum(len(one.devices) for one in cluster.slices)
    yield (
        f"{cluster.name}: Kubernetes {cluster.minor}, {answer.demand.scenario}; {count_of(len(cluster.nodes), 'node')} "
        f"({cluster.planned_nodes} planned), {count_of(devices, 'device')}{say_held(answer)}"
    )
    names = max((len(one.workload) for one in judgement.verdicts), default=0)
    counts = max((len(say_counts(one)) for one in judgement.verdicts), default=0)
    for verdict in judgement.verdicts:
        yield f"  {verdict.workload:<{names}}  {say_counts(verdict):>{counts}}  {_say_word(verdict, answer)}"
        yield from (f"    {line}" for line in _list_lines(answer, verdict))
        yield from (f"    {line}" for line in list_mends(answer, verdict))
        yield from (f"    {line}" for line in list_prices(answer, verdict.workload))
    if judgement.shortfall.least:
        least, total = judgement.shortfall.least, judgement.demanded
        stay = f"{count_of(total, 'replica')} {verb_of(least, 'stay')}"
        yield f"  shortfall: at least {least} of {stay} without devices, whatever the order"
    yield from (f"  {line}" for line in render_contests(judgement))
    yield from (f"  {line}" for line in render_clearings(answer.clearings, judgement.over_demanded))
    yield from (f"  {line}" for line in render_growth(answer.growth))
    yield from (f"  {line}" for line in render_room(answer.room))
    yield from (f"  {line}" for line in render_rollouts(answer.rollouts, answer.deadlocks))
    yield from (f"  {line}" for line in (*list_live_lines(answer), *_render_losses(answer)))
    yield from (f"  {line}" for line in list_slot_lines(answer.slots))
    yield f"  modelled: {'; '.join(answer.assumptions.modelled)}"
    if answer.assumptions.discharged:
        yield f"  discharged: {'; '.join(answer.assumptions.discharged)}"
    yield f"  assumed: {'; '.join(answer.assumptions.assumed)}"
    yield from render_text(answer.findings).splitlines()
    yield ""


def _say_word(verdict: Verdict, answer: ClusterAnswer) -> str:
    workloads = answer.demand.workloads
    others = next((one for one in workloads if one.title == verdict.workload and one.is_reservation), None)
    reason = next((f": {one.reason}" for one in answer.cluster.reservations if one.name == verdict.workload), "")
    said = say_word(verdict) if others is None else f"{say_word(verdict)}, {say_others(others)}{reason}"
    return f"{said}{say_origin(answer.demand, verdict)}"


def _list_lines(answer: ClusterAnswer, verdict: Verdict) -> Iterator[str]:
    yield from list_observed(answer, verdict.workload)
    yield from _list_details(verdict)
    yield from list_restarts(answer, verdict.workload)


def _list_details(verdict: Verdict) -> Iterator[str]:
    yield from (f"{one.kind}: {one.reason}" for one in verdict.qualifiers)
    if verdict.word == "always-fits":
        return
    yield from say_reasons(verdict)
    if verdict.word == "order-dependent" and verdict.worst is not None:
        yield say_witness(verdict.worst, verdict.replicas)


def _render_losses(answer: ClusterAnswer) -> Iterator[str]:
    """Things whose loss comes to the same stand together."""
    alike: dict[tuple[str, ...], list[Loss]] = {}
    for loss in answer.losses:
        alike.setdefault((loss.thing, *_say_outcome(loss, answer.judgement)), []).append(loss)
    for (thing, start, *changes), losses in alike.items():
        names = sorted(name for loss in losses for name in loss.names)
        shown = ", ".join(names[:MAX_NAMES])
        more = f" or another of {len(names)}" if len(names) > MAX_NAMES else ""
        yield f"{_say_thing(thing, losses[0].names, f'{shown}{more}')}: {start}"
        yield from (f"  {line}" for line in (*changes, *losses[0].notes))


def _say_thing(thing: str, names: Sequence[str], shown: str) -> str:
    """Of some that are alike one is lost; of gates all are."""
    if thing != "gates":
        return f"without {thing} {shown}"
    return f"without the alpha gates {', '.join(names)}" if names else "no alpha gate is on, nothing to roll back"


def _say_outcome(loss: Loss, before: Judgement) -> tuple[str, ...]:
    least, was = loss.shortfall.least, before.shortfall.least
    if not loss.changes and least <= was:
        return ("every verdict stays",)
    short = f"at least {count_of(least, 'replica')} without devices, whatever the order"
    return (short if least > was else "verdicts change", *(line for one in loss.changes for line in say_change(one)))
