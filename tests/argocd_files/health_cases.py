"""Objects as clusters have them, and what their health scripts say of each: kind -> rule -> (object, answer)."""

from __future__ import annotations

from typing import Any

Json = Any
Case = tuple[Json, dict[str, str]]

TIME = "2026-11-30T12:00:00Z"


def said(kind: str, status: str, reason: str = "Because", **more: Json) -> Json:
    """A condition."""
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": "token=s3cret\nsecond line",
        "lastTransitionTime": TIME,
        **more,
    }


def healthy(message: str) -> dict[str, str]:
    return {"status": "Healthy", "message": message}


def degraded(message: str) -> dict[str, str]:
    return {"status": "Degraded", "message": message}


def progressing(message: str) -> dict[str, str]:
    return {"status": "Progressing", "message": message}


_POD = {"apiVersion": "v1", "kind": "Pod", "name": "chat-70b-7d9", "uid": "0a", "controller": True}


def claim(*devices: Json, owned: bool = False, users: int = 1, allocated: int = 2, failing: bool = False) -> Json:
    """A claim with devices gpu-0, gpu-1 and so on; `devices` is what drivers report."""
    metadata: Json = {"name": "chat-70b", "namespace": "chat"}
    if owned:
        metadata["ownerReferences"] = [_POD]
    binding = {"bindingConditions": ["attached"], "bindingFailureConditions": ["attach-failed"]} if failing else {}
    results = [
        {"driver": "gpu.nvidia.com", "pool": "node-1", "device": f"gpu-{number}", "request": "gpu", **binding}
        for number in range(allocated)
    ]
    used = [{"resource": "pods", "name": f"chat-70b-{number}", "uid": f"{number}"} for number in range(users)]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "interactive-80g"}}]}},
        "status": {
            "allocation": {"devices": {"results": results}, "allocationTimestamp": TIME},
            **({"reservedFor": used} if used else {}),
            **({"devices": list(devices)} if devices else {}),
        },
    }


def only_of_device(number: int, made: Json) -> Json:
    """The claim with binding conditions for one of its devices."""
    for result in made["status"]["allocation"]["devices"]["results"]:
        if result["device"] != f"gpu-{number}":
            del result["bindingConditions"], result["bindingFailureConditions"]
    return made


def device(number: int, *conditions: Json) -> Json:
    return {"driver": "gpu.nvidia.com", "pool": "node-1", "device": f"gpu-{number}", "conditions": list(conditions)}


def unallocated(owned: bool, status: Json) -> Json:
    found = claim(owned=owned)
    del found["status"]
    return {**found, **({} if status is None else {"status": status})}


_WAITS = healthy("not allocated: a pod's use allocates it")
_POD_WAITS = healthy("not allocated: its pod waits for devices")
_NOT_READY = "allocated, but its drivers call 1 of 2 devices not ready"
_NOT_BOUND = "allocated, but binding failed for 1 of 2 devices"
_IN_THE_WAY = " (Degraded would stop every sync of its workload)"
CLAIMS: dict[str, Case] = {
    "unallocated-is-healthy": (unallocated(False, None), _WAITS),
    "unallocated-with-an-empty-status": (unallocated(False, {}), _WAITS),
    "unallocated-of-a-pod": (unallocated(True, {}), _POD_WAITS),
    "in-use": (claim(), healthy("allocated: devices 2, reserved for 1")),
    "used-by-many": (claim(users=3), healthy("allocated: devices 2, reserved for 3")),
    "allocated-and-unused": (claim(users=0, owned=True), healthy("allocated: devices 2, reserved for 0")),
    "devices-ready": (claim(device(0, said("Ready", "True"))), healthy("allocated: devices 2, reserved for 1")),
    # Not known is no proof.
    "readiness-unknown": (
        claim(device(0, said("Ready", "Unknown")), owned=True),
        healthy("allocated: devices 2, reserved for 1"),
    ),
    "device-not-ready": (claim(device(1, said("Ready", "False")), owned=True), degraded(_NOT_READY)),
    # What Argo CD applies must never stop a sync, and so neither a rollback.
    "device-of-an-applied-claim-not-ready": (
        claim(device(1, said("Ready", "False"))),
        healthy(_NOT_READY + _IN_THE_WAY),
    ),
    "binding-failed": (claim(device(0, said("attach-failed", "True")), owned=True, failing=True), degraded(_NOT_BOUND)),
    "binding-of-an-applied-claim-failed": (
        claim(device(0, said("attach-failed", "True")), failing=True),
        healthy(_NOT_BOUND + _IN_THE_WAY),
    ),
    # A driver's own condition means what the allocation says that it means.
    "another-devices-failure": (
        claim(device(0, said("attach-failed", "True")), owned=True),
        healthy("allocated: devices 2, reserved for 1"),
    ),
    "failure-of-the-one-device-on-the-other": (
        only_of_device(1, claim(device(0, said("attach-failed", "True")), owned=True, failing=True)),
        healthy("allocated: devices 2, reserved for 1"),
    ),
    "binding-still-waited-for": (
        claim(device(0, said("attached", "False"), said("attach-failed", "False")), owned=True, failing=True),
        healthy("allocated: devices 2, reserved for 1"),
    ),
    "said-of-a-former-generation": (
        {
            **claim(device(0, said("Ready", "False", observedGeneration=1)), owned=True),
            "metadata": {"name": "chat-70b", "namespace": "chat", "generation": 2, "ownerReferences": [_POD]},
        },
        healthy("allocated: devices 2, reserved for 1"),
    ),
}


def group_set(status: Json, generation: int = 3, replicas: int = 2) -> Json:
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "reason-671b", "namespace": "reason", "generation": generation},
        "spec": {"replicas": replicas, "leaderWorkerTemplate": {"size": 2, "workerTemplate": {"spec": {}}}},
        **({} if status is None else {"status": status}),
    }


def _counts(ready: int, updated: int, wanted: int = 2) -> str:
    return f"groups ready {ready}, of the last revision {updated}, wanted {wanted}"


def _groups(observed: int | None, ready: int, updated: int, *conditions: Json) -> Json:
    own = {} if observed is None else {"observedGeneration": observed}
    return {**own, "replicas": 2, "readyReplicas": ready, "updatedReplicas": updated, "conditions": list(conditions)}


_NOTHING_SAID = healthy("its controller says nothing about it")
GROUP_SETS: dict[str, Case] = {
    # Nothing says that anybody will ever look at it.
    "no-status": (group_set(None), _NOTHING_SAID),
    "nothing-but-the-generation": (group_set({"observedGeneration": 3}), _NOTHING_SAID),
    "last-change-not-seen": (
        group_set(_groups(2, 2, 2, said("Available", "True"))),
        progressing("its controller hasn't seen the last change yet"),
    ),
    "all-ready": (group_set(_groups(3, 2, 2, said("Available", "True"))), healthy(_counts(2, 2))),
    "updating": (
        group_set(_groups(3, 2, 1, said("Available", "False"), said("UpdateInProgress", "True"))),
        progressing(_counts(2, 1)),
    ),
    # The controller leaves the one True when it sets the other.
    "updating-and-available": (
        group_set(_groups(3, 2, 1, said("Available", "True"), said("UpdateInProgress", "True"))),
        progressing(_counts(2, 1)),
    ),
    "groups-not-ready": (group_set(_groups(3, 0, 2, said("Progressing", "True"))), progressing(_counts(0, 2))),
    "before-0.9-with-a-condition's-generation": (
        group_set(_groups(None, 0, 2, said("Progressing", "True", observedGeneration=3))),
        progressing(_counts(0, 2)),
    ),
    # It doesn't say of which generation: that is no reason to wait.
    "no-generation-at-all": (group_set(_groups(None, 0, 2, said("Progressing", "True"))), _NOTHING_SAID),
    "condition-of-a-former-generation": (
        group_set(_groups(None, 0, 2, said("Progressing", "True", observedGeneration=2))),
        _NOTHING_SAID,
    ),
    "one-group-unless-it-says-more": (
        {**group_set(_groups(3, 1, 1, said("Available", "True"))), "spec": {"leaderWorkerTemplate": {"size": 2}}},
        healthy(_counts(1, 1, wanted=1)),
    ),
    "scaled-to-none": (
        group_set(_groups(3, 0, 0, said("Available", "True")), replicas=0),
        healthy(_counts(0, 0, wanted=0)),
    ),
}


def inference_pool(*parents: Json) -> Json:
    return {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": {"name": "chat-70b", "namespace": "chat", "generation": 2},
        "spec": {
            "selector": {"matchLabels": {"poolwright.dev/router-pool": "chat-70b"}},
            "targetPorts": [{"number": 8000}],
            "endpointPickerRef": {"name": "chat-70b-epp", "port": {"number": 9002}},
        },
        **({"status": {"parents": list(parents)}} if parents else {}),
    }


def parent(*conditions: Json, kind: str = "Gateway") -> Json:
    return {"parentRef": {"kind": kind, "name": "inference"}, "conditions": list(conditions)}


_NOBODY = healthy("nobody has said yet whether they accept it")
POOLS: dict[str, Case] = {
    "no-status": (inference_pool(), _NOBODY),
    # Older releases write this default for a pool that no gateway reads.
    "placeholder-is-no-gateway": (
        inference_pool(parent(said("Accepted", "Unknown"), said("ResolvedRefs", "False"), kind="Status")),
        _NOBODY,
    ),
    "accepted": (
        inference_pool(parent(said("Accepted", "True", observedGeneration=2), said("ResolvedRefs", "True"))),
        healthy("accepted by all that read it: 1"),
    ),
    "not-yet-accepted": (inference_pool(parent(said("Accepted", "Unknown"))), _NOBODY),
    "refused": (
        inference_pool(parent(said("Accepted", "False", "NotSupportedByParent", observedGeneration=2))),
        degraded("refused by 1 of 1 that read it"),
    ),
    "picker-not-found": (
        inference_pool(
            parent(said("Accepted", "True"), said("ResolvedRefs", "False")), parent(said("Accepted", "True"))
        ),
        degraded("refused by 1 of 2 that read it"),
    ),
    "refusal-of-a-former-generation": (
        inference_pool(parent(said("Accepted", "False", observedGeneration=1))),
        _NOBODY,
    ),
}


def objective(*conditions: Json) -> Json:
    return {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha2",
        "kind": "InferenceObjective",
        "metadata": {"name": "chat-70b", "namespace": "chat", "generation": 1},
        "spec": {"poolRef": {"name": "chat-70b"}},
        "status": {"conditions": list(conditions)},
    }


OBJECTIVES: dict[str, Case] = {
    # The default that the API server writes; no controller may ever touch it.
    "default": (objective(said("Ready", "Unknown", "Pending")), _NOBODY),
    "accepted": (objective(said("Accepted", "True")), healthy("accepted by all that read it: 1")),
    "refused": (objective(said("Accepted", "False")), degraded("refused by 1 of 1 that read it")),
}


def monitor(kind: str, *bindings: Json) -> Json:
    spec = {"groups": []} if kind == "PrometheusRule" else {"selector": {}, "podMetricsEndpoints": [{"port": "http"}]}
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": kind,
        "metadata": {"name": "chat-70b", "namespace": "chat", "generation": 4},
        "spec": spec,
        **({"status": {"bindings": list(bindings)}} if bindings else {}),
    }


def binding(*conditions: Json, name: str = "main") -> Json:
    named = {"group": "monitoring.coreos.com", "resource": "prometheuses", "namespace": "monitoring", "name": name}
    return {**named, "conditions": list(conditions)}


def _monitor_cases(kind: str) -> dict[str, Case]:
    return {
        # Releases before 0.87, or without the gate, never write one.
        "no-status": (monitor(kind), _NOBODY),
        "accepted": (
            monitor(kind, binding(said("Accepted", "True", observedGeneration=4))),
            healthy("accepted by all that read it: 1"),
        ),
        "refused-by-one": (
            monitor(kind, binding(said("Accepted", "False")), binding(said("Accepted", "True"), name="b")),
            degraded("refused by 1 of 2 that read it"),
        ),
    }


def operator(kind: str, status: Json) -> Json:
    version = "v1" if kind == "ClusterPolicy" else "v1alpha1"
    return {
        "apiVersion": f"nvidia.com/{version}",
        "kind": kind,
        "metadata": {"name": "gpu-cluster", "generation": 1},
        **({} if status is None else {"status": status}),
    }


def _operator_cases(kind: str) -> dict[str, Case]:
    waits = [said("Ready", "False", "Error"), said("Error", "True", "OperandNotReady")]
    ready = [said("Ready", "True"), said("Error", "False", "Ready")]
    return {
        "no-status": (operator(kind, None), healthy("the operator says nothing about it")),
        "ready": (operator(kind, {"state": "ready", "conditions": ready}), healthy("ready")),
        # Each node that joins makes it so for a while.
        "pods-not-ready": (
            operator(kind, {"state": "notReady", "conditions": waits}),
            healthy("not ready: the operator waits for its pods"),
        ),
        **{
            f"failed-{reason}": (
                operator(kind, {"state": "notReady", "conditions": [said("Error", "True", reason)]}),
                degraded(f"the operator failed: {reason}"),
            )
            for reason in ("ReconcileFailed", "PrerequisiteNotMet", "ConflictingNodeSelector")
        },
        "second-of-its-kind": (
            operator(kind, {"state": "ignored"}),
            degraded("ignored: the operator goes by another one"),
        ),
    }


def quota(status: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "poolwright-devices", "namespace": "chat"},
        "spec": {"hard": {"a.deviceclass.resource.k8s.io/devices": "8"}},
        **({} if status is None else {"status": status}),
    }


_LIMITS = {"a.deviceclass.resource.k8s.io/devices": "8", "b.deviceclass.resource.k8s.io/devices": "2"}
QUOTAS: dict[str, Case] = {
    "no-status": (quota(None), healthy("limits used up: 0 of 0")),
    "room-left": (quota({"hard": _LIMITS, "used": dict.fromkeys(_LIMITS, "1")}), healthy("limits used up: 0 of 2")),
    "used-up-is-healthy": (
        quota({"hard": _LIMITS, "used": {**_LIMITS, "b.deviceclass.resource.k8s.io/devices": "1"}}),
        healthy("limits used up: 1 of 2"),
    ),
}


def policy(status: Json) -> Json:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "poolwright-experiment-lane", "generation": 1},
        "spec": {"validations": [{"expression": "true"}]},
        **({} if status is None else {"status": status}),
    }


_WARNING = {"fieldRef": "spec.validations[0].expression", "warning": "undefined field"}
POLICIES: dict[str, Case] = {
    "no-status": (policy(None), healthy("in force")),
    "checked": (policy({"observedGeneration": 1, "typeChecking": {}}), healthy("in force")),
    "warnings-are-warnings": (
        policy({"observedGeneration": 1, "typeChecking": {"expressionWarnings": [_WARNING, _WARNING]}}),
        healthy("in force; type checking warns of expressions: 2"),
    ),
}

CASES: dict[str, dict[str, Case]] = {
    "ResourceQuota": QUOTAS,
    "admissionregistration.k8s.io_ValidatingAdmissionPolicy": POLICIES,
    "inference.networking.k8s.io_InferencePool": POOLS,
    "inference.networking.x-k8s.io_InferenceObjective": OBJECTIVES,
    "leaderworkerset.x-k8s.io_LeaderWorkerSet": GROUP_SETS,
    "monitoring.coreos.com_PodMonitor": _monitor_cases("PodMonitor"),
    "monitoring.coreos.com_PrometheusRule": _monitor_cases("PrometheusRule"),
    "nvidia.com_ClusterPolicy": _operator_cases("ClusterPolicy"),
    "nvidia.com_GPUCluster": _operator_cases("GPUCluster"),
    "nvidia.com_NVIDIADriver": _operator_cases("NVIDIADriver"),
    "resource.k8s.io_ResourceClaim": CLAIMS,
}
