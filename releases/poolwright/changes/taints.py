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
from poolwright.changes.hardware import SelectedDevices, list_requests, say_names
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _New:
    """A taint that wasn't there."""

    target: str
    taint: Taint
    devices: frozenset[DeviceId]
    node: Node | None  # behind which they are, with the taints that it had; None: it isn't known, or there is none
    is_of_device: bool = False


def list_taints(pair: ClusterPair) -> Iterator[TaintRow]:
    """Every new taint that keeps somebody away, nodes first, each by name.

    Devices of one node that have the same one, out of reach for the same workloads, are a row.
    """
    if pair.after is None:
        return
    demand = pair.after.demand
    selected = SelectedDevices(pair.after)
    before = pair.before.demand if pair.before else None
    rows: dict[tuple[bool, str, str, tuple[str, ...]], list[_New]] = {}
    for one in (*_list_nodes(before, demand), *_list_devices(before, demand)):
        workloads = tuple(
            workload.title
            for workload in demand.workloads
            if not workload.is_reservation and _reaches(one, workload, selected)
        )
        where = one.node.name if one.is_of_device and one.node is not None else one.target
        rows.setdefault((one.is_of_device, where, _say(one.taint), workloads), []).append(one)
    for (_, where, taint, workloads), several in rows.items():
        yield TaintRow(
            cluster=pair.name,
            target=several[0].target if len(several) == 1 else f"{len(several)} devices of node {where}",
            taint=taint,
            devices=len(frozenset().union(*(one.devices for one in several))),
            evicts=several[0].taint.effect == _EVICTING,
            workloads=workloads,
        )


def check_taints(pair: ClusterPair, rows: Iterable[TaintRow]) -> Iterator[Finding]:
    """A warning for each taint that reaches a workload."""
    for one in rows:
        if not one.workloads or pair.after is None:
            continue
        leave = "must leave" if one.evicts else "keep their devices and can't come back"
        nodes = pair.after.demand.sources.nodes
        where = {f"device {'/'.join(found)}": name for found, name in _locate(pair.after.demand).items()}
        where |= {f"node {name}": name for name in nodes}
        node = where.get(one.target, one.target.rpartition(" node ")[2])  # of several devices: that of all of them
        verb, behind = "are" if " devices of " in one.target else "is", count_of(one.devices, "device")
        yield Finding(
            code="taint-reaches",
            severity="warning",
            place=nodes.get(node, Place(PROJECT_FILE)),
            what=f"{one.cluster}: {one.target} {verb} newly tainted {one.taint}: {behind} behind it, out of reach for "
            f"{say_names(one.workloads)}",
            why=f"new pods that don't tolerate it stay away; those that run there {leave}",
            rule=RULE,
            fix="see the verdicts for who has no other device; a toleration is the pool's to give",
        )


def _list_nodes(before: Demand | None, after: Demand) -> Iterator[_New]:
    known = {node.name: node for node in before.nodes} if before else {}
    devices: dict[str, set[DeviceId]] = {}
    for found, name in _locate(after).items():
        devices.setdefault(name, set()).add(found)
    for node in sorted(after.nodes, key=lambda one: one.name):
        old = known.get(node.name)
        if old is None:
            continue  # a node that is new takes nothing from anybody
        for taint in _taints(node):
            if taint.effect not in _HARMLESS and _key(taint) not in map(_key, _taints(old)):
                behind = frozenset(devices.get(node.name, ()))
                yield _New(target=f"node {node.name}", taint=taint, devices=behind, node=_keep_taints(node, old))


def _list_devices(before: Demand | None, after: Demand) -> Iterator[_New]:
    known = _index(before) if before else {}
    earlier = {node.name: node for node in before.nodes} if before else {}
    nodes, where = {node.name: node for node in after.nodes}, _locate(after)
    for one, device in sorted(_index(after).items()):
        old = known.get(one)
        if old is None:
            continue
        for taint in device.taints:
            if taint.effect not in _HARMLESS and _key(taint) not in map(_key, old.taints):
                node = nodes.get(where.get(one, ""))
                yield _New(
                    target=f"device {'/'.join(one)}",
                    taint=taint,
                    devices=frozenset([one]),
                    node=node and _keep_taints(node, earlier.get(node.name, node)),
                    is_of_device=True,
                )


def _keep_taints(node: Node, old: Node) -> Node:
    return replace(node, taints=old.taints, unschedulable=old.unschedulable)


def _locate(demand: Demand) -> dict[DeviceId, str]:
    """The nodes of devices that are of one."""
    return {
        (device.driver, device.pool, device.name): name
        for pool in newest_pools(demand.slices).values()
        for one in pool
        for device in one.devices
        if (name := (device.placement or one.placement).node_name) is not None
    }


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
    """Whether some pod of a workload could have had what is behind the taint, and doesn't tolerate it."""
    return any(_could_come(one, pod) and _is_kept_away(one, pod, selected) for pod in workload.pods)


def _could_come(one: _New, pod: Subject) -> bool:
    """Whether nothing kept a pod from the node before."""
    return one.node is None or find_bar(pod, one.node) is None


def _is_kept_away(one: _New, pod: Subject, selected: SelectedDevices) -> bool:
    """A node's taint keeps pods away that it would have devices for; a device's taint, requests that it would serve."""
    wanting = [part for part in list_requests(pod) if selected.select_for(part, one.devices)]
    if not one.is_of_device:
        bare = Node(name="", taints=(one.taint,))
        return bool(wanting) and find_untolerated(bare, pod.tolerations) is not None
    bare = Node(name="", taints=(replace(one.taint, effect="NoSchedule"),))
    return any(
        find_untolerated(bare, [_as_scheduling(said, one.taint) for said in part.tolerations]) is not None
        for part in wanting
    )


def _as_scheduling(said: Toleration, taint: Taint) -> Toleration:
    """A device's toleration, compared as a node's is: of the taint's effect, whatever that is called."""
    return replace(said, effect="NoSchedule") if said.effect == taint.effect else said
