"""One run of an installed `poolwright` in a hostile repository, and what it must not have done."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet import ROOT

MAX_SECONDS = 20.0  # of one run, on a machine that does other things besides
MAX_RSS_BYTES = 400 << 20  # of the largest process of a run
MAX_OUTPUT_BYTES = 1 << 20
SECRET = "canary-5d0b1c7e"  # stands in files outside the repository, and nowhere in it


@dataclass(frozen=True, slots=True)
class Installed:
    """Poolwright as a user has it, outside of any project."""

    python: str
    command: str


def install(folder: Path) -> Installed:
    """An environment of its own with the sources of this checkout in it, and the command as pip writes it."""
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next((folder / "lib").glob("python*/site-packages"))
    roots = [ROOT / name for name in ("render", "overlays", "releases", "pipelines")]
    # What a .pth file adds has none of its own .pth files read: no other checkout comes in that way.
    lines = [*map(str, roots), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    (packages / "poolwright.pth").write_text("".join(f"{line}\n" for line in lines))
    python, command = folder / "bin" / "python", folder / "bin" / "poolwright"
    command.write_text(f"#!{python}\nimport sys\nfrom poolwright.cli.main import main\nsys.exit(main())\n")
    command.chmod(0o755)
    return Installed(python=str(python), command=str(command))


@dataclass(frozen=True, slots=True)
class Ended:
    """What a run left, and what it took."""

    code: int
    stdout: str
    stderr: str
    seconds: float
    rss_bytes: int  # of the largest process in it


@dataclass(frozen=True, slots=True)
class World:
    """A repository among things that are none of its business."""

    top: Path

    @property
    def repository(self) -> Path:
        """The project's folder."""
        return self.top / "repository"

    @property
    def outside(self) -> Path:
        """A folder beside it, with secrets."""
        return self.top / "outside"

    @property
    def secret(self) -> Path:
        """A file outside: YAML with a unique text."""
        return self.outside / "secret.yaml"

    @property
    def touched(self) -> Path:
        """A file that isn't there: whatever code of the repository runs makes it."""
        return self.outside / "touched"

    @property
    def home(self) -> Path:
        """The caller's home."""
        return self.top / "home"

    @property
    def out(self) -> Path:
        """Where `render --out` writes."""
        return self.top / "out"

    def script(self) -> str:
        """A shell script that shows that it ran."""
        return f"#!/bin/sh\necho ran >> '{self.touched}'\n"

    def module(self) -> str:
        """A Python module that shows that it was imported."""
        return f"open({str(self.touched)!r}, 'a').write(__name__)\n"


def create_world(top: Path) -> World:
    """An empty repository and what lies beside it."""
    world = World(top)
    for folder in (world.repository, world.outside, world.home):
        folder.mkdir()
    world.secret.write_text(f"kind: {SECRET}\nitems: [{SECRET}]\n")
    (world.outside / "kustomization.yaml").write_text(f"kind: Component\nresources: [secret.yaml]\n# {SECRET}\n")
    return world


# Runs and measures one program. A child starts as a copy of its parent, whose size would count: this parent is small.
_LAUNCHER = """
import os, resource, signal, sys, time
timeout, *argv = sys.argv[1:]
start = time.monotonic()
child = os.fork()
if not child:
    os.execv(argv[0], argv)
signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
signal.alarm(int(timeout))
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), time.monotonic() - start, usage.ru_maxrss, file=os.fdopen(3, "w"))
"""


def run_measured(
    argv: Sequence[str], *, folder: Path, environment: Mapping[str, str], scratch: Path, timeout_s: int = 60
) -> Ended:
    """Run a program to its end and say what it took.

    scratch: a folder for its output: files, so that nothing of it can keep the program waiting.
    """
    scratch.mkdir(exist_ok=True)
    files = [scratch / name for name in ("stdout", "stderr", "measured")]
    launcher = ["/bin/sh", "-c", 'exec "$@" 3>"$MEASURED"', "sh", "/usr/bin/env", "-u", "MEASURED"]
    command = [*launcher, sys.executable, "-I", "-S", "-c", _LAUNCHER, str(timeout_s), *argv]
    with files[0].open("wb") as stdout, files[1].open("wb") as stderr:
        subprocess.run(
            command,
            cwd=folder,
            env={**environment, "MEASURED": str(files[2])},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            check=True,
        )
    code, seconds, rss = files[2].read_text().split()
    unit = 1 if sys.platform == "darwin" else 1024
    return Ended(int(code), files[0].read_text(), files[1].read_text(), float(seconds), int(rss) * unit)


def snapshot(*folders: Path) -> dict[str, tuple[int, int, int]]:
    """Everything below folders: kind and rights, size, time of the last change. Links are not followed."""
    found = {}
    pending = [os.fspath(folder) for folder in folders]
    while pending:
        place = pending.pop()
        status = os.lstat(place)
        found[place] = (status.st_mode, status.st_size, status.st_mtime_ns)
        if stat.S_ISDIR(status.st_mode):
            pending += (entry.path for entry in os.scandir(place))
    return found


def make_unread(path: Path) -> None:
    """Set a file's times so that reading it shows, where the file system keeps such times."""
    now = path.stat().st_mtime_ns
    os.utime(path, ns=(now - 3_000_000_000, now))


def was_read(path: Path) -> bool:
    """Whether a file was read since `make_unread`."""
    status = path.stat()
    return status.st_atime_ns > status.st_mtime_ns - 3_000_000_000


def environment(world: World, **more: str) -> dict[str, str]:
    """What a caller has in the environment; PYTHONPATH is unset."""
    return {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(world.home), "LANG": "C.UTF-8", **more}
