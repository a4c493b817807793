"""Risks that specs alone show, and what they waive: of both what is new on the head."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable

from poolwright.changes.side import Side
from poolwright.specs.finding import Finding
from poolwright.specs.risks import check_risks
from poolwright.specs.waiver_rules import check_waivers, list_waivers
from poolwright.specs.waiving import apply_waivers


def list_new_risks(before: Side, after: Side) -> list[Finding]:
    """What the head's specs promise and can't keep, and the base's don't in the same words."""
    return _drop_known(check_risks(after.specs), check_risks(before.specs))


def waive(findings: Iterable[Finding], before: Side, after: Side, as_of: dt.date) -> tuple[Finding, ...]:
    """Findings of a change with what the head's specs waive of them, and what is wrong with waivers and wasn't.

    Whether a waiver is used isn't said: a change shows what it brings, not everything that is.
    """
    applied = apply_waivers(findings, after.specs, as_of, judged=())
    known = check_waivers(before.specs, list_waivers(before.specs), as_of)
    return tuple(_drop_known(applied.findings, known))


def _drop_known(found: Iterable[Finding], known: Iterable[Finding]) -> list[Finding]:
    """Those that weren't there; by their words, for a place moves with every line above it."""
    said = {(one.code, one.what) for one in known}
    return [one for one in found if (one.code, one.what) not in said]
