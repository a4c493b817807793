"""Pods that no peak counts: what waits of them competes for devices, and is no finding of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from poolwright.allocation.claim import Claim
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.engine import split
from poolwright.plan.live.replicas import LivePod
from poolwright.plan.methods.context import build_context


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Such pods that wait for devices."""

    workloads: tuple[Workload, ...] = ()  # those that compete with a judged workload; alike ones together
    uncounted: int = 0  # that wait too, and of which it isn't known what they will ask for, or when


def build_waiting(strangers: Iterable[LivePod], demand: Demand) -> Waiting:
    """Those that wait for what a demand is judged on.

    strangers: pods that no judged workload made, or that are more than its peak; none has ended.
    demand:    of the judged workloads alone.
    Cost:      the shapes of the whole demand once more, if anybody waits.
    """
    waiting, classes = [one for one in strangers if _is_waiting(one)], set(demand.classes)
    known = [one for one in waiting if not one.subject.problem and _list_classes(one.subject) <= classes]
    workloads = _group(known, frozenset().union(*(one.shared for one in demand.workloads)))
    return Waiting(workloads=_keep_rivals(workloads, demand), uncounted=len(waiting) - len(known))


def _is_waiting(one: LivePod) -> bool:
    """Whether a pod is still to be placed, and needs devices that it doesn't have."""
    if one.pod.node_name or one.pod.is_deleted:
        return False
    lacks = any(claim.allocation is None for claim in one.subject.claims)
    return lacks or (bool(one.subject.problem) and bool(one.pod.claims))


def _list_classes(subject: Subject) -> set[str]:
    requests = [entry for claim in subject.claims for entry in claim.requests]
    asked = (one for entry in requests for one in (entry.exactly, *entry.first_available))
    return {one.class_name for one in asked if one is not None}


def _group(pods: Sequence[LivePod], judged: frozenset[ClaimKey]) -> list[Workload]:
    """Pods that ask for the same of their own stand together; one that shares a claim stands alone."""
    uses = Counter(claim_key(claim) for one in pods for claim in one.subject.claims)
    shared = judged | {key for key, count in uses.items() if count > 1}
    groups: dict[object, list[LivePod]] = {}
    for one in pods:
        keys = frozenset(map(claim_key, one.subject.claims))
        is_plain = keys.isdisjoint(shared) and not one.holds
        groups.setdefault((one.subject.need_key if is_plain else one.pod.title, one.pod.unjudged), []).append(one)
    return [
        Workload(
            title=found[0].subject.title,
            replicas=len(found),
            minimum=len(found),
            pods=(found[0].subject,),
            shared=shared & frozenset(map(claim_key, found[0].subject.claims)),
            unjudged=found[0].pod.unjudged,
            is_reservation=True,
        )
        for found in groups.values()
    ]


def _keep_rivals(workloads: Sequence[Workload], demand: Demand) -> tuple[Workload, ...]:
    """Those that share a device, a counter or a claim with a judged workload, directly or by others."""
    if not workloads or not demand.workloads:
        return ()
    judged = len(demand.workloads)
    both = replace(demand, workloads=(*demand.workloads, *workloads))
    parts = [part for part in split(build_context(both, shows=False)) if min(part) < judged]
    return tuple(workloads[at - judged] for at in sorted(at for part in parts for at in part) if at >= judged)


def reduce_reservations(reserved: Iterable[Workload], held: Iterable[Claim]) -> Iterator[Workload]:
    """Reservations without what others have of them already: devices that were asked for of their class.

    held: what strangers hold. Of several reservations of a class the first ones have it.
    """
    has: Counter[str] = Counter()
    for claim in held:
        asked = {entry.name: entry.exactly.class_name for entry in claim.requests if entry.exactly is not None}
        for entry in claim.requests:
            asked |= {f"{entry.name}/{one.name}": one.class_name for one in entry.first_available}
        results = () if claim.allocation is None else claim.allocation.devices
        has.update(asked.get(one.request, "") for one in results if not one.admin_access)
    for workload in reserved:
        request = workload.pods[0].claims[0].requests[0].exactly
        class_name = "" if request is None else request.class_name
        count = min(workload.replicas, has[class_name]) if class_name else 0
        has[class_name] -= count
        yield replace(workload, replicas=workload.replicas - count)
