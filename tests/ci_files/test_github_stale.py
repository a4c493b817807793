"""poolwright-stale: which answers don't hold any more, and the runs that are started again."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from copied import Runner, commit, git, read_steps
from github_artifacts import NAME, pack, reply_json, serve_artifact

from loopback_server import Request, Server, in_turn, reply, run_server
from needs import needs

FETCH, COMPARE_ROOT = read_steps("poolwright-stale", "compare").values()
(AGAIN,) = read_steps("poolwright-stale", "again").values()
# As somebody edits it whose project isn't the whole repository.
COMPARE = dataclasses.replace(COMPARE_ROOT, variables={**COMPARE_ROOT.variables, "POOLWRIGHT_PROJECT": "fleet"})
TOKEN = {"github.token": "s3cret"}
API = "/repos/o/r"


@pytest.fixture
def service() -> Iterator[Server]:
    needs("curl"), needs("jq"), needs("unzip")
    with run_server() as server:
        yield server


@pytest.fixture
def history(tmp_path: Path) -> dict[str, str]:
    """Commits of tmp_path/repository by name; its project is in fleet/."""
    folder = tmp_path / "repository"
    ids = {}
    (folder / "fleet" / "inventory").mkdir(parents=True)
    git(folder, "init", "--quiet", "-b", "main")
    (folder / "fleet" / "poolwright.yaml").write_text("a: 1\n")
    (folder / "fleet" / "inventory" / "east.yaml").write_text("a: 1\n")
    ids["first"] = commit(folder, "first")
    git(folder, "checkout", "--quiet", "-b", "other")
    ids["of another branch"] = commit(folder, "other")
    git(folder, "checkout", "--quiet", "main")
    (folder / "fleet" / "inventory" / "east.yaml").write_text("a: 2\n")
    ids["inventory"] = commit(folder, "inventory")
    (folder / "readme").write_text("a\n")
    ids["readme"] = commit(folder, "readme")
    return ids


def report(base: object) -> str:
    return json.dumps({"base": {"name": "main", "commit": base}})


NO_REPORT = "stale: there is no report"
CHANGED = "stale: the project has changed since {first}"
# report, with names of commits in braces -> what is said of it
REPORTS = {
    "of-the-newest-commit": (report("{readme}"), "current"),
    "of-one-since-which-only-other-folders-changed": (report("{inventory}"), "current"),
    "of-one-since-which-the-inventory-changed": (report("{first}"), CHANGED),
    "of-another-branch": (report("{of another branch}"), "stale: its base {of another branch} isn't of this branch"),
    "of-a-commit-that-is-nowhere": (report("0" * 40), f"stale: its base {'0' * 40} isn't of this branch"),
    "empty": ("", NO_REPORT),
    "no-json": ("{{{{", NO_REPORT),
    "of-a-folder": (report(None), NO_REPORT),
    "a-list-of-commits": (report(["{readme}"]), NO_REPORT),
    "a-name": (report("HEAD"), NO_REPORT),
    "short": (report("0000000"), NO_REPORT),
    "an-option": (report("--output=pwned"), NO_REPORT),
    "a-command": (report("$(touch pwned)"), NO_REPORT),
    "two-lines": (report("{readme}\n{first}"), NO_REPORT),
    "two-reports": (report("{readme}") + report("{readme}"), NO_REPORT),
}


def write_report(temp: Path, text: str) -> None:
    (temp / "reports").mkdir()
    (temp / "reports" / "7.123.json").write_text(text)


@pytest.mark.parametrize(("text", "expected"), REPORTS.values(), ids=REPORTS)
def test_a_report_is_compared_with_the_branch(
    text: str, expected: str, tmp_path: Path, history: dict[str, str]
) -> None:
    needs("jq")
    for name, commit_id in history.items():
        text, expected = (one.replace(f"{{{name}}}", commit_id) for one in (text, expected))
    write_report(tmp_path, text)
    ended = COMPARE.run(Runner(tmp_path / "repository", tmp_path, {}))
    stale = "" if expected == "current" else "7.123"
    assert (ended.code, ended.printed, ended.outputs) == (0, f"#7: {expected}\n", {"stale": stale})
    assert list(tmp_path.rglob("pwned")) == []


def test_a_project_that_is_the_repository_changes_with_every_file(tmp_path: Path, history: dict[str, str]) -> None:
    write_report(tmp_path, report(history["inventory"]))
    ended = COMPARE_ROOT.run(Runner(tmp_path / "repository", tmp_path, {}))
    assert (ended.code, ended.outputs) == (0, {"stale": "7.123"})


def test_no_report_is_stale_where_none_is_open(tmp_path: Path, history: dict[str, str]) -> None:
    ended = COMPARE.run(Runner(tmp_path / "repository", tmp_path, {}))
    assert (ended.code, ended.printed, ended.outputs) == (0, "", {"stale": ""})


def test_a_folder_that_is_none_is_no_answer(tmp_path: Path, history: dict[str, str]) -> None:
    wrong = dataclasses.replace(COMPARE, variables={"POOLWRIGHT_PROJECT": "flet"})
    assert wrong.run(Runner(tmp_path / "repository", tmp_path, {})).code == 128


def fetch(server: Server, tmp_path: Path) -> tuple[int, dict[str, str]]:
    """Run the step; its exit code, and the reports that it wrote by name."""
    names = {"GITHUB_API_URL": f"http://{server.host}", "GITHUB_REPOSITORY": "o/r", "GITHUB_REF_NAME": "a&b"}
    ended = FETCH.run(Runner(tmp_path, tmp_path, names), TOKEN)
    assert "s3cret" not in ended.printed
    return ended.code, {path.name: path.read_text() for path in (tmp_path / "reports").glob("*.json")}


def pull(number: int, head: str) -> dict[str, object]:
    return {"number": number, "head": {"sha": head, "ref": "$(touch pwned)"}, "title": "$(touch pwned)"}


def list_runs(head: str) -> str:
    return f"{API}/actions/workflows/poolwright-review.yaml/runs?event=pull_request&head_sha={head}&per_page=1"


def list_pulls(page: int) -> str:
    return f"{API}/pulls?state=open&base=a%26b&per_page=100&page={page}"


def test_reports_of_green_reviews_are_fetched(service: Server, tmp_path: Path) -> None:
    heads = {7: "aa", 8: "bb", 9: "cc", 10: "dd"}
    runs = {
        "aa": [{"id": 70, "run_attempt": 2, "conclusion": "success"}],
        "bb": [{"id": 80, "run_attempt": 1, "conclusion": "failure"}],  # it blocks as it is
        "cc": [],  # nobody judged it yet
        "dd": [{"id": 100, "run_attempt": 1, "conclusion": "success"}],  # its report has expired
    }
    service.answers[list_pulls(1)] = reply_json([pull(*item) for item in heads.items()])
    for head, found in runs.items():
        service.answers[list_runs(head)] = reply_json({"workflow_runs": found})
    serve_artifact(service, 70, 2, pack({NAME: b"the report"}))
    serve_artifact(service, 100, 1, pack({NAME: b"too old"}), expired=True)
    assert fetch(service, tmp_path) == (0, {"7.70.json": "the report", "10.100.json": ""})
    told = {one.path.startswith("/store/"): one.authorization for one in service.asked}
    assert told == {False: "Bearer s3cret", True: None}
    assert list(tmp_path.rglob("pwned")) == []


def test_all_pages_are_asked_for(service: Server, tmp_path: Path) -> None:
    service.answers[list_pulls(1)] = reply_json([pull(number, "") for number in range(100)])  # skipped
    service.answers[list_pulls(2)] = reply_json([pull(100, "bb")])
    service.answers[list_runs("bb")] = reply_json({"workflow_runs": []})
    assert fetch(service, tmp_path) == (0, {})
    assert service.asked[-1] == Request(list_runs("bb"), "Bearer s3cret")


@pytest.mark.parametrize("answer", [reply(b"no", 403), reply(b"no json"), reply_json({"message": "no list"})])
def test_a_service_that_does_not_answer_is_no_green(answer: object, service: Server, tmp_path: Path) -> None:
    service.answers[list_pulls(1)] = answer  # type: ignore[assignment]
    code, reports = fetch(service, tmp_path)
    assert (code != 0, reports) == (True, {})


def test_stale_runs_start_again_once_the_merge_is_made_anew(service: Server, tmp_path: Path) -> None:
    service.answers[f"{API}/pulls/7"] = in_turn(reply_json({"mergeable": None}), reply_json({"mergeable": True}))
    service.answers[f"{API}/pulls/8"] = reply_json({"mergeable": False})
    service.answers[f"{API}/actions/runs/70/rerun"] = reply(b"{}", 201)
    service.answers[f"{API}/actions/runs/80/rerun"] = reply(b"{}", 403)
    names = {"GITHUB_API_URL": f"http://{service.host}", "GITHUB_REPOSITORY": "o/r"}
    values = {**TOKEN, "needs.compare.outputs.stale": "7.70 8.80"}
    ended = AGAIN.run(Runner(tmp_path, tmp_path, names), values)
    lines = [line for line in ended.printed.splitlines() if not line.startswith("curl:")]
    assert (ended.code, lines) == (
        1,
        [
            "#7: run 70 starts again",
            "::error::#8: run 80 can't be started again (30 days are the most): update its branch.",
        ],
    )
    asked = [(one.method, one.path.removeprefix(API)) for one in service.asked]
    assert asked == [
        ("GET", "/pulls/7"),
        ("GET", "/pulls/7"),
        ("POST", "/actions/runs/70/rerun"),
        ("GET", "/pulls/8"),
        ("POST", "/actions/runs/80/rerun"),
    ]
