"""The checks of Kubernetes objects find what is planted in good ones."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from kubernetes_schemas import MINORS, check_object, schema_errors

Object = dict[str, Any]

TEMPLATE: Object = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "llama-0123456789", "namespace": "serving", "labels": {"example.com/unit": "llama"}},
    "spec": {
        "metadata": {"annotations": {"example.com/why": "any text: {}"}},
        "spec": {
            "devices": {
                "requests": [
                    {"name": "gpu", "exactly": {"deviceClassName": "h100", "count": 2}},
                    {
                        "name": "nic",
                        "firstAvailable": [
                            {"name": "fast", "deviceClassName": "roce", "selectors": [{"cel": {"expression": "true"}}]},
                            {"name": "slow", "deviceClassName": "eth"},
                        ],
                    },
                ],
                "constraints": [{"requests": ["gpu", "nic/fast"], "matchAttribute": "resource.kubernetes.io/pcieRoot"}],
                "config": [{"requests": ["nic"], "opaque": {"driver": "nic.example.com", "parameters": {"a": [1]}}}],
            }
        },
    },
}
DEPLOYMENT: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "llama.v1", "namespace": "serving"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"unit": "llama"}},
        "template": {
            "metadata": {"labels": {"unit": "llama"}},
            "spec": {
                "containers": [
                    {
                        "name": "server",
                        "image": "example.com/server:1",
                        "ports": [{"name": "http", "containerPort": 8000}],
                        "resources": {"claims": [{"name": "gpu"}], "limits": {"cpu": 4, "memory": "1.5Gi"}},
                        "volumeMounts": [{"name": "cache", "mountPath": "/cache"}],
                    }
                ],
                "nodeSelector": {"topology.kubernetes.io/zone": "a"},
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "llama-0123456789"}],
                "volumes": [{"name": "cache", "emptyDir": {}}],
            },
        },
    },
}
SLICE: Object = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "node-a-gpu"},
    "spec": {
        "driver": "gpu.example.com",
        "pool": {"name": "node-a", "generation": 1, "resourceSliceCount": 1},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In"}]}]},
        "devices": [{"name": "gpu-0", "capacity": {"memory": {"value": "80Gi"}}}],
    },
}
SERVICE: Object = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "llama", "namespace": "serving"},
    "spec": {"selector": {"unit": "llama"}, "ports": [{"port": 80, "targetPort": "http"}]},
}
TAINT_RULE: Object = {
    "apiVersion": "resource.k8s.io/v1beta2",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "bad-gpu"},
    "spec": {
        "deviceSelector": {"driver": "gpu.example.com"},
        "taint": {"key": "example.com/bad", "effect": "NoExecute"},
    },
}


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("obj", [TEMPLATE, DEPLOYMENT, SLICE, SERVICE], ids=lambda obj: obj["kind"])
def test_a_good_object_has_no_errors(obj: Object, minor: str) -> None:
    assert check_object(obj, minor) == []


def requests(obj: Object) -> Any:
    return obj["spec"]["spec"]["devices"]["requests"]


def pod(obj: Object) -> Any:
    return obj["spec"]["template"]["spec"]


# what is planted -> the object, how, what is said
PLANTED: dict[str, tuple[Object, Callable[[Object], object], list[str]]] = {
    "an-unknown-key": (
        TEMPLATE,
        lambda o: requests(o)[0]["exactly"].update(counts=2),
        [
            "spec.spec.devices.requests[0].exactly: Additional properties are not allowed ('counts' was unexpected)",
        ],
    ),
    "an-unknown-key-at-the-top": (
        TEMPLATE,
        lambda o: o.update(status={}),
        ["Additional properties are not allowed ('status' was unexpected)"],
    ),
    "a-wrong-type": (
        TEMPLATE,
        lambda o: requests(o)[0]["exactly"].update(count="2"),
        ['spec.spec.devices.requests[0].exactly.count: "2" is not of types "null", "integer"'],
    ),
    "true-is-no-number": (
        DEPLOYMENT,
        lambda o: o["spec"].update(replicas=True),
        ['spec.replicas: true is not of types "null", "integer"'],
    ),
    "a-missing-field": (
        DEPLOYMENT,
        lambda o: o["spec"].pop("selector"),
        ['spec: "selector" is a required property'],
    ),
    "two-errors-at-once": (
        DEPLOYMENT,
        lambda o: (pod(o)["containers"][0].pop("name"), o["spec"].update(replica=1)),
        [
            'spec.template.spec.containers[0]: "name" is a required property',
            "spec: Additional properties are not allowed ('replica' was unexpected)",
        ],
    ),
    "no-time": (
        SERVICE,
        lambda o: o["metadata"].update(creationTimestamp="yesterday"),
        ['metadata.creationTimestamp: "yesterday" is not a "date-time"'],
    ),
    "neither-exactly-nor-first-available": (
        TEMPLATE,
        lambda o: requests(o)[0].pop("exactly"),
        ["spec.spec.devices.requests[0]: exactly one of exactly and firstAvailable must be set"],
    ),
    "both-exactly-and-first-available": (
        TEMPLATE,
        lambda o: requests(o)[1].update(exactly={"deviceClassName": "roce"}),
        ["spec.spec.devices.requests[1]: exactly one of exactly and firstAvailable must be set"],
    ),
    "a-request-twice": (
        TEMPLATE,
        lambda o: requests(o).append(requests(o)[0]),
        ["spec.spec.devices.requests: 'gpu' is there 2 times"],
    ),
    "a-constraint-on-no-request": (
        TEMPLATE,
        lambda o: o["spec"]["spec"]["devices"]["constraints"][0]["requests"].append("nic/none"),
        ["spec.spec.devices.constraints[0].requests: there is no request 'nic/none'"],
    ),
    "a-request-named-otherwise": (
        TEMPLATE,
        lambda o: requests(o)[1]["firstAvailable"][1].update(name="slow.er"),
        ["spec.spec.devices.requests[1].firstAvailable[1].name: 'slow.er' isn't a DNS label"],
    ),
    "no-name": (DEPLOYMENT, lambda o: o["metadata"].pop("name"), ["metadata.name: None isn't a name for this kind"]),
    "a-name-in-capitals": (
        DEPLOYMENT,
        lambda o: o["metadata"].update(name="Llama"),
        ["metadata.name: 'Llama' isn't a name for this kind"],
    ),
    "a-service-name-starts-with-a-letter": (
        SERVICE,
        lambda o: o["metadata"].update(name="7b"),
        ["metadata.name: '7b' isn't a name for this kind"],
    ),
    "a-namespace-where-it-has-no-place": (
        SLICE,
        lambda o: o["metadata"].update(namespace="serving"),
        ["metadata.namespace: a ResourceSlice is in no namespace"],
    ),
    "a-label-value-too-long": (
        DEPLOYMENT,
        lambda o: o["spec"]["template"]["metadata"]["labels"].update({"a.b/c": "x" * 64}),
        [f'spec.template.metadata.labels["a.b/c"]: {"x" * 64!r} is no label value'],
    ),
    "an-annotation-key-with-two-slashes": (
        DEPLOYMENT,
        lambda o: o["metadata"].update(annotations={"a/b/c": ""}),
        ['metadata.annotations["a/b/c"]: the key is no qualified name'],
    ),
    "a-selector-that-misses-its-own-pods": (
        DEPLOYMENT,
        lambda o: o["spec"]["selector"]["matchLabels"].update(unit="other"),
        ["spec.selector.matchLabels.unit: the template's labels don't match"],
    ),
    "a-claim-from-two-places": (
        DEPLOYMENT,
        lambda o: pod(o)["resourceClaims"][0].update(resourceClaimName="mine"),
        [
            "spec.template.spec.resourceClaims[0]: exactly one of resourceClaimName and resourceClaimTemplateName must "
            "be set"
        ],
    ),
    "a-claim-the-pod-lacks": (
        DEPLOYMENT,
        lambda o: pod(o)["containers"][0]["resources"]["claims"].append({"name": "nic"}),
        ["spec.template.spec.containers[0].resources.claims[1]: the pod has no claim 'nic'"],
    ),
    "a-volume-the-pod-lacks": (
        DEPLOYMENT,
        lambda o: pod(o).update(volumes=[]),
        ["spec.template.spec.containers[0].volumeMounts[0]: the pod has no volume 'cache'"],
    ),
    "two-containers-of-one-name": (
        DEPLOYMENT,
        lambda o: pod(o).update(initContainers=[{"name": "server", "image": "example.com/init:1"}]),
        ["spec.template.spec.containers: 'server' is there 2 times"],
    ),
    "a-port-name-too-long": (
        DEPLOYMENT,
        lambda o: pod(o)["containers"][0]["ports"][0].update(name="a-name-too-long1"),
        ["spec.template.spec.containers[0].ports[0].name: 'a-name-too-long1' isn't a port's name"],
    ),
    "a-deadline-beyond-32-bits": (
        DEPLOYMENT,
        lambda o: o["spec"].update(progressDeadlineSeconds=18_316_800_000),
        ["spec.progressDeadlineSeconds: 18316800000 is greater than the maximum of 2147483647"],
    ),
    "an-amount-in-gigabytes": (
        DEPLOYMENT,
        lambda o: pod(o)["containers"][0]["resources"]["limits"].update(memory="64GB"),
        ["spec.template.spec.containers[0].resources.limits.memory: '64GB' is no quantity"],
    ),
}


@pytest.mark.parametrize("minor", [MINORS[0], MINORS[-1]])
@pytest.mark.parametrize(("good", "plant", "errors"), PLANTED.values(), ids=PLANTED)
def test_finds_what_is_planted(good: Object, plant: Callable[[Object], object], errors: list[str], minor: str) -> None:
    obj = copy.deepcopy(good)
    plant(obj)
    assert check_object(obj, minor) == errors


NO_TAINT_RULE = "has no resource.k8s.io/v1beta2 DeviceTaintRule; of that kind it has resource.k8s.io/v1alpha3"
SERVED = {
    "1.34": [f"Kubernetes 1.34 {NO_TAINT_RULE}"],
    "1.35": [f"Kubernetes 1.35 {NO_TAINT_RULE}"],
    "1.36": [],
    "1.37": [],
}


@pytest.mark.parametrize(("minor", "errors"), SERVED.items())
def test_a_version_is_served_or_not_by_minor(minor: str, errors: list[str]) -> None:
    assert schema_errors(TAINT_RULE, minor) == errors


def test_a_custom_resource_is_of_no_minor() -> None:
    obj = {"apiVersion": "example.com/v1", "kind": "Thing"}
    assert schema_errors(obj, "1.37") == ["Kubernetes 1.37 has no example.com/v1 Thing; of that kind it has none"]


def test_a_minor_without_schemas_is_refused() -> None:
    with pytest.raises(KeyError, match=r"no schemas of Kubernetes 1\.33; there are 1\.34, 1\.35, 1\.36, 1\.37"):
        schema_errors(SERVICE, "1.33")
