"""ResourceClaims, templates and classes of every API version as values."""

from __future__ import annotations

import pytest
import yaml

from given_objects import read, refusal
from poolwright.allocation.claim import (
    AllocatedConfig,
    AllocatedDevice,
    Allocation,
    Claim,
    ClaimRequest,
    Constraint,
    DeviceClass,
    DeviceConfig,
    Request,
    Toleration,
)
from poolwright.allocation.cluster_objects import ClaimTemplate
from poolwright.specs.quantity import parse_quantity

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: team-a, name: train}
spec:
  devices:
    requests:
    - name: gpu
      exactly: {deviceClassName: gpu.example.com}
"""
SHORT = Claim(
    namespace="team-a",
    name="train",
    requests=(ClaimRequest(name="gpu", exactly=Request(name="gpu", class_name="gpu.example.com")),),
)
FULL = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  namespace: team-a
  name: train
  uid: claim-1
  deletionTimestamp: '2026-11-30T00:00:00Z'
  ownerReferences:
  - {apiVersion: v1, kind: Pod, name: a, uid: pod-1, controller: true}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.example.com
        selectors: [{cel: {expression: 'true'}}, {newer: {}}]
        count: 2
        adminAccess: false
        tolerations:
        - {key: a, value: b, effect: NoExecute, tolerationSeconds: 60}
        - {operator: Exists}
        capacity: {requests: {memory: 10Gi, example.com/cores: 4}}
        derivedAttributes: [{name: example.com/root, expression: '1'}]
    - name: any
      firstAvailable:
      - {name: big, deviceClassName: big.example.com, allocationMode: All}
      - {name: small, deviceClassName: small.example.com, allocationMode: Newer, count: 3, capacity: {}}
    constraints:
    - {matchAttribute: example.com/root, requests: [gpu, any/big]}
    - {distinctAttribute: example.com/slot}
    - {newerKind: {}}
    config:
    - {requests: [gpu], opaque: {driver: gpu.example.com, parameters: {a: 1}}}
status:
  reservedFor: [{resource: pods, name: a, uid: pod-1}]
  allocation:
    nodeSelector: {nodeSelectorTerms: []}
    devices:
      results:
      - {request: gpu, driver: gpu.example.com, pool: node-a, device: gpu-0}
      - request: any/big
        driver: gpu.example.com
        pool: node-a
        device: gpu-1
        adminAccess: true
        tolerations: [{operator: Exists}]
        bindingConditions: [ready]
        bindingFailureConditions: [failed]
        shareID: share-1
        consumedCapacity: {memory: 10Gi}
        skipNodeOperations: ['*']
      config:
      - {source: FromClass, requests: [], opaque: {driver: gpu.example.com}}
"""
ANY_DEVICE = AllocatedDevice(request="gpu", driver="gpu.example.com", pool="node-a", device="gpu-0")
WHAT_FULL_SAYS = Claim(
    namespace="team-a",
    name="train",
    uid="claim-1",
    requests=(
        ClaimRequest(
            name="gpu",
            exactly=Request(
                name="gpu",
                class_name="gpu.example.com",
                selectors=("true", None),
                count=2,
                admin_access=False,
                tolerations=(
                    Toleration(key="a", value="b", effect="NoExecute", seconds=60),
                    Toleration(operator="Exists"),
                ),
                capacity={"memory": parse_quantity("10Gi"), "example.com/cores": parse_quantity("4")},
                derived_attributes={"example.com/root": "1"},
            ),
        ),
        ClaimRequest(
            name="any",
            first_available=(
                Request(name="big", class_name="big.example.com", mode="All", count=0),
                Request(name="small", class_name="small.example.com", mode="Newer", count=3, capacity={}),
            ),
        ),
    ),
    constraints=(
        Constraint(match_attribute="example.com/root", requests=("gpu", "any/big")),
        Constraint(distinct_attribute="example.com/slot"),
        Constraint(),
    ),
    config=(
        DeviceConfig(content={"opaque": {"driver": "gpu.example.com", "parameters": {"a": 1}}}, requests=("gpu",)),
    ),
    allocation=Allocation(
        node_selector={"nodeSelectorTerms": []},
        devices=(
            ANY_DEVICE,
            AllocatedDevice(
                request="any/big",
                driver="gpu.example.com",
                pool="node-a",
                device="gpu-1",
                admin_access=True,
                tolerations=(Toleration(operator="Exists"),),
                binding_conditions=("ready",),
                binding_failure_conditions=("failed",),
                share_id="share-1",
                consumed_capacity={"memory": parse_quantity("10Gi")},
                skip_node_operations=("*",),
            ),
        ),
        config=(AllocatedConfig(source="FromClass", requests=(), content={"opaque": {"driver": "gpu.example.com"}}),),
    ),
    reserved_for=("pod-1",),
    owner="pod-1",
    is_deleted=True,
)


def as_version(text: str, version: str) -> str:
    """A claim of v1 in another version: v1beta1 has the fields of `exactly` beside a request's name."""
    value = yaml.safe_load(text)
    value["apiVersion"] = f"resource.k8s.io/{version}"
    spec = value["spec"].get("spec", value["spec"])
    if version == "v1beta1":
        for request in spec["devices"]["requests"]:
            request.update(request.pop("exactly", {}))
    return yaml.safe_dump(value)


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
@pytest.mark.parametrize(("text", "says"), [(CLAIM, SHORT), (FULL, WHAT_FULL_SAYS)], ids=["short", "full"])
def test_every_version_says_the_same(text: str, says: Claim, version: str) -> None:
    assert [one.value for one in read(as_version(text, version)).claims] == [says]


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_templates(version: str) -> None:
    value = yaml.safe_load(CLAIM)
    text = yaml.safe_dump({**value, "kind": "ResourceClaimTemplate", "spec": {"spec": value["spec"]}})
    (placed,) = read(as_version(text, version)).templates
    template = ClaimTemplate(namespace="team-a", name="train", requests=SHORT.requests)
    assert placed.value == template
    assert template.build_claim("train-x", uid="1", owner="pod-1") == Claim(
        namespace="team-a", name="train-x", uid="1", requests=SHORT.requests, owner="pod-1"
    )


def test_classes() -> None:
    text = (
        "apiVersion: resource.k8s.io/v1beta1\nkind: DeviceClass\n"
        "metadata: {name: gpu.example.com, creationTimestamp: '2026-11-30T00:00:00Z'}\n"
        "spec:\n  selectors: [{cel: {expression: a}}, {other: {}}]\n  config: [{opaque: {driver: b}}]\n"
        "  extendedResourceName: example.com/gpu\n"
    )
    assert [one.value for one in read(text).classes] == [
        DeviceClass(
            name="gpu.example.com",
            selectors=("a", None),
            config=(DeviceConfig(content={"opaque": {"driver": "b"}}),),
            extended_resource_name="example.com/gpu",
            created="2026-11-30T00:00:00Z",
        )
    ]


DEFAULTS = {
    "mode-and-count": ("", Request(name="gpu", class_name="c")),
    "null-is-nothing": (", count: null, allocationMode: null", Request(name="gpu", class_name="c")),
    "count-of-0-is-none": (", count: 0", Request(name="gpu", class_name="c")),
    "all-has-no-count": (", allocationMode: All", Request(name="gpu", class_name="c", mode="All", count=0)),
    "a-negative-count-stays": (", count: -1", Request(name="gpu", class_name="c", count=-1)),
    "operator": (", tolerations: [{key: a}]", Request(name="gpu", class_name="c", tolerations=(Toleration(key="a"),))),
    "empty-operator": (
        ", tolerations: [{key: a, operator: ''}]",
        Request(name="gpu", class_name="c", tolerations=(Toleration(key="a"),)),
    ),
}


@pytest.mark.parametrize(("more", "request_"), DEFAULTS.values(), ids=DEFAULTS)
def test_defaults(more: str, request_: Request) -> None:
    text = CLAIM.replace("{deviceClassName: gpu.example.com}", f"{{deviceClassName: c{more}}}")
    assert read(text).claims[0].value.requests[0].exactly == request_


FIX = "  fix  write it as Kubernetes' API has it, or as kubectl get -o yaml prints it\n"
WHY = "  why  the API server refuses the object (Kubernetes resource.k8s.io/v1 ResourceClaim)\n"
REFUSED = {
    "flat-request-in-v1": (
        CLAIM.replace("exactly: {deviceClassName: gpu.example.com}", "deviceClassName: c\n      count: 2"),
        "objects.yaml:7:7: spec.devices.requests[0] has deviceClassName, count beside its name  [object-unreadable]\n"
        "  at   spec.devices.requests[0]\n"
        "  why  that is how v1beta1 has it; in this API version the server drops them, and the request asks for nothing"
        " (Kubernetes resource.k8s.io/v1 ResourceClaim)\n"
        "  fix  move them under spec.devices.requests[0].exactly\n",
    ),
    "exactly-in-v1beta1": (
        CLAIM.replace("/v1\n", "/v1beta1\n"),
        "objects.yaml:8:16: spec.devices.requests[0].exactly stands in a request of v1beta1  [object-unreadable]\n"
        "  at   spec.devices.requests[0].exactly\n"
        "  why  there the fields of a request stand beside its name"
        " (Kubernetes resource.k8s.io/v1beta1 ResourceClaim)\n" + FIX,
    ),
    "older-api": (
        CLAIM.replace("/v1\n", "/v1alpha3\n"),
        'objects.yaml:1:13: ResourceClaim of apiVersion "resource.k8s.io/v1alpha3"  [object-unreadable]\n'
        "  at   apiVersion\n"
        "  why  this release reads resource.k8s.io/v1, resource.k8s.io/v1beta2, resource.k8s.io/v1beta1"
        " (Kubernetes resource.k8s.io/v1alpha3 ResourceClaim)\n"
        "  fix  capture it again, or write it in one of them\n",
    ),
    "count-that-is-a-word": (
        CLAIM.replace("gpu.example.com}", "c, count: '2', adminAccess: 'yes'}"),
        "objects.yaml:8:44: spec.devices.requests[0].exactly.count is not a whole number of 64 bits"
        "  [object-unreadable]\n  at   spec.devices.requests[0].exactly.count\n"
        + WHY
        + FIX
        + "objects.yaml:8:62: spec.devices.requests[0].exactly.adminAccess is not true or false"
        "  [object-unreadable]\n  at   spec.devices.requests[0].exactly.adminAccess\n" + WHY + FIX,
    ),
    "count-beyond-64-bits": (
        CLAIM.replace("gpu.example.com}", "c, count: 9223372036854775808}"),
        "objects.yaml:8:44: spec.devices.requests[0].exactly.count is not a whole number of 64 bits"
        "  [object-unreadable]\n  at   spec.devices.requests[0].exactly.count\n" + WHY + FIX,
    ),
    "capacity-that-is-no-quantity": (
        CLAIM.replace("gpu.example.com}", "c, capacity: {requests: {memory: 10GiB}}}"),
        'objects.yaml:8:67: capacity request "memory" is no quantity  [object-unreadable]\n'
        "  at   spec.devices.requests[0].exactly.capacity.requests.memory\n"
        '  why  "10GiB" is not a quantity: write 10Gi (Kubernetes resource.k8s.io/v1 ResourceClaim)\n' + FIX,
    ),
    "names-that-are-missing-or-empty": (
        CLAIM.replace("name: train", "labels: {}").replace("- name: gpu", "- name: ''"),
        "objects.yaml:3:11: metadata.name is missing  [object-unreadable]\n  at   metadata\n"
        + WHY
        + FIX
        + "objects.yaml:7:13: spec.devices.requests[0].name is empty  [object-unreadable]\n"
        "  at   spec.devices.requests[0].name\n" + WHY + FIX,
    ),
    "lists-and-maps-that-are-words": (
        CLAIM[: CLAIM.index("    requests")] + "    requests: a\n    constraints: [b]\n    config: 1\nstatus: c\n",
        "".join(
            f"objects.yaml:{place}: {field} is not a {kind}  [object-unreadable]\n  at   {field}\n{WHY}{FIX}"
            for place, field, kind in (
                ("6:15", "spec.devices.requests", "list"),
                ("7:19", "spec.devices.constraints[0]", "map"),
                ("8:13", "spec.devices.config", "list"),
                ("9:9", "status", "map"),
            )
        ),
    ),
    "result-without-a-device": (
        CLAIM + "status: {allocation: {devices: {results: [{request: a, driver: b, pool: c}]}}}\n",
        "objects.yaml:9:43: status.allocation.devices.results[0].device is missing  [object-unreadable]\n"
        "  at   status.allocation.devices.results[0]\n" + WHY + FIX,
    ),
}


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read(text: str, says: str) -> None:
    assert refusal(text) == says
