"""A lock and its answers, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, get_args

from poolwright.catalog.compatibility import Answer, Word, find_worst
from poolwright.pins.changes import Change
from poolwright.specs.lock import Lock
from poolwright.specs.model import API_VERSION, plain_spec
from poolwright.specs.schema import build_schema
from poolwright.specs.schema_parts import (
    DIALECT,
    SchemaPart,
    build_flag,
    build_list,
    build_maybe,
    build_object,
    build_text,
)

KIND: Final = "PinReport"
Answers = Mapping[str, Sequence[Answer]]  # by stack


def render_changes(changes: Sequence[Change]) -> Iterator[str]:
    """A line for each choice that differs."""
    wide = max((len(one.path) for one in changes), default=0)
    for one in changes:
        moved = one.after if one.before is None else f"{one.before} -> {one.after or 'gone'}"
        yield f"  {one.path:{wide}}  {moved}: {one.reason}"


def render_answers(answers: Answers, unspoken: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """For each stack the word for all together, and beneath it each answer with its row, worst first.

    unspoken: components that nobody says anything of, by stack.
    The rows' sources are in the tables: `poolwright facts operator-lines`. Only a project's own are named here.
    """
    order = {word: number for number, word in enumerate(_ORDER)}
    for stack, found in answers.items():
        silent = unspoken.get(stack, ())
        beside = f", and nobody says anything of {', '.join(silent)}" if silent else ""
        yield f"stack {stack}: {find_worst(found)}{beside}"
        rows = sorted(found, key=lambda one: order[one.word])
        wide = max((len(one.subject) for one in rows), default=0)
        for one in rows:
            unsure = "" if one.verified else ", not verified"
            own = f", the project's own: {one.source}" if one.own else ""
            yield f"  {one.word:11}  {one.subject:{wide}}  {one.why} ({one.row}{unsure}{own})"


_ORDER: Final[tuple[Word, ...]] = ("unsupported", "disputed", "unlisted", "supported")


def render_report_json(
    lock: Lock,
    changes: Sequence[Change],
    answers: Answers,
    unspoken: Mapping[str, Sequence[str]],
    *,
    written: bool,
) -> str:
    """The document that `pin_schema` describes."""
    document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "written": written,
        "changes": [
            {"path": one.path, "before": one.before, "after": one.after, "reason": one.reason} for one in changes
        ],
        "stacks": [
            {
                "name": stack,
                "answer": find_worst(found),
                "answers": [
                    {
                        "subject": one.subject,
                        "answer": one.word,
                        "why": one.why,
                        "row": one.row,
                        "source": one.source,
                        "date": one.date,
                        "verified": one.verified,
                        "own": one.own,
                    }
                    for one in found
                ],
                "unspoken": list(unspoken.get(stack, ())),
            }
            for stack, found in answers.items()
        ],
        "lock": plain_spec(lock),
    }
    return json.dumps(document, indent=2) + "\n"


def pin_schema() -> SchemaPart:
    """The JSON Schema (draft 2020-12) of the report. Every property is always present."""
    words = list(get_args(Word))
    change = build_object(
        "A choice that differs from the lock as it was.",
        {
            "path": build_text("The keys that lead to it, with points between them."),
            "before": build_maybe("string", "What was chosen; null: it is new."),
            "after": build_maybe("string", "What is chosen; null: it is gone."),
            "reason": build_text("Why."),
        },
    )
    answer = build_object(
        "What is said of two versions, or of one.",
        {
            "subject": build_text("Which."),
            "answer": {"description": "The word.", "enum": words},
            "why": build_text("What is listed."),
            "row": build_text("The row of the facts that says so."),
            "source": build_text("What the row rests on; empty: nothing is listed."),
            "date": build_text("The day whose state of it was read."),
            "verified": build_flag("Whether the source itself was read."),
            "own": build_flag("Whether the row is the project's own."),
        },
    )
    stack = build_object(
        "A stack.",
        {
            "name": build_text("Its name."),
            "answer": {"description": "The worst of its answers.", "enum": words},
            "answers": build_list("What is said of its versions.", answer),
            "unspoken": build_list(
                "Components of which nobody says anything; they count in no answer.", build_text("Name and version.")
            ),
        },
    )
    lock = build_schema("Lock")
    return {
        "$schema": DIALECT,
        "title": KIND,
        **build_object(
            "What `poolwright pin --format json` prints.",
            {
                "apiVersion": {"description": "Version of this format.", "const": API_VERSION},
                "kind": {"description": "What this document is.", "const": KIND},
                "written": build_flag("Whether poolwright.lock was written; with --check it never is."),
                "changes": build_list("Choices that differ from the lock as it was.", change),
                "stacks": build_list("Whether versions go together.", stack),
                "lock": {"description": lock.get("description", ""), "type": "object"},
            },
        ),
    }
