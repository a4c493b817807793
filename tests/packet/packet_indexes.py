"""Indexes and packets for tests, as short as can be."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from poolwright.packet.index import Input, PacketIndex, Previous, Source, Tool
from poolwright.packet.parts import PacketPart, Sealed, seal

COMMIT = "c0ffee" + "0" * 34
DIGEST = "sha256:" + "0" * 64
INDEX = PacketIndex(
    api_version="poolwright.dev/v1alpha1",
    kind="Packet",
    project="fleet",
    name="r1",
    sequence=1,
    previous=None,
    as_of="2026-11-30",
    source=Source(git_commit=COMMIT, project_path="."),
    tool=Tool(poolwright="0.1.0", render_format=1, kustomize=None),
    inputs=(Input(path="poolwright.yaml", sha256=DIGEST),),
    files=(),
    absent=(),
    waivers=(),
)
SECOND = replace(INDEX, name="r2", sequence=2, previous=Previous(name="r1", digest=DIGEST))
PARTS = (
    PacketPart(path="prices.json", role="prices", data=b"{}\n"),
    PacketPart(path="receipts/east.json", role="receipts", data=b'{"a": [1, 2]}\n', cluster="east"),
)


def sealed(index: PacketIndex = INDEX, *parts: PacketPart, **changes: Any) -> Sealed:
    """A packet of PARTS, or of others."""
    return seal(replace(index, **changes), parts or PARTS)
