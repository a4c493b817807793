"""More replicas than specs say: what is asked for, which workload a name means, and what they change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from poolwright.plan.demand import Demand
from poolwright.plan.verdict import Count, Judgement
from poolwright.plan.what_if.change import Change, list_changes

MAX_ADDED: Final = 1000  # replicas that one addition may ask for


class AdditionError(ValueError):
    """An addition that can't be understood; its text says why, in one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What was asked for: `2xchat-70b`."""

    count: int
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A workload of a cluster that more replicas of can be asked for."""

    cluster: str
    title: str  # namespace and name
    envelope: str = ""  # that it is placed by; "": it comes from no placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """So many more replicas of a workload."""

    workload: str
    replicas: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """What further replicas change in a cluster."""

    added: tuple[Added, ...]  # in the order they were asked for
    changes: tuple[Change, ...]  # of verdicts, in the demand's order
    shortfall_before: Count


def parse_addition(text: str) -> Addition:
    """What COUNTxMODEL says.

    Raises: AdditionError if it is something else.
    """
    match = re.fullmatch(r"([0-9]+)x(.+)", text, re.ASCII)
    if match is None:
        raise AdditionError(f'"{text}" isn\'t COUNTxMODEL, such as 2xchat-70b')
    if len(match[1]) > len(str(MAX_ADDED)) or not 1 <= int(match[1]) <= MAX_ADDED:
        raise AdditionError(f'"{text}": the count is a number from 1 to {MAX_ADDED}')
    return Addition(count=int(match[1]), name=match[2])


def find_added(additions: Iterable[Addition], targets: Sequence[Target]) -> Mapping[str, tuple[Added, ...]]:
    """By cluster what is added to it; the same workload asked for twice gets both.

    A name is a workload's namespace and name, or else a placement's or workload's own name, or else an envelope's.
    Raises: AdditionError if a name means none of them, or several.
    """
    found: dict[tuple[str, str], int] = {}
    for addition in additions:
        target = _find_target(addition.name, targets)
        key = target.cluster, target.title
        found[key] = found.get(key, 0) + addition.count
    by_cluster: dict[str, tuple[Added, ...]] = {}
    for (cluster, title), count in found.items():
        by_cluster[cluster] = (*by_cluster.get(cluster, ()), Added(workload=title, replicas=count))
    return by_cluster


def add_replicas(demand: Demand, added: Iterable[Added]) -> Demand:
    """The demand with further replicas; of a workload that it doesn't have, nothing."""
    more = {one.workload: one.replicas for one in added}
    return replace(
        demand,
        workloads=tuple(
            replace(one, replicas=one.replicas + more[one.title]) if one.title in more else one
            for one in demand.workloads
        ),
    )


def build_growth(added: Sequence[Added], before: Judgement, after: Judgement) -> Growth:
    """What further replicas change, from the verdicts without and with them."""
    return Growth(
        added=tuple(added),
        changes=list_changes(before.verdicts, after.verdicts),
        shortfall_before=before.shortfall,
    )


def list_added(growth: Growth | None) -> Iterator[str]:
    """What is modelled beyond what specs say."""
    for one in growth.added if growth else ():
        yield f"{one.replicas} more of {one.workload} than specs say"


def _find_target(name: str, targets: Sequence[Target]) -> Target:
    for found in (
        [one for one in targets if one.title == name],
        [one for one in targets if one.title.rpartition("/")[2] == name],
        [one for one in targets if one.envelope == name],
    ):
        if len(found) == 1:
            return found[0]
        titles = sorted({one.title for one in found})
        if len(titles) > 1:
            raise AdditionError(f'"{name}" is several workloads: {", ".join(titles)}; name one of them')
        if found:
            clusters = ", ".join(one.cluster for one in found)
            raise AdditionError(f'"{name}" is on several clusters: {clusters}; choose one with --cluster')
    known = sorted({one.title for one in targets} | {one.envelope for one in targets if one.envelope})
    said = f"known: {', '.join(known)}" if known else "there are no workloads that claim devices"
    raise AdditionError(f'there is no placement, workload or envelope "{name}"; {said}')
