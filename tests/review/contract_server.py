"""GitHub's endpoints for comments on loopback: with a memory, and judged by GitHub's own description both ways."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from contract import Contract, read_contract, read_example

COMMENT = read_example("issue-comment")
# GitHub's example has a team that its own schema doesn't take.
PULL = read_example("pull-request-simple-items")[0] | {"requested_teams": []}
USER = read_example("private-user-response-with-public-profile-information")
MAX_CHARACTERS = 65_536


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back. As a fault it may also be no answer at all: see `Fault`."""

    status: int
    value: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


Serve = Callable[[], Answer]
# Given the handler and what would answer: an answer, or None if it has written whatever it wanted by itself.
Fault = Callable[[BaseHTTPRequestHandler, Serve], Answer | None]


@dataclass(slots=True)
class ContractServer:
    """A server with one repository, acme/fleet, and one open pull request, 7."""

    contract: Contract = field(default_factory=lambda: read_contract("github"))
    address: str = ""
    prefix: str = ""  # of every path, as servers of one's own have
    token: str = field(default="good-token-0123456789", repr=False)
    login: str | None = "poolwright-bot"  # whose token it is; None: an app's, which may not ask
    writes_as: str | None = None  # whose name stands above new comments, if another
    may_write: bool = True
    is_locked: bool = False
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    faults: list[tuple[str, Fault]] = field(default_factory=list)  # by "METHOD" or "METHOD /path", each used once
    asked: list[str] = field(default_factory=list)  # METHOD /path of every request
    next_id: int = 1000

    @property
    def writes(self) -> list[str]:
        return [one for one in self.asked if not one.startswith("GET")]

    def add(self, body: str, login: str = "poolwright-bot") -> int:
        """A comment that is there already."""
        self.next_id += 1
        entry = copy.deepcopy(COMMENT)
        entry |= {"id": self.next_id, "body": body}
        entry["user"]["login"] = login
        self.comments[self.next_id] = entry
        return self.next_id

    def add_pull(self, number: int, head: str, commit: str, *, merge: str | None = None) -> None:
        """An open pull request; head: OWNER/REPO:BRANCH."""
        repository, _, branch = head.partition(":")
        entry = copy.deepcopy(PULL)
        entry |= {"number": number, "merge_commit_sha": merge}
        entry["head"] |= {"ref": branch, "sha": commit, "label": f"{repository.partition('/')[0]}:{branch}"}
        entry["head"]["repo"]["full_name"] = repository
        self.pulls.append(entry)

    def bodies(self) -> list[str]:
        """All comments, the oldest first, as AUTHOR: BODY."""
        return [f"{one['user']['login']}: {one['body']}" for _, one in sorted(self.comments.items())]

    def serve(self, method: str, target: str, headers: Any, body: bytes) -> Answer:
        operation, given = self.contract.judge_request(method, target, body)
        if headers.get("X-GitHub-Api-Version") != "2022-11-28" or "github+json" not in headers.get("Accept", ""):
            self.contract.breaches.append(f"{method} {target} names no version")
        if not headers.get("User-Agent"):
            self.contract.breaches.append(f"{method} {target} names no program")
        answer = self._answer(operation.get("operationId", ""), given, headers, body)
        self.contract.judge_answer(operation, answer.status, answer.value)
        return answer

    def _answer(self, operation: str, given: dict[str, str], headers: Any, body: bytes) -> Answer:
        if headers.get("Authorization") != f"Bearer {self.token}":
            return refuse(401, "Bad credentials")
        if operation == "users/get-authenticated":
            return Answer(200, USER | {"login": self.login}) if self.login else NOT_BY_APPS
        if (given.get("owner"), given.get("repo")) != ("acme", "fleet"):
            return refuse(404, "Not Found")
        if operation == "pulls/list":
            return Answer(200, page_of([one for one in self.pulls if one["head"]["label"] == given.get("head")], given))
        if operation == "issues/list-comments":
            return (
                Answer(200, page_of([one for _, one in sorted(self.comments.items())], given))
                if given["issue_number"] == "7"
                else refuse(404, "Not Found")
            )
        return self._change(operation, given, json.loads(body) if body else {})

    def _change(self, operation: str, given: dict[str, str], value: dict[str, Any]) -> Answer:
        if not self.may_write:
            return NOT_BY_APPS
        if "body" in value and len(value["body"]) > MAX_CHARACTERS:
            error = {
                "resource": "IssueComment",
                "field": "data",
                "code": "unprocessable",
                "message": "Body is too long",
            }
            return Answer(
                422,
                {"message": "Validation Failed", "documentation_url": "https://docs.github.com/x"}
                | {"errors": [error]},
            )
        if operation == "issues/create-comment":
            if given["issue_number"] != "7":
                return refuse(404, "Not Found")
            if self.is_locked:
                return refuse(403, "Unable to create comment because issue is locked.")
            made = self.add(value["body"], self.writes_as or self.login or "github-actions[bot]")
            return Answer(201, self.comments[made])
        if (number := int(given["comment_id"])) not in self.comments:
            return refuse(404, "Not Found")
        if operation == "issues/delete-comment":
            del self.comments[number]
            return Answer(204)
        self.comments[number] = self.comments[number] | {"body": value["body"]}
        return Answer(200, self.comments[number])


def refuse(status: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    """A refusal as GitHub writes it."""
    value = {"message": message, "documentation_url": "https://docs.github.com/rest", "status": str(status)}
    return Answer(status, value, headers or {})


NOT_BY_APPS = refuse(403, "Resource not accessible by integration")


def page_of(entries: list[dict[str, Any]], given: Mapping[str, str]) -> list[dict[str, Any]]:
    """One page of a listing."""
    size, number = int(given.get("per_page", "30")), int(given.get("page", "1"))
    return entries[size * (number - 1) : size * number]


def send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    """Write an answer."""
    body = answer.value if isinstance(answer.value, bytes) else b""
    if answer.value is not None and not body:
        body = json.dumps(answer.value).encode()
    handler.send_response(answer.status)
    for name, text in {"Content-Type": "application/json", "Content-Length": str(len(body)), **answer.headers}.items():
        handler.send_header(name, text)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def run_contract_server(server: Any) -> Iterator[Any]:
    """Run a server that has `serve`, `faults`, `asked`, `prefix` and an `address` to fill in; its contract is kept."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            target = self.path.removeprefix(server.prefix)
            asked = f"{self.command} {target.partition('?')[0]}"

            def serve() -> Answer:
                with lock:
                    return server.serve(self.command, target, self.headers, body)

            with lock:
                server.asked.append(asked)
                matching = [one for one in server.faults if one[0] in (self.command, asked)]
                if matching:
                    server.faults.remove(matching[0])
            try:
                found = matching[0][1](self, serve) if matching else serve()
                if found is not None:
                    send(self, found)
            except OSError:  # the client has seen enough
                self.close_connection = True

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answer  # noqa: N815 (names that http.server looks for)

        def log_message(self, *_: object) -> None:
            pass

    class Listener(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False

        def handle_error(self, *_: object) -> None:
            pass

    listener = Listener(("127.0.0.1", 0), Handler)
    server.address = f"http://127.0.0.1:{listener.server_port}{server.prefix}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
    if server.contract.breaches:
        raise AssertionError("\n".join(server.contract.breaches))
