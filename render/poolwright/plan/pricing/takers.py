"""Who takes how many devices of a cluster: placements at their peak, and what pools reserve."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from poolwright.catalog.device_class import build_device_class
from poolwright.plan.cluster import DeviceKinds
from poolwright.plan.pricing.market import Market
from poolwright.specs.claim_plan import devices_per_replica
from poolwright.specs.envelope import ReplicaBehavior
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.placement import Placement
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement


@dataclass(frozen=True, slots=True, kw_only=True)
class Taker:
    """A placement, or what a pool reserves for others."""

    name: str
    pool: Spec[Pool]
    behavior: ReplicaBehavior | Literal["reserved"]
    devices: frozenset[int]  # of the market, that it may be given
    class_names: tuple[str, ...]
    zone: str | None = None
    each: int = 1  # devices of a replica
    least: int  # replicas
    most: int
    surge: int = 0
    spare: int = 0

    @property
    def peak(self) -> int:
        """Devices at its most replicas, in a rollout."""
        return self.each * (self.most + self.surge)


def list_takers(specs: Specs, cluster: str, kinds: DeviceKinds, market: Market) -> tuple[Taker, ...]:
    """All of a cluster, by the order of their files; placements first.

    market: of the kinds.
    """
    found = []
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if resolved is not None and resolved.on.cluster.name == cluster:
            found.append(_build_taker(resolved, kinds, market))
    for pool in specs.pools:
        if pool.value.spec.cluster_name == cluster:
            found += _list_reserved(pool, market)
    return tuple(found)


def _build_taker(resolved: ResolvedPlacement, kinds: DeviceKinds, market: Market) -> Taker:
    placement: Placement = resolved.placement.value
    said, spec = placement.spec, resolved.envelope.value.spec
    devices = frozenset[int]().union(
        *(market.list_possible(build_device_class(one)) for one in resolved.device_classes)
    )
    return Taker(
        name=placement.identity,
        pool=resolved.pool,
        behavior=spec.replica_behavior,
        devices=devices if said.zone is None else _keep_zone(devices, said.zone, kinds, market),
        class_names=tuple(one.name for one in resolved.device_classes),
        zone=said.zone,
        each=devices_per_replica(spec.topology),
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
    """What takers leave of a class for one of them."""

    def __init__(self, takers: Sequence[Taker], kinds: DeviceKinds, market: Market) -> None:
        self._takers = takers
        self._kinds = kinds
        self._market = market

    def count_free(self, name: str, class_name: str) -> int:
        """Devices of a class of a taker's pool that are certainly left for it at the peak of all others.

        Who may be given devices of other classes too counts as if all of his were of this one, and who may wait as if
        he didn't. Negative: there are too few as it is.
        """
        own = next(one for one in self._takers if one.name == name and one.behavior != "reserved")
        spec = next(one for one in own.pool.value.spec.device_classes if one.name == class_name)
        devices = self._market.list_possible(build_device_class(spec))
        if own.zone is not None:
            devices = _keep_zone(devices, own.zone, self._kinds, self._market)
        taken = sum(one.peak for one in self._takers if one is not own and one.devices & devices)
        return count_devices(devices, self._kinds, self._market) - taken
