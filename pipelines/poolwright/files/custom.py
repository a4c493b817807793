"""Teams' own components, custom/CLUSTER/UNIT/: read without following a link, and never written."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

import msgspec

from poolwright.files.project import read_file
from poolwright.specs.digest import Digest, digest_folder
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place
from poolwright.trees.folder import is_tree_path
from poolwright.trees.tree import KUSTOMIZATION, custom_path

_MAX_FILES = 1000
_MAX_BYTES = 16 << 20  # of all files of a component
_RULE = "poolwright custom components"


class Custom(msgspec.Struct, frozen=True, kw_only=True):
    """A team's component as it stands on disk."""

    path: str  # from the project
    files: dict[str, bytes]  # by path from the folder
    digest: Digest


def read_customs(root: str, units: Iterable[str]) -> dict[str, Custom]:
    """The components of units, by unit (CLUSTER/UNIT); one without is left out.

    Raises: SpecError with everything that is wrong with any of them.
    """
    problems: list[Finding] = []
    customs = {}
    for unit in units:
        try:
            custom = read_custom(root, unit)
        except SpecError as error:
            problems += error.findings
            continue
        if custom is not None:
            customs[unit] = custom
    if problems:
        raise SpecError(problems)
    return customs


def read_custom(root: str, unit: str) -> Custom | None:
    """A unit's own component; None if there is no folder of it.

    Raises: SpecError if it has no kustomization.yaml, or holds anything but regular files that can be read.
    """
    path = custom_path(unit)
    if not os.path.lexists(os.path.join(root, path)):  # noqa: PTH118 (as in files.project)
        return None
    files: dict[str, bytes] = {}
    for name in _list(root, path):  # `read_file` refuses what is no regular file, links among it
        left = _MAX_BYTES - sum(map(len, files.values()))
        if not is_tree_path(name):
            raise SpecError([_wrong(path, f"{path} has a file called {name!a}", "give it a plain name")])
        files[name] = read_file(root, f"{path}/{name}", max_bytes=left)
    if KUSTOMIZATION not in files:
        what = f"{path} has no {KUSTOMIZATION}, so nothing in it has an effect"
        raise SpecError(
            [_wrong(path, what, f"add one of kind Component: {path}/{KUSTOMIZATION}, or remove the folder")]
        )
    return Custom(path=path, files=files, digest=digest_folder(files))


def find_unused(root: str, units: Collection[str]) -> list[Finding]:
    """A warning for each folder below custom/ that is no unit's."""
    return [
        Finding(
            code="custom-unused",
            severity="warning",
            place=Place(custom_path(folder)),
            what=f"{custom_path(folder)} belongs to no unit",
            why="nothing in it has an effect, which nobody sees",
            rule=_RULE,
            fix="call it custom/CLUSTER/PLACEMENT, or remove it",
        )
        for folder in _list_customs(root)
        if folder not in units
    ]


def _list_customs(root: str) -> list[str]:
    top = os.path.join(root, "custom")  # noqa: PTH118
    return sorted(
        f"{cluster}/{unit}"
        for cluster in _list_folders(top)
        for unit in _list_folders(os.path.join(top, cluster))  # noqa: PTH118
    )


def _list_folders(path: str) -> list[str]:
    if os.path.islink(path):  # noqa: PTH114
        return []
    try:
        with os.scandir(path) as entries:
            return [
                entry.name
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _list(root: str, path: str) -> list[str]:
    """Paths of all that is in a component's folder and is no folder itself, sorted."""
    for above in (path.rpartition("/")[0].rpartition("/")[0], path.rpartition("/")[0], path):
        if os.path.islink(os.path.join(root, above)):  # noqa: PTH114, PTH118
            raise SpecError([_wrong(path, f"{above} is a link", "put a folder there: links aren't followed")])
    if not os.path.isdir(os.path.join(root, path)):  # noqa: PTH112, PTH118
        raise SpecError([_wrong(path, f"{path} is no folder", f"make it one, with a {KUSTOMIZATION}")])
    found: list[str] = []
    pending = [""]
    while pending:
        below = pending.pop()
        with os.scandir(os.path.join(root, path, below)) as entries:  # noqa: PTH118
            for entry in entries:
                name = f"{below}{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{name}/")
                else:
                    found.append(name)
        if len(found) + len(pending) > _MAX_FILES:
            raise SpecError([_wrong(path, f"{path} has more than {_MAX_FILES} files", "take out what isn't needed")])
    return sorted(found)


def _wrong(path: str, what: str, fix: str) -> Finding:
    return Finding(
        code="custom-build",
        severity="error",
        place=Place(path),
        what=what,
        why="a team's component is built with the unit, and a unit is built as a whole or not at all",
        rule=_RULE,
        fix=fix,
    )
