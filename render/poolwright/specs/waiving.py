"""Waivers applied: which findings are warnings on a day because somebody answers for them.

A waiver covers findings of its rule in the document that it is written in, at its path and below. Where a finding
stands at an envelope, which carries no waiver, each placement that runs the envelope must have one; where it stands in
a file without specs that carry any, the Project's covers it by the file's name. So none hides more than it says.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from msgspec.structs import replace

from poolwright.specs.codes import WAIVABLE
from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding, sort_findings
from poolwright.specs.model import SpecModel
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.placement import Placement
from poolwright.specs.project import Project
from poolwright.specs.waiver import Waiver
from poolwright.specs.waiver_rules import WrittenWaiver, check_waivers, list_waivers, unused_waiver

_WARNINGS: Final = ("error", "warning")  # a note stays one


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedWaiver:
    """A waiver that counts, and that some finding needs."""

    rule: str
    path: str | None
    kind: str  # of the spec that it is written in
    name: str  # of that spec; of a placement CLUSTER/NAME
    reason: str
    owner: str
    expires: str  # the last day on which it counts, YYYY-MM-DD
    file: str  # where it is written

    def __str__(self) -> str:
        return f"waived until {self.expires} by {self.owner}: {self.reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Findings after waivers."""

    findings: tuple[Finding, ...]  # the waived ones as warnings that say so, and what is wrong with waivers; sorted
    used: tuple[UsedWaiver, ...]  # by place


def apply_waivers(
    findings: Iterable[Finding], specs: Specs, as_of: dt.date, *, judged: Collection[str] = WAIVABLE
) -> Applied:
    """Findings with what specs waive of them on a day, and with what is wrong with waivers.

    findings: of any rules; one that is waived already stays as it is.
    specs:    of the whole project. Their waivers count on their last day, and not after it.
    judged:   rules of which findings has all that there are: of no other one a waiver is said to be unused.
    """
    written = tuple(list_waivers(specs))
    counting = [one for one in written if one.waiver.rule in WAIVABLE and one.waiver.expires.date >= as_of]
    finder = _Finder(specs, counting)
    after: list[Finding] = []
    used: dict[Place, UsedWaiver] = {}
    for finding in findings:
        covering = () if finding.waived else finder.find(finding)
        used |= {one.place: _use(one) for one in chain(*covering)}
        after.append(_waive(finding, covering) if covering else finding)
    after += check_waivers(specs, written, as_of)
    after += [unused_waiver(one) for one in counting if one.waiver.rule in judged and one.place not in used]
    return Applied(findings=sort_findings(after), used=tuple(used[place] for place in sorted(used)))


def _waive(finding: Finding, covering: Sequence[Sequence[WrittenWaiver]]) -> Finding:
    """Waived until the first day on which some spec that must have a waiver has none that counts."""
    lasting = (max(group, key=lambda one: one.waiver.expires) for group in covering)
    first = min(lasting, key=lambda one: one.waiver.expires)
    severity = "warning" if finding.severity in _WARNINGS else finding.severity
    return replace(finding, severity=severity, waived=_use(first))


def _use(one: WrittenWaiver) -> UsedWaiver:
    waiver = one.waiver
    return UsedWaiver(
        rule=waiver.rule,
        path=waiver.path,
        kind=one.kind,
        name=one.name,
        reason=waiver.reason,
        owner=waiver.owner,
        expires=str(waiver.expires),
        file=one.place.file,
    )


class _Finder:
    """Which waivers cover a finding."""

    def __init__(self, specs: Specs, counting: Iterable[WrittenWaiver]) -> None:
        self._specs = specs
        self._by_rule: dict[str, list[WrittenWaiver]] = {}
        for one in counting:
            self._by_rule.setdefault(one.waiver.rule, []).append(one)
        self._in_file: dict[str, list[tuple[int, Spec[SpecModel]]]] = {}
        for spec in _list_specs(specs):
            self._in_file.setdefault(spec.document.file, []).append((spec.document.place().line, spec))

    def find(self, finding: Finding) -> tuple[tuple[WrittenWaiver, ...], ...]:
        """Groups of waivers: one of each group must count. Empty: nothing covers it."""
        same = self._by_rule.get(finding.code, ())
        if not same:
            return ()
        spec = self._find_spec(finding.place)
        if spec is not None and not isinstance(spec.value, Envelope):
            own = _of_spec(same, spec, finding.place)
            return (own,) if own else ()
        by_file = tuple(
            one for one in same if isinstance(one.spec.value, Project) and names_file(one.waiver, finding.place)
        )
        if by_file or spec is None:
            return (by_file,) if by_file else ()
        each = [_of_spec(same, placement, finding.place) for placement in self._list_placements(spec)]
        return tuple(each) if each and all(each) else ()

    def _find_spec(self, place: Place) -> Spec[SpecModel] | None:
        """The spec whose document a place is in; None: there is none, or which one it is can't be told."""
        here = self._in_file.get(place.file, [])
        if not place.line:
            return here[0][1] if len(here) == 1 else None
        above = [(line, number) for number, (line, _) in enumerate(here) if line <= place.line]
        return here[max(above)[1]][1] if above else None

    def _list_placements(self, envelope: Spec[SpecModel]) -> Iterator[Spec[Placement]]:
        for placement in self._specs.placements:
            said = placement.value.spec.envelope
            if f"{said.name}@{said.version}" == envelope.value.identity:
                yield placement


def _list_specs(specs: Specs) -> Iterator[Spec[SpecModel]]:
    yield from (*specs.projects, *specs.stacks, *specs.pools, *specs.envelopes, *specs.placements, *specs.ledgers)


def _of_spec(waivers: Iterable[WrittenWaiver], spec: Spec[SpecModel], place: Place) -> tuple[WrittenWaiver, ...]:
    return tuple(
        one
        for one in waivers
        if one.spec.document.root is spec.document.root and covers_field(one.waiver.path, place.field)
    )


def covers_field(path: str | None, field: str) -> bool:
    """Whether a waiver's path is the field's, or that of something around it."""
    return path is None or field == path or (field.startswith(path) and field[len(path)] in ".[")


def names_file(waiver: Waiver, place: Place) -> bool:
    """Whether a path is a file, or FILE:FIELD, and the place is in it."""
    path = waiver.path or ""
    if path == place.file:
        return True
    return path.startswith(f"{place.file}:") and covers_field(path[len(place.file) + 1 :], place.field)
