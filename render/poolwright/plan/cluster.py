"""A cluster of a project as its plan sees it: nodes and devices, captured and planned, and what specs say of peaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from poolwright.allocation.features import Features, build_features
from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import ZONE_LABEL, Inventory, Node
from poolwright.catalog.planned_nodes import build_planned_slices, list_planned_names
from poolwright.catalog.resource_slice import ResourceSlice
from poolwright.catalog.rules import check_kubernetes
from poolwright.plan.from_objects import Peak, Reservation
from poolwright.plan.promises.promised import Promise, Tolerance, list_promises, list_tolerances
from poolwright.plan.sources import Sources
from poolwright.plan.spec_sources import build_sources
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedCluster, resolve_placement


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """What a cluster has, and what its placements may need at once."""

    name: str
    minor: str
    gates: Mapping[str, bool]  # every gate of that version as the stack sets it
    features: Features
    nodes: tuple[Node, ...]
    slices: tuple[ResourceSlice, ...]
    peaks: Mapping[tuple[str, str], Peak]  # by namespace and name of the workload
    planned_nodes: int = 0  # how many of the nodes aren't captured
    envelopes: Mapping[str, str] = field(default_factory=dict)  # by title of the workload, of what is placed
    reservations: tuple[Reservation, ...] = ()  # of its pools, in the order of their files
    promises: tuple[Promise, ...] = ()  # of its placements
    tolerances: tuple[Tolerance, ...] = ()  # of its pools
    sources: Sources = field(default_factory=Sources)  # where its specs and capture say so


def build_cluster_plan(
    specs: Specs,
    on: ResolvedCluster,
    inventory: Inventory | None,
    facts: Facts,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> ClusterPlan:
    """The cluster's part of a plan.

    specs: of a whole project, whose references all lead somewhere and whose planned nodes are sound.
    files: those that envelopes name, by path; without them nothing is said of where the memory of claims comes from.
    """
    minor, gates = _find_gates(on, facts)
    pools = _list_pools(specs, on)
    planned = [
        Node(name=name, labels={ZONE_LABEL: entry.zone})
        for pool in pools
        for entry in pool.value.spec.planned_nodes
        for name in list_planned_names(entry)
    ]
    return ClusterPlan(
        name=on.cluster.name,
        minor=minor,
        gates=gates,
        features=build_features(minor, gates),
        nodes=(*(inventory.nodes if inventory else ()), *planned),
        slices=_list_slices(pools, on, inventory, facts),
        peaks=_list_peaks(specs, {pool.value.identity for pool in pools}),
        planned_nodes=len(planned),
        envelopes=_list_envelopes(specs, {pool.value.identity for pool in pools}),
        reservations=tuple(_list_reservations(pools)),
        promises=tuple(list_promises(specs, on.cluster.name)),
        tolerances=tuple(list_tolerances(specs, on.cluster.name)),
        sources=build_sources(specs, on.cluster.name, inventory, facts, files),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceKinds:
    """What is enough to price and to count by: as in the plan, but of a planned entry's nodes, which are alike, one."""

    slices: tuple[ResourceSlice, ...]
    features: Features
    copies: Mapping[str, int]  # by planned node: how many there are of it
    zones: Mapping[str, str]  # by node whose zone is known
    nodes: Mapping[str, Node]  # captured ones, by name


def build_device_kinds(specs: Specs, on: ResolvedCluster, inventory: Inventory | None, facts: Facts) -> DeviceKinds:
    """The cluster's kinds of devices. Specs as in `build_cluster_plan`."""
    pools = _list_pools(specs, on)
    planned = {
        list_planned_names(entry)[0]: entry for pool in pools for entry in pool.value.spec.planned_nodes if entry.count
    }
    captured = {node.name: node.zone for node in (inventory.nodes if inventory else ()) if node.zone is not None}
    return DeviceKinds(
        slices=_list_slices(pools, on, inventory, facts, max_nodes=1),
        features=build_features(*_find_gates(on, facts)),
        copies={name: entry.count for name, entry in planned.items()},
        zones={**captured, **{name: entry.zone for name, entry in planned.items()}},
        nodes={node.name: node for node in (inventory.nodes if inventory else ())},
    )


def _list_pools(specs: Specs, on: ResolvedCluster) -> list[Spec[Pool]]:
    return [pool for pool in specs.pools if pool.value.spec.cluster_name == on.cluster.name]


def _list_slices(
    pools: Sequence[Spec[Pool]],
    on: ResolvedCluster,
    inventory: Inventory | None,
    facts: Facts,
    max_nodes: int | None = None,
) -> tuple[ResourceSlice, ...]:
    stack = on.stack.value
    planned = [one for pool in pools for one in build_planned_slices(pool.value, stack, facts, max_nodes=max_nodes)]
    return (*(inventory.slices if inventory else ()), *planned)


def _find_gates(on: ResolvedCluster, facts: Facts) -> tuple[str, Mapping[str, bool]]:
    """The cluster's minor release, and every gate of it as the stack sets it."""
    served = check_kubernetes(on.stack, facts)[0]
    if served is None:
        raise AssertionError(f"{on.cluster.name}: check_kubernetes says so")
    return served.minor, facts.effective_gates(served.minor, on.stack.value.spec.kubernetes.feature_gates)


def _list_peaks(specs: Specs, pools: set[str]) -> dict[tuple[str, str], Peak]:
    """Of each placement on these pools: its most replicas and its surge, which a rollout adds."""
    peaks = {}
    for placement in specs.placements:
        said = placement.value.spec
        resolved = resolve_placement(specs, placement)[0]
        if said.pool_name in pools and resolved is not None:
            key = (resolved.envelope.value.spec.namespace, placement.value.metadata.name)
            most = said.min_replicas if said.max_replicas is None else said.max_replicas
            surge = said.surge or 0
            peaks[key] = Peak(replicas=most + surge, minimum=said.min_replicas, surge=surge, origin=placement.place())
    return peaks


def _list_envelopes(specs: Specs, pools: set[str]) -> dict[str, str]:
    found = {}
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if placement.value.spec.pool_name in pools and resolved is not None:
            envelope = resolved.envelope.value
            found[f"{envelope.spec.namespace}/{placement.value.metadata.name}"] = envelope.metadata.name
    return found


def _list_reservations(pools: Sequence[Spec[Pool]]) -> Iterator[Reservation]:
    """What others use, called after the team and the class; no namespace has a colon in its name."""
    counts: dict[str, int] = {}
    for pool in pools:
        for index, one in enumerate(pool.value.spec.reservations):
            name = f"reserved:{one.owner}/{one.device_class_name}"
            counts[name] = counts.get(name, 0) + 1
            yield Reservation(
                name=name if counts[name] == 1 else f"{name}:{counts[name]}",
                class_name=one.device_class_name,
                count=one.count,
                reason=one.reason,
                owner=one.owner,
                origin=pool.place("spec", "reservations", index),
            )
