"""Records that prove nothing, whatever they are of."""

from __future__ import annotations

import datetime as dt
import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.matrix.fields import list_changes
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import FieldPath
from poolwright.specs.rehearsal import Combination, OtherEnd, Rehearsal, RehearsalSpec, Step

MAX_CHANGES: Final = 3  # changes by hand that a finding repeats
MAX_CLUSTERS: Final = 5  # clusters of the project that a finding names
_RULE: Final = "poolwright.dev/v1alpha1"
# Which step says what the other end was, and by which field.
_ENDS: Final[dict[Step, str]] = {"upgrade": "from", "rollback": "to"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What records are held against, beside what they say themselves."""

    as_of: dt.date | None  # the day that is judged on; None: no day is too late
    takes_synthetic: bool
    clusters: tuple[str, ...]  # of the project
    facts: Facts


def check_record(record: Spec[Rehearsal], grounds: Grounds) -> list[Finding]:
    """Everything in a record that refuses it, its snapshots aside; empty: it counts."""
    return [
        Finding(
            code="rehearsal-refused",
            severity="warning",
            place=record.place(*path),
            what=f'rehearsal "{record.value.identity}" {what}',
            why=why,
            rule=_RULE,
            fix=fix,
        )
        for path, what, why, fix in _list_reasons(record.value.spec, grounds)
    ]


Reason = tuple[FieldPath, str, str, str]  # where, what, why and fix


def _list_reasons(spec: RehearsalSpec, grounds: Grounds) -> Iterator[Reason]:
    if spec.node_changes:
        count = len(spec.node_changes)
        shown = "; ".join(spec.node_changes[:MAX_CHANGES]) + ("; ..." if count > MAX_CHANGES else "")
        what = f"was carried out with {count} node change{'' if count == 1 else 's'} by hand: {shown}"
        why = "what somebody changed by hand isn't in Git, so the next node won't have it"
        yield ("spec", "nodeChanges"), what, why, "put the change where nodes get it from, and rehearse again"
    if grounds.as_of is not None and spec.date.date > grounds.as_of:
        what, why = f"is of {spec.date}, after {grounds.as_of}", "what hasn't happened yet proves nothing"
        yield ("spec", "date"), what, why, "correct the date in a new record, or judge as of a later day"
    if released := _list_later(spec, grounds.facts):
        what = f"is of {spec.date}, before the release of what it names: {'; '.join(released)}"
        why = "nobody can have carried out a step with what wasn't there yet"
        yield ("spec", "date"), what, why, "write a new record with the day and the versions as they were"
    if spec.cluster_name not in grounds.clusters:
        what, why = f'names the cluster "{spec.cluster_name}"', "the project has no such cluster: nobody can look there"
        yield ("spec", "clusterName"), what, why, _name_known(spec.cluster_name, grounds.clusters)
    if spec.synthetic and not grounds.takes_synthetic:
        why = "nobody carried it out: such records are for examples"
        fix = "rehearse the step; only an example's Project says `syntheticRehearsals: accepted`"
        yield ("spec", "synthetic"), "is synthetic", why, fix
    for field, end in (("from", spec.from_), ("to", spec.to)):
        yield from _check_end(spec, field, end)


def _check_end(spec: RehearsalSpec, field: str, end: OtherEnd | None) -> Iterator[Reason]:
    wanted = _ENDS.get(spec.step)
    if end is None and field == wanted:
        why = f"an {spec.step}" if spec.step == "upgrade" else f"a {spec.step}"
        yield (
            ("spec", "step"),
            f'is of the step {spec.step} and doesn\'t say "{field}"',
            f"{why} is between two combinations, and only one of them is known",
            f"write a new record with `{field}`: what differed at the other end",
        )
    elif end is not None and field != wanted:
        yield (
            ("spec", field),
            f'is of the step {spec.step} and says "{field}"',
            "upgrades come from another combination and rollbacks go to one; other steps have one end",
            "write a new record with the step that was carried out, or without the field",
        )
    elif end is not None and not list_changes(spec.combination, end):
        yield (
            ("spec", field),
            f'says "{field}" and nothing that differed there',
            "from a combination to the same one nothing is rehearsed",
            "write what differed at the other end",
        )


def _list_later(spec: RehearsalSpec, facts: Facts) -> list[str]:
    """What the record names, at either end, that came out after its day; what has no known day of release is passed."""
    released: dict[str, str] = {}
    for end in (spec.combination, spec.from_, spec.to):
        released |= dict(_list_released(end, facts)) if end is not None else {}
    return [f"{title}, released on {day}" for title, day in released.items() if day > spec.date]


def _list_released(end: Combination | OtherEnd, facts: Facts) -> Iterator[tuple[str, str]]:
    operator = facts.operator_release(end.gpu_operator) if end.gpu_operator is not None else None
    if operator is not None and operator.released is not None:
        yield f"gpuOperator {operator.version}", operator.released
    for driver in sorted(end.dra_drivers, key=lambda one: one.name):
        release = facts.driver_release(driver.version) if is_nvidia_package(driver.name, facts) else None
        if release is not None and release.released is not None:
            yield f"{driver.name} {release.version}", release.released


def _name_known(name: str, clusters: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, clusters, 1, 0.6)
    more = f" and {len(clusters) - MAX_CLUSTERS} more" if len(clusters) > MAX_CLUSTERS else ""
    known = ", ".join(sorted(clusters)[:MAX_CLUSTERS]) + more
    return (f"did you mean {near[0]}? " if near else "") + f"name a cluster of the project in a new record: {known}"
