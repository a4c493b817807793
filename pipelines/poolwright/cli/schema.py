"""`poolwright schema`: the JSON Schemas that editors use."""

from __future__ import annotations

import json
import os

from poolwright.cli.output import say, tell, write_file
from poolwright.specs.report import finding_list_schema
from poolwright.specs.schema import KINDS, Schema, build_schema

FINDINGS = "FindingList"
ALLOCATIONS = "AllocationList"
PLAN = "FitPlan"
REPLAY = "FitReplay"
PRICES = "PriceList"
PINS = "PinReport"
MATRIX = "RehearsalMatrix"
SNAPSHOT = "Snapshot"
UPGRADE = "UpgradePlan"
CHANGES = "ChangeReport"
TRUST = "TrustPolicy"
RECEIPTS = "Receipts"
RECEIPT_COMPARISON = "ReceiptComparison"
FLEET = "FleetReport"
PACKET = ("Packet", "PacketLedger", "PacketPrices", "PacketThresholds")
REPORTS = (
    *(FINDINGS, ALLOCATIONS, PLAN, REPLAY, PRICES, PINS, MATRIX, SNAPSHOT, UPGRADE, CHANGES, TRUST, RECEIPTS),
    RECEIPT_COMPARISON,
    FLEET,
    *PACKET,
)


def run_schema(kind: str, out: str | None) -> int:
    """Print one schema, or write all of them as KIND.json into a folder (kind `all`)."""
    if out is None:
        say(_render(_schema(kind)))
        return 0
    os.makedirs(out, exist_ok=True)  # noqa: PTH103
    for name in (*KINDS, *REPORTS) if kind == "all" else (kind,):
        path = os.path.join(out, f"{name.lower()}.json")  # noqa: PTH118
        write_file(path, _render(_schema(name)).encode())
        tell(path)
    return 0


def _schema(kind: str) -> Schema:
    if kind == ALLOCATIONS:
        from poolwright.allocation.answer_schema import answer_schema  # the others don't need its room

        return answer_schema()
    if kind == PLAN:
        from poolwright.plan.report.plan_schema import plan_schema

        return plan_schema()
    if kind == REPLAY:
        from poolwright.plan.report.replay_schema import replay_schema

        return replay_schema()
    if kind == PRICES:
        from poolwright.admission.report.price_schema import price_schema

        return price_schema()
    if kind == PINS:
        from poolwright.pins.report import pin_schema

        return pin_schema()
    if kind == MATRIX:
        from poolwright.matrix.matrix_schema import matrix_schema

        return matrix_schema()
    if kind == UPGRADE:
        from poolwright.upgrades.report import upgrade_schema

        return upgrade_schema()
    if kind == CHANGES:
        from poolwright.changes.report import report_schema

        return report_schema()
    if kind == TRUST:
        from poolwright.trust.schema import trust_schema

        return trust_schema()
    if kind == RECEIPTS:
        from poolwright.receipts.document import receipts_schema

        return receipts_schema()
    if kind == RECEIPT_COMPARISON:
        from poolwright.receipts.comparison import comparison_schema

        return comparison_schema()
    if kind == FLEET:
        from poolwright.pages.document import fleet_schema

        return fleet_schema()
    if kind in PACKET:
        from poolwright.packet.schemas import packet_schema

        return packet_schema(kind)
    if kind == SNAPSHOT:
        from poolwright.snapshots.schema import snapshot_schema

        return snapshot_schema()
    return finding_list_schema() if kind == FINDINGS else build_schema(kind)


def _render(schema: Schema) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
