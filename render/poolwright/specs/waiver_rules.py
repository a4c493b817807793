"""What is wrong with waivers themselves: their rule, their last day, and that they waive nothing."""

from __future__ import annotations

import datetime as dt
import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from poolwright.specs.codes import CODES, WAIVABLE
from poolwright.specs.entries import repeated
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.ledger import FeatureLedger
from poolwright.specs.model import DurationText, SpecModel
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.pool import Pool
from poolwright.specs.project import Project
from poolwright.specs.stack import Stack
from poolwright.specs.waiver import Waiver

_RULE: Final = "poolwright.dev/v1alpha1"
_KINDS: Final = {"FeatureLedger": "feature ledger"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenWaiver:
    """A waiver with the spec that it is written in."""

    waiver: Waiver
    spec: Spec[SpecModel]
    name: str  # what findings call the spec; of a placement CLUSTER/NAME
    index: int  # in the spec's list

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self.spec.place("spec", "waivers", self.index)

    @property
    def kind(self) -> str:
        """The spec's kind."""
        return type(self.spec.value).__name__

    @property
    def says(self) -> str:
        """The start of a sentence: `stack "a" waives rehearsal-missing at matrix[...]`."""
        kind = _KINDS.get(self.kind, self.kind.lower())
        return f'{kind} "{self.name}" waives {self.waiver.rule}{self.at}'

    @property
    def at(self) -> str:
        """Its path, where it has one, in a sentence."""
        return f" at {self.waiver.path}" if self.waiver.path else ""


def list_waivers(specs: Specs) -> Iterator[WrittenWaiver]:
    """Every waiver of a project's specs, by kind, then in their order."""
    clusters = {pool.value.identity: pool.value.spec.cluster_name for pool in specs.pools}
    carriers: tuple[Spec[Project] | Spec[Stack] | Spec[Pool] | Spec[FeatureLedger], ...]
    carriers = (*specs.projects, *specs.stacks, *specs.pools, *specs.ledgers)
    for spec in carriers:
        yield from _list_written(spec, spec.value.identity, spec.value.spec.waivers)
    for placement in specs.placements:
        said = placement.value.spec
        name = f"{clusters.get(said.pool_name, said.pool_name)}/{placement.value.identity}"
        yield from _list_written(placement, name, said.waivers)


def _list_written(spec: Spec[SpecModel], name: str, waivers: Iterable[Waiver]) -> Iterator[WrittenWaiver]:
    for index, waiver in enumerate(waivers):
        yield WrittenWaiver(waiver=waiver, spec=spec, name=name, index=index)


def check_waivers(specs: Specs, written: Iterable[WrittenWaiver], as_of: dt.date) -> Iterator[Finding]:
    """Waivers that can't be, that are over on that day, or that count for too long from it."""
    longest = next((project.value.spec.policy.waiver_max_age for project in specs.projects), None)
    first: dict[str, WrittenWaiver] = {}
    for one in written:
        if (earlier := first.setdefault(one.says, one)) is not one:
            yield repeated(one.place, f"the waiver of {one.waiver.rule}{one.at}", earlier.place)
        if one.waiver.rule not in CODES:
            yield _unknown(one)
        elif one.waiver.rule not in WAIVABLE:
            yield _forbidden(one)
        elif one.waiver.expires.date < as_of:
            yield _expired(one, as_of)
        elif longest is not None and _is_longer(one.waiver.expires.date - as_of, longest):
            yield _too_long(one, as_of, longest)


def _is_longer(left: dt.timedelta, longest: DurationText) -> bool:
    return left > dt.timedelta(milliseconds=longest.milliseconds)


def _unknown(one: WrittenWaiver) -> Finding:
    near = difflib.get_close_matches(one.waiver.rule, sorted(WAIVABLE), 3, 0.5)
    return _build(
        one,
        "waiver-unknown",
        "error",
        f"{one.says}, which is no rule",
        "a waiver that names no rule waives nothing, and looks as if it did",
        f"name one that can be waived: {', '.join(near or sorted(WAIVABLE))}",
        field="rule",
    )


def _forbidden(one: WrittenWaiver) -> Finding:
    return _build(
        one,
        "waiver-forbidden",
        "error",
        f"{one.says}, which can't be waived",
        "an exception is for a risk that somebody takes until a day, and this rule's findings are no risk",
        f"mend what it is for and remove the waiver; can be waived: {', '.join(sorted(WAIVABLE))}",
        field="rule",
    )


def _expired(one: WrittenWaiver, as_of: dt.date) -> Finding:
    return _build(
        one,
        "waiver-expired",
        "error",
        f"{one.says} until {one.waiver.expires}, and it is {as_of}",
        f"what it was for is what it was again: {one.waiver.reason.rstrip('.')}",
        f"mend that and remove the waiver, or have {one.waiver.owner} answer for another day",
        field="expires",
    )


def _too_long(one: WrittenWaiver, as_of: dt.date, longest: DurationText) -> Finding:
    days = (one.waiver.expires.date - as_of).days
    return _build(
        one,
        "waiver-too-long",
        "error",
        f"{one.says} until {one.waiver.expires}, {days} days after {as_of}, and the project allows {longest}",
        "what lasts longer is no exception: it is looked at again before",
        "write an earlier day, or a longer policy.waiverMaxAge",
        field="expires",
    )


def unused_waiver(one: WrittenWaiver) -> Finding:
    """The finding that a waiver waives nothing."""
    return _build(
        one,
        "waiver-unused",
        "warning",
        f"{one.says}, and there is no such finding",
        "it would hide the next one, to which nobody agreed",
        "remove it, or write the path that `poolwright check` prints after `at`",
    )


def _build(
    one: WrittenWaiver, code: str, severity: Severity, what: str, why: str, fix: str, *, field: str = ""
) -> Finding:
    steps = (field,) if field else ()
    place = one.spec.place("spec", "waivers", one.index, *steps)
    return Finding(code=code, severity=severity, place=place, what=what, why=why, rule=_RULE, fix=fix)
