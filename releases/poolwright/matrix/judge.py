"""Rows held against records: which steps of which combinations somebody carried out, and what is still owed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from poolwright.matrix.fields import Difference, compare
from poolwright.matrix.refuse import check_record
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
    refused: tuple[Finding, ...]  # why records don't count
    records: int  # there are


def judge_matrix(
    rows: Sequence[Row], records: Sequence[Spec[Rehearsal]], *, as_of: dt.date | None, takes_synthetic: bool
) -> Matrix:
    """Find for each step of each row the record that proves it.

    as_of, takes_synthetic: as check_record has them.
    Of several equal records the newest proves, then the first by file; of several that differ the nearest is named:
    the one with the fewest differences, then likewise.
    Cost: rows times the records of the same id.
    """
    refused = {
        record.document.file: check_record(record, as_of=as_of, takes_synthetic=takes_synthetic) for record in records
    }
    by_id: dict[tuple[str, Step], list[Spec[Rehearsal]]] = {}
    for record in records:
        key = (render_id(record.value.spec.combination), record.value.spec.step)
        by_id.setdefault(key, []).append(record)
    return Matrix(
        as_of=as_of,
        rows=tuple(
            RowJudgement(
                row=row, steps=tuple(_judge(row, step, by_id.get((row.id, step), ()), refused) for step in STEPS)
            )
            for row in rows
        ),
        refused=tuple(finding for findings in refused.values() for finding in findings),
        records=len(records),
    )


def can_promote(judged: RowJudgement) -> bool:
    """Whether a row has evidence of every step. Without it a placement on the row runs, and isn't promoted."""
    return not judged.owed


def _judge(
    row: Row, step: Step, records: Iterable[Spec[Rehearsal]], refused: dict[str, list[Finding]]
) -> StepJudgement:
    """records: of the row's id and this step."""
    files = tuple(one.document.file for one in records if refused[one.document.file])
    if row.unresolved:
        return StepJudgement(step=step, status="unresolved", refused=files)
    usable = [one for one in records if not refused[one.document.file]]
    if not usable:
        return StepJudgement(step=step, status="missing", refused=files)
    compared = [(compare(row.combination, one.value.spec.combination), one) for one in usable]
    # The newest first; sorting keeps that order among those that differ in as much.
    compared.sort(key=lambda pair: pair[1].document.file)
    compared.sort(key=lambda pair: pair[1].value.spec.date, reverse=True)
    differences, record = min(compared, key=lambda pair: len(pair[0]))
    status: Status = "stale" if differences else "proven"
    return StepJudgement(step=step, status=status, record=record, differences=differences, refused=files)
