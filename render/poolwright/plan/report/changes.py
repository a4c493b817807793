"""How a verdict that something changes is said, in every report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

from poolwright.plan.report.sources import build_sources_schema, render_sources, say_reasons
from poolwright.plan.report.words import say_counts, say_word
from poolwright.plan.verdict import Verdict, Word
from poolwright.plan.what_if.change import Change
from poolwright.specs.schema_parts import SchemaPart, build_list, build_object, build_text


def say_change(change: Change) -> Iterator[str]:
    """A verdict before and after, and why not all of it is left, if that is certain."""
    before, after = change.before, change.after
    yield f"{before.workload}  {say_counts(before)} -> {say_counts(after)}  {say_word(after)}"
    if after.word in ("error", "unsatisfied"):
        yield from (f"  {line}" for line in say_reasons(after))


def build_change_json(change: Change) -> dict[str, object]:
    """What `change_schema` describes."""
    return {
        "workload": change.before.workload,
        "before": render_side(change.before),
        "after": render_side(change.after),
        "reasons": list(change.after.reasons),
        **render_sources(change.after),
    }


def change_schema(before: str, after: str) -> SchemaPart:
    """The schema of a change; before and after: what the two sides are."""
    side = build_side()
    return build_object(
        "A workload.",
        {
            "workload": build_text("Namespace and name."),
            "before": build_object(before, side),
            "after": build_object(after, side),
            "reasons": build_list("What the verdict after it comes from.", build_text("A sentence.")),
            **build_sources_schema(),
        },
    )


def build_side() -> dict[str, SchemaPart]:
    """The properties of a verdict in short: see `render_side`."""
    return {
        "verdict": {"description": "The word.", "enum": list(get_args(Word))},
        "counts": build_text("The word in numbers."),
    }


def render_side(verdict: Verdict) -> dict[str, object]:
    """A verdict in short."""
    return {"verdict": verdict.word, "counts": say_counts(verdict)}
