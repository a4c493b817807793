"""Verdicts that something changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from poolwright.plan.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A verdict as things are, and as they would be."""

    before: Verdict
    after: Verdict


def list_changes(before: Iterable[Verdict], after: Iterable[Verdict]) -> tuple[Change, ...]:
    """The verdicts whose word or counts differ; before and after are of the same workloads, in the same order."""
    return tuple(
        Change(before=old, after=new)
        for old, new in zip(before, after, strict=True)
        if (old.word, old.always, old.at_best) != (new.word, new.always, new.at_best)
    )
