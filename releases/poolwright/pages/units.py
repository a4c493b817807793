"""The workloads of a cluster: what is said of each, what it costs, and what leads to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from poolwright.admission.report.words import say_mends
from poolwright.pages.document import (
    FleetUnit,
    LoadThresholds,
    PriceBar,
    PriceLine,
    Range,
    UnitKind,
    UnitWitness,
    WitnessStep,
)
from poolwright.pages.lineage import ObjectBook, build_lineage
from poolwright.pages.view import ClusterView
from poolwright.plan.demand import Workload
from poolwright.plan.pricing.priced import PricedClass
from poolwright.plan.report.mends import list_mends
from poolwright.plan.report.sources import find_origin, say_reasons
from poolwright.plan.report.words import say_counts, say_witness
from poolwright.plan.verdict import Count, Landing, Move, Verdict, Witness
from poolwright.receipts.document import Model
from poolwright.receipts.units import Unit

MAX_STEPS: Final = 200  # of a witness; all of its moves stand in the plan


def build_units(view: ClusterView, first: int) -> tuple[FleetUnit, ...]:
    """The workloads in the order of the verdicts. first: number of the first of them on its side."""
    demand, judgement = view.answer.demand, view.answer.judgement
    numbers = {one.workload: first + at for at, one in enumerate(judgement.verdicts)}
    book = ObjectBook(view.objects)
    return tuple(
        _build_unit(view, workload, verdict, numbers, book)
        for workload, verdict in zip(demand.workloads, judgement.verdicts, strict=True)
    )


def build_range(count: Count) -> Range:
    """A number as the document has it."""
    return Range(least=count.least, most=count.most)


def _build_unit(
    view: ClusterView, workload: Workload, verdict: Verdict, numbers: Mapping[str, int], book: ObjectBook
) -> FleetUnit:
    unit = view.units.get(workload.title)
    namespace, name = ("", workload.title) if workload.owner is None else workload.owner[1:]
    origin = find_origin(view.answer.demand, verdict)
    return FleetUnit(
        cluster=view.name,
        workload=verdict.workload,
        kind=_find_kind(workload, unit),
        name=name if unit is None else unit.name,
        namespace=namespace,
        envelope=None if unit is None else unit.envelope,
        model=None if unit is None else Model(name=unit.model_name, digest=unit.model_digest),
        verdict=verdict.word,
        counts=say_counts(verdict),
        replicas=verdict.replicas,
        minimum=workload.minimum,
        always=build_range(verdict.always),
        at_best=build_range(verdict.at_best),
        reasons=tuple(say_reasons(verdict)),
        qualifiers=tuple(f"{one.kind}: {one.reason}" for one in verdict.qualifiers),
        witness=_build_witness(verdict, numbers),
        mends=tuple(list_mends(view.answer, verdict)),
        headroom=verdict.headroom_always,
        lands_on=tuple(map(_say_landing, verdict.lands_on)),
        origin="" if origin is None else str(origin),
        prices=tuple(_build_price(one) for one in view.answer.prices or () if one.workload == verdict.workload),
        lineage=build_lineage(workload, book),
    )


def _find_kind(workload: Workload, unit: Unit | None) -> UnitKind:
    if workload.is_reservation:
        return "reservation"
    return "workload" if unit is None else "placement"


def _build_witness(verdict: Verdict, numbers: Mapping[str, int]) -> UnitWitness | None:
    worst = verdict.worst
    if verdict.word != "order-dependent" or worst is None:
        return None
    steps = tuple(_list_steps(worst, numbers))
    return UnitWitness(
        left_out=verdict.replicas - worst.placed,
        replays=worst.replays,
        sentence=say_witness(worst, verdict.replicas),
        steps=steps[:MAX_STEPS],
        steps_left=max(0, len(steps) - MAX_STEPS),
    )


def _list_steps(witness: Witness, numbers: Mapping[str, int]) -> Iterator[WitnessStep]:
    """Moves one after the other of one workload on one node are a step."""
    run: list[Move] = []
    for move in (*witness.moves, None):
        if run and (move is None or (move.workload, move.node) != (run[-1].workload, run[-1].node)):
            yield WitnessStep(
                unit=numbers[run[0].workload],
                replicas=say_numbers([one.replica for one in run]),
                node=run[0].node,
                devices=sum(len(one.devices) for one in run),
            )
            run = []
        if move is not None:
            run.append(move)


def say_numbers(numbers: Sequence[int]) -> str:
    """`0-3, 5`."""
    runs: list[list[int]] = []
    for one in sorted(set(numbers)):
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def _say_landing(one: Landing) -> str:
    named = f"{one.product} {one.kind}" if one.kind else one.product
    return f"{named} as {one.alternative}" if one.alternative else named


def _build_price(one: PricedClass) -> PriceBar:
    admission, price, most = one.admission, one.admission.price, one.thresholds
    has_most = most is not None and one.deployment is not None
    return PriceBar(
        class_name=one.class_name,
        device=one.device.name,
        admission=admission.word,
        reason=one.reason,
        need_bytes=admission.kv_needed_bytes,
        budget_bytes=None if price is None else price.kv_budget_bytes,
        memory_bytes=one.device.total_bytes,
        max_concurrency=admission.max_concurrency,
        is_extrapolated=price is not None and price.is_extrapolated,
        lines=()
        if price is None
        else tuple(PriceLine(name=x.name, bytes=x.bytes, source=x.source) for x in price.lines),
        thresholds=LoadThresholds(
            concurrency=one.deployment.load.concurrency,
            most_concurrency=most.concurrency,
            context_tokens=one.deployment.load.context_tokens,
            most_context_tokens=most.context_tokens,
        )
        if has_most and most is not None and one.deployment is not None
        else None,
        mends=say_mends(one.mends),
        other_classes=one.other_classes,
    )
