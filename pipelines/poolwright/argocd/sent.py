"""What Argo CD sent: the folder that it unpacked, and the project in it. No `.git` need be there, and nothing above is
looked at."""

from __future__ import annotations

import os
from typing import Final

from poolwright.files.project import find_project
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

SOURCE_PATH: Final = "ARGOCD_APP_SOURCE_PATH"
ANNOTATION: Final = "argocd.argoproj.io/manifest-generate-paths"
TREE: Final = "overlays"
_RULE: Final = "Argo CD's plugin contract"


def split_path(source_path: str) -> tuple[str, ...]:
    """The folders of an Application's path, from the repository's root; none for the root."""
    return tuple(name for name in source_path.split("/") if name not in ("", "."))


def find_unit(path: tuple[str, ...]) -> tuple[str, str] | None:
    """The cluster and unit that an Application's path names, .../overlays/CLUSTER/UNIT; None: it names none."""
    if len(path) < 3 or path[-3] != TREE:
        return None
    return path[-2], path[-1]


def find_sent_project(folder: str, path: tuple[str, ...]) -> str:
    """The project that an Application's folder is in: the nearest at or above it, within what was sent.

    folder: where the plugin runs: the Application's path in what was sent.
    path:   that path from the repository's root. What was sent may start further down.
    Raises: SpecError if there is none, with what was missing and how to have it sent; or if what would read it was
            loaded from a project.
    """
    found = folder
    above = _count_above(folder, path)
    for _ in range(above + 1):
        if os.path.lexists(os.path.join(found, PROJECT_FILE)):  # noqa: PTH118 (start-up: no pathlib)
            return find_project(found)
        found = os.path.dirname(found)  # noqa: PTH120
    raise SpecError([_missing(path, above)])


def find_sent_root(folder: str, path: tuple[str, ...]) -> str:
    """The folder that Argo CD unpacked, as far as the Application's path shows it."""
    return "/".join(folder.split("/")[: -_count_above(folder, path) or None]) or "/"


def _count_above(folder: str, path: tuple[str, ...]) -> int:
    """How many folders above the plugin's were sent: as many as the end of its own path has in common."""
    names = folder.split("/")
    count = 0
    while count < min(len(path), len(names)) and names[-1 - count] == path[-1 - count]:
        count += 1
    return count


def _missing(path: tuple[str, ...], above: int) -> Finding:
    if above < len(path):
        unsent = "/".join(path[: len(path) - above])
        what = f"{PROJECT_FILE} wasn't sent: the plugin has nothing above {unsent} of the repository"
        why = (
            f"with --plugin-use-manifest-generate-paths, the annotation {ANNOTATION} bounds what is sent; without, a "
            "link in source.path hides what is above it"
        )
        fix = f'set the annotation {ANNOTATION}: "{_project_path(path)}", so that all of the project is sent'
    else:
        where = "/".join(path) or "the repository's root"
        what = f"there is no {PROJECT_FILE} in {where}" + (" or above it" if path else "")
        why = "that file is the root of a project: it names the clusters"
        fix = "point source.path of the Application at the project's folder, or at one in it"
    return Finding(
        code="project-missing",
        severity="error",
        place=Place(PROJECT_FILE),
        what=what,
        why=why,
        rule=_RULE,
        fix=fix,
    )


def _project_path(path: tuple[str, ...]) -> str:
    """Where the project should be: above its overlays; of any other path no more is known than that it is above."""
    return "/" + "/".join(path[: path.index(TREE)] if TREE in path else ())
