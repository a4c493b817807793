"""`plan` and `diff` with `--format html`: the page of what they judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fleet import PLACEMENTS, SMALL_FLEET, edit, read_small_fleet
from folders import write_files
from poolwright.pages.document import FleetReport, parse_report
from poolwright.pages.html import render_page
from run_poolwright import Ran, run


def read_page(ran: Ran) -> FleetReport:
    """The data of a page, from which the page itself follows."""
    assert ran.stderr == ""
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', ran.stdout, re.DOTALL)
    report = parse_report(data.encode())
    assert render_page(report).decode() == ran.stdout
    return report


def test_a_plan() -> None:
    ran = run("plan", "--format", "html", folder=SMALL_FLEET)
    report = read_page(ran)
    assert ran.code == run("plan", folder=SMALL_FLEET).code == 1
    assert (report.subject, report.before, report.changes) == ("plan", None, None)
    assert [(one.workload, one.counts) for one in report.after.units] == [
        ("chat/chat-70b", "2/2"),
        ("chat/chat-70b-next", "0-1/1"),
    ]
    assert [one.losses_judged for one in report.after.clusters] == [True]


def test_a_plan_of_more() -> None:
    ran = run("plan", "--format", "html", "--add", "1xchat-70b", "--cluster", "east", folder=SMALL_FLEET)
    assert [one.counts for one in read_page(ran).after.units] == ["3/3", "0-1/1"]


@pytest.mark.parametrize("losses", [False, True], ids=["losses-unless-asked-are-not-judged", "losses-if-asked"])
def test_a_change(losses: bool, tmp_path: Path) -> None:
    write_files(tmp_path / "a", read_small_fleet())
    write_files(tmp_path / "b", edit(read_small_fleet(), PLACEMENTS, ("  zone: east-a\n", "")))
    asked = ("--losses",) if losses else ()
    report = read_page(run("diff", "./a", "./b", "--format", "html", *asked, folder=tmp_path))
    assert report.before is not None
    assert report.changes is not None
    sides = (report.before, report.after)
    assert (report.subject, report.title, [one.name for one in sides]) == ("diff", "./a to ./b", ["./a", "./b"])
    assert [[one.counts for one in side.units] for side in sides] == [["2/2", "0-1/1"], ["2/2", "1/1"]]
    assert [one.losses_judged for side in sides for one in side.clusters] == [losses, losses]
    answers = [(one.name, one.after and one.after.counts) for one in report.changes.workloads]
    assert answers == [(one.workload, one.counts) for one in report.after.units]


def test_clusters_that_neither_side_has_otherwise_are_not_shown(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_files(tmp_path / name, read_small_fleet())
    report = read_page(run("diff", "./a", "./b", "--format", "html", folder=tmp_path))
    assert (report.after.clusters, report.after.units) == ((), ())
    assert report.changes is not None
    assert report.changes.untouched == ("east",)


UNSHOWN: dict[tuple[str, ...], str] = {
    ("--room",): "--room isn't on the page; leave it out, or ask for text or json",
    ("--loss", "gates"): "--loss gates isn't on the page; leave it out, or ask for text or json",
    ("--replay", "-"): "--replay isn't on the page; leave it out, or ask for text or json",
    ("--live", "a.yaml"): "--live isn't on the page; leave it out, or ask for text or json",
}


@pytest.mark.parametrize("arguments", UNSHOWN, ids=" ".join)
def test_what_no_page_shows_is_refused(arguments: tuple[str, ...]) -> None:
    ran = run("plan", "--format", "html", *arguments, folder=SMALL_FLEET)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.endswith(f"\nError: {UNSHOWN[arguments]}\n")
