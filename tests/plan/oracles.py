"""What is true of a small world, by trying everything.

(A) all packings, from the world alone; (B) the real allocator, every order with every choice of nodes, for one order
in which devices are published or for several. Both walk the same states, in which replicas that are alike aren't told
apart; whatever the allocator does must be one of the packings' moves, and where it does nothing there must be none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from math import factorial, prod

from board import FREE, NOWHERE, Board, State, Takes, add_one

from plan_world import Group, Want, World, demand_of, slices_of
from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import Allocation
from poolwright.allocation.held import Held
from poolwright.allocation.outcome import Allocated
from poolwright.allocation.placing import find_bar, is_usable
from poolwright.allocation.subject import ClaimKey, claim_key
from poolwright.plan.demand import Demand, build_replica

MAX_ORDERS = 24
Packing = tuple[tuple[tuple[int, int, Takes], ...], tuple[tuple[int, Takes], ...]]  # pods; shared claims


@dataclass(frozen=True)
class Truth:
    """By workload: the fewest and most replicas that are complete."""

    always: tuple[int, ...]
    at_best: tuple[int, ...]
    most: int  # replicas of any packing


def list_placements(world: World, at: int) -> list[frozenset[int]]:
    """The sets of devices that a workload's one pod may get."""
    board = Board(world)
    kind = next(number for number, (workload, _, _) in enumerate(board.kinds) if workload == at)
    found = {
        frozenset(device for device, _ in spot.takes)
        for spot in board.list_spots(kind, board.start[2])
        if board.hold(board.start[1], spot) is not None
    }
    return sorted(found, key=sorted)


def fits(world: World, devices: frozenset[int], taken: frozenset[int]) -> bool:
    """Whether devices of one node are free, and what they take of its counter is; each serves one claim."""
    if devices & taken:
        return False
    node = next(set(own) for own in world.nodes if set(own) >= devices)
    total = sum(world.charges.get(device, 0) for device in (devices | taken) & node)
    # What takes nothing isn't in the way of an overdrawn counter either.
    return not world.counter or total <= world.counter


def try_packings(world: World, *, running: Iterable[tuple[int | None, Iterable[int]]] = ()) -> Truth:
    """Oracle A.

    running: the kind and the devices of pods that are there from the start, and stay; None: of no kind.
    """
    board = Board(world)
    counts, usage, homes = board.start
    for kind, devices in running:
        counts = counts if kind is None else add_one(counts, kind)
        usage = _sum_usage(board, [(device, 0) for device in devices], usage)
    board.start = counts, usage, homes
    return _walk(board, board.moves)


def _walk(board: Board, moves: Callable[[State, int], Iterable[State]]) -> Truth:
    """The truth of every state that the moves lead to."""
    wants = board.world.pods
    always, at_best, most = [want.replicas for want in wants], [0] * len(wants), 0
    seen, todo = {board.start}, [board.start]
    while todo:
        state = todo.pop()
        open_to = [False] * len(wants)  # more of their pods
        for kind, (at, _, _) in enumerate(board.kinds):
            if state[0][kind] < wants[at].replicas:
                for after in moves(state, kind):
                    open_to[at] = True
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
        placed = [
            [count for count, (own, _, _) in zip(state[0], board.kinds, strict=True) if own == at]
            for at in range(len(wants))
        ]
        most = max(most, sum(map(min, placed)))
        for at, want in enumerate(wants):
            at_best[at] = max(at_best[at], min(placed[at]))
            if not open_to[at]:
                always[at] = min(always[at], _count_complete(want, placed[at]))
    return Truth(tuple(always), tuple(at_best), most)


def _count_complete(want: Want | Group, placed: list[int]) -> int:
    """Replicas with all their pods, at worst: no two pods that are missing are of one replica."""
    return max(0, want.replicas - sum(want.replicas - count for count in placed))


def walk_packings(world: World, *, departures: bool) -> set[Packing]:
    """Every packing, told apart by which pod has what; with departures also those that pods leave behind."""
    board = Board(world)
    start: Packing = ((), ((NOWHERE, ()),) * len(world.claims))
    seen, todo = {start}, [start]
    while todo:
        packing = todo.pop()
        for after in (*_arrive(board, packing), *(_depart(board, packing) if departures else ())):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def _arrive(board: Board, packing: Packing) -> Iterator[Packing]:
    pods, claims = packing
    everyone = [takes for _, _, takes in pods] + [takes for _, takes in claims]
    usage = _sum_usage(board, [one for takes in everyone for one in takes], board.start[1])
    for kind, (at, _, _) in enumerate(board.kinds):
        if sum(one == kind for one, _, _ in pods) == board.world.pods[at].replicas:
            continue
        for spot in board.list_spots(kind, tuple(home for home, _ in claims)):
            if board.hold(usage, spot) is not None:
                new = {claim: (spot.node, takes) for claim, takes in spot.claims}
                yield (
                    tuple(sorted((*pods, (kind, spot.node, spot.own)))),
                    tuple(new.get(claim, known) for claim, known in enumerate(claims)),
                )


def _sum_usage(board: Board, takes: Iterable[tuple[int, int]], before: tuple[int, ...]) -> tuple[int, ...]:
    usage = list(before)
    for device, amount in takes:
        usage[board.index[device]] = max(0, usage[board.index[device]]) + amount
    return tuple(usage)


def _depart(board: Board, packing: Packing) -> Iterator[Packing]:
    """A claim whose last user leaves gives its devices back."""
    pods, claims = packing
    for at in range(len(pods)):
        left = pods[:at] + pods[at + 1 :]
        used = {use for kind, _, _ in left for use in board.kinds[kind][2].uses}
        yield left, tuple(known if claim in used else (NOWHERE, ()) for claim, known in enumerate(claims))


def try_allocator(world: World, *, reorders: bool, max_orders: int = MAX_ORDERS) -> Truth:
    """Oracle B, for the order of devices as it is, or for several of them."""
    board = Board(world)
    desks: dict[tuple[int, tuple[int, ...]], Desk] = {}
    truths = []
    for nodes in list_orders(world, max_orders) if reorders else [world.nodes]:
        for at, order in enumerate(nodes):
            if (at, order) not in desks:
                desks[at, order] = Desk(board, at, order)
        chosen = [desks[at, order] for at, order in enumerate(nodes)]
        truths.append(_walk(board, lambda state, kind, chosen=chosen: _ask(chosen, state, kind)))  # type: ignore[misc]
    return Truth(
        tuple(min(numbers) for numbers in zip(*(one.always for one in truths), strict=True)),
        tuple(max(numbers) for numbers in zip(*(one.at_best for one in truths), strict=True)),
        max(one.most for one in truths),
    )


def count_orders(world: World) -> int:
    """In how many orders its devices may be published."""
    return prod(factorial(len(devices)) for devices in world.nodes)


def list_orders(world: World, most: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """So many orders of its devices, the published one first and the others at equal distances."""
    step = -(-count_orders(world) // most)
    return islice(product(*(permutations(devices) for devices in world.nodes)), 0, None, step)


def _ask(desks: list[Desk], state: State, kind: int) -> Iterator[State]:
    for desk in desks:
        after = desk.place(state, kind)
        if after is not None:
            yield after


class Desk:
    """The real allocator at one node, its devices in one order; what it said once isn't asked again.

    No device of these worlds is for several nodes, so what other nodes hold makes no difference.
    """

    def __init__(self, board: Board, at: int, order: tuple[int, ...]) -> None:
        self.board, self.at = board, at
        self.own = [board.index[device] for device in board.world.nodes[at]]
        world = replace(board.world, nodes=(*board.world.nodes[:at], order, *board.world.nodes[at + 1 :]))
        self.demand: Demand = demand_of(world)
        self.node = self.demand.nodes[at]
        slices = slices_of(world, at) if order else ()
        self.allocator = Allocator(slices, self.demand.classes, self.demand.features)
        self._pods = [build_replica(self.demand.workloads[of], of, 0).pods[pod] for of, pod, _ in board.kinds]
        self._shared = frozenset[ClaimKey]().union(*(one.shared for one in self.demand.workloads))
        # By what is taken here, claims that come to it; and what became of a pod with its shared claims where they are.
        self._claims: dict[tuple[int, ...], tuple[Allocation, ...]] = {(FREE,) * len(self.own): ()}
        self._held: dict[tuple[int, ...], Held] = {}
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], tuple[int, ...] | None] = {}

    def place(self, state: State, kind: int) -> State | None:
        """What comes of one more pod of a kind here."""
        counts, usage, homes = state
        uses = self.board.kinds[kind][2].uses
        here = tuple(usage[at] for at in self.own)
        key = kind, here, tuple(homes[use] for use in uses)
        if key not in self._known:
            self._known[key] = self._allocate(kind, here, homes)
            self._compare(state, kind, self._known[key])
        after = self._known[key]
        if after is None:
            return None
        total, settled = list(usage), list(homes)
        for at, amount in zip(self.own, after, strict=True):
            total[at] = amount
        for use in uses:
            settled[use] = self.at
        return add_one(counts, kind), tuple(total), tuple(settled)

    def _allocate(self, kind: int, here: tuple[int, ...], homes: tuple[int, ...]) -> tuple[int, ...] | None:
        pod, uses = self._pods[kind], self.board.kinds[kind][2].uses
        if find_bar(pod, self.node):
            return None
        known = {claim_key(pod.claims[at]): homes[use] for at, use in enumerate(uses) if homes[use] != NOWHERE}
        if not all(is_usable(_allocate_on(self.demand.nodes[home].name), self.node) for home in known.values()):
            return None
        if here not in self._held:
            held = self._held[here] = Held(self.demand.features)
            for allocation in self._claims[here]:
                held.add(allocation)
        new = [claim for claim in pod.claims if claim_key(claim) not in known]
        outcome = self.allocator.allocate(self.node, new, self._held[here])
        if not isinstance(outcome, Allocated):
            return None
        for claim, allocation in zip(new, outcome.allocations, strict=True):
            usable = [node for node in self.demand.nodes if is_usable(allocation, node)]
            assert claim_key(claim) not in self._shared or usable == [self.node]
        takes = tuple(one for allocation in outcome.allocations for one in _list_takes(allocation))
        usage = dict(zip(self.own, here, strict=True))
        for device, amount in takes:
            at = self.board.index[device]
            usage[at] = max(0, usage[at]) + amount
        after = tuple(usage.values())
        self._claims.setdefault(after, (*self._claims[here], *outcome.allocations))
        return after

    def _compare(self, state: State, kind: int, after: tuple[int, ...] | None) -> None:
        """What the allocator does is a move of the packings, and if it does nothing there is none."""
        _, usage, homes = state
        spots = [spot for spot in self.board.list_spots(kind, homes) if spot.node == self.at]
        held = [self.board.hold(usage, spot) for spot in spots]
        possible = {tuple(one[at] for at in self.own) for one in held if one is not None}
        assert after in possible if after is not None else not possible, (self.board.world, state, kind, after)


def _allocate_on(node: str) -> Allocation:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return Allocation(node_selector={"nodeSelectorTerms": [term]})


def _list_takes(allocation: Allocation) -> Takes:
    return tuple(
        (int(one.device[1:]), (one.consumed_capacity or {})["memory"].nano // 10**9 if one.share_id else 0)
        for one in allocation.devices
        if not one.admin_access
    )
