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
    classes refuses, which takes none before it is mended, nor those for whom there is no device at all, who stand in
    nobody's way. Devices that several pods share have room for any number.
    Cost: quadratic in the sets of devices that placements may be given.
    """
    kinds, market, refused = cluster.kinds, cluster.market, list_refused(cluster.prices)
    everybody = cluster.takers
    takers = [one for one in everybody if one.devices and one.behavior != "queueable" and one.name not in refused]
    crowded: list[frozenset[int]] = []
    for devices in _list_sets(takers):
        if any(market.devices[at].allow_multiple_allocations for at in devices):
            continue
        members = tuple(one for one in takers if one.devices <= devices)
        crowd = _Crowd(takers=members, devices=devices, there=count_devices(devices, kinds, market))
        if any(known <= devices for known in crowded):
            continue  # those few are already too many
        if sum(one.peak for one in members) > crowd.there:
            crowded.append(devices)
            yield _refuse_peak(crowd)
        yield from _check_losses(crowd, tolerances, kinds, market)


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
        fix=_say_ways(f"{count_of(short, 'device')} more that such a loss leaves", ways),
    )


def _say_devices(count: int, crowd: _Crowd) -> str:
    """`87 devices of class interactive-80g`; with the zone, if all must be in it."""
    names = list(dict.fromkeys(name for one in crowd.takers for name in one.class_names))
    zones = {one.zone for one in crowd.takers}
    zone = next(iter(zones)) if len(zones) == 1 else None
    within = "" if zone is None else f" in zone {zone}"
    return f"{count_of(count, 'device')} of class {' or '.join(names)}{within}"


def _say_peak(one: Taker) -> str:
    parts = [f"{one.each * one.surge} of them surge"] if one.surge else []
    parts += [f"{one.each * one.spare} spare"] if one.spare else []
    said = f" ({', '.join(parts)})" if parts else ""
    return f"{one.name} {one.peak}{said}"


def _say_least(one: Taker) -> str:
    return f"{one.name} {one.each * one.least}{f' ({one.each * one.spare} of them spare)' if one.spare else ''}"


def _cut_peak(one: Taker, short: int) -> str:
    """The change of a placement alone that takes so many devices less at the peak; empty: there is none."""
    fewer = -(-short // one.each)
    if one.behavior == "reserved":
        return ""
    if fewer <= one.surge:
        return f"surge {one.surge - fewer} of {one.name}"
    field, lowest = ("minReplicas", 1) if one.most == one.least else ("maxReplicas", one.least)
    return f"{field} {one.most - fewer} of {one.name}" if one.most - fewer >= lowest else ""


def _cut_least(one: Taker, short: int) -> str:
    """The same at the minimum."""
    fewer = one.least - -(-short // one.each)
    return f"minReplicas {fewer} of {one.name}" if fewer >= 1 and one.behavior != "reserved" else ""


def _say_ways(more: str, ways: Sequence[str]) -> str:
    """More devices, and each single change that makes the number enough."""
    return ", or ".join([more, *([one for one in ways if one] or ["fewer replicas"])])
