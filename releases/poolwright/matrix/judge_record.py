"""A record with all that is held against it: what it says, and the snapshots that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from poolwright.matrix.evidence import REFUSED, Evidence
from poolwright.matrix.refuse import Grounds, check_record
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.rehearsal import Rehearsal


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRecord:
    """A record, and whether it counts."""

    record: Spec[Rehearsal]
    evidence: Evidence
    refused: tuple[Finding, ...]  # why it doesn't count; empty: it does
    remarks: tuple[Finding, ...]  # what else is found in its snapshots

    @property
    def counts(self) -> bool:
        """Whether it proves anything."""
        return not self.refused

    @property
    def file(self) -> str:
        """Where it stands."""
        return self.record.document.file


def judge_records(
    records: Iterable[Spec[Rehearsal]], evidence: Mapping[str, Evidence], grounds: Grounds
) -> tuple[JudgedRecord, ...]:
    """Each record as it counts, in their order.

    evidence: what its snapshots show, by the record's file; every record has some.
    """
    return tuple(_judge(record, evidence[record.document.file], grounds) for record in records)


def list_counted(judged: Iterable[JudgedRecord]) -> tuple[Spec[Rehearsal], ...]:
    """The records that prove something."""
    return tuple(one.record for one in judged if one.counts)


def _judge(record: Spec[Rehearsal], evidence: Evidence, grounds: Grounds) -> JudgedRecord:
    own = (one for one in evidence.findings if one.code == REFUSED)
    return JudgedRecord(
        record=record,
        evidence=evidence,
        refused=(*check_record(record, grounds), *own),
        remarks=tuple(one for one in evidence.findings if one.code != REFUSED),
    )
