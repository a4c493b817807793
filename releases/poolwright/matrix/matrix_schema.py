"""The published JSON Schema of a matrix."""

from __future__ import annotations

from typing import get_args

from poolwright.matrix.judge import Status
from poolwright.matrix.matrix_json import KIND
from poolwright.specs.model import API_VERSION
from poolwright.specs.rehearsal import STEPS
from poolwright.specs.report import finding_rows_schema
from poolwright.specs.schema_parts import (
    DIALECT,
    SchemaPart,
    build_count,
    build_flag,
    build_list,
    build_maybe,
    build_object,
    build_text,
)


def matrix_schema() -> SchemaPart:
    """The JSON Schema (draft 2020-12) of the document. Every property is always present."""
    return {
        "$schema": DIALECT,
        "title": KIND,
        **build_object(
            "Which combinations a project has in use and which steps of them are rehearsed.",
            {
                "apiVersion": {"description": "Version of this format.", "const": API_VERSION},
                "kind": {"description": "What this document is.", "const": KIND},
                "asOf": build_maybe("string", "The day it is judged on, YYYY-MM-DD; null: dates weren't compared."),
                "records": build_count("Records that there are."),
                "rows": build_list("By stack and id.", _row()),
                "evidence": build_list("What the snapshots of each record show, by its file.", _evidence()),
                "findings": finding_rows_schema(),
            },
        ),
    }


def _row() -> SchemaPart:
    combination: SchemaPart = {
        "description": "What runs together, by field; versions are as they are pinned, or as the stack writes them.",
        "type": "object",
        "additionalProperties": {"type": "string"},
    }
    return build_object(
        "A combination that is in use.",
        {
            "stack": build_text("The stack whose versions it has."),
            "id": build_text("matrix[HARDWARE/MODE/CLAIM PATTERN/IMAGE], unique within the stack."),
            "canPromote": build_flag("Every step is proven."),
            "units": build_list("CLUSTER/UNIT of the placements that use it, sorted.", build_text("A placement.")),
            "combination": combination,
            "unresolved": build_list("What keeps it from being one exact combination.", build_text("A reason.")),
            "steps": build_list("All four, in their order.", _step()),
        },
    )


def _step() -> SchemaPart:
    difference = build_object(
        "A field that isn't equal.",
        {
            "field": build_text("Which one."),
            "wanted": build_text("What the row has; none: nothing."),
            "rehearsed": build_text("What the record has; none: nothing."),
        },
    )
    return build_object(
        "What there is of one step.",
        {
            "step": {"description": "Which one.", "enum": list(STEPS)},
            "status": {
                "description": "proven by an equal record; stale: only others; missing: no record that counts; "
                "unresolved: the row isn't one exact combination.",
                "enum": list(get_args(Status)),
            },
            "record": build_maybe("string", "The file that proves it, or of a stale one the nearest; else null."),
            "date": build_maybe("string", "The day of that record; else null."),
            "differences": build_list("Of a stale one, from that record.", difference),
            "refused": build_list("Files of records of it that don't count, sorted.", build_text("A file.")),
        },
    )


def _evidence() -> SchemaPart:
    return build_object(
        "A record and its snapshots.",
        {
            "record": build_text("The record's file."),
            "counts": build_flag("It isn't refused, by what it says or by its snapshots."),
            "snapshots": build_text("What they show, or why that isn't known here, in a sentence."),
            "missing": build_list("Snapshots that aren't in the project.", build_text("A file.")),
        },
    )
