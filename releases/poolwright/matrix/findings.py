"""What a matrix says is owed, as findings: none of them stops rendering, each of them stops promotion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from poolwright.matrix.fields import list_fields, say_difference
from poolwright.matrix.judge import Matrix, RowJudgement, StepJudgement
from poolwright.matrix.judge_record import JudgedRecord
from poolwright.matrix.row import Row
from poolwright.specs.finding import Finding, sort_findings
from poolwright.specs.place import Place

MAX_NAMES: Final = 3  # units or files that a sentence names
_RULE: Final = "poolwright.dev/v1alpha1"
_BLOCKS: Final = "it is rendered and not promoted"


def list_findings(matrix: Matrix) -> tuple[Finding, ...]:
    """One finding for each step that a row owes, one for a row that isn't exact, and all of records."""
    found = [finding for judged in matrix.rows for finding in _list_of_row(judged)]
    return sort_findings([*found, *list_record_findings(matrix.records)])


def list_record_findings(records: Iterable[JudgedRecord]) -> tuple[Finding, ...]:
    """Why records are refused, and what else their snapshots show, whatever is in use."""
    return sort_findings([finding for one in records for finding in (*one.refused, *one.remarks)])


def summarize_unrehearsed(matrix: Matrix, file: str) -> Finding:
    """In one finding what a project owes that has no record at all.

    file: the Project's.
    """
    rows, steps = len(matrix.rows), sum(len(judged.owed) for judged in matrix.rows)
    combinations = "1 combination is" if rows == 1 else f"{rows} combinations are"
    return Finding(
        code="rehearsal-missing",
        severity="warning",
        place=Place(file),
        what=f"{combinations} in use, and nothing of {steps} steps is rehearsed",
        why=f"whether they work nobody has tried: {_BLOCKS}",
        rule=_RULE,
        fix="see what is owed with `poolwright pin --matrix`, and add a record of each step under rehearsals/",
    )


def _list_of_row(judged: RowJudgement) -> Iterator[Finding]:
    row = judged.row
    if row.unresolved:
        yield Finding(
            code="matrix-unresolved",
            severity="warning",
            place=row.locate(),
            what=f'{row.id} of stack "{row.stack}" is no exact combination: {"; ".join(row.unresolved)}',
            why=f"no record can be equal to it, so {_BLOCKS} ({_say_units(row)})",
            rule=_RULE,
            fix="pin the stack with `poolwright pin`, capture the cluster's devices, or add the hardware to the facts",
        )
        return
    for step in judged.owed:
        yield _build_stale(row, step) if step.status == "stale" else _build_missing(row, step)


def _build_missing(row: Row, judged: StepJudgement) -> Finding:
    refused = ""
    if judged.refused:
        what = "a record of it is" if len(judged.refused) == 1 else f"{len(judged.refused)} records of it are"
        refused = f"; {what} refused: {_join(judged.refused)}"
    combination = ", ".join(f"{field} {text}" for field, text in list_fields(row.combination).items())
    return Finding(
        code="rehearsal-missing",
        severity="warning",
        place=row.locate(judged.step),
        what=f'no rehearsal of the step {judged.step} of {row.id} of stack "{row.stack}"',
        why=f"{_say_units(row)} on it, and whether that works nobody has tried: {_BLOCKS}{refused}",
        rule=_RULE,
        fix=f"carry it out on {combination}, and add the record under rehearsals/",
    )


def _build_stale(row: Row, judged: StepJudgement) -> Finding:
    record = judged.record
    if record is None:
        raise AssertionError(f"{row.id}: a stale step has a record that it differs from")
    differences = "; ".join(map(say_difference, judged.differences))
    return Finding(
        code="rehearsal-stale",
        severity="warning",
        place=row.locate(judged.step),
        what=f'the step {judged.step} of {row.id} of stack "{row.stack}" was rehearsed with {differences}',
        why=f"{_say_units(row)} on it, and a record proves what it was carried out on: {_BLOCKS} "
        f"(nearest record: {record.document.file} of {record.value.spec.date})",
        rule=_RULE,
        fix="carry it out again and add a new record; the old one stays as it is",
    )


def _say_units(row: Row) -> str:
    return f"{_join(row.units)} {'runs' if len(row.units) == 1 else 'run'}"


def _join(names: Iterable[str]) -> str:
    listed = tuple(names)
    more = f" and {len(listed) - MAX_NAMES} more" if len(listed) > MAX_NAMES else ""
    return ", ".join(listed[:MAX_NAMES]) + more
