"""Whether the devices of a cluster are as many as its placements take together; if not, who takes how many.

A count and no packing: what it refuses is certain, and what it lets through may still not fit, which `poolwright plan`
proves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from poolwright.catalog.device_class import build_device_class
from poolwright.plan.cluster import DeviceKinds
from poolwright.plan.pricing.market import Market
from poolwright.plan.promises.promised import RULE, Tolerance, list_tolerances
from poolwright.plan.report.words import count_of, verb_of
from poolwright.specs.claim_plan import devices_per_replica
from poolwright.specs.envelope import ReplicaBehavior
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.placement import Placement
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taker:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crowd:
    """Takers who find the devices that they need among these and no others."""

    takers: tuple[_Taker, ...]
    devices: frozenset[int]
    there: int


def check_crowding(
    specs: Specs, cluster: str, kinds: DeviceKinds, market: Market, refused: Set[str]
) -> Iterator[Finding]:
    """Devices that placements need at their peak, or at their minimum after a loss that a pool tolerates, beyond those
    there are.

    market:  of the kinds.
    refused: units that no class admits: they take none before they are mended.
    Counted are placements that may not wait, surge and spare replicas included, and reservations. Devices that several
    pods share have room for any number.
    Cost:    quadratic in the sets of devices that placements may be given.
    """
    takers = _list_takers(specs, cluster, kinds, market, refused)
    tolerances = list(list_tolerances(specs, cluster))
    crowded: list[frozenset[int]] = []
    for devices in _list_sets(takers):
        if any(market.devices[at].allow_multiple_allocations for at in devices):
            continue
        members = tuple(one for one in takers if one.devices <= devices)
        crowd = _Crowd(takers=members, devices=devices, there=_count(devices, kinds, market))
        if any(known <= devices for known in crowded):
            continue  # those few are already too many
        if sum(one.peak for one in members) > crowd.there:
            crowded.append(devices)
            yield _refuse_peak(crowd)
        yield from _check_losses(crowd, tolerances, kinds, market)


def _list_takers(
    specs: Specs, cluster: str, kinds: DeviceKinds, market: Market, refused: Set[str]
) -> tuple[_Taker, ...]:
    """All but those for whom there is no device at all: they stand in nobody's way."""
    found = []
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if resolved is None or resolved.on.cluster.name != cluster:
            continue
        if resolved.envelope.value.spec.replica_behavior != "queueable" and placement.value.identity not in refused:
            found.append(_build_taker(resolved, kinds, market))
    for pool in specs.pools:
        if pool.value.spec.cluster_name == cluster:
            found += _list_reserved(pool, market)
    return tuple(one for one in found if one.devices)


def _build_taker(resolved: ResolvedPlacement, kinds: DeviceKinds, market: Market) -> _Taker:
    placement: Placement = resolved.placement.value
    said, spec = placement.spec, resolved.envelope.value.spec
    devices = frozenset[int]().union(
        *(market.list_possible(build_device_class(one)) for one in resolved.device_classes)
    )
    return _Taker(
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


def _list_reserved(pool: Spec[Pool], market: Market) -> Iterator[_Taker]:
    classes = {one.name: one for one in pool.value.spec.device_classes}
    for one in pool.value.spec.reservations:
        if one.device_class_name in classes:
            yield _Taker(
                name=f"reserved for {one.owner}",
                pool=pool,
                behavior="reserved",
                devices=market.list_possible(build_device_class(classes[one.device_class_name])),
                class_names=(one.device_class_name,),
                least=one.count,
                most=one.count,
            )


def _list_sets(takers: Sequence[_Taker]) -> list[frozenset[int]]:
    """Devices of each taker, and of all together whose devices overlap: small ones first, each once."""
    own = list(dict.fromkeys(one.devices for one in takers))
    joined: list[frozenset[int]] = []
    for devices in own:
        apart = [one for one in joined if not one & devices]
        joined = [*apart, devices.union(*(one for one in joined if one & devices))]
    return sorted(dict.fromkeys([*own, *joined]), key=len)


def _count(devices: frozenset[int], kinds: DeviceKinds, market: Market) -> int:
    return sum(kinds.copies.get(market.nodes[at] or "", 1) for at in devices)


def _refuse_peak(crowd: _Crowd) -> Finding:
    total = sum(one.peak for one in crowd.takers)
    takers = sorted(crowd.takers, key=lambda one: (-one.peak, one.name))
    pool, short = takers[0].pool, total - crowd.there
    return Finding(
        code="pool-crowded",
        severity="error" if any(one.behavior == "stable" for one in takers) else "warning",
        place=pool.place("spec", "deviceClasses"),
        what=f'pool "{pool.value.identity}" is crowded: placements take {_say_devices(total, crowd)} at their peak, '
        f"and {crowd.there} {verb_of(crowd.there, 'are')} there: {', '.join(map(_say_peak, takers))}",
        why="counted are maxReplicas and surge of all that may not wait, and reservations; if the number is enough, "
        "poolwright plan proves whether they fit on the nodes",
        rule=RULE,
        fix=_say_ways(count_of(short, "device") + " more", [_cut_peak(one, short) for one in takers]),
    )


def _check_losses(
    crowd: _Crowd, tolerances: Sequence[Tolerance], kinds: DeviceKinds, market: Market
) -> Iterator[Finding]:
    """What is short once a pool of one of the takers lost what it tolerates; not what is short already."""
    needed = sum(one.each * one.least for one in crowd.takers)
    for tolerance in tolerances:
        own = [one for one in crowd.takers if one.pool.value.identity == tolerance.pool and one.behavior != "reserved"]
        left = crowd.there - _count_lost(crowd.devices, tolerance, kinds, market)
        if own and left < needed <= crowd.there:
            yield _refuse_loss(crowd, tolerance, own, needed, left)


def _count_lost(devices: Set[int], tolerance: Tolerance, kinds: DeviceKinds, market: Market) -> int:
    """Of these devices, the most that such a loss may take; of a zone that isn't known, none."""
    if tolerance.thing == "device":
        return min(tolerance.count, len(devices))
    nodes = Counter(node for at in devices if (node := market.nodes[at]) is not None)
    if tolerance.thing == "node":
        each = [count for node, count in nodes.items() for _ in range(kinds.copies.get(node, 1))]
    else:
        zones: Counter[str] = Counter()
        for node, count in nodes.items():
            if node in kinds.zones:
                zones[kinds.zones[node]] += count * kinds.copies.get(node, 1)
        each = list(zones.values())
    return sum(sorted(each, reverse=True)[: tolerance.count])


def _refuse_loss(crowd: _Crowd, tolerance: Tolerance, own: Sequence[_Taker], needed: int, left: int) -> Finding:
    takers = sorted(crowd.takers, key=lambda one: (-one.each * one.least, one.name))
    thing, short = tolerance.thing, needed - left
    ways = [_cut_least(one, short) for one in takers]
    lost = f"the loss of any {thing if tolerance.count == 1 else f'{tolerance.count} {thing}s'}"
    return Finding(
        code="pool-crowded",
        severity="error" if any(one.behavior == "stable" for one in own) else "warning",
        place=tolerance.place,
        what=f'pool "{tolerance.pool}" is crowded: placements take {_say_devices(needed, crowd)} at minReplicas, and '
        f"{lost} may leave {left} of {crowd.there}: {', '.join(map(_say_least, takers))}",
        why="the pool promises that every minReplicas survives such a loss; counted are all that may not wait, and "
        "reservations",
        rule=RULE,
        fix=_say_ways(f"{count_of(short, 'device')} more that such a loss leaves", ways),
    )


def _say_devices(count: int, crowd: _Crowd) -> str:
    """`87 devices of class interactive-80g`; with the zone, if all must be in it."""
    names = list(dict.fromkeys(name for one in crowd.takers for name in one.class_names))
    zones = {one.zone for one in crowd.takers}
    zone = next(iter(zones)) if len(zones) == 1 else None
    within = "" if zone is None else f" in zone {zone}"
    return f"{count_of(count, 'device')} of class {' or '.join(names)}{within}"


def _say_peak(one: _Taker) -> str:
    parts = [f"{one.each * one.surge} of them surge"] if one.surge else []
    parts += [f"{one.each * one.spare} spare"] if one.spare else []
    said = f" ({', '.join(parts)})" if parts else ""
    return f"{one.name} {one.peak}{said}"


def _say_least(one: _Taker) -> str:
    return f"{one.name} {one.each * one.least}{f' ({one.each * one.spare} of them spare)' if one.spare else ''}"


def _cut_peak(one: _Taker, short: int) -> str:
    """The change of a placement alone that takes so many devices less at the peak; empty: there is none."""
    fewer = -(-short // one.each)
    if one.behavior == "reserved":
        return ""
    if fewer <= one.surge:
        return f"surge {one.surge - fewer} of {one.name}"
    field, lowest = ("minReplicas", 1) if one.most == one.least else ("maxReplicas", one.least)
    return f"{field} {one.most - fewer} of {one.name}" if one.most - fewer >= lowest else ""


def _cut_least(one: _Taker, short: int) -> str:
    """The same at the minimum."""
    fewer = one.least - -(-short // one.each)
    return f"minReplicas {fewer} of {one.name}" if fewer >= 1 and one.behavior != "reserved" else ""


def _say_ways(more: str, ways: Sequence[str]) -> str:
    """More devices, and each single change that makes the number enough."""
    return ", or ".join([more, *([one for one in ways if one] or ["fewer replicas"])])
