"""Objects of any kind, in every form that they are written or printed in."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from given_objects import read, refusal
from poolwright.allocation.cluster_objects import ClusterObjects, Namespace, TaintRule
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Device, Placement, ResourceSlice, Taint
from poolwright.specs.finding import render_text
from poolwright.specs.place import Place

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n"
SPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, labels: {a: b}}\n"
RULE = """\
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: drain}
spec:
  deviceSelector: {driver: gpu.example.com, pool: node-a, device: gpu-0}
  taint: {key: example.com/drain, value: now, effect: NoExecute, timeAdded: '2026-11-30T00:00:00Z'}
"""
SLICE = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceSlice
metadata: {name: slice-a}
spec:
  driver: gpu.example.com
  nodeName: a
  pool: {name: a, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, basic: {taints: []}}
"""
ONE_SLICE = ResourceSlice(
    name="slice-a",
    driver="gpu.example.com",
    pool="a",
    generation=1,
    slice_count=1,
    placement=Placement(node_name="a"),
    devices=(Device(driver="gpu.example.com", pool="a", name="gpu-0"),),
)
WANTED = (
    [Node(name="a")],
    [ONE_SLICE],
    [
        TaintRule(
            name="drain",
            driver="gpu.example.com",
            pool="node-a",
            device="gpu-0",
            taint=Taint(key="example.com/drain", value="now", effect="NoExecute", time_added="2026-11-30T00:00:00Z"),
        )
    ],
    [Namespace(name="team-a", labels={"a": "b"})],
)


def values(objects: ClusterObjects) -> tuple[list[Node], list[ResourceSlice], list[TaintRule], list[Namespace]]:
    return (
        [one.value for one in objects.nodes],
        [one.value for one in objects.slices],
        [one.value for one in objects.taint_rules],
        [one.value for one in objects.namespaces],
    )


ALL = [yaml.safe_load(text) for text in (NODE, SLICE, RULE, SPACE)]
FORMS = {
    "documents": "---\n".join((NODE, SLICE, RULE, SPACE)),
    "a-list": yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": ALL}),
    "lists-of-lists": yaml.safe_dump(
        {"kind": "List", "items": [{"kind": "List", "items": ALL[:2]}, {"kind": "XList", "items": ALL[2:]}]}
    ),
    "json": json.dumps({"apiVersion": "v1", "kind": "List", "items": ALL}, indent=2),
    "twice-and-equal": "---\n".join((NODE, SLICE, RULE, SPACE, RULE, NODE, SPACE, SLICE)),
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_forms(text: str) -> None:
    objects = read(text)
    assert values(objects) == WANTED
    assert (objects.passed_over, objects.notes) == ({}, ())


def test_places_are_those_of_the_written_fields() -> None:
    objects = read(yaml.safe_dump({"kind": "List", "items": ALL}))
    assert objects.nodes[0].place == Place("objects.yaml", 2, 3, "items[0]")
    assert objects.slices[0].locate(("spec", "devices", 0, "taints")).field == "items[1].spec.devices[0].basic.taints"
    assert objects.slices[0].locate(("spec", "devices", 0, "name")).line


VERSIONS = ("v1", "v1beta2", "v1alpha3")


@pytest.mark.parametrize("version", VERSIONS)
def test_taint_rules_of_every_version(version: str) -> None:
    text = RULE.replace("resource.k8s.io/v1", f"resource.k8s.io/{version}")
    assert [one.value for one in read(text).taint_rules] == WANTED[2]


SELECTORS = {
    "empty": ("deviceSelector: {}", TaintRule(name="drain", taint=Taint(key="a", effect="None"))),
    "none": ("x: {}", TaintRule(name="drain", taint=Taint(key="a", effect="None"), has_selector=False)),
}


@pytest.mark.parametrize(("selector", "rule"), SELECTORS.values(), ids=SELECTORS)
def test_taint_rules_for_everything(selector: str, rule: TaintRule) -> None:
    text = RULE[: RULE.index("  deviceSelector")] + f"  {selector}\n  taint: {{key: a, effect: None}}\n"
    assert [one.value for one in read(text).taint_rules] == [rule]


FIX = "  fix  write it as Kubernetes' API has it, or as kubectl get -o yaml prints it\n"
REFUSED = {
    "old-selectors": (
        RULE.replace("/v1\n", "/v1alpha3\n").replace("device: gpu-0", "deviceClassName: a"),
        "objects.yaml:5:76: spec.deviceSelector.deviceClassName is a selector that Kubernetes dropped in 1.35"
        "  [object-unreadable]\n  at   spec.deviceSelector.deviceClassName\n"
        "  why  later releases ignore it, and taint every device that the other fields select"
        " (Kubernetes resource.k8s.io/v1alpha3 DeviceTaintRule)\n"
        "  fix  name driver, pool and device instead\n",
    ),
    "no-object": (
        "metadata: {}\n",
        "objects.yaml:1:1: this is no Kubernetes object: it has no apiVersion or no kind  [object-unreadable]\n"
        "  why  its kind decides how it is read (Kubernetes API conventions)\n" + FIX,
    ),
    "not-a-map": (
        "kind: List\nitems: [1, {kind: Pod}, {kind: 3, apiVersion: v1}]\n",
        "objects.yaml:2:9: items[0] is not a map  [object-unreadable]\n  at   items[0]\n"
        "  why  the API server refuses the object (Kubernetes API conventions)\n"
        + FIX
        + "".join(
            f"objects.yaml:2:{column}: this is no Kubernetes object: it has no apiVersion or no kind"
            f"  [object-unreadable]\n  at   items[{index}]\n"
            "  why  its kind decides how it is read (Kubernetes API conventions)\n" + FIX
            for index, column in ((1, 12), (2, 25))
        ),
    ),
    "slice-that-cannot-be-read": (
        SLICE.replace("generation: 1", "generation: -1"),
        "objects.yaml:7:31: spec.pool.generation is not a whole number of at least 0  [object-unreadable]\n"
        "  at   spec.pool.generation\n"
        "  why  the API server refuses the object (Kubernetes resource.k8s.io/v1beta1 ResourceSlice)\n" + FIX,
    ),
    "twice-and-different": (
        f"{SPACE}---\n{SPACE.replace('a: b', 'a: c')}",
        'objects.yaml:5:1: Namespace "team-a" stands a second time and differs; objects.yaml:1:1 has it first'
        "  [object-duplicate]\n"
        "  why  a cluster has one object of a kind and name, and which of the two it has isn't known"
        " (Kubernetes API conventions)\n"
        "  fix  give one of the two\n",
    ),
}


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read(text: str, says: str) -> None:
    assert refusal(text) == says


NOTES = {
    "other-kinds": (
        f"{NODE}---\napiVersion: v1\nkind: Secret\nmetadata: 3\n---\napiVersion: v1\nkind: Event\n---\n"
        "apiVersion: example.com/v1\nkind: Pod\n---\napiVersion: v1\nkind: Event\n",
        {"Event": 2, "Pod": 1, "Secret": 1},
        "objects.yaml:5:1: note: passed over: 2 Event, 1 Pod, 1 Secret  [objects-passed-over]\n"
        "  why  objects of these kinds don't decide which devices a claim gets (poolwright allocate)\n"
        "  fix  nothing to do; leave them out to make the input smaller\n",
    ),
    "no-namespace": (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: a}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {}\n",
        {},
        'objects.yaml:1:1: note: this ResourceClaim and 1 more names no namespace, and is read as one of "default"'
        "  [namespace-assumed]\n"
        "  why  kubectl puts an object into the namespace of its context, which isn't known here"
        " (poolwright allocate)\n"
        "  fix  write metadata.namespace\n",
    ),
}


@pytest.mark.parametrize(("text", "passed_over", "says"), NOTES.values(), ids=NOTES)
def test_notes(text: str, passed_over: dict[str, int], says: str) -> None:
    objects = read(text)
    assert (objects.passed_over, render_text(objects.notes)) == (passed_over, says)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab/{}'1", max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "spec", "a"]), inner),
    max_leaves=8,
)
PARTS = ("metadata", "spec", "status")
INNER = (
    *("name", "namespace", "devices", "requests", "exactly", "template", "resourceClaims", "containers", "resources"),
    *("allocation", "results", "deviceSelector", "taint", "tolerations", "affinity", "replicas", "pool", "driver"),
    *("ownerReferences", "leaderWorkerTemplate", "size", "allocatable", "labels", "selectors", "capacity"),
)
KINDS = (
    *(("v1", "Pod"), ("v1", "Node"), ("v1", "Namespace"), ("apps/v1", "Deployment"), ("batch/v1", "Job")),
    *(("resource.k8s.io/v1", kind) for kind in ("ResourceClaim", "ResourceSlice", "DeviceClass", "DeviceTaintRule")),
    *(("resource.k8s.io/v1beta1", "ResourceClaimTemplate"), ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")),
)
OBJECTS = st.builds(
    lambda kind, parts: {"apiVersion": kind[0], "kind": kind[1], **parts},
    st.sampled_from(KINDS),
    st.dictionaries(
        st.sampled_from(PARTS), ANYTHING | st.dictionaries(st.sampled_from(INNER), ANYTHING, max_size=6), max_size=3
    ),
)


@settings(max_examples=300, deadline=None)
@given(OBJECTS)
def test_nothing_but_findings_comes_of_odd_objects(value: object) -> None:
    said = refusal(json.dumps(value))
    assert said.startswith("objects.yaml:1:") or not said
