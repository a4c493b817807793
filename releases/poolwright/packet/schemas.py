"""The schemas of a packet's own documents, by kind."""

from __future__ import annotations

from typing import Any, Final

from poolwright.packet import index, ledger, prices
from poolwright.specs.json_document import Part, build_schema

DOCUMENTS: Final[dict[str, type[Part]]] = {
    index.KIND: index.PacketIndex,
    ledger.KIND: ledger.Ledger,
    prices.PRICES: prices.Prices,
    prices.THRESHOLDS: prices.ThresholdList,
}


def packet_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one of DOCUMENTS. Every property is always present."""
    return build_schema(DOCUMENTS[kind], kind)
