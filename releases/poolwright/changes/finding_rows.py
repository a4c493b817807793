"""Findings of a report: from values to rows, and back for those who print them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from poolwright.changes.report import FindingRow
from poolwright.specs.finding import Finding, Severity, sort_findings
from poolwright.specs.place import Place
from poolwright.specs.report import build_finding_rows
from poolwright.specs.waiving import UsedWaiver

_ORDER: Final[Mapping[Severity, int]] = {"error": 0, "warning": 1, "note": 2}


def build_rows(findings: Iterable[Finding]) -> tuple[FindingRow, ...]:
    """Findings as rows, each once, the worst first."""
    rows = build_finding_rows(sort_findings(findings))
    return sort_rows([msgspec.convert(row, FindingRow) for row in rows])


def sort_rows(rows: Iterable[FindingRow]) -> tuple[FindingRow, ...]:
    """The worst first; those that are alike stay in their order."""
    return tuple(sorted(rows, key=lambda one: _ORDER[one.severity]))


def parse_rows(rows: Iterable[FindingRow]) -> tuple[Finding, ...]:
    """Rows as findings again, in their order."""
    return tuple(
        Finding(
            code=row.code,
            severity=row.severity,
            place=Place(row.file, row.line, row.column, row.field),
            what=row.what,
            why=row.why,
            rule=row.rule,
            fix=row.fix,
            waived=UsedWaiver(rule=row.code, **msgspec.structs.asdict(row.waived)) if row.waived else None,
        )
        for row in rows
    )
