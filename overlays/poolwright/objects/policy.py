"""Admission policies of a cluster: what the API server itself refuses, or warns of and audits.

Guard rails and no proofs: whoever may change them, or a namespace's workloads before they existed, isn't stopped. What
is refused is refused everywhere but where an experiment pool admits it; the rest warns in the pools' namespaces, so
that a cluster can be brought under the node contract workload by workload.

Whoever sends a request gets all warnings. The audit log gets one failure of each request: the first one of whichever
policy the API server happens to ask first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from poolwright.catalog.closure import ClusterClosure, PlatformClosure
from poolwright.objects.kubernetes import CLASS_WAVE, LANE, MANAGED_BY, PART_OF, SYNC_WAVE, ZONE_LABEL, Object
from poolwright.objects.priced import PRICED_DIGEST

LANE_POLICY: Final = "poolwright-experiment-lane"
ADMIN_POLICY: Final = "poolwright-admin-access"
NODE_POLICY: Final = "poolwright-node-contract"
PRICE_POLICY: Final = "poolwright-priced"
_NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"  # set by the API server: nobody can take it off

# `object` is a claim or a template here and a pod or a workload below. Where the two differ dyn() says so: the API
# server checks each expression against the schema of every kind that the policy matches.
_REQUESTS: Final = (
    {
        "name": "claim",
        "expression": 'request.kind.kind == "ResourceClaimTemplate" ? dyn(object.spec).spec : dyn(object.spec)',
    },
    {
        "name": "requests",
        "expression": "has(variables.claim.devices) && has(variables.claim.devices.requests)"
        " ? variables.claim.devices.requests : []",
    },
)
# Terms of node affinity, both that must hold and that should.
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_POD: Final = (
    {
        "name": "pod",
        "expression": 'request.kind.kind == "Pod" ? dyn(object.spec) : dyn(object.spec).template.spec',
    },
    {
        "name": "containers",
        "expression": "variables.pod.containers"
        " + (has(variables.pod.initContainers) ? variables.pod.initContainers : [])",
    },
    {
        "name": "affinity",
        "expression": "has(variables.pod.affinity) && has(variables.pod.affinity.nodeAffinity)"
        " ? variables.pod.affinity.nodeAffinity : {}",
    },
    {
        "name": "terms",
        "expression": f"(has(variables.affinity.{_REQUIRED})"
        f" ? variables.affinity.{_REQUIRED}.nodeSelectorTerms : [])"
        f" + (has(variables.affinity.{_PREFERRED})"
        f" ? variables.affinity.{_PREFERRED}.map(p, p.preference) : [])",
    },
)
_NAMES_CLASS: Final = (
    "!variables.requests.exists(r,"
    " (has(r.exactly) && r.exactly.deviceClassName == params.metadata.name)"
    " || (has(r.firstAvailable) && r.firstAvailable.exists(s, s.deviceClassName == params.metadata.name)))"
)
_ADMIN: Final = "!variables.requests.exists(r, has(r.exactly) && has(r.exactly.adminAccess) && r.exactly.adminAccess)"
# An extended resource has a limit, or the API server refuses the pod.
_BOTH: Final = (
    "!has(variables.pod.resourceClaims) || !variables.containers.exists(c, has(c.resources) && has(c.resources.limits)"
    ' && c.resources.limits.exists(n, n.startsWith("nvidia.com/gpu") || n.startsWith("nvidia.com/mig-")))'
)
_NODE_NAME: Final = '!has(variables.pod.nodeName) || variables.pod.nodeName == ""'
_NODE_LABELS: Final = (
    f'(!has(variables.pod.nodeSelector) || variables.pod.nodeSelector.all(label, label == "{ZONE_LABEL}"))'
    " && variables.terms.all(t, !has(t.matchFields)"
    f' && (!has(t.matchExpressions) || t.matchExpressions.all(e, e.key == "{ZONE_LABEL}")))'
)
# A DaemonSet's pods serve nodes, so they may choose them.
_NO_DAEMON: Final = (
    '!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, o.kind == "DaemonSet")'
)
# Pods of what makes pods; a group of them has two templates.
_PODS_OF_ANY: Final = (
    'request.kind.kind == "ResourceClaim" ? []'
    ' : request.kind.kind == "Pod" ? [dyn(object.spec)]'
    ' : request.kind.kind == "CronJob" ? [dyn(object.spec).jobTemplate.spec.template.spec]'
    ' : request.kind.kind == "LeaderWorkerSet" ? [dyn(object.spec).leaderWorkerTemplate.workerTemplate.spec]'
    " + (has(dyn(object.spec).leaderWorkerTemplate.leaderTemplate)"
    " ? [dyn(object.spec).leaderWorkerTemplate.leaderTemplate.spec] : [])"
    " : [dyn(object.spec).template.spec]"
)
_TAKES_CLAIM: Final = "has(p.resourceClaims) && p.resourceClaims.exists(c, has(c.resourceClaimTemplateName))"
_TAKES_RESOURCE: Final = (
    "(p.containers + (has(p.initContainers) ? p.initContainers : [])).exists(c, has(c.resources)"
    " && has(c.resources.limits)"
    ' && c.resources.limits.exists(n, n.startsWith("nvidia.com/gpu") || n.startsWith("nvidia.com/mig-")))'
)
# What is made by one of these was judged with it: their pods, their Jobs, the claims of pods.
_JUDGED: Final = (
    *("CronJob", "DaemonSet", "Deployment", "Job", "LeaderWorkerSet", "Pod", "ReplicaSet", "ReplicationController"),
    "StatefulSet",
)
_MADE_BY_JUDGED: Final = (
    "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(o, o.kind in ["
    + ", ".join(f'"{kind}"' for kind in _JUDGED)
    + "])"
)
_PRICED: Final = (
    f'(has(object.metadata.annotations) && "{PRICED_DIGEST}" in object.metadata.annotations'
    f' && object.metadata.annotations["{PRICED_DIGEST}"].matches("^sha256:[0-9a-f]{{64}}$"))'
)


def build_policies(closure: PlatformClosure) -> tuple[Object, ...]:
    """Four policies, each before its binding: lane (denies), admin access, node contract and price (warn and audit).

    Defaults of the API server are written out, so that Argo CD sees no difference.
    """
    on = closure.on
    namespaces = sorted({namespace.name for pool in closure.pools for namespace in pool.namespaces})
    experiments = sorted(
        {namespace.name for pool in closure.pools if pool.lane == "experiment" for namespace in pool.namespaces}
    )
    within = _select(namespaces, "In")
    return (
        _build_lane_policy(on),
        _build_binding(on, LANE_POLICY, ["Deny"], _select(experiments, "NotIn"), {"paramRef": _EXPERIMENT_CLASSES}),
        _build_admin_policy(on),
        _build_binding(on, ADMIN_POLICY, ["Warn", "Audit"], within),
        _build_node_policy(on),
        _build_binding(on, NODE_POLICY, ["Warn", "Audit"], within),
        _build_price_policy(on),
        _build_binding(on, PRICE_POLICY, ["Warn", "Audit"], within),
    )


# Each class with the label is a parameter of its own: one that somebody else labels so counts too.
_EXPERIMENT_CLASSES: Final = {
    "selector": {"matchLabels": {LANE: "experiment"}},
    "parameterNotFoundAction": "Allow",
}


def _build_lane_policy(on: ClusterClosure) -> Object:
    return _build_policy(
        on,
        LANE_POLICY,
        {
            "failurePolicy": "Fail",
            "paramKind": {"apiVersion": f"resource.k8s.io/{on.resource_api}", "kind": "DeviceClass"},
            "matchConstraints": _match([_claim_rule(on)]),
            "variables": list(_REQUESTS),
            "validations": [
                {
                    "expression": _NAMES_CLASS,
                    "messageExpression": '"class " + params.metadata.name + " is of the experiment lane, which admits'
                    ' no claims from namespace " + request.namespace',
                    "reason": "Forbidden",
                }
            ],
        },
    )


def _build_admin_policy(on: ClusterClosure) -> Object:
    return _build_policy(
        on,
        ADMIN_POLICY,
        {
            "failurePolicy": "Ignore",
            "matchConstraints": _match([_claim_rule(on)]),
            "variables": list(_REQUESTS),
            "validations": [
                {
                    "expression": _ADMIN,
                    "message": "a request has adminAccess: it is given devices that others use",
                    "reason": "Forbidden",
                }
            ],
        },
    )


def _build_node_policy(on: ClusterClosure) -> Object:
    """What the node contract says of pods, here where nobody can leave it out of a manifest.

    A Deployment's pods are judged with it, and again when they are made: the first warns its author.
    """
    workloads = [
        _rule("", "v1", ["CREATE"], ["pods"]),
        _rule("apps", "v1", ["CREATE", "UPDATE"], ["deployments", "statefulsets"]),
        _rule("batch", "v1", ["CREATE"], ["jobs"]),
    ]
    validations = [
        (_BOTH, "a pod has a claim and asks for an NVIDIA GPU as an extended resource too: the two are added up"),
        (_NODE_NAME, "a pod names its node, so neither the scheduler nor its claims have a say"),
        (_NODE_LABELS, f"a pod selects nodes by another label than {ZONE_LABEL}: which device it needs says its claim"),
    ]
    return _build_policy(
        on,
        NODE_POLICY,
        {
            "failurePolicy": "Ignore",
            "matchConstraints": _match(workloads),
            "matchConditions": [{"name": "no-daemon", "expression": _NO_DAEMON}],
            "variables": list(_POD),
            "validations": [
                {"expression": expression, "message": message, "reason": "Forbidden"}
                for expression, message in validations
            ],
        },
    )


def _build_price_policy(on: ClusterClosure) -> Object:
    """Who takes devices and was never priced: a workload whose pods get some of their own, or a claim by itself.

    A workload that only uses a claim that is there already takes no device.
    """
    rules = [
        _rule("", "v1", ["CREATE"], ["pods", "replicationcontrollers"]),
        _rule("apps", "v1", ["CREATE", "UPDATE"], ["daemonsets", "deployments", "replicasets", "statefulsets"]),
        _rule("batch", "v1", ["CREATE", "UPDATE"], ["cronjobs", "jobs"]),
        _rule("leaderworkerset.x-k8s.io", "v1", ["CREATE", "UPDATE"], ["leaderworkersets"]),
        _rule("resource.k8s.io", on.resource_api, ["CREATE"], ["resourceclaims"]),
    ]
    takes = (
        'request.kind.kind == "ResourceClaim"'
        f" || variables.pods.exists(p, {_TAKES_CLAIM}) || variables.pods.exists(p, {_TAKES_RESOURCE})"
    )
    validation = {
        "expression": f"!variables.takes || {_PRICED}",
        "message": f"it takes devices and nobody priced it: it lacks {PRICED_DIGEST}, which poolwright writes on"
        " what it renders of an envelope that has a price",
        "reason": "Forbidden",
    }
    return _build_policy(
        on,
        PRICE_POLICY,
        {
            "failurePolicy": "Ignore",
            "matchConstraints": _match(rules),
            "matchConditions": [{"name": "made-by-nothing-judged", "expression": _MADE_BY_JUDGED}],
            "variables": [{"name": "pods", "expression": _PODS_OF_ANY}, {"name": "takes", "expression": takes}],
            "validations": [validation],
        },
    )


def _build_policy(on: ClusterClosure, name: str, spec: Object) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": _metadata(on, name),
        "spec": spec,
    }


def _build_binding(
    on: ClusterClosure, name: str, actions: list[str], namespaces: Object, more: Object | None = None
) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": _metadata(on, name),
        "spec": {
            "policyName": name,
            **(more or {}),
            "matchResources": {"matchPolicy": "Equivalent", "namespaceSelector": namespaces, "objectSelector": {}},
            "validationActions": actions,
        },
    }


def _metadata(on: ClusterClosure, name: str) -> Object:
    labels = {**MANAGED_BY, PART_OF: on.project}
    return {"name": name, "labels": labels, "annotations": {SYNC_WAVE: CLASS_WAVE}}


def _match(rules: list[Object]) -> Object:
    return {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "resourceRules": rules}


def _claim_rule(on: ClusterClosure) -> Object:
    """New claims in any version: `Equivalent` hands them over in this one. A claim's spec can't be changed later."""
    return _rule("resource.k8s.io", on.resource_api, ["CREATE"], ["resourceclaims", "resourceclaimtemplates"])


def _rule(group: str, version: str, operations: list[str], resources: list[str]) -> Object:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "operations": operations,
        "resources": resources,
        "scope": "*",
    }


def _select(namespaces: Sequence[str], operator: str) -> Object:
    """Namespaces by name; without a name, all."""
    if not namespaces:
        return {}
    return {"matchExpressions": [{"key": _NAMESPACE_NAME, "operator": operator, "values": list(namespaces)}]}
