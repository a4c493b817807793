"""Which pods may be on a node at once, as far as devices tie them: what bounds are worked out from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from poolwright.allocation.held import DeviceId
from poolwright.allocation.pools import Pool
from poolwright.allocation.subject import claim_key
from poolwright.catalog.inventory import Node
from poolwright.plan.demand import Workload
from poolwright.plan.methods.acceptance import Shape, list_uncertain
from poolwright.plan.methods.context import Context
from poolwright.plan.methods.most import Limit, Mix
from poolwright.plan.supply import Amounts, count_requests

MANY_SETS: Final = 5  # sets of devices of a node, all unions of which are looked at
_Taken = tuple[int, frozenset[DeviceId]]  # a pod takes so many of these devices at least


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """Pods of one place in a workload's replicas, wherever they may go."""

    title: str
    requests: Amounts
    count: int
    per_node: int  # on one node at most
    nodes: Set[str]
    workload: int | None = None  # index in the demand; None: it claims nothing
    pod: int = 0
    shape: Shape | None = None  # None: devices don't tie it


def list_guests(context: Context) -> tuple[Guest, ...]:
    """All pods of a demand, and those beside it."""
    demand = context.demand
    claiming = [
        _build_guest(context, workload, at, number)
        for at, workload in enumerate(demand.workloads)
        for number in range(len(workload.pods))
    ]
    others = [
        Guest(
            title=one.title,
            requests=count_requests(one.pod),
            count=len(demand.nodes) if one.count is None else one.count,
            per_node=1 if one.count is None else one.count,
            nodes={node.name for node in context.acceptance.list_open(one.pod)}
            | {node.name for node in list_uncertain(one.pod, demand.nodes)},
        )
        for one in demand.bystanders
    ]
    return tuple(one for one in (*claiming, *others) if one.count)


def _build_guest(context: Context, workload: Workload, at: int, number: int) -> Guest:
    pod, shape = workload.pods[number], context.shapes[at][number]
    served = () if shape.error else list_uncertain(pod, context.demand.nodes)
    uncertain = {node.name for node in served}
    shares = any(claim_key(claim) in workload.shared for claim in pod.claims)
    return Guest(
        title=workload.title,
        requests=count_requests(pod),
        count=workload.replicas,
        per_node=workload.replicas,
        nodes=shape.on_node.keys() | uncertain if uncertain else shape.on_node.keys(),
        workload=at,
        pod=number,
        # On a node of which it isn't known what serves it there, and with a claim that others use, only numbers count.
        shape=None if shares or shape.needs_nothing or uncertain else shape,
    )


def build_mix(context: Context, guests: Sequence[Guest], node: Node) -> Mix:
    """The guests that may be on a node, by their order, and what limits them together there.

    Cost: the devices of the node, for each guest.
    """
    taken = [list(_list_taken(context, guest, node.name)) for guest in guests]
    caps = tuple(
        min([guest.count, guest.per_node, *(len(devices) // least for least, devices in asked)])
        if node.name in guest.nodes
        else 0
        for guest, asked in zip(guests, taken, strict=True)
    )
    limits = [_limit_devices(taken, devices) for devices in _list_unions(taken)]
    limits += _limit_counters(context, taken, node)
    binding = [one for one in limits if sum(map(int.__mul__, one.weights, caps)) > one.total]
    return Mix(caps, tuple(dict.fromkeys(binding)))


def _list_taken(context: Context, guest: Guest, node: str) -> Iterator[_Taken]:
    """What one pod takes for itself of a node's devices, by ask."""
    if guest.shape is None or node not in guest.nodes:
        return
    there = guest.shape.on_node.get(node, frozenset())
    for ask in guest.shape.asks:
        devices = there if len(guest.shape.asks) == 1 else ask.accepted & there
        if ask.least and not any(
            context.acceptance.is_shareable(context.acceptance.candidates[device].device) for device in devices
        ):
            yield ask.least, devices


def _list_unions(taken: Iterable[Iterable[_Taken]]) -> list[frozenset[DeviceId]]:
    """Sets of devices that bound those who take of nothing else."""
    sets = sorted({devices for asked in taken for _, devices in asked}, key=sorted)
    sizes = range(1, len(sets) + 1) if len(sets) <= MANY_SETS else (1, 2, len(sets))
    unions = (frozenset[DeviceId]().union(*chosen) for size in sizes for chosen in combinations(sets, size))
    return list(dict.fromkeys(unions))


def _limit_devices(taken: Iterable[Iterable[_Taken]], there: frozenset[DeviceId]) -> Limit:
    weights = tuple(sum(least for least, devices in asked if devices <= there) for asked in taken)
    return Limit(weights, len(there))


def _limit_counters(context: Context, taken: Sequence[Sequence[_Taken]], node: Node) -> Iterator[Limit]:
    """By pool and name of a counter, all of its sets together."""
    if not context.demand.features.partitionable_devices:
        return
    acceptance = context.acceptance
    held = acceptance.build_held()
    for pool in acceptance.allocator.pools(node).pools:
        left = acceptance.allocator.knowledge.available(pool, held).left
        for name in sorted({counter for _, counter in left}):
            total = sum(max(0, amount) for (_, counter), amount in left.items() if counter == name)
            weights = tuple(
                sum(
                    least * min((_charge(context, pool, one, name) for one in devices), default=0)
                    for least, devices in asked
                )
                for asked in taken
            )
            yield Limit(weights, total)


def _charge(context: Context, pool: Pool, device: DeviceId, counter: str) -> int:
    """What a device takes of a pool's counters of one name."""
    if device[:2] != pool.id:
        return 0
    return sum(amount for (_, name), amount in context.acceptance.candidates[device].charges if name == counter)
