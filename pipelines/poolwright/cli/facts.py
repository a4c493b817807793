"""`poolwright facts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from poolwright.catalog.facts import FACT_TABLES, Facts
from poolwright.catalog.tables.cells import Cells, Row, build_cells
from poolwright.cli.output import say, tell
from poolwright.files.facts import read_facts
from poolwright.files.project import find_project
from poolwright.specs.finding import escape_controls

LEDGER: Final = "ledger"  # printed beside the tables, and none of them


class TableEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A table in the list of tables."""

    table: str
    rows: int
    unverified: int  # rows whose source wasn't read itself
    disputed: int  # rows of which another source says something else
    newest: str  # date of the newest source
    own: int = 0  # rows that the project added or overrode


def run_facts(
    table: str | None,
    format: Literal["text", "json"],  # noqa: A002 (the option's name)
    project: str | None = None,
) -> int:
    """Print a table's rows, or without one the list of tables; 2 if there is no such table.

    project: a folder in the project whose own facts count too; None: those that ship.
    Raises:  SpecError if there is no such project, or its facts can't be used.
    """
    facts = read_facts(find_project(project) if project is not None else None)
    if table is not None and table not in FACT_TABLES:
        say(f"poolwright facts: there is no table {escape_controls(table)!r}: {', '.join(FACT_TABLES)}\n", error=True)
        return 2
    if format == "json":
        document = {"tables": list_tables(facts)} if table is None else {"facts": _mark_rows(facts, table)}
        say(msgspec.json.format(msgspec.json.encode(document)).decode() + "\n")
        return 0
    if table is None:
        lines = _render_list(list_tables(facts), with_own=project is not None)
    else:
        lines = _render_table(build_cells(facts.table(table), facts.own_rows(table)))
    for line in lines:
        tell(line)
    return 0


def run_ledger(project: str, format: Literal["text", "json"]) -> int:  # noqa: A002 (as above)
    """Print the feature ledger of the project: a row for each alpha or beta feature in use.

    Raises: SpecError if the project has errors.
    """
    from poolwright.catalog.ledger import build_ledger
    from poolwright.catalog.ledger_view import build_ledger_rows, render_ledger
    from poolwright.cli.load import load_project

    loaded = load_project(find_project(project))
    rows = build_ledger(loaded.specs, loaded.facts)
    if format == "json":
        say(msgspec.json.format(msgspec.json.encode({"rows": build_ledger_rows(rows)})).decode() + "\n")
        return 0
    for line in render_ledger(rows):
        tell(line)
    return 0


def _mark_rows(facts: Facts, table: str) -> list[object]:
    """The rows, with `own: true` in a project's own."""
    own = facts.own_rows(table)
    return [
        {**msgspec.to_builtins(fact), "own": True} if index in own else fact
        for index, fact in enumerate(facts.table(table))
    ]


def list_tables(facts: Facts) -> list[TableEntry]:
    """What there is, in the order of FACT_TABLES."""
    return [
        TableEntry(
            table=name,
            rows=len(rows),
            unverified=sum(not fact.verified for fact in rows),
            disputed=sum(bool(fact.disagreements) for fact in rows),
            newest=max(fact.date for fact in rows),
            own=len(facts.own_rows(name)),
        )
        for name in FACT_TABLES
        for rows in (facts.table(name),)
    ]


def _render_list(entries: Sequence[TableEntry], *, with_own: bool) -> Iterator[str]:
    columns = [name for name in TableEntry.__struct_fields__ if with_own or name != "own"]
    yield from _align([columns, *([str(getattr(entry, name)) for name in columns] for entry in entries)])


def _render_table(cells: Cells) -> Iterator[str]:
    """Aligned rows; beneath a row what other sources say of it, at the end the sources."""
    has_own = any(row.is_own for row in cells.rows)
    lines = _align(
        [
            (*cells.columns, "verified", "source", *(["own"] if has_own else [])),
            *(
                (*row.cells, "yes" if row.verified else "no", str(row.source), *_mark(row, has_own=has_own))
                for row in cells.rows
            ),
        ]
    )
    yield next(lines)
    for line, row in zip(lines, cells.rows, strict=True):
        yield line
        for remark in row.remarks:
            yield f"    {remark}"
    yield ""
    if any(cell.endswith("?") for row in cells.rows for cell in row.cells):
        yield "?: this value isn't verified"
    for number, source in enumerate(cells.sources, 1):
        yield f"source {number}: {source}"


def _mark(row: Row, *, has_own: bool) -> tuple[str, ...]:
    return ("own" if row.is_own else "",) if has_own else ()


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
