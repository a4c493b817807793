"""The comments of a pull request on GitHub, and what its refusals mean.

Source: docs.github.com/rest/issues/comments, version 2022-11-28
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from poolwright.comments.reconcile import Comment, Create, Delete, Update
from poolwright.review.answers import list_entries, read_object, take_id, take_text
from poolwright.review.limits import Limits
from poolwright.review.refusal import ChangedError, ReviewError, refuse_answer
from poolwright.review.token import Token
from poolwright.review.transport import Api, Method, Reply

DEFAULT_ADDRESS: Final = "https://api.github.com"
TOKENS: Final = ("GH_TOKEN", "GITHUB_TOKEN")  # the order of gh
MAX_CHARACTERS: Final = 65_536
_ACTIONS_BOT: Final = "github-actions[bot]"
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


def open_github(address: str, token: Token, limits: Limits) -> Api:
    """GitHub's API, or that of a server of one's own. Raises: ReviewError."""
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": token.write_header("Bearer"),
        "X-GitHub-Api-Version": "2022-11-28",
    }
    return Api(address, headers, limits)


def check_repository(repository: str) -> str:
    """OWNER/REPO as given. Raises: ReviewError if no repository is called so."""
    if not _REPOSITORY.fullmatch(repository):
        raise ReviewError(
            code="review-setup",
            what="the repository isn't named as OWNER/REPO",
            why="requests are addressed by it",
            fix="--github acme/fleet, or leave it out in GitHub Actions, which says it",
        )
    return repository


class PullRequest:
    """The conversation of one pull request."""

    def __init__(self, api: Api, repository: str, number: int, *, author: str | None = None) -> None:
        """author: who writes, where the token can't say so itself; None: GitHub's own Actions."""
        self._api = api
        self._repository = check_repository(repository)
        self._number = number
        self._author = author

    @property
    def name(self) -> str:
        """OWNER/REPO#N."""
        return f"{self._repository}#{self._number}"

    def show_request(self, action: Create | Update | Delete) -> str:
        """PATCH /repos/OWNER/REPO/issues/comments/ID."""
        match action:
            case Create():
                return f"POST {self._comments}"
            case Update():
                return f"PATCH {self._comment(action.id)}"
            case Delete():
                return f"DELETE {self._comment(action.id)}"

    def read_author(self) -> str:
        """The user whose token this is; an app's token doesn't show its own, which then is said or GitHub's."""
        reply = self._api.ask("GET", "/user")
        if reply.status == 403:
            return self._author or _ACTIONS_BOT
        check_reply(self._api, reply, self.name, "read")
        found = take_text(read_object(reply, self._api.host), self._api.host, "login")
        if self._author and found.lower() != self._author.lower():
            raise ReviewError(
                code="review-author",
                what="the token is another user's than --author says",
                why="comments of ours are found by who wrote them",
                fix="leave --author out: it is for tokens that don't say whose they are",
            )
        return found

    def list_comments(self) -> tuple[Comment, ...]:
        """The comments below the pull request; those beside lines of code are others."""
        entries = list_entries(
            self._api, self._comments, (), lambda reply: check_reply(self._api, reply, self.name, "read")
        )
        return tuple(map(self._read, entries))

    def create(self, body: str) -> Comment:
        """A new comment."""
        return self._read(read_object(self._send("POST", self._comments, body, 201), self._api.host))

    def update(self, id: int, body: str) -> None:  # noqa: A002 (the protocol's name)
        """Another text."""
        self._send("PATCH", self._comment(id), body, 200)

    def delete(self, id: int) -> None:  # noqa: A002
        """Gone."""
        reply = self._api.ask("DELETE", self._comment(id))
        if reply.status not in (204, 404):
            check_reply(self._api, reply, self.name, "write", 204)

    @property
    def _comments(self) -> str:
        return f"/repos/{self._repository}/issues/{self._number}/comments"

    def _comment(self, id: int) -> str:  # noqa: A002
        return f"/repos/{self._repository}/issues/comments/{id}"

    def _send(self, method: Method, path: str, body: str, status: int) -> Reply:
        reply = self._api.ask(method, path, body={"body": body})
        if reply.status == 404 and method == "PATCH":
            raise ChangedError(
                code="review-silent",
                what=f"comments of {self.name} are changed or deleted by somebody else again and again",
                why="what was listed a moment ago is gone",
                fix="run one job for a pull request at a time (`concurrency` in GitHub Actions)",
            )
        check_reply(self._api, reply, self.name, "write", status)
        return reply

    def _read(self, entry: Mapping[str, Any]) -> Comment:
        host = self._api.host
        author = take_text(entry, host, "user", "login")  # null: the account is gone
        return Comment(id=take_id(entry, host, "id"), author=author, body=take_text(entry, host, "body"))


def check_reply(api: Api, reply: Reply, name: str, use: str, status: int = 200) -> None:
    """Refuse an answer of another status.

    use:    read or write.
    Raises: ReviewError that says what to do.
    """
    if reply.status == status:
        return
    if reply.status == 401:
        raise _refuse_token(api.host)
    if reply.status == 423 or (reply.status == 403 and b"locked" in reply.body):
        raise ReviewError(
            code="review-locked",
            what=f"{name} is locked, and takes no comments from this token",
            why="who locked the conversation wants none",
            fix="unlock it, or leave it: `poolwright diff` says the same on a terminal",
        )
    if reply.status == 403:
        raise ReviewError(
            code="review-denied",
            what=f"{api.host} doesn't let this token {use} comments of {name}",
            why="the token has no right to, or the organization's rules stand in the way",
            fix="in GitHub Actions `permissions: {pull-requests: write}`; a fork's pull_request job never has it: post "
            "from a workflow_run job",
        )
    if reply.status in (404, 410):
        raise ReviewError(
            code="review-missing",
            what=f"{api.host} shows this token no {name} ({reply.status})",
            why="it isn't there, or is private and the token isn't for it; the two look the same",
            fix="check OWNER/REPO, the number, and which repositories the token is for",
        )
    if reply.status == 422:
        raise ReviewError(
            code="review-refused",
            what=f"{api.host} doesn't take the comment on {name} ({reply.status})",
            why=f"a body has at most {MAX_CHARACTERS:,} characters, and some servers allow fewer",
            fix="look at what would be posted: --dry-run --bodies",
        )
    raise refuse_answer(f"{api.host} answers with a status that says nothing here ({reply.status})")


def _refuse_token(host: str) -> ReviewError:
    return ReviewError(
        code="review-denied",
        what=f"{host} doesn't know this token (401)",
        why="it has expired, was revoked, or is for another server",
        fix="make a new one, and set GITHUB_TOKEN (or GH_TOKEN) to it",
    )
