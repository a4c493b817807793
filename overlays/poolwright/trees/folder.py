"""A folder of the rendered tree: what it has to hold, and the names that are poolwright's own in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

MANIFEST_NAME = "poolwright-manifest.json"  # lists what we wrote; a folder without one isn't finished
JOURNAL_NAME = ".poolwright-writing.json"  # stands there only while a folder is being written
TEMP_PREFIX = ".poolwright-tmp-"  # a file on its way to its place


class Folder(msgspec.Struct, frozen=True, kw_only=True):
    """One base or unit, rendered. It is written as a whole and has a manifest of its own.

    Raises: ValueError where a path could leave the folder or hide one of our own files: that is a bug of the renderer.
    """

    path: str  # relative to the tree's root, with forward slashes: `overlays/east/chat-70b`
    files: Mapping[str, bytes]  # by path below the folder, without the manifest; never empty
    unit: str  # the end of `path`: `east/chat-70b`, `base/chat-70b/2.3.0`
    closure: str  # digest of everything the folder follows from
    render_format: int

    def __post_init__(self) -> None:
        for path in (self.path, *self.files):
            if not is_tree_path(path):
                raise ValueError(f"{path!r} is no path to write to")
        if not self.files:
            raise ValueError(f"{self.path!r} would be empty")
        if clash := list_clashes(self.files):
            raise ValueError(f"{self.path!r} would need {clash[0]!r} as a file and as a folder")
        if not is_unit_of(self.unit, self.path):
            raise ValueError(f"{self.path!r} is no folder of unit {self.unit!r}")
        if not is_digest(self.closure):
            raise ValueError(f"{self.closure!r} is no digest")


def is_tree_path(path: str) -> bool:
    """Whether this is a path we write to: relative, below where it starts, printable, and none of our own names."""
    return path.isprintable() and "\\" not in path and all(_is_name(name) for name in path.split("/"))


def _is_name(name: str) -> bool:
    return name not in ("", ".", "..") and not is_own_name(name)


def is_own_name(name: str) -> bool:
    """Whether a file of this name is a manifest, a journal or a file on its way."""
    return name in (MANIFEST_NAME, JOURNAL_NAME) or name.startswith(TEMP_PREFIX)


def is_unit_of(unit: str, path: str) -> bool:
    """Whether a folder at this path is where this unit belongs."""
    return path == unit or path.endswith("/" + unit)


def is_digest(text: object) -> bool:
    """Whether this is a SHA-256 as we write it: `sha256:` and 64 lower-case hex digits."""
    if not isinstance(text, str) or not text.startswith("sha256:"):
        return False
    return len(text) == 71 and all(c in "0123456789abcdef" for c in text[7:])


def list_parents(paths: Iterable[str]) -> set[str]:
    """Every folder that these paths stand in, at any depth; not the one they start from."""
    parents: set[str] = set()
    for path in paths:
        parent = path.rpartition("/")[0]
        while parent and parent not in parents:
            parents.add(parent)
            parent = parent.rpartition("/")[0]
    return parents


def list_clashes(paths: Iterable[str]) -> list[str]:
    """The paths that are the folder of another one, sorted: no tree can hold both."""
    paths = set(paths)
    return sorted(paths & list_parents(paths))
