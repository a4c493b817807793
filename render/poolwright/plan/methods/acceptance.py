"""Which free devices of which nodes each pod takes, asked of the allocator itself.

Clauses, taints, node affinity and gates are judged by the code that allocates: a device is taken if the allocator
gives it once those that it gives before are held. Counters and what others hold in the plan are left aside here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TypedDict

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import EXACT_COUNT, AllocatedDevice, Allocation, Claim, ClaimRequest, Request
from poolwright.allocation.held import DeviceId, Held, PoolId
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp, NotAllocated, Outcome
from poolwright.allocation.placing import find_bar, is_usable
from poolwright.allocation.pools import Candidate, CounterId, Pool
from poolwright.allocation.subject import Subject, claim_key
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Device, ResourceSlice
from poolwright.plan.demand import Demand, Workload, find_pinned
from poolwright.plan.supply import Supply, count_requests
from poolwright.specs.quantity import Quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request of a pod, or several alternatives of one, without what ties it to others."""

    least: int  # devices that it takes at least
    most: int
    accepted: frozenset[DeviceId]  # that one of its devices may be


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A request, or one alternative of it, by clause alone: without what ties it to others."""

    alternative: str = ""  # its name; "" for a request without any
    count: int | None  # devices; None: all that are accepted on the node
    accepted: frozenset[DeviceId]
    capacity: tuple[tuple[str, Quantity], ...] | None = None  # asked of a device that takes several, sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a pod needs, as far as bounds and exact methods go by it."""

    key: str
    takes_one: bool = False  # one device
    takes_any: bool = False  # some devices of one request with nothing that ties them
    is_exclusive: bool = False  # taking a device leaves all others as they were
    # All its claims have devices, or are its own and for administration, which nobody is in the way of. `on_node` names
    # the nodes that can use them.
    needs_nothing: bool = False
    asks: tuple[Ask, ...] = ()
    options: tuple[tuple[Option, ...], ...] = ()  # by request of the new claims
    on_node: dict[str, frozenset[DeviceId]] = field(
        default_factory=dict
    )  # by node that may serve it, all that some ask takes
    # Of these nodes those that it comes to at most once a shared claim has devices that reach them from another node,
    # or where a device plugin may serve what it has a claim for elsewhere.
    reached: frozenset[str] = frozenset()
    alternatives: frozenset[tuple[str, DeviceId]] = frozenset()  # the request that a device was given for
    # Devices that it looks after and doesn't take, but whose counters or capacity must have room at that moment.
    watched: frozenset[DeviceId] = frozenset()
    error: str = ""  # an attempt ends in it whatever others hold
    risk: str = ""  # an attempt may end in it, or take too long
    risk_device: DeviceId | None = None  # the first attempt ends at it, unless another pod has it

    @property
    def is_single(self) -> bool:
        """Whether it takes one device, for itself alone."""
        return self.takes_one and self.is_exclusive

    @property
    def is_counted(self) -> bool:
        """Whether any of its devices will do, each for itself alone."""
        return self.takes_any and self.is_exclusive

    @property
    def accepted(self) -> frozenset[DeviceId]:
        """Every device that some ask takes."""
        return frozenset().union(*(ask.accepted for ask in self.asks))

    @property
    def least(self) -> int:
        """Devices that the pod takes at least."""
        return sum(ask.least for ask in self.asks)

    @property
    def most(self) -> int:
        """Devices that the pod takes at most."""
        return sum(ask.most for ask in self.asks)


class _Failing(TypedDict, total=False):
    error: str
    risk: str
    risk_device: DeviceId


_Given = dict[tuple[str, str], tuple[set[tuple[str, DeviceId]], str]]
_Ends = dict[tuple[str, str], Outcome]


class Acceptance:
    """Shapes of a demand's pods; what was found out for one serves all that are alike."""

    def __init__(self, demand: Demand, like: Acceptance | None = None, touched: Set[str] = frozenset()) -> None:
        """What nodes answer to claims is taken over from a demand that is like this one.

        like:    of a demand with the same classes, features and claims that are held.
        touched: nodes that aren't there as they are here: devices of their own, or of their pools, are others.
        """
        self.allocator = demand.build_allocator()
        self.nodes = tuple(sorted(demand.nodes, key=lambda node: node.name))
        self.named = {node.name: node for node in reversed(self.nodes)}  # of two with one name the first
        self.supply = Supply(demand.nodes)
        self.candidates: dict[DeviceId, Candidate] = {}
        self.nodes_of: dict[DeviceId, list[str]] = {}
        self.held = [claim.allocation for claim in demand.held if claim.allocation is not None]
        self.features = demand.features
        self._free = Allocator([drop_charges(one) for one in demand.slices], demand.classes, demand.features)
        self._shapes: dict[str, Shape] = {}
        self._asks: dict[str, tuple[dict[str, frozenset[DeviceId]], frozenset[tuple[str, DeviceId]], str]] = {}
        self._usable: dict[str, frozenset[DeviceId]] = {}
        self._reach: Counter[DeviceId] = Counter()  # of how many nodes pods can use it
        # By node and what it is asked: the devices it gives, and how an attempt ends.
        given = {} if like is None else like._given
        ends = {} if like is None else like._ends
        self._given: _Given = {key: found for key, found in given.items() if key[0] not in touched}
        self._ends: _Ends = {key: found for key, found in ends.items() if key[0] not in touched}
        self._list_devices()

    def build_held(self) -> Held:
        """What is held at the start, to be added to."""
        held = Held(self.features)
        for allocation in self.held:
            held.add(allocation)
        return held

    def shape(self, workload: Workload, pod: Subject) -> Shape:
        """The shape of a workload's pod."""
        requests = sorted(count_requests(pod).items()) if self.supply.is_known else []
        # Which of its claims are shared, too: pods of a group may ask for the same, one of them for itself alone.
        shared = [claim_key(claim) for claim in pod.claims if claim_key(claim) in workload.shared]
        key = repr((pod.need_key, [claim_key(claim) in shared for claim in pod.claims], shared, pod.problem, requests))
        found = self._shapes.get(key)
        if found is None:
            found = self._shapes[key] = self._build_shape(key, workload, pod)
        return found

    def settle(self, shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        """Shapes that know where counters can't bind: where they suffice for all devices that any of these takes."""
        charged: dict[PoolId, set[DeviceId]] = {}
        for shape in shapes:
            for device in shape.accepted:
                if self.candidates[device].charges:
                    charged.setdefault(device[:2], set()).add(device)
        if not charged or self.features.compatibility_groups:
            return tuple(shapes)
        held = self.build_held()
        pools = {pool.id: pool for node in self.nodes for pool in self.allocator.pools(node).pools}
        calm = {pool for pool, devices in charged.items() if self._suffices(pools[pool], devices, held)}
        return tuple(replace(shape, is_exclusive=self._is_calm(shape, calm)) for shape in shapes)

    def _suffices(self, pool: Pool, devices: Iterable[DeviceId], held: Held) -> bool:
        available = self.allocator.knowledge.available(pool, held)
        drawn: Counter[CounterId] = Counter()
        for device in devices:
            drawn.update(dict(self.candidates[device].charges))
        return not available.is_overdrawn and all(drawn[one] <= left for one, left in available.left.items())

    def _is_calm(self, shape: Shape, calm: Set[PoolId]) -> bool:
        if shape.is_exclusive or shape.watched:
            return shape.is_exclusive
        devices = (self.candidates[one] for one in shape.accepted)
        return all(
            not self.is_divisible(one.device) or (one.id[:2] in calm and not one.device.allow_multiple_allocations)
            for one in devices
        )

    def _list_devices(self) -> None:
        for node in self.nodes:
            found = self.allocator.pools(node).candidates
            usable = [one for _, one in found]
            self._reach.update(one.id for pool, one in found if one not in pool.unreachable)
            self._usable[node.name] = frozenset(one.id for one in usable)
            for one in usable:
                self.candidates[one.id] = one
                self.nodes_of.setdefault(one.id, []).append(node.name)

    def list_open(self, pod: Subject) -> list[Node]:
        """The nodes that are open to a pod, whatever their devices; one that is too small for it alone is not."""
        found = [claim.allocation for claim in pod.claims if claim.allocation is not None]
        pinned, requests = find_pinned(pod), count_requests(pod) if self.supply.is_known else {}
        return [
            node
            for node in self.nodes
            if (pinned is None or node.name == pinned)
            and not find_bar(pod, node)
            and all(is_usable(one, node) for one in found)
            and not self.supply.find_lack(node.name, requests, {})
        ]

    def list_selected(self, pod: Subject) -> Iterator[tuple[int, DeviceId]]:
        """The devices of nodes that are open to a pod which each of its new requests selects, by index of the request.

        Also those of nodes that can't serve it now, but might, if they had others.
        """
        nodes = self.list_open(pod)
        entries = [(claim, entry) for claim in pod.claims if claim.allocation is None for entry in claim.requests]
        for number, (claim, entry) in enumerate(entries):
            for devices in self._ask(pod, nodes, _loosen(claim, entry))[0].values():
                yield from ((number, device) for device in devices)

    def _build_shape(self, key: str, workload: Workload, pod: Subject) -> Shape:
        new = [claim for claim in pod.claims if claim.allocation is None]
        requests = [(claim, entry) for claim in new for entry in claim.requests]
        shares = any(claim_key(claim) in workload.shared for claim in new)
        plain = [_list_alternatives(entry) for _, entry in requests]
        if pod.problem:
            return Shape(key=key, error=pod.problem)
        single = len(requests) == 1 and not shares and all(_is_one(one) for one in plain[0])
        counted = len(requests) == 1 and not shares and len(plain[0]) == 1 and _is_counted(new, plain[0][0])
        nodes, failing = self._try_nodes(self.list_open(pod), new)
        if "error" in failing:
            return Shape(key=key, **failing)
        reached = [*self._list_reached(workload, pod, nodes), *self.list_served(pod)]
        nodes = sorted((*nodes, *reached), key=lambda node: node.name)
        on_node: dict[str, set[DeviceId]] = {node.name: set() for node in nodes}
        asks: list[Ask] = []
        options: list[tuple[Option, ...]] = []
        alternatives: set[tuple[str, DeviceId]] = set()
        for claim, entry in requests:
            found, given, problem = self._ask(pod, nodes, claim if single else _loosen(claim, entry))
            asks.append(_build_ask(entry, found.values()))
            options.append(self._list_options(pod, nodes, claim, entry, asks[-1].accepted))
            alternatives |= given
            if problem:
                failing.setdefault("risk", problem)
            for name, devices in found.items():
                on_node[name] |= devices
        divisible = {one for ask in asks for one in ask.accepted if self.is_divisible(self.candidates[one].device)}
        watched = divisible & frozenset().union(*(ask.accepted for ask in asks if not ask.most))
        takes_none = all(one.admin_access for several in plain for one in several)
        return Shape(
            key=key,
            takes_one=single,
            takes_any=counted,
            is_exclusive=not divisible,
            needs_nothing=takes_none and not watched and not shares,
            asks=tuple(ask for ask in asks if ask.most),
            options=tuple(options),
            on_node={name: frozenset(devices) for name, devices in on_node.items()},
            alternatives=frozenset(alternatives),
            watched=frozenset(watched),
            reached=frozenset(node.name for node in reached),
            **failing,
        )

    def _list_reached(self, workload: Workload, pod: Subject, able: Sequence[Node]) -> list[Node]:
        """Nodes that can't serve a pod with nobody else there, but may once others have devices for what they share."""
        new = [claim for claim in pod.claims if claim.allocation is None]
        shared = [claim for claim in new if claim_key(claim) in workload.shared]
        if not shared or not all(self._try_nodes(self.nodes, [claim])[0] for claim in shared):
            return []
        own = [claim for claim in new if claim_key(claim) not in workload.shared]
        left = [node for node in self.list_open(pod) if node not in able and self._may_open(pod, node, shared)]
        return self._try_nodes(left, own)[0] if own else left

    def _may_open(self, pod: Subject, node: Node, shared: Sequence[Claim]) -> bool:
        """Whether a node may serve a pod once shared claims have devices: some by another node, the rest there."""
        elsewhere = [self._comes_from_elsewhere(pod, node, claim) for claim in shared]
        return any(elsewhere) and all(
            comes or bool(self._try_nodes([node], [claim])[0]) for comes, claim in zip(elsewhere, shared, strict=True)
        )

    def _comes_from_elsewhere(self, pod: Subject, node: Node, claim: Claim) -> bool:
        """Whether a pod may use a claim on a node by devices that another node gave for it: all of them must reach it.

        Where some are for administration, who has the claim already is in nobody's way: as if it came from elsewhere.
        """
        if any(one.admin_access for entry in claim.requests for one in _list_alternatives(entry)):
            return True
        asked = (self._ask(pod, [node], _loosen(claim, entry))[0][node.name] for entry in claim.requests)
        return all(any(self._reach[device] > 1 for device in devices) for devices in asked)

    def list_served(self, pod: Subject) -> list[Node]:
        """Nodes where a device plugin may serve a pod, so that it has its other claims alone there."""
        nodes = list_uncertain(pod, self.nodes)
        own = [one for one, name in zip(pod.claims, pod.claim_names, strict=False) if name and one.allocation is None]
        return self._try_nodes(nodes, own)[0] if own else nodes

    def _list_options(
        self, pod: Subject, nodes: Sequence[Node], claim: Claim, entry: ClaimRequest, accepted: frozenset[DeviceId]
    ) -> tuple[Option, ...]:
        """Each alternative of a request with the devices that it takes, if there are several."""
        if entry.exactly is not None:
            return (_build_option(entry.exactly, "", accepted),)
        found = []
        for one in entry.first_available:
            own = replace(entry, first_available=(one,))
            devices = self._ask(pod, nodes, _loosen(claim, own))[0]
            # Of all devices a node that can't give each gives none.
            able = nodes if one.mode == EXACT_COUNT else self._try_nodes(nodes, [_leave_alone(claim, own)])[0]
            found.append(_build_option(one, one.name, frozenset().union(*(devices[node.name] for node in able))))
        return tuple(found)

    def _try_nodes(self, nodes: Sequence[Node], claims: Sequence[Claim]) -> tuple[list[Node], _Failing]:
        """The nodes that may ever serve the pod, and what ends an attempt on the first that does end it.

        A node that can't serve it with nobody else there can't either when others hold more.
        """
        held = self.build_held()
        able: list[Node] = []
        failing: _Failing = {}
        asked = repr([(claim_key(claim), claim.requests, claim.constraints) for claim in claims])
        for node in nodes:
            if (node.name, asked) not in self._ends:
                self._ends[node.name, asked] = self.allocator.allocate(node, claims, held)
            outcome = self._ends[node.name, asked]
            if not isinstance(outcome, NotAllocated):
                able.append(node)
            if failing:
                continue
            if isinstance(outcome, AttemptError):
                said = f"node {node.name}: {outcome.message}"
                # Of a device it is hidden once another claim holds that.
                failing = {"error": said} if outcome.device is None else {"risk": said, "risk_device": outcome.device}
            elif isinstance(outcome, GaveUp):
                failing = {"risk": f"node {node.name}: the search looked at {outcome.looked_at} devices and gave up"}
        return able, failing

    def _ask(
        self, pod: Subject, nodes: Sequence[Node], claim: Claim
    ) -> tuple[dict[str, frozenset[DeviceId]], frozenset[tuple[str, DeviceId]], str]:
        key = repr((pod.node_key, [node.name for node in nodes], claim.requests, claim.constraints))
        if key not in self._asks:
            found: dict[str, frozenset[DeviceId]] = {}
            alternatives: set[tuple[str, DeviceId]] = set()
            risk = ""
            asked = repr((claim.requests, claim.constraints))
            for node in nodes:
                if (node.name, asked) not in self._given:
                    self._given[node.name, asked] = self._ask_node(node, claim)
                given, problem = self._given[node.name, asked]
                found[node.name] = frozenset(device for _, device in given)
                alternatives.update(given)
                risk = risk or problem
            self._asks[key] = found, frozenset(alternatives), risk
        return self._asks[key]

    def _ask_node(self, node: Node, claim: Claim) -> tuple[set[tuple[str, DeviceId]], str]:
        """The devices of a node that a claim of one device may get. All of the node's, where an attempt ends."""
        held, usable = self.build_held(), self._usable[node.name]
        given: set[tuple[str, DeviceId]] = set()
        while True:
            outcome = self._free.allocate(node, (claim,), held)
            if not isinstance(outcome, Allocated):
                break
            result = outcome.allocations[0].devices[0]
            device = (result.driver, result.pool, result.device)
            if device in usable:
                given.add((result.request, device))
            held.add(
                Allocation(devices=(AllocatedDevice(request="", driver=device[0], pool=device[1], device=device[2]),))
            )
        if isinstance(outcome, AttemptError | GaveUp):
            what = outcome.message if isinstance(outcome, AttemptError) else "the search gave up"
            free = (one for one in sorted(usable) if not held.is_dedicated(one))
            return given | {(claim.requests[0].name, one) for one in free}, f"node {node.name}: {what}"
        return given, ""

    def is_shareable(self, device: Device) -> bool:
        """Whether several pods may have a device at once."""
        return device.allow_multiple_allocations and self.features.consumable_capacity

    def is_divisible(self, device: Device) -> bool:
        """Whether giving a device leaves more, or less, than all others as they were."""
        return self.is_shareable(device) or bool(device.consumes and self.features.partitionable_devices)


def list_uncertain(pod: Subject, nodes: Iterable[Node]) -> list[Node]:
    """The nodes of which it isn't known if they are open to a pod: their device plugin serves what it asks for."""
    if not pod.plugin_resources:
        return []
    return [node for node in nodes if (bar := find_bar(pod, node)) is not None and bar.is_unknown]


def _is_one(request: Request) -> bool:
    return request.mode == EXACT_COUNT and request.count == 1 and not request.admin_access


def _is_counted(claims: Iterable[Claim], request: Request) -> bool:
    ties = any(claim.constraints for claim in claims)
    return request.mode == EXACT_COUNT and not request.admin_access and not ties


def _list_alternatives(entry: ClaimRequest) -> tuple[Request, ...]:
    return entry.first_available if entry.exactly is None else (entry.exactly,)


def _build_ask(entry: ClaimRequest, found: Iterable[frozenset[DeviceId]]) -> Ask:
    """How many devices a request takes. All may be any number from one; for administration it takes none.

    found: the devices it accepts, by node.
    """
    by_node = list(found)
    accepted = frozenset().union(*by_node)
    least, most = [], []
    for one in _list_alternatives(entry):
        if one.admin_access:
            least.append(0)
            most.append(0)
        elif one.mode == EXACT_COUNT:
            least.append(one.count)
            most.append(one.count)
        else:
            least.append(0)
            most.append(max(map(len, by_node), default=0))
    return Ask(least=min(least), most=max(most), accepted=accepted)


def _build_option(request: Request, alternative: str, accepted: frozenset[DeviceId]) -> Option:
    count = request.count if request.mode == EXACT_COUNT else None
    capacity = None if request.capacity is None else tuple(sorted(request.capacity.items()))
    return Option(alternative=alternative, count=count, accepted=accepted, capacity=capacity)


def _loosen(claim: Claim, entry: ClaimRequest) -> Claim:
    """The claim with this request alone, for one device, and without constraints."""
    exactly = None if entry.exactly is None else _for_one(entry.exactly)
    loose = ClaimRequest(name=entry.name, exactly=exactly, first_available=tuple(map(_for_one, entry.first_available)))
    return _leave_alone(claim, loose)


def _leave_alone(claim: Claim, entry: ClaimRequest) -> Claim:
    return replace(claim, requests=(entry,), constraints=())


def _for_one(request: Request) -> Request:
    return replace(request, mode=EXACT_COUNT, count=1, admin_access=None)


def drop_charges(one: ResourceSlice) -> ResourceSlice:
    """A slice whose devices draw on no counters."""
    devices = tuple(replace(device, consumes=()) if device.consumes else device for device in one.devices)
    return replace(one, devices=devices) if devices != one.devices else one
