"""One Application rendered by a plugin: everything between a checked-out repository and the objects to apply."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from poolwright.argocd.runner.answer import Answer
from poolwright.argocd.runner.application import Application, override_source
from poolwright.argocd.runner.choose import NoPlugin, choose_plugin
from poolwright.argocd.runner.cmp_server import Call, Reply, announce_parameters, generate_manifest, match_repository
from poolwright.argocd.runner.command import Clock
from poolwright.argocd.runner.decode import check_object, expand_documents
from poolwright.argocd.runner.environment import Build, Purpose, build_environment
from poolwright.argocd.runner.plugin import Plugin
from poolwright.argocd.runner.sent_root import find_app_folder, find_sent_root
from poolwright.argocd.runner.transfer import Packed, TransferError, check_links, pack
from poolwright.specs.document import parse_documents

MAX_MESSAGE_BYTES: Final = 100 << 20  # what ARGOCD_GRPC_MAX_SIZE_MB is without being set
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
    with _started(request) as run:
        return run.render()


def run_parameters(request: Request) -> Answer:
    """What the user interface would be told of the plugin's parameters. Raises as `run_application`."""
    with _started(request) as run:
        return run.announce()


@contextmanager
def _started(request: Request) -> Iterator[_Run]:
    clock = Clock(ends_s=time.monotonic() + request.timeout_s)
    with tempfile.TemporaryDirectory(prefix="poolwright-cmp-") as room:
        work = os.path.join(os.path.realpath(room), "_cmp_server")
        os.mkdir(work, 0o700)
        yield _Run(request, clock, work)


class _Run:
    """The repo-server's part: what is sent, to whom, and what becomes of the reply."""

    def __init__(self, request: Request, clock: Clock, work: str) -> None:
        self._request = request
        self._clock = clock
        self._work = work
        self._application = request.application
        self._packed: Packed | None = None

    def render(self) -> Answer:
        """Generate manifests."""
        try:
            folder = self._find_folder()
            chosen = self._choose(folder, ("probe", "discover"))
        except (TransferError, _FailedError) as error:
            return self._fail(str(error))
        if isinstance(chosen, NoPlugin):
            if not chosen.error:
                return Answer(verdict="no-plugin", reason=chosen.hint)
            return replace(self._fail(self._name(chosen.error)), hint=chosen.hint)
        try:
            sent = self._request.root
            if self._request.is_narrowed:
                sent = find_sent_root(sent, folder, self._application)
            reply = self._call(generate_manifest, chosen, sent, folder, "generate")
            answer = self._judge(reply)
        except TransferError as error:
            answer = self._fail(
                self._name(f"error generating manifests in cmp: error sending file to cmp-server: {error}")
            )
        return replace(answer, plugin=chosen.socket_name, packed=self._packed)

    def announce(self) -> Answer:
        """List parameters."""
        try:
            folder = self._find_folder()
            chosen = self._choose(folder, ("parameters", "parameters"))
            if isinstance(chosen, NoPlugin):
                failed = self._fail(f"failed to detect CMP for app: {chosen.error}")
                return (
                    replace(failed, hint=chosen.hint)
                    if chosen.error
                    else Answer(verdict="no-plugin", reason=chosen.hint)
                )
            reply = self._call(announce_parameters, chosen, self._request.root, folder, "parameters")
        except (TransferError, _FailedError) as error:
            return self._fail(str(error))
        answer = Answer(verdict="accepted", announced=reply.announced)
        if reply.error:
            answer = self._fail(f"failed to get parameter announcement: {reply.error}")
        return replace(answer, plugin=chosen.socket_name, packed=self._packed, stderr=reply.stderr)

    def _find_folder(self) -> str:
        root = self._request.root
        if self._request.are_links_checked:
            check_links(root, self._request.left_out)
        folder = find_app_folder(root, self._application.path)
        self._application = _merge_overrides(self._application, folder)
        return folder

    def _choose(self, folder: str, purposes: tuple[Purpose, Purpose]) -> Plugin | NoPlugin:
        """purposes: whose variables discovery has where no plugin section is, and where one is."""

        def match(plugin: Plugin, purpose: Purpose) -> bool | str:
            sent = purposes[0] if purpose == "probe" else purposes[1]
            reply = self._call(match_repository, plugin, self._request.root, folder, sent)
            return reply.error or reply.is_supported

        return choose_plugin(self._application, self._request.plugins, match)

    def _judge(self, reply: Reply) -> Answer:
        if reply.error:
            answer = self._fail(self._name(f"error generating manifests in cmp: {reply.error}"))
            return replace(answer, stderr=reply.stderr)
        decoded = expand_documents(reply.documents)
        if decoded.error:
            answer = replace(self._fail(self._name(decoded.error)), verdict="refused")
        elif problems := [problem for one in decoded.objects if (problem := check_object(one))]:
            answer = Answer(verdict="refused", reason=problems[0], objects=decoded.objects)
        elif not decoded.objects and not self._application.may_be_empty:
            answer = Answer(verdict="empty", reason=f"exit 0 and no object in {len(reply.stdout)} bytes")
        else:
            answer = Answer(verdict="accepted", objects=decoded.objects)
        return replace(answer, stderr=reply.stderr)

    def _call(self, method: Callable[[Call], Reply], plugin: Plugin, sent: str, folder: str, purpose: Purpose) -> Reply:
        """Send a folder of the repository to a plugin's sidecar, and take what comes back."""
        request = self._request
        environment = self._environment(purpose)
        below = os.path.relpath(sent, request.root)
        left_out = [
            os.path.relpath(path, below) for path in request.left_out if below == "." or path.startswith(f"{below}/")
        ]
        with tempfile.TemporaryFile(dir=os.path.dirname(self._work)) as archive:
            self._packed = pack(sent, archive, excluded=request.excluded, left_out=left_out)
            return method(
                Call(
                    plugin=plugin,
                    archive=archive,
                    app_path=os.path.relpath(folder, sent),
                    environment=environment,
                    clock=self._clock,
                    folder=self._work,
                    max_message_bytes=request.max_message_bytes,
                )
            )

    def _environment(self, purpose: Purpose) -> dict[str, str]:
        try:
            sent = build_environment(self._application, self._request.build, purpose)
        except ValueError as error:
            raise _FailedError(f"could not parse kubernetes version: {error}") from None
        return {**self._request.sidecar, **dict(sent)}

    def _name(self, error: str) -> str:
        return f'CMP processing failed for application "{self._application.name}": {error}'

    def _fail(self, error: str) -> Answer:
        """As the condition ComparisonError of the Application shows it."""
        number, count = self._application.source_number, self._application.source_count
        code = match[1] if (match := _CODE.search(error)) else "Unknown"  # that of the answer inside
        where = f"Failed to load target state: failed to generate manifest for source {number} of {count}"
        return Answer(verdict="failed", message=f"{where}: rpc error: code = {code} desc = {error}")


def _merge_overrides(application: Application, folder: str) -> Application:
    """What files in the application's folder change about its source."""
    for name in (".argocd-source.yaml", f".argocd-source-{application.name}.yaml"):
        file = Path(folder, name)
        if file.is_file():
            for document in parse_documents(file.read_bytes(), f"{application.path}/{name}"):
                application = override_source(application, document)
    return application
