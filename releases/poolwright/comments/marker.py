"""The first line of each comment of ours: hidden, and how the next run finds it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

# A project's name is a lower-case DNS label, so nothing in a marker can end the HTML comment that it is in.
_MARKER: Final = re.compile(
    r"<!-- poolwright-comment/v1 project=(?P<project>[a-z0-9][a-z0-9.-]{0,62}) "
    r"page=(?P<page>[1-9][0-9]{0,3})/(?P<of>[1-9][0-9]{0,3}) report=sha256:(?P<report>[0-9a-f]{64}) -->"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """Which page of which report a comment is. It never decides alone: the author must be us."""

    project: str
    page: int  # from 1
    of: int
    report: str  # SHA-256 of the report's bytes, in hex


def render_marker(marker: Marker) -> str:
    """The line, without its end."""
    line = (
        f"<!-- poolwright-comment/v1 project={marker.project} page={marker.page}/{marker.of} "
        f"report=sha256:{marker.report} -->"
    )
    if parse_marker(line) != marker:
        raise ValueError(f"no marker can say {marker}")
    return line


def parse_marker(body: str) -> Marker | None:
    """The marker of a comment: its whole first line, and nothing further down; None: there is none."""
    first, _, _ = body.replace("\r\n", "\n").partition("\n")
    found = _MARKER.fullmatch(first)
    if found is None:
        return None
    return Marker(project=found["project"], page=int(found["page"]), of=int(found["of"]), report=found["report"])
