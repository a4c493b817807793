"""Which conversation `poolwright comment` is about: options first, then what GitHub Actions and GitLab CI say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import click

from poolwright.review.github import DEFAULT_ADDRESS as GITHUB_ADDRESS
from poolwright.review.github import MAX_CHARACTERS as GITHUB_CHARACTERS
from poolwright.review.github import TOKENS as GITHUB_TOKENS
from poolwright.review.github import PullRequest, check_repository, open_github
from poolwright.review.gitlab import DEFAULT_ADDRESS as GITLAB_ADDRESS
from poolwright.review.gitlab import MAX_CHARACTERS as GITLAB_CHARACTERS
from poolwright.review.gitlab import TOKENS as GITLAB_TOKENS
from poolwright.review.gitlab import MergeRequest, build_project_path, open_gitlab
from poolwright.review.limits import Limits
from poolwright.review.refusal import ReviewError
from poolwright.review.token import Token, read_token
from poolwright.review.transport import Api

_PULL_REF: Final = re.compile(r"refs/pull/([1-9][0-9]{0,9})/(merge|head)")
_LINK: Final = re.compile(r"https://[A-Za-z0-9._~:/?#@!$&*+,;=%-]{1,2000}")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommentOptions:
    """What the command line says."""

    report: str = ""  # a file, or - for standard input; empty with gitlab_all
    github: str | None = None  # OWNER/REPO
    pull: int | None = None
    workflow_run: str | None = None  # the file of the event
    gitlab: str | None = None  # number or path of the project
    merge_request: int | None = None
    gitlab_all: bool = False  # every open merge request, each with its own report
    job: str = "poolwright-report"
    artifact: str = "poolwright-report.json"
    link: str | None = None
    author: str | None = None
    name: str | None = None  # of the project that the report must be of
    always: bool = False
    dry_run: bool = False
    bodies: bool = False


def build_options(given: Mapping[str, Any]) -> CommentOptions:
    """The command line's options, by name; those that weren't given are None or False.

    Raises: click.UsageError if they don't go together.
    """
    for wrong, text in (
        (
            given["gitlab_all"] and given["report"],
            "--gitlab-all reads a report of each merge request: leave out --report",
        ),
        (not (given["gitlab_all"] or given["report"]), "--report FILE says what to post"),
        (
            given["gitlab_all"] and given["merge_request"],
            "--gitlab-all is every merge request: leave out --merge-request",
        ),
        (given["pull"] and given["workflow_run"], "--workflow-run finds the pull request: leave out --pull"),
        ((given["job"] or given["artifact"]) and not given["gitlab_all"], "--job and --artifact go with --gitlab-all"),
        (given["bodies"] and not given["dry_run"], "--bodies goes with --dry-run"),
        (_is_both(given), "a comment is for GitHub or for GitLab, one at a time"),
    ):
        if wrong:
            raise click.UsageError(text)
    return CommentOptions(**{name: value for name, value in given.items() if value is not None})


def _is_both(given: Mapping[str, Any]) -> bool:
    github, gitlab = ("github", "pull", "workflow_run"), ("gitlab", "merge_request", "gitlab_all")
    return any(given[name] for name in github) and any(given[name] for name in gitlab)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where comments go."""

    host: Literal["github", "gitlab"]
    repository: str | None  # as the host's API addresses it; None: nothing says
    number: int | None  # of the pull request or merge request; None: nothing says
    address: str  # of the API
    token: Token | None = field(repr=False)

    @property
    def max_characters(self) -> int:
        """Of one comment."""
        return GITHUB_CHARACTERS if self.host == "github" else GITLAB_CHARACTERS

    def open_api(self, limits: Limits) -> Api:
        """The API, to be asked with the token. Raises: ReviewError if there is none."""
        if self.token is None:
            raise ReviewError(code="review-token", what=_MISSING[self.host], why=_WHY[self.host], fix=_FIX[self.host])
        opener = open_github if self.host == "github" else open_gitlab
        return opener(self.address, self.token, limits)

    def open_forum(self, api: Api, number: int, author: str | None) -> PullRequest | MergeRequest:
        """The conversation. Raises: ReviewError if nothing says where it is."""
        if self.repository is None:
            raise _unnamed(self.host)
        forum = PullRequest if self.host == "github" else MergeRequest
        return forum(api, self.repository, number, author=author)


_MISSING: Final = {
    "github": "neither GH_TOKEN nor GITHUB_TOKEN is set",
    "gitlab": "neither POOLWRIGHT_GITLAB_TOKEN nor GITLAB_TOKEN is set",
}
_WHY: Final = {
    "github": "comments are written by somebody, and a token comes from the environment alone",
    "gitlab": "comments are written by somebody, and CI_JOB_TOKEN may read notes but write none",
}
_FIX: Final = {
    "github": "in GitHub Actions `env: {GITHUB_TOKEN: ${{ github.token }}}` of the step",
    "gitlab": "make a project access token with the role Reporter and the scope api, and a protected, masked variable "
    "POOLWRIGHT_GITLAB_TOKEN with it",
}


def find_target(options: CommentOptions, environment: Mapping[str, str]) -> Target:
    """What the options name, else what the CI job runs for. Raises: ReviewError if what is named can't be meant."""
    wants_gitlab = options.gitlab or options.merge_request or options.gitlab_all
    wants_github = options.github or options.pull or options.workflow_run
    if wants_gitlab or (not wants_github and environment.get("GITLAB_CI") == "true"):
        project = options.gitlab or environment.get("CI_PROJECT_ID") or None
        if project is not None:
            build_project_path(project)
        return Target(
            host="gitlab",
            repository=project,
            number=options.merge_request or _read_number(environment.get("CI_MERGE_REQUEST_IID", "")),
            address=environment.get("CI_API_V4_URL") or GITLAB_ADDRESS,
            token=read_token(environment, GITLAB_TOKENS),
        )
    repository = options.github or environment.get("GITHUB_REPOSITORY") or None
    if repository is not None:
        check_repository(repository)
    ref = _PULL_REF.fullmatch(environment.get("GITHUB_REF", ""))
    return Target(
        host="github",
        repository=repository,
        number=options.pull or (int(ref[1]) if ref and not options.github else None),
        address=environment.get("GITHUB_API_URL") or GITHUB_ADDRESS,
        token=read_token(environment, GITHUB_TOKENS),
    )


def check_named(target: Target) -> int:
    """The number of a target that is wholly named. Raises: ReviewError."""
    if target.repository is None or target.number is None:
        raise _unnamed(target.host)
    return target.number


def check_link(link: str | None) -> None:
    """Raises: ReviewError unless it is none, or an address that can stand in a comment."""
    if link is not None and not _LINK.fullmatch(link):
        raise ReviewError(
            code="review-setup",
            what="the link isn't an address that can stand in a comment",
            why="readers follow it to the whole report",
            fix="--link https://ci.example.com/runs/7: https, and no spaces, quotes, brackets or parentheses",
        )


def _unnamed(host: Literal["github", "gitlab"]) -> ReviewError:
    options = {
        "github": "--github OWNER/REPO --pull N, or --workflow-run EVENT.json in a job `on: workflow_run`",
        "gitlab": "--gitlab PROJECT --merge-request N, or --gitlab-all",
    }
    return ReviewError(
        code="review-setup",
        what="nothing says which pull request or merge request the comment is for",
        why="it isn't guessed, and no report chooses it",
        fix=options[host],
    )


def _read_number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None
