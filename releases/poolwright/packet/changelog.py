"""`CHANGELOG.md`: what a release changes since the one before, by spec version. All of it follows from changes.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from poolwright.changes.report import FindingRow, Report, SpecStep, ValueChange, WorkloadChange
from poolwright.comments.document import Block, Items, Name, Prose, Section, Span, Spans, Words, list_names
from poolwright.comments.escape import render_inline
from poolwright.comments.headline import build_headline
from poolwright.comments.nodes import build_nodes, render_nodes
from poolwright.comments.wording import count
from poolwright.packet.index import PacketIndex, PacketWaiver
from poolwright.specs.finding import Severity

_NONE: Spans = (Words("nothing"),)


def render_changelog(report: Report, index: PacketIndex) -> bytes:
    """The document in Markdown. index: its name, previous, source, waivers and absent parts count, files don't."""
    head = f"# Release {render_inline((Name(index.name),))}\n"
    return (head + "".join(render_nodes(build_nodes(tuple(_list_blocks(report, index)))))).encode()


def _list_blocks(report: Report, index: PacketIndex) -> Iterator[Block]:
    since: Spans = (Words("the first release"),)
    if index.previous is not None:
        since = (Words("after "), Name(index.previous.name), Words(", packet "), Name(index.previous.digest))
    yield Items(
        (
            (Words("Project "), Name(index.project), Words(f", release {index.sequence:,}, "), *since),
            (Words("Commit "), Name(index.source.git_commit), Words(", judged as of "), Name(index.as_of)),
            (Words("In short: "), *build_headline(report)),
        )
    )
    for title, kind in (("Envelopes", "Envelope"), ("Pools", "Pool")):
        yield from _section(title, [_say_step(one) for one in report.steps if one.kind == kind])
    yield from _section("Envelope versions changed in place", [(Name(one.name),) for one in report.envelopes])
    yield from _section("Verdicts", [_say_workload(one) for one in report.workloads if one.change != "same"])
    restarts = [
        (Name(f"{one.cluster}/{one.name}"), Words(f", {count(one.replicas, 'replica')}: "), *list_names(one.fields))
        for one in report.restarts
    ]
    yield from _section("Pods replaced", restarts)
    yield from _section("Objects", list(_say_objects(report)))
    for title, changes in (
        *(("Pins", report.pins), ("Feature gates", report.gates)),
        *(("Alpha and beta features", report.ledger), ("Lanes", report.lanes)),
    ):
        yield from _section(title, [_say_value(one) for one in changes])
    yield from _section("Risk", _say_risk(report.findings))
    yield from _section("Waived", [_say_waiver(one) for one in index.waivers])
    absent: list[Spans] = [(Name(one.role), Words(": "), Prose(one.why)) for one in index.absent]
    yield from _section("Not in this packet", absent)


def _section(title: str, items: Sequence[Spans]) -> Iterator[Section]:
    if items:
        yield Section(title, (Items(tuple(items)),))


def _say_objects(report: Report) -> Iterator[Spans]:
    """A line a unit: what becomes of how many of its objects; each of them stands in changes.json."""
    units: dict[tuple[str, str], Counter[str]] = {}
    for one in report.objects:
        units.setdefault((one.cluster, one.unit), Counter())[one.change] += 1
    for (cluster, unit), counts in sorted(units.items()):
        said = ", ".join(f"{counts[word]} {word}" for word in ("added", "changed", "removed") if counts[word])
        yield (Name(f"{cluster}/{unit}"), Words(f": {said}"))


def _say_step(one: SpecStep) -> Spans:
    said: list[Span] = [Name(one.name), Words(" "), Name(one.before), Words(" to "), Name(one.after)]
    said.append(Words(f", {one.taken}" + ("" if one.taken == one.deserved else f" (deserves {one.deserved})")))
    for reason in one.reasons:
        said += [Words("; "), Prose(reason)]
    return tuple(said)


def _say_workload(one: WorkloadChange) -> Spans:
    said: list[Span] = [Words(f"{one.change}: "), Name(f"{one.cluster}/{one.name}")]
    sides = [f"{side.verdict} {side.counts}" for side in (one.before, one.after) if side is not None]
    return (*said, Words(" "), Name(" to ".join(sides)))


def _say_value(one: ValueChange) -> Spans:
    before = _NONE if one.before is None else (Name(one.before),)
    after = _NONE if one.after is None else (Name(one.after),)
    note: Spans = (Words(": "), Prose(one.note)) if one.note else ()
    return (Name(one.path), Words(" "), *before, Words(" to "), *after, *note)


def _say_risk(findings: Iterable[FindingRow]) -> list[Spans]:
    """Counts by severity, then each error and warning: notes stand in changes.json."""
    rows = list(findings)
    if not rows:
        return []
    severities = Counter(one.severity for one in rows)
    counts = ", ".join(count(severities[word], word) for word in get_args(Severity) if severities[word])
    said: list[Spans] = [(Words(f"{counts} of what changes"),)]
    for one in rows:
        if one.severity != "note":
            said.append(
                (Words(f"{one.severity} "), Name(one.code), Words(", "), Name(one.file), Words(": "), Prose(one.what))
            )
    return said


def _say_waiver(one: PacketWaiver) -> Spans:
    until = (
        Words(", accepted until "),
        Name(one.expires),
        Words(" by "),
        Name(one.owner),
        Words(": "),
        Prose(one.reason),
    )
    return (Name(one.rule), Words(", "), Name(one.file), Words(": "), Prose(one.what), *until)
