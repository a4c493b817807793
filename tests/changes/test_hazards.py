"""What is dangerous about a change of objects, with the whole text of what is said."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
import yaml

from poolwright.changes.objects.hazards import list_hazards
from poolwright.changes.objects.pairs import UnitObject, pair_objects
from poolwright.specs.finding import render_text
from poolwright.specs.place import Place


def read(text: str) -> tuple[UnitObject, ...]:
    """Objects of a unit each; `unit` stands beside apiVersion, and is no part of the object."""
    objects = []
    for value in yaml.safe_load_all(text):
        if value is not None:
            objects.append(UnitObject(unit=value.pop("unit", "chat"), value=value))
    return tuple(objects)


def place_of(unit: str, kind: str, namespace: str, name: str) -> Place:
    return Place(f"specs/{unit}.yaml", field=f"{kind}:{namespace}/{name}")


def judge(before: Sequence[UnitObject], after: Sequence[UnitObject]) -> str:
    return render_text(list_hazards(pair_objects(before, after), place_of))


def documents(*texts: str) -> str:
    return "\n---\n".join(texts)


CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com, labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: dra-driver}}
unit: platform
spec: {selectors: [{cel: {expression: device.driver == "gpu.nvidia.com"}}]}
"""  # noqa: E501
OPERATOR_CLASS = """
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.nvidia.com, ownerReferences: [{apiVersion: nvidia.com/v1, kind: GPUCluster, name: all, uid: u}]}
unit: platform
spec: {selectors: [{cel: {expression: device.driver == "gpu.nvidia.com"}}]}
"""
CLAIM = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: chat}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com, count: 1}}]}}
"""
TEMPLATE = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: chat}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.nvidia.com}}]}}}
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm, namespace: chat}
spec:
  replicas: 2
  selector: {matchLabels: {app: vllm}}
  template:
    metadata: {labels: {app: vllm}}
    spec:
      priorityClassName: high
      serviceAccountName: runner
      containers:
        - name: engine
          args: [serve, --port=1]
          env: [{name: T, valueFrom: {secretKeyRef: {name: token, key: t}}}]
          envFrom: [{configMapRef: {name: settings}}, {configMapRef: {name: extra, optional: true}}]
          resources: {claims: [{name: gpu}]}
      resourceClaims: [{name: gpu, resourceClaimTemplateName: one}]
      volumes: [{name: models, persistentVolumeClaim: {claimName: models}}]
"""
NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: chat}, unit: platform}"
BUDGET = """
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: vllm, namespace: chat}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: vllm}}}
"""
WORKLOAD = documents(TEMPLATE, DEPLOYMENT)
FIX_NAME = "give the object a new name, and let whatever names it follow in the same change"
FIX_REPLACE = (
    f"{FIX_NAME}; or delete it first, or let Argo CD do so for once with the sync options Replace=true,Force=true"
)
REFUSED = "the API server refuses the update: Argo CD's sync fails on it, and what comes after it isn't applied"
KEEP = "keep it until nothing names it, or change what names it together with it"
WAIT = "new pods wait for one of that name and don't start; those that run stay until something ends them"


def immutable(kind: str, name: str, path: str, fix: str = FIX_REPLACE) -> str:
    title, _, full = f'{kind} "{name}"', "", name if "/" in name else f"/{name}"
    return f"""\
specs/chat.yaml: {title} changes {path}, which nobody can once it exists  [immutable-field]
  at   {kind}:{full}
  why  {REFUSED} (Kubernetes, {kind})
  fix  {fix}
"""


def in_use(kind: str, name: str, why: str, user: str = 'Deployment "chat/vllm" still names it') -> str:
    return f"""\
specs/chat.yaml: {kind} "{name}" is removed, and {user}  [removed-in-use]
  at   Deployment:chat/vllm
  why  {why} (Kubernetes, {kind})
  fix  {KEEP}
"""


def named(api_version: str, kind: str, name: str, namespace: str = "chat") -> str:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
    return yaml.safe_dump({"apiVersion": api_version, "kind": kind, "metadata": metadata})


GONE = "the API server refuses new pods that name it"
CASES = {
    "nothing": (WORKLOAD, WORKLOAD, ""),
    # The first of two commits that move the classes takes them away.
    "the-class-of-a-claim-goes": (
        documents(CLASS, CLAIM),
        CLAIM,
        """\
specs/chat.yaml: DeviceClass "gpu.nvidia.com" is removed, and ResourceClaim "chat/shared" still names it  \
[removed-in-use]
  at   ResourceClaim:chat/shared
  why  without its class, a claim ends every scheduling attempt of its pods with an error (Kubernetes, DeviceClass)
  fix  keep it until nothing names it, or change what names it together with it
""",
    ),
    "the-class-of-nobody-goes": (CLASS, "", ""),
    # Both ends are fine for every claim, and still it isn't safe.
    "nvidia's-classes-go-from-the-chart-to-the-operator": (
        documents(CLASS, CLAIM),
        documents(OPERATOR_CLASS, CLAIM),
        """\
specs/platform.yaml: warning: DeviceClass "gpu.nvidia.com" goes from Helm release dra-driver to GPUCluster all  \
[owner-changed]
  at   DeviceClass:/gpu.nvidia.com
  why  both owners may write it, and the removal of the first one may delete it: claims of the class can't be \
allocated until it is back, and NVIDIA documents no way to move a running cluster to GPUCluster (poolwright \
release design)
  fix  change the owner in one commit, or keep the class outside both releases
""",
    ),
    "another-unit-s-application-applies-it": (
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: n}, unit: one}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: n}, unit: two}",
        """\
specs/two.yaml: warning: ConfigMap "n/a" goes from unit one to unit two  [owner-changed]
  at   ConfigMap:n/a
  why  both owners may write it, and the removal of the first one may delete it (poolwright release design)
  fix  take it from the first owner without deleting it (Helm: helm.sh/resource-policy: keep; Argo CD: Prune=false), \
then give it to the second
""",
    ),
    "an-owner-that-there-was-not-before-takes-nothing-from-anybody": (
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {app.kubernetes.io/managed-by: Helm}}}",
        "",
    ),
    "the-same-application-under-a-longer-id": (
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {argocd.argoproj.io/tracking-id: 'x:a'}}}",
        "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {argocd.argoproj.io/tracking-id: 'x:b'}}}",
        "",
    ),
    # Kustomize's namePrefix renames a template and not who names it.
    "a-prefix-for-the-template-alone": (
        "",
        WORKLOAD.replace("name: one, namespace", "name: h100-one, namespace"),
        """\
specs/chat.yaml: Deployment "vllm" names ResourceClaimTemplate "one", which is not among these objects  [dangling-claim]
  at   Deployment:chat/vllm
  why  unless the cluster has a ResourceClaimTemplate of that name in the namespace, the pods wait for it and don't \
start (k8s.io/api core/v1)
  fix  write "h100-one" (Kustomize's namePrefix and nameSuffix rename a ResourceClaimTemplate but not what names it)
""",
    ),
    "a-prefix-for-a-template-that-there-was": (
        WORKLOAD,
        WORKLOAD.replace("name: one, namespace", "name: h100-one, namespace"),
        in_use("ResourceClaimTemplate", "chat/one", WAIT),
    ),
    "a-prefix-for-both": ("", WORKLOAD.replace("one", "h100-one"), ""),
    "what-led-nowhere-before-is-no-news": (
        DEPLOYMENT,
        DEPLOYMENT.replace("replicas: 2", "replicas: 3"),
        "",
    ),
    "a-class-that-neither-side-has-beside-others": (
        documents(CLASS, TEMPLATE),
        documents(CLASS, TEMPLATE.replace("gpu.nvidia.com", "h100").replace("name: one", "name: two")),
        """\
specs/chat.yaml: note: DeviceClass "h100" is not among these objects, although others are  [dangling-class]
  at   ResourceClaimTemplate:chat/two
  why  a claim on a class that the cluster doesn't have ends every scheduling attempt of its pods (Kubernetes DRA)
  fix  make sure that the cluster has the class
""",
    ),
    "the-namespace-of-what-stays": (
        documents(NAMESPACE, WORKLOAD),
        WORKLOAD,
        in_use(
            "Namespace",
            "chat",
            "everything in it is deleted with it, and nothing can be made there while that goes on",
            'Deployment "chat/vllm", ResourceClaimTemplate "chat/one" are still in it',
        ),
    ),
    "a-namespace-of-nothing-that-stays": (
        documents(NAMESPACE, WORKLOAD),
        "",
        """\
specs/platform.yaml: warning: Namespace "chat" is removed  [namespace-removed]
  at   Namespace:/chat
  why  Kubernetes deletes everything in it: pods, volumes' claims and what others keep there as well (Kubernetes, \
Namespace)
  fix  make sure that nothing in it is needed, or keep it with the annotation argocd.argoproj.io/sync-options: \
Prune=false
""",
    ),
    "a-priority-class": (
        documents(named("scheduling.k8s.io/v1", "PriorityClass", "high", ""), WORKLOAD),
        WORKLOAD,
        in_use("PriorityClass", "high", GONE),
    ),
    "an-account": (
        documents(named("v1", "ServiceAccount", "runner"), WORKLOAD),
        WORKLOAD,
        in_use("ServiceAccount", "chat/runner", GONE),
    ),
    "a-secret-of-a-variable": (
        documents(named("v1", "Secret", "token"), WORKLOAD),
        WORKLOAD,
        in_use("Secret", "chat/token", WAIT),
    ),
    "a-config-map-of-variables": (
        documents(named("v1", "ConfigMap", "settings"), WORKLOAD),
        WORKLOAD,
        in_use("ConfigMap", "chat/settings", WAIT),
    ),
    "a-volume-s-claim": (
        documents(named("v1", "PersistentVolumeClaim", "models"), WORKLOAD),
        WORKLOAD,
        in_use("PersistentVolumeClaim", "chat/models", f"{WAIT}, and what it holds may be deleted"),
    ),
    "what-is-optional-or-of-another-namespace-is-missed-by-nobody": (
        documents(named("v1", "ConfigMap", "extra"), named("v1", "ConfigMap", "settings", "other"), WORKLOAD),
        WORKLOAD,
        "",
    ),
    "the-budget-of-pods-that-stay": (
        documents(BUDGET, WORKLOAD),
        WORKLOAD,
        """\
specs/chat.yaml: warning: PodDisruptionBudget "chat/vllm" is removed, and Deployment "chat/vllm" has no other one  \
[budget-removed]
  at   Deployment:chat/vllm
  why  draining nodes may then evict all of its pods at once (Kubernetes, PodDisruptionBudget)
  fix  keep the budget, or add another one for these pods
""",
    ),
    "a-budget-under-another-name": (
        documents(BUDGET, WORKLOAD),
        documents(BUDGET.replace("name: vllm", "name: other"), WORKLOAD),
        "",
    ),
    "a-budget-that-goes-with-its-pods": (documents(BUDGET, WORKLOAD), TEMPLATE, ""),
    "a-credential-that-comes": (
        WORKLOAD,
        WORKLOAD.replace("--port=1", "--port=1, --api-key, new-value-0004, --token=$(T)"),
        """\
specs/chat.yaml: warning: container "engine" of Deployment "chat/vllm" has a credential in its plain arguments: \
args[3]  [credential-in-arguments]
  at   Deployment:chat/vllm
  why  it can be read in the repository, in the object and in the node's list of processes; only this report hides it \
(poolwright safety design)
  fix  keep it in a Secret, take a variable from there with valueFrom.secretKeyRef, and write $(VARIABLE) among the \
arguments; then change the credential, for Git keeps the old one
""",
    ),
    "a-credential-that-nobody-touched": (
        WORKLOAD.replace("--port=1", "--api-key=x"),
        documents(WORKLOAD.replace("--port=1", "--api-key=x"), named("v1", "ConfigMap", "new")),
        "",
    ),
    "a-deployment-s-selector": (
        WORKLOAD,
        WORKLOAD.replace("matchLabels: {app: vllm}", "matchLabels: {app: other}"),
        immutable("Deployment", "chat/vllm", "spec.selector.matchLabels.app"),
    ),
    "a-deployment-s-template-and-replicas": (WORKLOAD, WORKLOAD.replace("--port=1", "--port=2"), ""),
    "a-claim": (
        documents(CLASS, CLAIM),
        documents(CLASS, CLAIM.replace("count: 1", "count: 2")),
        immutable("ResourceClaim", "chat/shared", "spec.devices.requests[name=gpu].exactly.count", FIX_NAME),
    ),
    "a-claim-template": (
        documents(CLASS, TEMPLATE),
        documents(CLASS, TEMPLATE.replace("name: gpu,", "name: card,")),
        immutable(
            "ResourceClaimTemplate",
            "chat/one",
            "spec.spec.devices.requests[name=card], spec.spec.devices.requests[name=gpu]",
            FIX_NAME,
        ),
    ),
    "a-class-may-change": (CLASS, CLASS.replace("device.driver ==", "true && device.driver =="), ""),
}


@pytest.mark.parametrize(("before", "after", "said"), CASES.values(), ids=CASES)
def test_says(before: str, after: str, said: str) -> None:
    one, other = read(before), read(after)
    kept = copy.deepcopy((one, other))
    assert judge(one, other) == said
    assert (one, other) == kept


# Kinds with parts that hold still: what changes, and which paths are told of; empty: it may change.
KINDS: dict[str, tuple[str, str, Any, Any, str]] = {
    "stateful-set-volumes": (
        "apps/v1",
        "StatefulSet",
        {"spec": {"serviceName": "a"}},
        {"spec": {"serviceName": "b"}},
        "spec.serviceName",
    ),
    "stateful-set-what-may-change": (
        "apps/v1",
        "StatefulSet",
        {"spec": {"replicas": 1}},
        {"spec": {"replicas": 2, "ordinals": {"start": 1}, "minReadySeconds": 1}},
        "",
    ),
    "daemon-set": (
        "apps/v1",
        "DaemonSet",
        {"spec": {"selector": {"a": "1"}}},
        {"spec": {"selector": {"a": "2"}}},
        "spec.selector.a",
    ),
    "job": (
        "batch/v1",
        "Job",
        {"spec": {"template": {"a": 1}, "parallelism": 1}},
        {"spec": {"template": {"a": 2}, "parallelism": 2}},
        "spec.template.a",
    ),
    "job-default": ("batch/v1", "Job", {"spec": {}}, {"spec": {"completionMode": "NonIndexed"}}, ""),
    "service": (
        "v1",
        "Service",
        {"spec": {"clusterIP": "10.0.0.1"}},
        {"spec": {"clusterIP": "None"}},
        "spec.clusterIP",
    ),
    "service-which-keeps-its-address": (
        "v1",
        "Service",
        {"spec": {"clusterIP": "10.0.0.1"}},
        {"spec": {"type": "NodePort"}},
        "",
    ),
    "volume-claim": (
        "v1",
        "PersistentVolumeClaim",
        {"spec": {"storageClassName": "a"}},
        {"spec": {"storageClassName": "b"}},
        "spec.storageClassName",
    ),
    "volume-claim-grows": (
        "v1",
        "PersistentVolumeClaim",
        {"spec": {"resources": {"a": 1}}},
        {"spec": {"resources": {"a": 2}}},
        "",
    ),
    "storage-class": (
        "storage.k8s.io/v1",
        "StorageClass",
        {"provisioner": "a", "allowVolumeExpansion": False},
        {"provisioner": "b", "allowVolumeExpansion": True},
        "provisioner",
    ),
    "storage-class-default": ("storage.k8s.io/v1", "StorageClass", {}, {"reclaimPolicy": "Delete"}, ""),
    "priority-class": (
        "scheduling.k8s.io/v1",
        "PriorityClass",
        {"value": 1},
        {"value": 2, "preemptionPolicy": "Never"},
        "preemptionPolicy, value",
    ),
    "priority-class-default": (
        "scheduling.k8s.io/v1",
        "PriorityClass",
        {"value": 1},
        {"value": 1, "preemptionPolicy": "PreemptLowerPriority", "description": "x"},
        "",
    ),
    "sealed-config-map": (
        "v1",
        "ConfigMap",
        {"immutable": True, "data": {"a": "1"}},
        {"immutable": True, "data": {"a": "2"}},
        "data.a",
    ),
    "unsealed": ("v1", "ConfigMap", {"immutable": True}, {}, "immutable"),
    "open-config-map": ("v1", "ConfigMap", {"data": {"a": "1"}}, {"data": {"a": "2"}, "immutable": True}, ""),
    "sealed-secret": (
        "v1",
        "Secret",
        {"immutable": True, "data": {"a": "1"}},
        {"immutable": True, "data": {"b": "1"}},
        "data.a, data.b",
    ),
    "secret-type": ("v1", "Secret", {"type": "Opaque"}, {"type": "x/y"}, "type"),
    "role-binding": (
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        {"roleRef": {"name": "a"}},
        {"roleRef": {"name": "b"}},
        "roleRef.name",
    ),
    "many": (
        "v1",
        "PersistentVolumeClaim",
        {"spec": {}},
        {"spec": {"a": 1, "b": 1, "c": 1, "d": 1}},
        "spec.a, spec.b, spec.c and 1 more",
    ),
    # Another API group's kind of the same name.
    "another-service": ("x.dev/v1", "Service", {"spec": {"clusterIP": "a"}}, {"spec": {"clusterIP": "b"}}, ""),
}


@pytest.mark.parametrize(("api_version", "kind", "before", "after", "paths"), KINDS.values(), ids=KINDS)
def test_parts_that_hold_still(api_version: str, kind: str, before: Any, after: Any, paths: str) -> None:
    top = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}
    pairs = pair_objects(*([UnitObject(unit="u", value={**top, **side})] for side in (before, after)))
    said = [finding.what for finding in list_hazards(pairs, place_of) if finding.code == "immutable-field"]
    assert said == ([f'{kind} "x" changes {paths}, which nobody can once it exists'] if paths else [])
