"""What stops a release: errors, verdicts that say no, and what is owed before anything is promoted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.report.words import count_of
from poolwright.plan.verdict import Verdict
from poolwright.specs.finding import Finding
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

# Warnings elsewhere, because none of them may hold up a rollback; what is released has none of them.
OWED: Final = frozenset(
    (
        *("image-floating", "image-not-pinned", "ledger-evidence", "ledger-incomplete", "ledger-test-cluster"),
        *("lock-stale", "matrix-unresolved", "rehearsal-missing", "rehearsal-stale"),
    )
)
# Of a change: what the release's own verdicts say already, and can be waived there.
_SAID: Final = frozenset(("fit-worse", "shortfall-grew"))
_RULE: Final = "poolwright releases"


def list_blockers(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those of a project's findings that stop its release, in their order. findings: none of them waived."""
    return tuple(one for one in findings if one.severity == "error" or one.code in OWED)


def list_wrong(changes: Iterable[Finding]) -> Iterator[Finding]:
    """Of what a change does since the release before: what is wrong whatever the verdicts are."""
    yield from (one for one in changes if one.severity == "error" and one.code not in _SAID)


def check_verdicts(answer: ClusterAnswer) -> Iterator[Finding]:
    """A finding for each workload that is certain to have replicas left out, and for what all of them lack.

    order-dependent and undecided ones are released, and the packet shows them: whether they come to be is open.
    """
    reserved = {one.title for one in answer.demand.workloads if one.is_reservation}
    origins = {one.title: one.origin for one in answer.demand.workloads if isinstance(one.origin, Place)}
    said = False
    for verdict in answer.judgement.verdicts:
        if verdict.word in ("unsatisfied", "error") and verdict.workload not in reserved:
            said = True
            yield _build_left_out(answer, verdict, origins.get(verdict.workload, Place(PROJECT_FILE)))
    shortfall, demanded = answer.judgement.shortfall, answer.judgement.demanded
    if shortfall.least and not said:
        yield Finding(
            code="release-short",
            severity="error",
            place=Place(PROJECT_FILE),
            what=f"{answer.cluster.name}: {count_of(shortfall.least, 'replica')} of {demanded} at least "
            "can't have devices at the same time, whoever is left out",
            why="a release promises every replica of it a device",
            rule=_RULE,
            fix=f"see who competes: poolwright plan --cluster {answer.cluster.name}",
        )


def _build_left_out(answer: ClusterAnswer, verdict: Verdict, place: Place) -> Finding:
    cluster = answer.cluster.name
    reason = f": {verdict.reasons[0]}" if verdict.reasons else ""
    left = f"at most {verdict.at_best.most} of {count_of(verdict.replicas, 'replica')} can have devices"
    if verdict.word == "error":
        left = "scheduling one of its pods ends in an error"
    return Finding(
        code="release-unsatisfied",
        severity="error",
        place=place,
        what=f"{cluster}: {verdict.workload} is {verdict.word}, {left}{reason}",
        why="a release promises every replica of it a device",
        rule=_RULE,
        fix=f"see what stands in the way, and what would mend it: poolwright plan --cluster {cluster}",
    )
