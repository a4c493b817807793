"""The worst thing that a change does, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.changes.report import Report, WorkloadChange
from poolwright.comments.document import Spans, Words, say_plainly
from poolwright.comments.wording import count, on_clusters
from poolwright.plan.verdict import Word
from poolwright.specs.finding import escape_controls

_WORSE: Final[tuple[tuple[tuple[Word, ...], str], ...]] = (
    (("unsatisfied", "error"), "would no longer fit"),
    (("order-dependent",), "would fit only if pods start in the right order"),
    (("undecided",), "can't be shown to fit any more"),
    (("always-fits",), "would fit, but with less certainty"),
)
_NEW: Final[tuple[tuple[tuple[Word, ...], str, str], ...]] = (
    (("unsatisfied", "error"), "doesn't fit", "don't fit"),
    (("order-dependent",), "fits only if pods start in the right order", "fit only if pods start in the right order"),
    (("undecided",), "can't be shown to fit", "can't be shown to fit"),
)


def headline(report: Report) -> str:
    """One sentence without a full stop, for a terminal: what is worst, or that nothing changes; controls escaped."""
    return escape_controls(say_plainly(build_headline(report)))


def build_headline(report: Report) -> Spans:
    """The same with its names marked."""
    return next(_say(report))


def _say(report: Report) -> Iterator[Spans]:
    """What could be said, the worst first; the last always can."""
    yield from _say_lost(report)
    errors = sum(one.severity == "error" for one in report.findings)
    if errors:
        yield (Words(f"{count(errors, 'error')} to mend before this can be merged"),)
    unsafe = sum(not one.is_safe for one in report.commits)
    if unsafe:
        total = len(report.commits)
        yield (Words(f"{unsafe} of {count(total, 'commit')} on the way {'is' if unsafe == 1 else 'are'} unsafe"),)
    yield from _say_at_risk(report)
    yield from _say_gone(report)
    yield from _say_worth_knowing(report)
    yield from _say_harmless(report)


def _say_lost(report: Report) -> Iterator[Spans]:
    worse = [one for one in report.workloads if one.change == "worse"]
    new = [one for one in report.workloads if one.change == "new"]
    for words, verb in _WORSE[:1]:
        yield from _say_worse(report, [one for one in worse if _ends(one, words)], verb)
    for words, singular, plural in _NEW[:1]:
        yield from _say_new([one for one in new if _ends(one, words)], singular, plural)
    for one in report.shortfalls:
        if one.after > one.before:
            noun = f"at least {one.after:,} of {count(one.replicas, 'replica')} can't have devices, in any order,"
            yield (Words(noun), *on_clusters((one.cluster,)))
    for words, verb in _WORSE[1:]:
        yield from _say_worse(report, [one for one in worse if _ends(one, words)], verb)
    for words, singular, plural in _NEW[1:]:
        yield from _say_new([one for one in new if _ends(one, words)], singular, plural)


def _ends(one: WorkloadChange, words: tuple[Word, ...]) -> bool:
    return one.after is not None and one.after.verdict in words


def _say_worse(report: Report, worse: list[WorkloadChange], verb: str) -> Iterator[Spans]:
    hit = {(one.cluster, one.name) for one in worse}
    clusters = {cluster for cluster, _ in hit}
    total = len({(one.cluster, one.name) for one in report.workloads if one.cluster in clusters})
    if hit:
        yield (Words(f"{len(hit)} of {count(total, 'workload')} {verb}"), *on_clusters(clusters))


def _say_new(new: list[WorkloadChange], singular: str, plural: str) -> Iterator[Spans]:
    hit = {(one.cluster, one.name) for one in new}
    if hit:
        verb = singular if len(hit) == 1 else plural
        yield (Words(f"{count(len(hit), 'new workload')} {verb}"), *on_clusters(cluster for cluster, _ in hit))


def _say_at_risk(report: Report) -> Iterator[Spans]:
    stuck = [one for one in report.stranded if one.stuck]
    if stuck:
        replicas = count(sum(one.stuck for one in stuck), "replica")
        where = on_clusters(one.cluster for one in stuck)
        yield (Words(f"{replicas} that run on couldn't be placed again"), *where)
    if report.rollouts:
        workloads = {(one.cluster, one.workload) for one in report.rollouts}
        noun = count(len(workloads), "workload")
        yield (Words(f"the rollout of {noun} may not complete"), *on_clusters(one.cluster for one in report.rollouts))
    evicting = [one for one in report.taints if one.evicts and one.workloads]
    if evicting:
        noun = count(len({(one.cluster, name) for one in evicting for name in one.workloads}), "workload")
        yield (Words(f"new taints evict pods of {noun}"), *on_clusters(one.cluster for one in evicting))
    dearer = [one for one in report.prices if one.is_worse]
    if dearer:
        noun = count(len({(one.cluster, one.unit) for one in dearer}), "placement")
        yield (Words(f"{noun} no longer admitted by the price"), *on_clusters(one.cluster for one in dearer))
    if report.moves:
        noun = count(len({(one.cluster, one.workload) for one in report.moves}), "workload")
        where = on_clusters(one.cluster for one in report.moves)
        yield (Words(f"{noun} may get other hardware under the same manifests"), *where)


def _say_gone(report: Report) -> Iterator[Spans]:
    gone = {(one.cluster, one.name) for one in report.workloads if one.change == "gone"}
    if gone:
        verb = "goes" if len(gone) == 1 else "go"
        where = on_clusters(cluster for cluster, _ in gone)
        yield (Words(f"{count(len(gone), 'workload')} {verb} away"), *where, Words("; no other gets worse"))


def _say_worth_knowing(report: Report) -> Iterator[Spans]:
    warnings = sum(one.severity == "warning" for one in report.findings)
    if warnings:
        yield (Words(f"{count(warnings, 'warning')}, and no verdict gets worse"),)
    if report.restarts:
        replicas = count(sum(one.replicas for one in report.restarts), "replica")
        where = on_clusters(one.cluster for one in report.restarts)
        noun = count(len(report.restarts), "workload")
        yield (Words(f"the pods of {noun} are replaced ({replicas})"), *where, Words("; no verdict gets worse"))


def _say_harmless(report: Report) -> Iterator[Spans]:
    better = [one for one in report.workloads if one.change == "better"]
    if better:
        noun = count(len({(one.cluster, one.name) for one in better}), "workload")
        verb = "fits" if noun.startswith("1 ") else "fit"
        yield (Words(f"{noun} {verb} better"), *on_clusters(one.cluster for one in better), Words("; none gets worse"))
    if report.objects:
        where = on_clusters(one.cluster for one in report.objects)
        yield (Words(f"{count(len(report.objects), 'object')} would differ"), *where, Words("; no verdict gets worse"))
    if not report.is_empty:
        yield (Words("nothing changes in the clusters, but what is written does"),)
    yield (Words("nothing changes in the clusters"),)
