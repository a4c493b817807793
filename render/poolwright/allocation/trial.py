"""The devices that a search has taken so far, with everything that follows from it, and each of them can be undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from poolwright.allocation.capacity import has_room
from poolwright.allocation.claim import Toleration
from poolwright.allocation.features import Features
from poolwright.allocation.groups import GroupState, narrow_groups
from poolwright.allocation.held import NO_CAPACITY, DeviceId, Held, PoolId
from poolwright.allocation.need import Need
from poolwright.allocation.pools import Candidate, CounterId, Pool
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, Taint
from poolwright.specs.quantity import Quantity

BLOCKING_EFFECTS = ("NoSchedule", "NoExecute")
OPTIONAL_OPERATIONS = "DRAOptionalNodeOperations"  # what a node must declare


@dataclass(frozen=True, slots=True)
class Available:
    """What holders leave of a pool's counters."""

    left: Mapping[CounterId, int]  # in billionths
    is_overdrawn: bool  # some counter is below zero: then no device of the pool that takes from counters is given


class ConstraintError(Exception):
    """A device that a request for all devices must have breaks a constraint."""

    def __init__(self, need: Need, candidate: Candidate) -> None:
        super().__init__(need.name)
        self.need = need
        self.candidate = candidate


@dataclass(slots=True)
class Undo:
    """What taking a device changed."""

    need: Need
    candidate: Candidate
    pool: Pool
    charged: bool = False
    constraints: int = 0
    marked: bool = False
    consumed: Mapping[str, Quantity] | None = None  # of a share
    groups: Mapping[tuple[PoolId, str], GroupState | None] = field(default_factory=dict)  # as they were before


@dataclass(frozen=True, slots=True)
class Taken:
    """A device in the result of a claim."""

    need: Need
    candidate: Candidate
    consumed: Mapping[str, Quantity] | None  # None: not a share


class Trial:
    """What one attempt holds beside what is held already."""

    def __init__(
        self,
        claims: int,
        held: Held,
        features: Features,
        declared_features: tuple[str, ...],
        available: Callable[[Pool], Available],
        peers: Callable[[Pool], Mapping[str, GroupState]],
        find_attribute: Callable[[Need, str, Candidate], AttributeOnDevice | None],
    ) -> None:
        self.results: list[list[Taken]] = [[] for _ in range(claims)]
        self._held = held
        self._is_dedicated = held.is_dedicated
        self._features = features
        self._declared_features = declared_features
        self._available = available
        self._peers = peers
        self._find_attribute = find_attribute
        self._marked: dict[DeviceId, set[int]] = {}  # by which claims
        self._shares: dict[DeviceId, int] = {}
        self._consumed: dict[DeviceId, dict[str, int]] = {}
        self._charged: dict[PoolId, dict[CounterId, int]] = {}
        self._groups: dict[tuple[PoolId, str], GroupState] = {}

    def is_taken(self, need: Need, candidate: Candidate) -> bool:
        """Whether a device isn't there for a request: somebody has it, or, for administration, this claim does."""
        # Asked of every candidate of every search: what is most often enough for an answer comes first.
        device = candidate.id
        marked = self._marked.get(device)
        if marked:
            return not need.admin or need.claim in marked
        return self._is_dedicated(device) and not need.admin

    def consumed(self, device: DeviceId) -> Mapping[str, int]:
        """What this attempt takes of a device's capacity."""
        return self._consumed.get(device, NO_CAPACITY)

    def take(self, need: Need, pool: Pool, candidate: Candidate, *, must: bool) -> Undo | None:
        """Take a selectable device, or change nothing and return None.

        Raises: ConstraintError if it must be taken and a constraint is against it.
        """
        features, device = self._features, candidate.device
        shared = features.consumable_capacity and device.allow_multiple_allocations
        if (not (shared and need.admin) and self.is_taken(need, candidate)) or not self._may_skip(candidate):
            return None
        undo = Undo(need, candidate, pool)
        if device.consumes:
            if not features.partitionable_devices:
                return None
            if not (shared and self._is_shared(candidate.id)) and not self._charge(undo):
                self.give_back(undo, has_result=False)
                return None
        if device.taints and features.device_taints and not tolerates_taints(device, need.request.tolerations):
            self.give_back(undo, has_result=False)
            return None
        for constraint in need.constraints:
            if not constraint.add(self._find_attribute(need, constraint.name, candidate), need.base):
                self.give_back(undo, has_result=False)
                if must:
                    raise ConstraintError(need, candidate)
                return None
            undo.constraints += 1
        if not self._record(undo, shared=shared):
            self.give_back(undo, has_result=False)
            return None
        return undo

    def give_back(self, undo: Undo, *, has_result: bool = True) -> None:
        """Undo what `take` did."""
        candidate = undo.candidate
        if has_result:
            self.results[undo.need.claim].pop()
        if undo.consumed is not None:
            self._release_share(candidate.id, undo.consumed)
        if undo.marked:
            self._marked[candidate.id].discard(undo.need.claim)
        for constraint in reversed(undo.need.constraints[: undo.constraints]):
            constraint.remove(undo.need.base)
        for key, state in undo.groups.items():
            if state is None:
                self._groups.pop(key, None)
            else:
                self._groups[key] = state
        if undo.charged:
            charged = self._charged[undo.pool.id]
            for counter, amount in candidate.charges:
                charged[counter] -= amount

    def _may_skip(self, candidate: Candidate) -> bool:
        """Whether the node can leave out the operations that the slice says need none."""
        if self._features.channel != "experimental" or not candidate.slice.skip_node_operations:
            return True
        return self._features.optional_node_operations and OPTIONAL_OPERATIONS in self._declared_features

    def _is_shared(self, device: DeviceId) -> bool:
        """Whether a share of it is out, so that its counters are charged already."""
        if self._held.consumed(device) is not None or device in self._shares:
            return True
        # kubernetes/kubernetes#140433: until 1.36 a share without any capacity was charged twice.
        return self._features.mended and self._held.is_shared(device)

    def _charge(self, undo: Undo) -> bool:
        if self._features.compatibility_groups and not self._join_groups(undo):
            return False
        pool = undo.pool
        available = self._available(pool)
        if available.is_overdrawn:
            return False
        charged = self._charged.setdefault(pool.id, {})
        for counter, amount in undo.candidate.charges:
            charged[counter] = charged.get(counter, 0) + amount
        undo.charged = True
        return all(charged[counter] <= available.left[counter] for counter, _ in undo.candidate.charges)

    def _join_groups(self, undo: Undo) -> bool:
        peers = self._peers(undo.pool)
        before: dict[tuple[PoolId, str], GroupState | None] = {}
        undo.groups = before
        for consumed in undo.candidate.device.consumes:
            key = (undo.pool.id, consumed.counter_set)
            state = self._groups.get(key)
            before_it = peers.get(consumed.counter_set) if state is None else state
            narrowed = narrow_groups(before_it, consumed.compatibility_groups)
            if narrowed is None:
                return False
            before.setdefault(key, state)
            self._groups[key] = narrowed
        return True

    def _record(self, undo: Undo, *, shared: bool) -> bool:
        need, candidate = undo.need, undo.candidate
        if not shared:
            self._marked.setdefault(candidate.id, set()).add(need.claim)
            undo.marked = True
        consumed: Mapping[str, Quantity] | None = None
        if self._features.consumable_capacity:
            known = need.consumption[candidate]
            held = self._held.consumed(candidate.id) or NO_CAPACITY
            if not isinstance(known, dict) or not has_room(candidate.device, known, held, self.consumed(candidate.id)):
                return False
            if shared:
                consumed = undo.consumed = known
                self._add_share(candidate.id, known)
        self.results[need.claim].append(Taken(need, candidate, consumed))
        return True

    def _add_share(self, device: DeviceId, consumed: Mapping[str, Quantity]) -> None:
        self._shares[device] = self._shares.get(device, 0) + 1
        taken = self._consumed.setdefault(device, {})
        for name, amount in consumed.items():
            taken[name] = taken.get(name, 0) + amount.nano

    def _release_share(self, device: DeviceId, consumed: Mapping[str, Quantity]) -> None:
        self._shares[device] -= 1
        for name, amount in consumed.items():
            self._consumed[device][name] -= amount.nano
        if not self._shares[device]:
            del self._shares[device], self._consumed[device]


def tolerates_taints(device: Device, tolerations: tuple[Toleration, ...]) -> bool:
    """Whether no taint of a device stands against allocating it; effects other than these two never do."""
    return all(
        any(tolerates(toleration, taint) for toleration in tolerations)
        for taint in device.taints
        if taint.effect in BLOCKING_EFFECTS
    )


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration covers a taint. Source: k8s.io/dynamic-resource-allocation resourceclaim, ToleratesTaint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"
