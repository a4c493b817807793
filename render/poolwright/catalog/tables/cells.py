"""Facts as the cells of a readable table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from poolwright.catalog.facts import Fact

_ASIDE = frozenset(Fact.__struct_encode_fields__)  # shown for every table, in their own way


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A fact as text."""

    cells: tuple[str, ...]  # one for each column; "-": not found, or doesn't apply; "?" at the end: not verified
    verified: bool
    source: int  # place in the table's sources, from 1
    remarks: tuple[str, ...]  # what other sources say, then the note
    is_own: bool  # a project's own


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """A table as text."""

    columns: tuple[str, ...]  # fields that some row fills, in their order, named as in the table
    rows: tuple[Row, ...]
    sources: tuple[str, ...]  # each with its date, in the order of first use


def build_cells(facts: Sequence[Fact], own: Collection[int] = ()) -> Cells:
    """A table's facts as text; all facts are of one type.

    own: places of those that are a project's own.
    """
    values = [dict(zip(fact.__struct_encode_fields__, msgspec.structs.astuple(fact), strict=True)) for fact in facts]
    aside = {*_ASIDE, *(f"{name}Verified" for name in values[0])} if values else _ASIDE
    columns = tuple(
        name for name in (values[0] if values else ()) if name not in aside and any(_says(row[name]) for row in values)
    )
    sources = list(dict.fromkeys(_source(fact) for fact in facts))
    rows = (
        Row(
            cells=tuple(_text(row[name], verified=row.get(f"{name}Verified", True) is True) for name in columns),
            verified=fact.verified,
            source=sources.index(_source(fact)) + 1,
            remarks=(
                *(f"disputed: {other.field} {other.value} ({other.source})" for other in fact.disagreements),
                *([f"note: {fact.note}"] if fact.note else []),
            ),
            is_own=index in own,
        )
        for index, (fact, row) in enumerate(zip(facts, values, strict=True))
    )
    return Cells(columns=columns, rows=tuple(rows), sources=tuple(sources))


def _says(value: object) -> bool:
    return value is not None and value not in ((), {})


def _source(fact: Fact) -> str:
    return f"{fact.source} ({fact.date})"


def _text(value: object, *, verified: bool) -> str:
    if not _says(value) or value == "":
        return "-"
    if isinstance(value, bool):
        text = "yes" if value else "no"
    elif isinstance(value, Mapping):
        text = ", ".join(f"{name}: {item}" for name, item in value.items())
    else:
        text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return text if verified else f"{text}?"
