"""GitLab's endpoints for notes and artifacts on loopback: with a memory, judged by a description written by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from contract import Contract, read_contract
from contract_server import Answer, Fault, page_of

PROJECT = 42


@dataclass(slots=True)
class Merge:
    """A merge request, and what its pipeline left."""

    number: int
    commit: str
    pipeline_commit: str | None = None  # None: as commit
    pipeline_ref: str = "refs/merge-requests/1/head"
    pipeline_project: int = PROJECT
    has_pipeline: bool = True
    parents: tuple[str, ...] = ()  # of the pipeline's commit
    jobs: list[tuple[int, str, str, bytes | None]] = field(default_factory=list)  # id, name, status, artifact
    is_locked: bool = False
    notes: dict[int, dict[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class GitLabServer:
    """A server with one project, platform/fleet, number 42."""

    contract: Contract = field(default_factory=lambda: read_contract("gitlab"))
    address: str = ""
    prefix: str = "/api/v4"
    token: str = field(default="good-token-0123456789", repr=False)
    username: str | None = "project_42_bot"  # None: the token's scope doesn't show it
    is_archived: bool = False
    merges: dict[int, Merge] = field(default_factory=dict)
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    next_id: int = 2000

    @property
    def writes(self) -> list[str]:
        return [one for one in self.asked if not one.startswith("GET")]

    def add(self, number: int, body: str, username: str = "project_42_bot", *, system: bool = False) -> int:
        self.next_id += 1
        self.merges[number].notes[self.next_id] = {
            "id": self.next_id,
            "body": body,
            "author": user(username),
            "created_at": "2026-11-30T00:00:00Z",
            "system": system,
            "noteable_type": "MergeRequest",
            "noteable_iid": number,
        }
        return self.next_id

    def bodies(self, number: int) -> list[str]:
        """All notes, the oldest first, as AUTHOR: BODY."""
        return [f"{one['author']['username']}: {one['body']}" for _, one in sorted(self.merges[number].notes.items())]

    def serve(self, method: str, target: str, headers: Any, body: bytes) -> Answer:
        operation, given = self.contract.judge_request(method, target, body)
        answer = self._answer(operation.get("operationId", ""), given, headers, json.loads(body) if body else {})
        self.contract.judge_answer(operation, answer.status, answer.value)
        return answer

    def _answer(self, operation: str, given: dict[str, str], headers: Any, value: dict[str, Any]) -> Answer:
        if headers.get("PRIVATE-TOKEN") != self.token:
            return Answer(401, {"message": "401 Unauthorized"})
        if operation == "user":
            return Answer(200, user(self.username)) if self.username else Answer(403, {"error": "insufficient_scope"})
        if given.get("id") not in (str(PROJECT), "platform/fleet"):
            return Answer(404, {"message": "404 Project Not Found"})
        if operation == "project":
            return Answer(200, {"id": PROJECT, "path_with_namespace": "platform/fleet", "archived": self.is_archived})
        if operation == "merge_requests":
            return Answer(200, page_of([describe(one) for _, one in sorted(self.merges.items())], given))
        if "merge_request_iid" in given:
            merge = self.merges.get(int(given["merge_request_iid"]))
            return self._about(operation, merge, given, value) if merge else Answer(404, {"message": "404 Not found"})
        return self._artifacts(operation, given)

    def _artifacts(self, operation: str, given: dict[str, str]) -> Answer:
        if operation == "commit":
            parents = [one.parents for one in self.merges.values() if one.pipeline_commit == given["sha"]]
            return Answer(200, {"id": given["sha"], "parent_ids": list(parents[0])}) if parents else Answer(404, {})
        if operation == "jobs":
            rows = self.merges[int(given["pipeline_id"]) - 100].jobs
            found = [
                {"id": number, "name": name, "stage": "test", "status": status, "pipeline": {}}
                for number, name, status, _ in rows
                if status == given["scope[]"]
            ]
            return Answer(200, page_of(found, given))
        files = {row[0]: row[3] for one in self.merges.values() for row in one.jobs}
        data = files.get(int(given["job_id"]))
        is_there = data is not None and given["artifact_path"] == "poolwright-report.json"
        return Answer(200, data) if is_there else Answer(404, {"message": "404 Not found"})

    def _about(self, operation: str, merge: Merge, given: dict[str, str], value: dict[str, Any]) -> Answer:
        if operation == "merge_request":
            return Answer(200, describe(merge) | {"head_pipeline": describe_pipeline(merge)})
        if operation == "list_notes":
            return Answer(200, page_of([one for _, one in sorted(merge.notes.items())], given))
        if self.is_archived or merge.is_locked:
            return Answer(403, {"message": "403 Forbidden"})
        if operation == "create_note":
            return Answer(201, merge.notes[self.add(merge.number, value["body"], self.username or "named-bot")])
        number = int(given["note_id"])
        if number not in merge.notes:
            return Answer(404, {"message": "404 Note Not Found"})
        if operation == "delete_note":
            del merge.notes[number]
            return Answer(204)
        merge.notes[number] = merge.notes[number] | {"body": value["body"]}
        return Answer(200, merge.notes[number])


def user(name: str) -> dict[str, Any]:
    return {"id": 9, "username": name, "name": name, "state": "active"}


def describe(merge: Merge) -> dict[str, Any]:
    return {
        "id": merge.number + 5000,
        "iid": merge.number,
        "project_id": PROJECT,
        "state": "opened",
        "sha": merge.commit,
        "source_branch": "change",
        "source_project_id": merge.pipeline_project,
        "target_project_id": PROJECT,
        "discussion_locked": True if merge.is_locked else None,
    }


def describe_pipeline(merge: Merge) -> dict[str, Any] | None:
    if not merge.has_pipeline:
        return None
    return {
        "id": merge.number + 100,
        "project_id": merge.pipeline_project,
        "sha": merge.pipeline_commit or merge.commit,
        "ref": merge.pipeline_ref,
        "status": "success",
    }
