"""A project's matrix of rehearsals, read from disk and judged: for `check` and `pin --matrix`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.ledger_evidence import DrillRecord, list_drills
from poolwright.cli.load import LoadedProject
from poolwright.files.project import MAX_EVIDENCE_BYTES, read_named_files, read_rehearsals
from poolwright.matrix.build_rows import build_rows
from poolwright.matrix.evidence import Evidence, list_evidence_files, verify_evidence
from poolwright.matrix.findings import list_findings, list_record_findings, summarize_unrehearsed
from poolwright.matrix.judge import Matrix, judge_matrix
from poolwright.matrix.judge_record import JudgedRecord, judge_records, list_counted
from poolwright.matrix.refuse import Grounds
from poolwright.pins.resolve import Rehearsed
from poolwright.specs.finding import Finding
from poolwright.specs.lock import Lock
from poolwright.specs.parse import PROJECT_FILE, Spec, Specs
from poolwright.specs.parse_rehearsals import parse_rehearsals
from poolwright.specs.rehearsal import Rehearsal


def read_records(root: str, specs: Specs, facts: Facts, *, as_of: dt.date | None) -> tuple[JudgedRecord, ...]:
    """A project's records as they count, in the order of their files; the snapshots that are there are read too.

    as_of:  the day that is judged on; None: no day is too late.
    Raises: SpecError with everything that is wrong with one, or if a snapshot is there and can't be read.
    """
    project = specs.project.value.spec
    grounds = Grounds(
        as_of=as_of,
        takes_synthetic=project.synthetic_rehearsals == "accepted",
        clusters=tuple(cluster.name for cluster in project.clusters),
        facts=facts,
    )
    records = parse_rehearsals(read_rehearsals(root))
    evidence = {record.document.file: read_evidence(root, record, facts) for record in records}
    return judge_records(records, evidence, grounds)


def read_evidence(root: str, record: Spec[Rehearsal], facts: Facts) -> Evidence:
    """What a record's snapshots show, as far as they are in the project.

    Raises: SpecError if a file is there and can't be read: a link, say, or too large.
    """
    paths = list_evidence_files(record)
    files = read_named_files(root, paths.values(), max_bytes=MAX_EVIDENCE_BYTES)
    return verify_evidence(record, files, facts)


def load_matrix(
    project: LoadedProject,
    inventories: Mapping[str, Inventory],
    lock: Lock | None,
    records: Sequence[JudgedRecord],
    *,
    as_of: dt.date | None,
) -> Matrix:
    """What the project owes, and what is rehearsed of it by its records.

    project: whose planned nodes are sound.
    lock:    None: nothing is pinned.
    records: judged as of that day.
    """
    rows = build_rows(project.specs, inventories, lock, project.facts)
    return judge_matrix(rows, records, as_of=as_of)


def check_rehearsals(
    project: LoadedProject,
    inventories: Mapping[str, Inventory],
    records: Sequence[JudgedRecord],
    *,
    as_of: dt.date | None,
) -> tuple[Finding, ...]:
    """Warnings about what isn't rehearsed, as load_matrix; of a project without a lock about its records alone.

    Where nothing is pinned no record can be equal to what runs, so nothing is said to be owed. Of a project that pins
    and has no record, one finding says what it owes.
    """
    if project.lock is None:
        return list_record_findings(records)
    matrix = load_matrix(project, inventories, project.lock, records, as_of=as_of)
    if matrix.records:
        return list_findings(matrix)
    return (summarize_unrehearsed(matrix, PROJECT_FILE),) if matrix.rows else ()


def list_rehearsed(specs: Specs, records: Iterable[JudgedRecord]) -> dict[str, Rehearsed]:
    """Versions that records prove, by the stack that the record's cluster runs now: of its own container runtime."""
    stacks = {stack.value.identity: stack.value.spec for stack in specs.stacks}
    stack_of = {one.name: one.stack_name for one in specs.project.value.spec.clusters if one.stack_name in stacks}
    found: dict[str, dict[str, list[str]]] = {}
    for record in list_counted(records):
        stack, combination = stack_of.get(record.value.spec.cluster_name), record.value.spec.combination
        if stack is None:
            continue
        named = found.setdefault(stack, {"kubernetes": [], "containerRuntime": []})
        named["kubernetes"].append(combination.kubernetes)
        runtime, own = combination.container_runtime, stacks[stack].container_runtime
        if runtime is not None and own is not None and runtime.name == own.name:
            named["containerRuntime"].append(runtime.version)
    return {stack: {part: tuple(versions) for part, versions in named.items()} for stack, named in found.items()}


def list_proofs(records: Iterable[JudgedRecord], facts: Facts) -> dict[str, tuple[DrillRecord, ...]]:
    """What records that count prove of each component, by the record's path."""
    return {record.document.file: list_drills(record.value, facts) for record in list_counted(records)}
