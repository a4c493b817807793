"""What is left of objects where feature gates are off, and what is said of it."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from fleet import FACTS
from given_objects import read
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.gated_fields import strip_gated
from poolwright.specs.finding import render_text

OBJECTS = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {namespace: a, name: c}
spec:
  devices:
    requests:
    - name: r
      exactly:
        deviceClassName: x
        adminAccess: true
        tolerations: [{operator: Exists}]
        capacity: {requests: {memory: 1Gi}}
        derivedAttributes: [{name: a/b, expression: '1'}]
    - name: s
      firstAvailable:
      - {name: t, deviceClassName: x, tolerations: [{operator: Exists}], capacity: {requests: {memory: 1Gi}}}
    constraints: [{distinctAttribute: a/b}, {matchAttribute: a/b}]
status:
  allocation: {devices: {results: [{request: r, driver: d, pool: p, device: v, adminAccess: true, shareID: x}]}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {namespace: a, name: t}
spec:
  spec:
    devices:
      requests: [{name: r, exactly: {deviceClassName: x, adminAccess: false}}]
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: x}
spec: {extendedResourceName: example.com/x}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  perDeviceNodeSelection: true
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  skipNodeOperations: ['*']
  devices:
  - name: v
    nodeName: n
    taints: [{key: a, effect: NoSchedule}]
    allowMultipleAllocations: true
    bindsToNode: true
    bindingConditions: []
    bindingFailureConditions: [b]
    consumesCounters: [{counterSet: k, counters: {m: {value: 1}}, compatibilityGroups: [g]}]
    attributes: {one: {string: a}, many: {strings: [a]}}
    capacity: {memory: {value: 2Gi, requestPolicy: {default: 1Gi}}}
  - name: w
    nodeName: n
    taints: [{key: a, effect: NoSchedule}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: k}
spec:
  driver: d
  allNodes: true
  pool: {name: q, generation: 1, resourceSliceCount: 1}
  sharedCounters: [{name: k, counters: {m: {value: 1}}}]
"""
GATES = (
    *("DRAAdminAccess", "DRAPrioritizedList", "DRAPartitionableDevices", "DRADeviceTaints", "DRAConsumableCapacity"),
    *("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus", "DRAExtendedResource", "DRAListTypeAttributes"),
    *("DRADerivedAttributes", "DRADeviceCompatibilityGroups", "DRAOptionalNodeOperations"),
)
ALL_ON = dict.fromkeys(GATES, True)


def strip(*off: str) -> tuple[ClusterObjects, str]:
    objects = read(OBJECTS)
    before = copy.deepcopy(objects)
    stripped, findings = strip_gated(objects, {**ALL_ON, **dict.fromkeys(off, False)})
    assert objects == before
    return stripped, render_text(findings)


def dropped(place: str, field: str, gates: str) -> str:
    several = " and " in gates
    return (
        f"objects.yaml:{place}: note: {field} is dropped  [field-dropped]\n  at   {field}\n"
        f"  why  {gates} {'are' if several else 'is'} off, and the API server drops the field when the object is"
        " created; one that was stored before keeps it (kubernetes/kubernetes pkg/registry/resource)\n"
        f"  fix  turn {'the gates' if several else 'the gate'} on, or leave the field out\n"
    )


def test_nothing_goes_with_every_gate_on() -> None:
    assert strip() == (read(OBJECTS), "")


REQUEST = "spec.devices.requests[0].exactly"
SLICE = "spec.devices[0]"
BINDING = "DRADeviceBindingConditions"
SAYS = {
    "DRAAdminAccess": (
        dropped("10:22", f"{REQUEST}.adminAccess", "DRAAdminAccess")
        + dropped("27:71", "spec.spec.devices.requests[0].exactly.adminAccess", "DRAAdminAccess")
    ),
    "DRAPrioritizedList": dropped("16:7", "spec.devices.requests[1].firstAvailable", "DRAPrioritizedList"),
    "DRADeviceTaints": (
        dropped("11:22", f"{REQUEST}.tolerations", "DRADeviceTaints")
        + dropped("45:13", f"{SLICE}.taints", "DRADeviceTaints")
    ),
    "DRADerivedAttributes": dropped("13:28", f"{REQUEST}.derivedAttributes", "DRADerivedAttributes"),
    "DRAExtendedResource": dropped("32:30", "spec.extendedResourceName", "DRAExtendedResource"),
    "DRAOptionalNodeOperations": dropped("41:23", "spec.skipNodeOperations", "DRAOptionalNodeOperations"),
    "DRADeviceCompatibilityGroups": dropped(
        "50:88", f"{SLICE}.consumesCounters[0].compatibilityGroups", "DRADeviceCompatibilityGroups"
    ),
    "DRAListTypeAttributes": dropped("51:52", f"{SLICE}.attributes.many.strings", "DRAListTypeAttributes"),
    BINDING: (
        dropped("47:18", f"{SLICE}.bindsToNode", BINDING)
        + dropped("48:24", f"{SLICE}.bindingConditions", BINDING)
        + dropped("49:31", f"{SLICE}.bindingFailureConditions", BINDING)
    ),
}
CONSTRAINT = (
    "objects.yaml:17:19: a constraint has no attribute once distinctAttribute is dropped  [object-refused]\n"
    "  at   spec.devices.constraints[0]\n"
    "  why  the API server refuses the claim: a constraint names an attribute"
    " (kubernetes/kubernetes pkg/registry/resource)\n"
    "  fix  turn on DRAConsumableCapacity, or drop the constraint\n"
)
SAYS["DRAConsumableCapacity"] = (
    dropped("12:19", f"{REQUEST}.capacity", "DRAConsumableCapacity")
    + CONSTRAINT
    + dropped("17:39", "spec.devices.constraints[0].distinctAttribute", "DRAConsumableCapacity")
    + dropped("46:31", f"{SLICE}.allowMultipleAllocations", "DRAConsumableCapacity")
    + dropped("52:52", f"{SLICE}.capacity.memory.requestPolicy", "DRAConsumableCapacity")
)
SAYS["DRAPartitionableDevices"] = (
    'objects.yaml:38:3: slice "s" says nothing of the nodes it is for once perDeviceNodeSelection is dropped'
    "  [object-refused]\n  at   spec\n"
    "  why  the API server refuses the slice, and none of its devices can be claimed"
    " (kubernetes/kubernetes pkg/registry/resource)\n"
    "  fix  turn on DRAPartitionableDevices, or publish a slice for each node\n"
    + dropped("39:27", "spec.perDeviceNodeSelection", "DRAPartitionableDevices")
    + dropped("44:15", f"{SLICE}.nodeName", "DRAPartitionableDevices")
    + dropped("50:23", f"{SLICE}.consumesCounters", "DRAPartitionableDevices")
    + dropped("64:19", "spec.sharedCounters", "DRAPartitionableDevices")
)


@pytest.mark.parametrize("gate", SAYS)
def test_what_is_said(gate: str) -> None:
    assert strip(gate)[1] == SAYS[gate]


def test_binding_conditions_take_two_gates() -> None:
    assert "DRAResourceClaimDeviceStatus is off" in strip("DRAResourceClaimDeviceStatus")[1]
    assert f"{BINDING} and DRAResourceClaimDeviceStatus are off" in strip(BINDING, "DRAResourceClaimDeviceStatus")[1]


def test_what_is_left_with_every_gate_off() -> None:
    stripped, _ = strip_gated(read(OBJECTS), {})
    bare = f"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{namespace: a, name: c}}
spec:
  devices:
    requests: [{{name: r, exactly: {{deviceClassName: x}}}}, {{name: s}}]
    constraints: [{{}}, {{matchAttribute: a/b}}]
{OBJECTS[OBJECTS.index("status:") : OBJECTS.index("---")]}---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {{namespace: a, name: t}}
spec: {{spec: {{devices: {{requests: [{{name: r, exactly: {{deviceClassName: x}}}}]}}}}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: x}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: s}}
spec:
  driver: d
  allNodes: true
  pool: {{name: p, generation: 1, resourceSliceCount: 1}}
  devices:
  - name: v
    attributes: {{one: {{string: a}}, many: {{}}}}
    capacity: {{memory: {{value: 2Gi}}}}
  - name: w
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: k}}
spec: {{driver: d, allNodes: true, pool: {{name: q, generation: 1, resourceSliceCount: 1}}}}
"""
    wanted = read(bare)
    nowhere = replace(stripped.slices[0].value, placement=wanted.slices[0].value.placement)
    assert (stripped.claims, stripped.templates, stripped.classes) == (wanted.claims, wanted.templates, wanted.classes)
    assert [nowhere, stripped.slices[1].value] == [one.value for one in wanted.slices]


def test_stripping_twice_is_stripping_once() -> None:
    once, _ = strip_gated(read(OBJECTS), {})
    assert strip_gated(once, {}) == (once, ())


DEFAULTS = {
    "1.34": "adminAccess firstAvailable",
    "1.35": "adminAccess firstAvailable",
    "1.36": "adminAccess firstAvailable tolerations distinctAttribute bindsToNode extendedResourceName",
}


@pytest.mark.parametrize("minor", DEFAULTS)
def test_what_releases_keep_by_default(minor: str) -> None:
    _, findings = strip_gated(read(OBJECTS), FACTS.effective_gates(minor, {}))
    gone = {finding.place.field.rpartition(".")[2] for finding in findings}
    kept = DEFAULTS[minor].split()
    asked = {word for words in DEFAULTS.values() for word in words.split()}
    assert sorted(asked - gone) == sorted(kept)
    assert {"derivedAttributes", "skipNodeOperations", "strings"} <= gone
