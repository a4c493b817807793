"""Reports as small as they can be, and the pages that tests make of them in place of the real ones."""

from __future__ import annotations

import sys
from hashlib import sha256
from types import ModuleType

import pytest

from poolwright.changes.report import KIND, FindingRow, Report, Revision, render_report
from poolwright.comments.marker import Marker, render_marker
from poolwright.specs.model import API_VERSION

HEAD = "a" * 40
BASE = "b" * 40
SAID = FindingRow(
    code="verdict-short",
    severity="error",
    file="specs/a.yaml",
    line=1,
    column=1,
    field="",
    what="what",
    why="why",
    rule="",
    fix="fix",
    waived=None,
)


def build_report(*texts: str, project: str = "fleet", head: str | None = HEAD, changes: bool = True) -> Report:
    """A report that becomes a page for each text."""
    empty: tuple[()] = ()
    return Report(
        api_version=API_VERSION,
        kind=KIND,
        tool="0.1.0",
        project=project,
        as_of="2026-11-30",
        base=Revision(name="main", commit=BASE),
        head=Revision(name="change", commit=head),
        clusters=("east",),
        untouched=empty,
        inventories=empty,
        findings=(SAID,) if changes else empty,
        workloads=empty,
        shortfalls=empty,
        classes=empty,
        moves=empty,
        stranded=empty,
        rollouts=empty,
        taints=empty,
        restarts=empty,
        envelopes=empty,
        prices=empty,
        pins=empty,
        gates=empty,
        ledger=empty,
        lanes=empty,
        waivers=empty,
        steps=empty,
        objects=empty,
        commits=empty,
        assumptions=texts,
    )


def render_pages(report: Report, *, limit: int, project: str, link: str | None = None) -> tuple[str, ...]:
    """A page for each of a report's texts, with what it was made with."""
    digest = sha256(render_report(report)).hexdigest()
    of = len(report.assumptions)
    return tuple(
        f"{render_marker(Marker(project=project, page=page, of=of, report=digest))}\n"
        f"{text}, at most {limit}, see {link}"
        for page, text in enumerate(report.assumptions, 1)
    )


def use_own_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a test knows every body: what pages look like is tested elsewhere."""
    module = ModuleType("poolwright.comments.pages")
    module.build_pages = module.build_summary_pages = render_pages  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "poolwright.comments.pages", module)
