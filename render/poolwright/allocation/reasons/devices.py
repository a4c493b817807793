"""What stands against each device for one request, counted: the part of an answer that people act on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from poolwright.allocation.capacity import CapacityError, find_consumed, has_room
from poolwright.allocation.claim import ALL, Claim, DeviceClass, Request
from poolwright.allocation.held import DeviceId, Held
from poolwright.allocation.knowledge import Knowledge
from poolwright.allocation.pools import Candidate, CounterId, Pool
from poolwright.allocation.reasons.clauses import find_failing_clause, list_values
from poolwright.allocation.reasons.holders import Holders
from poolwright.allocation.reasons.lines import (
    Group,
    Obstacle,
    find_near_miss,
    say_funnel,
    say_part,
    say_request,
    say_room,
)
from poolwright.allocation.reasons.reason import Part, PartKind, Reason
from poolwright.allocation.selectors import SelectorProblem
from poolwright.allocation.trial import BLOCKING_EFFECTS, tolerates, tolerates_taints
from poolwright.catalog.inventory import Node

MAX_EXAMPLES: Final = 5


# The order in which the allocator looks: what a class doesn't select is never asked whether it is free.
_ORDER: Final[tuple[PartKind, ...]] = (
    "binding",
    "clause",
    "selector-error",
    "capacity",
    "held",
    "room",
    "counters",
    "taint",
)


class DeviceReasons:
    """Finds what stands against devices, for one state of what is held."""

    def __init__(self, knowledge: Knowledge, held: Held, holders: Holders) -> None:
        self._knowledge = knowledge
        self._features = knowledge.features
        self._held = held
        self._holders = holders

    def list_left(self, request: Request, device_class: DeviceClass, node: Node) -> tuple[Candidate, ...]:
        """The devices of a node that nothing stands against, each by itself."""
        return tuple(
            candidate
            for pool, candidate in self._knowledge.pools(node).candidates
            if candidate not in pool.unreachable and self._find(request, device_class, pool, candidate) is None
        )

    def sort(
        self, request: Request, device_class: DeviceClass, node: Node
    ) -> Iterator[tuple[Candidate, PartKind | None]]:
        """Each device that a node can take, with what stands against it first; None: nothing does."""
        for pool, candidate in self._knowledge.pools(node).candidates:
            if candidate not in pool.unreachable:
                obstacle = self._find(request, device_class, pool, candidate)
                yield candidate, None if obstacle is None else obstacle.kind

    def explain(
        self, claim: Claim, name: str, request: Request, device_class: DeviceClass, nodes: Sequence[Node]
    ) -> Reason:
        """The reason for one request over the devices of all these nodes.

        name: of the request, with the alternative's if it is one.
        """
        groups: dict[Obstacle, list[tuple[Pool, Candidate]]] = {}
        total: set[Candidate] = set()
        left: dict[str, int] = {}
        for node in nodes:
            for pool, candidate in self._knowledge.pools(node).candidates:
                if candidate in pool.unreachable:
                    continue
                obstacle = self._find(request, device_class, pool, candidate)
                if obstacle is None:
                    left[node.name] = left.get(node.name, 0) + 1
                elif candidate not in total:
                    groups.setdefault(obstacle, []).append((pool, candidate))
                total.add(candidate)
        ordered = sorted(groups.items(), key=lambda entry: _rank(*entry))
        parts = tuple(self._build_part(obstacle, members) for obstacle, members in ordered)
        remaining = len(total) - sum(part.devices for part in parts)
        most = max(left.values(), default=0)
        asked = None if request.mode == ALL else request.count
        return Reason(
            kind="devices",
            line=say_funnel(name, asked, len(total), len(nodes), parts, remaining, most),
            claim=claim.title,
            request=name,
            asked=asked,
            devices=len(total),
            left=remaining,
            most=most,
            nodes=tuple(node.name for node in nodes),
            parts=parts,
            hint=next((part.hint for part in parts if part.hint), ""),
        )

    def _find(self, request: Request, device_class: DeviceClass, pool: Pool, candidate: Candidate) -> Obstacle | None:
        """The first thing that stands against a device, in the order the allocator looks."""
        device = candidate.device
        if not self._features.binding_conditions and device.binding_conditions:
            return Obstacle("binding", "it has binding conditions, and their gate is off")
        found = self._find_clause(request, device_class, candidate)
        if found:
            return found
        consumed = None
        if self._features.consumable_capacity:
            try:
                consumed = find_consumed(request.capacity, device, self._features)
            except CapacityError as error:
                return Obstacle("capacity", str(error))
            if consumed is None:
                return Obstacle("capacity", say_request(request, device))
        if not request.admin_access and self._held.is_dedicated(candidate.id):
            return Obstacle("held", "held by others")
        held = self._held.consumed(candidate.id)
        if consumed is not None and held and not has_room(device, consumed, held):
            return Obstacle("room", say_room(consumed, candidate, held))
        return self._find_counter(pool, candidate) or self._find_taint(request, candidate)

    def _find_clause(self, request: Request, device_class: DeviceClass, candidate: Candidate) -> Obstacle | None:
        owners = (
            (f"class {device_class.name}", device_class.selectors),
            (f"request {request.name}", request.selectors),
        )
        for owner, selectors in owners:
            for text in selectors:
                found = find_failing_clause(text or "", candidate.device, self._knowledge.selectors)
                if isinstance(found, SelectorProblem):
                    return Obstacle("selector-error", f"{text}: {found.message}", owner)
                if found is not None:
                    return Obstacle("clause", found, owner)
        return None

    def _find_counter(self, pool: Pool, candidate: Candidate) -> Obstacle | None:
        device = candidate.device
        if not device.consumes:
            return None
        if not self._features.partitionable_devices:
            return Obstacle("counters", "it takes from counters, and their gate is off")
        is_shared = device.allow_multiple_allocations and self._held.is_shared(candidate.id)
        available = self._knowledge.available(pool, self._held)
        if is_shared and self._features.consumable_capacity:
            return None
        short = [counter for counter, amount in candidate.charges if available.left[counter] < amount]
        if available.is_overdrawn and not short:
            short = [counter for counter, amount in available.left.items() if amount < 0]
        if not short:
            return None
        sets = sorted({counter_set for counter_set, _ in short})
        said = [f"{one}: {', '.join(sorted(name for owner, name in short if owner == one))}" for one in sets]
        return Obstacle("counters", "; ".join(said), counters=tuple(sorted(short)))

    def _find_taint(self, request: Request, candidate: Candidate) -> Obstacle | None:
        device, tolerations = candidate.device, request.tolerations
        if not self._features.device_taints or tolerates_taints(device, tolerations):
            return None
        for taint in device.taints:
            if taint.effect in BLOCKING_EFFECTS and not any(tolerates(one, taint) for one in tolerations):
                value = f"={taint.value}" if taint.value else ""
                return Obstacle("taint", f"{taint.key}{value}:{taint.effect}")
        return None

    def _build_part(self, obstacle: Obstacle, members: Sequence[tuple[Pool, Candidate]]) -> Part:
        candidates = [candidate for _, candidate in members]
        takers = self._find_takers(obstacle, members)
        group = Group(
            obstacle=obstacle,
            candidates=candidates,
            have=list_values(obstacle.what, (one.device for one in candidates)) if obstacle.kind == "clause" else (),
            holders=self._list_holders(one.id for one in candidates) if obstacle.kind in ("held", "room") else (),
            takers=takers,
        )
        return Part(
            kind=obstacle.kind,
            what=obstacle.what,
            owner=obstacle.owner,
            devices=len(candidates),
            have=tuple(group.have),
            holders=tuple(group.holders) or tuple(sorted({name for names in takers.values() for name in names})),
            examples=tuple("/".join(one.id) for one in candidates[:MAX_EXAMPLES]),
            line=say_part(group),
            hint=find_near_miss(group),
        )

    def _find_takers(
        self, obstacle: Obstacle, members: Sequence[tuple[Pool, Candidate]]
    ) -> dict[CounterId, tuple[str, ...]]:
        """Who takes from each counter that is short, in the pools of these devices."""
        if not obstacle.counters:
            return {}
        pools = list(dict.fromkeys(pool for pool, _ in members))
        return {
            counter: self._list_holders(
                other.id
                for pool in pools
                for other in (*pool.candidates, *pool.elsewhere)
                if any(name == counter and amount for name, amount in other.charges)
            )
            for counter in obstacle.counters
        }

    def _list_holders(self, devices: Iterable[DeviceId]) -> tuple[str, ...]:
        return tuple("/".join(key) for key in self._holders.of(devices))


def _rank(obstacle: Obstacle, members: Sequence[object]) -> tuple[int, bool, int]:
    return _ORDER.index(obstacle.kind), obstacle.owner.startswith("request"), -len(members)
