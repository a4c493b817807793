"""Two sides to the report of what lies between them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from poolwright.changes.choices import check_lanes, list_gates, list_lanes, list_ledger, list_pins, list_waivers
from poolwright.changes.destinations import check_destinations
from poolwright.changes.envelopes import check_envelope_edits, list_envelope_edits
from poolwright.changes.finding_rows import build_rows
from poolwright.changes.hardware import check_classes, check_moves, list_class_changes, list_moves
from poolwright.changes.objects.changed import list_object_changes
from poolwright.changes.objects.hazards import list_hazards
from poolwright.changes.objects.pairs import UnitObject, pair_objects
from poolwright.changes.objects.places import ObjectPlaces
from poolwright.changes.objects.restarts import list_restarts
from poolwright.changes.prices import check_prices, list_price_changes
from poolwright.changes.report import (
    KIND,
    ClassChange,
    Inventory,
    Move,
    ObjectChange,
    PriceChange,
    Report,
    Restart,
    RolloutRisk,
    Shortfall,
    Stranded,
    Taint,
    WorkloadChange,
)
from poolwright.changes.rollouts import check_rollouts, list_rollouts
from poolwright.changes.side import ClusterPair, ClusterSide, Side
from poolwright.changes.spec_risks import list_new_risks, waive
from poolwright.changes.steps.compare import check_steps, list_steps
from poolwright.changes.taints import check_taints, list_taints
from poolwright.changes.verdicts import (
    check_gone,
    check_shortfalls,
    check_stranded,
    check_workloads,
    compare_workloads,
    list_shortfalls,
    list_stranded,
)
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.equivalence import is_equivalent
from poolwright.plan.promises.check import check_promises
from poolwright.plan.promises.headroom import keep_minimum
from poolwright.plan.promises.promised import Tolerance
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.model import API_VERSION
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

_DECIDING: Final = frozenset(  # kinds that say which devices a pod gets, or where it runs
    (
        *("CronJob", "DaemonSet", "Deployment", "Job", "LeaderWorkerSet", "Pod", "ReplicaSet", "StatefulSet"),
        *("ResourceClaim", "ResourceClaimTemplate"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClusterChanges:
    """What differs of one cluster."""

    workloads: tuple[WorkloadChange, ...]
    shortfalls: tuple[Shortfall, ...] = ()
    classes: tuple[ClassChange, ...] = ()
    moves: tuple[Move, ...] = ()
    stranded: tuple[Stranded, ...] = ()
    rollouts: tuple[RolloutRisk, ...] = ()
    taints: tuple[Taint, ...] = ()
    restarts: tuple[Restart, ...] = ()
    prices: tuple[PriceChange, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    findings: tuple[Finding, ...] = ()


def build_report(before: Side, after: Side, *, untouched: tuple[str, ...] = (), as_of: dt.date, tool: str) -> Report:
    """What a change does.

    untouched: clusters that the sides leave out, because nothing of them differs.
    as_of: the day that it is judged on; printed.
    tool:  version of Poolwright.
    Cost:  what both sides have alike is compared once and judged once.
    """
    names = sorted(before.clusters.keys() | after.clusters.keys())
    clusters = [_compare(name, before, after) for name in names]
    workloads = tuple(one for cluster in clusters for one in cluster.workloads)
    edits, lanes = list(list_envelope_edits(before, after)), list(list_lanes(before, after))
    steps = list(list_steps(before, after, workloads))
    findings = [one for one in after.findings if one not in before.findings]
    said = {(one.code, one.what) for one in findings}  # of manifests, with the place of each
    findings += [one for cluster in clusters for one in cluster.findings if (one.code, one.what) not in said]
    findings += [*list_new_risks(before, after), *check_destinations(before, after)]
    findings += [*check_envelope_edits(edits, after), *check_lanes(lanes, after), *check_steps(steps, after)]
    return Report(
        api_version=API_VERSION,
        kind=KIND,
        tool=tool,
        project=after.project,
        as_of=as_of.isoformat(),
        base=before.revision,
        head=after.revision,
        clusters=tuple(names),
        untouched=untouched,
        inventories=tuple(_list_inventories(names, before, after)),
        findings=build_rows(waive(findings, before, after, as_of)),
        workloads=workloads,
        shortfalls=tuple(one for cluster in clusters for one in cluster.shortfalls),
        classes=tuple(one for cluster in clusters for one in cluster.classes),
        moves=tuple(one for cluster in clusters for one in cluster.moves),
        stranded=tuple(one for cluster in clusters for one in cluster.stranded),
        rollouts=tuple(one for cluster in clusters for one in cluster.rollouts),
        taints=tuple(one for cluster in clusters for one in cluster.taints),
        restarts=tuple(one for cluster in clusters for one in cluster.restarts),
        envelopes=tuple(edits),
        prices=tuple(one for cluster in clusters for one in cluster.prices),
        pins=tuple(list_pins(before, after)),
        gates=tuple(list_gates(before, after)),
        ledger=tuple(list_ledger(before, after)),
        lanes=tuple(lanes),
        waivers=tuple(list_waivers(before, after)),
        steps=tuple(steps),
        objects=tuple(one for cluster in clusters for one in cluster.objects),
        commits=(),
        assumptions=tuple(_list_assumptions(after)),
    )


def _compare(name: str, before: Side, after: Side) -> _ClusterChanges:
    """Everything of one cluster."""
    old, new = before.clusters.get(name), after.clusters.get(name)
    objects_of = pair_objects(_list_objects(old), _list_objects(new))
    objects, restarts = list_object_changes(name, objects_of), list_restarts(name, objects_of)
    pair = ClusterPair(
        name=name,
        before=old,
        after=new,
        restarted=frozenset(one.name for one in restarts),
        touched=frozenset(_list_touched(objects, old, new)),
    )
    findings = [*list_hazards(objects_of, ObjectPlaces(after.specs, name).find), *check_prices(pair)]
    shortfalls = tuple(list_shortfalls(pair))
    classes, moves = tuple(list_class_changes(pair)), tuple(list_moves(pair))
    stranded, rollouts, taints = tuple(list_stranded(pair)), tuple(list_rollouts(pair)), tuple(list_taints(pair))
    findings += [
        *check_workloads(pair),
        *check_gone(pair),
        *check_shortfalls(pair, shortfalls),
        *check_stranded(pair, stranded),
    ]
    findings += [*check_classes(pair, classes, after.specs), *check_moves(pair, moves)]
    findings += [*check_rollouts(pair, rollouts), *check_taints(pair, taints), *_check_promises(pair, findings)]
    return _ClusterChanges(
        workloads=tuple(compare_workloads(pair)),
        shortfalls=shortfalls,
        classes=classes,
        moves=moves,
        stranded=stranded,
        rollouts=rollouts,
        taints=taints,
        restarts=restarts,
        prices=tuple(list_price_changes(pair)),
        objects=objects,
        findings=tuple(findings),
    )


def _list_objects(side: ClusterSide | None) -> list[UnitObject]:
    objects = {} if side is None else side.objects
    return [UnitObject(unit=unit, value=value) for unit, values in objects.items() for value in values]


def _list_touched(objects: Iterable[ObjectChange], old: ClusterSide | None, new: ClusterSide | None) -> Iterator[str]:
    """Workloads of units in which some object that decides on devices differs; of plain manifests, which are no units,
    those that ask for something else.
    """
    if new is None:
        return
    units = {one.unit for one in objects if one.kind in _DECIDING}
    for unit in units - {""}:
        for document in new.objects.get(unit, ()):
            yield f"{document['metadata'].get('namespace', '')}/{document['metadata']['name']}"
    if "" in units:
        known = {} if old is None else {one.title: replace(one, origin=None) for one in old.demand.workloads}
        yield from (one.title for one in new.demand.workloads if known.get(one.title) != replace(one, origin=None))


def _check_promises(pair: ClusterPair, said: Iterable[Finding]) -> Iterator[Finding]:
    """What is less than promised now, and wasn't.

    said: findings that are there already: of a workload that has an error among them, its verdict isn't said again.
    """
    old, new = pair.before, pair.after
    if new is None or (pair.is_same and old is not None and _promises(old) == _promises(new)):
        return
    is_kept = old is not None and _keeps_headroom(old, new)
    found = check_promises(new.plan, new.demand, new.judgement, with_headroom=not is_kept)
    known: dict[tuple[str, str], Severity] = {}
    if found and old is not None:
        is_asked = any(one.code == "headroom-short" for one in found)
        earlier = check_promises(old.plan, old.demand, old.judgement, with_headroom=is_asked)
        known = {_name_promise(one): one.severity for one in earlier}
    short = {one.place for one in said if one.code == "fit-worse" and one.severity == "error"}
    origins = {one.title: one.origin for one in new.demand.workloads}
    passed = {
        place
        for one in new.plan.promises
        if origins.get(one.workload) in short
        for place in (one.least_place, one.most_place)
    }
    for one in found:
        was = known.get(_name_promise(one))
        if was == one.severity or was == "error" or (one.code == "verdict-short" and one.place in passed):
            continue
        yield one


def _name_promise(finding: Finding) -> tuple[str, str]:
    """Which promise a finding is about: who it is made to, and when; not how much is missing of it."""
    return finding.code, finding.what.partition(":")[0]


def _promises(side: ClusterSide) -> tuple[object, ...]:
    """What is promised, and the minimum that it is about; places aside, which move with every line above them."""
    promised = [
        (one.workload, one.unit, one.pool, one.behavior, one.least, one.most, one.surge) for one in side.plan.promises
    ]
    return promised, _tolerances(side), [one.minimum for one in side.demand.workloads]


def _keeps_headroom(old: ClusterSide, new: ClusterSide) -> bool:
    """Whether every loss leaves the same of what pools promise: headroom is about minimums, whatever the peaks are."""
    placed, before = ([(one.workload, one.pool, one.behavior) for one in side.plan.promises] for side in (new, old))
    same = placed == before and _tolerances(old) == _tolerances(new)
    return same and is_equivalent(keep_minimum(old.demand), keep_minimum(new.demand))


def _tolerances(side: ClusterSide) -> list[Tolerance]:
    return [replace(one, place=Place(PROJECT_FILE)) for one in side.plan.tolerances]


def _list_inventories(names: Iterable[str], before: Side, after: Side) -> Iterator[Inventory]:
    for name in names:
        old, new = before.clusters.get(name), after.clusters.get(name)
        one, other = None if old is None else old.inventory, None if new is None else new.inventory
        yield Inventory(cluster=name, before=one, after=other)


def _list_assumptions(side: Side) -> Iterator[str]:
    """What the answers of the head rest on, each sentence once with the clusters that it is of."""
    found: dict[str, list[str]] = {}
    for name, cluster in side.clusters.items():
        answer = ClusterAnswer(cluster=cluster.plan, demand=cluster.demand, judgement=cluster.judgement)
        for one in (*answer.assumptions.modelled, *answer.assumptions.assumed):
            found.setdefault(one, []).append(name)
    for sentence, names in found.items():
        yield sentence if len(names) == len(side.clusters) else f"{', '.join(names)}: {sentence}"
