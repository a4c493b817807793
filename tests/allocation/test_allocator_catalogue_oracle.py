"""The rows of the allocator's tables are what upstream's own allocator answers, steps and messages included."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from case_values import Json, normalise
from catalogue_run import answer, minor_of
from catalogue_world import RELEASED, Row
from upstream_allocator import ask_upstream, build_upstream

from poolwright.allocation.features import MINORS

MODULES = sorted(path.stem for path in Path(__file__).parent.glob("test_allocator_*.py") if path != Path(__file__))


def collect_rows() -> dict[str, Row]:
    """Every row of every table, by its name; a name stands once."""
    tables = [
        table
        for module in MODULES
        for table in vars(importlib.import_module(module)).values()
        if isinstance(table, Mapping) and table and all(isinstance(row, Row) for row in table.values())
    ]
    rows = {name: row for table in tables for name, row in table.items()}
    assert len(rows) == sum(map(len, tables))
    return rows


def released_runs(minor: str) -> list[tuple[str, Row, str]]:
    """The rows that say what a minor does as it was released, and the name of that run."""
    run = minor if minor == "1.37" else f"{minor}{RELEASED}"
    return [(name, row, run) for name, row in collect_rows().items() if run in row.runs]


# What follows isn't compared: the two CEL implementations word it differently, or only a server would say it.
OTHER_WORDS = ("compile error:", "runtime error:", "could not retrieve device class a:")


def same_text(ours: Json, upstream: Json) -> Json:
    """Ours, with upstream's message if the two differ only in their words. Until 1.36 it doesn't name the device."""
    message, theirs = ours.get("error", ""), upstream.get("error", "")
    if not message:
        return ours
    # Of All it names the device without its pool.
    if re.sub(r"(checking capacity for device) [^/]+/.+/([^/:]+:)", r"\1 \2", message) == theirs:
        return {**ours, "error": theirs}
    for mark in OTHER_WORDS:
        start = message.partition(mark)[0] + mark
        if mark in message and theirs.startswith((start, re.sub(r" on device \S+(?=: CEL)", "", start))):
            return {**ours, "error": theirs}
    return ours


@pytest.mark.oracle
@pytest.mark.parametrize("minor", MINORS)
def test_rows_are_what_upstream_answers(minor: str, tmp_path: Path) -> None:
    runs = released_runs(minor)
    program = build_upstream(minor, tmp_path)
    cases = [{**row.world.build_case(minor_of(run)), "id": name} for name, row, run in runs]
    differences = {}
    for (name, row, run), case, asked in zip(runs, cases, ask_upstream(program, cases), strict=True):
        upstream = normalise(asked)
        if upstream["outcome"] == "error":
            upstream = {"outcome": "error", "error": asked["error"]}
        for said in (answer(case, run), row.expected(run)):
            wanted = {key: value for key, value in upstream.items() if key != "steps" or "steps" in said}
            if same_text(said, wanted) != wanted:
                differences[name] = (said, wanted)
    assert not differences
