"""A packet as it was handed over: nothing of it is believed yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from poolwright.attestations.tar import is_member_path
from poolwright.packet.index import ATTESTATIONS, INDEX, SUMS, PacketError


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPacket:
    """Files of a folder or a tar."""

    name: str | None  # of its folder; None: a tar has none
    index: bytes  # packet.json
    sums: bytes | None  # SHA256SUMS
    files: Mapping[str, bytes]  # every other file that a packet can have, by path
    attestations: Mapping[str, bytes]  # by name in `attestations/`
    others: tuple[str, ...] = ()  # paths of what no packet has: links, hidden files, other attestations; sorted


def build_given(files: Mapping[str, bytes], *, name: str | None, others: Iterable[str] = ()) -> GivenPacket:
    """The packet of these files.

    files:  by path; those that no packet can have count as others.
    Raises: PacketError if packet.json isn't among them.
    """
    if INDEX not in files:
        raise PacketError(f"there is no {INDEX} in it")
    start = f"{ATTESTATIONS}/"
    members = {path: data for path, data in files.items() if is_member_path(path)}
    return GivenPacket(
        name=name,
        index=files[INDEX],
        sums=files.get(SUMS),
        files={
            path: data for path, data in members.items() if path not in (INDEX, SUMS) and not path.startswith(start)
        },
        attestations={path.removeprefix(start): data for path, data in members.items() if path.startswith(start)},
        others=tuple(sorted({*others, *(files.keys() - members.keys())})),
    )
