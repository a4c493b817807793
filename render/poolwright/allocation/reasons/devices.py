"""What stands against each device for one request, counted: the part of an answer that people act on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from poolwright.allocation.capacity import CapacityError, find_consumed, has_room
from poolwright.allocation.claim import ALL, Claim, DeviceClass, Request
from poolwright.allocation.held import Held
from poolwright.allocation.knowledge import Knowledge
from poolwright.allocation.pools import Candidate, Pool
from poolwright.allocation.reasons.clauses import MAX_HAVE, find_failing_clause, list_values, say_quantity, shorten
from poolwright.allocation.reasons.holders import Holders
from poolwright.allocation.reasons.reason import Part, PartKind, Reason
from poolwright.allocation.selectors import SelectorProblem
from poolwright.allocation.trial import BLOCKING_EFFECTS, tolerates, tolerates_taints
from poolwright.catalog.inventory import Node
from poolwright.specs.quantity import Quantity

MAX_EXAMPLES: Final = 5


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """What stands against a device."""

    kind: PartKind
    what: str
    owner: str = ""


@dataclass(slots=True)
class _Group:
    """Devices with the same obstacle."""

    candidates: list[Candidate] = field(default_factory=list)
    pools: list[Pool] = field(default_factory=list)


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

    def explain(
        self, claim: Claim, name: str, request: Request, device_class: DeviceClass, nodes: Sequence[Node]
    ) -> Reason:
        """The reason for one request over the devices of all these nodes.

        name: of the request, with the alternative's if it is one.
        """
        groups: dict[_Obstacle, _Group] = {}
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
                    group = groups.setdefault(obstacle, _Group())
                    group.candidates.append(candidate)
                    group.pools.append(pool)
                total.add(candidate)
        parts = tuple(self._build_part(obstacle, group) for obstacle, group in groups.items())
        remaining = len(total) - sum(part.devices for part in parts)
        most = max(left.values(), default=0)
        asked = None if request.mode == ALL else request.count
        return Reason(
            kind="devices",
            line=_say_funnel(name, asked, len(total), len(nodes), parts, remaining, most),
            claim=claim.title,
            request=name,
            asked=asked,
            devices=len(total),
            left=remaining,
            most=most,
            nodes=tuple(node.name for node in nodes),
            parts=parts,
        )

    def _find(self, request: Request, device_class: DeviceClass, pool: Pool, candidate: Candidate) -> _Obstacle | None:
        """The first thing that stands against a device, in the order the allocator looks."""
        device = candidate.device
        if not self._features.binding_conditions and device.binding_conditions:
            return _Obstacle("binding", "it has binding conditions, and their gate is off")
        found = self._find_clause(request, device_class, candidate)
        if found:
            return found
        consumed = None
        if self._features.consumable_capacity:
            try:
                consumed = find_consumed(request.capacity, device, self._features)
            except CapacityError as error:
                return _Obstacle("capacity", str(error))
            if consumed is None:
                return _Obstacle("capacity", _say_request(request))
        if not request.admin_access and self._held.is_dedicated(candidate.id):
            return _Obstacle("held", "held by others")
        held = self._held.consumed(candidate.id)
        if consumed is not None and held and not has_room(device, consumed, held):
            return _Obstacle("room", _say_room(consumed, candidate, held))
        return self._find_counter(pool, candidate) or self._find_taint(request, candidate)

    def _find_clause(self, request: Request, device_class: DeviceClass, candidate: Candidate) -> _Obstacle | None:
        owners = (
            (f"class {device_class.name}", device_class.selectors),
            (f"request {request.name}", request.selectors),
        )
        for owner, selectors in owners:
            for text in selectors:
                found = find_failing_clause(text or "", candidate.device, self._knowledge.selectors)
                if isinstance(found, SelectorProblem):
                    return _Obstacle("selector-error", f"{text}: {found.message}", owner)
                if found is not None:
                    return _Obstacle("clause", found, owner)
        return None

    def _find_counter(self, pool: Pool, candidate: Candidate) -> _Obstacle | None:
        device = candidate.device
        if not device.consumes:
            return None
        if not self._features.partitionable_devices:
            return _Obstacle("counters", "it takes from counters, and their gate is off")
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
        return _Obstacle("counters", "; ".join(said))

    def _find_taint(self, request: Request, candidate: Candidate) -> _Obstacle | None:
        device, tolerations = candidate.device, request.tolerations
        if not self._features.device_taints or tolerates_taints(device, tolerations):
            return None
        for taint in device.taints:
            if taint.effect in BLOCKING_EFFECTS and not any(tolerates(one, taint) for one in tolerations):
                value = f"={taint.value}" if taint.value else ""
                return _Obstacle("taint", f"{taint.key}{value}:{taint.effect}")
        return None

    def _build_part(self, obstacle: _Obstacle, group: _Group) -> Part:
        count = len(group.candidates)
        have = list_values(obstacle.what, (one.device for one in group.candidates)) if obstacle.kind == "clause" else ()
        holders = self._find_holders(obstacle, group)
        return Part(
            kind=obstacle.kind,
            what=obstacle.what,
            owner=obstacle.owner,
            devices=count,
            have=have,
            holders=holders,
            examples=tuple("/".join(one.id) for one in group.candidates[:MAX_EXAMPLES]),
            line=_LINES[obstacle.kind](obstacle, count, have, holders),
        )

    def _find_holders(self, obstacle: _Obstacle, group: _Group) -> tuple[str, ...]:
        if obstacle.kind in ("held", "room"):
            keys = self._holders.of(one.id for one in group.candidates)
        elif obstacle.kind == "counters":
            keys = self._holders.of(
                other.id
                for pool, one in zip(group.pools, group.candidates, strict=True)
                for other in (*pool.candidates, *pool.elsewhere)
                if _shares_counter(one, other)
            )
        else:
            keys = ()
        return tuple("/".join(key) for key in keys)


def _shares_counter(one: Candidate, other: Candidate) -> bool:
    counters = {counter for counter, amount in one.charges if amount}
    return any(counter in counters for counter, amount in other.charges if amount)


def _say_request(request: Request) -> str:
    asked = ", ".join(f"{name} {amount.canonical}" for name, amount in sorted((request.capacity or {}).items()))
    return asked or "their whole capacity"


def _say_room(consumed: Mapping[str, Quantity], candidate: Candidate, held: Mapping[str, int]) -> str:
    texts = []
    for capacity in candidate.device.capacity.values():
        taken = held.get(capacity.name, 0)
        if capacity.value is not None and taken:
            free = Quantity(capacity.value.nano - taken, capacity.value.format)
            texts.append(f"{capacity.name}: takes {say_quantity(consumed[capacity.name])}, free {say_quantity(free)}")
    return "; ".join(texts)


def _say_clause(obstacle: _Obstacle, count: int, have: Sequence[str], holders: Sequence[str]) -> str:
    del holders
    shown = ", ".join(have[:MAX_HAVE]) + (f" and {len(have) - MAX_HAVE} more" if len(have) > MAX_HAVE else "")
    return f"{count} {_fail(count)} {shorten(obstacle.what)}" + (f" (have {shown})" if shown else "")


def _say_holders(holders: Sequence[str]) -> str:
    if not holders:
        return ""
    more = f" and {len(holders) - MAX_HAVE} more" if len(holders) > MAX_HAVE else ""
    return f" by {', '.join(holders[:MAX_HAVE])}{more}"


def _fail(count: int) -> str:
    return "fails" if count == 1 else "fail"


_Line = Callable[[_Obstacle, int, Sequence[str], Sequence[str]], str]
_LINES: Final[Mapping[PartKind, _Line]] = {
    "clause": _say_clause,
    "selector-error": lambda one, count, *_: f"on {count} the selector has an error: {one.what}",
    "binding": lambda _, count, *__: f"{count} with binding conditions, whose gate is off",
    "capacity": lambda one, count, *_: f"{count} can't serve the request for {one.what}",
    "held": lambda _, count, __, holders: f"{count} held{_say_holders(holders)}",
    "room": lambda one, count, __, holders: f"{count} without room ({one.what}), taken{_say_holders(holders)}",
    "counters": lambda one, count, __, holders: f"{count} without counters ({one.what}), taken{_say_holders(holders)}",
    "taint": lambda one, count, *_: f"{count} with the taint {one.what}, which the request doesn't tolerate",
}


def _say_funnel(
    name: str, asked: int | None, total: int, nodes: int, parts: Sequence[Part], left: int, most: int
) -> str:
    where = f"on {nodes} node{'s' if nodes != 1 else ''}"
    start = f"request {name}: {total} device{'s' if total != 1 else ''} {where}"
    said = ", ".join(part.line for part in parts)
    wanted = "all that match wanted" if asked is None else f"{asked} wanted"
    end = f"{left} left, {wanted}" + (f", at most {most} on one node" if nodes > 1 and left else "")
    return f"{start}: {said}; {end}" if said else f"{start}; {end}"
