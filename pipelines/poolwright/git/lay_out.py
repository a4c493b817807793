"""A commit's files in a folder of ours: bytes as they are stored, and nothing that git does when it checks out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

from poolwright.git.objects import read_each, read_headers
from poolwright.git.process import Store
from poolwright.git.refusals import refuse_object, refuse_tree, shorten
from poolwright.git.tree import Tree

MAX_BLOB_BYTES: Final = 64 << 20  # what a project's readers take at most
MAX_ALL_BYTES: Final = 512 << 20
_NOWHERE: Final = b"/dev/null/link"  # where every link leads: no reader of a project follows one
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE: Final = 0o600


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOut:
    """A tree, and the folder that its files stand in."""

    tree: Tree
    folder: str


def lay_out(store: Store, tree: Tree, folder: str, *, like: LaidOut | None = None) -> LaidOut:
    """Write a tree's files into a folder.

    folder: empty, and nobody else's: what is written there isn't shielded from others.
    like:   one laid out before, on the same file system: files that are the same are shared with it, so that neither
            may be written to afterwards.
    Leaves: no bit that makes a file executable; links as links that lead nowhere; a file of more than MAX_BLOB_BYTES as
            one of its size without contents, which every reader refuses by its size.
    Raises: SpecError if a blob isn't in the store or can't be read, or if there is too much; OSError if the disk
            refuses. What was written until then is there.
    Cost:   two processes of git; every file of the tree is written, or linked, once.
    """
    root = os.fsencode(folder)
    for path in tree.folders:
        with _new(path):
            os.mkdir(_join(root, path), 0o700)  # noqa: PTH102 (pathlib has no bytes)
    for path in tree.links:
        with _new(path):
            os.symlink(_NOWHERE, _join(root, path))  # noqa: PTH211
    shared = {} if like is None else _list_shared(like)
    places: dict[str, list[str]] = {}
    for path, blob in tree.blobs.items():
        if blob not in shared or not _link(shared[blob], root, path):
            places.setdefault(blob, []).append(path)
    large = _choose_large(store, places)
    for blob, size in large.items():
        for path in places.pop(blob):
            _write_size(root, path, size)
    with closing(read_each(store, places, "blob", max_bytes=MAX_BLOB_BYTES)) as contents:
        for paths, data in zip(places.values(), contents, strict=True):
            for path in paths:
                _write(root, path, data)
    return LaidOut(tree=tree, folder=folder)


def _list_shared(like: LaidOut) -> dict[str, bytes]:
    """A file of each blob that is laid out already."""
    root = os.fsencode(like.folder)
    return {blob: _join(root, path) for path, blob in like.tree.blobs.items()}


def _link(source: bytes, root: bytes, path: str) -> bool:
    """Share a file; False: the disk doesn't, or not as often as that."""
    try:
        with _new(path):
            os.link(source, _join(root, path))
    except OSError:
        return False
    return True


def _choose_large(store: Store, places: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The sizes of blobs that are too large to be read. Raises: SpecError if the others are too large together."""
    large = {}
    total = 0
    for blob, header in read_headers(store, places).items():
        if header is None:
            raise refuse_object(f"{shorten(places[blob][0])} is blob {blob}, which isn't in the repository")
        if header.size_bytes > MAX_BLOB_BYTES:
            large[blob] = header.size_bytes
        else:
            total += header.size_bytes * len(places[blob])
    if total > MAX_ALL_BYTES:
        what = f"the commit's files have more than {MAX_ALL_BYTES:,} bytes together"
        raise refuse_tree("", what, "keep what isn't the project outside its folder, or split the project")
    return large


def _write(root: bytes, path: str, data: bytes) -> None:
    with _new(path):
        file = os.open(_join(root, path), _NEW, _MODE)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(file, rest) :]
    finally:
        os.close(file)


def _write_size(root: bytes, path: str, size: int) -> None:
    with _new(path):
        file = os.open(_join(root, path), _NEW, _MODE)
    try:
        os.ftruncate(file, size)
    except OSError as error:
        raise refuse_tree(
            path, f"{shorten(path)} has {size:,} bytes, more than a file can have here", "take it out"
        ) from error
    finally:
        os.close(file)


@contextmanager
def _new(path: str) -> Iterator[None]:
    """Refuse what is there already: two names that are one on a disk that doesn't tell their case."""
    try:
        yield
    except FileExistsError:
        what = f"{shorten(path)} is there twice, by names that are one on this disk"
        raise refuse_tree(path, what, "rename one of the two") from None


def _join(root: bytes, path: str) -> bytes:
    return root + b"/" + path.encode("utf-8", "surrogateescape")
