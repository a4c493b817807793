"""What rehearsals prove of an alpha feature: that its cluster recovered, and that it could be turned off again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.feature_use import KUBERNETES
from poolwright.catalog.gates import build_package_gates
from poolwright.catalog.ledger import Entry, LedgerRow
from poolwright.specs.finding import Finding
from poolwright.specs.ledger import Evidence
from poolwright.specs.rehearsal import Rehearsal
from poolwright.specs.version import parse_version

STEPS: Final = ("recovery", "rollback")  # what an alpha feature needs


@dataclass(frozen=True, slots=True, kw_only=True)
class DrillRecord:
    """What a Rehearsal record says of one component of its combination: a driver's package, or Kubernetes."""

    component: str
    version: str
    step: str  # install, upgrade, rollback or recovery
    date: str  # YYYY-MM-DD
    cluster: str  # it was carried out on
    gates: frozenset[str]  # of the component, that were on: by the record, or by default of the version


Records = Mapping[str, Sequence[DrillRecord]]  # by the path of the record; one that is refused isn't among them


def list_drills(rehearsal: Rehearsal, facts: Facts) -> tuple[DrillRecord, ...]:
    """What a record says of Kubernetes, and of each driver of its combination; whether it counts isn't asked here."""
    spec, combination = rehearsal.spec, rehearsal.spec.combination
    set_gates = combination.feature_gates
    found = [(KUBERNETES, combination.kubernetes, _find_kubernetes_gates(rehearsal, facts))]
    for one in combination.dra_drivers:
        gates = build_package_gates(one.name, one.version, set_gates.dra_drivers.get(one.name, {}), facts)
        found.append((one.name, one.version, gates))
    return tuple(
        DrillRecord(
            component=component,
            version=version,
            step=spec.step,
            date=spec.date,
            cluster=spec.cluster_name,
            gates=frozenset(name for name, is_on in gates.items() if is_on),
        )
        for component, version, gates in found
    )


def _find_kubernetes_gates(rehearsal: Rehearsal, facts: Facts) -> Mapping[str, bool]:
    combination = rehearsal.spec.combination
    overrides = combination.feature_gates.kubernetes
    try:
        minor = parse_version(combination.kubernetes).minor
    except ValueError:  # a word: no release whose defaults are known
        return overrides
    return facts.effective_gates(minor, overrides)


def check_recovery(row: LedgerRow, entry: Entry, records: Records | None, facts: Facts) -> Iterator[Finding]:
    """What the evidence of a row doesn't show: one finding for each of STEPS.

    A record shows a step if it is of the version that the stack has, not older than the version's release, with the
    gate on, and carried out on the row's test cluster. Where the row names none any cluster will do: that gap is said.

    records: None: no record was read, and evidence of the step's kind, or any rehearsal, is taken at its word.
    """
    released, where = _find_release_date(row, facts), entry.value.test_cluster_name
    on = f" on {where}" if where is not None else ""
    drilled = f"{on} with the gate on and" if records is not None else " with"
    for step in STEPS:
        if any(_shows(row, entry, one, step, records, released) for one in entry.value.evidence):
            continue
        since = f" on or after {released}, its release" if released and records is not None else ""
        yield Finding(
            code="ledger-incomplete",
            severity="warning",
            place=entry.place("evidence"),
            what=f"the row of {row.use.feature} shows no {step}{drilled} {row.use.component} "
            f"{row.component_version}{since}"
            f', which stack "{row.use.stack}" has',
            why="what another release did says nothing of this one: alpha is rehearsed with the one that runs",
            rule="poolwright.dev/v1alpha1",
            fix=f"rehearse it, and name the record: {{kind: {step}, path: rehearsals/...}}",
        )


def _find_release_date(row: LedgerRow, facts: Facts) -> str | None:
    """The day on which the driver's version came out; None: not known."""
    release = facts.driver_release(row.component_version) if row.is_nvidia else None
    return release.released if release else None


def _shows(
    row: LedgerRow, entry: Entry, evidence: Evidence, step: str, records: Records | None, released: str | None
) -> bool:
    if evidence.kind not in (step, "rehearsal"):
        return False
    if records is None:
        return True
    return any(
        record.step == step
        and record.component == row.use.component
        and _is_same(record, row)
        and (released is None or record.date >= released)
        and row.use.feature in record.gates
        and entry.value.test_cluster_name in (None, record.cluster)
        for record in records.get(evidence.path, ())
    )


def _is_same(record: DrillRecord, row: LedgerRow) -> bool:
    """Whether the record is of the row's version; of Kubernetes any patch of the minor release."""
    version = record.version.removeprefix("v")
    if row.use.component == KUBERNETES:
        return f"{version}.".startswith(f"{row.component_version}.")
    return version == row.component_version.removeprefix("v")
