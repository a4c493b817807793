"""Where a working tree isn't what a commit has, by the bytes on disk: no index, no filter, no setting counts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from poolwright.git.tree import Entry

_CHUNK: Final = 1 << 20


def list_dirty(entries: Mapping[str, Entry], folder: str, ignored: Collection[str]) -> tuple[str, ...]:
    """Paths below a folder that differ from what a commit has there, are missing, or aren't in it; sorted.

    entries: what the commit has below that folder; submodules are passed over.
    ignored: paths that needn't be in it, a folder's for all that it holds.
    Raises:  OSError that names the file, if one can't be read.
    Note:    a checkout that changes line ends, or lays files out by a filter, differs: other bytes would be read.
    """
    there = dict(_walk(folder, "", entries, frozenset(path.rstrip("/") for path in ignored)))
    wanted = {path: one for path, one in entries.items() if one.kind in ("file", "link")}
    missing = wanted.keys() - there.keys()
    unknown = there.keys() - wanted.keys()
    changed = (path for path in wanted.keys() & there.keys() if not _is_same(there[path], wanted[path]))
    return tuple(sorted({*missing, *unknown, *changed}))


def _walk(
    folder: str, above: str, entries: Mapping[str, Entry], ignored: Collection[str]
) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(folder) as found:
        for one in found:
            path = above + one.name
            known = entries.get(path)
            if (path in ignored and known is None) or one.name == ".git" or (known and known.kind == "submodule"):
                continue
            if one.is_dir(follow_symlinks=False):
                yield from _walk(one.path, f"{path}/", entries, ignored)
            else:
                yield path, one


def _is_same(one: os.DirEntry[str], entry: Entry) -> bool:
    if entry.kind == "link":
        return one.is_symlink() and _name_blob(os.fsencode(os.readlink(one.path)), entry) == entry.id  # noqa: PTH115
    return one.is_file(follow_symlinks=False) and _name_file(one.path, entry) == entry.id


def _start(size: int, entry: Entry) -> hashlib._Hash:
    """A hash as the repository's object names are made."""
    sha1_digits = 40
    made = hashlib.sha1(usedforsecurity=False) if len(entry.id) == sha1_digits else hashlib.sha256()
    made.update(b"blob %d\0" % size)
    return made


def _name_blob(data: bytes, entry: Entry) -> str:
    made = _start(len(data), entry)
    made.update(data)
    return made.hexdigest()


def _name_file(path: str, entry: Entry) -> str:
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        made = _start(os.fstat(file).st_size, entry)
        while chunk := os.read(file, _CHUNK):
            made.update(chunk)
    finally:
        os.close(file)
    return made.hexdigest()
