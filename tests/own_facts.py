"""Facts of a team's own, for tests: rows as they ship with some of their fields changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fleet import FACTS, ROOT
from poolwright.catalog.facts import Facts
from poolwright.catalog.own_facts import merge_facts

Row = dict[str, Any]
TABLES = ROOT / "render" / "poolwright" / "catalog" / "tables"
OURS = {"source": "our rehearsal of 2026-11-20", "date": "2026-11-20", "verified": True}


def read_rows(table: str) -> list[Row]:
    """A table's rows as they stand in its file."""
    rows: list[Row] = json.loads((TABLES / f"{table}.json").read_bytes())["facts"]
    return rows


def take(table: str, *, by: Mapping[str, object], **changes: object) -> Row:
    """The one row with these values, without what others say of it, as ours and with other values."""
    (row,) = [row for row in read_rows(table) if all(row.get(name) == value for name, value in by.items())]
    kept = {name: value for name, value in row.items() if name not in ("disagreements", "note")}
    return {**kept, **OURS, **changes}


def write(rows: Sequence[Row]) -> bytes:
    """The text of a file."""
    return json.dumps({"facts": rows}).encode()


def merge(**tables: Sequence[Row]) -> Facts:
    """The facts with rows of ours; a table's name with `_` for `-`."""
    return merge_facts(FACTS, {f"facts/{name.replace('_', '-')}.json": write(rows) for name, rows in tables.items()})
