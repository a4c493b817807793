"""A fleet to look at, from what was judged of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from poolwright.changes.report import FindingRow, Report, Revision
from poolwright.packet.index import PacketWaiver
from poolwright.packet.ledger import FeatureState
from poolwright.pages.document import (
    Assumptions,
    FleetCluster,
    FleetReport,
    FleetSide,
    FleetUnit,
    StackPins,
    Subject,
)
from poolwright.pages.hardware import Hardware
from poolwright.pages.losses import build_loss
from poolwright.pages.slots import build_slots
from poolwright.pages.units import build_range, build_units
from poolwright.pages.view import ClusterView
from poolwright.plan.report.clearing import render_clearings
from poolwright.plan.report.contests import render_contests
from poolwright.plan.report.rollouts import render_rollouts
from poolwright.receipts.losses import ALL_THINGS
from poolwright.specs.model import API_VERSION


def build_fleet_report(
    after: FleetSide,
    *,
    subject: Subject,
    title: str,
    project: str,
    tool: str,
    as_of: str | None = None,
    before: FleetSide | None = None,
    changes: Report | None = None,
    pins: Sequence[StackPins] = (),
    ledger: Sequence[FeatureState] = (),
    waivers: Sequence[PacketWaiver] = (),
    findings: Sequence[FindingRow] = (),
) -> FleetReport:
    """The document; everything in it is given, nothing is judged here. Pins, ledger and the like are of `after`."""
    return FleetReport(
        api_version=API_VERSION,
        kind="FleetReport",
        tool=tool,
        project=project,
        subject=subject,
        title=title,
        as_of=as_of,
        before=before,
        after=after,
        changes=changes,
        pins=tuple(pins),
        ledger=tuple(ledger),
        waivers=tuple(waivers),
        findings=tuple(findings),
    )


def build_side(revision: Revision, views: Iterable[ClusterView]) -> FleetSide:
    """A fleet at one time, its clusters as they are given."""
    clusters: list[FleetCluster] = []
    units: list[FleetUnit] = []
    for view in views:
        own = build_units(view, len(units))
        clusters.append(_build_cluster(view, own, len(units)))
        units += own
    return FleetSide(name=revision.name, commit=revision.commit, clusters=tuple(clusters), units=tuple(units))


def _build_cluster(view: ClusterView, units: Sequence[FleetUnit], first: int) -> FleetCluster:
    answer, hardware = view.answer, Hardware(view)
    judgement, rests_on = answer.judgement, _list_assumptions(view)
    given = build_slots(view, hardware, units, first)
    numbers = {one.workload: first + at for at, one in enumerate(units)}
    return FleetCluster(
        name=view.name,
        kubernetes=answer.cluster.minor,
        scenario=answer.demand.scenario,
        demanded=judgement.demanded,
        shortfall=build_range(judgement.shortfall),
        contests=(
            *render_contests(judgement),
            *render_clearings(answer.clearings, judgement.over_demanded),
        ),
        rollouts=tuple(render_rollouts(answer.rollouts, answer.deadlocks)),
        zones=hardware.build_places("zone", hardware.zones),
        families=hardware.build_places("family", hardware.families),
        nodes=hardware.build_nodes(),
        sources=hardware.build_sources(),
        profiles=tuple(hardware.profiles),
        devices=hardware.build_columns(given.units, given.slots),
        slots=given.columns,
        notes=given.notes,
        losses_judged=bool(view.losses.classes),
        loss_classes=tuple(build_loss(one, numbers) for one in view.losses.classes),
        assumptions=rests_on,
    )


def _list_assumptions(view: ClusterView) -> Assumptions:
    """What all of it rests on, the losses and the packing too."""
    asked = ALL_THINGS if view.losses.classes else view.answer.asked
    found = replace(view.answer, asked=asked, slots=view.packed.slots).assumptions
    return Assumptions(modelled=found.modelled, discharged=found.discharged, assumed=found.assumed)
