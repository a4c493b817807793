"""What the page of a fleet is made from: each cluster packed, and its losses judged, once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from poolwright.catalog.ledger import build_ledger
from poolwright.changes.finding_rows import build_rows
from poolwright.changes.report import FindingRow, Revision
from poolwright.changes.side import ClusterSide, Side
from poolwright.cli.built_objects import Workshop, list_cluster_objects
from poolwright.cli.load import LoadedProject
from poolwright.cli.plan_case import LoadedForPlan
from poolwright.cli.progress import Progress
from poolwright.cli.sides import Compared
from poolwright.cli.version import package_version
from poolwright.objects.kubernetes import Object
from poolwright.packet.index import PacketWaiver
from poolwright.packet.ledger import FeatureState, build_ledger_document
from poolwright.pages.build import build_fleet_report, build_side
from poolwright.pages.document import FleetReport, StackPins
from poolwright.pages.view import ClusterView
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.slots import pack_slots
from poolwright.plan.what_if.clearing import judge_clearing
from poolwright.plan.what_if.mend import find_mends
from poolwright.receipts.losses import ALL_THINGS, LossBook, judge_book
from poolwright.receipts.pins import list_pins
from poolwright.receipts.units import list_units
from poolwright.specs.lock import Lock
from poolwright.specs.parse import Specs
from poolwright.specs.resolve import resolve_cluster


def build_view(
    answer: ClusterAnswer,
    specs: Specs,
    objects: Mapping[str, tuple[Object, ...]],
    *,
    losses: bool = True,
    counts: bool = False,
) -> ClusterView:
    """A cluster that starts empty, as it is shown.

    losses: whether they are judged.
    counts: whether slots say what each request could choose from, for receipts.
    """
    demand, name = answer.demand, answer.cluster.name
    return ClusterView(
        answer=answer,
        packed=pack_slots(demand, name, counts=counts),
        losses=judge_book(demand, answer.judgement, things=ALL_THINGS) if losses else LossBook(),
        units=list_units(specs, name),
        objects=objects,
    )


def build_plan_page(
    given: LoadedForPlan, answers: Sequence[ClusterAnswer], workshop: Workshop, progress: Progress
) -> FleetReport:
    """The page of a plan. answers: of clusters that start empty. workshop: that built them."""
    loaded, views = given.project, []
    for one in answers:
        name = one.cluster.name
        progress.tell(f"{name}: judging losses")
        objects = list_cluster_objects(workshop, loaded.closures, loaded.customs, name)
        views.append(build_view(one, loaded.specs, objects))
    project = loaded.specs.project.value.identity
    return build_fleet_report(
        build_side(Revision(name="plan", commit=None), views),
        subject="plan",
        title=f"plan of {project}",
        project=project,
        tool=package_version(),
        pins=list_stack_pins(loaded.specs, loaded.lock),
        ledger=list_features(loaded),
        findings=build_rows(finding for one in answers for finding in one.findings),
    )


def build_diff_page(compared: Compared, progress: Progress, *, losses: bool) -> FleetReport:
    """The page of a change: its clusters before and after, those that neither side has alike.

    losses: whether they are judged, on both sides.
    """
    report, given = compared.report, compared.given
    loaded = None if given is None else given.project
    before, after = (
        build_side(
            side.revision, [_view_side(one, side, compared, progress, losses=losses) for one in side.clusters.values()]
        )
        for side in (compared.before, compared.after)
    )
    return build_fleet_report(
        after,
        before=before,
        subject="diff",
        title=f"{report.base.name} to {report.head.name}",
        project=report.project,
        tool=report.tool,
        as_of=report.as_of,
        changes=report,
        pins=() if loaded is None else list_stack_pins(loaded.specs, loaded.lock),
        ledger=() if loaded is None else list_features(loaded),
        waivers=tuple(list_waived(report.findings)),
        findings=report.findings,
    )


def _view_side(
    cluster: ClusterSide, side: Side, compared: Compared, progress: Progress, *, losses: bool
) -> ClusterView:
    """A cluster of a change; what would mend it is looked for on the head alone."""
    progress.tell(f"{cluster.name}: placing what {side.revision.name} asks for")
    demand, judgement = cluster.demand, cluster.judgement
    answer = ClusterAnswer(cluster=cluster.plan, demand=demand, judgement=judgement, prices=cluster.prices)
    if side is compared.after and any(one.word != "always-fits" for one in judgement.verdicts):
        choices = {} if compared.given is None else compared.given.list_class_choices(cluster.name)
        answer = replace(
            answer, clearings=judge_clearing(demand, judgement), mends=find_mends(demand, judgement, choices)
        )
    return build_view(answer, side.specs, cluster.objects, losses=losses)


def list_features(loaded: LoadedProject) -> tuple[FeatureState, ...]:
    """Alpha and beta features in use."""
    return build_ledger_document(build_ledger(loaded.specs, loaded.facts)).features


def list_waived(findings: Iterable[FindingRow]) -> Iterator[PacketWaiver]:
    """What somebody answers for."""
    for one in findings:
        if one.waived is not None:
            yield PacketWaiver(
                rule=one.code,
                file=one.file,
                what=one.what,
                reason=one.waived.reason,
                owner=one.waived.owner,
                expires=one.waived.expires,
            )


def list_stack_pins(specs: Specs, lock: Lock | None) -> tuple[StackPins, ...]:
    """What the lock pins, by stack."""
    clusters: dict[str, list[str]] = {}
    for one in specs.project.value.spec.clusters:
        on = resolve_cluster(specs, one.name)[0]
        if on is not None:
            clusters.setdefault(on.stack.value.identity, []).append(one.name)
    return tuple(
        StackPins(stack=stack, clusters=tuple(clusters[stack]), pins=list_pins(lock, stack))
        for stack in sorted(clusters)
    )
