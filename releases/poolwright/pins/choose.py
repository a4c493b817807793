"""One exact version out of a range."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from poolwright.catalog.locked import leaves_choice
from poolwright.specs.lock import Choice
from poolwright.specs.model import VersionText
from poolwright.specs.version import VersionRange, parse_version, parse_version_range


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A version that is known to exist."""

    version: str
    said: str  # completes "newest of 26.7.x ..."
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Unresolved:
    """No version of a range is known."""

    range: str
    known: tuple[str, ...]  # versions outside of it, newest first


def choose(
    text: str,
    candidates: Iterable[Candidate],
    previous: Choice | None,
    *,
    upgrade: bool = False,
    key: Callable[[str], Any] = parse_version,
) -> Choice | Unresolved:
    """The exact version that a stack's text stands for.

    text:       an exact version, or a range as in 1.36.x.
    candidates: versions that exist, in any order.
    previous:   what it was before: kept while it is in the range, unless it is to be upgraded.
    key:        what versions of the component are put in order by.
    Pre-releases are never chosen unless they are named exactly.
    """
    wanted = parse_version_range(text)
    if not leaves_choice(text):
        return Choice(version=VersionText(wanted.exact[0].text.removeprefix("v")), reason="exact in the stack")
    if previous is not None and not upgrade and _holds(wanted, previous.version):
        return previous
    known = list(candidates)
    fitting = [one for one in known if _holds(wanted, one.version)]
    if not fitting:
        outside = sorted({one.version for one in known}, key=key, reverse=True)
        return Unresolved(text, tuple(outside))
    best = max(fitting, key=lambda one: key(one.version))
    return Choice(version=VersionText(best.version), reason=f"newest of {text} {best.said}", source=best.source)


def _holds(wanted: VersionRange, text: str) -> bool:
    return wanted.contains(parse_version(text))
