"""Orders with nodes, carried out by the allocator itself: what is shown here happened, first-fit and all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import Allocation
from poolwright.allocation.held import DeviceId, Held
from poolwright.allocation.outcome import Allocated
from poolwright.allocation.placing import MAX_USERS, Placer, find_bar, is_usable
from poolwright.allocation.subject import ClaimKey, claim_key
from poolwright.plan.demand import Demand, Replica, build_replica
from poolwright.plan.supply import Amounts, Supply, count_requests
from poolwright.plan.verdict import Move


class Replay:
    """A cluster in which pods are placed one by one on nodes that are said."""

    def __init__(self, demand: Demand, allocator: Allocator, supply: Supply | None = None) -> None:
        """Start with what is held.

        allocator: over the demand's slices, or over the same ones in another order.
        supply:    of the nodes, which have to have enough for each pod too; None: devices alone decide.
        """
        self.demand = demand
        self.nodes = {node.name: node for node in sorted(demand.nodes, key=lambda node: node.name)}
        self.moves: list[Move] = []
        # Of each move the claims that got devices, and what the pod asks of its node.
        self._done: list[tuple[list[ClaimKey], Amounts]] = []
        self._supply = supply
        self._requests = [[count_requests(pod) if supply else {} for pod in one.pods] for one in demand.workloads]
        self._used: dict[str, Counter[str]] = {}  # by node
        self._users: Counter[ClaimKey] = Counter()
        for claim in demand.held:
            self._users[claim_key(claim)] += len(claim.reserved_for)
        self._placer = Placer(allocator, demand.nodes, demand.held)
        self._replicas: dict[tuple[int, int], Replica] = {}
        self._indices = {workload.title: at for at, workload in enumerate(demand.workloads)}

    @property
    def allocator(self) -> Allocator:
        """What gives devices here."""
        return self._placer.allocator

    @property
    def held(self) -> Held:
        """What claims hold."""
        return self._placer.held

    def build(self, workload: int, number: int) -> Replica:
        """A replica; the same one whenever it is asked for."""
        key = workload, number
        if key not in self._replicas:
            self._replicas[key] = build_replica(self.demand.workloads[workload], workload, number)
        return self._replicas[key]

    def place(self, workload: int, number: int, pod: int, node: str) -> Move | None:
        """Place a pod of a replica on a node, and keep that; None: the node can't serve it."""
        found = self._try(workload, number, pod, node)
        return None if found is None else self.keep(workload, number, pod, node, found)

    def keep(self, workload: int, number: int, pod: int, node: str, found: Mapping[ClaimKey, Allocation]) -> Move:
        """Take a pod of a replica for placed on a node, with these devices for its new claims."""
        requests = self._requests[workload][pod]
        self._used.setdefault(node, Counter()).update(requests)
        for key, allocation in found.items():
            self._placer.hold(key, allocation)
        move = Move(
            workload=self.demand.workloads[workload].title,
            replica=number,
            pod=pod,
            node=node,
            devices=tuple(sorted(_list_devices(found.values()))),
        )
        self.moves.append(move)
        self._done.append((list(found), requests))
        self._count_users(move, 1)
        return move

    def undo(self) -> Move:
        """Take back the last move."""
        keys, requests = self._done.pop()
        for key in keys:
            self._placer.release(key)
        move = self.moves.pop()
        self._count_users(move, -1)
        self._used[move.node].subtract(requests)
        return move

    def leave(self, workload: int, number: int) -> None:
        """A replica's pods give back what they have, wherever they stand among the moves."""
        title = self.demand.workloads[workload].title
        goes = [move.workload == title and move.replica == number for move in self.moves]
        for move, (keys, requests), is_gone in zip(self.moves, self._done, goes, strict=True):
            self._count_users(move, -int(is_gone))
            if is_gone:
                self._used[move.node].subtract(requests)
                for key in keys:
                    self._placer.release(key)
        self.moves = [move for move, is_gone in zip(self.moves, goes, strict=True) if not is_gone]
        self._done = [done for done, is_gone in zip(self._done, goes, strict=True) if not is_gone]

    def can_place(self, workload: int, number: int, pod: int, nodes: Sequence[str]) -> bool:
        """Whether one of the nodes can serve a pod."""
        return any(self._try(workload, number, pod, node) is not None for node in nodes)

    def find_lack(self, workload: int, pod: int, node: str) -> str | None:
        """A resource beside devices of which a node has too little left for a pod; None: there is none."""
        if self._supply is None:
            return None
        return self._supply.find_lack(node, self._requests[workload][pod], self._used.get(node, {}))

    def _count_users(self, move: Move, by: int) -> None:
        pods = self.build(self._indices[move.workload], move.replica).pods
        for claim in pods[move.pod].claims:
            self._users[claim_key(claim)] += by

    def _try(self, workload: int, number: int, pod: int, name: str) -> dict[ClaimKey, Allocation] | None:
        subject, node, placer = self.build(workload, number).pods[pod], self.nodes[name], self._placer
        if subject.problem or find_bar(subject, node):
            return None
        if self.find_lack(workload, pod, name):
            return None
        if any(self._users[claim_key(claim)] >= MAX_USERS for claim in subject.claims):
            return None
        known = [placer.allocations.get(claim_key(claim)) or claim.allocation for claim in subject.claims]
        if not all(one is None or is_usable(one, node) for one in known):
            return None
        new = [claim for claim, one in zip(subject.claims, known, strict=True) if one is None]
        outcome = placer.allocator.allocate(node, new, placer.held)
        if not isinstance(outcome, Allocated):
            return None
        return dict(zip(map(claim_key, new), outcome.allocations, strict=True))


def _list_devices(allocations: Iterable[Allocation]) -> list[DeviceId]:
    found: list[DeviceId] = []
    for allocation in allocations:
        found += [(one.driver, one.pool, one.device) for one in allocation.devices]
    return found
