"""The files of a packet, but for those that are about the packet itself."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Sequence

from poolwright.catalog.argocd_closure import ArgocdClosure
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.catalog.ledger import build_ledger
from poolwright.catalog.ledger_rules import list_evidence
from poolwright.changes.finding_rows import build_rows
from poolwright.changes.report import Report, Revision, render_report
from poolwright.cli.built_objects import Workshop
from poolwright.cli.fleet_page import list_features, list_stack_pins
from poolwright.cli.load import LoadedProject
from poolwright.cli.matrix import load_matrix
from poolwright.cli.plan_case import LoadedForPlan
from poolwright.files.project import MAX_EVIDENCE_BYTES, read_named_files, read_rehearsals
from poolwright.kustomize.find import KustomizeError, find_kustomize
from poolwright.matrix.evidence import list_evidence_files
from poolwright.matrix.judge_record import JudgedRecord
from poolwright.matrix.matrix_json import render_matrix_json
from poolwright.objects.argocd import build_argocd
from poolwright.packet.index import PacketIndex, is_packet_path
from poolwright.packet.ledger import build_ledger_document
from poolwright.packet.manifests import list_manifests
from poolwright.packet.parts import PacketPart
from poolwright.packet.prices import build_prices, build_thresholds
from poolwright.pages.build import build_fleet_report, build_side
from poolwright.pages.document import render_report as render_fleet
from poolwright.pages.html import render_page
from poolwright.pages.view import ClusterView
from poolwright.plan.report.plan_json import render_plan_json
from poolwright.receipts.document import render_receipts
from poolwright.receipts.pins import list_pins
from poolwright.receipts.planned import build_planned
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.json_document import render_document
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place
from poolwright.specs.resolve import resolve_cluster
from poolwright.trees.tree import unit_name
from poolwright.trees.yaml_text import render_objects

_EVIDENCE = "evidence"


def list_parts(
    given: LoadedForPlan,
    views: Sequence[ClusterView],
    report: Report,
    records: Sequence[JudgedRecord],
    workshop: Workshop,
    *,
    name: str,
    as_of: dt.date,
) -> list[PacketPart]:
    """Every file whose content follows from the project and from what was judged of it.

    views:    of every cluster, what their requests could choose from counted.
    records:  of the project, judged on that day.
    workshop: that built the units.
    name:     of the release.
    Raises:   SpecError if a file of evidence can't be in a packet.
    """
    loaded = given.project
    answers = [one.answer for one in views]
    prices = {one.name: one.answer.prices or () for one in views}
    matrix = load_matrix(loaded, given.inventories, loaded.lock, records, as_of=as_of)
    ledger = build_ledger_document(build_ledger(loaded.specs, loaded.facts))
    return [
        *_list_manifests(loaded, workshop),
        *(_build_receipts(loaded, one, name) for one in views),
        *_list_evidence(loaded, records),
        PacketPart(path="verdicts.json", role="verdicts", data=render_plan_json(answers).encode()),
        PacketPart(path="prices.json", role="prices", data=render_document(build_prices(prices))),
        PacketPart(path="thresholds.json", role="thresholds", data=render_document(build_thresholds(prices))),
        PacketPart(path="ledger.json", role="ledger", data=render_document(ledger)),
        PacketPart(path="matrix.json", role="matrix", data=render_matrix_json(matrix).encode()),
        PacketPart(path="changes.json", role="changes", data=render_report(report)),
    ]


def build_page(
    loaded: LoadedProject,
    views: Sequence[ClusterView],
    report: Report,
    index: PacketIndex,
    findings: Sequence[Finding],
) -> tuple[PacketPart, PacketPart]:
    """What the page of the release shows, and the page, which follows from that alone.

    findings: everything that was found, waived or not.
    """
    shown = build_fleet_report(
        build_side(Revision(name=index.name, commit=index.source.git_commit), views),
        subject="release",
        title=f"release {index.name}",
        project=index.project,
        tool=index.tool.poolwright,
        as_of=index.as_of,
        changes=report,
        pins=list_stack_pins(loaded.specs, loaded.lock),
        ledger=list_features(loaded),
        waivers=index.waivers,
        findings=build_rows(findings),
    )
    return (
        PacketPart(path="report.json", role="report", data=render_fleet(shown)),
        PacketPart(path="report.html", role="report", data=render_page(shown)),
    )


def name_kustomize(loaded: LoadedProject) -> str | None:
    """The version of Kustomize that teams' own components are built with; None: there are none.

    Raises: SpecError if there is one and no Kustomize.
    """
    if not loaded.customs:
        return None
    found = find_kustomize(None, os.environ)
    if isinstance(found, KustomizeError):
        raise SpecError([_say_no_kustomize(found)])
    return found.version


def _list_manifests(loaded: LoadedProject, workshop: Workshop) -> Iterator[PacketPart]:
    for closure in loaded.closures:
        if isinstance(closure, UnitClosure | PlatformClosure):
            text = workshop.render_objects(closure, loaded.customs)
        elif isinstance(closure, ArgocdClosure):
            text = render_objects(build_argocd(closure))
        else:
            continue
        yield from list_manifests(closure.on.cluster, unit_name(closure).rpartition("/")[2], text)


def _build_receipts(loaded: LoadedProject, view: ClusterView, name: str) -> PacketPart:
    on = resolve_cluster(loaded.specs, view.name)[0]
    if on is None:
        raise AssertionError(f"{view.name}: load_project says so")
    receipts = build_planned(
        view.answer.demand,
        view.answer.judgement,
        cluster=view.name,
        units=view.units,
        prices=view.answer.prices or (),
        pins=list_pins(loaded.lock, on.stack.value.identity),
        release=name,
        losses=view.losses,
        packed=view.packed,
    )
    path = f"receipts/{view.name}.json"
    return PacketPart(path=path, role="receipts", data=render_receipts(receipts), cluster=view.name)


def _list_evidence(loaded: LoadedProject, records: Sequence[JudgedRecord]) -> Iterator[PacketPart]:
    """Records, the snapshots that they name, and what ledgers name, as far as the project has them."""
    paths = {path for one in records for path in list_evidence_files(one.record).values()}
    files = read_named_files(loaded.root, sorted({*paths, *list_evidence(loaded.specs)}), max_bytes=MAX_EVIDENCE_BYTES)
    files = {**read_rehearsals(loaded.root), **files}
    if unusual := [path for path in sorted(files) if not is_packet_path(path)]:
        raise SpecError([_say_unusual(path) for path in unusual])
    for path in sorted(files):
        name = path if path.startswith(f"{_EVIDENCE}/") else f"{_EVIDENCE}/{path}"
        yield PacketPart(path=name, role="evidence", data=files[path])


def _say_unusual(path: str) -> Finding:
    return Finding(
        code="release-path",
        severity="error",
        place=Place(path),
        what="evidence has other characters in its name than letters, digits and ._@+-, or a part with a point first",
        why="a packet's paths are the same on every system, in a tar and in a registry",
        rule="poolwright releases",
        fix="rename it, and what names it",
    )


def _say_no_kustomize(error: KustomizeError) -> Finding:
    return Finding(
        code="custom-build",
        severity="error",
        place=Place(PROJECT_FILE),
        what=error.reason,
        why="teams' own components are applied by real Kustomize, and a release holds what it builds",
        rule="poolwright custom components",
        fix=error.fix,
    )
