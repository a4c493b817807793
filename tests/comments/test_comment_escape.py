"""Somebody's text in Markdown: a word that can't be more stands free, all else is code that nothing reads."""

from __future__ import annotations

import pytest

from poolwright.comments.document import Break, Name, Prose, Strong, Words
from poolwright.comments.escape import build_fence, render_fenced, render_html_line, render_inline

NAMES = {
    "a-plain-name-stands-between-backticks": ("serving/llama-70b", "`serving/llama-70b`"),
    "spaces-inside-too": ("NVIDIA H100 80GB HBM3", "`NVIDIA H100 80GB HBM3`"),
    # Bots look for @names in the text as it was sent.
    "an-at-sign-is-a-reference": ("llama@3", "<code>llama&#64;3</code>"),
    "a-bar-ends-no-cell": ("a|b", "<code>a&#124;b</code>"),
    "a-backtick-ends-no-code": ("a`b", "<code>a&#96;b</code>"),
    "markup-is-text": ("</code><img src=x>", "<code>&#60;/code&#62;&#60;img src&#61;x&#62;</code>"),
    "a-marker-is-text": ("<!-- poolwright", "<code>&#60;&#33;-- poolwright</code>"),
    "spaces-at-the-ends-are-kept": (" a ", "<code> a </code>"),
    "a-line-end-is-shown": ("a\nb", "<code>a&#92;nb</code>"),
    "what-hides-is-shown": ("a\u202eb\u200b", "<code>a&#92;u202eb&#92;u200b</code>"),
    "nothing-is-said-to-be-nothing": ("", "(empty)"),
}


@pytest.mark.parametrize(("text", "markdown"), NAMES.values(), ids=NAMES.keys())
def test_a_name(text: str, markdown: str) -> None:
    assert render_inline((Name(text),)) == markdown


SENTENCES = {
    "words-stand-free": ("no other class is named, at least 4 of 6.", "no other class is named, at least 4 of 6."),
    "numbers-too": ("it needs 80.5 GiB of 1,024 (half)", "it needs 80.5 GiB of 1,024 (half)"),
    "a-name-is-code": ('class "h100-full" is gone', "class <code>&#34;h100-full&#34;</code> is gone"),
    "its-comma-is-not": ("of h100-full, and more", "of `h100-full`, and more"),
    "a-mention": ("ask @org/team now", "ask <code>&#64;org/team</code> now"),
    "an-issue": ("as in #12 and !3", "as in <code>&#35;12</code> and <code>&#33;3</code>"),
    "gitlab-references": ("&1 ~bug %v1 $9", "<code>&#38;1 &#126;bug &#37;v1 &#36;9</code>"),
    "an-address": ("see www.example.com or a@b.example", "see `www.example.com` or <code>a&#64;b.example</code>"),
    "a-commit": ("since deadbeef and 1234567", "since `deadbeef` and `1234567`"),
    "a-ticket": ("see OPS-12", "see `OPS-12`"),
    "an-emoji": ("a :tada: b", "a <code>&#58;tada&#58;</code> b"),
    "no-list-begins": ("1. one", "1&#46; one"),
    "no-quick-action": ("/close", "`/close`"),
    "no-task": ("[ ] todo", "<code>&#91; &#93;</code> todo"),
    "no-table": ("--- | ---", "<code>--- &#124; ---</code>"),
    "emphasis": ("*a* _b_ ~~c~~", "<code>&#42;a&#42; &#95;b&#95; &#126;&#126;c&#126;&#126;</code>"),
    "other-scripts-are-code": ("für Größe", "<code>für Größe</code>"),
    "spaces-become-one": ("a   b", "a b"),
    "nothing-is-said-to-be-nothing": (" ", "(empty)"),
}


@pytest.mark.parametrize(("text", "markdown"), SENTENCES.values(), ids=SENTENCES.keys())
def test_a_sentence(text: str, markdown: str) -> None:
    assert render_inline((Prose(text),)) == markdown


def test_inside_html_nothing_is_markdown() -> None:
    spans = (Words("Objects of "), Name("a/b"), Strong("<2>"), Break(), Prose("see a.b"))
    shown = "Objects of <code>a/b</code><b>&lt;2&gt;</b><br>see <code>a.b</code>"
    assert render_html_line(spans) == shown


FENCES = {
    "three-at-least": (("a", "`b`"), "```"),
    "one-more-than-the-longest-run": (("a", "````", "``"), "`````"),
    # It would be said again on every page.
    "a-run-that-is-too-long-is-shown-as-escapes": (("`" * 50, "`"), "```"),
}


@pytest.mark.parametrize(("texts", "fence"), FENCES.values(), ids=FENCES.keys())
def test_a_fence(texts: tuple[str, ...], fence: str) -> None:
    assert build_fence(texts) == fence


LINES = {
    "markup-is-itself": ("@a #1 <b> www.example.com", "@a #1 <b> www.example.com"),
    "no-marker-begins": ("<!-- poolwright-comment/v1", r"<\u0021-- poolwright-comment/v1"),
    "what-hides-is-shown": ("a\u2066\r\x00b\ufe0f", r"a\u2066\r\x00b\ufe0f"),
    "long-runs-of-backticks": ("`" * 33, r"\u0060" * 33),
}


@pytest.mark.parametrize(("text", "shown"), LINES.values(), ids=LINES.keys())
def test_a_line_in_a_fence(text: str, shown: str) -> None:
    assert render_fenced(text) == shown
