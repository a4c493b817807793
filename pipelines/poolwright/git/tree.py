"""The tree of a commit as far as it is a project: what stands where, each name checked before it is believed."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from poolwright.git.commit import Commit
from poolwright.git.objects import Reader, open_objects, refuse_absent
from poolwright.git.process import Store
from poolwright.git.refusals import refuse_path, refuse_tree, shorten
from poolwright.specs.parse import PROJECT_FILE

LEFT_OUT: Final = ("overlays", "releases")  # beside poolwright.yaml: what poolwright writes and nothing reads back
MAX_ENTRIES: Final = 200_000
MAX_DEPTH: Final = 100  # folders in one another
MAX_PATH_BYTES: Final = 1024
_MAX_TREE_BYTES: Final = 64 << 20  # of one folder
_MAX_NAME_BYTES: Final = 255
_KINDS: Final = {stat.S_IFDIR: "folder", stat.S_IFREG: "file", stat.S_IFLNK: "link", 0o160000: "submodule"}
_MODE: Final = re.compile(rb"[0-7]{1,6}")
_FIX: Final = "mend the commit that brought it in: no tool of git makes such a tree"
_SPLIT: Final = "keep what isn't the project outside its folder, or split the project"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A project's folder in a commit. Paths are from there; bytes that aren't UTF-8 are surrogates."""

    commit: Commit
    id: str  # of the folder; the same id, the same folder, with what is left out here; "" if there is none
    folders: tuple[str, ...]  # each after the one that holds it
    blobs: dict[str, str]  # regular files: the blob's id by path, whether or not it may be executed
    links: tuple[str, ...]  # symbolic ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of a folder as git stores it."""

    kind: str  # folder, file, link or submodule
    name: str
    id: str
    is_executable: bool = False


def read_tree(store: Store, commit: Commit, prefix: str, *, may_lack: bool = False) -> Tree:
    """What stands below a folder of a commit, but for submodules and, in a project, overlays/ and releases/ at its top.

    prefix:   with forward slashes; "" is the top.
    may_lack: whether the commit may be without that folder: then nothing stands there.
    Raises:   SpecError if there is no such folder, if a name in it can't be a file's, if it has too much in it, or if
              an object isn't in the store.
    Cost:     a process of git; bounded by MAX_ENTRIES, however often one folder is named.
    """
    with open_objects(store) as objects:
        walk = _Walk(objects)
        at = _find_folder(walk, commit, prefix, may_lack=may_lack)
        if at is None:
            return Tree(commit=commit, id="", folders=(), blobs={}, links=())
        folders: list[str] = []
        blobs: dict[str, str] = {}
        links: list[str] = []
        pending = [("", at)]
        while pending:
            above, tree_id = pending.pop()
            entries = walk.list_folder(tree_id, above)
            is_project = not above and any(entry.name == PROJECT_FILE for entry in entries)
            for entry in entries:
                path = above + entry.name
                if is_project and entry.name in LEFT_OUT:
                    continue
                _check_path(path)
                if entry.kind == "folder":
                    folders.append(path)
                    pending.append((f"{path}/", entry.id))
                elif entry.kind == "file":
                    blobs[path] = entry.id
                elif entry.kind == "link":
                    links.append(path)
    return Tree(
        commit=commit,
        id=at,
        folders=tuple(folders),
        blobs=dict(sorted(blobs.items())),
        links=tuple(sorted(links)),
    )


def list_tree(store: Store, commit: Commit, prefix: str) -> dict[str, Entry]:
    """Everything below a folder of a commit by its path, nothing left out, a folder before what it holds.

    Raises and costs as `read_tree`.
    """
    found: dict[str, Entry] = {}
    with open_objects(store) as objects:
        walk = _Walk(objects)
        at = _find_folder(walk, commit, prefix, may_lack=False)
        pending = [] if at is None else [("", at)]
        while pending:
            above, tree_id = pending.pop()
            for entry in walk.list_folder(tree_id, above):
                _check_path(above + entry.name)
                found[above + entry.name] = entry
                if entry.kind == "folder":
                    pending.append((f"{above}{entry.name}/", entry.id))
    return found


class _Walk:
    """Reads folders, each once, and counts what is met in them, each time."""

    def __init__(self, objects: Reader) -> None:
        self._objects = objects
        self._known: dict[str, tuple[Entry, ...]] = {}
        self._count = 0

    def find_top(self, commit: Commit) -> str:
        """The id of a commit's own folder."""
        found = self._objects.read(f"{commit.id}^{{tree}}", "tree", max_bytes=_MAX_TREE_BYTES)
        if found is None:
            raise refuse_absent("the tree of commit", commit.id)
        return found[0]

    def list_folder(self, tree_id: str, above: str) -> tuple[Entry, ...]:
        """A folder's entries; above is what its path begins with, for a message."""
        entries = self._known.get(tree_id)
        if entries is None:
            found = self._objects.read(tree_id, "tree", max_bytes=_MAX_TREE_BYTES)
            if found is None:
                raise refuse_absent("tree", tree_id)
            entries = self._known[tree_id] = self._take(found[1], len(tree_id) // 2, above)
        else:
            self._add(len(entries))
        return entries

    def _take(self, data: bytes, id_bytes: int, above: str) -> tuple[Entry, ...]:
        entries: dict[str, Entry] = {}
        for mode, name, entry_id in _split(data, id_bytes, above):
            self._add(1)
            kind = _read_kind(mode, above)
            is_executable = kind == "file" and bool(int(mode, 8) & 0o100)
            entry = Entry(kind=kind, name=_read_name(name, above), id=entry_id, is_executable=is_executable)
            if entry.name in entries:
                raise refuse_tree(above, f"{_show(above)} has two entries called {entry.name!a}", _FIX)
            entries[entry.name] = entry
        return tuple(entries.values())

    def _add(self, count: int) -> None:
        self._count += count
        if self._count > MAX_ENTRIES:
            raise refuse_tree("", f"the commit has more than {MAX_ENTRIES:,} files and folders", _SPLIT)


def _find_folder(walk: _Walk, commit: Commit, prefix: str, *, may_lack: bool) -> str | None:
    """The id of a folder of a commit, looked up name by name: no path is put together for git to take apart."""
    found = walk.find_top(commit)
    above = ""
    for name in prefix.split("/") if prefix else ():
        entry = next((entry for entry in walk.list_folder(found, above) if entry.name == name), None)
        if entry is None and may_lack:
            return None
        if entry is None:
            raise refuse_path(commit.id, prefix, f"{above}{name} isn't there")
        if entry.kind != "folder":
            raise refuse_path(commit.id, prefix, f"{above}{name} is a {entry.kind}")
        found = entry.id
        above += f"{name}/"
    return found


def _split(data: bytes, id_bytes: int, above: str) -> Iterator[tuple[bytes, bytes, str]]:
    """Mode, name and id of each entry of a stored folder."""
    at = 0
    while at < len(data):
        space = data.find(b" ", at)
        end = data.find(b"\0", space)
        if space < 0 or end < 0 or end + id_bytes >= len(data):
            raise refuse_tree(above, f"{_show(above)} isn't stored as git stores a folder", _FIX)
        yield data[at:space], data[space + 1 : end], data[end + 1 : end + 1 + id_bytes].hex()
        at = end + 1 + id_bytes


def _read_kind(mode: bytes, above: str) -> str:
    if _MODE.fullmatch(mode):
        kind = stat.S_IFMT(int(mode, 8))
        if kind in _KINDS:
            return _KINDS[kind]
    raise refuse_tree(above, f"{_show(above)} has an entry of mode {shorten(repr(mode)[2:-1])}", _FIX)


def _read_name(name: bytes, above: str) -> str:
    text = name.decode("utf-8", "surrogateescape")
    if text in ("", ".", "..") or "/" in text or text.lower() == ".git" or len(name) > _MAX_NAME_BYTES:
        raise refuse_tree(above, f"{_show(above)} has an entry called {shorten(ascii(text)[1:-1])!r}", _FIX)
    return text


def _check_path(path: str) -> None:
    if path.count("/") > MAX_DEPTH:
        raise refuse_tree("", f"the commit has more than {MAX_DEPTH} folders in one another", _SPLIT)
    if len(path.encode("utf-8", "surrogateescape")) > MAX_PATH_BYTES:
        raise refuse_tree("", f"the commit has a path of more than {MAX_PATH_BYTES:,} bytes", _SPLIT)


def _show(above: str) -> str:
    return shorten(above.removesuffix("/")) or "the project's folder"
