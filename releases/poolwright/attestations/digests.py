"""Whether a packet's files are what its index says, each difference by what was done to it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from poolwright.attestations.given import GivenPacket
from poolwright.attestations.tar import find_path_problems
from poolwright.packet.index import ATTESTATIONS, INDEX, SUMS, PacketError, PacketFile, PacketIndex, parse_index
from poolwright.packet.sums import render_sums
from poolwright.specs.digest import digest_bytes
from poolwright.specs.finding import Finding, sort_findings
from poolwright.specs.place import Place

RULE: Final = "poolwright releases"
_AGAIN: Final = "get the packet again from where it was released, or rebuild it from its commit"
_WHY: Final = "packet.json names every file by digest, and who signs it signs them all"


def check_digests(packet: GivenPacket, *, only: Collection[str] | None = None) -> tuple[Finding, ...]:
    """Every way in which the files differ from the index; none: they are what it says. Warnings don't count.

    only: paths of files: no others are asked for, nor ought they to be given; None: every file.
    Note: an index that can't be read is the only finding, for nothing follows from it.
    """
    try:
        index = parse_index(packet.index)
    except PacketError as error:
        return (_build_unreadable(str(error).removeprefix(f"{INDEX}: ")),)
    return sort_findings(
        (
            *_check_files(packet.files, index, only),
            *_check_others(packet, index),
            *_check_sums(packet, index),
            *_check_name(packet.name, index),
        )
    )


def _check_files(files: Mapping[str, bytes], index: PacketIndex, only: Collection[str] | None) -> Iterator[Finding]:
    named = {one.path: one for one in index.files if only is None or one.path in only}
    path_of: dict[str, list[str]] = {}
    for one in index.files:
        path_of.setdefault(one.sha256, []).append(one.path)
    for path, one in named.items():
        if path not in files:
            yield _build_removed(path)
        elif (digest := digest_bytes(files[path])) != one.sha256 or len(files[path]) != one.size:
            yield _build_changed(one, digest, len(files[path]), [x for x in path_of.get(digest, ()) if x != path])
    yield from (_build_added(path, "packet.json names no such file") for path in files.keys() - named.keys())


def _check_others(packet: GivenPacket, index: PacketIndex) -> Iterator[Finding]:
    for path in packet.others:
        inside = path.startswith(f"{ATTESTATIONS}/")
        yield _build_added(
            path, "it is no attestation's file" if inside else "it is a link, or no file that a packet can have"
        )
    for problem in find_path_problems([one.path for one in index.files]):
        yield _build_unreadable(problem)


def _check_sums(packet: GivenPacket, index: PacketIndex) -> Iterator[Finding]:
    wanted = render_sums(index, packet.index)
    if packet.sums is None:
        yield _build_removed(SUMS)
    elif packet.sums != wanted:
        have, want = packet.sums.splitlines(), wanted.splitlines()
        line = next((i for i, (a, b) in enumerate(zip(have, want, strict=False)) if a != b), min(len(have), len(want)))
        said = f"it should say {want[line].decode()}" if line < len(want) else "there should be no more lines"
        yield Finding(
            code="packet-sums",
            severity="error",
            place=Place(SUMS, line + 1, 1),
            what=f"{SUMS} doesn't follow from {INDEX}: {said}",
            why="whoever checks a packet with sha256sum reads this file, and packet.json alone is signed",
            rule=RULE,
            fix=_AGAIN,
        )


def _check_name(name: str | None, index: PacketIndex) -> Iterator[Finding]:
    if name is not None and name != index.name:
        yield Finding(
            code="packet-renamed",
            severity="warning",
            place=Place(INDEX, field="name"),
            what=f"the folder is called {name}, and the release {index.name}",
            why="people find a release by its folder's name, and might take this one for another",
            rule=RULE,
            fix=f"call the folder {index.name}",
        )


def _build_unreadable(what: str) -> Finding:
    return Finding(
        code="packet-index",
        severity="error",
        place=Place(INDEX),
        what=what,
        why="what a packet holds is said in one way, so that equal packets have one digest",
        rule=RULE,
        fix=_AGAIN,
    )


def _build_removed(path: str) -> Finding:
    return Finding(
        code="packet-removed",
        severity="error",
        place=Place(path),
        what="the file isn't there",
        why=_WHY,
        rule=RULE,
        fix=_AGAIN,
    )


def _build_added(path: str, how: str) -> Finding:
    return Finding(
        code="packet-added",
        severity="error",
        place=Place(path),
        what=f"this was added to the packet: {how}",
        why="nobody signed it",
        rule=RULE,
        fix="remove it, or get the packet again from where it was released",
    )


def _build_changed(one: PacketFile, digest: str, size: int, twins: list[str]) -> Finding:
    cluster = f" of cluster {one.cluster}" if one.cluster else ""
    done = f"has the bytes of {twins[0]}" if twins else "was changed"
    return Finding(
        code="packet-changed",
        severity="error",
        place=Place(one.path),
        what=f"the file{cluster} {done}: it has {size:,} bytes and digest {digest}, "
        f"and should have {one.size:,} and {one.sha256}",
        why=_WHY,
        rule=RULE,
        fix=_AGAIN,
    )
