"""A Containerfile as its instructions, and carried out in folders: no container engine, and nothing but what it says.

The base image is this machine: its /usr and its Python read only, with a standard library that has no bytecode and
nothing installed but pip. It takes root, for mounts and another root folder.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pip
import pytest

from needs import REASON

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64")
BASE_PATH = f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin"
STDLIB = sysconfig.get_path("stdlib")
NOT_IN_A_BASE = ("__pycache__", "site-packages", "dist-packages", "test", "idlelib", "config-*")
# What pip needs to reach the index that this machine uses, and says if it can't.
NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/pip.conf", "/etc/ssl")
NETWORK_VARIABLES = re.compile("PIP_(?!FIND_LINKS).*|.*_proxy|.*_PROXY|SSL_CERT_.*")
NO_INDEX = "(from versions: none)"
ALONE = ("--net", "--pid", "--fork", "--mount-proc")
# $1: the root. Then three words for each mount: what (a path, or `tmpfs`), where below the root, and `ro` or `rw`. Then
# `--`, the root's own `ro` or `rw`, and what chroot is told.
ENTER = """
set -e
root=$1
shift
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  if [ "$1" = tmpfs ]; then
    mount -t tmpfs -o mode=1777 none "$root$2"
  else
    mount --rbind "$1" "$root$2"
    mount -o "remount,bind,$3" "$root$2"
  fi
  shift 3
done
mount -o "remount,bind,$2" "$root"
shift 2
exec chroot "$@"
"""


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction: `RUN`, `COPY` and so on, and what stands behind it with its lines joined."""

    word: str
    text: str


@dataclass(frozen=True, slots=True)
class Stage:
    """What stands from one FROM to the next."""

    name: str
    base: str
    steps: tuple[Step, ...]

    def list_steps(self, word: str) -> list[str]:
        return [step.text for step in self.steps if step.word == word]

    @property
    def environment(self) -> dict[str, str]:
        """Of all its ENV lines, each as NAME=VALUE."""
        return dict(part.split("=", 1) for text in self.list_steps("ENV") for part in shlex.split(text))


def parse_containerfile(text: str) -> tuple[list[str], list[Stage]]:
    """The arguments that stand before the first stage, and the stages."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    steps = [Step(*line.split(None, 1)) for line in joined.splitlines() if line]
    arguments: list[str] = []
    stages: list[Stage] = []
    for step in steps:
        if step.word == "FROM":
            base, *rest = step.text.split()
            assert rest[:1] in ([], ["AS"]), step
            stages.append(Stage(rest[1] if rest else "", base, ()))
        elif stages:
            stages[-1] = Stage(stages[-1].name, stages[-1].base, (*stages[-1].steps, step))
        else:
            assert step.word == "ARG", step
            arguments.append(step.text)
    return arguments, stages


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """A stage's root folder, and the standard library of the Python in it."""

    folder: Path
    stdlib: Path

    def run(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        *,
        folder: str = "/",
        mounts: Sequence[tuple[str, str, str]] = (),
        builds: bool = False,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program in it: 999:999 with everything read only and no network, or root that builds, and may all.

        mounts: what else is there: a path of this machine or `tmpfs`, where, and `ro` or `rw`.
        """
        mode = "rw" if builds else "ro"
        own = [(path, path, "ro") for path in SYSTEM if Path(path).is_dir() and not Path(path).is_symlink()]
        if not Path(sys.base_prefix).is_relative_to("/usr"):
            own.append((sys.base_prefix, sys.base_prefix, "ro"))
        own += [(str(self.stdlib), STDLIB, mode), ("/dev", "/dev", "rw"), ("/proc", "/proc", "rw"), *mounts]
        for _, where, _ in own:
            if not (self.folder / where.lstrip("/")).exists():
                (self.folder / where.lstrip("/")).mkdir(parents=True)
        return subprocess.run(
            (
                *(
                    "unshare",
                    "--mount",
                    *(() if builds else ("--net", "--pid", "--fork", "--mount-proc")),
                    "/bin/sh",
                    "-c",
                    ENTER,
                    "enter",
                ),
                *(str(self.folder), *(word for mount in own for word in mount), "--", mode),
                *(() if builds else ("--userspec=999:999", "--groups=")),
                *(str(self.folder), "/usr/bin/env", "-i", "-C", folder),
                *(f"{name}={value}" for name, value in environment.items()),
                *argv,
            ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=600,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """Where stages are carried out."""

    folder: Path
    context: Path
    roots: dict[str, Path] = field(default_factory=dict)  # of each stage by name; one given isn't carried out

    def carry_out(self, stage: Stage) -> Root:
        """Do what a stage says, in order. Where no package index is reached, the test that asks is skipped."""
        root = make_base(self.folder / (stage.name or "image"))
        self.roots[stage.name] = root.folder
        network = {name: value for name, value in os.environ.items() if NETWORK_VARIABLES.fullmatch(name)}
        for step in stage.steps:
            if step.word == "COPY":
                self._copy(step.text, root.folder)
            elif step.word == "RUN":
                argv = json.loads(step.text) if step.text.startswith("[") else ["/bin/sh", "-c", step.text]
                ended = root.run(argv, {"PATH": BASE_PATH, **network}, builds=True)
                if NO_INDEX in ended.stderr.decode():
                    pytest.skip(f"{REASON}a package index")
                assert ended.returncode == 0, f"{step.text}\n{(ended.stdout + ended.stderr).decode()}"
            else:
                assert step.word in ("ENV", "USER", "ENTRYPOINT", "LABEL", "WORKDIR"), step
        return root

    def _copy(self, text: str, root: Path) -> None:
        *sources, target = text.split()
        origin = (
            self.roots[sources.pop(0).removeprefix("--from=")] if sources[0].startswith("--from=") else self.context
        )
        for path in [path for source in sources for path in self._find(origin, source)]:
            to = root / target.lstrip("/") / (path.name if target.endswith("/") else "")
            to.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, to, symlinks=True)
            else:
                shutil.copy2(path, to)

    def _find(self, origin: Path, source: str) -> list[Path]:
        found = sorted(origin.glob(source.lstrip("/")))
        assert found, f"COPY finds no {source}"
        return found


def make_base(folder: Path) -> Root:
    """The base image."""
    root = Root(folder=folder, stdlib=folder.with_suffix(".stdlib"))
    (folder / "tmp").mkdir(parents=True)
    for path in map(Path, SYSTEM):
        if path.is_symlink():
            (folder / path.name).symlink_to(path.readlink())
    for path in map(Path, NETWORK_FILES):
        if path.exists():
            (folder / "etc").mkdir(exist_ok=True)
            copy = shutil.copytree if path.is_dir() else shutil.copy2
            copy(path, folder / "etc" / path.name)
    shutil.copytree(STDLIB, root.stdlib, symlinks=True, ignore=shutil.ignore_patterns(*NOT_IN_A_BASE))
    shutil.copytree(
        pip.__path__[0], root.stdlib / "site-packages" / "pip", ignore=shutil.ignore_patterns("__pycache__")
    )
    return root
