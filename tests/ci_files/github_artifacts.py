"""Artifacts as GitHub's API gives them: a list, and a zip at another address."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler

from loopback_server import Server, reply

NAME = "report.json"


def reply_json(value: object) -> Callable[[BaseHTTPRequestHandler], None]:
    """An answer of the API."""
    return reply(json.dumps(value).encode())


def pack(files: Mapping[str, bytes]) -> bytes:
    """A zip of these files, under whatever names."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


def serve_artifact(
    server: Server, run: int, attempt: int, data: bytes, *, expired: bool = False, size: int | None = None
) -> None:
    """Let the API have the report of this attempt, and another artifact before it.

    size: what it says that it is; None: what it is.
    """
    name, path = f"poolwright-report-{attempt}", f"/repos/o/r/actions/artifacts/{run}5/zip"
    listed = [
        {"id": 1, "name": "another", "expired": False, "size_in_bytes": 1},
        {"id": run * 10 + 5, "name": name, "expired": expired, "size_in_bytes": len(data) if size is None else size},
    ]
    server.answers[f"/repos/o/r/actions/runs/{run}/artifacts?name={name}"] = reply_json({"artifacts": listed})
    # The same server under another name, as the store that GitHub sends one to is another host.
    moved = {"Location": f"http://{server.host.replace('127.0.0.1', 'localhost')}/store/{run}"}
    server.answers[path] = reply(status=302, headers=moved)
    server.answers[f"/store/{run}"] = reply(data)
