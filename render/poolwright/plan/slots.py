"""Slots: a name for each claim that a replica will need, and devices for all of them that go together.

The devices are one packing of everything at its peak, not a prediction: workloads in the plan's order, replicas by
number, each pod on the first node by name that can serve it, where the allocator gives it its devices. It speaks of
devices alone, whatever else nodes have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from poolwright.allocation.claim import Allocation, Claim
from poolwright.allocation.held import DeviceId
from poolwright.allocation.placing import Placement, Placer
from poolwright.allocation.reasons.explain import explain
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.plan.candidates import CandidateCounter, Candidates
from poolwright.plan.demand import Demand, Replica, Workload, build_replica, find_pinned
from poolwright.plan.interchangeable import Interchangeable
from poolwright.specs.digest import digest_value

ORDER: Final = (
    "slots are one packing and not a prediction: workloads in this order, replicas by number, each pod on the first "
    "node by name that can serve it, by devices alone"
)
MAX_LINES: Final = 4  # of a replica that has no devices; `allocate` lists all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotDevice:
    """A device of a slot."""

    request: str  # `request`, or `request/alternative`
    driver: str
    pool: str
    device: str
    exact: bool  # captured; else of a planned node: its name is made up
    interchangeable: int  # devices of its node that would do as well for the claim, itself included


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A claim that a replica will need."""

    id: str  # `slot:sha256:` and 64 hex digits
    namespace: str
    workload: str  # kind and name
    ordinal: int  # of the replica, from 0
    pod: int  # of the replica's pods, from 0
    pod_claim: str  # what the pod calls it; empty: that of its extended resources
    shared: bool = False  # it is the same claim for all replicas
    node: str = ""  # empty: the pod has no devices
    devices: tuple[SlotDevice, ...] = ()  # as they are given
    reasons: tuple[str, ...] = ()  # why the pod has no devices
    candidates: tuple[Candidates, ...] = ()  # by request that has devices, if they were counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """One packing of a cluster."""

    slots: tuple[Slot, ...]
    others: Mapping[DeviceId, int]  # devices that others' demand has, by its workload's number in the demand


def build_slots(demand: Demand, cluster: str, *, counts: bool = False) -> tuple[Slot, ...]:
    """The slots of every workload that the specs are of, replica by replica at the peak; see `pack_slots`."""
    return pack_slots(demand, cluster, counts=counts).slots


def pack_slots(demand: Demand, cluster: str, *, counts: bool = False) -> Packed:
    """The same, and what is left out of them: others' demand takes devices and has no slots.

    A replica of several pods has all its devices, or none; each pod of a DaemonSet is by itself.

    counts: count too what each request could choose from when its pod's turn came.
    Cost: one plan that places each pod once, and what `Acceptance` costs; to count, one look at each node for each pod.
    """
    packing = _Packing(demand, counts=counts)
    slots = tuple(
        slot
        for at, workload in enumerate(demand.workloads)
        for number in range(workload.replicas)
        for slot in packing.build_slots(cluster, build_replica(workload, at, number))
    )
    return Packed(slots=slots, others=packing.others)


def name_slot(cluster: str, owner: tuple[str, str, str], ordinal: int, pod_claim: str, place: str | int = 0) -> str:
    """What a slot is called: it stays while the claim's template changes.

    owner: kind, namespace and name of the workload.
    place: of the pod among the replica's, which tells those after the first apart; of a DaemonSet's its node.
    """
    kind, namespace, name = owner
    key = [cluster, namespace, f"{kind}/{name}", ordinal, pod_claim, *([place] if place else [])]
    return f"slot:{digest_value(key)}"


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What came of a pod."""

    placement: Placement | None = None
    reasons: tuple[str, ...] = ()
    candidates: Mapping[ClaimKey, tuple[Candidates, ...]] = field(default_factory=dict)  # of its new claims


class _Packing:
    """What everybody got so far."""

    def __init__(self, demand: Demand, *, counts: bool) -> None:
        self._demand = demand
        self._placer = Placer(demand.build_allocator(), demand.nodes, demand.held)
        self._counter = CandidateCounter(self._placer) if counts else None
        self._alike = Interchangeable(demand)
        self.others: dict[DeviceId, int] = {}
        self._refused: dict[int, tuple[int, tuple[str, ...]]] = {}  # by workload what was held, and the reasons then

    def build_slots(self, cluster: str, replica: Replica) -> Iterator[Slot]:
        """Place a replica; its slots."""
        workload = self._demand.workloads[replica.workload]
        outcomes = self._place(workload, replica)
        if workload.owner is None:
            placed = [one.placement for one in outcomes if one.placement is not None]
            given = [each for one in placed for found in one.allocations.values() for each in found.devices]
            self.others.update(((each.driver, each.pool, each.device), replica.workload) for each in given)
            return
        kind, namespace, name = workload.owner
        for at, (pod, outcome) in enumerate(zip(replica.pods, outcomes, strict=True)):
            place = (find_pinned(pod) if workload.is_per_node else None) or at
            for claim, own in zip(pod.claims, workload.pods[at].claim_names, strict=True):
                devices = tuple(self._list_devices(workload, pod, claim, outcome.placement))
                yield Slot(
                    id=name_slot(cluster, workload.owner, replica.number, own, place),
                    namespace=namespace,
                    workload=f"{kind}/{name}",
                    ordinal=replica.number,
                    pod=at,
                    pod_claim=own,
                    shared=claim_key(claim) in workload.shared,
                    node=(outcome.placement.node if outcome.placement else None) or "",
                    devices=devices,
                    reasons=outcome.reasons,
                    candidates=outcome.candidates.get(claim_key(claim), ()),
                )

    def _place(self, workload: Workload, replica: Replica) -> list[_Outcome]:
        """What came of each pod: all of them go somewhere or none does, but those of a DaemonSet are by themselves."""
        if workload.unjudged:
            reasons = tuple(f"its pods have {one}, which is not looked at" for one in workload.unjudged)
            return [_Outcome(reasons=reasons)] * len(replica.pods)
        if workload.is_per_node:
            return [self._place_pod(pod) for pod in replica.pods]
        known = self._refused.get(replica.workload)
        if known is not None and known[0] == self._placer.version:
            return [_Outcome(reasons=known[1])] * len(replica.pods)
        done: list[_Outcome] = []
        for pod in replica.pods:
            outcome = self._place_pod(pod)
            if outcome.placement is None:
                self._take_back([one.placement for one in done if one.placement is not None])
                self._refused[replica.workload] = self._placer.version, outcome.reasons
                return [outcome] * len(replica.pods)
            done.append(outcome)
        return done

    def _place_pod(self, pod: Subject) -> _Outcome:
        placement = self._placer.try_place(pod)
        if not placement.is_placed:
            return _Outcome(reasons=tuple(one.line for one in explain(self._placer, placement)[:MAX_LINES]))
        counted = {} if self._counter is None else self._counter.count(placement)
        self._placer.keep(placement)
        return _Outcome(placement, candidates=counted)

    def _take_back(self, placements: Sequence[Placement]) -> None:
        for placement in reversed(placements):
            for key in placement.allocations:
                if key not in placement.found:
                    self._placer.release(key)

    def _list_devices(
        self, workload: Workload, pod: Subject, claim: Claim, placement: Placement | None
    ) -> Iterator[SlotDevice]:
        if placement is None:
            return
        for one in (placement.allocations.get(claim_key(claim)) or claim.allocation or Allocation()).devices:
            device = one.driver, one.pool, one.device
            yield SlotDevice(
                request=one.request,
                driver=one.driver,
                pool=one.pool,
                device=one.device,
                exact=not self._alike.is_planned(device),
                interchangeable=self._alike.count(workload, pod, claim, one.request, device, placement.node or ""),
            )
