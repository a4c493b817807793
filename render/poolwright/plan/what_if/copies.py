"""A demand with more hardware than there is: nodes and devices like ones that are there.

A copy's name has a `+` in it, which no name in Kubernetes has, so that it is never taken for something that exists.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import count as count_from
from itertools import islice
from typing import Final

from poolwright.allocation.held import DeviceId
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Device, ResourceSlice
from poolwright.plan.demand import Demand, Workload, find_pinned, pin_to

HOSTNAME_LABEL: Final = "kubernetes.io/hostname"


def add_nodes(demand: Demand, like: str, count: int) -> Demand:
    """The demand with so many more nodes like the one of this name, empty ones: `like+1`, `like+2`, and so on.

    A copy has the node's labels, taints and declared features, its own name for a host name, and copies of the pools
    that are the node's alone. What reaches several nodes isn't copied: where its selector matches the copy, it reaches
    that too. A DaemonSet has a pod on each copy as it has on the node. Names that earlier copies have are passed over.
    Raises: KeyError if there is no such node.
    """
    nodes = {node.name: node for node in demand.nodes}
    original, own = nodes[like], _list_own(demand, like)
    endings = _list_endings(like, nodes, count)
    return replace(
        demand,
        workloads=tuple(_copy_pods(one, like, endings) for one in demand.workloads),
        nodes=(*demand.nodes, *(_copy_node(original, ending) for ending in endings)),
        slices=(*demand.slices, *(_copy_slice(one, like, ending) for ending in endings for one in own)),
    )


def add_devices(demand: Demand, like: DeviceId, count: int) -> Demand:
    """The demand with so many more devices like this one, beside it in its slice: `like+1`, `like+2`, and so on.

    A partition's copy takes from the counters of the same accelerator.
    Raises: KeyError if no slice has such a device.
    """
    homes = {one.generation: one for one in demand.slices for device in one.devices if _identify(device) == like}
    if not homes:
        raise KeyError(like)
    home = homes[max(homes)]
    original = next(device for device in home.devices if _identify(device) == like)
    endings = _list_endings(original.name, {device.name for device in home.devices}, count)
    more = tuple(
        replace(_copy_device(original, original.pool, ending), name=f"{original.name}{ending}") for ending in endings
    )
    grown = replace(home, devices=(*home.devices, *more))
    return replace(demand, slices=tuple(grown if one is home else one for one in demand.slices))


def list_own_devices(demand: Demand, node: str) -> tuple[DeviceId, ...]:
    """The devices of a node that a copy of it has too, sorted."""
    return tuple(sorted(_identify(device) for one in _list_own(demand, node) for device in one.devices))


def _list_own(demand: Demand, node: str) -> list[ResourceSlice]:
    """The slices of pools that are a node's alone."""
    shared = {(one.driver, one.pool) for one in demand.slices if one.placement.node_name != node}
    return [one for one in demand.slices if (one.driver, one.pool) not in shared]


def _identify(device: Device) -> DeviceId:
    return device.driver, device.pool, device.name


def _list_endings(name: str, taken: Collection[str], count: int) -> list[str]:
    """The first endings that give names which nothing has."""
    return list(islice((f"+{number}" for number in count_from(1) if f"{name}+{number}" not in taken), count))


def _copy_node(node: Node, ending: str) -> Node:
    name = f"{node.name}{ending}"
    labels = {key: name if key == HOSTNAME_LABEL else value for key, value in node.labels.items()}
    return replace(node, name=name, labels=labels)


def _copy_pods(workload: Workload, like: str, endings: Sequence[str]) -> Workload:
    """The workload with a pod for each copy of a node that it has one for: a DaemonSet's."""
    bound = [pod for pod in workload.pods if workload.is_per_node and find_pinned(pod) == like]
    copies = [replace(pod, node_affinity=pin_to(f"{like}{ending}")) for ending in endings for pod in bound]
    return replace(workload, pods=(*workload.pods, *copies)) if copies else workload


def _copy_slice(one: ResourceSlice, like: str, ending: str) -> ResourceSlice:
    pool = f"{one.pool}{ending}"
    return replace(
        one,
        name=f"{one.name}{ending}",
        pool=pool,
        placement=replace(one.placement, node_name=f"{like}{ending}"),
        devices=tuple(_copy_device(device, pool, ending) for device in one.devices),
    )


def _copy_device(device: Device, pool: str, ending: str) -> Device:
    """The device in a pool, with a uuid of its own: one that names the original doesn't name the copy."""
    attributes = {
        (domain, name): replace(one, value=f"{one.value}{ending}")
        if name.lower().endswith("uuid") and isinstance(one.value, str)
        else one
        for (domain, name), one in device.attributes.items()
    }
    return replace(device, pool=pool, attributes=attributes)
