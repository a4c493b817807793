"""Details on what is written: restarts, version steps, choices, and the objects with the fields that differ."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.changes.report import FieldChange, ObjectChange, Report, SpecStep, ValueChange
from poolwright.comments.document import (
    Block,
    Break,
    Details,
    Diff,
    Items,
    Name,
    Paragraph,
    Prose,
    Span,
    Spans,
    Table,
    Words,
    list_names,
)
from poolwright.comments.wording import count, moves_to


def detail_written(report: Report) -> Iterator[Details]:
    """One folded block per topic that has something to say; objects by cluster and unit."""
    yield from _restarts(report)
    yield from _steps(report)
    yield from _values("Pins: versions and images that the lock fixes", report.pins)
    yield from _values("Feature gates", report.gates)
    yield from _values("Ledger: what is decided of alpha and beta features", report.ledger)
    yield from _values("Lanes: where experiments may run", report.lanes)
    yield from _values("Waivers: exceptions, with who answers for them until when", report.waivers)
    units: dict[tuple[str, str], list[ObjectChange]] = {}
    for one in report.objects:
        units.setdefault((one.cluster, one.unit), []).append(one)
    for (cluster, unit), objects in sorted(units.items()):
        noun = count(len(objects), "object")
        summary = (Words("Objects of "), Name(f"{cluster}/{unit}"), Words(f" ({noun})"))
        yield Details(summary, tuple(block for one in objects for block in _object(one)))


def _restarts(report: Report) -> Iterator[Details]:
    if report.restarts:
        rows = tuple(
            (
                *((Name(one.cluster),), (Name(one.unit),), (Name(one.kind), Words(" "), Name(one.name))),
                *((Words(f"{one.replicas:,}"),), list_names(one.fields)),
            )
            for one in report.restarts
        )
        head = ("cluster", "unit", "workload", "replicas", "fields of the pod template that differ")
        yield Details((Words(f"Workloads whose pods are replaced ({len(rows)})"),), (Table(head, rows),))


def _steps(report: Report) -> Iterator[Details]:
    if report.steps:
        items = tuple(map(_step, report.steps))
        yield Details((Words(f"Version steps of the specs ({len(items)})"),), (Items(items),))


def _step(one: SpecStep) -> Spans:
    spans: list[Span] = [Words(f"{one.kind} "), Name(one.name), Words(" in "), Name(one.file), Words(": ")]
    spans.extend((*moves_to(one.before, one.after), Words(f", {_taken(one)}; {_deserved(one)}")))
    return (*spans, *(span for reason in one.reasons for span in (Break(), Prose(reason))))


def _taken(one: SpecStep) -> str:
    words = {"none": "no step", "back": "a step back"}
    return words.get(one.taken, f"a {one.taken} step")


def _deserved(one: SpecStep) -> str:
    return "no step is due" if one.deserved == "none" else f"a {one.deserved} step is due"


def _values(title: str, values: tuple[ValueChange, ...]) -> Iterator[Details]:
    if values:
        rows = tuple(
            (
                *((Name(one.path),), (Words("none"),) if one.before is None else (Name(one.before),)),
                *(
                    (Words("gone"),) if one.after is None else (Name(one.after),),
                    (Prose(one.note),) if one.note else (),
                ),
            )
            for one in values
        )
        yield Details((Words(f"{title} ({len(rows)})"),), (Table(("what", "before", "after", "note"), rows),))


def _object(one: ObjectChange) -> Iterator[Block]:
    name = f"{one.namespace}/{one.name}" if one.namespace else one.name
    yield Paragraph(
        (
            Words(f"{one.change} "),
            Name(one.kind),
            Words(" "),
            Name(name),
            Words(" ("),
            Name(one.api_version),
            Words(")"),
        )
    )
    if one.fields:
        yield Diff(tuple(line for field in one.fields for line in _field(field)))


def _field(field: FieldChange) -> Iterator[tuple[str, str]]:
    yield ("@", field.path)
    if field.is_hidden:
        yield ("!", f"{field.change}; its value is hidden")
        return
    for sign, value in (("-", field.before), ("+", field.after)):
        if value is not None:
            yield from ((sign, line) for line in value.split("\n"))
