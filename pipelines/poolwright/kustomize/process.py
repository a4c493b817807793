"""A program run apart: an empty environment, a home of its own, no input, and limits on what it may use."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import select
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from poolwright.kustomize.room import Room


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run may use. Kustomize 5.8.1 takes 1.3 s of CPU time for 500 Deployments, 11 s for 1,500."""

    time_s: float = 120
    cpu_s: int = 60
    memory_bytes: int = 1 << 30  # of data; Go maps more address space than it uses, so that isn't limited
    output_bytes: int = 32 << 20  # of stdout and of stderr, each


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended and what it said; what it said is cut where it went over a limit."""

    code: int  # negative: the signal that ended it
    stdout: bytes
    stderr: bytes
    over: Literal["", "time", "cpu", "output"] = ""  # the limit it hit, where that can be told


def run_apart(argv: Sequence[str], *, folder: Path, limits: Limits) -> Ended:
    """Run a program to its end, or to a limit.

    argv:    argv[0] is the path of the program; there is no PATH to look in.
    folder:  its working directory.
    Sees:    HOME and TMPDIR (empty, removed afterwards), KUBERC=off, no other variable; a closed stdin.
    Leaves:  nothing, and nobody, even where this process is killed meanwhile.
    Raises:  OSError if it can't be started or limited.
    Cost:    some milliseconds more than the program. Threads may call it at the same time.
    """
    with Room() as room:
        home, temporary = Path(room.folder, "home"), Path(room.folder, "tmp")
        home.mkdir()
        temporary.mkdir()
        # Files, not pipes: their size can be limited, and a grandchild that keeps them open can't keep us waiting.
        with Path(room.folder, "stdout").open("w+b") as stdout, Path(room.folder, "stderr").open("w+b") as stderr:
            _check_startable(argv[0])
            process = subprocess.Popen(  # noqa: S603 - the path comes from find.py, never from the repository
                ("/bin/sh", "-c", _GATE, *argv),
                cwd=folder,
                env={"HOME": str(home), "TMPDIR": str(temporary), "KUBERC": "off"},
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
            room.watch(process.pid)
            out_of_time = _wait(process, limits)
            room.watch(0)
            said = [_read(file.fileno(), limits.output_bytes) for file in (stdout, stderr)]
    if process.returncode in _NOT_STARTED and b"exec:" in said[1]:
        number = _NOT_STARTED[process.returncode]
        raise OSError(number, os.strerror(number), argv[0])
    over: Literal["", "time", "cpu", "output"] = ""
    if out_of_time:
        over = "time"
    elif process.returncode == -signal.SIGXCPU:
        over = "cpu"
    elif any(len(text) == limits.output_bytes for text in said):
        over = "output"
    return Ended(code=process.returncode, stdout=said[0], stderr=said[1], over=over)


def _wait(process: subprocess.Popen[bytes], limits: Limits) -> bool:
    """Wait for the end; True if the time ran out. Whatever else the program started is ended with it."""
    try:
        _limit(process.pid, limits)
        if process.stdin:
            with contextlib.suppress(BrokenPipeError):  # ended already
                process.stdin.write(b"\n")
                process.stdin.close()
        _watch(process, limits.time_s)
        return False
    except subprocess.TimeoutExpired:
        return True
    finally:
        if process.returncode is None:  # not reaped, so the group is still this program's own
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _watch(process: subprocess.Popen[bytes], time_s: float) -> None:
    """Wait for the end. Where the system tells of it, at once and without reaping, so that its group is still its own;
    elsewhere by looking again every 50 ms.
    """
    if hasattr(os, "pidfd_open"):
        watched = os.pidfd_open(process.pid)
        try:
            poll = select.poll()
            poll.register(watched, select.POLLIN)
            if not poll.poll(time_s * 1000):
                raise subprocess.TimeoutExpired(process.args, time_s)
        finally:
            os.close(watched)
    else:
        process.wait(timeout=time_s)


# The program starts when a line comes, and that is sent when the limits stand; they stay over the exec.
_GATE = 'read -r _ && unset PWD OLDPWD && exec "$0" "$@" </dev/null'


_NOT_STARTED = {126: errno.ENOEXEC, 127: errno.ENOENT}  # what the shell says where exec fails


def _check_startable(program: str) -> None:
    """Raises OSError as starting the program itself would: the shell in between only prints."""
    Path(program).stat()
    if not os.access(program, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), program)


def _limit(pid: int, limits: Limits) -> None:
    """Set the limits from outside: code between fork and exec could deadlock where threads start programs."""
    if not hasattr(resource, "prlimit"):  # only Linux has it; elsewhere the time is limited, and what is read
        return
    with contextlib.suppress(ProcessLookupError):  # done already
        for what, most in (
            (resource.RLIMIT_CPU, limits.cpu_s),
            (resource.RLIMIT_DATA, limits.memory_bytes),
            (resource.RLIMIT_FSIZE, limits.output_bytes),
            (resource.RLIMIT_CORE, 0),
        ):
            hard = resource.prlimit(pid, what)[1]
            soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.prlimit(pid, what, (soft, hard))


def _read(file: int, most: int) -> bytes:
    return os.pread(file, most, 0)
