"""A change report as a terminal shows it: what differs by topic, what to mend, and at the end the counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import get_args

from poolwright.changes.finding_rows import parse_rows
from poolwright.changes.hardware import say_hardware, say_names
from poolwright.changes.report import (
    Answer,
    ClassChange,
    FieldChange,
    ObjectChange,
    Report,
    Revision,
    ValueChange,
)
from poolwright.plan.report.words import count_of
from poolwright.specs.finding import Severity, render_text

_MAX_FIELDS = 12  # of an object; the JSON has them all


def render_report_text(report: Report) -> Iterator[str]:
    """The report by line. Texts are as they are in it: whoever prints them escapes control characters."""
    yield f"base {say_revision(report.base)}, head {say_revision(report.head)}, as of {report.as_of}"
    yield from (f"{one.cluster}: inventory {_say_digests(one.before, one.after)}" for one in report.inventories)
    if report.untouched:
        yield f"untouched: {', '.join(report.untouched)}"
    for commit in report.commits:
        yield f"commit {commit.commit[:12]}  {'safe' if commit.is_safe else 'not safe'}  {commit.subject}"
        yield from (f"  {problem}" for problem in commit.problems)
    if report.is_empty:
        yield "nothing changes in the clusters"
        return
    yield from _section("verdicts", _list_workloads(report))
    yield from _section(
        "replicas without devices, in any order",
        (f"{s.cluster}  {s.before} -> {s.after} of {count_of(s.replicas, 'replica')}" for s in report.shortfalls),
    )
    yield from _section("classes", _list_classes(report.classes))
    yield from _section(
        "other hardware, same objects",
        (f"{m.cluster}/{m.workload}  {' or '.join(m.before)} -> {' or '.join(m.after)}" for m in report.moves),
    )
    yield from _section(
        "couldn't be placed again",
        (f"{s.cluster}/{s.workload}  {s.stuck} of {count_of(s.replicas, 'replica')}" for s in report.stranded),
    )
    yield from _section(
        "taints", (f"{t.cluster}/{t.target}  {t.taint}  {say_names(t.workloads)}" for t in report.taints)
    )
    yield from _section(
        "restarts",
        (f"{r.cluster}/{r.name}  {count_of(r.replicas, 'replica')}: {say_names(r.fields)}" for r in report.restarts),
    )
    yield from _section("rollouts", (f"{r.cluster}/{r.workload}  {r.outcome}: {r.why}" for r in report.rollouts))
    yield from _section(
        "prices",
        (f"{p.cluster}/{p.unit} on {p.class_name}  {p.before} -> {p.after}" for p in report.prices),
    )
    for title, changes in (
        *(("pins", report.pins), ("gates", report.gates), ("ledger", report.ledger), ("lanes", report.lanes)),
        ("waivers", report.waivers),
    ):
        yield from _section(title, map(_say_value, changes))
    yield from _section(
        "envelope versions changed in place",
        (f"{e.name}  {e.before[7:19]} -> {e.after[7:19]}  {say_names(e.units)}" for e in report.envelopes),
    )
    yield from _section(
        "versions",
        (f"{s.kind} {s.name}  {s.before} -> {s.after}  took {s.taken}, deserves {s.deserved}" for s in report.steps),
    )
    yield from _section("objects", _list_objects(report.objects))
    if report.findings:
        yield "findings:"
        for finding in parse_rows(report.findings):
            yield from render_text([finding]).splitlines()
    yield _count(report)


def _count(report: Report) -> str:
    """The last line: what happens, and what was found."""
    severities = Counter(one.severity for one in report.findings)
    objects = Counter(one.change for one in report.objects)
    found = ", ".join(count_of(severities[word], word) for word in get_args(Severity) if severities[word])
    changed = ", ".join(f"{objects[word]} {word}" for word in ("added", "changed", "removed") if objects[word])
    restarts = f", {count_of(len(report.restarts), 'workload')} restarted" if report.restarts else ""
    return f"objects: {changed or 'none'}{restarts}; found: {found or 'nothing'}"


def say_revision(revision: Revision) -> str:
    """`main (3f1c0de8a1b2)`, or a folder as it is."""
    return f"{revision.name} ({revision.commit[:12] if revision.commit else 'as it is on disk'})"


def _say_digests(before: str | None, after: str | None) -> str:
    one, other = (digest.removeprefix("sha256:")[:12] if digest else "none" for digest in (before, after))
    return one if one == other else f"{one} -> {other}"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    listed = list(lines)
    if listed:
        yield f"{title}:"
        yield from (f"  {line}" for line in listed)


def _list_workloads(report: Report) -> Iterator[str]:
    """Those that changed; of the others how many there are."""
    same = sum(1 for one in report.workloads if one.change == "same")
    for one in report.workloads:
        if one.change == "same":
            continue
        live = " (live)" if one.scenario == "live" else ""
        sides = [_say_answer(side) for side in (one.before, one.after) if side is not None]
        yield f"{one.change:<6} {one.cluster}/{one.name}{live}  {' -> '.join(sides)}"
    if same:
        yield f"same   {count_of(same, 'workload')}"


def _say_answer(answer: Answer) -> str:
    return f"{answer.verdict} {answer.counts}"


def _list_classes(classes: Iterable[ClassChange]) -> Iterator[str]:
    for one in classes:
        count = f"{'none' if one.before is None else one.before} -> {'none' if one.after is None else one.after}"
        users = f"; claimed by {say_names(one.users)}" if one.users else ""
        lost = f"; lost {say_hardware(one.lost)}" if one.lost else ""
        gained = f"; gained {say_hardware(one.gained)}" if one.gained else ""
        yield f"{one.change:<8} {one.cluster}/{one.name}  {count} devices{lost}{gained}{users}"
        yield from (f"  {clause}" for clause in one.clauses)


def _say_value(one: ValueChange) -> str:
    note = f"  ({one.note})" if one.note else ""
    return f"{one.path}  {one.before if one.before is not None else 'none'} -> {one.after or 'none'}{note}"


def _list_objects(objects: Sequence[ObjectChange]) -> Iterator[str]:
    for one in objects:
        name = f"{one.namespace}/{one.name}" if one.namespace else one.name
        yield f"{one.change:<7} {one.cluster}/{one.unit}  {one.kind} {name}"
        yield from (f"  {say_field(field)}" for field in one.fields[:_MAX_FIELDS])
        if len(one.fields) > _MAX_FIELDS:
            yield f"  and {len(one.fields) - _MAX_FIELDS} more fields"


def say_field(field: FieldChange) -> str:
    """`replicas  2 -> 3`; of a hidden one only that it changed."""
    if field.is_hidden:
        return f"{field.path}  {field.change} (hidden)"
    if field.change == "added":
        return f"{field.path}  added {field.after}"
    if field.change == "removed":
        return f"{field.path}  removed {field.before}"
    return f"{field.path}  {field.before} -> {field.after}"
