"""Nodes and ResourceSlices as kubectl prints them, and what is said of a capture that can't be read."""

from __future__ import annotations

import json

import pytest
import yaml

from fleet import FLEET
from poolwright.catalog.inventory import AttributeOnDevice, Device, Inventory, Node, parse_inventory
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
    capacity={("gpu.nvidia.com", "memory"): parse_quantity("81559Mi")},
)
WHOLE = Inventory(file="inventory/east.yaml", nodes=(Node(name="node-a", zone="east-a"),), devices=(GPU_0,))


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
    "what-nothing-reads-is-not-judged": f"{NODE}status: [1, 2]\n---\n{SLICE}  sharedCounters: x\n",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms_of_a_capture(text: str) -> None:
    assert read(text) == WHOLE


EMPTY = {
    "no-document": ("", (), ()),
    "empty-list": ("kind: List\nitems: []\n", (), ()),
    "node-without-labels": ("kind: Node\nmetadata: {name: a}\n", (Node(name="a", zone=None),), ()),
    "slice-without-devices": (SLICE[: SLICE.index("  devices:")], (), ()),
    "device-without-values": (
        SLICE[: SLICE.index("    attributes:")],
        (),
        (Device(driver="gpu.nvidia.com", pool="node-a", name="gpu-0", attributes={}, capacity={}),),
    ),
}


@pytest.mark.parametrize(("text", "nodes", "devices"), EMPTY.values(), ids=EMPTY)
def test_what_may_be_absent(text: str, nodes: tuple[Node, ...], devices: tuple[Device, ...]) -> None:
    assert read(text) == Inventory(file="inventory/east.yaml", nodes=nodes, devices=devices)


VALUES = {
    "string": ("{string: '1'}", AttributeOnDevice(type="string", value="1")),
    "int": ("{int: -1}", AttributeOnDevice(type="int", value=-1)),
    "bool": ("{bool: false}", AttributeOnDevice(type="bool", value=False)),
    "version": ("{version: 9.0.0}", AttributeOnDevice(type="version", value="9.0.0")),
    "ints": ("{ints: [0, 1]}", AttributeOnDevice(type="ints", value=(0, 1))),
    "strings": ("{strings: [a]}", AttributeOnDevice(type="strings", value=("a",))),
    "nothing": ("{}", None),
    "two": ("{int: 1, string: a}", None),
    "unknown-type": ("{float: 1}", None),
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
        SLICE.replace("resource.k8s.io/v1\n", "resource.k8s.io/v1beta1\n"),
        'inventory/east.yaml:1:13: a ResourceSlice of apiVersion "resource.k8s.io/v1beta1"  [inventory-unreadable]\n'
        "  at   apiVersion\n"
        "  why  this release reads resource.k8s.io/v1 (Kubernetes resource/v1 ResourceSlice)\n" + FIX,
    ),
    "capacity-that-is-no-quantity": (
        SLICE.replace("81559Mi", "81559MiB"),
        'inventory/east.yaml:21:16: capacity "memory" is no quantity  [inventory-unreadable]\n'
        "  at   spec.devices[0].capacity.memory.value\n"
        '  why  "81559MiB" is not a quantity: write 81559Mi (Kubernetes resource/v1 ResourceSlice)\n' + FIX,
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


def test_the_example_has_two_nodes_of_eight_devices() -> None:
    inventory = read((FLEET / "inventory/east.yaml").read_text())
    assert inventory.nodes == (Node(name="gpu-h100-a", zone="east-a"), Node(name="gpu-h100-b", zone="east-b"))
    assert [(d.pool, d.name) for d in inventory.devices] == [
        (node.name, f"gpu-{n}") for node in inventory.nodes for n in range(8)
    ]
