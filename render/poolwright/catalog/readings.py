"""Rows that sources print differently: each source's reading, and what is said where their answers differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import msgspec

from poolwright.catalog.fact_forms import Form, list_forms
from poolwright.catalog.facts import Disagreement, Fact
from poolwright.specs.finding import Finding

F = TypeVar("F", bound=Fact)
A = TypeVar("A")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading(Generic[F]):
    """Rows as another source prints one of them."""

    rows: tuple[F, ...]
    source: str  # who prints it so
    index: int  # of the row
    changes: Mapping[str, object]  # what the source says, by field


def render_value(value: object) -> str:
    """A field's value as a Disagreement has it: a text as it is, everything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def parse_value(text: str, kind: Any) -> object:
    """`render_value` back; kind is the field's type.

    Raises: ValueError (msgspec's is one) if the text is no value of it.
    """
    try:
        if text != "null":  # of a text that may be missing: it is
            return msgspec.convert(text, kind)
    except msgspec.ValidationError:
        pass
    return msgspec.json.decode(text.encode(), type=kind)


def list_readings(table: str, rows: Sequence[F]) -> Iterator[Reading[F]]:
    """The rows as other sources print them: one row at a time, with all that one source says of it.

    table: theirs. A word about something that is no field, and a value that the field can't have, change nothing.
    """
    for index, fact in enumerate(rows):
        for source, fields in _group(table, fact).items():
            for changes in fields:
                read = _put(rows, index, changes)
                yield Reading(rows=read, source=source, index=index, changes=changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute(Generic[A]):
    """An answer that is another one by another source."""

    answer: A  # by that source
    source: str
    said: str  # what that source says: `kubernetesMaximum 1.36`
    counted: str  # what counts, and whose it is: `kubernetesMaximum 1.37 (SOURCE)`


def list_disputes(
    table: str, rows: Sequence[F], judge: Callable[[Sequence[F]], A], word: Callable[[A], str]
) -> list[Dispute[A]]:
    """Answers by other sources whose word isn't that of the rows as they count, in the order of the readings.

    Said of a source is only what its answer comes from, if one field alone makes it.
    """
    own, disputes = word(judge(rows)), []
    for reading in list_readings(table, rows):
        answer, fact = judge(reading.rows), rows[reading.index]
        if word(answer) == own:
            continue
        alone = [
            name
            for name, value in reading.changes.items()
            if word(judge(_put(rows, reading.index, {name: value}))) == word(answer)
        ]
        names = alone or list(reading.changes)
        counted = f"{_say_fields(fact, names)} ({fact.source})"
        said = _say_fields(reading.rows[reading.index], names)
        disputes.append(Dispute(answer=answer, source=reading.source, said=said, counted=counted))
    return disputes


def _put(rows: Sequence[F], index: int, changes: Mapping[str, object]) -> tuple[F, ...]:
    return (*rows[:index], msgspec.structs.replace(rows[index], **changes), *rows[index + 1 :])


def _say_fields(fact: Fact, names: Collection[str]) -> str:
    spelled = dict(zip(fact.__struct_fields__, fact.__struct_encode_fields__, strict=True))
    return ", ".join(f"{spelled[name]} {render_value(getattr(fact, name))}" for name in names)


def _group(table: str, fact: Fact) -> dict[str, list[dict[str, object]]]:
    """What each source says, by field; a source that says two things of one field counts as two."""
    grouped: dict[str, list[dict[str, object]]] = {}
    types = {one.encode_name: one for one in msgspec.structs.fields(fact)} if fact.disagreements else {}
    forms = list_forms(table)
    for other in fact.disagreements:
        known = types.get(other.field)
        value = _read(other, known.type, forms.get(other.field)) if known else other
        if known is None or value is other:
            continue
        sets = grouped.setdefault(other.source, [])
        free = next((one for one in sets if known.name not in one), None)
        if free is None:
            sets.append({known.name: value})
        else:
            free[known.name] = value
    return grouped


def _read(other: Disagreement, kind: Any, form: Form | None) -> object:
    """The value; the disagreement itself if it is none of the field, such as the word that a source has no row."""
    try:
        value = parse_value(other.value, kind)
    except ValueError:
        return other
    texts = value if isinstance(value, tuple) else (value,)
    return other if form and any(isinstance(text, str) and form.refuse(text) for text in texts) else value


def settle(table: str, rows: Sequence[F], judge: Callable[[Sequence[F]], Finding | None]) -> list[Finding]:
    """What is found of rows, and what would be by other sources.

    The rows as they stand count: what is wrong by them is said as it is, with who says otherwise. What is wrong only by
    another source is a warning with both.
    """
    own = judge(rows)
    against = list_disputes(table, rows, judge, _word)
    if own is not None:
        return [
            msgspec.structs.replace(own, why=own.why + "".join(f"; {one.source} says {one.said}" for one in against))
        ]
    return [
        msgspec.structs.replace(
            one.answer,
            severity="warning",
            what=f"disputed: {one.answer.what}",
            why=f"so says {one.source}: {one.said}; what counts here is {one.counted}",
            fix="find out which of the two holds, on a cluster that nobody needs, or choose what both list",
        )
        for one in against
        if one.answer is not None
    ]


def _word(found: Finding | None) -> str:
    return found.severity if found else ""
