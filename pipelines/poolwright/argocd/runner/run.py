"""One Application rendered by a plugin: everything between a checked-out repository and the objects to apply."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from poolwright.argocd.runner.answer import Answer
from poolwright.argocd.runner.application import Application, override_source
from poolwright.argocd.runner.choose import NoPlugin, choose_plugin
from poolwright.argocd.runner.command import Clock, Ended, run_command
from poolwright.argocd.runner.decode import check_object, decode_stream
from poolwright.argocd.runner.environment import Build, Purpose, build_environment
from poolwright.argocd.runner.go_glob import find_anywhere, find_files
from poolwright.argocd.runner.plugin import Plugin
from poolwright.argocd.runner.sent_root import find_app_folder, find_sent_root
from poolwright.argocd.runner.transfer import Packed, TransferError, check_links, pack, secure_join, unpack
from poolwright.specs.document import parse_documents

MAX_MESSAGE_BYTES: Final = 100 << 20  # what ARGOCD_GRPC_MAX_SIZE_MB is without being set
_RPC: Final = "rpc error: code ="
_CODE: Final = re.compile(r"rpc error: code = (\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is rendered, and the settings of Argo CD that matter for it."""

    root: str  # of the repository, absolute, without links in it
    application: Application
    plugins: Sequence[Plugin]
    build: Build
    sidecar: Mapping[str, str]  # the sidecar's own environment
    timeout_s: float = 60
    excluded: Sequence[str] = ()  # plugin-tar-exclude
    left_out: Sequence[str] = ()  # files on this disk that no checkout has
    is_narrowed: bool = False  # plugin-use-manifest-generate-paths
    are_links_checked: bool = True  # not allow-oob-symlinks
    max_message_bytes: int = MAX_MESSAGE_BYTES


class _FailedError(Exception):
    """Argo CD stops; the text is its own."""


def run_application(request: Request) -> Answer:
    """Render it once, from nothing, and leave nothing behind.

    Raises: OSError if this machine refuses what Argo CD's wouldn't; SpecError if a `.argocd-source` file can't be read.
    """
    clock = Clock(ends_s=time.monotonic() + request.timeout_s)
    with tempfile.TemporaryDirectory(prefix="poolwright-cmp-") as room:
        return _Run(request, clock, os.path.realpath(room)).answer()


class _Run:
    def __init__(self, request: Request, clock: Clock, room: str) -> None:
        self._request = request
        self._clock = clock
        self._work = os.path.join(room, "_cmp_server")
        os.mkdir(self._work, 0o700)
        self._application = request.application
        self._packed: Packed | None = None
        self._ended = Ended()

    def answer(self) -> Answer:
        root = self._request.root
        try:
            if self._request.are_links_checked:
                check_links(root, self._request.left_out)
            folder = find_app_folder(root, self._application.path)
            self._application = _merge_overrides(self._application, folder)
            chosen = choose_plugin(
                self._application, self._request.plugins, lambda plugin, why: self._matches(plugin, why, folder)
            )
        except (TransferError, _FailedError) as error:
            return self._fail(str(error))
        if isinstance(chosen, NoPlugin):
            if not chosen.error:
                return Answer(verdict="no-plugin", reason=chosen.hint)
            return replace(self._fail(self._name(chosen.error)), hint=chosen.hint)
        try:
            answer = self._generate(chosen, folder)
        except (TransferError, _FailedError) as error:
            answer = self._fail(self._name(f"error generating manifests in cmp: {error}"))
        return replace(answer, plugin=chosen.socket_name, packed=self._packed, stderr=self._ended.stderr)

    def _generate(self, plugin: Plugin, folder: str) -> Answer:
        request = self._request
        sent = find_sent_root(request.root, folder, self._application) if request.is_narrowed else request.root
        with _Received(self, sent, plugin) as work:
            at = os.path.normpath(os.path.join(work, os.path.relpath(folder, sent)))
            environment = self._environment("generate")
            for command in (plugin.init, plugin.generate):
                if command:
                    self._ended = run_command(command, folder=at, environment=environment, clock=self._clock)
                    self._check(self._ended, "error generating manifests")
        decoded = decode_stream(self._ended.stdout)
        if decoded.server_error:
            raise _FailedError(f"{_RPC} Unknown desc = error generating manifests: {decoded.server_error}")
        if decoded.message_bytes > request.max_message_bytes:
            size = f"({decoded.message_bytes} vs. {request.max_message_bytes})"
            raise _FailedError(f"{_RPC} ResourceExhausted desc = trying to send message larger than max {size}")
        if decoded.repo_error:
            return replace(self._fail(self._name(decoded.repo_error)), verdict="refused")
        problems = [problem for one in decoded.objects if (problem := check_object(one))]
        if problems:
            return Answer(verdict="refused", reason=problems[0], objects=decoded.objects)
        if not decoded.objects and not self._application.may_be_empty:
            return Answer(verdict="empty", reason=f"exit 0 and no object in {len(self._ended.stdout)} bytes")
        return Answer(verdict="accepted", objects=decoded.objects)

    def _matches(self, plugin: Plugin, purpose: Purpose, folder: str) -> bool | str:
        """Whether its discovery finds something in the application's folder; a text: it failed."""
        discovery = plugin.discovery
        with _Received(self, self._request.root, plugin) as work:
            at = secure_join(work, os.path.relpath(folder, self._request.root))
            try:
                if discovery.file_name:
                    return find_files(at, discovery.file_name)
                if discovery.glob:
                    return find_anywhere(at, discovery.glob)
            except ValueError as error:
                return f"{_RPC} Unknown desc = match repository error: error finding match for pattern: {error}"
            environment = self._environment(purpose)
            ended = run_command(discovery.command, folder=at, environment=environment, clock=self._clock)
            try:
                self._check(ended, "match repository error: error running find command")
            except _FailedError as error:
                return str(error)
            return ended.stdout.removesuffix(b"\n") != b""

    def _environment(self, purpose: Purpose) -> dict[str, str]:
        try:
            sent = build_environment(self._application, self._request.build, purpose)
        except ValueError as error:
            raise _FailedError(f"could not parse kubernetes version: {error}") from None
        return {**self._request.sidecar, **dict(sent)}

    def _check(self, ended: Ended, prefix: str) -> None:
        if ended.is_late:
            raise _FailedError(f"{_RPC} DeadlineExceeded desc = context deadline exceeded")
        if ended.error:
            raise _FailedError(f"{_RPC} Unknown desc = {prefix}: {ended.error}")

    def _name(self, error: str) -> str:
        return f'CMP processing failed for application "{self._application.name}": {error}'

    def _fail(self, error: str) -> Answer:
        """As the condition ComparisonError of the Application shows it."""
        number, count = self._application.source_number, self._application.source_count
        code = match[1] if (match := _CODE.search(error)) else "Unknown"  # that of the answer inside
        where = f"Failed to load target state: failed to generate manifest for source {number} of {count}"
        return Answer(verdict="failed", message=f"{where}: {_RPC} {code} desc = {error}")

    def receive(self, sent: str, plugin: Plugin) -> str:
        """Send a folder to the plugin's sidecar; where it is there."""
        request = self._request
        below = os.path.relpath(sent, request.root)
        left_out = [
            os.path.relpath(path, below) for path in request.left_out if below == "." or path.startswith(f"{below}/")
        ]
        work = os.path.join(self._work, str(uuid.uuid4()))
        os.mkdir(work)
        with tempfile.TemporaryFile(dir=os.path.dirname(self._work)) as archive:
            self._packed = pack(sent, archive, excluded=request.excluded, left_out=left_out)
            unpack(archive, work, is_mode_kept=plugin.is_mode_kept)
        return work


class _Received:
    """A folder of its own for one request, gone when it is answered."""

    def __init__(self, run: _Run, sent: str, plugin: Plugin) -> None:
        self._run, self._sent, self._plugin = run, sent, plugin
        self._work = ""

    def __enter__(self) -> str:
        self._work = self._run.receive(self._sent, self._plugin)
        return self._work

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._work)


def _merge_overrides(application: Application, folder: str) -> Application:
    """What files in the application's folder change about its source."""
    for name in (".argocd-source.yaml", f".argocd-source-{application.name}.yaml"):
        file = Path(folder, name)
        if file.is_file():
            for document in parse_documents(file.read_bytes(), f"{application.path}/{name}"):
                application = override_source(application, document)
    return application
