"""Files of a packet before they are sealed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from poolwright.packet.index import (
    INDEX,
    SUMS,
    PacketError,
    PacketFile,
    PacketIndex,
    Role,
    is_packet_path,
    render_index,
)
from poolwright.packet.sums import render_sums
from poolwright.specs.digest import digest_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketPart:
    """A file, and what it is in the packet."""

    path: str
    role: Role
    data: bytes
    cluster: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A packet: its index, and the bytes of every file by path, packet.json and SHA256SUMS among them."""

    index: PacketIndex
    files: dict[str, bytes]

    @property
    def index_bytes(self) -> bytes:
        """Those that the packet's digest is of."""
        return self.files[INDEX]


def seal(index: PacketIndex, parts: Iterable[PacketPart]) -> Sealed:
    """A packet of these files.

    index:  whose `files` are filled in here.
    Raises: PacketError if a path can't stand in a packet, or two are the same.
    """
    by_path: dict[str, PacketPart] = {}
    for part in parts:
        if not is_packet_path(part.path):
            raise PacketError(f"{part.path!a} can't be the path of a packet's file: letters, digits and ._@+- may")
        if part.path in by_path:
            raise PacketError(f"two files of the packet would be {part.path}")
        by_path[part.path] = part
    rows = tuple(_build_row(by_path[path]) for path in sorted(by_path))
    index = msgspec.structs.replace(index, files=rows)
    data = render_index(index)
    files = {path: part.data for path, part in by_path.items()} | {INDEX: data, SUMS: render_sums(index, data)}
    return Sealed(index=index, files=dict(sorted(files.items())))


def _build_row(part: PacketPart) -> PacketFile:
    return PacketFile(
        path=part.path,
        size=len(part.data),
        sha256=digest_bytes(part.data),
        role=part.role,
        cluster=part.cluster,
        unit=part.unit,
    )
