"""Which repository holds a folder. Git judges what is found; here is only where to look."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from poolwright.git.refusals import refuse_repository
from poolwright.specs.parse import PROJECT_FILE

_PARTS: Final = ("HEAD", "objects", "refs")  # what a repository has, whatever else


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A repository, and where in its trees a folder stands."""

    git_dir: str  # absolute
    prefix: str  # with forward slashes; "" is the top


def find_repository(folder: str) -> Found:
    """The repository whose working tree holds a folder, or that the folder itself is.

    The nearest `.git` at or above it counts, by its real path, as git does: a folder of a repository, or the file that
    linked working trees and submodules have. GIT_DIR and the like don't count: where a hook sets them, they name the
    repository that is found anyway.
    A bare repository is one only outside of all others: what looks like one inside a working tree may be committed
    there, and would put its own history in the place of the real one.
    Raises: SpecError if there is none.
    """
    here = Path(os.path.realpath(folder))
    if not here.is_dir():
        raise refuse_repository(f"there is no folder {folder}", "pass --project DIR, a folder of the repository")
    is_bare = _is_repository(here) and not os.path.lexists(here / PROJECT_FILE)
    for top in (here, *here.parents):
        link = top / ".git"
        if link.is_file() or _is_repository(link):
            if is_bare:
                what = f"{folder} looks like a bare repository, and stands in the working tree of another"
                raise refuse_repository(what, "move it out of there, or clone it")
            prefix = here.relative_to(top).as_posix()
            return Found(git_dir=str(link), prefix="" if prefix == "." else prefix)
    if is_bare:
        return Found(git_dir=str(here), prefix="")
    what = f"no Git repository holds {folder}"
    raise refuse_repository(what, "run inside a clone, pass --project DIR, or compare two folders")


def _is_repository(folder: Path) -> bool:
    return all(os.path.lexists(folder / part) for part in _PARTS)
