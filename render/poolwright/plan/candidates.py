"""What a request could choose from when its pod's turn came, on its node and in the cluster, as the allocator looks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.allocation.claim import Claim, Request
from poolwright.allocation.held import DeviceId, Held
from poolwright.allocation.knowledge import Knowledge
from poolwright.allocation.placing import Barred, Placement, Placer
from poolwright.allocation.reasons.devices import DeviceReasons
from poolwright.allocation.reasons.holders import Holders
from poolwright.allocation.reasons.reason import PartKind
from poolwright.allocation.subject import ClaimKey, claim_key
from poolwright.catalog.inventory import Node

# By what stands against a device first: how many of the stages it has passed.
_PASSED: Final[dict[PartKind | None, int]] = {
    "binding": 0,
    "clause": 0,
    "selector-error": 0,
    "capacity": 0,
    "held": 1,
    "room": 1,
    "counters": 2,
    "taint": 3,
    None: 4,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Funnel:
    """Devices, and how many of them each filter of the allocator leaves: each counts of those before it."""

    devices: int
    selected: int  # by the selectors of class and request, with the capacity that is asked for
    free: int  # nobody has them, or they have room for another share
    counted: int  # their counters have enough left
    left: int  # every taint that keeps pods away is tolerated


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """What one request could choose from."""

    request: str  # `request` or `request/alternative`
    on_node: Funnel  # of the node that was taken
    in_cluster: Funnel  # of all nodes that are open to the pod
    nodes: int  # that are open to the pod
    before: int  # nodes before the one that was taken, by name, that can't serve the pod


class CandidateCounter:
    """Counts for one state of what is held after the other."""

    def __init__(self, placer: Placer) -> None:
        """placer: whose state it goes by."""
        self._placer = placer
        self._count = NodeCounter(placer.allocator.knowledge, placer.held)
        self._nodes = {node.name: node for node in placer.nodes}

    def count(self, placement: Placement) -> dict[ClaimKey, tuple[Candidates, ...]]:
        """What the requests of a pod could choose from that found its devices, before it has them."""
        return {
            claim_key(claim): tuple(self._list(placement, claim))
            for claim in placement.subject.claims
            if claim_key(claim) not in placement.found
        }

    def _list(self, placement: Placement, claim: Claim) -> Iterator[Candidates]:
        taken = dict.fromkeys(one.request for one in placement.allocations[claim_key(claim)].devices)
        before = 0
        for name in placement.answers:
            if name == placement.node:
                break
            before += 1
        open_to_it = [self._nodes[name] for name, answer in placement.answers.items() if not isinstance(answer, Barred)]
        for name in taken:
            request = find_request(claim, name)
            if request is not None and placement.node is not None:
                yield Candidates(
                    request=name,
                    on_node=self._count.count(request, [self._nodes[placement.node]]),
                    in_cluster=self._count.count(request, open_to_it),
                    nodes=len(open_to_it),
                    before=before,
                )


@dataclass(frozen=True, slots=True)
class _Sorted:
    """A node's devices by how many filters they pass."""

    own: Counter[int]
    several: dict[DeviceId, int]  # those that other nodes may reach too


class NodeCounter:
    """Counts what is left of nodes; what was found out for one pod serves all that ask for the same."""

    def __init__(self, knowledge: Knowledge, held: Held) -> None:
        self._knowledge = knowledge
        self._held = held
        self._reasons = DeviceReasons(knowledge, held, Holders({}))
        self._found: dict[tuple[str, str], tuple[tuple[int, ...], _Sorted]] = {}
        self._keys: dict[int, tuple[Request, str]] = {}  # by identity of the request, which is kept alive

    def count(self, request: Request, nodes: Sequence[Node]) -> Funnel:
        """The devices of nodes; one that several of them reach is counted once."""
        total: Counter[int] = Counter()
        several: dict[DeviceId, int] = {}
        if request.class_name in self._knowledge.classes:
            key = self._find_key(request)
            for node in nodes:
                found = self._sort(request, key, node)
                total.update(found.own)
                several.update(found.several)
        total.update(several.values())
        return _build_funnel(total)

    def _sort(self, request: Request, key: str, node: Node) -> _Sorted:
        versions = tuple(self._held.version(pool.id) for pool in self._knowledge.pools(node).pools)
        known = self._found.get((key, node.name))
        if known is not None and known[0] == versions:
            return known[1]
        found = _Sorted(Counter(), {})
        for candidate, kind in self._reasons.sort(request, self._knowledge.classes[request.class_name], node):
            if candidate.slice.placement.node_name is None:
                found.several[candidate.id] = _PASSED[kind]
            else:
                found.own[_PASSED[kind]] += 1
        self._found[key, node.name] = versions, found
        return found

    def _find_key(self, request: Request) -> str:
        known = self._keys.get(id(request))
        if known is None:
            known = self._keys[id(request)] = request, repr(request)
        return known[1]


def find_request(claim: Claim, name: str) -> Request | None:
    """A request, or an alternative of one, by what an allocation calls it."""
    base, _, alternative = name.partition("/")
    for entry in claim.requests:
        if entry.name == base:
            if entry.exactly is not None:
                return entry.exactly
            return next((one for one in entry.first_available if one.name == alternative), None)
    return None


def _build_funnel(passed: Counter[int]) -> Funnel:
    reached = [sum(count for stage, count in passed.items() if stage >= least) for least in range(5)]
    return Funnel(devices=reached[0], selected=reached[1], free=reached[2], counted=reached[3], left=reached[4])
