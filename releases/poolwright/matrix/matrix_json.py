"""A matrix for other tools: JSON by a published schema."""

from __future__ import annotations

import json
from typing import Final

from poolwright.matrix.evidence import say_evidence
from poolwright.matrix.fields import list_fields
from poolwright.matrix.findings import list_findings
from poolwright.matrix.judge import Matrix, RowJudgement, StepJudgement, can_promote
from poolwright.matrix.judge_record import JudgedRecord
from poolwright.specs.model import API_VERSION
from poolwright.specs.report import build_finding_rows

KIND: Final = "RehearsalMatrix"


def render_matrix_json(matrix: Matrix) -> str:
    """The document that `matrix_schema` describes, in ASCII, ended by a line break. Texts are exact."""
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "asOf": None if matrix.as_of is None else matrix.as_of.isoformat(),
        "records": len(matrix.records),
        "rows": [_build_row(judged) for judged in matrix.rows],
        "evidence": [_build_evidence(one) for one in matrix.records],
        "findings": build_finding_rows(list_findings(matrix)),
    }
    return json.dumps(document, indent=2) + "\n"


def _build_row(judged: RowJudgement) -> dict[str, object]:
    row = judged.row
    return {
        "stack": row.stack,
        "id": row.id,
        "canPromote": can_promote(judged),
        "units": list(row.units),
        "combination": list_fields(row.combination),
        "unresolved": list(row.unresolved),
        "steps": [_build_step(step) for step in judged.steps],
    }


def _build_step(judged: StepJudgement) -> dict[str, object]:
    return {
        "step": judged.step,
        "status": judged.status,
        "record": None if judged.record is None else judged.record.document.file,
        "date": None if judged.record is None else judged.record.value.spec.date,
        "differences": [
            {"field": one.field, "wanted": one.wanted, "rehearsed": one.rehearsed} for one in judged.differences
        ],
        "refused": list(judged.refused),
    }


def _build_evidence(judged: JudgedRecord) -> dict[str, object]:
    return {
        "record": judged.file,
        "counts": judged.counts,
        "snapshots": say_evidence(judged.evidence),
        "missing": list(judged.evidence.missing),
    }
