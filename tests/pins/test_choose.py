"""One exact version out of a range: kept, or the newest that is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from poolwright.catalog.tables.driver_release import release_key
from poolwright.pins.choose import Candidate, Unresolved, choose
from poolwright.specs.lock import Choice
from poolwright.specs.version import parse_version


def known(*versions: str) -> list[Candidate]:
    return [Candidate(version=one, said="that is known", source="a table") for one in versions]


def exact(version: str) -> Choice:
    return Choice(version=version, reason="exact in the stack")


WAS = Choice(version="1.36.2", reason="newest then")
NEWEST = Choice(version="1.36.10", reason="newest of 1.36.x that is known", source="a table")
NONE = Unresolved("1.38.x", ("1.37.1", "1.36.9"))
CASES: dict[str, tuple[str, list[Candidate], Choice | None, bool, Any, Choice | Unresolved]] = {
    "exact": ("v26.7.0", [], None, False, parse_version, exact("26.7.0")),
    # An exact one isn't kept back by what was before.
    "exact-that-moved": (
        "1.36.3",
        [],
        WAS,
        False,
        parse_version,
        Choice(version="1.36.3", reason="exact in the stack"),
    ),
    "newest-by-number": ("1.36.x", known("1.36.9", "1.36.10", "1.37.0"), None, False, parse_version, NEWEST),
    "kept": ("1.36.x", known("1.36.10"), WAS, False, parse_version, WAS),
    "upgraded": ("1.36.x", known("1.36.10"), WAS, True, parse_version, NEWEST),
    "no-longer-in-the-range": (
        "1.36.x",
        known("1.36.10"),
        Choice(version="1.35.1", reason="x"),
        False,
        parse_version,
        NEWEST,
    ),
    "no-pre-release": ("1.36.x", known("1.36.10", "1.36.11-rc.1"), None, False, parse_version, NEWEST),
    "none-known": (
        "1.38.x",
        known("1.36.9", "1.37.1"),
        None,
        False,
        parse_version,
        Unresolved("1.38.x", ("1.37.1", "1.36.9")),
    ),
    # NVIDIA's DRA driver went from 25.12 to 0.4.
    "renumbered": (
        "25.12.x, 0.4.x",
        known("25.12.0", "0.4.1", "0.4.0"),
        None,
        False,
        release_key,
        Choice(version="0.4.1", reason="newest of 25.12.x, 0.4.x that is known", source="a table"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_choose(name: str) -> None:
    text, candidates, previous, upgrade, key, expected = CASES[name]
    order: Callable[[str], Any] = key
    assert choose(text, candidates, previous, upgrade=upgrade, key=order) == expected
