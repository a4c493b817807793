"""A matrix as a terminal shows it."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.matrix.evidence import say_evidence
from poolwright.matrix.fields import list_fields
from poolwright.matrix.judge import Matrix, RowJudgement, StepJudgement
from poolwright.specs.finding import escape_controls

# Fields that a row's id says.
_IN_ID = ("hardware.model", "hardware.mode", "claimPattern")


def render_matrix_text(matrix: Matrix) -> Iterator[str]:
    """Lines: each stack with its versions, each row with its records, snapshots, what is owed; controls escaped."""
    yield from map(escape_controls, _render(matrix))


def _render(matrix: Matrix) -> Iterator[str]:
    stack = ""
    for judged in matrix.rows:
        if judged.row.stack != stack:
            stack = judged.row.stack
            yield f"stack {stack}: {_say_versions(judged)}"
        yield from _render_row(judged)
    if matrix.records:
        yield "snapshots that records name"
        yield from (f"  {one.file}: {say_evidence(one.evidence)}" for one in matrix.records)
    owed = sum(len(judged.owed) for judged in matrix.rows)
    total = sum(len(judged.steps) for judged in matrix.rows)
    day = "" if matrix.as_of is None else f" as of {matrix.as_of}"
    yield f"{owed} of {total} steps are owed{day}; {len(matrix.records)} records, {_count_refused(matrix)} refused"


def _render_row(judged: RowJudgement) -> Iterator[str]:
    row, proven = judged.row, len(judged.steps) - len(judged.owed)
    image = row.combination.serving_image
    head = f"  {row.id}: {image.name} {image.version}, for {', '.join(row.units)}"
    if row.unresolved:
        yield f"{head}; unresolved"
        yield from (f"    {reason}" for reason in row.unresolved)
        return
    yield f"{head}; {proven} of {len(judged.steps)} proven"
    width = max(len(step.step) for step in judged.steps)
    yield from (f"    {step.step:{width}}  {_say_step(step)}" for step in judged.steps)


def _say_step(judged: StepJudgement) -> str:
    record = judged.record
    if record is None:
        refused = f"; refused: {', '.join(judged.refused)}" if judged.refused else ""
        return f"missing{refused}"
    said = f"{record.value.spec.date} by {record.value.spec.by} on {record.value.spec.cluster_name}"
    if judged.status == "proven":
        return f"proven   {said} ({record.document.file})"
    differences = "; ".join(f"{one.field} was {one.rehearsed}, is {one.wanted}" for one in judged.differences)
    return f"stale    {said} ({record.document.file}): {differences}"


def _say_versions(judged: RowJudgement) -> str:
    fields = list_fields(judged.row.combination).items()
    shared = (one for one in fields if one[0] not in _IN_ID and not one[0].startswith("servingImage."))
    return ", ".join(f"{field} {text}" for field, text in shared)


def _count_refused(matrix: Matrix) -> int:
    return sum(not one.counts for one in matrix.records)
