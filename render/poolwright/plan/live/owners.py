"""Which workload made a pod, and at which place of which replica it stands.

Owners decide, and never labels alone, which anybody may give to any pod: the chain of owners as far as the objects
are there, then the names that controllers give to what they make. A pod that no owner leads from is a stranger, even
with a unit's labels.

Source: kubernetes/kubernetes pkg/controller/deployment (a ReplicaSet is called after its Deployment and the hash in
its pods' label) and pkg/controller/cronjob getJobName; kubernetes-sigs/lws pkg/controllers (a group's StatefulSets and
the labels of its pods).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from poolwright.allocation.pod import Pod, Workload

WorkloadKey = tuple[str, str, str]  # kind, namespace, name
Seat = tuple[str, int]  # a replica by name, and the place in it that a pod has, from 0
HASH_LABEL: Final = "pod-template-hash"
SET_LABEL: Final = "leaderworkerset.sigs.k8s.io/name"
GROUP_LABEL: Final = "leaderworkerset.sigs.k8s.io/group-index"
PLACE_LABEL: Final = "leaderworkerset.sigs.k8s.io/worker-index"
MAX_DIGITS: Final = 9  # of a number in a label


class Owners:
    """Finds the workload of a pod among those that are judged."""

    def __init__(self, judged: Iterable[Workload], observed: Iterable[Workload]) -> None:
        """What is known of workloads.

        observed: those whose objects were captured with the pods; often none were.
        """
        self._judged = {key_of(one) for one in judged}
        self._observed = {one.uid: one for one in observed if one.uid}

    def find(self, pod: Pod) -> WorkloadKey | None:
        """The workload that made a pod; None: none of those that are judged."""
        kind, name = self._find_top(pod)
        keys = [(kind, pod.namespace, name)]
        if kind == "ReplicaSet":
            suffix = f"-{pod.labels.get(HASH_LABEL, '')}"
            keys += [("Deployment", pod.namespace, name.removesuffix(suffix))] if name.endswith(suffix) else []
        elif kind == "StatefulSet" and SET_LABEL in pod.labels:
            of = pod.labels[SET_LABEL]
            is_own = name in (of, f"{of}-{pod.labels.get(GROUP_LABEL)}")
            keys += [("LeaderWorkerSet", pod.namespace, of)] if is_own else []
        elif kind == "Job":  # a CronJob calls its own after the minute at which each is due
            of, _, minute = name.rpartition("-")
            keys += [("CronJob", pod.namespace, of)] if _is_number(minute) else []
        return next((key for key in keys if key in self._judged), None)

    def _find_top(self, pod: Pod) -> tuple[str, str]:
        """Kind and name of the last owner that is there; without any, of what the pod says made it."""
        found, owners, seen = pod.controller, pod.owners, set[str]()
        while True:
            above = next((one for one in owners if one in self._observed and one not in seen), None)
            if above is None:
                return found
            seen.add(above)
            workload = self._observed[above]
            found, owners = (workload.kind, workload.name), workload.owners


def key_of(workload: Workload) -> WorkloadKey:
    """What a workload is known by."""
    return workload.kind, workload.namespace, workload.name


def find_seat(pod: Pod, kind: str) -> Seat | None:
    """Where a pod stands in its workload; None: its labels don't say, as its controller would.

    kind: of the workload that made it.
    """
    if kind != "LeaderWorkerSet":
        return pod.name, 0
    group, place = pod.labels.get(GROUP_LABEL, ""), pod.labels.get(PLACE_LABEL, "")
    if not (_is_number(group) and _is_number(place)):
        return None
    return f"{pod.labels[SET_LABEL]}-{int(group)}", int(place)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS
