"""What can be proven without trying orders: by giving others more than they have, or a workload more than there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from poolwright.allocation.held import DeviceId
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp
from poolwright.plan.flow import UNBOUNDED, Flow
from poolwright.plan.kinds import Field, Kind
from poolwright.plan.market import SINK, SOURCE

Takers = tuple[tuple[int, int], ...]  # of a device: kinds and which of their asks


def bound_alone(field: Field, kind: Kind) -> int:
    """So many pods of a kind at most, with nobody else there."""
    shape = kind.shape
    if not field.is_local(kind) or not shape.is_exclusive or kind.shares:
        return kind.count
    most = 0
    for devices in shape.on_node.values():
        fits = [len(ask.accepted & devices) // ask.least for ask in shape.asks if ask.least]
        most += min([*fits, len(devices) // shape.least], default=0) if shape.least else kind.count
    return min(kind.count, most)


def is_hopeless(field: Field, kind: Kind) -> bool:
    """Whether no node can serve a pod of a kind although nobody else is there: a proof, as more held never helps."""
    if kind.shape.error:
        return True
    acceptance = field.context.acceptance
    pod = field.context.demand.workloads[kind.workload].pods[kind.pod]
    new = [claim for claim in pod.claims if claim.allocation is None]
    held = acceptance.build_held()
    outcomes = (acceptance.allocator.allocate(node, new, held) for node in acceptance.list_open(pod))
    # An error that a device leads to isn't met once another pod has that device.
    return not any(
        isinstance(one, Allocated | GaveUp) or (isinstance(one, AttemptError) and one.device is not None)
        for one in outcomes
    )


def prove_always(field: Field, at: int) -> tuple[int, int, int]:
    """So many pods of a kind fit whatever others do, and what that rests on.

    Others are cut into single devices without anything that ties them. To keep a pod off a node they must take so
    many of its devices there; if all of them, and so many siblings, can't do that on every node, the next one fits.
    Returns: the pods; the devices that must be taken; how many of those others can take.
    """
    kind = field.kinds[at]
    if kind.shape.needs_nothing:
        return kind.count, 0, 0
    whole = kind.shape.is_single or (field.is_local(kind) and kind.shape.is_exclusive)
    if not whole or kind.shares or not kind.size:
        return 0, 0, 0
    blocking = count_blocking(field, at)
    if None in blocking.values():
        return kind.count, 0, 0
    needed = {node: count for node, count in blocking.items() if count}
    others = match_blocking(field, at, needed)
    total = sum(needed.values())
    return min(kind.count, max(0, -(-(total - others) // kind.size))), total, others


def count_blocking(field: Field, at: int) -> dict[str, int | None]:
    """By node, how many of the devices of a kind must be taken at least so that none of its pods fits there.

    None: no number that others and siblings can take together does it.
    """
    kind = field.kinds[at]
    devices = _list_by_home(field, kind)
    if kind.shape.is_single:
        return {node: _round(field, at, node, own, len(own)) for node, own in devices.items()}
    if kind.shape.is_counted:
        size = kind.size
        return {
            node: _round(field, at, node, own, len(own) - size + 1) for node, own in devices.items() if len(own) >= size
        }
    return {node: _count_disjoint(field, kind, node) for node in devices}


def _list_by_home(field: Field, kind: Kind) -> dict[str, frozenset[DeviceId]]:
    found: dict[str, set[DeviceId]] = {}
    for device in sorted(kind.shape.accepted):
        found.setdefault(field.home(device), set()).add(device)
    return {node: frozenset(found[node]) for node in sorted(found)}


def _round(field: Field, at: int, node: str, own: frozenset[DeviceId], least: int) -> int | None:
    """The smallest sum of whole pods that is at least so many devices of a node; None: there is none."""
    sizes: set[int] = {field.kinds[at].size}
    for kind in field.kinds:
        there = kind.shape.accepted & own
        if not there:
            continue
        is_whole = (
            field.is_local(kind) and kind.shape.on_node.get(node, frozenset()) <= own and len(kind.shape.asks) == 1
        )
        if not is_whole or kind.shape.least != kind.shape.most or kind.is_barred or kind.shares:
            return least
        sizes.add(kind.size)
    sums = {0}
    for total in range(1, len(own) + 1):
        if any(total - size in sums for size in sizes):
            sums.add(total)
    return min((total for total in sums if total >= least), default=None)


def _count_disjoint(field: Field, kind: Kind, node: str) -> int:
    """So many pods of a kind go on a node side by side: others need a device of each to keep one away."""
    acceptance = field.context.acceptance
    pod = field.context.demand.workloads[kind.workload].pods[kind.pod]
    new = [claim for claim in pod.claims if claim.allocation is None]
    there = next(one for one in acceptance.nodes if one.name == node)
    held, count = acceptance.build_held(), 0
    while True:
        outcome = acceptance.allocator.allocate(there, new, held)
        if not isinstance(outcome, Allocated) or not any(one.devices for one in outcome.allocations):
            return count
        for allocation in outcome.allocations:
            held.add(allocation)
        count += 1


def match_blocking(field: Field, at: int, needed: Mapping[str, int]) -> int:
    """How many of the devices that must be taken all other pods can take, no more than needed on any node.

    Nodes whose devices the same asks take, and as many of each, are as good as one of so many times the size.
    """
    takers = _list_takers(field, at)
    profiles: dict[tuple[tuple[tuple[Takers, int], ...], int], int] = {}
    for node, own in _list_by_home(field, field.kinds[at]).items():
        if node in needed:
            classes = Counter(takers.get(device, ()) for device in own)
            key = (tuple(sorted(classes.items())), needed[node])
            profiles[key] = profiles.get(key, 0) + 1
    asks = sorted({one for known in takers.values() for one in known})
    number = {one: 2 + index for index, one in enumerate(asks)}
    size = 2 + len(asks) + len(profiles) + sum(len(profile) for profile, _ in profiles)
    flow, free = Flow(size), 2 + len(asks)
    for one in asks:
        kind = field.kinds[one[0]]
        flow.add_edge(SOURCE, number[one], kind.count * kind.shape.asks[one[1]].most)
    for (profile, need), times in profiles.items():
        flow.add_edge(free, SINK, need * times)
        for index, (known, count) in enumerate(profile):
            flow.add_edge(free + 1 + index, free, count * times)
            for one in known:
                flow.add_edge(number[one], free + 1 + index, UNBOUNDED)
        free += 1 + len(profile)
    return flow.augment(SOURCE, SINK)


def _list_takers(field: Field, without: int) -> dict[DeviceId, Takers]:
    takers: dict[DeviceId, list[tuple[int, int]]] = {}
    for at, kind in enumerate(field.kinds):
        if at != without:
            for number, ask in enumerate(kind.shape.asks):
                for device in ask.accepted:
                    takers.setdefault(device, []).append((at, number))
    return {device: tuple(found) for device, found in takers.items()}


def bound_shortfall(field: Field, at_best: Sequence[int]) -> int:
    """So many replicas stay without at least: of devices one by one there aren't enough.

    at_best: by member, the most replicas that are known to be possible alone.
    """
    replicas = [field.context.demand.workloads[at].replicas for at in field.members]
    alone = sum(wanted - best for wanted, best in zip(replicas, at_best, strict=True))
    takers = _list_takers(field, -1)
    classes = Counter(takers.values())
    asks = sorted({one for known in classes for one in known})
    number = {one: 2 + index for index, one in enumerate(asks)}
    flow, demanded = Flow(2 + len(asks) + len(classes)), 0
    for one in asks:
        kind = field.kinds[one[0]]
        is_free = kind.shares or not kind.shape.is_exclusive
        wanted = 0 if is_free else kind.count * kind.shape.asks[one[1]].least
        demanded += wanted
        flow.add_edge(SOURCE, number[one], wanted)
    for index, (known, devices) in enumerate(sorted(classes.items())):
        flow.add_edge(2 + len(asks) + index, SINK, devices)
        for one in known:
            flow.add_edge(number[one], 2 + len(asks) + index, UNBOUNDED)
    missing = demanded - flow.augment(SOURCE, SINK)
    sizes: Counter[int] = Counter()
    for kind in field.kinds:
        sizes[kind.workload] += kind.shape.least
    largest = sorted((sizes[at] for at, wanted in zip(field.members, replicas, strict=True) for _ in range(wanted)))
    left_out = 0
    while missing > 0 and largest:
        missing -= largest.pop()
        left_out += 1
    return max(alone, left_out)
