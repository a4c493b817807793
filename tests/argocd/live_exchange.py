"""One call of a case: by ours here, and how a call is written down and compared."""

from __future__ import annotations

import io
import os
import re
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, Any

from live_cases import Case

from poolwright.argocd.runner.cmp_server import Call, Reply, announce_parameters, generate_manifest, match_repository
from poolwright.argocd.runner.command import Clock
from poolwright.argocd.runner.plugin import parse_plugin
from poolwright.argocd.runner.run import MAX_MESSAGE_BYTES
from poolwright.argocd.runner.transfer import pack

METHODS: dict[str, Callable[[Call], Reply]] = {
    "GenerateManifest": generate_manifest,
    "MatchRepository": match_repository,
    "GetParametersAnnouncement": announce_parameters,
}
_WORK = re.compile(r'/[^ "]*/_cmp_server(?:/[0-9a-f-]{36})?')
# What a parser of Go says of a text, other parsers say in other words; that it refuses it, and as what, counts.
_PARSER = re.compile(
    r"(failed to unmarshal manifest: (?!invalid Yaml)(?:error converting YAML to JSON: yaml: |json: )?"
    r"|ParametersAnnouncementResponse: ).*",
    re.DOTALL,
)


def open_archive(case: Case, folder: Path) -> IO[bytes]:
    """The repository as it is sent."""
    archive: IO[bytes] = TemporaryFile()  # noqa: SIM115 - the caller closes it
    pack(str(case.write(folder)), archive, excluded=case.excluded)
    return archive


def list_archive(archive: IO[bytes]) -> list[str]:
    """What is in an archive, an entry a line."""
    archive.seek(0)
    with tarfile.open(fileobj=io.BytesIO(archive.read())) as tar:
        lines = []
        for entry in tar:
            end = f" -> {entry.linkname}" if entry.issym() else "/" if entry.isdir() else f" {entry.size}"
            lines.append(f"{'' if entry.issym() else f'{entry.mode:o}':4}{entry.name}{end}")
    archive.seek(0)
    return lines


def sidecar_environment(case: Case) -> dict[str, str]:
    """The sidecar's own; the programs beside this Python come first."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": "/", **case.sidecar}


def call_ours(case: Case, archive: IO[bytes], folder: Path) -> Reply:
    """What our runner replies."""
    work = folder / "_cmp_server"
    work.mkdir()
    most = MAX_MESSAGE_BYTES if case.max_message_mib is None else case.max_message_mib << 20
    return METHODS[case.method](
        Call(
            plugin=parse_plugin(case.plugin_file().encode(), "plugin.yaml"),
            archive=archive,
            app_path=case.app_path,
            environment={**sidecar_environment(case), **{name: value for name, value in case.environment if name}},
            clock=Clock(ends_s=monotonic() + case.timeout_s),
            folder=str(work.resolve()),
            max_message_bytes=most,
        )
    )


def describe_reply(reply: Reply) -> dict[str, Any]:
    """A reply to be compared: without what differs from run to run, or between parsers."""
    details = _PARSER.sub(r"\1...", _WORK.sub("<work>", reply.details))
    return {
        "code": reply.status,
        "details": details,
        "documents": [_round(one) for one in reply.documents],
        "is_supported": reply.is_supported,
        "announced": [{name: value for name, value in one.items() if value} for one in reply.announced],
    }


def _round(value: Any) -> Any:
    """Numbers that a float doesn't tell apart are one: Go prints 2^64 as 18446744073709552000."""
    if isinstance(value, dict):
        return {name: _round(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_round(one) for one in value]
    return float(value) if isinstance(value, int) and abs(value) > 1 << 53 else value
