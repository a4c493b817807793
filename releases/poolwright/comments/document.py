"""What is shown to people, before it is Markdown or HTML: blocks of text that know which words are ours.

Both forms are made from these, so that they say the same, and each escapes by its own rules.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """Words of ours: no markup in any form, and nothing that came from a report but numbers."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Words of ours that stand out."""

    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """Somebody's name, path or value: shown as code, character by character."""

    text: str


@dataclass(frozen=True, slots=True)
class Prose:
    """Somebody's sentence: shown as a sentence, but for what could be taken for more than a word."""

    text: str


@dataclass(frozen=True, slots=True)
class Break:
    """A new line of the same block."""

    text: str = ""


Span = Words | Strong | Name | Prose | Break
Spans = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph."""

    spans: Spans


@dataclass(frozen=True, slots=True)
class Items:
    """A list with a point before each item."""

    items: tuple[Spans, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; its head is words of ours."""

    head: tuple[str, ...]
    rows: tuple[tuple[Spans, ...], ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """Lines of a difference: a sign (`+`, `-`, `!`, or `@` for the place) and somebody's text."""

    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that are folded away under one line."""

    summary: Spans
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading of ours."""

    title: str
    blocks: tuple[Block, ...]


Block = Paragraph | Items | Table | Diff | Details | Section


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """All that is said of a report, in its order: the summary is whole before any detail."""

    headline: Spans
    sections: tuple[Section, ...]


def join_spans(parts: tuple[Spans, ...], between: str = ", ") -> Spans:
    """Parts in a row, with words of ours between them."""
    joined: list[Span] = []
    for number, part in enumerate(parts):
        if number:
            joined.append(Words(between))
        joined.extend(part)
    return tuple(joined)


def list_names(names: tuple[str, ...]) -> Spans:
    """Names with commas between them."""
    return join_spans(tuple((Name(name),) for name in names))


def say_plainly(spans: Spans) -> str:
    """The characters of a line, without markup; not escaped."""
    return "".join(" " if isinstance(span, Break) else span.text for span in spans)
