"""A project's matrix of rehearsals, read from disk and judged: for `check` and `pin --matrix`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping

from poolwright.catalog.feature_use import KUBERNETES
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.ledger_evidence import DrillRecord
from poolwright.cli.load import LoadedProject
from poolwright.files.project import MAX_EVIDENCE_BYTES, read_named_files, read_rehearsals
from poolwright.matrix.build_rows import build_rows
from poolwright.matrix.evidence import Evidence, list_evidence_files, verify_evidence
from poolwright.matrix.findings import list_findings, summarize_unrehearsed
from poolwright.matrix.judge import Matrix, judge_matrix
from poolwright.pins.resolve import Rehearsed
from poolwright.specs.finding import Finding
from poolwright.specs.lock import Lock
from poolwright.specs.parse import PROJECT_FILE, Spec, Specs
from poolwright.specs.parse_rehearsals import parse_rehearsals
from poolwright.specs.rehearsal import Rehearsal


def load_matrix(
    project: LoadedProject, inventories: Mapping[str, Inventory], lock: Lock | None, *, as_of: dt.date | None
) -> Matrix:
    """What the project owes, and what is rehearsed of it by its records.

    project: whose planned nodes are sound.
    lock:    None: nothing is pinned.
    as_of:   the day that is judged on; None: dates aren't compared.
    Raises:  SpecError with everything that is wrong with a record.
    """
    records = parse_rehearsals(read_rehearsals(project.root))
    rows = build_rows(project.specs, inventories, lock, project.facts)
    accepts = project.specs.project.value.spec.synthetic_rehearsals == "accepted"
    return judge_matrix(rows, records, as_of=as_of, takes_synthetic=accepts)


def check_rehearsals(
    project: LoadedProject, inventories: Mapping[str, Inventory], *, as_of: dt.date | None = None
) -> tuple[Finding, ...]:
    """Warnings about what isn't rehearsed, as load_matrix; of a project without a lock only its records are read.

    Where nothing is pinned no record can be equal to what runs, so nothing is said to be owed. Of a project that pins
    and has no record, one finding says what it owes.
    """
    lock = project.lock
    if lock is None:
        parse_rehearsals(read_rehearsals(project.root))
        return ()
    matrix = load_matrix(project, inventories, lock, as_of=as_of)
    if matrix.records:
        return list_findings(matrix)
    return (summarize_unrehearsed(matrix, PROJECT_FILE),) if matrix.rows else ()


def read_evidence(project: LoadedProject, record: Spec[Rehearsal]) -> Evidence:
    """What a record's snapshots show, as far as they are in the project.

    Raises: SpecError if a file is there and can't be read: a link, say, or too large.
    """
    paths = list_evidence_files(record)
    files = read_named_files(project.root, paths.values(), max_bytes=MAX_EVIDENCE_BYTES)
    return verify_evidence(record, files, project.facts)


def read_records(root: str) -> tuple[Spec[Rehearsal], ...]:
    """A project's records, in the order of their files.

    Raises: SpecError with everything that is wrong with one.
    """
    return parse_rehearsals(read_rehearsals(root))


def list_rehearsed(specs: Specs, records: Iterable[Spec[Rehearsal]]) -> dict[str, Rehearsed]:
    """Versions that records name, by the stack that the record's cluster runs now."""
    stacks = {cluster.name: cluster.stack_name for cluster in specs.project.value.spec.clusters}
    found: dict[str, dict[str, list[str]]] = {}
    for record in records:
        stack, combination = stacks.get(record.value.spec.cluster_name), record.value.spec.combination
        if stack is not None:
            named = found.setdefault(stack, {"kubernetes": [], "containerRuntime": []})
            named["kubernetes"].append(combination.kubernetes)
            if combination.container_runtime is not None:
                named["containerRuntime"].append(combination.container_runtime.version)
    return {stack: {part: tuple(versions) for part, versions in named.items()} for stack, named in found.items()}


def list_drills(records: Iterable[Spec[Rehearsal]]) -> dict[str, tuple[DrillRecord, ...]]:
    """What records prove of each component, by the record's path."""
    return {record.document.file: tuple(_list_drills(record.value)) for record in records}


def _list_drills(record: Rehearsal) -> Iterator[DrillRecord]:
    spec = record.spec
    drivers = [(one.name, one.version) for one in spec.combination.dra_drivers]
    for component, version in ((KUBERNETES, spec.combination.kubernetes), *drivers):
        yield DrillRecord(component=component, version=version, step=spec.step, date=spec.date)
