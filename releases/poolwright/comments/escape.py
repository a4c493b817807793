"""Spans as Markdown that GitHub and GitLab read, and as the HTML that they leave alone.

Nothing that somebody wrote may ping, link, fold, colour, command or hide. On both, @names, #1, emoji, addresses and
commit ids are looked for in what the Markdown became, everywhere but inside `code` and `pre`. So that is where they
are put; only words that can't be anything else stand free.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import Final, assert_never

from poolwright.comments.document import Break, Name, Prose, Span, Spans, Strong, Words
from poolwright.specs.finding import escape_controls
from poolwright.specs.markup import escape_markup

# Safe between backticks, in a table too: no backtick, no bar, nothing that a bot looks for in the unread text.
_CODE: Final = re.compile(r"[A-Za-z0-9_./(+-](?:[A-Za-z0-9 _,./=()+:-]*[A-Za-z0-9_./)+-])?")
# A word, a number below a million (a longer one may be a commit id), with the punctuation of a sentence.
_PLAIN: Final = re.compile(
    r"\(?(?:[A-Za-z]+(?:[-'][A-Za-z]+)*|[0-9]{1,6}(?:\.[0-9]{1,6})?|[0-9]{1,3}(?:,[0-9]{3})+)[,;:.)?]*"
)
_COMMIT: Final = re.compile(r"[0-9A-Fa-f]{7}")
_BACKTICKS: Final = re.compile("`+")
_LONG_RUN: Final = re.compile("`{33,}")
_QUOTED: Final = re.compile(r"(?<![^\s(])`([^`\s](?:[^`]*[^`\s])?)`(?![^\s,;:.?)])")  # a word or words of a sentence
_AFTER: Final = re.compile("[,;:.?)]?")
_MIN_FENCE: Final = 3
_EMPTY: Final = "(empty)"


def render_inline(spans: Spans) -> str:
    """Spans as a part of one line of Markdown: a paragraph, an item, or a cell of a table."""
    return "".join(_render(span, is_html=False) for span in spans)


def render_html_line(spans: Spans) -> str:
    """The same inside an HTML element that Markdown doesn't look into, such as a summary."""
    return "".join(_render(span, is_html=True) for span in spans)


def build_fence(texts: tuple[str, ...]) -> str:
    """A fence that no line of these can close, once render_fenced has written them."""
    longest = max((len(run) for text in texts for run in _BACKTICKS.findall(render_fenced(text))), default=0)
    return "`" * max(_MIN_FENCE, longest + 1)


def render_fenced(text: str) -> str:
    """A line inside a fence: there nothing is markup.

    But what reads comments may look for the start of a marker, and a fence is said again on every page.
    """
    shown = escape_controls(text).replace("<!--", "<\\u0021--")
    return _LONG_RUN.sub(lambda run: "\\u0060" * len(run[0]), shown)


def _render(span: Span, *, is_html: bool) -> str:
    match span:
        case Words():
            return _escape_own(span.text) if is_html else span.text
        case Strong():
            return f"<b>{_escape_own(span.text)}</b>" if is_html else f"**{span.text}**"
        case Name():
            return _code(span.text, is_html=is_html)
        case Prose():
            return _prose(span.text, is_html=is_html)
        case Break():
            return "<br>"
        case _:
            assert_never(span)


def _escape_own(text: str) -> str:
    """Words of ours in HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(text: str, *, is_html: bool) -> str:
    if not text:
        return _EMPTY
    if not is_html and _CODE.fullmatch(text):
        return f"`{text}`"
    return f"<code>{escape_markup(text)}</code>"


def _prose(text: str, *, is_html: bool) -> str:
    """A sentence; what stands in it between backticks, a command say, is code and loses them."""
    shown = escape_controls(text)
    if not shown.strip():
        return _EMPTY
    parts: list[str] = []
    for at, part in enumerate(_QUOTED.split(shown)):
        if at % 2:
            parts.append(_code(part, is_html=is_html))
            continue
        found = _AFTER.match(part) if at else None
        mark = found[0] if found else ""
        rest = part[len(mark) :]
        before = " " if at and rest[:1].isspace() else ""
        after = " " if rest[-1:].isspace() and rest.strip() else ""
        parts.append(f"{mark}{before}{_say(rest.split(), is_html=is_html)}{after}")
    return "".join(parts).strip()


def _say(words: Sequence[str], *, is_html: bool) -> str:
    parts: list[str] = []
    for is_plain, run in groupby(words, key=_is_plain):
        joined = " ".join(run)
        if is_plain:
            # A number with a point or a bracket may start a list.
            is_number = joined[:1].isdigit()
            parts.append(joined.replace(".", "&#46;").replace(")", "&#41;") if is_number else joined)
            continue
        last = joined[-1]
        end = last if last in ",;:." and joined.count(last) == 1 < len(joined) else ""
        parts.append(_code(joined.removesuffix(end), is_html=is_html) + end)
    return " ".join(parts)


def _is_plain(word: str) -> bool:
    return _PLAIN.fullmatch(word) is not None and not _COMMIT.search(word)
