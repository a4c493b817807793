"""The jobs of GitLab, run on what it checks out."""

from __future__ import annotations

from pathlib import Path

import pytest
from copied import Runner, git, run_job
from two_branches import HOSTILE, Branches

from loopback_server import reply, run_server
from poolwright.changes.report import parse_report

# kind of pipeline, what the second branch is merged into or none -> code of the review, commit that it is compared with
PIPELINES = {
    "merged-result": (("merged_result", "base"), (0, "base")),
    "merge-train-behind-another": (("merge_train", "more"), (1, "more")),
    # Nothing is merged here, so that only the settings of the project keep it from being merged untested.
    "the-branch-by-itself": (("detached", None), (0, "base")),
}


@pytest.mark.parametrize(("given", "expected"), PIPELINES.values(), ids=PIPELINES)
def test_a_merge_request_is_judged_and_its_report_kept(
    given: tuple[str, str | None], expected: tuple[int, str], branches: Branches, tmp_path: Path
) -> None:
    kind, target = given
    code, name = expected
    ids = {"base": branches.base, "more": branches.more}
    if target is None:
        git(branches.folder, "checkout", "--quiet", "--detach", branches.second)
    else:
        branches.merge(ids[target], branches.second)
    (branches.folder / "poolwright-report.json").mkdir()  # whatever the merge request has there
    names = {
        "CI_MERGE_REQUEST_EVENT_TYPE": kind,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": branches.base,
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": HOSTILE,
        "CI_MERGE_REQUEST_TITLE": HOSTILE,
        "CI_COMMIT_MESSAGE": HOSTILE,
    }
    temp = tmp_path / "temp"
    temp.mkdir()
    ended = {
        job: run_job(job, Runner(branches.folder, temp, names)) for job in ("poolwright-review", "poolwright-report")
    }
    assert {job: one.code for job, one in ended.items()} == {"poolwright-review": code, "poolwright-report": 0}, ended
    report = parse_report((branches.folder / "poolwright-report.json").read_bytes())
    assert (report.base.commit, report.head.commit) == (ids[name], git(branches.folder, "rev-parse", "HEAD"))
    assert list(tmp_path.rglob("pwned")) == []


def test_without_an_answer_there_is_no_report(branches: Branches, tmp_path: Path) -> None:
    git(branches.folder, "checkout", "--quiet", "--detach", branches.second)
    (branches.folder / "poolwright-report.json").write_text("somebody's")
    names = {"CI_MERGE_REQUEST_EVENT_TYPE": "detached", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "0" * 40}
    temp = tmp_path / "temp"
    temp.mkdir()
    ended = run_job("poolwright-report", Runner(branches.folder, temp, names))
    assert ended.code == 128, ended.printed


def test_the_poster_asks_for_open_merge_requests_of_its_own_project(tmp_path: Path) -> None:
    with run_server() as service:
        path = "/projects/7/merge_requests?state=opened&order_by=created_at&sort=asc&per_page=100&page=1"
        service.answers[path] = reply(b"[]", headers={"Content-Type": "application/json"})
        names = {
            "CI_API_V4_URL": f"http://{service.host}",
            "CI_PROJECT_ID": "7",
            "POOLWRIGHT_GITLAB_TOKEN": "s3cret",
            "TRIGGER_PAYLOAD": HOSTILE,
        }
        ended = run_job("poolwright-comment", Runner(tmp_path, tmp_path, names))
    assert (ended.code, ended.printed) == (0, ""), service.asked
    assert [one.path for one in service.asked] == [path]
