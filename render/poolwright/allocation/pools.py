"""The pools that a node can take devices from, as the allocator of a version sees them.

Source: k8s.io/dynamic-resource-allocation structured, pools_incubating.go of v0.34 to v0.37.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from poolwright.allocation.features import Features
from poolwright.allocation.held import DeviceId, PoolId
from poolwright.allocation.node_selector import NodeSelectorError, matches_node_selector
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Device, Placement, ResourceSlice

CounterId = tuple[str, str]  # counter set, counter


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A device in its slice; one value for a device, wherever it is looked at from."""

    id: DeviceId
    device: Device
    slice: ResourceSlice
    charges: tuple[tuple[CounterId, int], ...]  # what it takes of the pool's counters, in billionths


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pool:
    """A pool of a driver, from one node; one value for as long as the slices stay what they are."""

    id: PoolId
    state: Literal["usable", "incomplete", "invalid"] = "usable"
    reason: str = ""  # of invalid: what is wrong; of incomplete: what is missing
    candidates: tuple[Candidate, ...] = ()  # that the node may take, in the order they are tried
    elsewhere: tuple[Candidate, ...] = ()  # of other nodes; they take from the same counters
    counters: Mapping[CounterId, int] = field(default_factory=dict)  # in billionths
    unreachable: frozenset[Candidate] = frozenset()  # candidates whose own node isn't this one
    has_binding_conditions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePools:
    """A node's pools in the order they are tried."""

    pools: tuple[Pool, ...] = ()
    obsolete: tuple[PoolId, ...] = ()  # passed over: the node's slices are of an older generation than the pool's
    error: str = ""  # set: nothing can be said, and the attempt ends
    # Of usable pools, flattened: what is tried one by one.
    candidates: tuple[tuple[Pool, Candidate], ...] = ()

    @property
    def invalid(self) -> tuple[Pool, ...]:
        """The pools that contradict themselves."""
        return tuple(pool for pool in self.pools if pool.state == "invalid")


class PoolIndex:
    """All slices of a cluster, arranged so that a node's pools are found without looking at every slice."""

    def __init__(self, slices: Iterable[ResourceSlice], features: Features) -> None:
        self._features = features
        self._of_node: dict[str, list[ResourceSlice]] = {}
        self._of_any: list[ResourceSlice] = []
        self._of_pool: dict[PoolId, list[ResourceSlice]] = {}
        for one in slices:
            self._of_pool.setdefault((one.driver, one.pool), []).append(one)
            name = one.placement.node_name
            if name and not (features.spreads_counters and one.shared_counters):
                self._of_node.setdefault(name, []).append(one)
            else:
                self._of_any.append(one)
        self._candidates: dict[int, tuple[Candidate, ...]] = {}  # by the identity of the slice, which lives as long

    def gather(self, node: Node) -> NodePools:
        """The pools that a node can reach.

        Cost: the slices of the node and those of no single node, and all slices of a pool of which the node reaches
              a part.
        """
        found: dict[PoolId, list[ResourceSlice]] = {}
        for one in (*self._of_node.get(node.name, ()), *self._of_any):
            if not self._is_known(one):
                continue
            try:
                is_relevant = self._is_relevant(one, node)
            except NodeSelectorError as error:
                return NodePools(error=f"failed to perform node selection for slice {one.name}: {error}")
            if is_relevant:
                _add_newest(found, one)
        pools, obsolete = [], []
        for pool_id, slices in found.items():
            pool = (
                self._build(pool_id, slices, node)
                if self._features.key > 34
                else self._build_134(pool_id, slices, node)
            )
            if pool is None:
                obsolete.append(pool_id)
            else:
                pools.append(pool)
        pools.sort(key=lambda pool: (pool.has_binding_conditions, pool.id))
        return NodePools(
            pools=tuple(pools),
            obsolete=tuple(sorted(obsolete)),
            # Where the state isn't usable there is none, but in 1.34, which takes devices of incomplete pools.
            candidates=tuple((pool, one) for pool in pools for one in pool.candidates),
        )

    def _is_known(self, one: ResourceSlice) -> bool:
        """Whether the allocator looks at a slice at all."""
        partitions = self._features.partitionable_devices
        if self._features.key == 34:
            return partitions or not one.placement.per_device
        if not partitions and (one.placement.per_device or one.shared_counters):
            return False
        return self._features.compatibility_groups or not _has_groups(one)

    def _is_relevant(self, one: ResourceSlice, node: Node) -> bool:
        if self._features.spreads_counters and one.shared_counters:
            return True
        if one.placement.per_device:
            return any(_reaches(device.placement, node) for device in one.devices)
        return _reaches(one.placement, node)

    def _build(self, pool_id: PoolId, slices: list[ResourceSlice], node: Node) -> Pool | None:
        """The pool; None: it is obsolete."""
        count, generation = slices[0].slice_count, slices[0].generation
        everything: list[ResourceSlice] = []
        if len(slices) != count:
            known = self._of_pool[pool_id]
            if any(one.generation > generation for one in known):
                return None
            everything = [one for one in known if one.generation == generation]
            if not self._features.compatibility_groups:
                everything = [one for one in everything if not _has_groups(one)]
            if len(everything) != count:
                reason = f"{len(everything)} of {count} slices of generation {generation} are there"
                return Pool(id=pool_id, state="incomplete", reason=reason)
        return self._build_complete(pool_id, slices, everything, node)

    def _build_complete(
        self, pool_id: PoolId, slices: list[ResourceSlice], everything: list[ResourceSlice], node: Node
    ) -> Pool:
        partitions = self._features.partitionable_devices
        slices = sorted(slices, key=lambda one: one.name)
        names = {one.name for one in slices}
        others = [one for one in everything if one.name not in names] if len(slices) < len(everything) else []
        targeting = [one for one in slices if not (partitions and one.shared_counters)]
        elsewhere = [one for one in others if not (partitions and one.shared_counters)]
        with_sets = [one for one in (*slices, *others) if partitions and one.shared_counters]
        reason = find_repeated_name(targeting)
        counters: dict[CounterId, int] = {}
        if partitions and not reason:
            counters, reason = _collect_counters(with_sets)
            reason = reason or _find_unknown_counter(with_sets, [*targeting, *elsewhere])
        if reason:
            return Pool(id=pool_id, state="invalid", reason=reason)
        candidates = tuple(candidate for one in targeting for candidate in self._candidates_of(one))
        return Pool(
            id=pool_id,
            candidates=candidates,
            elsewhere=tuple(candidate for one in elsewhere for candidate in self._candidates_of(one)),
            counters=counters,
            unreachable=_find_unreachable(candidates, node),
            has_binding_conditions=any(one.device.binding_conditions is not None for one in candidates),
        )

    def _build_134(self, pool_id: PoolId, slices: list[ResourceSlice], node: Node) -> Pool:
        """The pool as 1.34 has it: of the node's own slices, given from even if some are missing.

        A device takes from the counters of its own slice alone. A pool that repeats a name ends the attempt when the
        search comes to it; which one it comes to first differs from run to run there.
        """
        reason = find_repeated_name(slices)
        if reason:
            return Pool(id=pool_id, state="invalid", reason=reason)
        missing = slices[0].slice_count - len(slices)
        ordered = sorted(slices, key=lambda one: one.name)
        candidates = tuple(candidate for one in ordered for candidate in self._candidates_of(one))
        return Pool(
            id=pool_id,
            state="incomplete" if missing else "usable",
            reason=f"{len(slices)} of {slices[0].slice_count} slices are there for the node" if missing else "",
            candidates=candidates,
            counters={
                (f"{one.name}/{counter_set.counter_set}", name): amount.nano
                for one in slices
                for counter_set in one.shared_counters
                for name, amount in counter_set.counters.items()
            },
            unreachable=_find_unreachable(candidates, node),
            has_binding_conditions=any(one.device.binding_conditions is not None for one in candidates),
        )

    def _candidates_of(self, one: ResourceSlice) -> tuple[Candidate, ...]:
        known = self._candidates.get(id(one))
        if known is None:
            known = tuple(
                Candidate((one.driver, one.pool, device.name), device, one, self._list_charges(one, device))
                for device in one.devices
            )
            self._candidates[id(one)] = known
        return known

    def _list_charges(self, one: ResourceSlice, device: Device) -> tuple[tuple[CounterId, int], ...]:
        charges = _sum_charges(device)
        if self._features.key > 34:
            return charges
        own = {(entry.counter_set, name) for entry in one.shared_counters for name in entry.counters}
        return tuple(((f"{one.name}/{key[0]}", key[1]), amount) for key, amount in charges if key in own)


def _add_newest(found: dict[PoolId, list[ResourceSlice]], one: ResourceSlice) -> None:
    pool_id = (one.driver, one.pool)
    known = found.get(pool_id)
    if known is None or one.generation > known[0].generation:
        found[pool_id] = [one]
    elif one.generation == known[0].generation:
        known.append(one)


def _find_unreachable(candidates: Sequence[Candidate], node: Node) -> frozenset[Candidate]:
    return frozenset(
        one for one in candidates if one.slice.placement.per_device and not _reaches(one.device.placement, node)
    )


def _reaches(placement: Placement | None, node: Node) -> bool:
    """Whether a node is one of those that a slice or a device is for."""
    if placement is None:
        return False
    if placement.node_name:
        return placement.node_name == node.name
    if placement.all_nodes:
        return True
    return placement.node_selector is not None and matches_node_selector(placement.node_selector, node)


def _has_groups(one: ResourceSlice) -> bool:
    return any(consumed.compatibility_groups for device in one.devices for consumed in device.consumes)


def _sum_charges(device: Device) -> tuple[tuple[CounterId, int], ...]:
    charges: dict[CounterId, int] = {}
    for consumed in device.consumes:
        for name, amount in consumed.counters.items():
            key = (consumed.counter_set, name)
            charges[key] = charges.get(key, 0) + amount.nano
    return tuple(charges.items())


def find_repeated_name(slices: Sequence[ResourceSlice]) -> str:
    """What is wrong with a pool's device names; "" if each stands once."""
    seen: set[str] = set()
    for one in slices:
        for device in one.devices:
            if device.name in seen:
                return f"duplicate device name {device.name}"
            seen.add(device.name)
    return ""


def _collect_counters(slices: Sequence[ResourceSlice]) -> tuple[dict[CounterId, int], str]:
    counters: dict[CounterId, int] = {}
    sets: set[str] = set()
    for one in slices:
        for counter_set in one.shared_counters:
            if counter_set.counter_set in sets:
                return {}, f"duplicate counter set name {counter_set.counter_set}"
            sets.add(counter_set.counter_set)
            for name, amount in counter_set.counters.items():
                counters[counter_set.counter_set, name] = amount.nano
    return counters, ""


def _find_unknown_counter(with_sets: Sequence[ResourceSlice], slices: Sequence[ResourceSlice]) -> str:
    known = {entry.counter_set: entry.counters for one in with_sets for entry in one.shared_counters}
    for one in slices:
        for device in one.devices:
            for consumed in device.consumes:
                if consumed.counter_set not in known:
                    return f"counter set {consumed.counter_set} not found"
                for name in consumed.counters:
                    if name not in known[consumed.counter_set]:
                        return f"counter {name} not found in counter set {consumed.counter_set}"
    return ""
