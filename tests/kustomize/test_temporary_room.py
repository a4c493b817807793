"""A temporary folder that outlives nobody: at the end of its block, and of a process that was killed."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet import copy_fleet
from poolwright.kustomize.room import Room, RoomError

KEPT = """\
import subprocess, sys, time
from poolwright.kustomize.room import Room
with Room() as room:
    open(room.folder + "/file", "w").close()
    started = subprocess.Popen(["sleep", "60"], start_new_session=True, stdout=subprocess.DEVNULL)
    room.watch(started.pid)
    print(started.pid, room.folder, flush=True)
    time.sleep(60)
"""
# Killed before it is told of the folder, with the process that makes it running. Says which that is.
BARELY_STARTED = """\
import os, signal, subprocess
from poolwright.kustomize.room import Room
class Started(subprocess.Popen):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print(self.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
subprocess.Popen = Started
with Room():
    pass
"""


def test_it_is_removed_at_the_end_of_its_block() -> None:
    with Room() as room:
        folder = Path(room.folder)
        (folder / "file").write_text("text")
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


def test_it_is_removed_when_the_block_fails() -> None:
    room = Room()
    with pytest.raises(ZeroDivisionError), room:
        _ = 1 // 0
    assert not Path(room.folder).exists()


def test_no_folder_can_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(RoomError, match="no folder can be made there") as raised, Room():
        pass
    # What the command line says of it: the place, and why.
    assert (raised.value.filename, raised.value.strerror) == (
        str(tmp_path / "nowhere"),
        "no folder can be made there",
    )


def test_no_folder_can_be_made_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "gettempdir", refuse)
    with pytest.raises(RoomError, match="no folder can be made there") as raised, Room():
        pass
    assert raised.value.filename == str(tmp_path)


def test_without_its_keeper_it_is_removed_all_the_same() -> None:
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text("utf-8").split()
    with Room() as room:
        (keeper,) = set(children.read_text("utf-8").split()) - set(before)
        os.kill(int(keeper), signal.SIGKILL)
        assert becomes_true(lambda: not is_running(int(keeper)))
        room.watch(os.getpid())
        room.watch(0)
    assert not Path(room.folder).exists()


def test_it_goes_with_a_process_that_is_killed_and_takes_what_it_watches_along() -> None:
    process = subprocess.Popen([sys.executable, "-c", KEPT], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    pid, folder = process.stdout.readline().split()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert becomes_true(lambda: not Path(folder).exists())
    assert becomes_true(lambda: not is_running(int(pid)))


def test_it_goes_with_a_process_that_is_killed_before_it_knows_the_folder(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    ended = subprocess.run([sys.executable, "-c", BARELY_STARTED], env=env, stdout=subprocess.PIPE, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert becomes_true(lambda: not is_running(int(ended.stdout)))  # who should remove it
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("after_s", [0.1, 0.2, 0.3, 0.4, 0.5])
def test_generate_with_a_component_leaves_nothing_when_killed(after_s: float, tmp_path: Path) -> None:
    fleet, room = copy_fleet(tmp_path), tmp_path / "tmp"
    room.mkdir()
    command = ["-m", "poolwright", "generate", "--cluster=east", "--unit=rewrite-0b6"]
    env = {**os.environ, "TMPDIR": str(room), "PYTHONSAFEPATH": "1"}
    process = subprocess.Popen(
        [sys.executable, *command], cwd=fleet, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert becomes_true(lambda: not any(room.iterdir()))


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def becomes_true(question: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 10
    while not question():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
