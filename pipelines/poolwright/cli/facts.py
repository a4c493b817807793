"""`poolwright facts`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from poolwright.catalog.facts import FACT_TABLES, Facts
from poolwright.catalog.tables.cells import Cells, build_cells
from poolwright.cli.output import say, tell
from poolwright.files.facts import read_facts
from poolwright.specs.finding import escape_controls

LEDGER: Final = "ledger"  # printed beside the tables, and none of them


class TableEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A table in the list of tables."""

    table: str
    rows: int
    unverified: int  # rows whose source wasn't read itself
    disputed: int  # rows of which another source says something else
    newest: str  # date of the newest source


def run_facts(table: str | None, format: Literal["text", "json"]) -> int:  # noqa: A002 (the option's name)
    """Print a table's rows, or without one the list of tables; 2 if there is no such table."""
    facts = read_facts()
    if table is not None and table not in FACT_TABLES:
        say(f"poolwright facts: there is no table {escape_controls(table)!r}: {', '.join(FACT_TABLES)}\n", error=True)
        return 2
    if format == "json":
        rows = list_tables(facts) if table is None else facts.table(table)
        key = "tables" if table is None else "facts"
        say(msgspec.json.format(msgspec.json.encode({key: rows})).decode() + "\n")
        return 0
    for line in _render_list(list_tables(facts)) if table is None else _render_table(build_cells(facts.table(table))):
        tell(line)
    return 0


def run_ledger(project: str, format: Literal["text", "json"]) -> int:  # noqa: A002 (as above)
    """Print the feature ledger of the project: a row for each alpha or beta feature in use.

    Raises: SpecError if the project has errors.
    """
    from poolwright.catalog.ledger import build_ledger
    from poolwright.catalog.ledger_view import build_ledger_rows, render_ledger
    from poolwright.cli.load import load_project
    from poolwright.files.project import find_project

    loaded = load_project(find_project(project))
    rows = build_ledger(loaded.specs, loaded.facts)
    if format == "json":
        say(msgspec.json.format(msgspec.json.encode({"rows": build_ledger_rows(rows)})).decode() + "\n")
        return 0
    for line in render_ledger(rows):
        tell(line)
    return 0


def list_tables(facts: Facts) -> list[TableEntry]:
    """What there is, in the order of FACT_TABLES."""
    return [
        TableEntry(
            table=name,
            rows=len(rows),
            unverified=sum(not fact.verified for fact in rows),
            disputed=sum(bool(fact.disagreements) for fact in rows),
            newest=max(fact.date for fact in rows),
        )
        for name in FACT_TABLES
        for rows in (facts.table(name),)
    ]


def _render_list(entries: Sequence[TableEntry]) -> Iterator[str]:
    lines = [tuple(map(str, msgspec.structs.astuple(entry))) for entry in entries]
    yield from _align([TableEntry.__struct_fields__, *lines])


def _render_table(cells: Cells) -> Iterator[str]:
    """Aligned rows; beneath a row what other sources say of it, at the end the sources."""
    lines = _align(
        [
            (*cells.columns, "verified", "source"),
            *((*row.cells, "yes" if row.verified else "no", str(row.source)) for row in cells.rows),
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


def _align(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
