"""What pods ask of their nodes, in the scheduler's own arithmetic."""

from __future__ import annotations

import pytest

from given_objects import read, refusal

# k8s.io/component-helpers resource PodRequests; of init containers and sidecars the formula is that of KEP 753,
# "Resources calculation for scheduling and pod admission"; of `resources` of the pod itself, KEP 2837.
CASES = {
    "containers-add-up": (
        "{containers: [{name: a, resources: {requests: {cpu: 1500m, memory: 1Gi}}},"
        " {name: b, resources: {requests: {cpu: 2, memory: 512Mi}}}]}",
        {"cpu": "3500m", "memory": "1536Mi"},
    ),
    "a-limit-is-the-request-where-there-is-none": (
        "{containers: [{name: a, resources: {requests: {cpu: 1}, limits: {cpu: 4, memory: 8Gi}}}]}",
        {"cpu": "1", "memory": "8Gi"},
    ),
    "of-init-containers-the-largest-counts-if-it-is-more": (
        "{initContainers: [{name: i, resources: {requests: {cpu: 5, memory: 1Gi}}},"
        " {name: j, resources: {requests: {cpu: 4}}}],"
        " containers: [{name: a, resources: {requests: {cpu: 2, memory: 3Gi}}}]}",
        {"cpu": "5", "memory": "3Gi"},
    ),
    "a-sidecar-runs-beside-the-containers": (
        "{initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 1}}}],"
        " containers: [{name: a, resources: {requests: {cpu: 2}}}]}",
        {"cpu": "3"},
    ),
    # 1 of the sidecar before it and 4 of its own are more than 1 + 2 + 1 that run in the end.
    "an-init-container-starts-beside-the-sidecars-before-it": (
        "{initContainers: [{name: s, restartPolicy: Always, resources: {requests: {cpu: 1}}},"
        " {name: i, resources: {requests: {cpu: 4}}},"
        " {name: t, restartPolicy: Always, resources: {requests: {cpu: 1}}}],"
        " containers: [{name: a, resources: {requests: {cpu: 2}}}]}",
        {"cpu": "5"},
    ),
    # The same with the init container first: no sidecar is there yet, and 4 is as much as runs in the end.
    "sidecars-after-an-init-container-are-not-there-yet": (
        "{initContainers: [{name: i, resources: {requests: {cpu: 4}}},"
        " {name: s, restartPolicy: Always, resources: {requests: {cpu: 1}}},"
        " {name: t, restartPolicy: Always, resources: {requests: {cpu: 1}}}],"
        " containers: [{name: a, resources: {requests: {cpu: 2}}}]}",
        {"cpu": "4"},
    ),
    "requests-of-the-pod-itself-stand-for-those-of-containers": (
        "{resources: {requests: {cpu: 3}},"
        " containers: [{name: a, resources: {requests: {cpu: 1, memory: 1Gi}}}, {name: b}]}",
        {"cpu": "3", "memory": "1Gi"},
    ),
    "a-limit-of-the-pod-is-its-request-if-no-container-has-one": (
        "{resources: {limits: {cpu: 3, memory: 4Gi}}, containers: [{name: a, resources: {requests: {memory: 1Gi}}}]}",
        {"cpu": "3", "memory": "1Gi"},
    ),
    "the-pod-itself-asks-for-cpu-memory-and-huge-pages-alone": (
        "{resources: {requests: {hugepages-2Mi: 1Gi, ephemeral-storage: 1Gi}}, containers: [{name: a}]}",
        {"hugepages-2Mi": "1Gi"},
    ),
    "overhead-comes-on-top": (
        "{overhead: {cpu: 250m, memory: 120Mi}, resources: {requests: {cpu: 2}},"
        " containers: [{name: a, resources: {requests: {cpu: 1}}}]}",
        {"cpu": "2250m", "memory": "120Mi"},
    ),
    "every-resource-counts": (
        "{containers: [{name: a, resources: {requests:"
        " {ephemeral-storage: 2Gi, hugepages-1Gi: 4Gi, example.com/nic: 1}}}]}",
        {"ephemeral-storage": "2Gi", "example.com/nic": "1", "hugepages-1Gi": "4Gi"},
    ),
    "no-requests": ("{containers: [{name: a}]}", {}),
}


@pytest.mark.parametrize("name", CASES)
def test_effective_requests(name: str) -> None:
    spec, wanted = CASES[name]
    (pod,) = read(f"apiVersion: v1\nkind: Pod\nmetadata: {{namespace: t, name: p}}\nspec: {spec}\n").pods
    assert {resource: amount.canonical for resource, amount in pod.value.requests.items()} == wanted


WRONG = {
    "negative": ("{containers: [{name: a, resources: {requests: {cpu: -1}}}]}", "requests.cpu is negative"),
    "no-quantity": ("{containers: [{name: a, resources: {limits: {memory: 1GiB}}}]}", 'limit "memory" is no quantity'),
    "overhead": ("{overhead: {cpu: much}, containers: [{name: a}]}", 'overhead "cpu" is no quantity'),
    "no-map": ("{resources: {requests: [cpu]}, containers: [{name: a}]}", "spec.resources.requests is not a map"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_read(name: str) -> None:
    spec, says = WRONG[name]
    said = refusal(f"apiVersion: v1\nkind: Pod\nmetadata: {{namespace: t, name: p}}\nspec: {spec}\n")
    assert said.count("object-unreadable") == 1
    assert says in said
