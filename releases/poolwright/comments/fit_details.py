"""Details on what fits: findings, commits, verdicts with their reasons, classes, risks, prices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from poolwright.changes.report import Answer, ClassChange, FindingRow, Hardware, Report, ReportScenario, WorkloadChange
from poolwright.comments.document import (
    Block,
    Break,
    Details,
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
from poolwright.comments.wording import COUNTS, count, moves_to


def detail_fit(report: Report) -> Iterator[Details]:
    """One folded block per topic that has something to say, the worst first."""
    yield from _findings(report.findings)
    yield from _commits(report)
    yield from _verdicts(report.workloads)
    yield from _stranded(report)
    yield from _rollouts(report)
    yield from _taints(report)
    yield from _moves(report)
    yield from _classes(report)
    yield from _envelopes(report)
    yield from _prices(report)


def detail_kept(report: Report) -> Iterator[Details]:
    """The workloads whose verdict stays: the last of all details."""
    rows = tuple(_kept_row(one) for one in report.workloads if one.change == "same")
    if rows:
        reasons = tuple(_why(one) for one in report.workloads if one.change == "same" and one.reasons)
        blocks: tuple[Block, ...] = (
            Table(("cluster", "workload", "verdict"), rows),
            *((Items(reasons),) if reasons else ()),
        )
        yield Details((Words(f"Workloads that keep their verdict ({len(rows)})"),), blocks)


def _findings(rows: tuple[FindingRow, ...]) -> Iterator[Details]:
    if rows:
        yield Details(
            (Words(f"Findings: what to mend or to know ({len(rows)})"),), (Items(tuple(map(_finding, rows))),)
        )


def _finding(one: FindingRow) -> Spans:
    where: list[str] = [one.file] if one.file else []
    where += [str(number) for number in (one.line, one.column) if one.line and number]
    spans: list[Span] = [Strong(one.severity), Words(" ")]
    if where:
        spans.extend((Name(":".join(where)), Words(" ")))
    spans.extend((Prose(one.what), Break(), Words("Why: "), Prose(one.why)))
    if one.rule:
        spans.extend((Words(" (rule: "), Prose(one.rule), Words(")")))
    spans.extend((Break(), Words("Fix: "), Prose(one.fix), Break()))
    if one.waived:
        said = one.waived
        spans.extend((Words("Waived until "), Prose(said.expires), Words(" by "), Name(said.owner)))
        spans.extend((Words(": "), Prose(said.reason), Words(" ("), Prose(said.kind), Words(" "), Name(said.name)))
        spans.extend((Words(" in "), Name(said.file), *((Words(" at "), Name(said.path)) if said.path else ())))
        spans.extend((Words(")"), Break()))
    if one.field:
        spans.extend((Words("Field "), Name(one.field), Words(", code ")))
    else:
        spans.append(Words("Code "))
    return (*spans, Name(one.code))


def _commits(report: Report) -> Iterator[Details]:
    if not report.commits:
        return
    unsafe = sum(not one.is_safe for one in report.commits)
    items = tuple(
        (
            *(
                Strong("safe" if one.is_safe else "unsafe"),
                Words(" "),
                Name(one.commit),
                Words(" "),
                Prose(one.subject),
            ),
            *_lines(one.problems),
        )
        for one in report.commits
    )
    yield Details((Words(f"Each commit by itself ({len(items)}, {unsafe or 'none'} unsafe)"),), (Items(items),))


_HEAD = ("cluster", "workload", "before", "after")


def _verdicts(workloads: tuple[WorkloadChange, ...]) -> Iterator[Details]:
    changed = [one for one in workloads if one.change != "same"]
    if not changed:
        return
    blocks: list[Block] = [Paragraph((Words(f"{COUNTS}."),)), Table(_HEAD, tuple(map(_row, changed)))]
    reasons = tuple(_why(one) for one in changed if one.reasons)
    if reasons:
        blocks.append(Items(reasons))
    yield Details((Words(f"Verdicts that change, with reasons ({len(changed)})"),), tuple(blocks))


def _kept_row(one: WorkloadChange) -> tuple[Spans, ...]:
    cluster, name, before, after = _row(one)
    return (cluster, name, after if before == after else (*after, Words("; before: "), *before))


def _row(one: WorkloadChange) -> tuple[Spans, ...]:
    captured = (Words(" (as captured)"),) if one.scenario == "live" else ()
    before, after = (_answer(one.before, "not there"), _answer(one.after, "gone"))
    return ((Name(one.cluster),), (Name(one.name), *captured), before, after)


def _answer(answer: Answer | None, none: str) -> Spans:
    return (Words(none),) if answer is None else (Words(f"{answer.verdict} "), Name(answer.counts))


def _why(one: WorkloadChange) -> Spans:
    captured = ", as captured" if one.scenario == "live" else ""
    return (Name(one.name), Words(" on "), Name(one.cluster), Words(captured), *_lines(one.reasons))


def _lines(sentences: Iterable[str]) -> Spans:
    return tuple(span for one in sentences for span in (Break(), Prose(one)))


_PEAKS: Final[dict[ReportScenario, str]] = {"live": "as captured", "fresh": "at the peak of what is planned"}


def _stranded(report: Report) -> Iterator[Details]:
    if report.stranded:
        items = tuple(
            (
                *(Name(one.workload), Words(" on "), Name(one.cluster)),
                Words(
                    f": {one.stuck:,} of {count(one.replicas, 'replica')} would find no device, {_PEAKS[one.scenario]}"
                ),
                *_lines(one.reasons),
            )
            for one in report.stranded
        )
        yield Details((Words(f"Replicas that couldn't be placed again ({len(items)})"),), (Items(items),))


def _rollouts(report: Report) -> Iterator[Details]:
    if report.rollouts:
        outcomes = {"can-stick": "can stick", "not-known": "not known"}
        items = tuple(
            (
                *(Name(one.workload), Words(" on "), Name(one.cluster), Words(f" ({outcomes[one.outcome]}): ")),
                Prose(one.why),
                *(span for fix in one.fixes for span in (Break(), Words("One fix: "), Prose(fix))),
            )
            for one in report.rollouts
        )
        yield Details((Words(f"Rollouts that may not complete ({len(items)})"),), (Items(items),))


def _taints(report: Report) -> Iterator[Details]:
    if report.taints:
        rows = tuple(
            (
                *((Name(one.cluster),), (Name(one.target),), (Name(one.taint),), (Words(f"{one.devices:,}"),)),
                (Words("yes" if one.evicts else "no"),),
                list_names(one.workloads) or (Words("none"),),
            )
            for one in report.taints
        )
        head = ("cluster", "on", "taint", "devices", "evicts running pods", "workloads that could use the devices")
        yield Details((Words(f"New taints ({len(rows)})"),), (Table(head, rows),))


def _moves(report: Report) -> Iterator[Details]:
    if report.moves:
        rows = tuple(
            ((Name(one.cluster),), (Name(one.workload),), list_names(one.before), list_names(one.after))
            for one in report.moves
        )
        head = ("cluster", "workload", "could get before", "could get after")
        yield Details((Words(f"Other hardware under the same manifests ({len(rows)})"),), (Table(head, rows),))


def _classes(report: Report) -> Iterator[Details]:
    if report.classes:
        items = tuple(map(_class, report.classes))
        yield Details((Words(f"Device classes that differ ({len(items)})"),), (Items(items),))


def _class(one: ClassChange) -> Spans:
    before = "new" if one.before is None else f"{one.before:,}"
    after = "gone" if one.after is None else count(one.after, "device")
    spans: list[Span] = [Name(one.name), Words(" on "), Name(one.cluster), Words(f": {before} → {after}")]
    for word, devices in (("Lost", one.lost), ("Gained", one.gained)):
        if devices:
            spans.extend((Break(), Words(f"{word}: "), *join_spans(tuple(map(_hardware, devices)))))
    spans.extend(span for clause in one.clauses for span in (Break(), Words("Selector "), Name(clause)))
    users = list_names(one.users) if one.users else (Words("no workload"),)
    return (*spans, Break(), Words("Claimed by: "), *users)


def _hardware(one: Hardware) -> Spans:
    kind = (Words(" ("), Name(one.kind), Words(")")) if one.kind else ()
    return (Words(f"{one.count:,} × "), Name(one.product), *kind)


def _envelopes(report: Report) -> Iterator[Details]:
    if report.envelopes:
        items = tuple(
            (
                *(Name(one.name), Words(": digest "), *moves_to(one.before, one.after), Break(), Words("Run by: ")),
                *(list_names(one.units) or (Words("no placement"),)),
            )
            for one in report.envelopes
        )
        title = f"Envelope versions changed in place ({len(items)})"
        yield Details((Words(title),), (Items(items),))


def _prices(report: Report) -> Iterator[Details]:
    if report.prices:
        rows = tuple(
            (
                *((Name(one.cluster),), (Name(one.unit),), (Name(one.class_name),)),
                (Prose(one.before),),
                (Prose(one.after),),
            )
            for one in report.prices
        )
        head = ("cluster", "placement", "on the smallest device of", "before", "after")
        yield Details((Words(f"Prices: what a placement needs per device ({len(rows)})"),), (Table(head, rows),))
