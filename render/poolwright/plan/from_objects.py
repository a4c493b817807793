"""The demand of a cluster, from the objects that are applied to it and what specs add: peaks and reservations.

What counts is what is built, with teams' own components in it: only there stand a pod's claims, node selectors and
tolerations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from poolwright.allocation.claim import Claim, ClaimRequest, Request, Toleration
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import Features
from poolwright.allocation.placing import find_bar
from poolwright.allocation.pod import Workload as GivenWorkload
from poolwright.allocation.server_rules import ObjectKey
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.allocation.subjects import SubjectBuilder
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import ResourceSlice
from poolwright.plan.demand import Bystander, Demand, Scenario, Turnover, Workload, pin_to
from poolwright.plan.sources import Sources
from poolwright.specs.finding import Finding

_OTHER_MAKERS: Final = ("ReplicationController",)
_OVERLAP: Final = "concurrencyPolicy Allow (several jobs may run at once)"
_TOLERATED_BY_DAEMONS: Final = tuple(
    f"node.kubernetes.io/{name}"
    for name in ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
)
_NONE: Final[Mapping[ObjectKey, Finding]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """How many replicas a workload may have at once, and how many it must."""

    replicas: int  # the autoscaler's maximum, and what a rollout adds
    minimum: int
    surge: int = 0  # of the replicas, what a rollout adds
    origin: object = None  # where it is written


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """Devices of a class that others use: as many claims of one device each."""

    name: str  # of its own among workloads, each of which is called NAMESPACE/NAME
    class_name: str
    count: int
    reason: str = ""
    owner: str = ""
    origin: object = None  # where it is written


def build_demand(
    objects: ClusterObjects,
    features: Features,
    *,
    nodes: Iterable[Node],
    slices: Iterable[ResourceSlice],
    peaks: Mapping[tuple[str, str], Peak],
    reservations: Iterable[Reservation] = (),
    held: Iterable[Claim] = (),
    scenario: Scenario = "fresh",
    refused: Mapping[ObjectKey, Finding] = _NONE,
    sources: Sources | None = None,
) -> Demand:
    """What a cluster is asked to hold.

    objects: as its API server stores them; nodes, slices and pods among them aren't looked at.
    nodes:   captured and planned ones.
    slices:  of these nodes, with every taint in them.
    peaks:   by the workload's namespace and name; another one has its own replicas and its own surge for a peak.
    held:    claims that have devices; none in a fresh cluster.
    refused: objects that the API server doesn't store, and why.
    sources: where it is written, to be quoted.
    """
    nodes = tuple(nodes)
    builder = SubjectBuilder(objects, features, refused)
    shared = {claim_key(placed.value) for placed in objects.claims}
    workloads = [
        workload
        for placed in objects.workloads
        if (workload := _build_workload(placed.value, builder, shared, peaks, nodes)) is not None
    ]
    workloads = _tell_apart(workloads)
    return Demand(
        workloads=(*workloads, *(_build_reservation(one) for one in reservations)),
        nodes=nodes,
        slices=tuple(slices),
        classes={placed.value.name: placed.value for placed in objects.classes},
        features=features,
        held=tuple(held),
        scenario=scenario,
        sources=sources or Sources(),
        bystanders=tuple(one for placed in objects.workloads for one in _list_bystanders(placed.value, builder)),
        unread=tuple(_list_unread(objects)),
        overlapping=tuple(_list_overlapping(objects, workloads)),
    )


def _build_workload(
    given: GivenWorkload,
    builder: SubjectBuilder,
    shared: set[ClaimKey],
    peaks: Mapping[tuple[str, str], Peak],
    nodes: Sequence[Node],
) -> Workload | None:
    """The workload; None: its pods claim nothing, or there are none."""
    pods: list[Subject] = []
    unjudged: list[str] = []
    for group in given.pods:
        template = builder.build_pod(replace(group.template, name=given.name), kind="Pod", owner=given.name)
        pods += [template] * group.count
        unjudged += group.template.unjudged
    if not any(pod.claims or pod.problem for pod in pods):
        return None
    replicas = given.replicas
    if replicas is None:
        replicas, pods = 1, [bound for pod in pods for bound in _bind_to_nodes(pod, nodes)]
        if not pods:
            return None
    peak = _build_peak(given, replicas)
    if given.kind != "CronJob":  # which may be called after a placement, and is none
        peak = peaks.get((given.namespace, given.name), peak)
    claims = frozenset(claim_key(claim) for pod in pods for claim in pod.claims)
    is_unbounded = given.may_overlap and not claims <= shared
    return Workload(
        title=f"{given.namespace}/{given.name}",
        replicas=peak.replicas,
        minimum=peak.minimum,
        pods=tuple(pods),
        shared=claims & shared,
        unjudged=(*dict.fromkeys(unjudged), *([_OVERLAP] if is_unbounded else ())),
        is_per_node=given.replicas is None,
        is_unbounded=is_unbounded,
        turnover=_build_turnover(given, peak),
        owner=(given.kind, given.namespace, given.name),
        origin=peak.origin,
    )


def _tell_apart(workloads: Sequence[Workload]) -> list[Workload]:
    """The same, where those after the first with a name have their kind in their title; of CronJobs the first, too."""
    counts = Counter(one.title for one in workloads)
    seen: set[str] = set()
    told = []
    for one in workloads:
        kind = "" if one.owner is None else one.owner[0]
        is_again = one.title in seen or (kind == "CronJob" and counts[one.title] > 1)
        seen.add(one.title)
        told.append(replace(one, title=f"{one.title} ({kind})") if is_again else one)
    return told


def _list_overlapping(objects: ClusterObjects, workloads: Iterable[Workload]) -> Iterator[str]:
    """The CronJobs that are counted as one job of each, because none of their pods claims devices of its own."""
    unbounded = {one.owner for one in workloads if one.is_unbounded}
    for placed in objects.workloads:
        given = placed.value
        if given.may_overlap and (given.kind, given.namespace, given.name) not in unbounded:
            yield given.title


def _bind_to_nodes(pod: Subject, nodes: Sequence[Node]) -> Iterator[Subject]:
    """A DaemonSet's pods: one for each node that is open to them, and for no other one. So they are one replica.

    Source: kubernetes/kubernetes pkg/controller/daemon/util AddOrUpdateDaemonPodTolerations and
            ReplaceDaemonSetPodNodeNameNodeAffinity.
    """
    always = tuple(Toleration(key=key, operator="Exists") for key in _TOLERATED_BY_DAEMONS)
    pod = replace(pod, tolerations=(*pod.tolerations, *always))
    for node in sorted(nodes, key=lambda one: one.name):
        bar = find_bar(pod, node)
        if bar is None or bar.is_unknown:
            yield replace(pod, node_affinity=pin_to(node.name))


def _build_peak(given: GivenWorkload, replicas: int) -> Peak:
    """The peak of a workload that no spec speaks of: its own replicas, and what its own strategy adds."""
    surge = given.rolling.count(replicas)[0] if given.rolling else 0
    return Peak(replicas=replicas + surge, minimum=replicas, surge=surge)


def _build_turnover(given: GivenWorkload, peak: Peak) -> Turnover | None:
    if given.rolling is None:
        return None
    maximum = peak.replicas - peak.surge
    unavailable = given.rolling.count(maximum)[1]
    return Turnover(
        surge=peak.surge,
        # One of the two isn't zero, whatever the object says.
        unavailable=unavailable if peak.surge else max(unavailable, min(1, maximum)),
        waits_for_all=given.rolling.waits_for_all,
    )


def _list_bystanders(given: GivenWorkload, builder: SubjectBuilder) -> Iterator[Bystander]:
    """The pods of a workload none of which claims anything; `_build_workload` has those of all others."""
    pods = [
        (builder.build_pod(replace(group.template, name=given.name), kind="Pod", owner=given.name), group.count)
        for group in given.pods
    ]
    if any(pod.claims or pod.problem for pod, _ in pods):
        return
    for pod, count in pods:
        replicas = None if given.replicas is None else _build_peak(given, given.replicas).replicas * count
        yield Bystander(title=f"{given.namespace}/{given.name}", pod=pod, count=replicas)


def _list_unread(objects: ClusterObjects) -> Iterator[str]:
    """What makes pods beside the workloads."""
    counts = {"Pod": len(objects.pods), **{kind: objects.passed_over.get(kind, 0) for kind in _OTHER_MAKERS}}
    yield from (f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items() if count)


def _build_reservation(reservation: Reservation) -> Workload:
    """Its pods go wherever such a device is: what keeps others from a node or a device isn't known here.

    So no proof that a workload always fits rests on it, nor one that some must stay without.
    """
    anything = (Toleration(operator="Exists"),)
    request = Request(name="reserved", class_name=reservation.class_name, tolerations=anything)
    claim = Claim(namespace="", name=reservation.name, requests=(ClaimRequest(name=request.name, exactly=request),))
    pod = Subject(kind="Reservation", namespace="", name=reservation.name, claims=(claim,), tolerations=anything)
    return Workload(
        title=reservation.name,
        replicas=reservation.count,
        minimum=reservation.count,
        pods=(pod,),
        is_reservation=True,
        origin=reservation.origin,
    )
