"""Whether a fleet is safe, in a sentence, and what isn't: the first thing that the page says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import quote

from poolwright.pages.document import FleetReport, FleetSide, FleetUnit
from poolwright.plan.verdict import Word

Mark = Literal["safe", "unproven", "unsafe"]
# The worst first. What isn't here is no trouble.
WORDS: Final[dict[Word, str]] = {
    "error": "an error stops its pods from being scheduled",
    "unsatisfied": "some of its replicas can't have devices, whatever the order",
    "order-dependent": "whether all its replicas find devices depends on who starts first",
    "undecided": "it isn't proven that all its replicas find devices, nor that they don't",
}
_MOST_NAMED: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A workload that isn't proven to find its devices."""

    unit: FleetUnit
    means: str  # what the word of its verdict means
    link: str  # where the page shows more of it


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyAnswer:
    """What is said of one side."""

    side: FleetSide
    mark: Mark
    sentence: str
    troubles: tuple[Trouble, ...]  # the worst first
    notes: tuple[str, ...]  # what isn't about one workload, or doesn't change the verdict


def build_answer(report: FleetReport, side: FleetSide, key: Literal["before", "after"]) -> SafetyAnswer:
    """The answer for one side of a report."""
    troubles = tuple(_list_troubles(side, "" if key == "after" else "&side=before"))
    errors = sum(one.severity == "error" for one in report.findings) if key == "after" else 0
    notes = (*_list_notes(side), *_say_errors(errors))
    short = [one.name for one in side.clusters if one.shortfall.most]
    mark = _choose_mark(troubles, bool(short or errors))
    return SafetyAnswer(side=side, mark=mark, sentence=_say(side, mark, troubles), troubles=troubles, notes=notes)


def link_unit(unit: FleetUnit) -> str:
    """The part of an address after `#` that shows a unit."""
    return f"unit={quote(unit.cluster, safe='')}/{quote(unit.workload, safe='')}"


def _list_troubles(side: FleetSide, of: str) -> Iterator[Trouble]:
    for word, means in WORDS.items():
        for unit in side.units:
            if unit.verdict == word:
                yield Trouble(unit=unit, means=means, link=f"#{link_unit(unit)}{of}")


def _choose_mark(troubles: Sequence[Trouble], is_wrong: bool) -> Mark:
    if is_wrong or any(one.unit.verdict != "undecided" for one in troubles):
        return "unsafe"
    return "unproven" if troubles else "safe"


def _say(side: FleetSide, mark: Mark, troubles: Sequence[Trouble]) -> str:
    total = len(side.units)
    if mark == "safe":
        if total == 0:
            return "Nothing claims devices here."
        return f"Safe: {_count(total, 'workload')}, and every replica finds devices, whoever starts first."
    if not troubles:
        return f"Not safe: of {_count(total, 'workload')} each finds its devices, but something else is wrong."
    number = len(troubles)
    of = f"{number} of {_count(total, 'workload')}"
    if mark == "unproven":
        return f"Not proven to be safe: of {of} it isn't known whether all replicas find devices."
    return f"Not safe: {of} may stay without devices."


def _list_notes(side: FleetSide) -> Iterator[str]:
    for cluster in side.clusters:
        least, most = cluster.shortfall.least, cluster.shortfall.most
        if most:
            number = str(most) if least == most else f"{least} to {most}"
            replicas = _count(cluster.demanded, "replica")
            yield f"{cluster.name}: {number} of {replicas} stay without, whoever is left out."
        yield from (f"{cluster.name}: {one}" for one in cluster.contests)
    left_open = [one for one in side.units if one.qualifiers and one.verdict == "always-fits"]
    if left_open:
        yield f"Finds devices, and something is left open: {_name(left_open)}."
    refused = [one for one in side.units if one.prices and all(bar.admission != "admitted" for bar in one.prices)]
    if refused:
        yield f"Priced, and admitted on no class: {_name(refused)}."


def _name(units: Sequence[FleetUnit]) -> str:
    named = ", ".join(f"{one.workload} on {one.cluster}" for one in units[:_MOST_NAMED])
    left = len(units) - _MOST_NAMED
    return f"{named} and {left:,} more" if left > 0 else named


def _say_errors(errors: int) -> Iterator[str]:
    if errors:
        yield f"{_count(errors, 'finding')} {'is an error' if errors == 1 else 'are errors'} to mend: see the findings."


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
