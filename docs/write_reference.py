"""Write the reference docs from the code, or with --check say which of them the code no longer agrees with."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from poolwright.admission.report.price_schema import price_schema
from poolwright.allocation.answer_schema import answer_schema
from poolwright.catalog.facts import FACT_TABLES
from poolwright.catalog.tables.cells import build_cells
from poolwright.changes.report import report_schema
from poolwright.files.facts import read_facts
from poolwright.matrix.matrix_schema import matrix_schema
from poolwright.packet.schemas import DOCUMENTS, packet_schema
from poolwright.pages.document import fleet_schema
from poolwright.pins.report import pin_schema
from poolwright.plan.report.plan_schema import plan_schema
from poolwright.plan.report.replay_schema import replay_schema
from poolwright.receipts.comparison import comparison_schema
from poolwright.receipts.document import receipts_schema
from poolwright.snapshots.schema import snapshot_schema
from poolwright.specs.codes import CODES, explain_code
from poolwright.specs.report import finding_list_schema
from poolwright.specs.scalar import FORMATS
from poolwright.specs.schema import KINDS, Schema, build_schema, field_schema
from poolwright.trust.schema import trust_schema
from poolwright.upgrades.report import upgrade_schema

FOLDER = Path(__file__).parent / "reference"


def main() -> int:
    """Write or check every reference file; 1 if one is out of date."""
    wanted = dict(render_reference())
    stale = [name for name, text in wanted.items() if _read(name) != text]
    if "--check" in sys.argv:
        sys.stderr.writelines(f"docs/reference/{name} is not what the code says: run `make docs`\n" for name in stale)
        return 1 if stale else 0
    for name in stale:
        (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / name).write_text(wanted[name], encoding="utf-8")
        sys.stdout.write(f"wrote docs/reference/{name}\n")
    return 0


def render_reference() -> Iterator[tuple[str, str]]:
    """Each reference file's name and text."""
    schemas = {kind: build_schema(kind) for kind in KINDS}
    schemas |= {"FindingList": finding_list_schema(), "AllocationList": answer_schema(), "FitPlan": plan_schema()}
    schemas |= {"FitReplay": replay_schema(), "PriceList": price_schema(), "PinReport": pin_schema()}
    schemas |= {"RehearsalMatrix": matrix_schema(), "Snapshot": snapshot_schema(), "UpgradePlan": upgrade_schema()}
    schemas |= {"ChangeReport": report_schema(), "TrustPolicy": trust_schema(), "Receipts": receipts_schema()}
    schemas |= {kind: packet_schema(kind) for kind in DOCUMENTS}
    schemas |= {"ReceiptComparison": comparison_schema(), "FleetReport": fleet_schema()}
    for kind, schema in schemas.items():
        yield f"schemas/{kind.lower()}.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    yield "findings.md", "".join(_render_findings())
    yield "specs.md", "".join(_render_specs())
    yield "facts.md", "".join(_render_facts())


def _render_findings() -> Iterator[str]:
    yield "# Findings\n\nWritten from the code by `make docs`. `poolwright explain CODE` prints the same.\n"
    for code in sorted(CODES):
        yield f"\n## {code}\n\n{explain_code(code)}\n"


def _render_specs() -> Iterator[str]:
    yield "# Spec reference\n\nWritten from the code by `make docs`. `poolwright explain KIND.PATH` prints the same; "
    yield "editors take the files in `schemas/`. **Bold**: required.\n"
    for kind in KINDS:
        schema = build_schema(kind)
        yield f"\n## {kind}\n\n{schema['description']}\n\n| field | type | meaning |\n|---|---|---|\n"
        yield from _render_fields(schema, (), schema)


def _render_fields(schema: Schema, path: tuple[str | int, ...], node: Schema) -> Iterator[str]:
    for name in node.get("properties", {}):
        at = (*path, name)
        field = field_schema(schema, at) or {}
        shown = "".join("[]" if isinstance(step, int) else f".{step}" for step in at).lstrip(".")
        bold = "**" if name in node.get("required", ()) else ""
        yield f"| {bold}`{shown}`{bold} | {_type(field)} | {_meaning(field)} |\n"
        below = (*at, 0) if "items" in field else at
        item = field_schema(schema, below) or {}
        if isinstance(field.get("additionalProperties"), dict):
            below = (*at, "NAME")
            item = field_schema(schema, below) or {}
        yield from _render_fields(schema, below, item)


def _render_facts() -> Iterator[str]:
    yield "# Facts\n\nWritten from the tables by `make docs`. `poolwright facts TABLE` prints the same. `-`: not found "
    yield "or without meaning; nothing is guessed. `?`: this value isn't verified. Sources that disagree both stand.\n"
    facts = read_facts()
    for name in FACT_TABLES:
        rows = facts.table(name)
        cells = build_cells(rows)
        heads = (*cells.columns, "verified", "source", "remarks")
        yield f"\n## {name}\n\n{type(rows[0]).__doc__}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
        for row in cells.rows:
            texts = (*row.cells, "yes" if row.verified else "no", str(row.source), "; ".join(row.remarks))
            yield "| " + " | ".join(re.sub(r"([|<>*])", r"\\\1", text) for text in texts) + " |\n"
        yield "\n" + "".join(f"{number}. {source}\n" for number, source in enumerate(cells.sources, 1))


def _type(field: Schema) -> str:
    if "enum" in field:
        return " \\| ".join(f"`{option}`" for option in field["enum"])
    if "format" in field:
        return str(field["format"])
    if "items" in field:
        return "list"
    kind = field.get("type", "string, integer or boolean")
    return {"object": "map", "array": "list"}.get(kind, kind) if isinstance(kind, str) else " or ".join(kind)


def _meaning(field: Schema) -> str:
    parts = [field.get("description", "").replace("|", "\\|")]
    if field.get("format") in FORMATS:
        parts.append(f"Example: `{field.get('examples', [''])[0]}`.")
    if "default" in field and not isinstance(field["default"], dict | list):
        parts.append(f"Default: `{field['default']}`.")
    if "minimum" in field:
        most = f"to {field['maximum']:,}" if "maximum" in field else "or more"
        parts.append(f"{field['minimum']:,} {most}.")
    return " ".join(part for part in parts if part)


def _read(name: str) -> str | None:
    path = FOLDER / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
