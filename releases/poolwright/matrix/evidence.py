"""The snapshots that a rehearsal names: whether they are those, what became of its claims, and whether that can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from msgspec.structs import replace

from poolwright.catalog.facts import Facts
from poolwright.matrix.fields import is_same
from poolwright.snapshots.cluster import CapturedCluster, build_stored, find_features, parse_cluster
from poolwright.snapshots.fates import ClaimFate, list_fates
from poolwright.snapshots.replay import ClaimReplay, replay_claims
from poolwright.snapshots.snapshot import Header
from poolwright.specs.digest import digest_bytes
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import Spec
from poolwright.specs.rehearsal import OtherEnd, Rehearsal, RehearsalSpec

End = Literal["before", "after"]
ENDS: Final[tuple[End, ...]] = ("before", "after")
REFUSED: Final = "rehearsal-refused"  # the code of what makes a record count for nothing
_RULE: Final = "poolwright.dev/v1alpha1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What a record's snapshots say."""

    missing: tuple[str, ...] = ()  # files that aren't there, so that nothing can be recomputed here
    findings: tuple[Finding, ...] = ()  # what is wrong with those that are there, and with what they hold
    fates: tuple[ClaimFate, ...] = ()  # where both are there
    replays: Mapping[End, tuple[ClaimReplay, ...]] = field(default_factory=dict)
    not_replayed: str = ""  # why claims weren't replayed on snapshots that are there, in a sentence; empty: they were

    @property
    def counts(self) -> Mapping[str, int]:
        """How many claims met each fate, by fate."""
        return dict(sorted(Counter(fate.fate for fate in self.fates).items()))


def list_evidence_files(record: Spec[Rehearsal]) -> dict[End, str]:
    """Where a record's snapshots are looked for, by path from the project."""
    folder = record.value.spec.evidence.rstrip("/")
    return {end: f"{folder}/{end}.jsonl" for end in ENDS}


def verify_evidence(record: Spec[Rehearsal], files: Mapping[str, bytes], facts: Facts) -> Evidence:
    """Recompute what a record's snapshots show.

    files: by path; those of list_evidence_files that are there.
    A snapshot that isn't the one the record names refuses the record, as does one that can't be read; an allocation
    that the allocator can't make is a warning, for it may be our model that is wrong.
    """
    paths = list_evidence_files(record)
    missing = tuple(path for path in paths.values() if path not in files)
    findings: list[Finding] = []
    clusters: dict[End, CapturedCluster] = {}
    for end, path in paths.items():
        if path in files:
            found = _read(record, end, path, files[path])
            findings += found if isinstance(found, list) else ()
            if isinstance(found, CapturedCluster):
                clusters[end] = found
    replays, not_replayed = _replay(record, clusters, facts)
    for end, answers in replays.items():
        findings += _list_impossible(record, end, paths[end], answers)
    both = len(clusters) == len(ENDS)
    return Evidence(
        missing=missing,
        findings=tuple(findings),
        fates=list_fates(clusters["before"].objects, clusters["after"].objects) if both else (),
        replays=replays,
        not_replayed=not_replayed,
    )


def say_evidence(evidence: Evidence) -> str:
    """What snapshots show, in a line: what is wrong with one that is there comes before what is missing."""
    if evidence.findings:
        return f"{len(evidence.findings)} problem{'' if len(evidence.findings) == 1 else 's'} with its snapshots"
    if evidence.missing:
        are = "is" if len(evidence.missing) == 1 else "are"
        return f"not verifiable here: {' and '.join(evidence.missing)} {are} missing"
    counts = ", ".join(f"{count} {fate}" for fate, count in evidence.counts.items()) or "none"
    answers = [answer for answers in evidence.replays.values() for answer in answers]
    possible = sum(answer.possible == "possible" for answer in answers)
    said = evidence.not_replayed or f"{possible} of {len(answers)} allocations are ones that the allocator can make"
    return f"claims: {counts}; {said}"


def _read(record: Spec[Rehearsal], end: End, path: str, data: bytes) -> CapturedCluster | list[Finding]:
    claims = record.value.spec.claims
    named, found = (claims.before if end == "before" else claims.after), digest_bytes(data)
    if found != named:
        what = f'rehearsal "{record.value.identity}" names {named}, and {path} has {found}'
        return [_refuse(record, end, what, "what isn't the snapshot that was taken shows nothing of the rehearsal")]
    try:
        cluster = parse_cluster(data, path)
    except SpecError as error:
        what = f'rehearsal "{record.value.identity}" names a snapshot that can\'t be read: {path}'
        why = f"what can't be read shows nothing of the rehearsal; problems in it: {len(error.findings)}"
        # Warnings, as everything about records: a spoilt snapshot stops a promotion, and no rendering.
        return [_refuse(record, end, what, why), *(replace(one, severity="warning") for one in error.findings)]
    return list(_check_header(record, end, path, cluster.snapshot.header)) or cluster


def _check_header(record: Spec[Rehearsal], end: End, path: str, header: Header) -> Iterator[Finding]:
    """A snapshot of another cluster, or of another Kubernetes than the record says of that end."""
    spec = record.value.spec
    other = _other_end(spec, end)
    kubernetes = (other.kubernetes if other else None) or spec.combination.kubernetes
    for what, said, found, is_so in (
        ("cluster", spec.cluster_name, header.cluster, spec.cluster_name == header.cluster),
        ("Kubernetes", kubernetes, header.kubernetes_version, is_same(kubernetes, header.kubernetes_version)),
    ):
        if not is_so:
            text = f'rehearsal "{record.value.identity}" says {what} {said}, and {path} is of {found}'
            yield _refuse(record, end, text, "a snapshot of something else shows nothing of the rehearsal")


def _other_end(spec: RehearsalSpec, end: End) -> OtherEnd | None:
    """What differed at an end of the step; None: the combination ran there as it is."""
    return spec.from_ if end == "before" else spec.to


def _replay(
    record: Spec[Rehearsal], clusters: Mapping[End, CapturedCluster], facts: Facts
) -> tuple[dict[End, tuple[ClaimReplay, ...]], str]:
    spec = record.value.spec
    replays: dict[End, tuple[ClaimReplay, ...]] = {}
    problem = ""
    for end, cluster in clusters.items():
        other = _other_end(spec, end)
        gates = ((other.feature_gates if other else None) or spec.combination.feature_gates).kubernetes
        features = find_features(cluster.snapshot, gates, facts)
        if isinstance(features, str):
            problem = features
        else:
            replays[end] = replay_claims(build_stored(cluster, features, gates, facts), features)
    return replays, problem


def _list_impossible(
    record: Spec[Rehearsal], end: End, path: str, answers: tuple[ClaimReplay, ...]
) -> Iterator[Finding]:
    for answer in answers:
        if answer.possible == "impossible":
            devices = ", ".join("/".join(device) for device in answer.devices)
            yield Finding(
                code="rehearsal-claims",
                severity="warning",
                place=record.place("spec", "claims", end),
                what=f"claim {answer.title} of {path} has {devices}, which the allocator can't give it: {answer.why}",
                why="an allocation that the scheduler doesn't make was made by somebody else, or isn't understood here",
                rule=_RULE,
                fix="find out who allocated it; if it was the scheduler, report the snapshot as a bug of Poolwright",
            )


def _refuse(record: Spec[Rehearsal], end: End, what: str, why: str) -> Finding:
    return Finding(
        code=REFUSED,
        severity="warning",
        place=record.place("spec", "claims", end),
        what=what,
        why=why,
        rule=_RULE,
        fix="put back the snapshots that were taken, or rehearse again",
    )
