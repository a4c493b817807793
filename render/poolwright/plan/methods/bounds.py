"""What can be proven without trying orders: by giving others more than they have, or a workload more than there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from poolwright.allocation.held import DeviceId
from poolwright.allocation.outcome import Allocated
from poolwright.allocation.placing import MAX_USERS
from poolwright.plan.methods.contests import Takers, count_devices, list_takers
from poolwright.plan.methods.context import Step
from poolwright.plan.methods.flow import UNBOUNDED, Flow
from poolwright.plan.methods.kinds import Field, Kind
from poolwright.plan.methods.market import SINK, SOURCE


def bound_alone(field: Field, kind: Kind) -> int:
    """So many pods of a kind at most, with nobody else there."""
    shape = kind.shape
    if kind.shares:
        return min(kind.count, MAX_USERS)
    if not kind.is_local or not shape.least or kind.takes_shares:
        return kind.count
    return min(kind.count, _count_alone(field, kind))


def _count_alone(field: Field, kind: Kind) -> int:
    """So many pods of a kind go on all nodes at most, however many there are."""
    shape, most = kind.shape, 0
    for node, devices in shape.on_node.items():
        fits = [count_units(field, node, ask.accepted & devices) // ask.least for ask in shape.asks if ask.least]
        most += min([*fits, count_units(field, node, devices) // shape.least])
    return most


def bound_together(field: Field, kinds: Sequence[Kind]) -> int:
    """So many replicas of a group at most, with nobody else there: each takes devices for all its pods.

    kinds: of one workload, one for each pod of a replica.
    """
    most = min((kind.count for kind in kinds), default=0)
    for key, pods in Counter(kind.shape.key for kind in kinds).items():
        kind = next(one for one in kinds if one.shape.key == key)
        if not kind.shares and kind.is_local and kind.shape.least and not kind.takes_shares:
            most = min(most, _count_alone(field, kind) // pods)
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        own = Field(field.context, field.members, tuple(replace(kind, count=middle) for kind in kinds))
        if count_devices(own).missing:
            high = middle - 1
        else:
            low = middle
    return low


def count_units(field: Field, node: str, devices: Set[DeviceId]) -> int:
    """How many of these devices of a node can be taken at once at most, by what the pools' counters have left."""
    acceptance = field.context.acceptance
    charged = [device for device in devices if acceptance.candidates[device].charges]
    units = len(devices) - len(charged)
    if not charged:
        return units
    there, held = acceptance.named[node], acceptance.build_held()
    for pool in acceptance.allocator.pools(there).pools:
        own = [acceptance.candidates[device].charges for device in charged if device[:2] == pool.id]
        left = acceptance.allocator.knowledge.available(pool, held).left
        most = len(own)
        for name, amount in left.items():
            least = min((dict(charges).get(name, 0) for charges in own), default=0)
            if least > 0:
                most = min(most, max(0, amount) // least)
        units += most
    return units


def prove_always(field: Field, at: int) -> tuple[int, int, int]:
    """So many pods of a kind fit whatever others do, and what that rests on.

    Others are cut into single devices without anything that ties them. To keep a pod off a node they must take so
    many of its devices there; if all of them, and so many siblings, can't do that on every node, the next one fits.
    Returns: the pods; the devices that must be taken; how many of those others can take.
    """
    kind = field.kinds[at]
    if kind.shape.needs_nothing:
        return kind.count, 0, 0
    whole = kind.shape.is_single or (kind.is_local and (kind.shape.is_exclusive or is_partition(field, kind)))
    if not whole or kind.shares or not kind.size:
        return 0, 0, 0
    blocking = count_blocking(field, at)
    if None in blocking.values():
        return kind.count, 0, 0
    needed = {node: count for node, count in blocking.items() if count}
    others = match_blocking(field, at, needed)
    total, size = sum(needed.values()), _cap_at_once(kind, kind.size, needed)
    return min(kind.count, max(0, -(-(total - others) // size))), total, others


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
    if not kind.shape.is_exclusive:
        return {node: _count_partitions(field, kind, node) for node in devices}
    return {node: _count_disjoint(field, kind, node) for node in devices}


def _list_by_home(field: Field, kind: Kind) -> dict[str, frozenset[DeviceId]]:
    """By node the devices that stand against a kind: its own, and with counters all that draw on the same."""
    devices = kind.shape.accepted
    if not kind.shape.is_exclusive:
        pools = {device[:2] for device in devices}
        everyone = frozenset[DeviceId]().union(*(one.shape.accepted for one in field.kinds))
        devices = frozenset(device for device in everyone if device[:2] in pools)
    found: dict[str, set[DeviceId]] = {}
    for device in sorted(devices):
        found.setdefault(field.home(device), set()).add(device)
    return {node: frozenset(found[node]) for node in sorted(found)}


def is_partition(field: Field, kind: Kind) -> bool:
    """Whether a kind's pods take one device each that draws on counters of one node, and on nothing else."""
    shape, features = kind.shape, field.context.demand.features
    takes_one = len(shape.asks) == 1 and shape.least == shape.most == 1 and not shape.watched
    if not takes_one or kind.takes_shares or features.compatibility_groups or features.key == 34:
        return False
    acceptance = field.context.acceptance
    pools = {device[:2] for device in shape.accepted}
    return not any(
        pool.elsewhere
        for node in acceptance.nodes
        for pool in acceptance.allocator.pools(node).pools
        if pool.id in pools
    )


def _count_partitions(field: Field, kind: Kind, node: str) -> int:
    """So many devices of a node's pools must be taken at least to keep a partition away.

    As long as fewer are taken than it accepts, one is free; and what so few draw leaves enough on every counter.
    """
    acceptance, total = field.context.acceptance, 0
    there, held = acceptance.named[node], acceptance.build_held()
    territory = _list_by_home(field, kind)[node]
    for pool in acceptance.allocator.pools(there).pools:
        own = [device for device in kind.shape.on_node.get(node, ()) if device[:2] == pool.id]
        needs = [dict(acceptance.candidates[device].charges) for device in own]
        draws = [dict(acceptance.candidates[device].charges) for device in territory if device[:2] == pool.id]
        least = len(own)
        for counter, left in acceptance.allocator.knowledge.available(pool, held).left.items():
            need = max((one.get(counter, 0) for one in needs), default=0)
            draw = max((one.get(counter, 0) for one in draws), default=0)
            if draw > 0:
                least = min(least, max(0, (left - need) // draw + 1))
        total += least
    return total


def _round(field: Field, at: int, node: str, own: frozenset[DeviceId], least: int) -> int | None:
    """The smallest sum of whole pods that is at least so many devices of a node; None: there is none."""
    sizes: set[int] = {field.kinds[at].size}
    for kind in field.kinds:
        there = kind.shape.accepted & own
        if not there:
            continue
        is_whole = kind.is_local and kind.shape.on_node.get(node, frozenset()) <= own and len(kind.shape.asks) == 1
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
    there = acceptance.named[node]
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
    takers = list_takers(field, at)
    profiles: Counter[_Profile] = Counter()
    for node, own in _list_by_home(field, field.kinds[at]).items():
        if node in needed:
            classes = tuple(sorted(Counter(takers.get(device, ()) for device in own).items()))
            there = sorted({one for known, _ in classes for one in known})
            caps = tuple((one, _cap_on_node(field.kinds[one[0]], one[1], node)) for one in there)
            profiles[classes, caps, needed[node]] += 1
    asks = sorted({one for known in takers.values() for one in known})
    number = {one: 2 + index for index, one in enumerate(asks)}
    free = 2 + len(asks)
    flow = Flow(free + sum(1 + len(classes) + len(caps) for classes, caps, _ in profiles))
    for one in asks:
        kind = field.kinds[one[0]]
        most = kind.shape.asks[one[1]].most
        flow.add_edge(SOURCE, number[one], kind.count * _cap_at_once(kind, most, needed))
    for (classes, caps, need), times in profiles.items():
        flow.add_edge(free, SINK, need * times)
        on_node = {one: free + 1 + len(classes) + index for index, (one, _) in enumerate(caps)}
        for one, cap in caps:
            flow.add_edge(number[one], on_node[one], cap * times)
        for index, (known, count) in enumerate(classes):
            flow.add_edge(free + 1 + index, free, count * times)
            for one in known:
                flow.add_edge(on_node[one], free + 1 + index, UNBOUNDED)
        free += 1 + len(classes) + len(caps)
    return flow.augment(SOURCE, SINK)


def plan_blocking(field: Field, at: int) -> list[Step]:
    """Pods of one device each, by name of the device, that keep a kind off every node: see `prove_always`."""
    needed = {node: count for node, count in count_blocking(field, at).items() if count}
    own = _list_by_home(field, field.kinds[at])
    devices = [(device, node) for node in needed for device in sorted(own[node])]
    others = [number for number in range(len(field.kinds)) if number != at]
    flow = Flow(2 + len(others) + len(devices) + len(needed))
    first, top = 2 + len(others), {node: 2 + len(others) + len(devices) + at for at, node in enumerate(needed)}
    edges: list[tuple[int, Step]] = []
    for index, number in enumerate(others):
        kind = field.kinds[number]
        flow.add_edge(SOURCE, 2 + index, kind.count)
        for place, (device, node) in enumerate(devices):
            if device in kind.shape.accepted:
                step = Step(kind.workload, kind.pod, node, (device,))
                edges.append((flow.add_edge(2 + index, first + place, 1), step))
    for place, (_, node) in enumerate(devices):
        flow.add_edge(first + place, top[node], 1)
    for node, count in needed.items():
        flow.add_edge(top[node], SINK, count)
    flow.augment(SOURCE, SINK)
    return [step for edge, step in edges if flow.flow_on(edge)]


# Devices by who takes them, how many of the node's each ask can take at once, and how many must be taken.
_Profile = tuple[tuple[tuple[Takers, int], ...], tuple[tuple[tuple[int, int], int], ...], int]


def _cap_at_once(kind: Kind, most: int, needed: Mapping[str, int]) -> int:
    """How much one pod of a kind can add to what is needed: it is on one node, where no more counts than that needs.

    most: devices that it takes at most.
    """
    return min(most, max(needed.values(), default=most)) if kind.is_local else most


def _cap_on_node(kind: Kind, ask: int, node: str) -> int:
    """How many devices of a node pods of a kind take at most: whole pods, if it is certain how many each takes.

    Where devices are several nodes' or several pods', pods take others beside those of the node.
    """
    one, devices = kind.shape.asks[ask], kind.shape.on_node.get(node, frozenset())
    if len(kind.shape.asks) > 1 or one.least != one.most or not devices:
        return UNBOUNDED
    if not kind.is_local or kind.takes_shares:
        return UNBOUNDED
    return len(devices) // one.most * one.most


def bound_shortfall(field: Field, at_best: Sequence[int]) -> int:
    """So many replicas stay without at least: of devices one by one there aren't enough.

    at_best: by member, the most replicas that are known to be possible alone.
    """
    replicas = [field.context.demand.workloads[at].replicas for at in field.members]
    alone = sum(wanted - best for wanted, best in zip(replicas, at_best, strict=True))
    missing = count_devices(field).missing
    sizes: Counter[int] = Counter()
    for kind in field.kinds:
        sizes[kind.workload] += kind.shape.least
    largest = sorted((sizes[at] for at, wanted in zip(field.members, replicas, strict=True) for _ in range(wanted)))
    left_out = 0
    while missing > 0 and largest:
        missing -= largest.pop()
        left_out += 1
    return max(alone, left_out)
