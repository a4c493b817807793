"""Taints that are new on nodes and devices: what stands behind each one, and who doesn't tolerate it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from poolwright.allocation.claim import Toleration
from poolwright.allocation.held import DeviceId
from poolwright.allocation.node_taints import UNSCHEDULABLE, find_untolerated
from poolwright.allocation.placing import find_bar
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Device, Taint, newest_pools
from poolwright.changes.hardware import SelectedDevices, list_class_names, say_names
from poolwright.changes.report import Taint as TaintRow
from poolwright.changes.side import ClusterPair
from poolwright.changes.verdicts import RULE
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.report.words import count_of
from poolwright.specs.finding import Finding
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place

_EVICTING: Final = "NoExecute"
_HARMLESS: Final = ("None", "PreferNoSchedule")


@dataclass(frozen=True, slots=True)
class _New:
    """A taint that wasn't there."""

    target: str
    taint: Taint
    devices: frozenset[DeviceId]
    node: Node | None  # None: it is a device's


def list_taints(pair: ClusterPair) -> Iterator[TaintRow]:
    """Every new taint that keeps somebody away, nodes first, each by name."""
    if pair.after is None:
        return
    demand = pair.after.demand
    selected = SelectedDevices(pair.after)
    before = pair.before.demand if pair.before else None
    for one in (*_list_nodes(before, demand), *_list_devices(before, demand)):
        yield TaintRow(
            cluster=pair.name,
            target=one.target,
            taint=_say(one.taint),
            devices=len(one.devices),
            evicts=one.taint.effect == _EVICTING,
            workloads=tuple(
                workload.title
                for workload in demand.workloads
                if not workload.is_reservation and _reaches(one, workload, selected)
            ),
        )


def check_taints(pair: ClusterPair, rows: Iterable[TaintRow]) -> Iterator[Finding]:
    """A warning for each taint that reaches a workload."""
    for one in rows:
        if not one.workloads or pair.after is None:
            continue
        leave = "must leave" if one.evicts else "keep their devices and can't come back"
        nodes = pair.after.demand.sources.nodes
        yield Finding(
            code="taint-reaches",
            severity="warning",
            place=nodes.get(one.target.partition(" ")[2], next(iter(nodes.values()), Place(PROJECT_FILE))),
            what=f"{one.cluster}: {one.target} is newly tainted {one.taint}: {count_of(one.devices, 'device')} behind "
            f"it, out of reach for {say_names(one.workloads)}",
            why=f"new pods that don't tolerate it stay away; those that run there {leave}",
            rule=RULE,
            fix="see the verdicts for who has no other device; a toleration is the pool's to give",
        )


def _list_nodes(before: Demand | None, after: Demand) -> Iterator[_New]:
    known = {node.name: node for node in before.nodes} if before else {}
    devices: dict[str, set[DeviceId]] = {}
    for pool in newest_pools(after.slices).values():
        for one in pool:
            for device in one.devices:
                name = (device.placement or one.placement).node_name
                if name is not None:
                    devices.setdefault(name, set()).add((device.driver, device.pool, device.name))
    for node in sorted(after.nodes, key=lambda one: one.name):
        old = known.get(node.name)
        if old is None:
            continue  # a node that is new takes nothing from anybody
        for taint in _taints(node):
            if taint.effect not in _HARMLESS and _key(taint) not in map(_key, _taints(old)):
                yield _New(f"node {node.name}", taint, frozenset(devices.get(node.name, ())), node)


def _list_devices(before: Demand | None, after: Demand) -> Iterator[_New]:
    known = _index(before) if before else {}
    for one, device in sorted(_index(after).items()):
        old = known.get(one)
        if old is None:
            continue
        for taint in device.taints:
            if taint.effect not in _HARMLESS and _key(taint) not in map(_key, old.taints):
                yield _New(f"device {'/'.join(one)}", taint, frozenset([one]), None)


def _index(demand: Demand) -> dict[DeviceId, Device]:
    pools = newest_pools(demand.slices).values()
    listed = (device for pool in pools for one in pool for device in one.devices)
    return {(one.driver, one.pool, one.name): one for one in listed}


def _taints(node: Node) -> tuple[Taint, ...]:
    return ((UNSCHEDULABLE,) if node.unschedulable else ()) + node.taints


def _key(taint: Taint) -> tuple[str, str, str]:
    return taint.key, taint.value, taint.effect


def _say(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def _reaches(one: _New, workload: Workload, selected: SelectedDevices) -> bool:
    """Whether some class of a workload selects what is behind the taint, and some pod of it doesn't tolerate that."""
    classes = [selected.classes[name] for name in set(list_class_names(workload)) if name in selected.classes]
    if not any(selected.select(found, one.devices) for found in classes):
        return False
    return any(_may_come(one, pod) and not _tolerates(one, pod) for pod in workload.pods)


def _may_come(one: _New, pod: Subject) -> bool:
    """Whether nothing but taints keeps a pod from the node."""
    return one.node is None or find_bar(pod, replace(one.node, taints=(), unschedulable=False)) is None


def _tolerates(one: _New, pod: Subject) -> bool:
    if one.node is not None:
        return find_untolerated(replace(one.node, taints=(one.taint,), unschedulable=False), pod.tolerations) is None
    requests = [
        part
        for claim in pod.claims
        for request in claim.requests
        for part in (request.exactly, *request.first_available)
        if part is not None
    ]
    bare = Node(name="", taints=(replace(one.taint, effect="NoSchedule"),))
    return all(
        find_untolerated(bare, [_as_scheduling(said, one.taint) for said in part.tolerations]) is None
        for part in requests
    )


def _as_scheduling(said: Toleration, taint: Taint) -> Toleration:
    """A device's toleration, compared as a node's is: of the taint's effect, whatever that is called."""
    return replace(said, effect="NoSchedule") if said.effect == taint.effect else said
