"""What a cluster is asked to hold: workloads at their peak, its nodes and devices, and what is held already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import Claim, DeviceClass
from poolwright.allocation.features import Features
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import ResourceSlice
from poolwright.plan.device_order import DeviceOrder, reorder
from poolwright.plan.sources import Sources
from poolwright.specs.document import Plain

Scenario = Literal["fresh", "live", "rollout", "loss"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turnover:
    """How new replicas of a workload replace the old ones."""

    surge: int  # replicas beyond its maximum while they do
    unavailable: int  # of the maximum that may be away; zero only with a surge, or where there are none
    waits_for_all: bool = False  # ready replicas count from the last one of the surge: one that waits holds up all


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Replicas that are alike."""

    title: str  # of its own in a demand
    replicas: int  # peak demand: the autoscaler's maximum, and what a rollout adds
    minimum: int = 0  # that must serve
    # One replica's pods, each with its claims as a prototype; several are a replica group, all of which must run.
    pods: tuple[Subject, ...] = ()
    # Claims of the pods that every replica uses as they are; all others that aren't allocated are made anew for each.
    shared: frozenset[ClaimKey] = frozenset()
    # What a pod goes by that isn't modelled (pod affinity, topology spread, ...), in words: its verdict is undecided.
    unjudged: tuple[str, ...] = ()
    # It is a DaemonSet's: one replica, with a pod that is bound to each node, so that nobody asks for more of it.
    is_per_node: bool = False
    is_unbounded: bool = False  # it may have more replicas than are counted here, and how many isn't known
    turnover: Turnover | None = None  # None: its replicas aren't replaced by new ones, or node by node
    owner: tuple[str, str, str] | None = None  # kind, namespace and name; None: others' demand
    is_reservation: bool = False  # others' demand: counted, and no finding of its own
    origin: object = None  # where it comes from; nothing here looks at it

    @property
    def is_group(self) -> bool:
        """Whether a replica takes several pods, which are placed one by one."""
        return len(self.pods) > 1

    @property
    def maximum(self) -> int:
        """Replicas at the peak without what a rollout adds."""
        return self.replicas - (self.turnover.surge if self.turnover else 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bystander:
    """Pods that claim no device, and take of nodes what others may need."""

    title: str
    pod: Subject
    count: int | None  # at once; None: one for each node that is open to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """Everything that verdicts follow from."""

    workloads: tuple[Workload, ...]  # in a fixed order: that of the answers
    nodes: tuple[Node, ...]  # in any order
    slices: tuple[ResourceSlice, ...]  # in any order
    classes: Mapping[str, DeviceClass]
    features: Features
    held: tuple[Claim, ...] = ()  # claims with an allocation; nothing of it departs
    scenario: Scenario = "fresh"
    bystanders: tuple[Bystander, ...] = ()
    unread: tuple[str, ...] = ()  # what else makes pods, of which nothing is known: `1 ReplicationController`
    overlapping: tuple[str, ...] = ()  # titles of CronJobs of which one job is counted, though more may run at once
    sources: Sources = field(default_factory=Sources)  # where it is written; no verdict follows from it

    def build_allocator(self, order: DeviceOrder = None) -> Allocator:
        """The allocator of the cluster's version over its devices, in the order they are published in or another."""
        slices = self.slices if order is None else reorder(self.slices, order)
        return Allocator(slices, self.classes, self.features)


@dataclass(frozen=True, slots=True, kw_only=True)
class Replica:
    """One replica of a workload, with pods and claims of its own."""

    workload: int  # index in the demand
    number: int  # from 0
    pods: tuple[Subject, ...]


def build_subjects(demand: Demand) -> tuple[Replica, ...]:
    """Every replica at peak, workload by workload, its claims with made-up names."""
    return tuple(
        build_replica(demand.workloads[index], index, number)
        for index in range(len(demand.workloads))
        for number in range(demand.workloads[index].replicas)
    )


def build_replica(workload: Workload, index: int, number: int) -> Replica:
    """A replica: its pods and new claims are called after its number, so that no two share a claim by mistake."""
    return Replica(
        workload=index,
        number=number,
        pods=tuple(_copy_pod(workload, pod, at, number) for at, pod in enumerate(workload.pods)),
    )


def _copy_pod(workload: Workload, pod: Subject, at: int, number: int) -> Subject:
    suffix = f"{number}-{at}" if workload.is_group else f"{number}"
    claims = tuple(
        claim
        if claim.allocation is not None or claim_key(claim) in workload.shared
        else replace(claim, name=f"{workload.title}:{claim.name}-{suffix}", uid="")
        for claim in pod.claims
    )
    return replace(pod, name=f"{pod.name}-{suffix}", uid="", claims=claims)


def keep_workloads(demand: Demand, members: Iterable[int]) -> Demand:
    """Some workloads alone, which compete with no others. Where nodes say what they have, those stand beside."""
    kept = tuple(members)
    beside = tuple(
        Bystander(title=one.title, pod=pod, count=one.replicas)
        for at, one in enumerate(demand.workloads if any(node.allocatable for node in demand.nodes) else ())
        if at not in kept
        for pod in one.pods
    )
    return replace(
        demand, workloads=tuple(demand.workloads[at] for at in kept), bystanders=(*demand.bystanders, *beside)
    )


def pin_to(node: str) -> dict[str, Plain]:
    """The node affinity of a DaemonSet's pod, which is bound to one node."""
    there: Plain = {"key": "metadata.name", "operator": "In", "values": [node]}
    return {"nodeSelectorTerms": [{"matchFields": [there]}]}


def find_pinned(pod: Subject) -> str | None:
    """The one node that a pod is bound to, as those of a DaemonSet are; None: it is bound to none."""
    match pod.node_affinity:
        case {"nodeSelectorTerms": [{"matchFields": [{"operator": "In", "values": [str(name)]}], **others}]}:
            return None if others else name
    return None
