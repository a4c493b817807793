"""A replica of several pods: a LeaderWorkerSet, whose groups start, fail and are replaced as a whole.

Source: sigs.k8s.io/lws, API version v1.
"""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import EnvelopeClosure, UnitClosure
from poolwright.objects.kubernetes import Object
from poolwright.objects.pod import build_pod

KIND: Final = "LeaderWorkerSet"
# On every pod of a group: 0 is the leader, which alone takes requests.
LEADER_ONLY: Final = {"leaderworkerset.sigs.k8s.io/worker-index": "0"}
TEMPLATES: Final = ("leaderTemplate", "workerTemplate")


def build_leader_worker_set(envelope: EnvelopeClosure, metadata: Object) -> Object:
    """The groups of an envelope: size and pods; number and roll-out are the cluster's. Defaults are written out."""
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": KIND,
        "metadata": metadata,
        "spec": {
            "startupPolicy": "LeaderCreated",
            "leaderWorkerTemplate": {
                "size": envelope.spec.topology.nodes,
                # A rank that is gone takes the others' work with it.
                "restartPolicy": "RecreateGroupOnPodRestart",
                "leaderTemplate": build_pod(envelope, "leader"),
                "workerTemplate": build_pod(envelope, "worker"),
            },
        },
    }


def decide_rollout(closure: UnitClosure) -> Object:
    """How an update replaces groups; without devices for another one, a group must go first."""
    return {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {
            "maxSurge": closure.surge,
            "maxUnavailable": 0 if closure.surge else 1,
            "partition": 0,
        },
    }
