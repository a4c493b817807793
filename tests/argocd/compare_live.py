"""Every case through the argocd-cmp-server that is given, compared with ours, and written down.

    make cmp-live CMP_SERVER=/path/to/argocd-cmp-server

The argocd binary does too: a link called argocd-cmp-server is made to it. The exchanges are in recorded/VERSION/.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import grpc
from cmp_protocol import Protocol, check_service, read_protocol
from live_cases import CASES, Case, build_own_case
from live_exchange import call_ours, describe_reply, list_archive, open_archive, sidecar_environment

from poolwright.argocd.runner.cmp_server import Reply

RECORDED = Path(__file__).parent / "recorded"
ANSWERS = {
    "GenerateManifest": "ManifestResponse",
    "MatchRepository": "RepositoryResponse",
    "GetParametersAnnouncement": "ParametersAnnouncementResponse",
}
CHUNK = 1024  # bytes, as the repo-server sends


def main() -> int:
    if len(sys.argv) != 2 or not os.access(sys.argv[1], os.X_OK):
        sys.stderr.write("usage: make cmp-live CMP_SERVER=PATH, of an argocd-cmp-server or argocd that can be run\n")
        return 2
    binary = Path(sys.argv[1]).resolve()
    protocol = read_protocol(binary)
    differing = 0
    with TemporaryDirectory(prefix="poolwright-live-") as room:
        own = build_own_case(Path(room, "trust.yaml"))
        differing += not compare("poolwright", own, binary, protocol, is_recorded=False)
    for name, case in CASES.items():
        differing += not compare(name, case, binary, protocol)
    print(f"{1 + len(CASES)} calls, {differing} differ")
    return 1 if differing else 0


def compare(name: str, case: Case, binary: Path, protocol: Protocol, *, is_recorded: bool = True) -> bool:
    """Whether both reply alike."""
    with TemporaryDirectory(prefix="poolwright-live-") as room:
        exchange = record(case, binary, protocol, Path(room))
        with open_archive(case, Path(room) / "ours") as archive:
            ours = describe_reply(call_ours(case, archive, Path(room) / "ours"))
    if is_recorded:
        file = RECORDED / exchange["version"] / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(exchange, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    is_same = ours == exchange["reply"]
    print("same   " if is_same else "DIFFERS", name, f"({len(ours['documents'])} documents)", flush=True)
    if not is_same:
        print(f"  real  {json.dumps(exchange['reply'])}\n  ours  {json.dumps(ours)}")
    return is_same


def record(case: Case, binary: Path, protocol: Protocol, room: Path) -> dict[str, Any]:
    """One call of the real server, as it is written down."""
    with open_archive(case, room) as archive, serve(case, binary, room) as (channel, log):
        data = archive.read()
        reply = call(case, channel, protocol, data)
        entries = list_archive(archive)
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return {
        "version": next(line["version"] for line in lines if "version" in line),
        "method": case.method,
        "plugin": json.loads(case.plugin_file()),
        "environment": [list(one) for one in case.environment],
        "app_path": case.app_path,
        "timeout_s": case.timeout_s,
        "archive": {"sha256": sha256(data).hexdigest(), "entries": entries},
        "stdout": [
            line["msg"]
            for line in lines
            if line["level"] == "debug" and "duration" in line and len(line["msg"]) < 10000
        ],
        "stderr": [line["stderr"] for line in lines if "stderr" in line],
        "reply": describe_reply(reply),
    }


@contextmanager
def serve(case: Case, binary: Path, room: Path) -> Iterator[tuple[grpc.Channel, Path]]:
    """The server of a case's plugin, and the file that it logs to."""
    folders = {name: room / name for name in ("config", "plugins", "work")}
    for folder in folders.values():
        folder.mkdir()
    (folders["config"] / "plugin.yaml").write_text(case.plugin_file(), encoding="utf-8")
    program = room / "argocd-cmp-server"
    program.symlink_to(binary)
    environment = {
        **sidecar_environment(case),
        "ARGOCD_PLUGINSOCKFILEPATH": str(folders["plugins"]),
        "ARGOCD_CMP_WORKDIR": str(folders["work"]),
    }
    if case.max_message_mib is not None:
        environment["ARGOCD_GRPC_MAX_SIZE_MB"] = str(case.max_message_mib)
    log = room / "log"
    command = [program, "--config-dir-path", folders["config"], "--loglevel", "debug", "--logformat", "json"]
    with log.open("wb") as written:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=written, stderr=written)
    try:
        with grpc.insecure_channel(f"unix:{folders['plugins']}/p.sock") as channel:
            grpc.channel_ready_future(channel).result(timeout=30)
            check_service(channel)
            yield channel, log
        wait_until_empty(folders["work"] / "_cmp_server")
    finally:
        process.kill()  # at SIGTERM it removes its socket, and stays
        process.wait()


def wait_until_empty(folder: Path) -> None:
    """A call that its caller gave up goes on until the command's group is killed."""
    ends = time.monotonic() + 10
    while list(folder.iterdir()):
        if time.monotonic() > ends:
            raise SystemExit(f"argocd-cmp-server left {list(folder.iterdir())}")
        time.sleep(0.05)


def call(case: Case, channel: grpc.Channel, protocol: Protocol, data: bytes) -> Reply:
    try:
        answer = protocol.stub(channel, case.method, ANSWERS[case.method])(
            build_requests(case, protocol, data), timeout=case.timeout_s
        )
    except grpc.RpcError as error:
        code = "".join(part.title() for part in error.code().name.split("_"))
        words = {"Deadline Exceeded": "context deadline exceeded"}  # each library's own client says it in its words
        return Reply(status=code, details=words.get(error.details(), error.details()))
    finally:
        time.sleep(0.05)  # the log is written meanwhile
    return Reply(
        documents=tuple(json.loads(text) for text in getattr(answer, "manifests", ())),
        is_supported=getattr(answer, "isSupported", False),
        announced=tuple(describe_announcement(one) for one in getattr(answer, "parameterAnnouncements", ())),
    )


def build_requests(case: Case, protocol: Protocol, data: bytes) -> Iterator[Any]:
    request, entry = protocol.messages["AppStreamRequest"], protocol.messages["EnvEntry"]
    head = protocol.messages["ManifestRequestMetadata"](
        appName=case.app_path,
        appRelPath=case.app_path,
        checksum=sha256(data).hexdigest(),
        size=len(data),
        env=[entry(name=name, value=value) for name, value in case.environment],
    )
    yield request(metadata=head)
    for at in range(0, len(data), CHUNK):
        yield request(file=protocol.messages["File"](chunk=data[at : at + CHUNK]))


def describe_announcement(message: Any) -> dict[str, Any]:
    names = ("name", "title", "tooltip", "required", "itemType", "collectionType", "string")
    plain = {name: getattr(message, name) for name in names}
    return {**plain, "array": list(message.array), "map": dict(message.map)}


if __name__ == "__main__":
    sys.exit(main())
