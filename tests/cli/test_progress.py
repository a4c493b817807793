"""How far a plan is: a line on a terminal that is gone in the end, and nothing anywhere else."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from fleet import FLEET, ROOT, copy_fleet
from run_poolwright import run

ERASE = "\r\x1b[K"
LAB = ("plan", "--project", str(FLEET), "--cluster", "lab")
LOSS = (*LAB, "--loss", "device", "--loss", "node", "--slots")
STEPS = [
    "lab (1 of 1): reading what is built",
    "lab (1 of 1): judging 1 workload",
    "lab (1 of 1): loss of each device, 0 of 1 judged",
    "lab (1 of 1): loss of each node, 0 of 1 judged",
    "lab (1 of 1): checking rollouts, promises and prices",
]
PLAIN = [*STEPS[:2], STEPS[-1]]


@dataclass(frozen=True)
class Seen:
    """What a run with a terminal for stderr left."""

    code: int
    stdout: str
    terminal: str


def run_on_terminal(
    *arguments: str, term: str = "xterm", columns: int = 80, more: Mapping[str, str] | None = None
) -> Seen:
    """Run `poolwright` as a process of its own whose stderr is a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "TERM": term, **(more or {})}
    command = (sys.executable, "-P", "-m", "poolwright", *arguments)
    found = bytearray()

    def read() -> None:
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # no one has the other end any more
                return
            if not data:
                return
            found.extend(data)

    reader = threading.Thread(target=read)
    try:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=slave)
        os.close(slave)
        reader.start()
        stdout, _ = process.communicate(timeout=120)
        reader.join(timeout=30)
    finally:
        os.close(master)
    return Seen(process.returncode, stdout.decode(), found.decode())


def test_a_line_on_a_terminal_is_written_over_and_gone() -> None:
    seen = run_on_terminal(*LOSS)
    assert (seen.code, seen.terminal) == (0, "".join(ERASE + one for one in STEPS) + ERASE)
    assert seen.stdout == run(*LOSS, folder=ROOT).stdout


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_erase_sees_nothing(term: str) -> None:
    seen = run_on_terminal(*LAB, term=term)
    assert (seen.code, seen.terminal) == (0, "")


def test_without_colors_nothing_is_otherwise() -> None:
    seen = run_on_terminal(*LAB, more={"NO_COLOR": "1"})
    assert seen.terminal == "".join(ERASE + one for one in PLAIN) + ERASE
    assert not re.search(r"\x1b\[[0-9;]*m", seen.terminal)


def test_a_narrow_terminal_sees_one_line_still() -> None:
    seen = run_on_terminal(*LAB, columns=20)
    assert seen.terminal == "".join(ERASE + one[:19] for one in PLAIN) + ERASE


def test_what_is_no_terminal_sees_nothing() -> None:
    ran = run(*LOSS, folder=ROOT)
    assert (ran.code, ran.stderr) == (0, "")


def test_a_refusal_stands_on_a_line_of_its_own(tmp_path: Path) -> None:
    project = copy_fleet(tmp_path)
    path = tmp_path / "plan.json"
    path.write_text(run("plan", "--project", str(FLEET), "--cluster", "lab", "--format", "json", folder=ROOT).stdout)
    placement = project / "specs" / "placements" / "lab.yaml"
    text = placement.read_text(encoding="utf-8")
    placement.write_text(text.replace("{name: chat-70b}", "{name: chat-70c}"), encoding="utf-8")
    seen = run_on_terminal("plan", "--project", str(project), "--cluster", "lab", "--replay", str(path), columns=200)
    assert (seen.code, seen.stdout) == (2, "")
    start = f'{ERASE}reading what is built{ERASE}{path}: lab has no workload "chat/chat-70b"'
    assert seen.terminal.startswith(start)


def test_a_terminal_that_is_gone_stops_nothing() -> None:
    master, slave = pty.openpty()
    command = (sys.executable, "-P", "-m", "poolwright", *LAB)
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "TERM": "xterm"}, stdout=subprocess.PIPE, stderr=slave
    ) as process:
        os.close(slave)
        assert os.read(master, 3) == ERASE.encode()[:3]
        os.close(master)
        stdout, _ = process.communicate(timeout=120)
    assert (process.returncode, stdout.decode()) == (0, run(*LAB, folder=ROOT).stdout)
