"""What the API server fills in where an object doesn't say it. Parsing applies it: values have no gaps."""

from __future__ import annotations

from typing import Final

from poolwright.allocation.claim import EXACT_COUNT, Toleration

NAMESPACE: Final = "default"  # of an object that names none; kubectl puts its context's there
SCHEDULER: Final = "default-scheduler"
# Of the priority classes that every cluster has. Source: kubernetes/kubernetes pkg/apis/scheduling types.
PRIORITIES: Final = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_LOST: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_LOST_S: Final = 300
# Of the pods of a DaemonSet: kubernetes/kubernetes pkg/controller/daemon/util AddOrUpdateDaemonPodTolerations.
_DAEMON: Final = (
    *((key, "NoExecute") for key in _LOST),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def default_mode(mode: str | None) -> str:
    """A request's `allocationMode`. Source: kubernetes/kubernetes pkg/apis/resource/v1 defaults."""
    return mode or EXACT_COUNT


def default_count(mode: str, count: int | None) -> int:
    """A request's `count`: one where devices are counted, none where all are taken. A 0 is as good as none."""
    return count or (1 if mode == EXACT_COUNT else 0)


def default_operator(operator: str | None) -> str:
    """The operator of a toleration."""
    return operator or "Equal"


def default_replicas(replicas: int | None) -> int:
    """The replicas of a workload, and a Job's parallelism."""
    return 1 if replicas is None else replicas


def default_pod_tolerations(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """A pod's tolerations with those of nodes that are lost for a while.

    Source: the admission plugin DefaultTolerationSeconds, which is on by default.
    """
    missing = tuple(
        Toleration(key=key, operator="Exists", effect="NoExecute", seconds=_LOST_S)
        for key in _LOST
        if not any(one.key in ("", key) and one.effect in ("", "NoExecute") for one in tolerations)
    )
    return (*tolerations, *missing)


def default_daemon_tolerations(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """The tolerations of a DaemonSet's pods: its controller lets them run on nodes that are lost, full or cordoned."""
    return (*tolerations, *(Toleration(key=key, operator="Exists", effect=effect) for key, effect in _DAEMON))
