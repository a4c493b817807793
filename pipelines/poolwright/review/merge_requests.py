"""All open merge requests of a project, and the report that each one's own pipeline left.

For a poster that runs on the protected default branch. What a merge request can set (its texts, branches, pipeline
definition, artifacts) chooses neither project, merge request nor commit: those are the server's answers alone, and
what an artifact holds is bytes that nobody vouches for.

Source: docs.gitlab.com: merge requests API, jobs API, job artifacts API
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from poolwright.review.answers import list_entries, read_object, take, take_id, take_text
from poolwright.review.gitlab import build_project_path, check_reply
from poolwright.review.refusal import ReviewError
from poolwright.review.transport import Api

_ARTIFACT: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMerge:
    """An open merge request as the project lists it."""

    number: int  # its iid
    commit: str  # of its head


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSource:
    """Which job leaves the report, and in which file of its artifacts."""

    job: str
    artifact: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundReport:
    """What the job left."""

    data: bytes
    commits: tuple[str, ...]  # the head, and what the pipeline ran on


@dataclass(frozen=True, slots=True, kw_only=True)
class NoReport:
    """There is none to post, which a later run may find otherwise."""

    why: str


def check_artifact(path: str) -> str:
    """The path of a file in an artifact. Raises: ReviewError if it could lead elsewhere."""
    if not _ARTIFACT.fullmatch(path):
        raise ReviewError(
            code="review-setup",
            what="the artifact isn't named by a plain path",
            why="it is a part of the address that is asked for",
            fix="--artifact poolwright-report.json",
        )
    return path


def list_open(api: Api, project: str) -> tuple[OpenMerge, ...]:
    """The open merge requests of a project, the oldest first. Raises: ReviewError."""
    entries = list_entries(
        api,
        f"{build_project_path(project)}/merge_requests",
        (("state", "opened"), ("order_by", "created_at"), ("sort", "asc")),
        lambda reply: check_reply(api, reply, project, "read"),
    )
    return tuple(
        OpenMerge(number=take_id(one, api.host, "iid"), commit=take_text(one, api.host, "sha")) for one in entries
    )


def fetch_report(
    api: Api, project: str, merge: OpenMerge, source: ReportSource, *, most_bytes: int
) -> FoundReport | NoReport:
    """The newest report of the merge request's head commit, from its own pipeline in its own project.

    Raises: ReviewError.
    """
    host, root = api.host, build_project_path(project)
    name = f"{project}!{merge.number}"
    reply = api.ask("GET", f"{root}/merge_requests/{merge.number}")
    check_reply(api, reply, name, "read")
    found = read_object(reply, host)
    if take_text(found, host, "sha") != merge.commit:
        return NoReport(why="its head has moved on meanwhile")
    pipeline = found.get("head_pipeline")
    if pipeline is None:
        return NoReport(why="no pipeline has run for it")
    if take_id(pipeline, host, "project_id") != take_id(found, host, "target_project_id"):
        return NoReport(
            why="its pipeline ran in a fork, whose jobs aren't read: a member can run one in this project, on the tab "
            "Pipelines of the merge request"
        )
    commit = take_text(pipeline, host, "sha")
    if commit != merge.commit and not _is_merge_of(api, root, merge, pipeline):
        return NoReport(why="its newest pipeline is of another commit than its head")
    job = _find_job(api, f"{root}/pipelines/{take_id(pipeline, host, 'id')}/jobs", name, source.job)
    if job is None:
        return NoReport(why="the job of its pipeline that makes the report hasn't succeeded, or isn't there")
    return _read_artifact(
        api, f"{root}/jobs/{job}/artifacts/{quote(source.artifact)}", most_bytes, name, (merge.commit, commit)
    )


def _is_merge_of(api: Api, root: str, merge: OpenMerge, pipeline: Any) -> bool:
    """Whether a pipeline ran on what merging the head gives: a commit of GitLab's own that has it as parent."""
    host = api.host
    if take_text(pipeline, host, "ref") != f"refs/merge-requests/{merge.number}/merge":
        return False
    reply = api.ask("GET", f"{root}/repository/commits/{quote(take_text(pipeline, host, 'sha'), safe='')}")
    if reply.status == 404:
        return False
    check_reply(api, reply, "the commit of a pipeline", "read")
    parents = take(read_object(reply, host), host, "parent_ids")
    return isinstance(parents, list) and merge.commit in parents


def _find_job(api: Api, path: str, name: str, wanted: str) -> int | None:
    """The newest job of that name that succeeded."""
    entries = list_entries(api, path, (("scope[]", "success"),), lambda reply: check_reply(api, reply, name, "read"))
    return max(
        (take_id(one, api.host, "id") for one in entries if take_text(one, api.host, "name") == wanted), default=None
    )


def _read_artifact(api: Api, path: str, most_bytes: int, name: str, commits: tuple[str, ...]) -> FoundReport | NoReport:
    reply = api.ask("GET", path, most_bytes=most_bytes)
    if reply.status == 404:
        return NoReport(why="its job left no such artifact, or it has expired")
    check_reply(api, reply, name, "read")
    return FoundReport(data=reply.body, commits=tuple(dict.fromkeys(commits)))
