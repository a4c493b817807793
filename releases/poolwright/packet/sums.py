"""`SHA256SUMS` of a packet: what `sha256sum` prints for every file but itself and the attestations."""

from __future__ import annotations

from poolwright.packet.index import INDEX, PacketIndex, name_packet

_PREFIX = "sha256:"


def render_sums(index: PacketIndex, index_bytes: bytes) -> bytes:
    """A line for each file, sorted by path; `sha256sum --check SHA256SUMS` reads it in the packet's folder."""
    digests = {one.path: one.sha256 for one in index.files} | {INDEX: name_packet(index_bytes)}
    return "".join(f"{digests[path].removeprefix(_PREFIX)}  {path}\n" for path in sorted(digests)).encode()
