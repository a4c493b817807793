"""The earlier lock that `pin --plan --from` names: a file of any folder, which `poolwright pin` doesn't write."""

from __future__ import annotations

import os
from typing import Final

from msgspec.structs import replace

from poolwright.files.project import MAX_LOCK_BYTES, read_file
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import Lock, parse_lock

_RESTORE: Final = "name a lock that poolwright wrote: git show main:poolwright.lock > old.lock"


def read_earlier(path: str) -> Lock:
    """The lock of a file that somebody names.

    Raises: SpecError that names the file as it was given, if it is no lock.
    """
    folder, name = os.path.split(path)
    try:
        return parse_lock(read_file(folder or ".", name, max_bytes=MAX_LOCK_BYTES)).value
    except SpecError as error:
        raise SpecError([_name_file(one, path) for one in error.findings]) from None


def _name_file(finding: Finding, path: str) -> Finding:
    """A finding with the file as it was given, and without a remedy that mends only the project's own lock."""
    named = replace(finding, place=replace(finding.place, file=path))
    if finding.code == "file-unreadable":
        what = path + finding.what.removeprefix(os.path.split(path)[1])
        return replace(named, what=what, why="an upgrade plan starts from it", rule="", fix=_RESTORE)
    return replace(named, fix=_RESTORE) if "poolwright pin" in finding.fix else named
