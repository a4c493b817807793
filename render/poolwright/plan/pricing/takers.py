"""Who takes how many devices of a cluster: placements at their peak, and what pools reserve."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from poolwright.allocation.claim import Toleration
from poolwright.allocation.node_taints import find_untolerated
from poolwright.catalog.device_class import build_device_class
from poolwright.plan.cluster import DeviceKinds
from poolwright.plan.pricing.market import Market
from poolwright.specs.claim_plan import count_extra, devices_per_pod, devices_per_replica
from poolwright.specs.envelope import ReplicaBehavior
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.placement import Placement
from poolwright.specs.pool import DeviceClassSpec, Pool
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """A placement's accelerators or what it asks for beside them, or what a pool reserves for others."""

    name: str
    pool: Spec[Pool]
    placement: Spec[Placement] | None  # None: reserved
    behavior: ReplicaBehavior | Literal["reserved"]
    devices: frozenset[int]  # of the market, that it may be given
    class_names: tuple[str, ...]
    zone: str | None = None
    each: int = 1  # devices of a replica
    per_pod: int = 1
    least: int  # replicas
    most: int
    surge: int = 0
    spare: int = 0

    @property
    def peak(self) -> int:
        """Devices at its most replicas, in a rollout."""
        return self.each * (self.most + self.surge)

    @property
    def pods(self) -> int:
        """Pods at its peak."""
        return self.peak // self.per_pod


def list_takers(specs: Specs, cluster: str, kinds: DeviceKinds, market: Market) -> tuple[Taker, ...]:
    """All of a cluster, by the order of their files; placements first, each with its accelerators before the rest.

    market: of the kinds.
    """
    found: list[Taker] = []
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if resolved is not None and resolved.on.cluster.name == cluster:
            found += _build_takers(resolved, kinds, market)
    for pool in specs.pools:
        if pool.value.spec.cluster_name == cluster:
            found += _list_reserved(pool, market)
    return tuple(found)


def _build_takers(resolved: ResolvedPlacement, kinds: DeviceKinds, market: Market) -> Iterator[Taker]:
    topology = resolved.envelope.value.spec.topology
    yield _build_taker(resolved, resolved.device_classes, devices_per_pod(topology), kinds, market)
    for index, one in enumerate(resolved.extra_classes):
        yield _build_taker(resolved, (one,), count_extra(resolved.envelope.value.spec, index), kinds, market)


def _build_taker(
    resolved: ResolvedPlacement,
    classes: Sequence[DeviceClassSpec],
    per_pod: int,
    kinds: DeviceKinds,
    market: Market,
) -> Taker:
    said, spec = resolved.placement.value.spec, resolved.envelope.value.spec
    devices = frozenset[int]().union(*(market.list_possible(build_device_class(one)) for one in classes))
    pods = devices_per_replica(spec.topology) // devices_per_pod(spec.topology)
    return Taker(
        name=resolved.placement.value.identity,
        pool=resolved.pool,
        placement=resolved.placement,
        behavior=spec.replica_behavior,
        devices=devices if said.zone is None else _keep_zone(devices, said.zone, kinds, market),
        class_names=tuple(one.name for one in classes),
        zone=said.zone,
        each=per_pod * pods,
        per_pod=per_pod,
        least=said.min_replicas,
        most=said.max_replicas or said.min_replicas,
        surge=said.surge or 0,
        spare=spec.recovery.spare_replicas,
    )


def _keep_zone(devices: frozenset[int], zone: str, kinds: DeviceKinds, market: Market) -> frozenset[int]:
    """Those that a node of the zone may reach; of a node whose zone isn't known that may be this one."""
    return frozenset(at for at in devices if kinds.zones.get(market.nodes[at] or "", zone) == zone)


def _list_reserved(pool: Spec[Pool], market: Market) -> Iterator[Taker]:
    classes = {one.name: one for one in pool.value.spec.device_classes}
    for one in pool.value.spec.reservations:
        if one.device_class_name in classes:
            yield Taker(
                name=f"reserved for {one.owner}",
                pool=pool,
                placement=None,
                behavior="reserved",
                devices=market.list_possible(build_device_class(classes[one.device_class_name])),
                class_names=(one.device_class_name,),
                least=one.count,
                most=one.count,
            )


def count_devices(devices: frozenset[int], kinds: DeviceKinds, market: Market) -> int:
    """How many there are of these, with the nodes that are alike."""
    return sum(kinds.copies.get(market.nodes[at] or "", 1) for at in devices)


class Room:
    """What takers certainly leave for one of them."""

    def __init__(self, takers: Sequence[Taker], kinds: DeviceKinds, market: Market) -> None:
        self._takers = takers
        self._kinds = kinds
        self._market = market

    def has_room(self, name: str, class_name: str | None = None, *, times: int = 1) -> bool:
        """Whether the peak of a placement surely finds its devices while all others have their peak.

        class_name: a class of its pool, if it is to be of that one alone.
        times:      so many times the devices of each pod.
        Counted are places for whole pods, on nodes that are open to it, of devices that nothing stands against; each
        device that somebody else may take of these is taken, and spoils a place. So a no may still be a yes.
        """
        own = next(one for one in self._takers if one.name == name and one.placement is not None)
        devices = own.devices if class_name is None else self._list_class(own, class_name)
        taken = sum(one.peak for one in self._takers if one is not own and one.devices & devices)
        return self._count_places(own, devices & self._market.plain, own.per_pod * times) - taken >= own.pods

    def _list_class(self, own: Taker, class_name: str) -> frozenset[int]:
        spec = next(one for one in own.pool.value.spec.device_classes if one.name == class_name)
        devices = self._market.list_possible(build_device_class(spec))
        return devices if own.zone is None else _keep_zone(devices, own.zone, self._kinds, self._market)

    def _count_places(self, own: Taker, devices: frozenset[int], per_pod: int) -> int:
        tolerations = [
            Toleration(key=one.key, operator=one.operator, value=one.value or "", effect=one.effect or "")
            for one in own.pool.value.spec.tolerations
        ]
        on_node = Counter(node for at in devices if (node := self._market.nodes[at]) is not None)
        places = 0
        for node, count in on_node.items():
            known = self._kinds.nodes.get(node)
            if known is None or find_untolerated(known, tolerations) is None:
                places += count // per_pod * self._kinds.copies.get(node, 1)
        return places
