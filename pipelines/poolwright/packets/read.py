"""A packet from a folder or a tar. Nothing of it is followed, run or believed."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from typing import Final

from poolwright.attestations.envelope import MAX_ENVELOPE_BYTES, MAX_ENVELOPES, is_envelope_name
from poolwright.attestations.given import GivenPacket, build_given
from poolwright.attestations.tar import MAX_PACKET_BYTES, is_member_path, read_tar
from poolwright.files.disk import Disk
from poolwright.packet.index import ATTESTATIONS, INDEX, MAX_FILE_BYTES, MAX_FILES, MAX_INDEX_BYTES, PacketError
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place

BESIDE: Final = ".attestations"  # what is added to the name of a tar: the folder of its attestations
_RULE: Final = "poolwright releases"
_LARGEST: Final = {INDEX: MAX_INDEX_BYTES}


def attestation_folder(path: str) -> str:
    """Where a packet's attestations are written, and looked for: in its folder, or beside its tar."""
    return os.path.join(path, ATTESTATIONS) if os.path.isdir(path) else f"{path.rstrip('/')}{BESIDE}"  # noqa: PTH112, PTH118


def read_packet(path: str, *, beside: str | None = None) -> GivenPacket:
    """The packet of a folder or a tar. The path itself may lead there over links.

    beside: a folder of attestations that count as the packet's own, and before those; None: `attestation_folder`.
    Raises: SpecError if there is no packet, or it can't be read, or is larger than any; PacketError if a tar is none of
            a packet, and says why.
    Cost:   memory for all of it, twice for a tar.
    """
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 (start-up: no pathlib)
        if stat.S_ISDIR(mode):
            files, others = _read_folder(path)
            name: str | None = os.path.basename(os.path.realpath(path))  # noqa: PTH119
        else:
            files, others, name = read_tar(_read_tar_file(path)), [], None
        more = {} if beside is None and name is not None else _read_beside(beside or attestation_folder(path))
    except OSError as error:
        raise SpecError([_unreadable(path, f"it can't be read: {(error.strerror or 'unknown').lower()}")]) from None
    if INDEX not in files:
        raise SpecError([_unreadable(path, f"there is no {INDEX} in it")])
    return build_given(
        {**files, **{f"{ATTESTATIONS}/{one}": data for one, data in more.items()}}, name=name, others=others
    )


def _read_folder(path: str) -> tuple[dict[str, bytes], list[str]]:
    """The files of a packet below a folder, and paths of everything else but folders."""
    disk = Disk(path)
    listing = disk.list_folder("")
    if listing is None or "" in listing.others:
        raise SpecError([_unreadable(path, "there is no such folder")])
    if len(listing.files) > MAX_FILES + MAX_ENVELOPES:
        raise SpecError([_unreadable(path, f"it has {len(listing.files):,} files, and {MAX_FILES:,} are the most")])
    members = [one for one in listing.files if is_member_path(one)]
    others = [*listing.others, *(one for one in listing.files if not is_member_path(one))]
    signed = [one for one in members if one.startswith(f"{ATTESTATIONS}/")]
    _check_count(f"{path}/{ATTESTATIONS}", len(signed))
    # Of a longer one its parser says so.
    files = {one: disk.read(one, max_bytes=MAX_ENVELOPE_BYTES + 1) for one in signed}
    left = MAX_PACKET_BYTES
    for member in members:
        if member in files:
            continue
        most = _LARGEST.get(member, MAX_FILE_BYTES)
        files[member] = data = disk.read(member, max_bytes=min(most, left) + 1)
        left -= len(data)
        if left < 0:
            raise SpecError([_unreadable(path, f"it has over {MAX_PACKET_BYTES:,} bytes, and no packet is that large")])
        if len(data) > most:
            raise SpecError(
                [_unreadable(f"{path}/{member}", f"it has over {most:,} bytes, and no packet is that large")]
            )
    return files, others


def _read_tar_file(path: str) -> bytes:
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(file, "rb") as stream:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise SpecError([_unreadable(path, "it is neither a folder nor a regular file")])
        data = stream.read(MAX_PACKET_BYTES + 1)
    if len(data) > MAX_PACKET_BYTES:
        raise SpecError([_unreadable(path, f"it has over {MAX_PACKET_BYTES:,} bytes, and no packet is that large")])
    return data


def _read_beside(folder: str) -> Mapping[str, bytes]:
    """The attestations in a folder; what is called otherwise isn't looked at."""
    disk = Disk(folder)
    listing = disk.list_folder("") if os.path.isdir(folder) else None  # noqa: PTH112
    names = [one for one in (listing.files if listing else ()) if is_envelope_name(one)]
    _check_count(folder, len(names))
    return {one: disk.read(one, max_bytes=MAX_ENVELOPE_BYTES + 1) for one in names}


def _check_count(folder: str, count: int) -> None:
    if count > MAX_ENVELOPES:
        raise SpecError([_unreadable(folder, f"it has {count:,} attestations, and {MAX_ENVELOPES} are the most")])


def build_tar_finding(path: str, error: PacketError) -> Finding:
    """What is said of a tar that is none of a packet."""
    return Finding(
        code="packet-tar",
        severity="error",
        place=Place(path),
        what=str(error),
        why="a packet's tar has one form: of any other, readers would unpack different files",
        rule=_RULE,
        fix="get the tar again from where it was released",
    )


def _unreadable(path: str, what: str) -> Finding:
    return Finding(
        code="packet-unreadable",
        severity="error",
        place=Place(path),
        what=what,
        why="a packet is a folder with a packet.json, as `poolwright release` writes it, or its tar",
        rule=_RULE,
        fix="name a folder of releases/, or a tar of one",
    )
