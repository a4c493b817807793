"""The pull request that a workflow run was for, found by what GitHub says of the run and nothing else."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from contract_server import Answer, ContractServer
from github_run import Poster
from reports import build_report, render_pages

from run_poolwright import Ran

HEAD, MERGE, OTHER = "a" * 40, "c" * 40, "d" * 40
LIST = "GET /repos/acme/fleet/pulls"
# What GitHub's event has, and this reads of it.
EVENT: dict[str, Any] = {
    "action": "completed",
    "workflow_run": {
        "id": 30433642,
        "event": "pull_request",
        "status": "completed",
        "conclusion": "success",
        "head_branch": "tighter",
        "head_sha": HEAD,
        "head_repository": {"id": 1, "full_name": "acme/fleet", "owner": {"login": "acme"}},
        "pull_requests": [],  # of a fork's run always empty, so that nothing is read from it
    },
    "repository": {"id": 1, "full_name": "acme/fleet", "owner": {"login": "acme"}},
}


def event(**run: object) -> dict[str, Any]:
    found = copy.deepcopy(EVENT)
    found["workflow_run"] |= run
    return found


def fork(name: str) -> dict[str, Any]:
    return {"full_name": name, "owner": {"login": name.partition("/")[0]}}


def post(poster: Poster, found: object, *options: str, head: str | None = HEAD) -> Ran:
    poster.write(build_report("one", head=head))
    data = found if isinstance(found, bytes) else json.dumps(found).encode()
    (poster.folder / "event.json").write_bytes(data)
    return poster.run("--report", "report.json", "--workflow-run", "event.json", *options)


POSTED = Ran(0, "acme/fleet#7: page 1 of 1 posted\n", "")


def test_the_pull_request_of_a_branch(server: ContractServer, poster: Poster) -> None:
    server.add_pull(7, "acme/fleet:tighter", HEAD)
    server.add_pull(8, "acme/fleet:another", HEAD)
    assert post(poster, EVENT) == POSTED
    assert server.asked[:2] == [LIST, "GET /user"]


def test_the_pull_request_of_a_fork(server: ContractServer, poster: Poster) -> None:
    server.add_pull(7, "mallory/fleet:tighter", HEAD)
    assert post(poster, event(head_repository=fork("mallory/fleet"))) == POSTED


# pull requests, the run, why nothing is posted
NONE: dict[str, tuple[list[tuple[int, str, str]], dict[str, Any], str]] = {
    "closed": ([], event(), "no open pull request has that head"),
    "moved-on": (
        [(7, "acme/fleet:tighter", OTHER)],
        event(),
        "the head of its pull request has moved on: the run of the new head posts",
    ),
    "two-of-one-branch": (
        [(7, "acme/fleet:tighter", HEAD), (9, "acme/fleet:tighter", HEAD)],
        event(),
        "2 open pull requests have that head (#7, #9), and which is meant isn't known",
    ),
    # A fork may call its branch as ours is called, and start a run of it.
    "a-fork-with-a-branch-of-the-same-name": (
        [(7, "acme/fleet:tighter", HEAD)],
        event(head_repository=fork("mallory/fleet")),
        "no open pull request has that head",
    ),
    "another-repository-of-the-same-owner": (
        [(7, "acme/tools:tighter", HEAD)],
        event(),
        "no open pull request has that head",
    ),
    "a-push": ([(7, "acme/fleet:tighter", HEAD)], event(event="push"), "the run wasn't started by a pull request"),
    "a-fork-that-is-gone": (
        [(7, "acme/fleet:tighter", HEAD)],
        event(head_repository=None),
        "the repository or branch that the run was of is gone",
    ),
    "a-branch-that-is-gone": (
        [(7, "acme/fleet:tighter", HEAD)],
        event(head_branch=None),
        "the repository or branch that the run was of is gone",
    ),
}


@pytest.mark.parametrize("name", NONE)
def test_nothing_is_posted(name: str, server: ContractServer, poster: Poster) -> None:
    """And that is no failure: the poster runs on the default branch, and pull requests come and go."""
    pulls, found, why = NONE[name]
    for number, head, commit in pulls:
        server.add_pull(number, head, commit)
    text = f"poolwright comment: nothing is posted in acme/fleet for the run of {HEAD}: {why}\n"
    assert post(poster, found) == Ran(0, "", text)
    assert server.writes == []


def test_github_may_not_understand_the_filter(server: ContractServer, poster: Poster) -> None:
    """Then it lists every pull request."""
    server.add_pull(8, "acme/fleet:another", HEAD)
    server.faults.append((LIST, lambda _, __: Answer(200, server.pulls)))
    assert post(poster, EVENT).stderr.endswith("no open pull request has that head\n")
    assert server.writes == []


# --- what the report says chooses nothing, and is said where it differs ---

CLAIMS: dict[str, tuple[str | None, str]] = {
    "the-head": (HEAD, ""),
    "what-merging-gives": (MERGE, ""),
    "another": (OTHER, OTHER),
    "none": (None, "no commit"),
    "long-and-hostile": ("\x1b[2J" + "x" * 100, "\\x1b[2J" + "x" * 60),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_a_report_of_another_commit_is_posted_and_said(name: str, server: ContractServer, poster: Poster) -> None:
    claimed, shown = CLAIMS[name]
    server.add_pull(7, "acme/fleet:tighter", HEAD, merge=MERGE)
    text = f"poolwright comment: the report says that it is of {shown}; the head of acme/fleet#7 is {HEAD}\n"
    assert post(poster, EVENT, head=claimed) == Ran(0, POSTED.stdout, text if shown else "")
    assert server.bodies() == [
        f"poolwright-bot: {body}"
        for body in render_pages(build_report("one", head=claimed), limit=65_536, project="fleet")
    ]


# --- events that are none ---

NO_EVENT = (
    "poolwright comment: the event isn't a workflow_run event  [review-event]\n"
    "  why  it says which commit the run was of, and so which pull request (poolwright comment)\n"
    '  fix  in a job `on: workflow_run`: --workflow-run "$GITHUB_EVENT_PATH"\n'
)
EVENTS: dict[str, object] = {
    "no-json": b"{",
    "deep": b"[" * 100_000,
    "a-list": [],
    "pull-request": {"pull_request": {"number": 7}, "repository": EVENT["repository"]},
    "no-repository": {"workflow_run": EVENT["workflow_run"]},
    "a-branch-for-a-commit": event(head_sha="main"),
    "a-repository-that-is-a-path": EVENT | {"repository": {"full_name": "acme/../../x"}},
    "a-number-for-a-branch": event(head_branch=7),
}


@pytest.mark.parametrize("name", EVENTS)
def test_other_events(name: str, server: ContractServer, poster: Poster) -> None:
    assert post(poster, EVENTS[name]) == Ran(2, "", NO_EVENT)
    assert server.asked == []


def test_an_event_of_another_repository(server: ContractServer, poster: Poster) -> None:
    assert post(poster, EVENT, "--github", "acme/tools") == Ran(
        2,
        "",
        "poolwright comment: the event is of acme/fleet, and the repository is said to be acme/tools  [review-event]\n"
        "  why  a run's pull request is in the repository that it ran in (poolwright comment)\n"
        "  fix  leave --github out, or name that repository\n",
    )
    assert server.asked == []


def test_a_dry_run_finds_the_pull_request(server: ContractServer, poster: Poster) -> None:
    server.add_pull(7, "acme/fleet:tighter", HEAD)
    ran = post(poster, EVENT, "--dry-run")
    assert ran == Ran(0, "POST /repos/acme/fleet/issues/7/comments  page 1 of 1, 161 characters\n", "")
    poster.environment.delenv("GITHUB_TOKEN")
    note = "poolwright comment: without a token nothing is asked, so which pull request it is isn't known\n"
    assert post(poster, EVENT, "--dry-run") == Ran(0, "page 1 of 1: 161 characters\n", note)
    assert server.writes == []
