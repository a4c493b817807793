"""Pods and the workloads that make them, as far as it decides which devices and nodes they get."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from poolwright.allocation.claim import Toleration
from poolwright.allocation.rolling import Rolling
from poolwright.specs.document import Plain
from poolwright.specs.quantity import Quantity

CLASS_RESOURCE: Final = "deviceclass.resource.kubernetes.io/"  # and a class name: its implicit extended resource


@dataclass(frozen=True, slots=True, kw_only=True)
class PodClaim:
    """An entry of a pod's `resourceClaims`: exactly one of the two."""

    name: str  # in the pod
    claim_name: str | None = None
    template_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A container, with what it takes of devices."""

    name: str
    is_init: bool = False
    is_sidecar: bool = False  # an init container that goes on running
    claims: tuple[tuple[str, str], ...] = ()  # claim in the pod and request of it; empty: all of its requests
    extended: Mapping[str, Quantity] = field(default_factory=dict)  # requests of extended resources, by name
    resources: tuple[str, ...] = ()  # the names of all its requests, sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A pod, or a pod template: that has no uid, no node and no status."""

    namespace: str
    name: str
    uid: str = ""
    owners: tuple[str, ...] = ()  # uids
    replica_set: str = ""  # the name of its ReplicaSet, if it has one
    controller: tuple[str, str] = ("", "")  # kind and name of the owner that made it; empty: none did
    labels: Mapping[str, str] = field(default_factory=dict)
    group_size: int = 0  # pods of its LeaderWorkerSet's group; 0: it belongs to none
    created: str = ""  # RFC 3339
    is_deleted: bool = False  # it has a deletionTimestamp
    claims: tuple[PodClaim, ...] = ()
    containers: tuple[Container, ...] = ()  # init containers first, as they start
    node_name: str = ""  # empty: not scheduled
    node_selector: Mapping[str, str] = field(default_factory=dict)
    affinity: Mapping[str, Plain] | None = None  # the required node affinity, a v1 NodeSelector
    tolerations: tuple[Toleration, ...] = ()
    scheduling_gates: tuple[str, ...] = ()  # the scheduler waits until there is none
    priority: int | None = 0  # None: it names a class whose priority isn't known
    phase: str = ""  # Pending | Running | Succeeded | Failed | Unknown; empty: not said
    # The claims made from its templates, by name in the pod; None: it turned out to need none.
    claim_names: Mapping[str, str | None] = field(default_factory=dict)
    extended_claim: str | None = None  # the one that the scheduler made for its extended resources
    requests: Mapping[str, Quantity] = field(default_factory=dict)  # what it asks of its node in all, by resource
    unjudged: tuple[str, ...] = ()  # fields that decide on its node too, and that aren't looked at here

    @property
    def title(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_finished(self) -> bool:
        """Whether it has run to its end, so that it holds nothing any more."""
        return self.phase in ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPods:
    """Pods of one kind in each replica of a workload."""

    role: str = ""  # leader | worker; empty where all are alike
    count: int = 1  # per replica
    template: Pod


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What makes pods from a template."""

    kind: str
    namespace: str
    name: str
    uid: str = ""
    owners: tuple[str, ...] = ()  # uids: a Deployment's ReplicaSet isn't a workload of its own
    replicas: int | None  # of a CronJob, one job's; None: one for each node that its pods may run on (DaemonSet)
    pods: tuple[WorkloadPods, ...]
    rolling: Rolling | None = None  # how new replicas replace old ones; None: they don't, or node by node
    may_overlap: bool = False  # a CronJob's: so many of its jobs as are due may run at once
    is_suspended: bool = False  # a CronJob that starts no job until somebody resumes it

    @property
    def title(self) -> str:
        """`Deployment namespace/name`."""
        return f"{self.kind} {self.namespace}/{self.name}"
