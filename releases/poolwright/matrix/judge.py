"""Rows held against records: which steps of which combinations somebody carried out, and what is still owed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from poolwright.matrix.fields import Difference, compare
from poolwright.matrix.judge_record import JudgedRecord, list_counted
from poolwright.matrix.row import Row, render_id
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.rehearsal import STEPS, Rehearsal, Step

# Proven: by an equal record. Stale: records of the row there are, and none is equal. Unresolved: the row isn't known.
Status = Literal["proven", "stale", "missing", "unresolved"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepJudgement:
    """What there is of one step of a row."""

    step: Step
    status: Status
    record: Spec[Rehearsal] | None = None  # what proves it; of a stale one the nearest; else None
    differences: tuple[Difference, ...] = ()  # of a stale one, from that record
    refused: tuple[str, ...] = ()  # files of records of this step and row that don't count


@dataclass(frozen=True, slots=True, kw_only=True)
class RowJudgement:
    """What there is of a row."""

    row: Row
    steps: tuple[StepJudgement, ...]  # all four, in the order of STEPS

    @property
    def owed(self) -> tuple[StepJudgement, ...]:
        """The steps that nothing proves."""
        return tuple(step for step in self.steps if step.status != "proven")


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The rows of a project with their evidence."""

    as_of: dt.date | None  # the day it is judged on; None: dates weren't compared
    rows: tuple[RowJudgement, ...]
    records: tuple[JudgedRecord, ...]  # by file

    @property
    def refused(self) -> tuple[Finding, ...]:
        """Why records don't count."""
        return tuple(finding for one in self.records for finding in one.refused)


def judge_matrix(rows: Sequence[Row], records: Sequence[JudgedRecord], *, as_of: dt.date | None) -> Matrix:
    """Find for each step of each row the record that proves it.

    as_of: the day that records were judged on.
    Of several equal records the newest proves, then the first by file; of several that differ the nearest is named:
    the one with the fewest differences, then likewise.
    Cost: rows times the records of the same id.
    """
    by_id: dict[tuple[str, Step], list[JudgedRecord]] = {}
    for one in records:
        spec = one.record.value.spec
        by_id.setdefault((render_id(spec.combination), spec.step), []).append(one)
    return Matrix(
        as_of=as_of,
        rows=tuple(
            RowJudgement(row=row, steps=tuple(_judge(row, step, by_id.get((row.id, step), ())) for step in STEPS))
            for row in rows
        ),
        records=tuple(sorted(records, key=lambda one: one.file)),
    )


def can_promote(judged: RowJudgement) -> bool:
    """Whether a row has evidence of every step. Without it a placement on the row runs, and isn't promoted."""
    return not judged.owed


def _judge(row: Row, step: Step, records: Iterable[JudgedRecord]) -> StepJudgement:
    """records: of the row's id and this step."""
    files = tuple(one.file for one in records if not one.counts)
    if row.unresolved:
        return StepJudgement(step=step, status="unresolved", refused=files)
    usable = list_counted(records)
    if not usable:
        return StepJudgement(step=step, status="missing", refused=files)
    compared = [(compare(row.combination, one.value.spec.combination), one) for one in usable]
    # The newest first; sorting keeps that order among those that differ in as much.
    compared.sort(key=lambda pair: pair[1].document.file)
    compared.sort(key=lambda pair: pair[1].value.spec.date, reverse=True)
    differences, record = min(compared, key=lambda pair: len(pair[0]))
    status: Status = "stale" if differences else "proven"
    return StepJudgement(step=step, status=status, record=record, differences=differences, refused=files)
