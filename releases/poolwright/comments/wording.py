"""Phrases that several parts of a report share, and what its words mean in half a sentence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from poolwright.changes.report import ReportScenario, WorkloadChange
from poolwright.comments.document import Break, Name, Span, Spans, Words, list_names
from poolwright.plan.verdict import Word

MEANINGS: Final[dict[Word, str]] = {
    "always-fits": "every replica gets its devices, in whatever order they start",
    "order-dependent": "it depends on the order in which pods start whether every replica gets its devices",
    "unsatisfied": "at least one replica gets no devices, in any order",
    "undecided": "neither could be proven",
    "error": "the scheduler stops with an error, and no replica is placed",
}
COUNTS: Final = (
    "3-6/6 means that of 6 replicas between 3 and 6 get their devices, depending on the order in which pods start"
)
SCENARIOS: Final[dict[ReportScenario, str]] = {
    "fresh": "if the cluster starts empty",
    "live": "on the cluster as captured",
}
BAD: Final[tuple[Word, ...]] = ("error", "unsatisfied", "undecided", "order-dependent")  # the worst first


def count(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def by_cluster(pairs: Iterable[tuple[str, str]]) -> Spans:
    """Names behind the cluster that each belongs to; clusters and names sorted, each once; of several, a line each."""
    clusters: dict[str, set[str]] = {}
    for cluster, name in pairs:
        clusters.setdefault(cluster, set()).add(name)
    spans: list[Span] = []
    for cluster in sorted(clusters):
        spans.append(Break() if len(clusters) > 1 else Words("on "))
        spans.extend((Name(cluster), Words(": "), *list_names(tuple(sorted(clusters[cluster])))))
    return tuple(spans)


def on_clusters(clusters: Iterable[str]) -> Spans:
    """Where, in words that follow a noun: the clusters if they are few, else how many."""
    names = tuple(sorted(set(clusters)))
    if len(names) > 3:
        return (Words(f" on {len(names)} clusters"),)
    spans: list[Span] = []
    for number, name in enumerate(names):
        spans.extend(
            (Words(" and " if number and number == len(names) - 1 else ", " if number else " on "), Name(name))
        )
    return tuple(spans)


def moves_to(before: str | None, after: str | None) -> Spans:
    """A value that became another one."""
    if before is None:
        return (Words("new: "), Name(after or ""))
    return (Name(before), Words(" → "), Words("gone") if after is None else Name(after))


def verdict_words(one: WorkloadChange) -> tuple[Word | None, Word | None]:
    """The words before and after."""
    return (one.before.verdict if one.before else None, one.after.verdict if one.after else None)


def name_of(commit: str | None, name: str) -> str:
    """A side in short: as it was asked for, which for a bare commit id is its start."""
    return name[:12] if commit is not None and name == commit else name
