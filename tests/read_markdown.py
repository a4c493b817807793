"""Markdown as a forge reads it: its elements, and its text by whether it stands where nothing is looked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

from markdown_it import MarkdownIt

# What GitHub and GitLab look for in text that isn't code.
READS_MORE = re.compile(
    r"[@#!&~%$^]\w|:[\w+-]+:|www\.|://|\b[0-9a-f]{7,40}\b|\w@\w|\b[A-Z]+-\d|[$`|<>\\*_\[\]{}]|~~", re.IGNORECASE
)
VOID = frozenset(("br", "meta", "img", "hr", "input"))


@dataclass
class Reader(HTMLParser):
    """What an HTML text consists of."""

    tags: dict[str, int] = field(default_factory=dict)
    attributes: set[tuple[str, str, str | None]] = field(default_factory=set)
    comments: list[str] = field(default_factory=list)
    headings: list[int] = field(default_factory=list)
    free: list[str] = field(default_factory=list)  # text outside code, pre and a
    everything: list[str] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        self.attributes |= {(tag, name, value) for name, value in attrs}
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.stack.append(tag)
        if tag not in ("code", "bdi", "strong", "b", "span"):
            self.everything.append("\n")

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag
        if tag in ("td", "p", "li", "summary"):
            self.everything.append("\n")

    def handle_data(self, data: str) -> None:
        self.everything.append(data)
        if not {"code", "pre", "a", "style"} & set(self.stack):
            self.free.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def read_html(text: str) -> Reader:
    """Raises AssertionError if an element isn't closed, or not in its turn."""
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.stack == []
    return reader


def read_markdown(text: str) -> Reader:
    """As GitHub-flavoured Markdown with tables, strike-through and addresses that become links."""
    return read_html(MarkdownIt("gfm-like").render(text))


def join_words(text: str) -> str:
    """Text with single spaces: what HTML shows of it."""
    return " ".join(text.split())
