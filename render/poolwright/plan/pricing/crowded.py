"""Whether the devices of a cluster are as many as its placements take together; if not, who takes how many.

A count and no packing: what it refuses is certain, and what it lets through may still not fit, which `poolwright plan`
proves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from poolwright.plan.cluster import DeviceKinds
from poolwright.plan.pricing.cluster import PricedCluster
from poolwright.plan.pricing.market import Market
from poolwright.plan.pricing.priced import list_refused
from poolwright.plan.pricing.takers import Taker, count_devices
from poolwright.plan.promises.promised import RULE, Tolerance
from poolwright.plan.report.words import count_of, verb_of
from poolwright.specs.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class _Crowd:
    """Takers who find the devices that they need among these and no others."""

    takers: tuple[Taker, ...]
    devices: frozenset[int]
    there: int


def check_crowding(cluster: PricedCluster, tolerances: Sequence[Tolerance]) -> Iterator[Finding]:
    """Devices that placements need at their peak, or at their minimum after a loss that a pool tolerates, beyond those
    there are.

    tolerances: of the cluster's pools.
    Counted are placements that may not wait, surge and spare replicas included, and reservations; not what each of its
    classes refuses, which takes none before it is mended. Devices that several pods share have room for any number.
    Cost: quadratic in the sets of devices that placements may be given.
    """
    kinds, market, refused = cluster.kinds, cluster.market, list_refused(cluster.prices)
    counted = [one for one in cluster.takers if one.behavior != "queueable" and one.name not in refused]
    if market.devices:  # else nobody said what there is
        zones = {None, *kinds.zones.values()}  # of another one it is said already that no node is known there
        yield from (_refuse_nothing(one) for one in counted if not one.devices and one.placement and one.zone in zones)
    takers = [one for one in counted if one.devices]
    known: list[tuple[frozenset[int], int]] = []  # sets that are too few, and by how much
    for devices in _list_sets(takers):
        if any(market.devices[at].allow_multiple_allocations for at in devices):
            continue
        members = tuple(one for one in takers if one.devices <= devices)
        crowd = _Crowd(takers=members, devices=devices, there=count_devices(devices, kinds, market))
        within = sum(short for smaller, short in known if smaller <= devices)
        short = sum(one.peak for one in members) - crowd.there
        if short > within:  # what is short within some of them isn't said again
            known.append((devices, short - within))
            yield _refuse_peak(crowd)
        if not within:
            yield from _check_losses(crowd, tolerances, kinds, market)


def _refuse_nothing(one: Taker) -> Finding:
    where = "" if one.zone is None else f" in zone {one.zone}"
    place = one.pool.place("spec") if one.placement is None else one.placement.place("spec", "deviceClassNames")
    return Finding(
        code="pool-crowded",
        severity="error",
        place=place,
        what=f'placement "{one.name}" takes {count_of(one.peak, "device")} of class {" or ".join(one.class_names)}'
        f"{where} at its peak, and none is there",
        why="of all devices of the cluster, captured and planned, the class lets none through",
        rule=RULE,
        fix="name another class, capture the cluster again, or plan nodes that have such devices",
    )


def _list_sets(takers: Sequence[Taker]) -> list[frozenset[int]]:
    """Devices of each taker, and of all together whose devices overlap: small ones first, each once."""
    own = list(dict.fromkeys(one.devices for one in takers))
    joined: list[frozenset[int]] = []
    for devices in own:
        apart = [one for one in joined if not one & devices]
        joined = [*apart, devices.union(*(one for one in joined if one & devices))]
    return sorted(dict.fromkeys([*own, *joined]), key=len)


def _refuse_peak(crowd: _Crowd) -> Finding:
    total = sum(one.peak for one in crowd.takers)
    takers = sorted(crowd.takers, key=lambda one: (-one.peak, one.name))
    pool, short = takers[0].pool, total - crowd.there
    ways = [_cut_peak(one, short) for one in takers]
    return Finding(
        code="pool-crowded",
        severity="error" if any(one.behavior == "stable" for one in takers) else "warning",
        place=pool.place("spec", "deviceClasses"),
        what=f'pool "{pool.value.identity}" is crowded: placements take {_say_devices(total, crowd)} at their peak, '
        f"and {crowd.there} {verb_of(crowd.there, 'are')} there: {', '.join(map(_say_peak, takers))}",
        why="counted are maxReplicas and surge of all that may not wait, and reservations; if the number is enough, "
        "poolwright plan proves whether they fit on the nodes",
        rule=RULE,
        fix=_say_ways(f"{count_of(short, 'device')} more{_say_zone(crowd)}", ways, takers[0].name),
    )


def _check_losses(
    crowd: _Crowd, tolerances: Sequence[Tolerance], kinds: DeviceKinds, market: Market
) -> Iterator[Finding]:
    """What is short once a pool of one of the takers lost what it tolerates; not what is short already."""
    needed = sum(one.each * one.least for one in crowd.takers)
    for tolerance in tolerances:
        own = [one for one in crowd.takers if one.pool.value.identity == tolerance.pool and one.placement is not None]
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


def _refuse_loss(crowd: _Crowd, tolerance: Tolerance, own: Sequence[Taker], needed: int, left: int) -> Finding:
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
        fix=_say_ways(f"{count_of(short, 'device')} more that such a loss leaves", ways, takers[0].name),
    )


def _say_devices(count: int, crowd: _Crowd) -> str:
    """`87 devices of class interactive-80g`; with the zone, if all must be in it."""
    names = list(dict.fromkeys(name for one in crowd.takers for name in one.class_names))
    return f"{count_of(count, 'device')} of class {' or '.join(names)}{_say_zone(crowd)}"


def _say_zone(crowd: _Crowd) -> str:
    zones = {one.zone for one in crowd.takers}
    zone = next(iter(zones)) if len(zones) == 1 else None
    return "" if zone is None else f" in zone {zone}"


def _say_peak(one: Taker) -> str:
    parts = [f"{one.each * one.surge} of them surge"] if one.surge else []
    parts += [f"{one.each * one.spare} spare"] if one.spare else []
    said = f" ({', '.join(parts)})" if parts else ""
    return f"{one.name} {one.peak}{said}"


def _say_least(one: Taker) -> str:
    return f"{one.name} {one.each * one.least}{f' ({one.each * one.spare} of them spare)' if one.spare else ''}"


def _cut_peak(one: Taker, short: int) -> str:
    """The change of one taker alone that takes so many devices less at the peak; empty: there is none."""
    fewer = -(-short // one.each)
    if one.placement is None:
        return f"{one.most - fewer} {one.name}" if one.most > fewer else ""
    if fewer <= one.surge:
        return f"surge {one.surge - fewer} of {one.name}"
    left, is_written = one.most - fewer, one.placement.value.spec.max_replicas is not None
    if left < (one.least if is_written and one.most > one.least else 1):
        return ""
    field = "maxReplicas" if one.most > one.least else "minReplicas and maxReplicas" if is_written else "minReplicas"
    return f"{field} {left} of {one.name}"


def _cut_least(one: Taker, short: int) -> str:
    """The same at the minimum."""
    left = one.least - -(-short // one.each)
    if left < 1:
        return ""
    return f"{left} {one.name}" if one.placement is None else f"minReplicas {left} of {one.name}"


def _say_ways(more: str, ways: Sequence[str], largest: str) -> str:
    """More devices, and each single change that makes the number enough; if none does, where most are taken."""
    enough = [one for one in ways if one]
    return ", or ".join([more, *(enough or [f"several changes: most are taken by {largest}"])])
