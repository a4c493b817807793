"""Rules that lists keyed by name share, and choices of one field among several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from poolwright.specs.finding import Finding
from poolwright.specs.model import SpecModel
from poolwright.specs.parse import Spec
from poolwright.specs.place import FieldPath, Place, render_field

_RULE: Final = "poolwright.dev/v1alpha1"

K = TypeVar("K", bound=SpecModel)


def repeated_entries(spec: Spec[K], path: FieldPath, names: Iterable[str]) -> list[Finding]:
    """A finding for each entry of a list keyed by name whose name an earlier entry has."""
    first: dict[str, int] = {}
    problems = []
    for index, name in enumerate(names):
        if name in first:
            place, earlier = spec.place(*path, index, "name"), spec.place(*path, first[name], "name")
            problems.append(repeated(place, f'the entry "{name}" of {render_field(path)}', earlier))
        first.setdefault(name, index)
    return problems


def repeated(place: Place, what: str, first: Place) -> Finding:
    """The finding that a name stands for two things."""
    return Finding(
        code="duplicate-name",
        severity="error",
        place=place,
        what=f"{what} exists already, at {first}",
        why="a name stands for one thing, so that every reference and every finding is about that one",
        rule=_RULE,
        fix="rename or remove one of the two",
    )


def check_exactly_one(spec: Spec[K], path: FieldPath, written: Mapping[str, bool], why: str) -> list[Finding]:
    """Nothing if exactly one of the fields is written, else the finding at their parent."""
    said = [name for name, is_written in written.items() if is_written]
    if len(said) == 1:
        return []
    names = " and ".join(written)
    return [
        Finding(
            code="exactly-one",
            severity="error",
            place=spec.place(*path),
            what=f"{names} are both written" if said else f"neither of {names} is written",
            why=why,
            rule=_RULE,
            fix="keep one of the two" if said else "write one of the two",
        )
    ]
