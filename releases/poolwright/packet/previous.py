"""Which release came before: that with the highest sequence among those in the commit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from poolwright.packet.index import PacketError, PacketIndex, Previous, name_packet, parse_index


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A release that is in the commit."""

    index: PacketIndex
    previous: Previous  # what names it


def find_previous(packets: Mapping[str, bytes]) -> Released | None:
    """The newest release; None: there is none yet.

    packets: the bytes of packet.json, by the name of the folder in releases/ that it stands in.
    Raises:  PacketError if one is none or stands in a folder of another name, or if two have the same sequence: two
             branches have released, and which of them is the one before isn't known.
    """
    found: dict[int, tuple[str, PacketIndex]] = {}
    for name, data in sorted(packets.items()):
        try:
            index = parse_index(data)
        except PacketError as error:
            raise PacketError(f"releases/{name}: {error}") from None
        if index.name != name:
            raise PacketError(f'releases/{name} has the packet of release "{index.name}"')
        if index.sequence in found:
            other = found[index.sequence][0]
            raise PacketError(f"releases/{other} and releases/{name} both have the sequence {index.sequence}")
        found[index.sequence] = (name, index)
    if not found:
        return None
    name, index = found[max(found)]
    return Released(index=index, previous=Previous(name=name, digest=name_packet(packets[name])))
