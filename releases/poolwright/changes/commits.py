"""Commits on the way: two safe ends can hide an unsafe middle, which is synced if somebody merges commit by commit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from poolwright.changes.finding_rows import build_rows, sort_rows
from poolwright.changes.report import CommitAnswer, Report
from poolwright.changes.verdicts import RULE
from poolwright.specs.finding import Finding
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

_OF_THE_WHOLE: Final = ("step-too-small",)  # a version moves once, somewhere on the way
_MAX_PROBLEMS: Final = 3  # in a sentence


def list_problems(report: Report) -> tuple[str, ...]:
    """What is wrong with a state that somebody might sync, and wasn't on the base."""
    return tuple(
        f"{one.what} [{one.code}]"
        for one in report.findings
        if one.severity == "error" and one.code not in _OF_THE_WHOLE
    )


def add_commits(report: Report, commits: Iterable[CommitAnswer]) -> Report:
    """The same report with the commits between, and an error for each that isn't safe."""
    answers = tuple(commits)
    rows = sort_rows([*report.findings, *build_rows(_check(answers))])
    return replace(report, commits=answers, findings=rows)


def _check(commits: Iterable[CommitAnswer]) -> Iterator[Finding]:
    for one in commits:
        if one.is_safe:
            continue
        more = len(one.problems) - _MAX_PROBLEMS
        yield Finding(
            code="commit-unsafe",
            severity="error",
            place=Place(PROJECT_FILE),
            what=f"commit {one.commit[:12]} ({one.subject}) isn't safe by itself: "
            f"{'; '.join(one.problems[:_MAX_PROBLEMS])}{f'; and {more} more' if more > 0 else ''}",
            why="if it is synced before those that follow, this is what the clusters are left with meanwhile",
            rule=RULE,
            fix="make one commit of it and what mends it, or add what is new before what is old goes",
        )
