"""Pages: each whole and within the limit, the summary first, nothing cut, nothing taken apart that fits on one."""

from __future__ import annotations

import re
from hashlib import sha256

import msgspec
import pytest

from change_reports import CHANGE_REPORTS, CLASS_TIGHTENED, FAMILY_REMOVED, NOTHING, build_large, build_report
from poolwright.changes.report import FieldChange, ObjectChange, Report, render_report
from poolwright.comments.errors import CommentError
from poolwright.comments.markdown import render_markdown
from poolwright.comments.marker import Marker, parse_marker
from poolwright.comments.nodes import CONTINUED, CONTINUES, measure
from poolwright.comments.pages import GITHUB_LIMIT, GITLAB_LIMIT, MIN_LIMIT, build_pages, build_summary_pages
from read_markdown import read_markdown

LARGE = build_large(400)


@pytest.mark.parametrize("report", CHANGE_REPORTS.values(), ids=CHANGE_REPORTS.keys())
def test_a_page_is_the_marker_and_the_markdown(report: Report) -> None:
    (page,) = build_pages(report, limit=GITHUB_LIMIT, project="example")
    marker, _, body = page.partition("\n")
    assert parse_marker(marker) == Marker(
        project="example", page=1, of=1, report=sha256(render_report(report)).hexdigest()
    )
    assert body == render_markdown(report)


def test_400_workloads_fit_on_pages_of_github() -> None:
    pages = build_pages(LARGE, limit=GITHUB_LIMIT, project="example")
    assert len(pages) == 7
    assert max(map(measure, pages)) <= GITHUB_LIMIT
    summaries = [number for number, page in enumerate(pages, 1) if "### Summary" in page]
    assert summaries == [1]
    assert all(page.count(f"Page {number} of 7") == 1 for number, page in enumerate(pages, 1))
    for page in pages:
        read_markdown(page)


def test_400_workloads_are_one_page_of_gitlab() -> None:
    assert len(build_pages(LARGE, limit=GITLAB_LIMIT, project="example")) == 1


def test_a_summary_that_is_larger_than_a_page_goes_on_before_any_detail() -> None:
    pages = build_pages(LARGE, limit=MIN_LIMIT, project="example")
    has_summary = [bool(re.search("^### Summary", page, re.MULTILINE)) for page in pages]
    last = has_summary.index(False) - 1
    assert last > 3
    assert has_summary[: last + 1] == [True] * (last + 1)
    assert not any(has_summary[last + 1 :])
    assert not any("<details>" in page for page in pages[:last])
    assert all("### Summary (continued)" in page for page in pages[1 : last + 1])


def test_every_line_is_on_exactly_one_page() -> None:
    """Lines of tables, lists and differences, whatever the size of a page; only frames are said again."""
    whole = sorted(list_lines(render_markdown(LARGE)))
    for limit in (12_000, GITHUB_LIMIT):
        pages = build_pages(LARGE, limit=limit, project="example")
        # The one item that names 266 workloads is longer than a small page.
        lines = [line for page in pages for line in list_lines(page)]
        joined = re.sub(f"{re.escape(CONTINUES)}\n- {re.escape(CONTINUED)}", "", "\n".join(lines))
        assert re.sub(r"[`, ]", "", "\n".join(sorted(joined.split("\n")))) == re.sub(r"[`, ]", "", "\n".join(whole))


def list_lines(text: str) -> list[str]:
    heads = {"| cluster |", "| --- |"}
    return [
        line
        for line in text.split("\n")
        if re.match(r"[|+@-]", line) and not any(line.startswith(head) for head in heads)
    ]


def with_value(value: str) -> Report:
    """A report with one object, one field of which has this value now."""
    field = FieldChange(path="data.text", before='"a"', after=value, change="changed", is_hidden=False)
    one = ObjectChange(
        cluster="east",
        unit="platform",
        change="changed",
        api_version="v1",
        kind="ConfigMap",
        namespace="serving",
        name="text",
        fields=(field, msgspec.structs.replace(field, path="data.next")),
    )
    return build_report(objects=(one,))


def test_a_line_longer_than_a_page_is_broken_with_a_mark_and_nothing_is_lost() -> None:
    value = "".join(f"<{number}>" for number in range(5000))
    pages = build_pages(with_value(value), limit=MIN_LIMIT, project="example")
    lines = [line[2:] for page in pages for line in page.split("\n") if line.startswith("+ ")]
    assert len(lines) == 8
    joined = "".join(line.removeprefix(CONTINUED).removesuffix(CONTINUES) for line in lines)
    assert joined == value * 2
    assert all(line.endswith((CONTINUES, "<4999>")) for line in lines)
    for page in pages:
        assert measure(page) <= MIN_LIMIT
        assert read_markdown(page).tags.get("pre", 0) == len(re.findall("^```diff$", page, re.MULTILINE))


def test_a_name_too_long_for_a_folded_line_stands_whole_inside() -> None:
    name = "".join(f"n{number}-" for number in range(3000))
    report = with_value("1")
    long = msgspec.structs.replace(report, objects=(msgspec.structs.replace(report.objects[0], unit=name),))
    text = "".join(build_pages(long, limit=MIN_LIMIT, project="example"))
    summaries = re.findall(r"^<summary>(Objects.*)</summary>$", text, re.MULTILINE)
    assert max(map(len, summaries)) < 700
    assert all(name[:100] in summary and " …" in summary for summary in summaries)
    assert "n2999-" in text


BLOCKS = {
    "what-fits-below-stays": (20, [2]),
    "what-fits-on-a-page-starts-one": (35, [1, 1]),
    # Both are larger than a page: each is on two, closed and opened again.
    "what-fits-on-none-is-taken-apart": (70, [1, 2, 1]),
}


@pytest.mark.parametrize(("lines", "fences"), BLOCKS.values(), ids=BLOCKS.keys())
def test_folded_blocks(lines: int, fences: list[int]) -> None:
    report = with_value("\n".join(["x" * 60] * lines))
    units = tuple(msgspec.structs.replace(report.objects[0], unit=unit) for unit in ("a", "b"))
    pages = build_pages(msgspec.structs.replace(report, objects=units), limit=MIN_LIMIT, project="example")
    assert [page.count("```diff") for page in pages] == fences


LENGTHS = {
    "ascii": ("abc", 3),
    # Two UTF-16 units, four bytes: of what may be counted, the most.
    "beyond-the-basic-plane": ("🦀", 4),
    "accents": ("é", 2),
}


@pytest.mark.parametrize(("text", "length"), LENGTHS.values(), ids=LENGTHS.keys())
def test_no_forge_counts_more(text: str, length: int) -> None:
    assert measure(text) == length


def test_text_of_many_bytes_stays_within_the_limit() -> None:
    pages = build_pages(with_value("名" * 20_000), limit=MIN_LIMIT, project="example")
    assert max(len(page.encode()) for page in pages) <= MIN_LIMIT
    assert sum(page.count("名") for page in pages) == 40_000


def test_the_full_report_is_linked_on_the_first_page() -> None:
    link = "https://ci.example.com/runs/1/report.html?a=[b](c)&d=<e>&f=%20#g"
    first, *others = build_pages(CLASS_TIGHTENED, limit=MIN_LIMIT, project="example", link=link)
    quoted = "https://ci.example.com/runs/1/report.html?a=%5Bb%5D%28c%29&amp;d=%3Ce%3E&amp;f=%20#g"
    assert f"\n[The full report]({quoted})\n" in first
    assert others == [page for page in others if "The full report" not in page]


REFUSED = {
    "a-limit-that-is-too-small": (
        {"limit": 8_191},
        "a page of 8,191 characters is too small: give 8,192 or more",
    ),
    "a-project-that-is-no-label": (
        {"project": "Ex --> ample"},
        "'Ex --> ample' can't name a project in a comment: give a lower-case DNS label, as poolwright.yaml has",
    ),
    "a-link-that-is-not-https": (
        {"link": "javascript:alert(1)"},
        "'javascript:alert(1)' is no address for a link: give an https address of 2,000 characters or less",
    ),
    "a-link-without-a-host": (
        {"link": "https:///x"},
        "'https:///x' is no address for a link: give an https address of 2,000 characters or less",
    ),
    "a-link-with-a-user": (
        {"link": "https://ci.example.com@evil.example"},
        "'https://ci.example.com@evil.example' is no address for a link: "
        "give an https address of 2,000 characters or less",
    ),
    "a-link-that-is-no-address": (
        {"link": "https://[x"},
        "'https://[x' is no address for a link: give an https address of 2,000 characters or less",
    ),
}


@pytest.mark.parametrize(("options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(CommentError) as refusal:
        build_pages(NOTHING, **{"limit": GITHUB_LIMIT, "project": "example", **options})  # type: ignore[arg-type]
    assert str(refusal.value) == message


def test_equal_reports_are_equal_pages_and_others_are_not() -> None:
    digests = {build_pages(one, limit=GITHUB_LIMIT, project="example")[0].split("\n")[0] for one in (NOTHING, NOTHING)}
    assert len(digests) == 1
    other = build_pages(FAMILY_REMOVED, limit=GITHUB_LIMIT, project="example")[0].split("\n")[0]
    assert other not in digests


def test_a_summary_has_every_name_and_no_detail() -> None:
    """What is posted of a report that would fill a conversation."""
    whole = build_pages(LARGE, limit=GITHUB_LIMIT, project="example")
    pages = build_summary_pages(LARGE, limit=GITHUB_LIMIT, project="example")
    text = "".join(pages)
    assert len(pages) < len(whole)
    assert [one.name for one in LARGE.workloads if one.change == "worse" and one.name not in text] == []
    assert "The details are too long for comments: they stand in the report itself." in text
    assert ("Verdicts that change" in "".join(whole), "Verdicts that change" in text) == (True, False)
