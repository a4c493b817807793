"""What is said of a cluster that runs, beside its verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from poolwright.plan.live.restart import Restarts
from poolwright.plan.live.scenario import Live
from poolwright.plan.live.snapshot import Source
from poolwright.plan.report.words import count_of

_SOURCES: Final[dict[Source, str]] = {"files": "the files", "inventory": "the project's inventory"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveAnswer:
    """What runs, and what would come of its restarts."""

    live: Live
    restarts: tuple[Restarts, ...]  # of the live workloads, one by one

    def find_restarts(self, title: str) -> Restarts | None:
        """Those of a workload; None: it is none of the judged ones."""
        return next((one for one in self.restarts if one.workload == title), None)


def list_modelled_live(answer: LiveAnswer | None) -> Iterator[str]:
    """What was looked at, in sentences without their full stop; None: no cluster that runs is judged."""
    if answer is None:
        return
    snapshot = answer.live.snapshot
    sources = _SOURCES[snapshot.nodes_from], _SOURCES[snapshot.slices_from]
    yield f"nodes of {sources[0]}, slices of {sources[1]}"
    if snapshot.planned_nodes:
        yield f"planned nodes, {snapshot.planned_nodes} of them, are not there yet"
    yield "pods belong to the workload that their owners lead to"


def list_assumed_live(answer: LiveAnswer | None) -> Iterator[str]:
    """What was taken for granted, likewise."""
    if answer is None:
        return
    newest = answer.live.snapshot.newest
    since = f", which was not before {newest}, when their newest pod was made" if newest else ""
    yield f"the files hold all claims and pods of one moment{since}; nothing has changed since"
    if answer.live.orphans:
        claims = count_of(answer.live.orphans, "held claim")
        yield f"users of {claims} are not among the pods: if they run, they aren't counted"
    if answer.live.uncounted:
        pods = f"{count_of(answer.live.uncounted, 'waiting pod')} of others"
        if answer.live.uncounted == 1:
            yield f"{pods} is left out: what it will ask for isn't known"
        else:
            yield f"{pods} are left out: what they will ask for isn't known"
