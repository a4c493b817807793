"""One command of a plugin, run as argocd-cmp-server runs it: no shell, a group of its own, killed at the deadline."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Final

GRACE_S: Final = 5.0  # between SIGTERM and SIGKILL of the group
BUFFER_S: Final = 0.1  # how much earlier than its caller argocd-cmp-server gives up
_MOST: Final = 512 << 20  # bytes of each stream that are kept; argocd-cmp-server keeps all


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """When a request is over, by time.monotonic."""

    ends_s: float  # for the caller, the repo-server

    @property
    def server_ends_s(self) -> float:
        """The same for argocd-cmp-server."""
        return self.ends_s - BUFFER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended."""

    error: str = ""  # as argocd-cmp-server words it; empty: success
    is_late: bool = False  # its caller had given up already
    stdout: bytes = b""
    stderr: bytes = b""


def run_command(command: Sequence[str], *, folder: str, environment: Mapping[str, str], clock: Clock) -> Ended:
    """Run a command to its end, or kill it.

    environment: all of it; PATH in it says where the program is.
    Leaves:      no process of the command's group.
    """
    program = command[0]
    if "/" not in program and shutil.which(program, path=environment.get("PATH", "")) is None:
        return Ended(error=f'exec: "{program}": executable file not found in $PATH')
    path = program if "/" in program else shutil.which(program, path=environment.get("PATH", ""))
    try:
        process = subprocess.Popen(  # noqa: S603 - the plugin's own command, which the user names
            list(command),
            executable=path,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
        )
    except OSError as error:
        return Ended(error=f"fork/exec {path}: {(error.strerror or str(error)).lower()}")
    readers = [_Reader(pipe) for pipe in (process.stdout, process.stderr) if pipe is not None]
    try:
        return _wait(process, readers, clock, render_command(command))
    finally:
        _end_group(process)


def _wait(process: subprocess.Popen[bytes], readers: Sequence[_Reader], clock: Clock, line: str) -> Ended:
    try:
        process.wait(max(0.0, clock.server_ends_s - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.kill()
        _signal(process.pid, signal.SIGTERM)
        process.wait()
    # It isn't over before nobody has the pipes open any more, a grandchild for example.
    if not all(reader.join(clock.server_ends_s) for reader in readers):
        _signal(process.pid, signal.SIGTERM)
    is_late = not all(reader.join(clock.ends_s) for reader in readers)
    stdout, stderr = (reader.read() for reader in readers)
    error = ""
    if process.returncode:
        said = stderr.decode("utf-8", "replace").strip()
        error = f"`{line}` failed {_describe(process.returncode)}" + (f": {said}" if said else "")
    return Ended(error=error, is_late=is_late, stdout=stdout, stderr=stderr)


def render_command(command: Sequence[str]) -> str:
    """A command as Argo CD's messages show it."""
    return " ".join(
        json.dumps(word, ensure_ascii=False) if not word or any(map(str.isspace, word)) else word for word in command
    )


def _describe(code: int) -> str:
    if code > 0:
        return f"exit status {code}"
    return f"signal: {(signal.strsignal(-code) or str(-code)).lower()}"


class _Reader:
    """Reads a pipe until nobody can write to it, so that none that writes has to wait."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._data = bytearray()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def join(self, until_s: float) -> bool:
        """Wait for the end; whether it was reached."""
        self._thread.join(max(0.0, until_s - time.monotonic()))
        return not self._thread.is_alive()

    def read(self) -> bytes:
        """What was read so far."""
        return bytes(self._data)

    def _run(self) -> None:
        with contextlib.suppress(OSError, ValueError), self._pipe:
            while piece := os.read(self._pipe.fileno(), 1 << 16):
                if len(self._data) < _MOST:
                    self._data += piece


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM to what is left of the group, and SIGKILL to what is left of that after the time of grace."""
    if process.returncode is None:  # we are on our way out
        process.kill()
        process.wait()
    ends = time.monotonic() + GRACE_S
    is_left = _signal(process.pid, signal.SIGTERM)
    while is_left and time.monotonic() < ends:
        time.sleep(0.02)
        is_left = _signal(process.pid, 0)
    if is_left:
        _signal(process.pid, signal.SIGKILL)


def _signal(group: int, number: int) -> bool:
    """Whether there was somebody to get it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True
