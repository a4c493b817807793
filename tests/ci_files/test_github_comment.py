"""poolwright-comment: a report that a stranger may have made is fetched, and nothing else of the run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from copied import Ended, Runner, read_steps
from github_artifacts import NAME, pack, serve_artifact

from loopback_server import Server, reply, run_server
from needs import needs

FETCH, POST = read_steps("poolwright-comment", "poolwright-comment").values()
MOST = 32 << 20
VALUES = {
    "github.token": "s3cret",
    "github.event.workflow_run.id": "70",
    "github.event.workflow_run.run_attempt": "2",
}


@pytest.fixture
def service() -> Iterator[Server]:
    needs("curl"), needs("jq"), needs("unzip")
    with run_server() as server:
        yield server


def fetch(server: Server, tmp_path: Path) -> Ended:
    names = {"GITHUB_API_URL": f"http://{server.host}", "GITHUB_REPOSITORY": "o/r"}
    ended = FETCH.run(Runner(tmp_path, tmp_path, names), VALUES)
    assert "s3cret" not in ended.printed
    return ended


def list_files(tmp_path: Path) -> dict[str, int]:
    """What the step wrote, anywhere, by path; with sizes."""
    ours = {"outputs", "tools/poolwright"}
    found = {
        path.relative_to(tmp_path).as_posix(): path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()
    }
    return {path: size for path, size in found.items() if path not in ours}


# files of the zip
FOUND = {
    "a-report": {NAME: b"{}"},
    "beside-others": {"other": b"x", NAME: b"{}", "z": b"y"},
    "beside-one-that-leads-out": {"../../evil": b"x", "/evil": b"x", NAME: b"{}"},
}


@pytest.mark.parametrize("files", FOUND.values(), ids=FOUND)
def test_a_report_is_fetched(files: dict[str, bytes], service: Server, tmp_path: Path) -> None:
    packed = pack(files)
    serve_artifact(service, 70, 2, packed)
    ended = fetch(service, tmp_path)
    assert (ended.code, ended.outputs) == (0, {"found": "true"}), ended.printed
    assert list_files(tmp_path) == {"poolwright/report.zip": len(packed), "poolwright/report.json": 2}
    assert [one.authorization for one in service.asked] == ["Bearer s3cret", "Bearer s3cret", None]


# attempt that has it, whether it has expired, its size as it is told
ABSENT = {
    "of-another-attempt": (1, False, None),
    "expired": (2, True, None),
    "too-large": (2, False, MOST + 1),
}


@pytest.mark.parametrize(("attempt", "expired", "size"), ABSENT.values(), ids=ABSENT)
def test_without_a_report_nothing_is_posted(
    attempt: int, expired: bool, size: int | None, service: Server, tmp_path: Path
) -> None:
    serve_artifact(service, 70, attempt, pack({NAME: b"{}"}), expired=expired, size=size)
    # The service may leave the name out of account: it is looked at again.
    service.answers["/repos/o/r/actions/runs/70/artifacts?name=poolwright-report-2"] = service.answers[
        f"/repos/o/r/actions/runs/70/artifacts?name=poolwright-report-{attempt}"
    ]
    ended = fetch(service, tmp_path)
    printed = "Attempt 2 of run 70 left no report of 32 MiB or less: nothing is posted.\n"
    assert (ended.code, ended.printed, ended.outputs) == (0, printed, {})
    assert list_files(tmp_path) == {}


# what comes for the zip -> the step fails, and nothing is posted
BAD = {
    "no-zip": reply(b"no zip"),
    "another-file": reply(pack({"other.json": b"{}"})),
    "larger-than-it-was-said": reply(b"", headers={"Content-Length": str(MOST + 1)}),
    "larger-once-it-is-unpacked": reply(pack({NAME: bytes(MOST + (4 << 20))})),
    "gone": reply(b"", 410),
}


@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_what_is_no_report_is_not_posted(answer: object, service: Server, tmp_path: Path) -> None:
    serve_artifact(service, 70, 2, pack({NAME: b"{}"}))
    service.answers["/store/70"] = answer  # type: ignore[assignment]
    ended = fetch(service, tmp_path)
    assert (ended.code != 0, ended.outputs) == (True, {})
    assert list_files(tmp_path).get("poolwright/report.json", 0) <= MOST


def test_what_is_fetched_is_given_to_the_command(service: Server, tmp_path: Path) -> None:
    """The report is read before anything else: one that is none is refused, and nobody is asked."""
    (tmp_path / "poolwright").mkdir()
    (tmp_path / "poolwright" / "report.json").write_text("{}")
    names = {
        "GITHUB_API_URL": f"http://{service.host}",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "o/r",
        "GITHUB_SERVER_URL": "https://git.example.com",
    }
    ended = POST.run(Runner(tmp_path, tmp_path, names), VALUES)
    assert (ended.code, service.asked) == (2, [])
    assert "report.json: it is no ChangeReport" in ended.printed
    assert "[review-report]" in ended.printed
