"""The steps of poolwright-review, run on the merged result that GitHub checks out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from copied import Ended, Runner, commit, git, read_steps
from two_branches import HOSTILE, Branches

from folders import write_files
from poolwright.changes.report import Report, parse_report

STEPS = read_steps("poolwright-review", "poolwright-review")
COMPARE = read_steps("poolwright-stale", "compare")["Compare them with this branch"]
ALWAYS = "${{ !cancelled() && steps.sides.outcome == 'success' }}"


def review(branches: Branches, head: str) -> dict[str, Ended]:
    """Every step on what is checked out, as of a pull request with this head, until one that others wait for fails."""
    temp = branches.folder.parent / "temp"
    temp.mkdir(exist_ok=True)
    names = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_HEAD_REF": HOSTILE, "GITHUB_BASE_REF": "main"}
    runner = Runner(branches.folder, temp, names)
    values = {"github.event.pull_request.head.sha": head, "github.event.merge_group.base_sha": ""}
    ended = {"Find both sides": STEPS["Find both sides"].run(runner, values)}
    values = {f"steps.sides.outputs.{name}": text for name, text in ended["Find both sides"].outputs.items()}
    for name, step in STEPS.items():
        if name != "Find both sides":
            assert step.condition == ALWAYS
            ended[name] = step.run(runner, values)
    return ended


def find_stale(branches: Branches, tip: str) -> str:
    """What poolwright-stale makes of the report that the last review left, on a branch with this tip."""
    temp = branches.folder.parent / "temp"
    (temp / "reports").mkdir(exist_ok=True)
    shutil.copy(temp / "poolwright" / "report.json", temp / "reports" / "8.80.json")
    git(branches.folder, "checkout", "--quiet", "--detach", tip)
    return COMPARE.run(Runner(branches.folder, temp, {})).outputs["stale"]


def read_report(branches: Branches) -> Report:
    return parse_report((branches.folder.parent / "temp" / "poolwright" / "report.json").read_bytes())


def test_each_of_two_is_green_and_the_second_is_not_once_the_first_is_merged(branches: Branches) -> None:
    merged = branches.merge(branches.base, branches.more)
    ended = review(branches, branches.more)
    report = read_report(branches)
    assert {name: one.code for name, one in ended.items()} == dict.fromkeys(STEPS, 0), ended
    assert (report.base.commit, report.head.commit) == (branches.base, merged)
    assert [one.after and one.after.counts for one in report.workloads if one.scenario == "fresh"] == ["4/4"]

    assert [find_stale(branches, branches.base), find_stale(branches, merged)] == ["", "8.80"]

    both = branches.merge(merged, branches.second)
    ended = review(branches, branches.second)
    report = read_report(branches)
    codes = {**dict.fromkeys(STEPS, 0), "Say what the change does": 1}
    assert {name: one.code for name, one in ended.items()} == codes, ended
    assert (report.base.commit, report.head.commit) == (merged, both)
    assert [find_stale(branches, branches.base), find_stale(branches, merged)] == ["8.80", ""]
    said = ended["Say what the change does"].printed
    assert [line for line in said.splitlines() if line.startswith("::error ")] != [], said
    assert list(branches.folder.parent.rglob("pwned")) == []


# event, base of the group, head of the pull request, what is checked out -> code, base that is found
SIDES = {
    "a-pull-request-is-compared-with-what-it-was-merged-into": (
        ("pull_request", "", "second", "merged"),
        (0, "base"),
    ),
    "a-head-that-moved-is-left-to-the-newer-run": (("pull_request", "", "more", "merged"), (2, None)),
    "a-head-that-is-not-merged-is-none": (("pull_request", "", "second", "second"), (2, None)),
    # Of a queue that squashes or rebases there is no second parent: the event says what the group stands on.
    "a-group-is-compared-with-what-it-stands-on": (("merge_group", "base", "", "second"), (0, "base")),
    "a-group-stands-on-the-group-before": (("merge_group", "more", "", "merged-on-more"), (0, "more")),
    "a-base-that-is-no-commit-is-no-answer": (("merge_group", "$(touch pwned)", "", "second"), (128, None)),
}


@pytest.mark.parametrize(("given", "expected"), SIDES.values(), ids=SIDES)
def test_the_two_sides(
    given: tuple[str, str, str, str], expected: tuple[int, str | None], branches: Branches, tmp_path: Path
) -> None:
    event, group, head, checked_out = given
    ids = {"base": branches.base, "more": branches.more, "second": branches.second}
    if checked_out == "second":
        git(branches.folder, "checkout", "--quiet", "--detach", branches.second)
    else:
        branches.merge(branches.more if checked_out == "merged-on-more" else branches.base, branches.second)
    values = {
        "github.event.pull_request.head.sha": ids.get(head, head),
        "github.event.merge_group.base_sha": ids.get(group, group),
    }
    ended = STEPS["Find both sides"].run(Runner(branches.folder, tmp_path, {"GITHUB_EVENT_NAME": event}), values)
    code, base = expected
    outputs = {} if base is None else {"base": ids[base], "head": git(branches.folder, "rev-parse", "HEAD")}
    assert (ended.code, ended.outputs) == (code, outputs), ended.printed
    assert list(tmp_path.rglob("pwned")) == []


def test_a_tree_that_nobody_rendered_fails(branches: Branches, tmp_path: Path) -> None:
    git(branches.folder, "checkout", "--quiet", "--detach", branches.more)
    git(branches.folder, "checkout", branches.base, "--", "overlays")
    commit(branches.folder, "forgotten")
    ended = STEPS["Compare the rendered tree"].run(Runner(branches.folder, tmp_path, {}))
    assert ended.code == 1
    assert "[folder-stale]" in ended.printed


def test_without_an_answer_there_is_no_report(branches: Branches, tmp_path: Path) -> None:
    git(branches.folder, "rm", "--quiet", "poolwright.yaml")
    head = commit(branches.folder, "gone")
    values = {"steps.sides.outputs.base": branches.base, "steps.sides.outputs.head": head}
    write_files(tmp_path, {"poolwright/report.json": b"an earlier one, on a machine that is kept"})
    ended = STEPS["Say what the change does"].run(Runner(branches.folder, tmp_path, {}), values)
    assert ended.code == 2, ended.printed
    assert list((tmp_path / "poolwright").iterdir()) == []
