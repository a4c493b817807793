"""All that is said of a report, in its order."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.changes.report import Inventory, Report, Revision
from poolwright.comments.document import (
    Block,
    Content,
    Details,
    Items,
    Name,
    Paragraph,
    Prose,
    Section,
    Spans,
    Table,
    Words,
    list_names,
)
from poolwright.comments.fit_details import detail_fit, detail_kept
from poolwright.comments.headline import build_headline
from poolwright.comments.object_details import detail_written
from poolwright.comments.summary import build_summary


def build_content(report: Report) -> Content:
    """The summary, then the details, then what it all rests on."""
    details: tuple[Block, ...] = (*detail_fit(report), *detail_written(report), *detail_kept(report))
    sections = [Section("Summary", build_summary(report))]
    if details:
        sections.append(Section("Details", details))
    sections.append(Section("What this rests on", tuple(_build_basis(report))))
    return Content(headline=build_headline(report), sections=tuple(sections))


def build_short_content(report: Report) -> Content:
    """The same without the details, which it says."""
    whole = build_content(report)
    said = Paragraph((Words("The details are too long for comments: they stand in the report itself."),))
    return Content(
        headline=whole.headline,
        sections=tuple(Section("Details", (said,)) if one.title == "Details" else one for one in whole.sections),
    )


def _build_basis(report: Report) -> Iterator[Block]:
    clusters = list_names(report.clusters) if report.clusters else (Words("none"),)
    untouched = ((Words("Untouched, and not judged: "), *list_names(report.untouched)),) if report.untouched else ()
    yield Items(
        (
            (Words("Base: "), *_side(report.base)),
            (Words("Head: "), *_side(report.head)),
            (Words("Judged as of "), Name(report.as_of), Words(" by Poolwright "), Name(report.tool)),
            (Words("Clusters: "), *clusters),
            *untouched,
        )
    )
    if report.inventories:
        rows = tuple(map(_inventory, report.inventories))
        head = ("cluster", "digest of the file on the base", "on the head")
        summary = (Words("Inventories that devices were read from"),)
        yield Details(summary, (Table(head, rows),))
    if report.assumptions:
        items = tuple((Prose(one),) for one in report.assumptions)
        yield Details((Words(f"Assumptions ({len(items)})"),), (Items(items),))


def _side(side: Revision) -> Spans:
    commit = (Words("a folder as it is on disk"),) if side.commit is None else (Words("commit "), Name(side.commit))
    return (Name(side.name), Words(", "), *commit)


def _inventory(one: Inventory) -> tuple[Spans, ...]:
    before = (Words("none"),) if one.before is None else (Name(one.before),)
    after = (
        (Words("none"),)
        if one.after is None
        else (Words("the same"),)
        if one.after == one.before
        else (Name(one.after),)
    )
    return ((Name(one.cluster),), before, after)
