"""Markdown in pieces that can be put on pages: lines, and frames around them that are closed and opened again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, assert_never

from poolwright.comments.document import (
    Block,
    Details,
    Diff,
    Items,
    Name,
    Paragraph,
    Section,
    Spans,
    Table,
    Words,
    say_plainly,
)
from poolwright.comments.escape import build_fence, render_fenced, render_html_line, render_inline

CONTINUES: Final = " … (continues)"
CONTINUED: Final = "(continued) … "
# Of a folded block's line, as it is written: it is said again on each page that the block is on.
MAX_REPEATED: Final = 600
_SIGNS: Final = {"+": "+ ", "-": "- ", "!": "! ", "@": "@@ "}


def measure(text: str) -> int:
    """Characters, counted so that no forge counts more.

    GitHub says that a comment has 65,536 characters at most, and nowhere of what kind; what other tools found by trying
    differs (code points of four bytes; bytes). GitLab validates the length of a Ruby string: code points. UTF-8 bytes
    are never fewer than code points or UTF-16 units, and a page of ours is nearly all ASCII.
    """
    return len(text.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One line, or one paragraph; it can be written in two parts if it is too long for a page."""

    cells: tuple[Spans, ...]
    write: Callable[[tuple[Spans, ...]], str]
    text: str = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", self.write(self.cells))
        object.__setattr__(self, "size", measure(self.text))

    def split(self) -> tuple[Line, Line] | None:
        """Two lines that together have all its characters, and a mark where it was cut; None: there is one at most."""
        halves = _split_cells(self.cells)
        return None if halves is None else (Line(halves[0], self.write), Line(halves[1], self.write))


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Nodes, and what stands before and after them on each page that they are on."""

    opens: str
    reopens: str  # on the second page and later
    closes: str
    is_whole: bool  # kept on one page if it fits on one
    nodes: tuple[Node, ...]
    size: int = field(init=False)  # of all of it, as it is opened again

    def __post_init__(self) -> None:
        ends = max(measure(self.opens), measure(self.reopens)) + measure(self.closes)
        object.__setattr__(self, "size", ends + sum(node.size for node in self.nodes))


Node = Line | Frame


def build_nodes(blocks: tuple[Block, ...]) -> tuple[Node, ...]:
    """Blocks as Markdown: each begins with an empty line, so that it ends what stands before it."""
    return tuple(_build(block) for block in blocks)


def render_nodes(nodes: tuple[Node, ...]) -> Iterator[str]:
    """All of it, on one page."""
    for node in nodes:
        if isinstance(node, Line):
            yield node.text
        else:
            yield node.opens
            yield from render_nodes(node.nodes)
            yield node.closes


def shorten(spans: Spans) -> Spans:
    """A line that is short enough to be said again on every page: itself, or its start with a mark."""
    shown, length = spans, len(say_plainly(spans))
    while measure(render_html_line(shown)) > MAX_REPEATED:
        length //= 2
        shown = (*_take(spans, length), Words(" …"))
    return shown


def _build(block: Block) -> Node:
    match block:
        case Paragraph():
            return Line((block.spans,), _write_paragraph)
        case Items():
            lines = tuple(Line((item,), _write_item) for item in block.items)
            return Frame("\n", "\n", "", False, lines)
        case Table():
            head = f"\n| {' | '.join(block.head)} |\n|{' --- |' * len(block.head)}\n"
            return Frame(head, head, "", False, tuple(Line(row, _write_row) for row in block.rows))
        case Diff():
            return _build_diff(block)
        case Details():
            return _build_details(block)
        case Section():
            again = f"\n### {block.title} (continued)\n"
            return Frame(f"\n### {block.title}\n", again, "", False, build_nodes(block.blocks))
        case _:
            assert_never(block)


def _build_diff(block: Diff) -> Frame:
    fence = build_fence(tuple(text for _, text in block.lines))
    lines = tuple(Line(((Name(text),),), partial(_write_diff, sign)) for sign, text in block.lines)
    opens = f"\n{fence}diff\n"
    return Frame(opens, opens, f"{fence}\n", True, lines)


def _build_details(block: Details) -> Frame:
    summary = shorten(block.summary)
    # A line that was cut stands inside as a whole, where it can be split.
    blocks = block.blocks if summary is block.summary else (Paragraph(block.summary), *block.blocks)
    line = render_html_line(summary)
    opens = f"\n<details>\n<summary>{line}</summary>\n"
    again = f"\n<details>\n<summary>{line} (continued)</summary>\n"
    return Frame(opens, again, "\n</details>\n", True, build_nodes(blocks))


def _write_paragraph(cells: tuple[Spans, ...]) -> str:
    return f"\n{render_inline(cells[0])}\n"


def _write_item(cells: tuple[Spans, ...]) -> str:
    return f"- {render_inline(cells[0])}\n"


def _write_row(cells: tuple[Spans, ...]) -> str:
    return f"| {' | '.join(map(render_inline, cells))} |\n"


def _write_diff(sign: str, cells: tuple[Spans, ...]) -> str:
    text = _SIGNS[sign] + render_fenced(say_plainly(cells[0]))
    return f"{text} @@\n" if sign == "@" else f"{text}\n"


def _split_cells(cells: tuple[Spans, ...]) -> tuple[tuple[Spans, ...], tuple[Spans, ...]] | None:
    """The longest cell in halves; cells before it stay in the first part, cells after it in the second."""
    lengths = [len(say_plainly(cell)) for cell in cells]
    longest = max(lengths, default=0)
    if longest <= len(CONTINUES) + len(CONTINUED) + 1:
        return None
    at = lengths.index(longest)
    first = (*_take(cells[at], longest // 2), Words(CONTINUES))
    second = (Words(CONTINUED), *_drop(cells[at], longest // 2))
    before, after = cells[:at], cells[at + 1 :]
    return (*before, first, *((),) * len(after)), (*((),) * len(before), second, *after)


def _take(spans: Spans, length: int) -> Spans:
    taken = []
    for span in spans:
        if length <= 0:
            break
        taken.append(span if len(span.text) <= length else type(span)(span.text[:length]))
        length -= max(1, len(span.text))
    return tuple(taken)


def _drop(spans: Spans, length: int) -> Spans:
    left = []
    for span in spans:
        if length <= 0:
            left.append(span)
        elif len(span.text) > length:
            left.append(type(span)(span.text[length:]))
        length -= max(1, len(span.text))
    return tuple(left)
