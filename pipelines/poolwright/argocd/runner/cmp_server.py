"""What argocd-cmp-server does with a repository that it is sent: one call, in a folder that is made for it."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO

from poolwright.argocd.runner.command import Clock, Ended, run_command
from poolwright.argocd.runner.decode import StreamError, measure_message, split_stream
from poolwright.argocd.runner.go_glob import find_anywhere, find_files
from poolwright.argocd.runner.plugin import Plugin
from poolwright.argocd.runner.transfer import TransferError, secure_join, unpack
from poolwright.specs.document import Plain

_ANNOUNCED = {"name": str, "title": str, "tooltip": str, "required": bool, "itemType": str, "collectionType": str}
_DEFAULTS = {"string": str, "array": list, "map": dict}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of a repo-server."""

    plugin: Plugin
    archive: IO[bytes]  # the repository, or what is sent of it
    app_path: str  # the application's folder in it
    environment: Mapping[str, str]  # all of it
    clock: Clock
    folder: str  # where argocd-cmp-server works, absolute and without links
    max_message_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What the repo-server gets back, and the last command's output."""

    status: str = "OK"  # of gRPC
    details: str = ""
    documents: tuple[Plain, ...] = ()
    is_supported: bool = False
    announced: tuple[Mapping[str, Plain], ...] = ()
    stdout: bytes = b""
    stderr: bytes = b""

    @property
    def error(self) -> str:
        """As gRPC's Go library prints it; empty: none."""
        return "" if self.status == "OK" else f"rpc error: code = {self.status} desc = {self.details}"


def generate_manifest(call: Call) -> Reply:
    """The documents that the plugin prints. Leaves nothing behind, as all of these."""
    try:
        with _received(call, "generate manifest error receiving stream") as work:
            ended = Ended()
            at = os.path.normpath(os.path.join(work, call.app_path))
            for command in (call.plugin.init, call.plugin.generate):
                if command:
                    ended = run_command(command, folder=at, environment=call.environment, clock=call.clock)
                    if reply := _check(ended, "error generating manifests"):
                        return reply
    except _FailedError as error:
        return Reply(status="Unknown", details=str(error))
    reply = Reply(stdout=ended.stdout, stderr=ended.stderr)
    try:
        documents = split_stream(ended.stdout)
    except StreamError as error:
        return replace(reply, status="Unknown", details=f"error generating manifests: {error}")
    size = measure_message(documents)
    if size > call.max_message_bytes:
        details = f"trying to send message larger than max ({size} vs. {call.max_message_bytes})"
        return replace(reply, status="ResourceExhausted", details=details)
    return replace(reply, documents=documents)


def match_repository(call: Call) -> Reply:
    """Whether the plugin's discovery finds something in the application's folder, and only there."""
    discovery = call.plugin.discovery
    try:
        with _received(call, "match repository error receiving stream") as work:
            at = secure_join(work, call.app_path)
            kind, pattern, find = "filename match", discovery.file_name, find_files
            if not pattern:
                kind, pattern, find = "glob match", discovery.glob, find_anywhere
            if pattern:
                try:
                    return Reply(is_supported=find(at, pattern))
                except ValueError as error:
                    said = f'error finding {kind} for pattern "{os.path.join(at, pattern)}": {error}'
                    raise _FailedError(f"match repository error: {said}") from None
            ended = run_command(discovery.command, folder=at, environment=call.environment, clock=call.clock)
    except (_FailedError, TransferError) as error:
        return Reply(status="Unknown", details=str(error))
    failed = _check(ended, "match repository error: error running find command")
    is_supported = ended.stdout.removesuffix(b"\n") != b""
    return failed or Reply(is_supported=is_supported, stdout=ended.stdout, stderr=ended.stderr)


def announce_parameters(call: Call) -> Reply:
    """The parameters that a plugin says it has: those of its command, and then those of its file."""
    ended = Ended()
    command = call.plugin.dynamic_parameters
    prefix = "get parameters announcement error: error"
    try:
        with _received(call, "parameters announcement error receiving stream") as work:
            if command:
                at = os.path.normpath(os.path.join(work, call.app_path))
                ended = run_command(command, folder=at, environment=call.environment, clock=call.clock)
    except _FailedError as error:
        return Reply(status="Unknown", details=str(error))
    if reply := _check(ended, f"{prefix} executing dynamic parameter output command"):
        return reply
    reply = Reply(stdout=ended.stdout, stderr=ended.stderr, announced=call.plugin.static_parameters)
    if not command:
        return reply
    try:
        dynamic = parse_announcements(ended.stdout)
    except ValueError as error:
        what = "unmarshaling dynamic parameter output into ParametersAnnouncementResponse"
        return replace(reply, status="Unknown", details=f"{prefix} {what}: {error}", announced=())
    return replace(reply, announced=(*dynamic, *call.plugin.static_parameters))


def parse_announcements(data: bytes) -> tuple[Mapping[str, Plain], ...]:
    """Announcements as a plugin prints them.

    Raises: ValueError for what isn't a list of them.
    """
    value = json.loads(data)
    if value is None:
        return ()
    if not isinstance(value, list):
        raise ValueError("json: cannot unmarshal a value that is no list")
    for one in value:
        if not isinstance(one, dict):
            raise ValueError("json: cannot unmarshal an item that is no object")
        for name, kind in {**_ANNOUNCED, **_DEFAULTS}.items():
            if not isinstance(one.get(name), kind | None):
                raise ValueError(f"json: cannot unmarshal {name}, which is of another type")
    return tuple(value)


class _FailedError(Exception):
    """The call ends; the text is its own."""


@contextmanager
def _received(call: Call, prefix: str) -> Iterator[str]:
    """A folder of its own with what was sent, gone when the call is over."""
    work = os.path.join(call.folder, str(uuid.uuid4()))
    os.mkdir(work)
    try:
        try:
            call.archive.seek(0)
            unpack(call.archive, work, is_mode_kept=call.plugin.is_mode_kept)
        except TransferError as error:
            raise _FailedError(f"{prefix}: error decompressing tgz file: {error}") from None
        if not os.path.normpath(os.path.join(work, call.app_path)).startswith(work):
            raise _FailedError("illegal appPath: out of workDir bound")
        yield work
    finally:
        shutil.rmtree(work)


def _check(ended: Ended, prefix: str) -> Reply | None:
    """The reply to a command that didn't succeed."""
    if ended.is_late:
        return Reply(status="DeadlineExceeded", details="context deadline exceeded", stderr=ended.stderr)
    if ended.error:
        details = f"{prefix}: {ended.error}"
        return Reply(status="Unknown", details=details, stdout=ended.stdout, stderr=ended.stderr)
    return None
