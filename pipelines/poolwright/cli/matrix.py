"""A project's matrix of rehearsals, read from disk and judged: for `check` and `pin --matrix`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping

from poolwright.catalog.inventory import Inventory
from poolwright.cli.load import LoadedProject
from poolwright.files.project import MAX_EVIDENCE_BYTES, read_named_files, read_rehearsals
from poolwright.matrix.build_rows import build_rows
from poolwright.matrix.evidence import Evidence, list_evidence_files, verify_evidence
from poolwright.matrix.findings import list_findings, summarize_unrehearsed
from poolwright.matrix.judge import Matrix, judge_matrix
from poolwright.specs.document import MAX_SPEC_BYTES
from poolwright.specs.finding import Finding
from poolwright.specs.lock import LOCK_FILE, Lock, parse_lock
from poolwright.specs.parse import PROJECT_FILE, Spec
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
    lock = read_lock(project.root)
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


def read_lock(root: str) -> Lock | None:
    """The project's lock; None: nothing is pinned.

    Raises: SpecError if it is there and can't be read.
    """
    files = read_named_files(root, [LOCK_FILE], max_bytes=MAX_SPEC_BYTES)
    return parse_lock(files[LOCK_FILE]).value if LOCK_FILE in files else None
