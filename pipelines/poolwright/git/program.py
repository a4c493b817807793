"""Which git runs, and where it is looked for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from poolwright.git.refusals import refuse_program
from poolwright.specs.parse import PROJECT_FILE


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A git, and the folders that it and what it starts are looked up in."""

    path: str
    search: str


def find_git(environ: Mapping[str, str]) -> Program:
    """The git on PATH: not in a folder that moves with the caller, nor in one of a project.

    environ: where PATH is read; nothing else of it reaches git.
    Raises:  SpecError if there is none.
    """
    folders = [
        folder
        for folder in environ.get("PATH", "").split(os.pathsep)
        if Path(folder).is_absolute() and not _lies_in_project(Path(folder))
    ]
    search = os.pathsep.join(folders)
    path = shutil.which("git", path=search) if folders else None
    if path is None:
        raise refuse_program("git isn't installed, or isn't on PATH")
    return Program(path=path, search=search)


def _lies_in_project(folder: Path) -> bool:
    """Whether a project's file stands in or above a folder, as it is written or where its links lead."""
    real = Path(os.path.realpath(folder))  # Path.resolve fails on a circle of links
    return any(os.path.lexists(above / PROJECT_FILE) for at in (folder, real) for above in (at, *at.parents))
