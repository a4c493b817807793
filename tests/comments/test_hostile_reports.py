"""Whatever stands in a report is shown as text, all of it, and is nothing but text."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from hostile_reports import hostile_reports, list_texts
from poolwright.changes.report import Report
from poolwright.comments.escape import render_fenced
from poolwright.comments.html import render_html
from poolwright.comments.markdown import render_markdown
from poolwright.comments.marker import parse_marker
from poolwright.comments.pages import MIN_LIMIT, build_pages
from poolwright.specs.finding import escape_controls
from read_markdown import READS_MORE, Reader, join_words, read_html, read_markdown

LINK = "https://ci.example.com/reports/1?a=b&c=(d)"
HREF = "https://ci.example.com/reports/1?a=b&c=%28d%29"
OURS = {"h2", "h3", "p", "ul", "li", "strong", "b", "code", "pre", "br", "details", "summary"} | {
    *("table", "thead", "tbody", "tr", "th", "td")
}
# Whole reports are large: the first one that fails says enough, and a smaller one would take minutes to find.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
EXAMPLES = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)


@EXAMPLES
@given(hostile_reports())
def test_markdown(report: Report) -> None:
    text = render_markdown(report)
    reader = read_markdown(text)
    assert_only_ours(text, reader)
    assert "a" not in reader.tags
    assert reader.comments == []
    assert_shown(report, "".join(reader.everything))


@EXAMPLES
@given(hostile_reports(most=4))
def test_pages(report: Report) -> None:
    pages = build_pages(report, limit=MIN_LIMIT, project="example", link=LINK)
    markers = [parse_marker(page) for page in pages]
    assert [marker and (marker.page, marker.of) for marker in markers] == [
        (number, len(pages)) for number in range(1, len(pages) + 1)
    ]
    for number, page in enumerate(pages):
        assert len(page.encode()) <= MIN_LIMIT
        reader = read_markdown(page)
        assert_only_ours(page, reader)
        assert len(reader.comments) == page.count("<!--") == 1
        assert {value for tag, name, value in reader.attributes if tag == "a"} == ({HREF} if number == 0 else set())


@EXAMPLES
@given(hostile_reports())
def test_one_page_has_all_texts(report: Report) -> None:
    (page,) = build_pages(report, limit=10_000_000, project="example")
    assert_shown(report, "".join(read_markdown(page).everything))


@EXAMPLES
@given(hostile_reports())
def test_html(report: Report) -> None:
    text = render_html(report)
    reader = read_html(text)
    assert set(reader.tags) <= OURS - {"h3", "b"} | {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "main",
            "h1",
            "h2",
            "small",
            "section",
            "bdi",
            "div",
            "span",
        )
    }
    assert {name for tag, name, _ in reader.attributes if tag != "meta"} <= {"lang", "class", "scope"}
    assert reader.comments == []
    assert hidden(text) == []
    assert_shown(report, "".join(reader.everything))


TAKEN_FOR_MORE = ("@octocat", "see #1", ":tada:", "http://a.example", "www.a.example", "$x$", "deadbeef", "OPS-12")


@pytest.mark.parametrize("text", TAKEN_FOR_MORE)
def test_what_is_looked_for_is_found(text: str) -> None:
    """The check itself: unescaped, each of these is seen outside of code or becomes a link."""
    reader = read_markdown(f"- {text}\n")
    assert "a" in reader.tags or READS_MORE.search("".join(reader.free))


def assert_only_ours(text: str, reader: Reader) -> None:
    """No element, attribute, reference, command or hidden character that we didn't make."""
    assert set(reader.tags) <= OURS | {"a"}
    assert {(tag, name) for tag, name, _ in reader.attributes} <= {("code", "class"), ("a", "href")}
    assert {value for tag, _, value in reader.attributes if tag == "code"} <= {"language-diff"}
    assert [found[0] for part in reader.free for found in READS_MORE.finditer(part)] == []
    folds = [len(re.findall(f"^<{tag}>$", text, re.MULTILINE)) for tag in ("details", "/details")]
    assert folds == [reader.tags.get("details", 0)] * 2
    assert all(later - earlier <= 1 for earlier, later in zip([1, *reader.headings], reader.headings, strict=False))
    assert re.findall(r"^[ \t]*(?:/|@(?!@ )).*$", text, re.MULTILINE) == []  # commands, but `@@` of a difference
    assert hidden(text) == []


def hidden(text: str) -> list[str]:
    return [line for line in text.split("\n") if escape_controls(line) != line]


def assert_shown(report: Report, shown: str) -> None:
    """Every text, in the spelling that hides nothing."""
    found = join_words(shown)
    lines = [line for text in list_texts(report) for line in text.split("\n")]
    missing = [line for line in lines if not is_shown(line, found)]
    assert missing == []


QUOTED = re.compile(r"(?:(?<=[\s(])|^)`([^`\s](?:[^`]*[^`\s])?)`(?=[\s,;:.?)]|$)")


def is_shown(line: str, found: str) -> bool:
    """As text, perhaps with what stands between backticks as code, or as a line of a difference."""
    text = escape_controls(line)
    return any(join_words(form) in found for form in (text, QUOTED.sub(r"\1", text), render_fenced(line)))
