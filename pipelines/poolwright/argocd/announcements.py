"""The plugin's parameters as Argo CD's user interface takes them. They only help to fill in a form: defaults of an
announcement are never sent back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from poolwright.argocd.parameters import RELEASE, UNIT

MAX_NAMES: Final = 1500  # characters of a tooltip's names


class Announcement(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One parameter, in Argo CD's words."""

    name: str
    title: str
    tooltip: str
    required: bool
    string: str  # what it is if it isn't set
    item_type: str = "string"
    collection_type: str = "string"


def build_announcements(
    units: Mapping[str, Sequence[str]],
    named: tuple[str, str] | None,
    unknown: str = "",
    releases: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Announcement, ...]:
    """Cluster, unit and release.

    units:    of each cluster, the names of its units.
    named:    the cluster and unit that the Application's path names, which needs no parameters then.
    unknown:  why the units aren't known; empty: they are.
    releases: of each cluster that is delivered by packet, which one.
    """
    default = named or ("", "")
    clusters = _join(sorted(units))
    each = "; ".join(f"{cluster}: {_join(names)}" for cluster, names in sorted(units.items()))
    said = (f"One of: {clusters}", f"A placement, or platform. {each}")
    if unknown:
        said = (f"The clusters aren't known: {unknown}", "A placement, or platform.")
    taken = "; ".join(f"{cluster}: {release}" for cluster, release in sorted(releases.items()))
    tooltip = f"Of clusters that are delivered by packet, and no others. {taken or 'None is'}"
    return (
        *(
            Announcement(name=name, title=title, tooltip=_cut(tooltip), required=named is None, string=string)
            for name, title, tooltip, string in zip(UNIT, ("Cluster", "Unit"), said, default, strict=True)
        ),
        Announcement(name=RELEASE, title="Release", tooltip=_cut(tooltip), required=False, string=""),
    )


def render_announcements(announcements: Sequence[Announcement]) -> bytes:
    """The JSON list that Argo CD reads."""
    return msgspec.json.encode(announcements) + b"\n"


def _join(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_NAMES else f"{text[:MAX_NAMES]}..."
