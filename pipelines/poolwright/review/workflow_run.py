"""Which pull request a workflow run was for: by what GitHub says of the run, and by nothing that the run made.

Source: docs.github.com: webhook events and payloads, workflow_run; REST, list pull requests
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from poolwright.review.answers import list_entries, take, take_id, take_text
from poolwright.review.github import check_reply, check_repository
from poolwright.review.refusal import ReviewError
from poolwright.review.transport import Api

MAX_EVENT_BYTES: Final = 4 << 20
_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowRun:
    """What a run was started by."""

    repository: str  # OWNER/REPO that it ran in, and whose pull request it is
    trigger: str  # pull_request, push, ...
    branch: str  # of the head
    commit: str  # of the head, 40 or 64 hex digits
    head_repository: str | None  # OWNER/REPO of the head, a fork's too; None: it is gone


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPull:
    """The one pull request."""

    number: int
    commits: tuple[str, ...]  # its head, and what merging it into the base gives


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPull:
    """There is none to post to. That isn't a failure: pull requests are closed, and heads move on."""

    why: str


def parse_event(data: bytes) -> WorkflowRun:
    """The run of a `workflow_run` event, as GitHub hands it to the job (GITHUB_EVENT_PATH).

    Raises: ReviewError if it is another event, or none.
    """
    try:
        event = json.loads(data)
        run = event["workflow_run"]
        head = run["head_repository"]
        found = WorkflowRun(
            repository=check_repository(_text(event["repository"]["full_name"])),
            trigger=_text(run["event"]),
            branch=_text(run["head_branch"] or ""),
            commit=_text(run["head_sha"]),
            head_repository=None if head is None else check_repository(_text(head["full_name"])),
        )
        if not _COMMIT.fullmatch(found.commit):
            raise ValueError
    except (ValueError, LookupError, TypeError, RecursionError, ReviewError):
        raise ReviewError(
            code="review-event",
            what="the event isn't a workflow_run event",
            why="it says which commit the run was of, and so which pull request",
            fix='in a job `on: workflow_run`: --workflow-run "$GITHUB_EVENT_PATH"',
        ) from None
    return found


def find_pull(api: Api, run: WorkflowRun) -> FoundPull | NoPull:
    """The open pull request from the run's branch, of its repository, with its commit.

    Raises: ReviewError.
    """
    if run.trigger != "pull_request":
        return NoPull(why="the run wasn't started by a pull request")
    if run.head_repository is None or not run.branch:
        return NoPull(why="the repository or branch that the run was of is gone")
    owner = run.head_repository.partition("/")[0]
    entries = list_entries(
        api,
        f"/repos/{run.repository}/pulls",
        (("state", "open"), ("head", f"{owner}:{run.branch}")),
        lambda reply: check_reply(api, reply, run.repository, "read"),
    )
    host = api.host
    # Looked at again: GitHub leaves a `head` that it doesn't understand out of account, and lists everything.
    mine = [
        one
        for one in entries
        if take_text(one, host, "head", "ref") == run.branch
        and take_text(one, host, "head", "repo", "full_name").lower() == run.head_repository.lower()
    ]
    same = [one for one in mine if take_text(one, host, "head", "sha") == run.commit]
    if len(same) == 1:
        merged = take(same[0], host, "merge_commit_sha")
        commits = (run.commit, *([merged] if isinstance(merged, str) else []))
        return FoundPull(number=take_id(same[0], host, "number"), commits=commits)
    if same:
        numbers = ", ".join(f"#{take_id(one, host, 'number')}" for one in same)
        return NoPull(why=f"{len(same)} open pull requests have that head ({numbers}), and which is meant isn't known")
    if mine:
        return NoPull(why="the head of its pull request has moved on: the run of the new head posts")
    return NoPull(why="no open pull request has that head")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value
