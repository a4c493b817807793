"""What rehearsals prove of an alpha feature: that its cluster recovered, and that it could be turned off again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.feature_use import KUBERNETES
from poolwright.catalog.ledger import Entry, LedgerRow
from poolwright.specs.finding import Finding
from poolwright.specs.ledger import Evidence

STEPS: Final = ("recovery", "rollback")  # what an alpha feature needs


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillRecord:
    """What a Rehearsal record says of one component of its combination: a driver's package, or Kubernetes."""

    component: str
    version: str
    step: str  # install, upgrade, rollback or recovery
    date: str  # YYYY-MM-DD


Records = Mapping[str, Sequence[DrillRecord]]  # by the path of the record


def check_recovery(row: LedgerRow, entry: Entry, records: Records | None, facts: Facts) -> Iterator[Finding]:
    """What the evidence of a row doesn't show: one finding for each of STEPS.

    A record shows a step if it is of the version that the stack has, and not older than the version's release.

    records: None: no record was read, and evidence of the step's kind, or any rehearsal, is taken at its word.
    """
    released = _find_release_date(row, facts)
    for step in STEPS:
        if any(_shows(row, one, step, records, released) for one in entry.value.evidence):
            continue
        since = f" on or after {released}, its release" if released and records is not None else ""
        yield Finding(
            code="ledger-incomplete",
            severity="warning",
            place=entry.place("evidence"),
            what=f"the row of {row.use.feature} shows no {step} with {row.use.component} {row.component_version}{since}"
            f', which stack "{row.use.stack}" has',
            why="what another release did says nothing of this one: alpha is rehearsed with the one that runs",
            rule="poolwright.dev/v1alpha1",
            fix=f"rehearse it, and name the record: {{kind: {step}, path: rehearsals/...}}",
        )


def _find_release_date(row: LedgerRow, facts: Facts) -> str | None:
    """The day on which the driver's version came out; None: not known."""
    release = facts.driver_release(row.component_version) if row.is_nvidia else None
    return release.released if release else None


def _shows(row: LedgerRow, evidence: Evidence, step: str, records: Records | None, released: str | None) -> bool:
    if evidence.kind not in (step, "rehearsal"):
        return False
    if records is None:
        return True
    return any(
        record.step == step
        and record.component == row.use.component
        and _is_same(record, row)
        and (released is None or record.date >= released)
        for record in records.get(evidence.path, ())
    )


def _is_same(record: DrillRecord, row: LedgerRow) -> bool:
    """Whether the record is of the row's version; of Kubernetes any patch of the minor release."""
    version = record.version.removeprefix("v")
    if row.use.component == KUBERNETES:
        return f"{version}.".startswith(f"{row.component_version}.")
    return version == row.component_version.removeprefix("v")
