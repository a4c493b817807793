"""Envelope versions that were changed in place."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.catalog.closure import UnitClosure
from poolwright.changes.hardware import say_names
from poolwright.changes.report import EnvelopeEdit
from poolwright.changes.side import Side
from poolwright.specs.finding import Finding
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place


def list_envelope_edits(before: Side, after: Side) -> Iterator[EnvelopeEdit]:
    """Versions that both sides have with another digest, by name."""
    old, new = before.bases, after.bases
    for name in sorted(old.keys() & new.keys()):
        one, other = old[name].envelope, new[name].envelope
        if one != other and one.digest != other.digest:
            yield EnvelopeEdit(
                name=name, before=one.digest, after=other.digest, units=tuple(_list_units(name, before, after))
            )


def check_envelope_edits(edits: list[EnvelopeEdit], after: Side) -> Iterator[Finding]:
    """An error for each: who runs a version must be able to say what it is."""
    for one in edits:
        spec = after.specs.envelopes_by_identity.get(one.name)
        users = f"; it is placed as {say_names(one.units)}" if one.units else ""
        yield Finding(
            code="envelope-changed",
            severity="error",
            place=Place(PROJECT_FILE) if spec is None else spec.place("metadata", "version"),
            what=f"envelope {one.name} isn't what it was on the base{users}",
            why="a version names one meaning for ever: receipts, records and roll-backs go by it",
            rule="poolwright.dev/v1alpha1 envelope versions",
            fix="give the change a version of its own beside it, and place that; restore this one",
        )


def _list_units(name: str, before: Side, after: Side) -> list[str]:
    found = set()
    for side in (before, after):
        for closure in side.closures:
            if isinstance(closure, UnitClosure):
                placed = closure.placement.envelope
                if f"{placed.name}@{placed.version}" == name:
                    found.add(f"{closure.on.cluster}/{closure.unit}")
    return sorted(found)
