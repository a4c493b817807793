"""Calls of `generate` take turns: a slot each, and whoever is killed gives it back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet import FLEET
from run_poolwright import start

WAITS = "poolwright: waits until one of {} other calls ends (POOLWRIGHT_AT_ONCE)\n"
HOLD = (
    "import sys; from poolwright.argocd.slot import take_slot; "
    "reason = take_slot({'POOLWRIGHT_AT_ONCE': sys.argv[1]}, sys.argv[2]); "
    "print(reason or 'has a slot', flush=True); sys.stdin.read()"
)
# POOLWRIGHT_AT_ONCE, slots there are -> why there is none
FIX = "set it to how many calls may work at once, 1 or more, or unset it"
REFUSED = {
    "not-a-number": ("four", 1, f"POOLWRIGHT_AT_ONCE is 'four': {FIX}"),
    "none": ("0", 1, f"POOLWRIGHT_AT_ONCE is '0': {FIX}"),
    "less-than-none": ("-1", 1, f"POOLWRIGHT_AT_ONCE is '-1': {FIX}"),
    "too-many-digits": ("9" * 5000, 1, f"POOLWRIGHT_AT_ONCE is {'9' * 40!r}: {FIX}"),
    "more-than-there-are": (
        "3",
        2,
        "POOLWRIGHT_AT_ONCE is 3, and {}/2 can't be opened (No such file or directory): make it no larger",
    ),
}


class Caller:
    """A process that takes a slot and keeps it until it is told to end, or killed."""

    def __init__(self, at_once: str, folder: Path) -> None:
        command = (sys.executable, "-P", "-c", HOLD, at_once, str(folder))
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def said(self) -> str:
        """The line that says how it went; waits for it."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def waits(self) -> str:
        """The line that says that it waits; waits for that too."""
        assert self.process.stderr is not None
        return self.process.stderr.readline()


@pytest.fixture
def slots(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "slots"
    folder.mkdir()
    for number in range(3):
        (folder / str(number)).touch(mode=0o444)
    folder.chmod(0o555)
    yield folder
    folder.chmod(0o755)


@pytest.fixture
def callers() -> Iterator[list[Caller]]:
    started: list[Caller] = []
    yield started
    for caller in started:
        caller.process.kill()
        caller.process.wait(timeout=60)
        for pipe in (caller.process.stdin, caller.process.stdout, caller.process.stderr):
            assert pipe is not None
            pipe.close()


@pytest.mark.parametrize(("ends", "code"), [(signal.SIGKILL, -9), (None, 0)], ids=["killed", "done"])
def test_as_many_as_there_are_slots_and_the_next_when_one_ends(
    ends: signal.Signals | None, code: int, slots: Path, callers: list[Caller]
) -> None:
    callers += [Caller("2", slots), Caller("2", slots)]
    assert [caller.said() for caller in callers] == ["has a slot", "has a slot"]
    callers += [Caller("2", slots), Caller("2", slots)]
    assert [caller.waits() for caller in callers[2:]] == [WAITS.format(2)] * 2
    for caller in callers[:2]:
        if ends is None:
            assert caller.process.stdin is not None
            caller.process.stdin.close()
        else:
            caller.process.send_signal(ends)
        assert caller.process.wait(timeout=60) == code
    assert [caller.said() for caller in callers[2:]] == ["has a slot", "has a slot"]
    assert sorted(path.name for path in slots.iterdir()) == ["0", "1", "2"]


def test_one_that_waits_can_be_killed(slots: Path, callers: list[Caller]) -> None:
    callers += [Caller("1", slots)]
    assert callers[0].said() == "has a slot"
    callers += [Caller("1", slots)]
    assert callers[1].waits() == WAITS.format(1)
    callers[1].process.kill()
    assert callers[1].process.wait(timeout=60) == -signal.SIGKILL


@pytest.mark.parametrize(("said", "there", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_bound_that_is_none(said: str, there: int, reason: str, tmp_path: Path, callers: list[Caller]) -> None:
    for number in range(there):
        (tmp_path / str(number)).touch()
    callers += [Caller(said, tmp_path)]
    assert callers[0].said() == reason.format(tmp_path)


def test_generate_takes_one() -> None:
    """This installation isn't the image, so it has no slots."""
    unit = ("generate", "--cluster", "east", "--unit", "chat-70b")
    ran = start(*unit, folder=FLEET, environment={**os.environ, "POOLWRIGHT_AT_ONCE": "4"})
    why = f"POOLWRIGHT_AT_ONCE is 4, and {sys.prefix}/slots/0 can't be opened (No such file or directory)"
    assert (ran.code, ran.stdout, ran.stderr) == (2, "", f"poolwright: {why}: make it no larger\n")
