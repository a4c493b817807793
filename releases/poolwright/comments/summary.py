"""The summary: all that changes, by name only, the worst first, in one list that is never cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from poolwright.changes.report import ClassChange, Direction, Report, SpecStep, ValueChange, WorkloadChange
from poolwright.comments.document import (
    Block,
    Items,
    Name,
    Paragraph,
    Prose,
    Span,
    Spans,
    Strong,
    Table,
    Words,
    join_spans,
    list_names,
)
from poolwright.comments.wording import (
    BAD,
    COUNTS,
    MEANINGS,
    SCENARIOS,
    by_cluster,
    count,
    moves_to,
    name_of,
    verdict_words,
)
from poolwright.plan.verdict import Word
from poolwright.specs.finding import Severity

RANKS: Final = {"back": -1, "none": 0, "patch": 1, "minor": 2, "major": 3}
_SHORT_COMMIT: Final = 12


def build_summary(report: Report) -> tuple[Block, ...]:
    """A sentence on what is compared, the list, objects by unit, and what the words mean."""
    base, head = (Name(name_of(one.commit, one.name)) for one in (report.base, report.head))
    blocks: list[Block] = [
        Paragraph((Words("Project "), Name(report.project), Words(", from "), base, Words(" to "), head, Words(".")))
    ]
    items = tuple(_list_items(report))
    if items:
        blocks.append(Items(items))
    blocks.extend(Paragraph(spans) for spans in _say_unchanged(report))
    blocks.extend(_explain_words(report))
    blocks.extend(_table_objects(report))
    return tuple(blocks)


def _list_items(report: Report) -> Iterator[Spans]:
    yield from _verdicts(report, ("worse",))
    yield from _verdicts(report, ("new",))
    yield from _shortfalls(report)
    yield from _findings(report)
    yield from _commits(report)
    yield from _risks(report)
    yield from _classes(report)
    yield from _prices(report)
    yield from _restarts(report)
    yield from _verdicts(report, ("better", "gone"))
    yield from _steps(report)
    yield from _values("pin", "version or image that the lock fixes", report.pins)
    yield from _values("feature gate", "switch of Kubernetes or a driver", report.gates)
    yield from _values("ledger entry", "decision about an alpha or beta feature", report.ledger)
    yield from _values("lane", "whether a pool takes experiments", report.lanes)
    yield from _values("waiver", "exception that somebody answers for until a day", report.waivers)


def _verdicts(report: Report, directions: tuple[Direction, ...]) -> Iterator[Spans]:
    """Workloads by what became of the verdict; where the word stays, with the counts."""
    groups: dict[tuple[int, str, Word | None, Word | None], list[WorkloadChange]] = {}
    for one in report.workloads:
        if one.change in directions:
            before, after = verdict_words(one)
            rank = BAD.index(after) if after in BAD else len(BAD)
            groups.setdefault((rank, one.scenario, before, after), []).append(one)
    for (_, _, before, after), group in sorted(groups.items(), key=lambda item: tuple(map(str, item[0]))):
        captured = f" ({SCENARIOS['live']})" if group[0].scenario == "live" else ""
        title = f"{count(len(group), 'workload')}{_say_change(before, after)}"
        names = _with_counts(group) if before == after else by_cluster((one.cluster, one.name) for one in group)
        yield (Strong(title), Words(f"{captured}: " if before == after else f"{captured} "), *names)


def _say_change(before: Word | None, after: Word | None) -> str:
    if before == after:
        return f": {after} as before, with other counts"
    if after is None:
        return f" gone, {before} before"
    return f" new: {after}" if before is None else f": {before} → {after}"


def _with_counts(group: Sequence[WorkloadChange]) -> Spans:
    return join_spans(
        tuple(
            (
                *(Name(one.name), Words(" on "), Name(one.cluster), Words(" ("), Name(one.before.counts)),
                *(Words(" → "), Name(one.after.counts), Words(")")),
            )
            for one in group
            if one.before and one.after
        )
    )


def _shortfalls(report: Report) -> Iterator[Spans]:
    for one in report.shortfalls:
        captured = f", {SCENARIOS['live']}" if one.scenario == "live" else ""
        lead = f"{one.before:,} → {one.after:,} of {count(one.replicas, 'replica')} can't have devices at the same time"
        yield (Strong(lead), Words(f" (whoever is left out{captured}) on "), Name(one.cluster))


def _findings(report: Report) -> Iterator[Spans]:
    """How many there are of each severity, by code, with their places."""
    severities: tuple[Severity, ...] = ("error", "warning", "note")
    for severity in severities:
        places: dict[str, list[str]] = {}
        rows = [one for one in report.findings if one.severity == severity]
        for one in rows:
            found = places.setdefault(one.code, [])
            if place := f"{one.file}:{one.line}" if one.line else one.file:
                found.append(place)
        if rows:
            parts = tuple(_say_code(code, tuple(dict.fromkeys(found))) for code, found in places.items())
            yield (Strong(count(len(rows), severity)), Words(": "), *join_spans(parts, "; "))


def _say_code(code: str, places: tuple[str, ...]) -> Spans:
    return (Name(code), *((Words(" at "), *list_names(places)) if places else ()))


def _commits(report: Report) -> Iterator[Spans]:
    unsafe = [one for one in report.commits if not one.is_safe]
    if unsafe:
        names = join_spans(
            tuple((Name(one.commit[:_SHORT_COMMIT]), Words(" "), Prose(one.subject)) for one in unsafe), "; "
        )
        lead = f"{len(unsafe)} of {count(len(report.commits), 'commit')} unsafe by itself"
        yield (Strong(lead), Words(" (a cluster that stops there is worse off): "), *names)


def _risks(report: Report) -> Iterator[Spans]:
    stranded = [one for one in report.stranded if one.stuck]
    if stranded:
        lead = f"{count(sum(one.stuck for one in stranded), 'replica')} couldn't be placed again"
        names = by_cluster((one.cluster, one.workload) for one in stranded)
        yield (Strong(lead), Words(" once they stop, though they run on for now: "), *names)
    if report.rollouts:
        lead = f"{count(len(report.rollouts), 'rollout')} may not complete"
        names = by_cluster((one.cluster, one.workload) for one in report.rollouts)
        yield (Strong(lead), Words(" (a new pod can wait for devices for ever) "), *names)
    for one in report.taints:
        whom = list_names(one.workloads) if one.workloads else (Words("no workload"),)
        what = "evicts pods that don't tolerate it" if one.evicts else "keeps new pods away that don't tolerate it"
        yield (
            *(Strong("New taint"), Words(" "), Name(one.taint), Words(" of "), Name(one.target)),
            *(Words(" on "), Name(one.cluster), Words(f" ({count(one.devices, 'device')}; {what}): "), *whom),
        )
    if report.moves:
        lead = f"{count(len(report.moves), 'workload')} may silently get other hardware"
        yield (
            *(Strong(lead), Words(" (under the same manifests) ")),
            *by_cluster((one.cluster, one.workload) for one in report.moves),
        )
    if report.envelopes:
        lead = f"{count(len(report.envelopes), 'envelope version')} changed in place"
        names = list_names(tuple(one.name for one in report.envelopes))
        yield (Strong(lead), Words(" (a version once used stays what it was): "), *names)


_CLASSES: Final = (
    (("shrank", "gone"), "fewer devices"),
    (("moved",), "other devices"),
    (("grew", "new"), "more devices"),
    (("reworded",), "the same devices by other selectors"),
)


def _classes(report: Report) -> Iterator[Spans]:
    for changes, what in _CLASSES:
        group = [one for one in report.classes if one.change in changes]
        if group:
            lead = f"{count(len(group), 'device class', 'device classes')} with {what}"
            yield (Strong(lead), Words(": "), *join_spans(tuple(map(_class, group))))


def _class(one: ClassChange) -> Spans:
    before = "new" if one.before is None else f"{one.before:,}"
    after = "gone" if one.after is None else f"{one.after:,}"
    return (Name(one.name), Words(" on "), Name(one.cluster), Words(f" ({before} → {after})"))


def _prices(report: Report) -> Iterator[Spans]:
    for is_worse, lead in ((True, "no longer admitted"), (False, "with another price")):
        group = [one for one in report.prices if one.is_worse == is_worse]
        pairs = [(one.cluster, one.unit) for one in group]
        if pairs:
            noun = count(len(set(pairs)), "placement")
            yield (Strong(f"{noun} {lead}"), Words(" (memory that the model needs per device) "), *by_cluster(pairs))


def _restarts(report: Report) -> Iterator[Spans]:
    if report.restarts:
        replicas = count(sum(one.replicas for one in report.restarts), "replica")
        lead = f"Pods of {count(len(report.restarts), 'workload')} are replaced"
        names = by_cluster((one.cluster, one.name) for one in report.restarts)
        yield (Strong(lead), Words(f" ({replicas}) "), *names)


def _steps(report: Report) -> Iterator[Spans]:
    kinds: tuple[tuple[str, Callable[[SpecStep], bool]], ...] = (
        ("too small a version step", lambda one: RANKS[one.taken] < RANKS[one.deserved]),
        ("a larger version step than needed", lambda one: RANKS[one.taken] > RANKS[one.deserved]),
        ("a version step that fits", lambda one: RANKS[one.taken] == RANKS[one.deserved]),
    )
    for what, belongs in kinds:
        group = [one for one in report.steps if belongs(one)]
        if group:
            names = join_spans(tuple((Words(f"{one.kind} "), Name(one.name), *_say_step(one)) for one in group))
            yield (Strong(f"{count(len(group), 'spec')} with {what}"), Words(": "), *names)


def _say_step(one: SpecStep) -> Spans:
    due = "" if one.taken == one.deserved else f", {one.deserved} is due"
    return (Words(" ("), *moves_to(one.before, one.after), Words(f"{due})"))


def _values(noun: str, meaning: str, values: tuple[ValueChange, ...]) -> Iterator[Spans]:
    if values:
        many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
        lead = f"{count(len(values), noun, many)} changed"
        yield (Strong(lead), Words(f" ({meaning}): "), *list_names(tuple(one.path for one in values)))


def _say_unchanged(report: Report) -> Iterator[Spans]:
    scenarios = tuple(sorted({one.scenario for one in report.workloads}))
    for scenario in scenarios:
        rows = [one for one in report.workloads if one.scenario == scenario]
        same = Counter(one.after.verdict for one in rows if one.change == "same" and one.after)
        total = sum(same.values())
        if not total:
            continue
        where = f" {SCENARIOS[scenario]}" if len(scenarios) > 1 or scenario == "live" else ""
        which = "The other" if total < len(rows) else "All" if total > 1 else "The only"
        words = ", ".join(f"{number} {word}" for word, number in sorted(same.items()))
        workloads = "workload" if which == "The only" else count(total, "workload")
        keeps = "keeps its" if total == 1 else "keep their"
        yield (Words(f"{which} {workloads} {keeps} verdict{where}: {words}."),)


def _explain_words(report: Report) -> Iterator[Block]:
    """What the verdicts in this report mean; each word once."""
    used = {word for one in report.workloads for word in verdict_words(one) if word is not None}
    if used:
        spans: list[Span] = []
        for word in (word for word in MEANINGS if word in used):
            spans.extend((Strong(word), Words(f": {MEANINGS[word]}. ")))
        shows_counts = any(one.change != "same" and len(set(verdict_words(one))) == 1 for one in report.workloads)
        yield Paragraph(
            (*spans, Words(f"{COUNTS}.")) if shows_counts else (*spans[:-1], Words(spans[-1].text.rstrip()))
        )


def _table_objects(report: Report) -> Iterator[Block]:
    units: dict[tuple[str, str], dict[str, list[str]]] = {}
    for one in report.objects:
        changes = units.setdefault((one.cluster, one.unit), {"added": [], "changed": [], "removed": []})
        changes[one.change].append(f"{one.kind}/{one.name}")
    if not units:
        return
    total: Counter[str] = Counter(one.change for one in report.objects)
    kinds = tuple(change for change in ("added", "changed", "removed") if total[change])
    parts = ", ".join(f"{total[change]:,} {change}" for change in kinds)
    yield Paragraph(
        (Strong("Objects by cluster and unit"), Words(f" (a unit is one placement, or the platform): {parts}"))
    )
    rows = tuple(
        ((Name(cluster),), (Name(unit),), *(list_names(tuple(changes[kind])) for kind in kinds))
        for (cluster, unit), changes in sorted(units.items())
    )
    yield Table(("cluster", "unit", *kinds), rows)
