"""Pods and workloads as values, defaults filled in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from given_objects import read, refusal
from poolwright.allocation.claim import Toleration
from poolwright.allocation.pod import Container, Pod, PodClaim, Workload, WorkloadPods
from poolwright.allocation.rolling import NONE, Rolling, Share
from poolwright.specs.quantity import parse_quantity

LOST = tuple(
    Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect="NoExecute", seconds=300)
    for key in ("not-ready", "unreachable")
)
SHORT = "apiVersion: v1\nkind: Pod\nmetadata: {namespace: team-a, name: a}\nspec: {}\n"
SHORT_POD = Pod(namespace="team-a", name="a", tolerations=LOST)
FULL = """\
apiVersion: v1
kind: Pod
metadata:
  namespace: team-a
  name: a
  uid: pod-1
  creationTimestamp: '2026-11-30T00:00:00Z'
  deletionTimestamp: '2026-11-30T01:00:00Z'
  ownerReferences: [{kind: ReplicaSet, name: rs, uid: rs-1}]
spec:
  nodeName: node-a
  schedulerName: other
  priority: 1000
  nodeSelector: {zone: east}
  schedulingGates: [{name: example.com/wait}]
  tolerations: [{operator: Exists, effect: NoExecute}]
  resourceClaims:
  - {name: shared, resourceClaimName: train}
  - {name: own, resourceClaimTemplateName: gpu}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}
      preferredDuringSchedulingIgnoredDuringExecution: [{}]
    podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}
    podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{}]}
  topologySpreadConstraints: [{whenUnsatisfiable: ScheduleAnyway}, {whenUnsatisfiable: DoNotSchedule}]
  initContainers:
  - {name: fetch}
  - {name: side, restartPolicy: Always}
  containers:
  - name: engine
    resources:
      claims: [{name: shared}, {name: own, request: gpu}]
      requests: {cpu: 1, example.com/gpu: 2, requests.example.com/x: 1, kubernetes.io/y: 1}
      limits:
        memory: 1Gi
        example.com/gpu: 3
        example.com/nic: 1
        deviceclass.resource.kubernetes.io/gpu.example.com: '4'
status:
  phase: Running
  resourceClaimStatuses: [{name: own, resourceClaimName: a-own-x7k2p}, {name: unused}]
  extendedResourceClaimStatus:
    resourceClaimName: a-extended
    requestMappings: [{containerName: engine, resourceName: example.com/gpu, requestName: container-0-request-0}]
"""
WHAT_FULL_SAYS = Pod(
    namespace="team-a",
    name="a",
    uid="pod-1",
    owners=("rs-1",),
    replica_set="rs",
    created="2026-11-30T00:00:00Z",
    is_deleted=True,
    claims=(PodClaim(name="shared", claim_name="train"), PodClaim(name="own", template_name="gpu")),
    containers=(
        Container(name="fetch", is_init=True),
        Container(name="side", is_init=True, is_sidecar=True),
        Container(
            name="engine",
            claims=(("shared", ""), ("own", "gpu")),
            extended={
                "deviceclass.resource.kubernetes.io/gpu.example.com": parse_quantity("4"),
                "example.com/gpu": parse_quantity("2"),
                "example.com/nic": parse_quantity("1"),
            },
            resources=(
                "cpu",
                "deviceclass.resource.kubernetes.io/gpu.example.com",
                "example.com/gpu",
                "example.com/nic",
                "kubernetes.io/y",
                "memory",
                "requests.example.com/x",
            ),
        ),
    ),
    node_name="node-a",
    node_selector={"zone": "east"},
    affinity={"nodeSelectorTerms": [{}]},
    tolerations=(Toleration(operator="Exists", effect="NoExecute"),),
    scheduling_gates=("example.com/wait",),
    priority=1000,
    phase="Running",
    claim_names={"own": "a-own-x7k2p", "unused": None},
    extended_claim="a-extended",
    requests={
        "cpu": parse_quantity("1"),
        "deviceclass.resource.kubernetes.io/gpu.example.com": parse_quantity("4"),
        "example.com/gpu": parse_quantity("2"),
        "example.com/nic": parse_quantity("1"),
        "kubernetes.io/y": parse_quantity("1"),
        "memory": parse_quantity("1Gi"),
        "requests.example.com/x": parse_quantity("1"),
    },
    unjudged=("affinity.podAntiAffinity", "topologySpreadConstraints", "schedulerName other"),
)


@pytest.mark.parametrize(("text", "pod"), [(SHORT, SHORT_POD), (FULL, WHAT_FULL_SAYS)], ids=["short", "full"])
def test_pods(text: str, pod: Pod) -> None:
    assert [one.value for one in read(text).pods] == [pod]


def test_what_a_pod_is_called_and_when_it_is_done() -> None:
    assert SHORT_POD.title == "team-a/a"
    phases = ("", "Pending", "Running", "Unknown", "Succeeded", "Failed")
    assert [phase for phase in phases if replace(SHORT_POD, phase=phase).is_finished] == ["Succeeded", "Failed"]


TEMPLATE = "template: {metadata: {labels: {a: b}}, spec: {nodeSelector: {a: b}}}"
MADE = Pod(namespace="team-a", name="w", node_selector={"a": "b"}, tolerations=LOST)
DAEMON = tuple(
    Toleration(key=f"node.kubernetes.io/{key}", operator="Exists", effect=effect)
    for key, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
ONE = (WorkloadPods(template=MADE),)
GROUP = "leaderWorkerTemplate: {{size: {size}, {leader}workerTemplate: {{spec: {{nodeSelector: {{a: b}}}}}}}}"
WORKLOADS: dict[str, tuple[str, str, str, int | None, tuple[WorkloadPods, ...]]] = {
    "deployment": ("apps/v1", "Deployment", f"replicas: 3, {TEMPLATE}", 3, ONE),
    "one-replica-by-default": ("apps/v1", "StatefulSet", TEMPLATE, 1, ONE),
    "no-replicas": ("apps/v1", "ReplicaSet", f"replicas: 0, {TEMPLATE}", 0, ONE),
    "one-for-each-node": (
        *("apps/v1", "DaemonSet", TEMPLATE, None),
        (WorkloadPods(template=replace(MADE, tolerations=DAEMON)),),
    ),
    "job": ("batch/v1", "Job", TEMPLATE, 1, ONE),
    "job-in-parallel": ("batch/v1", "Job", f"parallelism: 4, {TEMPLATE}", 4, ONE),
    "job-with-fewer-to-complete": ("batch/v1", "Job", f"parallelism: 4, completions: 2, {TEMPLATE}", 2, ONE),
    "job-that-is-suspended": ("batch/v1", "Job", f"parallelism: 4, suspend: true, {TEMPLATE}", 0, ONE),
    "cron-job": ("batch/v1", "CronJob", f"jobTemplate: {{spec: {{{TEMPLATE}}}}}", 1, ONE),
    "cron-job-with-fewer-to-complete": (
        *("batch/v1", "CronJob", f"jobTemplate: {{spec: {{parallelism: 4, completions: 2, {TEMPLATE}}}}}", 2, ONE),
    ),
    # Each job waits until somebody resumes it, and then it has all of them.
    "cron-job-of-jobs-that-are-suspended": (
        *("batch/v1", "CronJob", f"jobTemplate: {{spec: {{parallelism: 4, suspend: true, {TEMPLATE}}}}}", 4, ONE),
    ),
    "group": (
        *("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
        f"replicas: 2, {GROUP.format(size=4, leader='leaderTemplate: {spec: {nodeName: x}}, ')}",
        2,
        (
            WorkloadPods(
                role="leader",
                template=Pod(namespace="team-a", name="w", node_name="x", tolerations=LOST),
            ),
            WorkloadPods(role="worker", count=3, template=MADE),
        ),
    ),
    "group-of-one-kind": (
        *("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", GROUP.format(size=2, leader=""), 1),
        (WorkloadPods(role="leader", template=MADE), WorkloadPods(role="worker", template=MADE)),
    ),
    "group-of-one": (
        *("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", GROUP.format(size=1, leader=""), 1),
        (WorkloadPods(role="leader", template=MADE),),
    ),
}


ROLLING = {
    "Deployment": Rolling(surge=Share(25, is_percent=True), unavailable=Share(25, is_percent=True)),
    "StatefulSet": Rolling(surge=NONE, unavailable=Share(1)),
    "LeaderWorkerSet": Rolling(surge=NONE, unavailable=Share(1), waits_for_all=True),
}


@pytest.mark.parametrize(("api", "kind", "spec", "replicas", "pods"), WORKLOADS.values(), ids=WORKLOADS)
def test_workloads(api: str, kind: str, spec: str, replicas: int | None, pods: tuple[WorkloadPods, ...]) -> None:
    text = f"apiVersion: {api}\nkind: {kind}\nmetadata: {{namespace: team-a, name: w, uid: u}}\nspec: {{{spec}}}\n"
    (placed,) = read(text).workloads
    assert placed.value == Workload(
        kind=kind,
        namespace="team-a",
        name="w",
        uid="u",
        replicas=replicas,
        pods=pods,
        rolling=ROLLING.get(kind),
        may_overlap=kind == "CronJob",
    )
    assert placed.value.title == f"{kind} team-a/w"


CRON_JOBS = {
    "by-default": ("", (True, False)),
    "allowed": ("concurrencyPolicy: Allow, ", (True, False)),
    "forbidden": ("concurrencyPolicy: Forbid, ", (False, False)),
    "replaced": ("concurrencyPolicy: Replace, ", (False, False)),
    "suspended": ("concurrencyPolicy: Forbid, suspend: true, ", (False, True)),
}


@pytest.mark.parametrize(("spec", "said"), CRON_JOBS.values(), ids=CRON_JOBS)
def test_jobs_of_a_cron_job_at_once(spec: str, said: tuple[bool, bool]) -> None:
    jobs = f"spec: {{{spec}jobTemplate: {{spec: {{{TEMPLATE}}}}}}}"
    (placed,) = read(f"apiVersion: batch/v1\nkind: CronJob\nmetadata: {{name: w}}\n{jobs}\n").workloads
    assert (placed.value.may_overlap, placed.value.is_suspended) == said


def test_workloads_of_one_name_and_several_kinds_stand_side_by_side() -> None:
    texts = [
        f"apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w, namespace: b, ownerReferences: [{{uid: x}}]}}\n"
        f"spec: {{{TEMPLATE}}}\n"
        for kind in ("Deployment", "ReplicaSet")
    ]
    assert [(one.value.kind, one.value.owners) for one in read("---\n".join(texts)).workloads] == [
        ("Deployment", ("x",)),
        ("ReplicaSet", ("x",)),
    ]


FIX = "  fix  write it as Kubernetes' API has it, or as kubectl get -o yaml prints it\n"
CLAIM_FIX = "  fix  keep one: a claim is shared by all pods that name it, a template makes one for each pod\n"
CLAIM_WHY = (
    "  why  the API server takes exactly one of resourceClaimName and resourceClaimTemplateName (Kubernetes v1 Pod)\n"
)
REFUSED = {
    "claim-of-nothing-and-of-both": (
        SHORT.replace(
            "{}", "{resourceClaims: [{name: a}, {name: b, resourceClaimName: c, resourceClaimTemplateName: d}]}"
        ),
        "objects.yaml:4:25: spec.resourceClaims[0] names neither a claim nor a template  [object-unreadable]\n"
        "  at   spec.resourceClaims[0]\n"
        + CLAIM_WHY
        + CLAIM_FIX
        + "objects.yaml:4:36: spec.resourceClaims[1] names both a claim and a template  [object-unreadable]\n"
        "  at   spec.resourceClaims[1]\n" + CLAIM_WHY + CLAIM_FIX,
    ),
    "no-spec": (
        SHORT.replace("spec: {}\n", ""),
        "objects.yaml:1:1: spec is missing  [object-unreadable]\n"
        "  why  a pod without a spec asks for nothing (Kubernetes v1 Pod)\n" + FIX,
    ),
    "negative-replicas": (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w}\nspec: {replicas: -1, template: {spec: {}}}\n",
        "objects.yaml:4:18: spec.replicas is negative  [object-unreadable]\n  at   spec.replicas\n"
        "  why  a workload can't have fewer than no pods (Kubernetes apps/v1 Deployment)\n" + FIX,
    ),
    "request-that-is-no-quantity": (
        SHORT.replace("{}", "{containers: [{name: a, resources: {requests: {example.com/gpu: two}}}]}"),
        'objects.yaml:4:71: request "example.com/gpu" is no quantity  [object-unreadable]\n'
        '  at   spec.containers[0].resources.requests["example.com/gpu"]\n'
        '  why  "two" is not a quantity: write a number and one of Ki Mi Gi Ti Pi Ei (powers of 1024),'
        " n u m k M G T P E (of 1000) or an exponent (Kubernetes v1 Pod)\n" + FIX,
    ),
    "workload-of-an-older-api": (
        "apiVersion: apps/v1beta1\nkind: Deployment\nmetadata: {name: w}\n",
        'objects.yaml:1:13: Deployment of apiVersion "apps/v1beta1"  [object-unreadable]\n  at   apiVersion\n'
        "  why  this release reads apps/v1 (Kubernetes apps/v1beta1 Deployment)\n"
        "  fix  capture it again, or write it in one of them\n",
    ),
}


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read(text: str, says: str) -> None:
    assert refusal(text) == says
