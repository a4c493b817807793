"""A commit's files as a checkout has them: everything below a folder, links that lead where they led, and modes.

Unlike `lay_out`, whose readers are ours, this is for a program that is shown what Argo CD would show it.
"""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import Final

from poolwright.git.commit import Commit
from poolwright.git.objects import read_each, read_headers
from poolwright.git.process import Store
from poolwright.git.refusals import refuse_object, refuse_tree, shorten
from poolwright.git.tree import Entry, list_tree

_MAX_BYTES: Final = 512 << 20  # of all files together


def check_out(store: Store, commit: Commit, prefix: str, folder: str) -> None:
    """Write what stands below a folder of a commit; a submodule becomes an empty folder.

    prefix: with forward slashes; "" is the top.
    folder: empty, and nobody else's.
    Raises: SpecError if something can't be read, or if there is too much; OSError if the disk refuses.
    Note:   bytes as they are stored: no filter, no change of line ends, no large file fetched from elsewhere.
    """
    entries = list_tree(store, commit, prefix)
    stored = {path: entry for path, entry in entries.items() if entry.kind in ("file", "link")}
    _check_sizes(store, stored)
    for path in entries:
        if path not in stored:
            Path(folder, path).mkdir()
    contents = read_each(store, [entry.id for entry in stored.values()], "blob", max_bytes=_MAX_BYTES)
    with closing(contents):
        for (path, entry), data in zip(stored.items(), contents, strict=True):
            _write(Path(folder, path), entry, data)


def _check_sizes(store: Store, stored: dict[str, Entry]) -> None:
    headers = read_headers(store, {entry.id for entry in stored.values()})
    total = 0
    for path, entry in stored.items():
        header = headers[entry.id]
        if header is None:
            raise refuse_object(f"{shorten(path)} is blob {entry.id}, which isn't in the repository")
        total += header.size_bytes
    if total > _MAX_BYTES:
        raise refuse_tree(
            "", f"the commit's files have more than {_MAX_BYTES:,} bytes together", "split the repository"
        )


def _write(place: Path, entry: Entry, data: bytes) -> None:
    if entry.kind == "link":
        place.symlink_to(os.fsdecode(data))
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(place, flags, 0o777 if entry.is_executable else 0o666), "wb") as file:
        file.write(data)
