"""The notes of a merge request on GitLab, and what its refusals mean.

Source: docs.gitlab.com: notes API, merge requests API, projects API
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from poolwright.comments.reconcile import Comment, Create, Delete, Update
from poolwright.review.answers import list_entries, read_object, take, take_id, take_text
from poolwright.review.limits import Limits
from poolwright.review.refusal import ChangedError, ReviewError, refuse_answer
from poolwright.review.token import Token
from poolwright.review.transport import Api, Method, Reply

DEFAULT_ADDRESS: Final = "https://gitlab.com/api/v4"
TOKENS: Final = ("POOLWRIGHT_GITLAB_TOKEN", "GITLAB_TOKEN")
MAX_CHARACTERS: Final = 1_000_000
_PROJECT: Final = re.compile(r"[1-9][0-9]{0,18}|[A-Za-z0-9_.][A-Za-z0-9_.-]*(/[A-Za-z0-9_.][A-Za-z0-9_.-]*)+")


def open_gitlab(address: str, token: Token, limits: Limits) -> Api:
    """GitLab's API, or that of a server of one's own. Raises: ReviewError."""
    return Api(address, {"Accept": "application/json", "PRIVATE-TOKEN": token.write_header()}, limits)


def build_project_path(project: str) -> str:
    """Where the API has a project, by number or by GROUP/NAME. Raises: ReviewError if no project is called so."""
    if not _PROJECT.fullmatch(project) or len(project) > 1024:
        raise ReviewError(
            code="review-setup",
            what="the project is named neither by its number nor as GROUP/NAME",
            why="requests are addressed by it",
            fix="--gitlab platform/fleet, or leave it out in GitLab CI, which says it",
        )
    return f"/projects/{quote(project, safe='')}"


class MergeRequest:
    """The conversation of one merge request."""

    def __init__(self, api: Api, project: str, number: int, *, author: str | None = None) -> None:
        """number: its iid. author: who writes, where the token can't say so itself."""
        self._api = api
        self._project = build_project_path(project)
        self._path = f"{self._project}/merge_requests/{number}"
        self._name = f"{project}!{number}"
        self._author = author

    @property
    def name(self) -> str:
        """PROJECT!N."""
        return self._name

    def show_request(self, action: Create | Update | Delete) -> str:
        """PUT /projects/ID/merge_requests/N/notes/ID."""
        match action:
            case Create():
                return f"POST {self._path}/notes"
            case Update():
                return f"PUT {self._path}/notes/{action.id}"
            case Delete():
                return f"DELETE {self._path}/notes/{action.id}"

    def read_author(self) -> str:
        """The user whose token this is; a project's access token has a user of its own."""
        reply = self._api.ask("GET", "/user")
        if reply.status == 403 and self._author:
            return self._author
        check_reply(self._api, reply, self.name, "read")
        found = take_text(read_object(reply, self._api.host), self._api.host, "username")
        if self._author and found.lower() != self._author.lower():
            raise ReviewError(
                code="review-author",
                what="the token is another user's than --author says",
                why="comments of ours are found by who wrote them",
                fix="leave --author out: it is for tokens that don't say whose they are",
            )
        return found

    def list_comments(self) -> tuple[Comment, ...]:
        """The notes that people and bots wrote: those of GitLab itself can't be changed."""
        order = (("sort", "asc"), ("order_by", "created_at"))
        entries = list_entries(
            self._api, f"{self._path}/notes", order, lambda reply: check_reply(self._api, reply, self.name, "read")
        )
        return tuple(self._read(one) for one in entries if take(one, self._api.host, "system") is False)

    def create(self, body: str) -> Comment:
        """A new note."""
        return self._read(read_object(self._send("POST", f"{self._path}/notes", body, 201), self._api.host))

    def update(self, id: int, body: str) -> None:  # noqa: A002 (the protocol's name)
        """Another text."""
        self._send("PUT", f"{self._path}/notes/{id}", body, 200)

    def delete(self, id: int) -> None:  # noqa: A002
        """Gone."""
        reply = self._api.ask("DELETE", f"{self._path}/notes/{id}")
        if reply.status not in (204, 404):
            self._check(reply, 204)

    def _send(self, method: Method, path: str, body: str, status: int) -> Reply:
        reply = self._api.ask(method, path, body={"body": body})
        if reply.status == 404 and method == "PUT":
            raise ChangedError(
                code="review-silent",
                what=f"comments of {self.name} are changed or deleted by somebody else again and again",
                why="what was listed a moment ago is gone",
                fix="run one job for a merge request at a time (`resource_group` in GitLab CI)",
            )
        self._check(reply, status)
        return reply

    def _check(self, reply: Reply, status: int) -> None:
        """As check_reply; of a refusal to write GitLab doesn't say why, so that is looked up."""
        if reply.status == 403:
            project = self._api.ask("GET", self._project)
            if project.status == 200 and take(read_object(project, self._api.host), self._api.host, "archived") is True:
                raise ReviewError(
                    code="review-locked",
                    what=f"the project of {self.name} is archived, and takes no comments",
                    why="an archived project can only be read",
                    fix="unarchive it, or stop the job",
                )
            merge = self._api.ask("GET", self._path)
            if merge.status == 200 and read_object(merge, self._api.host).get("discussion_locked") is True:
                raise ReviewError(
                    code="review-locked",
                    what=f"{self.name} is locked, and takes no comments from this token",
                    why="who locked the discussion wants comments of the project's members alone",
                    fix="unlock it, or make the token's user a member of the project",
                )
        check_reply(self._api, reply, self.name, "write", status)

    def _read(self, entry: Mapping[str, Any]) -> Comment:
        host = self._api.host
        author = take_text(entry, host, "author", "username")
        return Comment(id=take_id(entry, host, "id"), author=author, body=take_text(entry, host, "body"))


def check_reply(api: Api, reply: Reply, name: str, use: str, status: int = 200) -> None:
    """Refuse an answer of another status.

    use:    read or write.
    Raises: ReviewError that says what to do.
    """
    if reply.status == status:
        return
    if reply.status == 401:
        raise ReviewError(
            code="review-denied",
            what=f"{api.host} doesn't know this token (401)",
            why="it has expired, was revoked, or is for another server",
            fix="make a new project access token with the scope api, and set POOLWRIGHT_GITLAB_TOKEN to it",
        )
    if reply.status == 403:
        raise ReviewError(
            code="review-denied",
            what=f"{api.host} doesn't let this token {use} comments of {name}",
            why="the token lacks the scope api, or its role in the project is below Reporter",
            fix="make a project access token with the role Reporter and the scope api",
        )
    if reply.status in (404, 410):
        raise ReviewError(
            code="review-missing",
            what=f"{api.host} shows this token no {name} ({reply.status})",
            why="it isn't there, or is private and the token isn't for it; the two look the same",
            fix="check the project, the number after the `!`, and which project the token is for",
        )
    if reply.status in (400, 413, 422):
        raise ReviewError(
            code="review-refused",
            what=f"{api.host} doesn't take the comment on {name} ({reply.status})",
            why=f"a body has at most {MAX_CHARACTERS:,} characters, and some servers allow fewer",
            fix="look at what would be posted: --dry-run --bodies",
        )
    raise refuse_answer(f"{api.host} answers with a status that says nothing here ({reply.status})")
