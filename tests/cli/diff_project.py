"""The small fleet for `diff`: two states of it, in a repository, and what is said of the way from one to the other."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from fleet import PLACEMENTS, POOL, edit, read_small_fleet
from made_repository import commit, git, make_repository
from poolwright.changes.report import Report, parse_report
from run_poolwright import run

BASE = read_small_fleet()
MORE = edit(BASE, PLACEMENTS, ("minReplicas: 1", "minReplicas: 3"))
RENAMED = edit(BASE, POOL, ("interactive-80g", "interactive-h100"))  # the placements don't follow
FOLLOWED = edit(RENAMED, PLACEMENTS, ("interactive-80g", "interactive-h100"))
BOTH_WORSE = ("chat/chat-70b 2/2 -> 2-4/4", "chat/chat-70b-next 0-1/1 -> at most 2/3")
ALL_NEW = ("chat/chat-70b none -> 2/2", "chat/chat-70b-next none -> 0-1/1")


class Said(NamedTuple):
    """What a report says in short."""

    code: int
    base: str
    head: str
    workloads: tuple[str, ...] = ()  # whose verdict differs: `chat/chat-70b 2/2 -> 2-4/4`
    codes: tuple[str, ...] = ()  # of findings


def make(folder: Path, prefix: str = "") -> Path:
    """A repository whose branch main has the base, and `more`, which is checked out, three replicas of each model."""
    make_repository(folder)
    for name, files in (("main", BASE), ("more", MORE)):
        if name != "main":
            git(folder, "checkout", "--quiet", "-b", name)
        commit(folder, {f"{prefix}{path}": data for path, data in files.items()}, name)
    return folder


def read(*arguments: str, folder: Path) -> tuple[int, Report]:
    """The exit code and the report."""
    ran = run("diff", "--format", "json", *arguments, folder=folder)
    assert ran.stderr == "", ran
    return ran.code, parse_report(ran.stdout.encode())


def say(*arguments: str, folder: Path) -> Said:
    """The report in short."""
    code, report = read(*arguments, folder=folder)
    sides = [[one and one.counts for one in (row.before, row.after)] for row in report.workloads]
    rows = zip(report.workloads, sides, strict=True)
    return Said(
        code,
        report.base.name,
        report.head.name,
        tuple(f"{row.name} {old or 'none'} -> {new or 'none'}" for row, (old, new) in rows if old != new),
        tuple(one.code for one in report.findings),
    )
