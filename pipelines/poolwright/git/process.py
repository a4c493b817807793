"""Git run apart: arguments that are ours, an environment of its own, and a repository whose settings can't act.

Of a repository's config git still reads what says how objects are stored. What could run, fetch, redirect or write
is shut off twice where there are two ways: by the environment, and by options that win over the config. All that is
asked of git is what its plumbing answers from objects and refs: no hook, filter, attribute, index or working tree. But
for one question: what of the files on disk it ignores.
"""

from __future__ import annotations

import contextlib
import os
import resource
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, Final

from poolwright.git.gitpython import load_git
from poolwright.git.program import Program
from poolwright.git.refusals import refuse_limit, refuse_program

_MOST_SAID: Final = 16 << 10  # bytes of stderr that are kept
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "HOME": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",  # of 2.39.4 and later
    "GIT_ALLOW_PROTOCOL": "none",  # no way to fetch has that name, so that an older git doesn't either
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
}
_OPTIONS: Final = (
    "--no-pager",
    *("-c", "core.commitGraph=false"),  # it could tell other parents than the commits do
    *("-c", "core.multiPackIndex=false"),
    *("-c", "core.warnAmbiguousRefs=true"),  # `resolve` reads the warning
    *("-c", "advice.graftFileDeprecated=false"),  # /dev/null is one
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.alternateRefsCommand=/dev/null"),
    *("-c", "core.sshCommand=/dev/null"),
    *("-c", "core.gitProxy=/dev/null"),
    *("-c", "credential.helper="),
    *("-c", "protocol.allow=never"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run of git may use."""

    time_s: float = 60
    memory_bytes: int = 2 << 30  # of data; packs are mapped and don't count
    output_bytes: int = 64 << 20  # of an answer that is read as a whole, and of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A repository to ask, and the git to ask."""

    program: Program
    git_dir: str  # absolute; a .git folder, a .git file, or a bare repository
    limits: Limits
    work_tree: str = "/"  # not core.worktree; only what asks for files on disk looks there


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a run ended."""

    code: int
    stdout: bytes
    stderr: bytes  # its start


def run_git(store: Store, *arguments: str) -> Ended:
    """Run git to its end.

    Raises: SpecError if it takes too long or prints too much, or doesn't start.
    Cost:   two to five milliseconds more than what git does.
    """
    with start_git(store, *arguments) as running:
        stdout = running.read_all()
        code, stderr = running.end()
    return Ended(code=code, stdout=stdout, stderr=stderr)


@contextmanager
def start_git(store: Store, *arguments: str, stdin: int | BinaryIO | None = None) -> Iterator[Running]:
    """Git while it runs; when the context is left, it has ended, and whatever it started.

    stdin: an open file to read from; subprocess.PIPE: what `Running.write` is given; None: nothing.
    """
    process = _start(store, arguments, stdin)
    try:
        _limit_memory(process.pid, store.limits.memory_bytes)
        with selectors.DefaultSelector() as selector:
            yield Running(process, selector, store.limits, arguments[0])
    finally:
        if process.returncode is None:  # not reaped, so the group is still its own, with what it may have left behind
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()


class Running:
    """A git that runs, and what it prints; nobody waits for it longer than its limit."""

    def __init__(
        self, process: subprocess.Popen[bytes], selector: selectors.BaseSelector, limits: Limits, command: str
    ) -> None:
        if process.stdout is None or process.stderr is None:
            raise AssertionError("both are pipes")
        self._process = process
        self._selector = selector
        self._limits = limits
        self._command = command
        self._ends = time.monotonic() + limits.time_s
        self._stdout = process.stdout.fileno()
        self._is_open = True
        self._buffer = bytearray()
        self._stderr = b""
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stderr, selectors.EVENT_READ)

    def write(self, data: bytes) -> None:
        """Give it a line or so on stdin: as much as a pipe takes at once."""
        if self._process.stdin is None:
            raise AssertionError("stdin is a pipe")
        with contextlib.suppress(BrokenPipeError):  # it has ended: what it says then, or doesn't, is read next
            self._process.stdin.write(data)
            self._process.stdin.flush()

    def read_line(self) -> bytes | None:
        """The next line, without its end; None: it printed no more, or no whole line."""
        while (at := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > self._limits.output_bytes:
                raise self._refuse_length()
            if not self._fill():
                return None
        line = bytes(self._buffer[:at])
        del self._buffer[: at + 1]
        return line

    def read_exactly(self, count: int) -> bytes:
        """The next bytes; fewer than asked for: it printed no more."""
        while len(self._buffer) < count and self._fill():
            pass
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def read_all(self) -> bytes:
        """All that is left of stdout."""
        while self._fill():
            if len(self._buffer) > self._limits.output_bytes:
                raise self._refuse_length()
        return bytes(self._buffer)

    def end(self) -> tuple[int, bytes]:
        """Wait for its end: the exit code (negative: a signal) and the start of stderr."""
        if self._process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        while self._selector.get_map():
            self._fill()
            self._buffer.clear()
        try:
            return self._process.wait(max(0.1, self._ends - time.monotonic())), self._stderr
        except subprocess.TimeoutExpired:
            raise self._refuse_time() from None

    def _fill(self) -> bool:
        """Wait for a piece of stdout, or for the end of both pipes; False: stdout is at its end."""
        while self._selector.get_map():
            ready = self._selector.select(max(0.0, self._ends - time.monotonic()))
            if not ready:
                raise self._refuse_time()
            has_more = False
            for key, _ in ready:
                piece = os.read(key.fd, 1 << 16)
                if not piece:
                    self._selector.unregister(key.fileobj)
                elif key.fd == self._stdout:
                    self._buffer += piece
                    has_more = True
                else:
                    self._stderr = (self._stderr + piece)[:_MOST_SAID]
            if has_more:
                return True
        return False

    def _refuse_time(self) -> Exception:
        return refuse_limit(f"`git {self._command}` takes more than {self._limits.time_s:g} s")

    def _refuse_length(self) -> Exception:
        return refuse_limit(f"`git {self._command}` prints more than {self._limits.output_bytes:,} bytes")


def _start(store: Store, arguments: Sequence[str], stdin: int | BinaryIO | None) -> subprocess.Popen[bytes]:
    # `env -i`, since GitPython hands down the caller's environment: GIT_DIR, GIT_OBJECT_DIRECTORY, GIT_CONFIG_* ...
    variables = {**_ENVIRONMENT, "GIT_DIR": store.git_dir, "GIT_WORK_TREE": store.work_tree}
    variables["PATH"] = store.program.search
    command = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in variables.items())]
    git = load_git()("/")
    from git.exc import GitError  # not at the top: `load_git` comes first

    try:
        started = git.execute(
            [*command, store.program.path, *_OPTIONS, *arguments],
            istream=stdin,
            as_process=True,
            shell=False,
            start_new_session=True,
        )
    except GitError:
        raise refuse_program("git can't be started: there is no /usr/bin/env") from None
    process, started.proc = started.proc, None  # GitPython would end it as soon as its own value is collected
    if process is None:
        raise AssertionError("it was started")
    return process


def _limit_memory(pid: int, most: int) -> None:
    """Limit its data from outside; only Linux has a way. One that has ended already needs no limit."""
    if not hasattr(resource, "prlimit"):
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        hard = resource.prlimit(pid, resource.RLIMIT_DATA)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.prlimit(pid, resource.RLIMIT_DATA, (soft, hard))
