"""What a project has of a release: its index, and as much else as one unit needs."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Final

from poolwright.attestations.envelope import MAX_ENVELOPE_BYTES, MAX_ENVELOPES, is_envelope_name
from poolwright.attestations.given import GivenPacket
from poolwright.files.project import open_folder, read_named_files
from poolwright.packet.index import ATTESTATIONS, INDEX, MAX_FILE_BYTES, MAX_INDEX_BYTES, RELEASES, SUMS
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

_MAX_NAMES: Final = 5
_RULE: Final = "poolwright releases"


def read_release(root: str, release: str, paths: Collection[str]) -> GivenPacket:
    """A release of the project, with these of its files as far as they are there. No link is followed.

    release: as the Project names it.
    Raises:  SpecError if there is no such release, or something of it can't be read.
    Cost:    memory for the index, the sums, its attestations and these files; no other file is opened.
    """
    folder = f"{RELEASES}/{release}"
    index = read_index(root, release)
    sums = read_named_files(root, [f"{folder}/{SUMS}"], max_bytes=MAX_INDEX_BYTES)
    files = read_named_files(root, [f"{folder}/{path}" for path in paths], max_bytes=MAX_FILE_BYTES)
    return GivenPacket(
        name=release,
        index=index,
        sums=sums.get(f"{folder}/{SUMS}"),
        files={path.removeprefix(f"{folder}/"): data for path, data in files.items()},
        attestations=_read_attestations(root, f"{folder}/{ATTESTATIONS}"),
    )


def read_index(root: str, release: str) -> bytes:
    """The bytes of a release's packet.json, whatever they are.

    Raises: SpecError if there is no such release, or it can't be read.
    """
    path = f"{RELEASES}/{release}/{INDEX}"
    found = read_named_files(root, [path], max_bytes=MAX_INDEX_BYTES)
    if path not in found:
        raise SpecError([_say_missing(root, release, path)])
    return found[path]


def _read_attestations(root: str, folder: str) -> dict[str, bytes]:
    names = [name for name in _list_names(root, folder) if is_envelope_name(name)]
    if len(names) > MAX_ENVELOPES:
        raise SpecError([_say_crowded(folder, len(names))])
    found = read_named_files(root, [f"{folder}/{name}" for name in names], max_bytes=MAX_ENVELOPE_BYTES)
    return {path.rpartition("/")[2]: data for path, data in found.items()}


def _list_names(root: str, folder: str) -> list[str]:
    opened = open_folder(root, folder)
    if opened is None:
        return []
    try:
        return sorted(os.listdir(opened))  # noqa: PTH208 (start-up: no pathlib)
    finally:
        os.close(opened)


def _say_missing(root: str, release: str, path: str) -> Finding:
    names = [name for name in _list_names(root, RELEASES) if not name.startswith(".")]
    newest = ", ".join(names[-_MAX_NAMES:])  # by name, which people choose so that it tells
    return Finding(
        code="packet-unreadable",
        severity="error",
        place=Place(path),
        what=f"there is no release {release} in {RELEASES}/",
        why="the Project says that a cluster is delivered from it",
        rule=_RULE,
        fix=f"commit its folder, or name another in the Project: {newest}" if names else "commit its folder",
    )


def _say_crowded(folder: str, count: int) -> Finding:
    return Finding(
        code="packet-unreadable",
        severity="error",
        place=Place(folder),
        what=f"it has {count:,} attestations, and {MAX_ENVELOPES} are the most",
        why="what is read is bounded, so that no repository can exhaust memory or time",
        rule=_RULE,
        fix="keep those of the project's keys",
    )
