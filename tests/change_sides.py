"""Sides of a change from files in memory, as `diff` reads and judges them, and the report of what lies between."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Sequence
from pathlib import Path

from fleet import Files
from folders import write_files
from poolwright.changes.build_report import build_report
from poolwright.changes.finding_rows import parse_rows
from poolwright.changes.report import Report, Revision
from poolwright.changes.side import Side
from poolwright.cli.object_files import read_objects
from poolwright.cli.progress import Progress
from poolwright.cli.sides import SideReader
from poolwright.specs.finding import render_text

AS_OF = dt.date(2026, 11, 30)
BASE = Revision(name="main", commit=None)
HEAD = Revision(name="change", commit=None)


def read_sides(
    before: Files, after: Files, *, live: Sequence[str] = (), cluster: str | None = None, is_project: bool = True
) -> tuple[Side, Side]:
    """Both sides, their clusters judged.

    live: files that hold a cluster as it runs; the one that there is, if none is named.
    """
    with tempfile.TemporaryDirectory() as room, Progress() as progress:
        reader = SideReader(progress, read_objects(live) if live else None)
        folders = [write_files(Path(room) / name, files) for name, files in (("base", before), ("head", after))]
        old, new = (
            reader.read(str(folder), revision, is_project=is_project)
            for folder, revision in zip(folders, (BASE, HEAD), strict=True)
        )
        reader.choose_live(old, new, cluster)
        one, other, _ = reader.judge(old, new)
    return one, other


def compare(
    before: Files, after: Files, *, live: Sequence[str] = (), cluster: str | None = None, is_project: bool = True
) -> Report:
    """The report of a change from some files to others."""
    old, new = read_sides(before, after, live=live, cluster=cluster, is_project=is_project)
    return build_report(old, new, as_of=AS_OF, tool="0")


def say_findings(report: Report, *codes: str) -> str:
    """The findings with these codes, or all, as they are printed."""
    return render_text([one for one in parse_rows(report.findings) if not codes or one.code in codes])
