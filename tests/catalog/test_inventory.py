"""Nodes and ResourceSlices as kubectl prints them, and what is said of a capture that can't be read."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import yaml

from fleet import FLEET
from poolwright.catalog.inventory import ZONE_LABEL, Inventory, Node, parse_inventory
from poolwright.catalog.resource_slice import (
    AttributeOnDevice,
    CapacityOnDevice,
    Counters,
    Device,
    Placement,
    RequestPolicy,
    ResourceSlice,
    Taint,
    ValidRange,
    is_complete,
    newest_pools,
)
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.quantity import parse_quantity

NODE = """\
apiVersion: v1
kind: Node
metadata:
  name: node-a
  labels:
    topology.kubernetes.io/zone: east-a
"""
SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: slice-1
spec:
  driver: gpu.nvidia.com
  nodeName: node-a
  pool:
    name: node-a
    generation: 1
    resourceSliceCount: 1
  devices:
  - name: gpu-0
    attributes:
      type:
        string: gpu
      resource.kubernetes.io/numaNode:
        int: 1
    capacity:
      memory:
        value: 81559Mi
"""
GPU_0 = Device(
    driver="gpu.nvidia.com",
    pool="node-a",
    name="gpu-0",
    attributes={
        ("gpu.nvidia.com", "type"): AttributeOnDevice(type="string", value="gpu"),
        ("resource.kubernetes.io", "numaNode"): AttributeOnDevice(type="int", value=1),
    },
    capacity={("gpu.nvidia.com", "memory"): CapacityOnDevice(name="memory", value=parse_quantity("81559Mi"))},
)
SLICE_1 = ResourceSlice(
    name="slice-1",
    driver="gpu.nvidia.com",
    pool="node-a",
    generation=1,
    slice_count=1,
    placement=Placement(node_name="node-a"),
    devices=(GPU_0,),
)
NODE_A = Node(name="node-a", labels={ZONE_LABEL: "east-a"})
WHOLE = Inventory(file="inventory/east.yaml", nodes=(NODE_A,), slices=(SLICE_1,))


def read(text: str) -> Inventory:
    return parse_inventory(parse_documents(text.encode(), "inventory/east.yaml"), "inventory/east.yaml")


def as_list(kind: str, *texts: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": kind, "items": [yaml.safe_load(text) for text in texts], "metadata": {}}


FORMS = {
    "one-list-of-both": yaml.safe_dump(as_list("List", NODE, SLICE)),
    "documents": f"{NODE}---\n{SLICE}",
    "a-list-of-each": yaml.safe_dump_all([as_list("NodeList", NODE), as_list("ResourceSliceList", SLICE)]),
    "json-by-kubectl": json.dumps(as_list("List", NODE, SLICE), indent=4),
    "other-kinds-are-passed-over": f"{NODE}---\nkind: Pod\nmetadata: []\n---\n{SLICE}---\nkind: Event\n",
    "what-nothing-reads-is-not-judged": f"{NODE}status: {{images: [1, 2]}}\n---\n{SLICE}status: [x]\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms_of_a_capture(text: str) -> None:
    assert read(text) == WHOLE


EMPTY = {
    "no-document": ("", (), ()),
    "empty-list": ("kind: List\nitems: []\n", (), ()),
    "node-without-labels": ("kind: Node\nmetadata: {name: a}\n", (Node(name="a"),), ()),
    "null-is-nothing": (
        "kind: List\nitems:\n- kind: List\n  items:\n"
        "  - {kind: Node, metadata: {name: a, labels: null}, spec: null, status: null}\n",
        (Node(name="a"),),
        (),
    ),
    "slice-without-devices": (SLICE[: SLICE.index("  devices:")], (), (replace(SLICE_1, devices=()),)),
    "device-without-values": (
        SLICE[: SLICE.index("    attributes:")],
        (),
        (replace(SLICE_1, devices=(replace(GPU_0, attributes={}, capacity={}),)),),
    ),
}


@pytest.mark.parametrize(("text", "nodes", "slices"), EMPTY.values(), ids=EMPTY)
def test_what_may_be_absent(text: str, nodes: tuple[Node, ...], slices: tuple[ResourceSlice, ...]) -> None:
    assert read(text) == Inventory(file="inventory/east.yaml", nodes=nodes, slices=slices)


def as_version(text: str, version: str) -> str:
    """A slice of v1 in another version: v1beta1 has a device's fields under `basic`."""
    value = yaml.safe_load(text)
    value["apiVersion"] = f"resource.k8s.io/{version}"
    if version == "v1beta1":
        value["spec"]["devices"] = [
            {"name": device.pop("name"), "basic": device} for device in value["spec"].get("devices", [])
        ]
    return yaml.safe_dump(value)


FULL = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: slice-2}
spec:
  driver: gpu.nvidia.com
  perDeviceNodeSelection: true
  pool: {name: rack, generation: 7, resourceSliceCount: 2}
  sharedCounters: [{name: set, counters: {memory: {value: 40Gi}, slices: {value: 8}}}]
  skipNodeOperations: ['*']
  newerField: {a: [1]}
  devices:
  - name: gpu-0
    nodeName: node-a
    allowMultipleAllocations: true
    bindsToNode: true
    bindingConditions: [example.com/ready]
    bindingFailureConditions: []
    newerDeviceField: 1
    consumesCounters: [{counterSet: set, counters: {memory: {value: 20Gi}}, compatibilityGroups: [mig]}]
    taints:
    - {key: gpu.nvidia.com/xid, value: '79', effect: NoSchedule, timeAdded: '2026-11-30T00:00:00Z'}
    - {key: gpu.nvidia.com/gpu-lost, effect: None}
    capacity:
      memory: {value: 40Gi, requestPolicy: {default: '0', validRange: {min: '0', step: 1Mi}}}
  - name: gpu-1
    nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: rack, operator: In, values: [a]}]}]}
  - {name: gpu-2, allNodes: true}
"""
RACK = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["a"]}]}]}
WHAT_FULL_SAYS = ResourceSlice(
    name="slice-2",
    driver="gpu.nvidia.com",
    pool="rack",
    generation=7,
    slice_count=2,
    placement=Placement(per_device=True),
    shared_counters=(
        Counters(counter_set="set", counters={"memory": parse_quantity("40Gi"), "slices": parse_quantity("8")}),
    ),
    skip_node_operations=("*",),
    aside={"newerField": {"a": [1]}},
    devices=(
        Device(
            driver="gpu.nvidia.com",
            pool="rack",
            name="gpu-0",
            placement=Placement(node_name="node-a"),
            allow_multiple_allocations=True,
            consumes=(
                Counters(counter_set="set", counters={"memory": parse_quantity("20Gi")}, compatibility_groups=("mig",)),
            ),
            taints=(
                Taint(key="gpu.nvidia.com/xid", value="79", effect="NoSchedule", time_added="2026-11-30T00:00:00Z"),
                Taint(key="gpu.nvidia.com/gpu-lost", effect="None"),
            ),
            capacity={
                ("gpu.nvidia.com", "memory"): CapacityOnDevice(
                    name="memory",
                    value=parse_quantity("40Gi"),
                    request_policy=RequestPolicy(
                        default=parse_quantity("0"),
                        valid_range=ValidRange(min=parse_quantity("0"), step=parse_quantity("1Mi")),
                    ),
                )
            },
            binds_to_node=True,
            binding_conditions=("example.com/ready",),
            binding_failure_conditions=(),
            aside={"newerDeviceField": 1},
        ),
        Device(driver="gpu.nvidia.com", pool="rack", name="gpu-1", placement=Placement(node_selector=RACK)),
        Device(driver="gpu.nvidia.com", pool="rack", name="gpu-2", placement=Placement(all_nodes=True)),
    ),
)


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
@pytest.mark.parametrize(("text", "says"), [(SLICE, SLICE_1), (FULL, WHAT_FULL_SAYS)], ids=["short", "full"])
def test_every_version_says_the_same(text: str, says: ResourceSlice, version: str) -> None:
    assert read(as_version(text, version)).slices == (says,)


def test_what_a_node_says() -> None:
    taint = "{key: nvidia.com/gpu, value: present, effect: NoSchedule}"
    assert read(f"{NODE}spec:\n  unschedulable: true\n  taints: [{taint}]\n").nodes == (
        replace(
            NODE_A,
            unschedulable=True,
            taints=(Taint(key="nvidia.com/gpu", value="present", effect="NoSchedule"),),
        ),
    )
    status = "status: {declaredFeatures: [GuaranteedQoS], allocatable: {example.com/gpu: '4', memory: 8Gi}}"
    assert read(f"{NODE}{status}\n").nodes == (
        replace(
            NODE_A,
            declared_features=("GuaranteedQoS",),
            allocatable={"example.com/gpu": parse_quantity("4"), "memory": parse_quantity("8Gi")},
        ),
    )
    assert (NODE_A.zone, Node(name="a").zone) == ("east-a", None)


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    old, new = SLICE_1, replace(SLICE_1, name="new", generation=2, devices=(), slice_count=2)
    other = replace(SLICE_1, driver="nic.example.com", devices=(replace(GPU_0, driver="nic.example.com"),))
    for slices in ((old, new, other), (new, old, other)):
        pools = newest_pools(slices)
        assert pools == {("gpu.nvidia.com", "node-a"): (new,), ("nic.example.com", "node-a"): (other,)}
        assert [is_complete(pool) for pool in pools.values()] == [False, True]
        assert Inventory(file="", slices=slices).devices == other.devices
    assert is_complete((new, new))


VALUES = {
    "string": ("{string: '1'}", AttributeOnDevice(type="string", value="1")),
    "int": ("{int: -1}", AttributeOnDevice(type="int", value=-1)),
    "bool": ("{bool: false}", AttributeOnDevice(type="bool", value=False)),
    "version": ("{version: 9.0.0}", AttributeOnDevice(type="version", value="9.0.0")),
    "ints": ("{ints: [0, 1]}", AttributeOnDevice(type="ints", value=(0, 1))),
    "strings": ("{strings: [a]}", AttributeOnDevice(type="strings", value=("a",))),
    # What a newer API publishes stands as nothing or under an unknown name; schedulers that don't know it fail on it.
    "nothing": ("{}", AttributeOnDevice(type="unsupported", value=None)),
    "unknown-type": ("{float: 1}", AttributeOnDevice(type="unsupported", value=None)),
    "null-is-nothing": ("{string: null}", AttributeOnDevice(type="unsupported", value=None)),
    "two": ("{int: 1, string: a}", None),
    "true-is-no-int": ("{int: true}", None),
    "number-is-no-string": ("{string: 1}", None),
    "float-is-no-int": ("{int: 1.0}", None),
    "empty-list": ("{ints: []}", None),
    "mixed-list": ("{ints: [1, true]}", None),
    "list-for-one": ("{int: [1]}", None),
    "one-for-a-list": ("{ints: 1}", None),
}


@pytest.mark.parametrize(("box", "attribute"), VALUES.values(), ids=VALUES)
def test_attribute_values(box: str, attribute: AttributeOnDevice | None) -> None:
    text = SLICE.replace("      type:\n        string: gpu\n", f"      type: {box}\n")
    if attribute:
        assert read(text).devices[0].attributes["gpu.nvidia.com", "type"] == attribute
        return
    with pytest.raises(SpecError) as caught:
        read(text)
    assert render_text(caught.value.findings) == (
        'inventory/east.yaml:15:13: attribute "type" has no single value of a known type  [inventory-unreadable]\n'
        "  at   spec.devices[0].attributes.type\n"
        "  why  it must have exactly one of: string, int, bool, version, strings, ints, bools, versions"
        " (Kubernetes resource/v1 ResourceSlice)\n"
        "  fix  capture the cluster again: kubectl get nodes,resourceslices -o yaml\n"
    )


def test_of_two_values_of_one_name_the_whole_name_counts() -> None:
    for names in (("type", "gpu.nvidia.com/type"), ("gpu.nvidia.com/type", "type")):
        both = "".join(f"      {name}: {{string: '{name}'}}\n" for name in names)
        device = read(SLICE.replace("      type:\n        string: gpu\n", both)).devices[0]
        whole = AttributeOnDevice(type="string", value="gpu.nvidia.com/type")
        assert device.attributes["gpu.nvidia.com", "type"] == whole
        sizes = "".join(f"      {name}: {{value: {len(name)}}}\n" for name in names)
        device = read(SLICE.replace("      memory:\n        value: 81559Mi\n", sizes)).devices[0]
        whole_size = CapacityOnDevice(name="gpu.nvidia.com/type", value=parse_quantity("19"))
        assert device.capacity == {("gpu.nvidia.com", "type"): whole_size}


POLICIES = {
    "none": ("", None),
    "null": (", requestPolicy: null", None),
    "values": (
        ", requestPolicy: {default: 1Gi, validValues: [1Gi, 2048Mi]}",
        RequestPolicy(default=parse_quantity("1Gi"), valid_values=(parse_quantity("1Gi"), parse_quantity("2Gi"))),
    ),
    "range": (
        ", requestPolicy: {default: 1, validRange: {min: 1, max: 4, step: 1}}",
        RequestPolicy(
            default=parse_quantity("1"),
            valid_range=ValidRange(min=parse_quantity("1"), max=parse_quantity("4"), step=parse_quantity("1")),
        ),
    ),
    "nothing-in-it": (", requestPolicy: {validRange: {}}", RequestPolicy(valid_range=ValidRange())),
}


@pytest.mark.parametrize(("said", "policy"), POLICIES.values(), ids=POLICIES)
def test_request_policies(said: str, policy: RequestPolicy | None) -> None:
    text = SLICE.replace("      memory:\n        value: 81559Mi\n", f"      memory: {{value: 80Gi{said}}}\n")
    assert read(text).devices[0].capacity["gpu.nvidia.com", "memory"].request_policy == policy


WHY = "  why  the capture can't be read as it stands (Kubernetes resource/v1 ResourceSlice)\n"
FIX = "  fix  capture the cluster again: kubectl get nodes,resourceslices -o yaml\n"
UNREADABLE = {
    "not-a-map": (
        "- kind: Node\n",
        "inventory/east.yaml:1:1: the document is not a map  [inventory-unreadable]\n" + WHY + FIX,
    ),
    "list-without-items": (
        "kind: List\n",
        "inventory/east.yaml:1:1: items is missing  [inventory-unreadable]\n" + WHY + FIX,
    ),
    "entry-that-is-no-map": (
        "kind: List\nitems: [x]\n",
        "inventory/east.yaml:2:9: items[0] is not a map  [inventory-unreadable]\n  at   items[0]\n" + WHY + FIX,
    ),
    # The name and the labels, which are missing with it, are not told.
    "node-without-metadata": (
        "kind: Node\n",
        "inventory/east.yaml:1:1: metadata is missing  [inventory-unreadable]\n" + WHY + FIX,
    ),
    "zone-that-is-a-number": (
        NODE.replace("east-a", "1"),
        'inventory/east.yaml:6:34: metadata.labels["topology.kubernetes.io/zone"] is not a string'
        '  [inventory-unreadable]\n  at   metadata.labels["topology.kubernetes.io/zone"]\n' + WHY + FIX,
    ),
    "older-api": (
        SLICE.replace("resource.k8s.io/v1\n", "resource.k8s.io/v1alpha3\n"),
        'inventory/east.yaml:1:13: a ResourceSlice of apiVersion "resource.k8s.io/v1alpha3"  [inventory-unreadable]\n'
        "  at   apiVersion\n"
        "  why  this release reads resource.k8s.io/v1, resource.k8s.io/v1beta2, resource.k8s.io/v1beta1"
        " (Kubernetes resource/v1 ResourceSlice)\n" + FIX,
    ),
    "fields-of-another-version": (
        SLICE.replace("resource.k8s.io/v1\n", "resource.k8s.io/v1beta1\n"),
        "inventory/east.yaml:13:5: spec.devices[0] has its fields in the device itself  [inventory-unreadable]\n"
        "  at   spec.devices[0]\n"
        "  why  in this API version they stand under basic (Kubernetes resource/v1 ResourceSlice)\n" + FIX,
    ),
    "fields-of-v1beta1": (
        SLICE[: SLICE.index("    attributes:")] + "    basic: {}\n",
        "inventory/east.yaml:13:5: spec.devices[0] has its fields under basic  [inventory-unreadable]\n"
        "  at   spec.devices[0]\n"
        "  why  in this API version they stand in the device itself (Kubernetes resource/v1 ResourceSlice)\n" + FIX,
    ),
    "on-no-node": (
        SLICE.replace("  nodeName: node-a\n", "  nodeName: ''\n"),
        "inventory/east.yaml:6:3: spec says nothing of the nodes it is for  [inventory-unreadable]\n"
        "  at   spec\n"
        "  why  it must have exactly one of: nodeName, nodeSelector, allNodes, perDeviceNodeSelection"
        " (Kubernetes resource/v1 ResourceSlice)\n" + FIX,
    ),
    "on-two-kinds-of-nodes": (
        SLICE.replace("  nodeName: node-a\n", "  nodeName: node-a\n  allNodes: true\n"),
        "inventory/east.yaml:6:3: spec says several things of the nodes it is for  [inventory-unreadable]\n"
        "  at   spec\n"
        "  why  it must have exactly one of: nodeName, nodeSelector, allNodes, perDeviceNodeSelection"
        " (Kubernetes resource/v1 ResourceSlice)\n" + FIX,
    ),
    "device-on-no-node": (
        SLICE.replace("  nodeName: node-a\n", "  perDeviceNodeSelection: true\n"),
        "inventory/east.yaml:13:5: spec.devices[0] says nothing of the nodes it is for  [inventory-unreadable]\n"
        "  at   spec.devices[0]\n"
        "  why  it must have exactly one of: nodeName, nodeSelector, allNodes"
        " (Kubernetes resource/v1 ResourceSlice)\n" + FIX,
    ),
    "pool-without-its-count": (
        SLICE.replace("    resourceSliceCount: 1\n", ""),
        "inventory/east.yaml:9:5: spec.pool.resourceSliceCount is missing  [inventory-unreadable]\n"
        "  at   spec.pool\n" + WHY + FIX,
    ),
    "pool-of-no-slices": (
        SLICE.replace("resourceSliceCount: 1", "resourceSliceCount: 0"),
        "inventory/east.yaml:11:25: spec.pool.resourceSliceCount is not a whole number of at least 1"
        "  [inventory-unreadable]\n  at   spec.pool.resourceSliceCount\n" + WHY + FIX,
    ),
    "generation-that-is-true": (
        SLICE.replace("generation: 1", "generation: true"),
        "inventory/east.yaml:10:17: spec.pool.generation is not a whole number of at least 0"
        "  [inventory-unreadable]\n  at   spec.pool.generation\n" + WHY + FIX,
    ),
    "taint-without-effect": (
        SLICE + "    taints: [{key: a}]\n",
        "inventory/east.yaml:22:14: spec.devices[0].taints[0].effect is missing  [inventory-unreadable]\n"
        "  at   spec.devices[0].taints[0]\n" + WHY + FIX,
    ),
    "counter-that-is-no-quantity": (
        SLICE + "    consumesCounters: [{counterSet: a, counters: {b: {value: x}}}]\n",
        'inventory/east.yaml:22:62: counter "b" is no quantity  [inventory-unreadable]\n'
        "  at   spec.devices[0].consumesCounters[0].counters.b.value\n"
        '  why  "x" is not a quantity: write a number and, where it is needed, a suffix, as in 80Gi, 80G or 500m'
        " (Kubernetes resource/v1 ResourceSlice)\n" + FIX,
    ),
    "shared-that-is-a-word": (
        SLICE + "    allowMultipleAllocations: 'yes'\n",
        "inventory/east.yaml:22:31: spec.devices[0].allowMultipleAllocations is not true or false"
        "  [inventory-unreadable]\n  at   spec.devices[0].allowMultipleAllocations\n" + WHY + FIX,
    ),
    "unschedulable-that-is-a-word": (
        NODE + "spec: {unschedulable: 'no'}\n",
        "inventory/east.yaml:7:23: spec.unschedulable is not true or false  [inventory-unreadable]\n"
        "  at   spec.unschedulable\n" + WHY + FIX,
    ),
    "capacity-that-is-no-quantity": (
        SLICE.replace("81559Mi", "81559MiB"),
        'inventory/east.yaml:21:16: capacity "memory" is no quantity  [inventory-unreadable]\n'
        "  at   spec.devices[0].capacity.memory.value\n"
        '  why  "81559MiB" is not a quantity: write 81559Mi (Kubernetes resource/v1 ResourceSlice)\n' + FIX,
    ),
    "policy-that-is-no-quantity": (
        SLICE + "        requestPolicy: {default: x, validValues: [1], validRange: 3}\n",
        "inventory/east.yaml:22:34: the default is no quantity  [inventory-unreadable]\n"
        "  at   spec.devices[0].capacity.memory.requestPolicy.default\n"
        '  why  "x" is not a quantity: write a number and, where it is needed, a suffix, as in 80Gi, 80G or 500m'
        " (Kubernetes resource/v1 ResourceSlice)\n"
        + FIX
        + "inventory/east.yaml:22:67: spec.devices[0].capacity.memory.requestPolicy.validRange is not a map"
        "  [inventory-unreadable]\n  at   spec.devices[0].capacity.memory.requestPolicy.validRange\n" + WHY + FIX,
    ),
    "binding-conditions-that-are-a-word": (
        SLICE + "    bindingConditions: ready\n",
        "inventory/east.yaml:22:24: spec.devices[0].bindingConditions is not a list  [inventory-unreadable]\n"
        "  at   spec.devices[0].bindingConditions\n" + WHY + FIX,
    ),
    "every-part-once": (
        SLICE.replace("  driver: gpu.nvidia.com\n", "").replace("  - name: gpu-0\n    attr", "  - attr")
        + "---\n"
        + NODE.replace("node-a", "[]"),
        "inventory/east.yaml:6:3: spec.driver is missing  [inventory-unreadable]\n  at   spec\n"
        + WHY
        + FIX
        + "inventory/east.yaml:12:5: spec.devices[0].name is missing  [inventory-unreadable]\n  at   spec.devices[0]\n"
        + WHY
        + FIX
        + "inventory/east.yaml:24:9: metadata.name is not a string  [inventory-unreadable]\n  at   metadata.name\n"
        + WHY
        + FIX,
    ),
}


@pytest.mark.parametrize(("text", "says"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_parts(text: str, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(text)
    assert render_text(caught.value.findings) == says


def test_the_example_has_whole_gpus_cards_and_partitions() -> None:
    inventory = read((FLEET / "inventory/east.yaml").read_text())
    assert [(node.name, node.zone) for node in inventory.nodes] == [
        ("gpu-a100-mig-a", "east-a"),
        ("gpu-h100-a", "east-a"),
    ]
    assert all(is_complete(pool) for pool in newest_pools(inventory.slices).values())
    assert [(device.pool, device.name) for device in inventory.devices] == [
        *[
            ("gpu-a100-mig-a", f"gpu-0-mig-{rest}")
            for rest in ("1g5gb-19-0", "1g5gb-19-1", "2g10gb-14-2", "3g20gb-9-4")
        ],
        ("gpu-a100-mig-a", "gpu-1"),
        *[("gpu-h100-a", f"gpu-{number}") for number in range(8)],
        *[("gpu-h100-a-nics", f"nic-{number}") for number in range(8)],
    ]
    roots = {
        (device.pool, device.name): device.attributes["resource.kubernetes.io", "pcieRoot"].value
        for device in inventory.devices
    }
    for number in range(8):  # each card on the root of one GPU
        assert roots["gpu-h100-a", f"gpu-{number}"] == roots["gpu-h100-a-nics", f"nic-{number}"]
    assert len({roots["gpu-h100-a", f"gpu-{number}"] for number in range(8)}) == 8
