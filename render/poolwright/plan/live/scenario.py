"""The scenario `live`: what is held stays, replicas that run keep their devices, and the rest of each peak is judged.

Held is every allocated claim: of judged workloads, of strangers, of pods and claims that are being deleted. A replica
runs if all its pods have their nodes and devices; one that has a part of them is judged by what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from poolwright.allocation.claim import AllocatedDevice, Claim
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.held import DeviceId
from poolwright.allocation.pod import Workload as GivenWorkload
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.allocation.subjects import SubjectBuilder
from poolwright.catalog.resource_slice import newest_pools
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.live.owners import Owners, Seat, WorkloadKey, find_seat, key_of
from poolwright.plan.live.replicas import LivePod, Observed, build_observed
from poolwright.plan.live.snapshot import Snapshot
from poolwright.plan.live.strangers import build_waiting, reduce_reservations


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What a workload of the judged demand is of: replicas of an observed one that are still to be placed."""

    workload: str  # the observed one's title
    first: int  # the number of its first replica there: those that run come before it
    places: tuple[int, ...]  # of a replica, at which its pods stand


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A cluster with what it holds, and what is still to be placed there."""

    snapshot: Snapshot
    demand: Demand  # what is still to be placed, and what waits of others; `held` holds
    rests: tuple[Rest, ...]  # of the demand's first workloads, one by one; the others are others'
    workloads: tuple[Observed, ...]  # in the order of the fresh demand
    unpublished: tuple[tuple[DeviceId, str], ...] = ()  # held devices that no slice has, each with its claim's title
    strangers: int = 0  # claims that hold devices and that no judged workload's pod uses
    orphans: int = 0  # claims that hold devices for pods that weren't captured
    uncounted: int = 0  # pods of others that wait, and of which it isn't known what for

    def find(self, title: str) -> Observed | None:
        """What was observed of a workload; None: it is none of the judged ones."""
        return next((one for one in self.workloads if one.workload.title == title), None)


def build_live(objects: ClusterObjects, fresh: Demand, snapshot: Snapshot) -> Live:
    """What is still to be placed of a demand in a cluster that runs.

    objects:  that are applied to it, as its API server stores them; `fresh` was built from them.
    fresh:    with the snapshot's nodes and slices.
    snapshot: that `check_snapshot` finds whole.
    """
    held = tuple(claim for claim in _list_claims(snapshot.objects) if claim.allocation is not None)
    classes = {placed.value.name: placed.value for placed in snapshot.objects.classes}
    fresh = replace(fresh, held=held, scenario="live", classes={**classes, **fresh.classes})
    seats, strangers = _sort_pods(objects, fresh, snapshot.objects)
    users = {claim_key(claim) for found in seats.values() for _, one in found for claim in one.subject.claims}
    others = [claim for claim in held if claim_key(claim) not in users]
    claims = {claim_key(claim): claim for claim in _list_claims(snapshot.objects)}
    given = {key_of(one): one for one in _list_workloads(objects)}
    observed = tuple(
        build_observed(_name_claims(one, claims), given[one.owner], seats.get(one.owner, ()))
        for one in fresh.workloads
        if one.owner is not None
    )
    rests = [found for one in observed for found in _list_rests(one)]
    reserved = list(reduce_reservations([one for one in fresh.workloads if one.is_reservation], others))
    demand = replace(
        fresh, workloads=(*(workload for _, workload in rests), *(one for one in reserved if one.replicas))
    )
    waiting = build_waiting((*strangers, *(pod for one in observed for pod in one.excess)), demand)
    uids = {placed.value.uid for placed in snapshot.objects.pods}
    return Live(
        snapshot=snapshot,
        demand=replace(demand, workloads=(*demand.workloads, *waiting.workloads)),
        rests=tuple(rest for rest, _ in rests),
        workloads=observed,
        unpublished=tuple(_list_unpublished(fresh)),
        strangers=len(others),
        orphans=sum(bool(claim.reserved_for) and uids.isdisjoint(claim.reserved_for) for claim in held),
        uncounted=waiting.uncounted,
    )


def _list_claims(objects: ClusterObjects) -> list[Claim]:
    return [placed.value for placed in objects.claims]


def _list_workloads(objects: ClusterObjects) -> list[GivenWorkload]:
    return [placed.value for placed in objects.workloads]


def _sort_pods(
    objects: ClusterObjects, fresh: Demand, observed: ClusterObjects
) -> tuple[dict[WorkloadKey, list[tuple[Seat, LivePod]]], list[LivePod]]:
    """The pods that haven't ended, by the workload that made them, and all others; by name."""
    keys = {one.owner for one in fresh.workloads}
    judged = [one for one in _list_workloads(objects) if key_of(one) in keys]
    owners = Owners(judged, _list_workloads(observed))
    builder = SubjectBuilder(observed, fresh.features, {})
    seats: dict[WorkloadKey, list[tuple[Seat, LivePod]]] = {}
    strangers: list[LivePod] = []
    for pod in sorted((placed.value for placed in observed.pods), key=lambda pod: (pod.namespace, pod.name)):
        if pod.is_finished:
            continue
        one, key = LivePod(pod=pod, subject=builder.build_pod(pod)), owners.find(pod)
        seat = None if key is None else find_seat(pod, key[0])
        if key is None or seat is None:
            strangers.append(one)
        else:
            seats.setdefault(key, []).append((seat, one))
    return seats, strangers


def _name_claims(workload: Workload, claims: dict[ClaimKey, Claim]) -> Workload:
    """A workload whose claims with names of their own are those that are there, which can't be changed."""

    def observe(pod: Subject) -> Subject:
        own = [claim_key(claim) in workload.shared for claim in pod.claims]
        found = [
            claims.get(claim_key(claim), claim) if named else claim
            for claim, named in zip(pod.claims, own, strict=True)
        ]
        leaving = next((one for one, named in zip(found, own, strict=True) if named and one.is_deleted), None)
        problem = "" if leaving is None else f'resourceclaim "{leaving.name}" is being deleted'
        return replace(pod, claims=tuple(found), problem=pod.problem or problem)

    return replace(workload, pods=tuple(map(observe, workload.pods)))


def _list_rests(one: Observed) -> Iterator[tuple[Rest, Workload]]:
    """What is still to be placed of a workload: begun replicas, each of its own kind, and then whole ones."""
    workload, number = one.workload, len(one.running)
    for begun in one.begun:
        rest = Rest(workload=workload.title, first=number, places=begun.places)
        yield rest, replace(workload, title=f"{workload.title} ({begun.name})", replicas=1, pods=begun.pods)
        number += 1
    whole = one.to_place - len(one.begun)
    if whole:
        rest = Rest(workload=workload.title, first=number, places=tuple(range(len(workload.pods))))
        yield rest, replace(workload, replicas=whole)


def _list_unpublished(demand: Demand) -> Iterator[tuple[DeviceId, str]]:
    """Devices that are held and that no slice of its pool's newest generation has."""
    pools = newest_pools(demand.slices).items()
    known = {(*pool, device.name) for pool, slices in pools for one in slices for device in one.devices}
    found = [
        ((one.driver, one.pool, one.device), claim.title)
        for claim in demand.held
        for one in _list_results(claim)
        if not one.admin_access and (one.driver, one.pool, one.device) not in known
    ]
    yield from sorted(set(found))


def _list_results(claim: Claim) -> Sequence[AllocatedDevice]:
    return () if claim.allocation is None else claim.allocation.devices
