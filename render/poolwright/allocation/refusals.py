"""Findings on objects that the API server refuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from poolwright.allocation.cluster_objects import Placed
from poolwright.specs.finding import Finding
from poolwright.specs.place import FieldPath


@dataclass(frozen=True, slots=True)
class Refusal:
    """A field of an object that the server refuses, and whose rule it breaks."""

    placed: Placed[Any]
    path: FieldPath
    rule: str

    def finding(self, what: str, why: str, fix: str) -> Finding:
        """What is wrong with the field."""
        return Finding(
            code="object-refused",
            severity="error",
            place=self.placed.locate(self.path),
            what=what,
            why=why,
            rule=self.rule,
            fix=fix,
        )


def refuse_limit(at: Refusal, name: str, count: int, most: int) -> Finding:
    """A list that is too long."""
    return at.finding(
        f"{count} {name} where at most {most} can stand",
        "the API server bounds what one object can hold",
        "take some out, or spread them over several objects",
    )


def refuse_names(placed: Placed[Any], at: FieldPath, kind: str, names: Sequence[str], rule: str) -> Iterator[Finding]:
    """Names of a list that stand in it more than once."""
    for name, count in Counter(names).items():
        if count > 1:
            yield Refusal(placed, at, rule).finding(
                f'{count} entries are {kind} "{name}"',
                "each name stands once, so that it means one entry",
                "rename all but one, or drop them",
            )
