"""A lock that `poolwright pin` would write otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from poolwright.catalog.closure import UnitClosure
from poolwright.catalog.facts import Facts
from poolwright.pins.build import PinRequest, build_lock, resolve_stacks
from poolwright.pins.changes import list_changes
from poolwright.pins.resolve import Rehearsed
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import LOCK_FILE, Lock
from poolwright.specs.parse import Specs
from poolwright.specs.place import Place

_MAX_PATHS: Final = 3


def check_stale(
    specs: Specs, lock: Lock, units: Iterable[UnitClosure], facts: Facts, rehearsed: Mapping[str, Rehearsed]
) -> tuple[Finding, ...]:
    """One warning if the lock isn't what the specs ask for: it says how many choices differ, and the first of them.

    specs: with their ranges, as they are written.
    units: with the bounds that they are rendered with.
    rehearsed: versions that count as rehearsed, by stack.
    """
    request = PinRequest(facts=facts, previous=lock, rehearsed=rehearsed)
    try:
        changes = list_changes(lock, build_lock(resolve_stacks(specs, request), units, request))
    except SpecError as error:
        return (_stale(f"it can't be brought up to date: {error.findings[0].what}", error.findings[0].fix),)
    if not changes:
        return ()
    paths = [one.path for one in changes]
    shown = ", ".join(paths[:_MAX_PATHS]) + (f" and {len(paths) - _MAX_PATHS} more" if len(paths) > _MAX_PATHS else "")
    choices = "1 choice isn't" if len(paths) == 1 else f"{len(paths)} choices aren't"
    return (_stale(f"{choices} what the specs ask for: {shown}", "run poolwright pin, and commit the lock"),)


def _stale(what: str, fix: str) -> Finding:
    return Finding(
        code="lock-stale",
        severity="warning",
        place=Place(LOCK_FILE),
        what=what,
        why="where the two differ the specs count, and nothing pins what they leave open",
        rule="poolwright.dev/v1alpha1",
        fix=fix,
    )
