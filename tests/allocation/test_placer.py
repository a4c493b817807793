"""Pods placed one after the other: on which node, with which claims, and what keeps a pod from a node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from given_cluster import (
    GPU,
    NIC,
    WHOLE,
    Json,
    answer,
    build,
    claim,
    device,
    device_class,
    exactly,
    gpu,
    holds,
    node,
    on_node,
    pod,
    slice_of,
    template,
)
from poolwright.allocation.answer import Answer
from poolwright.allocation.assumptions import Options

A, B = slice_of("node-a", gpu(0), gpu(1)), slice_of("node-b", gpu(0), gpu(1))
NODES = [node("node-a", labels={"zone": "a"}), node("node-b", labels={"zone": "b"})]
CLUSTER = [WHOLE, A, B, *NODES]
T = template("one")
TWO = template("two", exactly("gpu", count=2))
DOWN = {"key": "down", "value": "now", "effect": "NoSchedule"}
NOT_A = {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}


def wants(name: str, which: str = "one", **spec: Any) -> Json:
    return pod(name, templates={"gpu": which}, **spec)


def required(*terms: Json) -> Json:
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": rule}}


def held_on_a(**more: Any) -> Json:
    return claim("shared", held=[holds("gpu-0")], node="node-a", **more)


# Objects, and of each pod or lone claim its outcome, its node and the devices of its claims.
Row = tuple[str, str, str | None, tuple[str, ...]]
PLACED: dict[str, tuple[Sequence[Json], list[Row]]] = {
    "first-node-by-name": ([*CLUSTER, T, wants("p")], [("p", "allocated", "node-a", ("gpu-0",))]),
    "on-to-the-next-node-when-full": (
        [*CLUSTER, T, TWO, wants("p", "two"), wants("q"), wants("r", "two")],
        [
            ("p", "allocated", "node-a", ("gpu-0", "gpu-1")),
            ("q", "allocated", "node-b", ("gpu-0",)),
            ("r", "unsatisfied", None, ()),
        ],
    ),
    # Both together fit on no node, although each does.
    "all-claims-on-one-node": (
        [*CLUSTER, T, TWO, pod("p", templates={"some": "two", "one": "one"})],
        [("p", "unsatisfied", None, ())],
    ),
    "two-claims-side-by-side": (
        [*CLUSTER, T, pod("p", templates={"x": "one", "y": "one"})],
        [("p", "allocated", "node-a", ("gpu-0", "gpu-1"))],
    ),
    "a-shared-claim-is-where-it-is": (
        [*CLUSTER, T, held_on_a(), pod("p", claims={"s": "shared"}, templates={"gpu": "one"})],
        [("p", "allocated", "node-a", ("gpu-0", "gpu-1"))],
    ),
    "and-keeps-its-pod-from-other-nodes": (
        [*CLUSTER, TWO, held_on_a(), pod("p", claims={"s": "shared"}, templates={"gpu": "two"})],
        [("p", "unsatisfied", None, ("gpu-0",))],
    ),
    "nothing-new-is-needed": (
        [*CLUSTER, held_on_a(), pod("p", claims={"s": "shared"})],
        [("p", "alreadyAllocated", "node-a", ("gpu-0",))],
    ),
    "nothing-new-and-no-node": (
        [*CLUSTER, claim("shared", held=[holds("gpu-0")]), pod("p", claims={"s": "shared"})],
        [("p", "alreadyAllocated", "node-a", ("gpu-0",))],
    ),
    # Its claim can be used anywhere, and still no node is open to it.
    "nothing-new-and-no-node-is-open": (
        [
            *CLUSTER,
            claim("shared", held=[holds("gpu-0")]),
            pod("p", claims={"s": "shared"}, nodeSelector={"zone": "z"}),
        ],
        [("p", "unsatisfied", None, ("gpu-0",))],
    ),
    # The first of the two brings it devices, the second goes where they are.
    "two-pods-one-new-claim": (
        [*CLUSTER, claim("c"), pod("p", claims={"c": "c"}), pod("q", claims={"c": "c"})],
        [("p", "allocated", "node-a", ("gpu-0",)), ("q", "allocated", "node-a", ("gpu-0",))],
    ),
    "node-selector": (
        [*CLUSTER, T, wants("p", nodeSelector={"zone": "b"})],
        [("p", "allocated", "node-b", ("gpu-0",))],
    ),
    "node-affinity": (
        [
            *CLUSTER,
            T,
            wants("p", **required({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]})),
        ],
        [("p", "allocated", "node-b", ("gpu-0",))],
    ),
    "node-taint": (
        [WHOLE, A, B, node("node-a", taints=[DOWN]), NODES[1], T, wants("p")],
        [("p", "allocated", "node-b", ("gpu-0",))],
    ),
    "node-taint-that-is-tolerated": (
        [WHOLE, A, B, node("node-a", taints=[DOWN]), NODES[1], T, wants("p", tolerations=[{"operator": "Exists"}])],
        [("p", "allocated", "node-a", ("gpu-0",))],
    ),
    "node-taint-that-only-asks": (
        [WHOLE, A, B, node("node-a", taints=[{**DOWN, "effect": "PreferNoSchedule"}]), T, wants("p")],
        [("p", "allocated", "node-a", ("gpu-0",))],
    ),
    "cordoned": (
        [WHOLE, A, B, node("node-a", unschedulable=True), NODES[1], T, wants("p")],
        [("p", "allocated", "node-b", ("gpu-0",))],
    ),
    "a-deleted-claim-is-no-more-given": (
        [*CLUSTER, claim("c", deletionTimestamp="2026-11-30T00:00:00Z"), pod("p", claims={"c": "c"})],
        [("p", "unsatisfied", None, ())],
    ),
    "running-pods-hold-what-they-have": (
        [
            *CLUSTER,
            TWO,
            held_on_a(reserved=["r"]),
            pod("r", claims={"s": "shared"}, nodeName="node-a"),
            wants("p", "two"),
        ],
        [("r", "alreadyAllocated", None, ("gpu-0",)), ("p", "allocated", "node-b", ("gpu-0", "gpu-1"))],
    ),
    # Nobody allocates for a pod that was put on a node by hand.
    "bound-without-the-scheduler": (
        [*CLUSTER, claim("c"), pod("p", claims={"c": "c"}, nodeName="node-a")],
        [("p", "unsatisfied", None, ())],
    ),
    "a-pod-that-fails-takes-nothing": (
        [*CLUSTER, T, TWO, pod("p", templates={"x": "two", "y": "one"}), wants("q", "two"), wants("r", "two")],
        [
            ("p", "unsatisfied", None, ()),
            ("q", "allocated", "node-a", ("gpu-0", "gpu-1")),
            ("r", "allocated", "node-b", ("gpu-0", "gpu-1")),
        ],
    ),
    "urgent-ones-first": (
        [WHOLE, A, TWO, wants("p", "two"), wants("q", "two", priority=5)],
        [("q", "allocated", "node-a", ("gpu-0", "gpu-1")), ("p", "unsatisfied", None, ())],
    ),
}


@pytest.mark.parametrize("name", PLACED)
def test_places(name: str) -> None:
    objects, rows = PLACED[name]
    assert list_rows(answer(objects)) == rows


def list_rows(found: Answer) -> list[Row]:
    claims = {(one.namespace, one.name): one for one in found.claims}
    rows = []
    for one in found.subjects:
        allocations = [claims[key].allocation for key in one.claims]
        devices = tuple(each.device for held in allocations if held is not None for each in held.devices)
        rows.append((one.name, one.outcome, one.node, devices))
    return rows


def test_a_claim_has_256_users_and_no_more() -> None:
    full = held_on_a(reserved=[f"pod-{n}" for n in range(256)])
    found = answer([*CLUSTER, full, pod("p", claims={"s": "shared"})])
    assert list_rows(found) == [("p", "unsatisfied", None, ("gpu-0",))]
    assert [one.line for one in found.subjects[0].reasons] == [
        'resourceclaim "shared" has 256 users, and can have no more'
    ]
    known = pod("p", claims={"s": "shared"}, metadata={"uid": "pod-7"})
    assert list_rows(answer([*CLUSTER, full, known])) == [("p", "alreadyAllocated", "node-a", ("gpu-0",))]


def test_users_are_counted_as_they_come() -> None:
    nearly = held_on_a(reserved=[f"pod-{n}" for n in range(255)])
    found = answer([*CLUSTER, nearly, pod("p", claims={"s": "shared"}), pod("q", claims={"s": "shared"})])
    assert [row[:2] for row in list_rows(found)] == [("p", "alreadyAllocated"), ("q", "unsatisfied")]


BROKEN = template("broken", exactly("gpu", GPU, f"device.attributes['{GPU}'].rank > 0"))
RANKED = slice_of("node-b", gpu(0, of={"rank": 1}))


def test_an_error_on_any_open_node_ends_the_attempt() -> None:
    """Also where an earlier node could serve the pod: kube-scheduler asks them all before it chooses."""
    ranked = slice_of("node-a", gpu(0, of={"rank": 1}))
    objects = [WHOLE, ranked, B, BROKEN, *NODES]
    found = answer([*objects, wants("p", "broken")])
    assert list_rows(found) == [("p", "error", None, ())]
    assert [one.line for one in found.subjects[0].reasons][-1] == (
        "node-a could serve it; the error on node-b ends the attempt for every node"
    )
    # A node that isn't open to the pod isn't asked.
    found = answer([*objects, wants("p", "broken", nodeSelector={"zone": "a"})])
    assert list_rows(found) == [("p", "allocated", "node-a", ("gpu-0",))]
    cordoned = [WHOLE, ranked, B, BROKEN, NODES[0], node("node-b", unschedulable=True)]
    assert list_rows(answer([*cordoned, wants("p", "broken")])) == [("p", "allocated", "node-a", ("gpu-0",))]


def test_an_error_ends_one_pods_attempt_and_no_other_pods() -> None:
    found = answer([WHOLE, A, RANKED, BROKEN, T, *NODES, wants("p", "broken"), wants("q")])
    assert [row[:3] for row in list_rows(found)] == [("p", "error", None), ("q", "allocated", "node-a")]


def test_each_alone_and_one_pod_ask_as_if_no_other_waited() -> None:
    objects = [WHOLE, A, TWO, wants("p", "two"), wants("q", "two")]
    assert [row[1] for row in list_rows(answer(objects))] == ["allocated", "unsatisfied"]
    found = answer(objects, options=Options(each_alone=True))
    assert [row[1] for row in list_rows(found)] == ["allocated", "allocated"]
    found = answer(objects, options=Options(pod=("inference", "q")))
    assert list_rows(found) == [("q", "allocated", "node-a", ("gpu-0", "gpu-1"))]


def test_one_node() -> None:
    found = answer([*CLUSTER, T, wants("p")], options=Options(node="node-b"))
    assert list_rows(found) == [("p", "allocated", "node-b", ("gpu-0",))]


def test_what_is_not_looked_at_is_said() -> None:
    spread = [{"whenUnsatisfiable": "DoNotSchedule", "maxSkew": 1, "topologyKey": "zone"}]
    found = answer([*CLUSTER, T, wants("p", topologySpreadConstraints=spread)])
    assert found.assumptions.assumed[-1] == "Pod inference/p has topologySpreadConstraints, which are not looked at"


def test_what_is_not_looked_at_is_said_of_pods_that_are_to_be_made_and_not_of_those_that_run() -> None:
    spread = {"topologySpreadConstraints": [{"whenUnsatisfiable": "DoNotSchedule"}], "schedulerName": "volcano"}
    uses = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}], **spread}
    made = build("Deployment", "w", api="apps/v1", namespace="inference", spec={"template": {"spec": uses}})
    running = wants("r", nodeName="node-a", **spread)
    assumed = answer([*CLUSTER, T, made, running]).assumptions.assumed
    assert [one for one in assumed if one.endswith("which are not looked at")] == [
        "Deployment inference/w has topologySpreadConstraints, schedulerName volcano, which are not looked at"
    ]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (
            {"priorityClassName": "high"},
            "Pod inference/p is of a priority class whose priority isn't known: 0 is taken",
        ),
        ({"priorityClassName": "high", "priority": 10}, None),
        ({"priorityClassName": "system-node-critical"}, None),
    ],
)
def test_a_priority_that_is_not_known_is_said(spec: Json, said: str | None) -> None:
    assumed = answer([*CLUSTER, T, wants("p", **spec)]).assumptions.assumed
    assert [one for one in assumed if "priority class" in one] == ([said] if said else [])


def test_the_priority_classes_that_every_cluster_has_are_known() -> None:
    two = [wants("p", "two", priority=1_000_000_000), wants("q", "two", priorityClassName="system-node-critical")]
    found = answer([WHOLE, A, TWO, *two])
    assert [(row[0], row[1]) for row in list_rows(found)] == [("q", "allocated"), ("p", "unsatisfied")]


def test_gates_that_nothing_depends_on_are_said() -> None:
    found = answer([*CLUSTER, claim("c")], gates={"DRAWorkloadResourceClaims": True, "DRADeviceTaints": True})
    said = "gate DRAWorkloadResourceClaims is set, and nothing here depends on it"
    assert [one for one in found.assumptions.assumed if "gate" in one] == [said]


NOT_NAMED_A = [{"key": "metadata.name", "operator": "NotIn", "values": ["node-a"]}]
USES = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
LABELLED = {**USES, **required(NOT_A)}
ONLY_A = {"metadata": [{"key": "metadata.name", "operator": "In", "values": ["node-a"]}]}
UNKNOWN: dict[str, tuple[list[Json], str, str]] = {
    "node-selector": (
        [A, T, wants("p", nodeSelector={"zone": "a"})],
        "gaveUp",
        "node-a: the pod selects nodes by label, and no Node object was given for it",
    ),
    "no-label-is-as-little-known": (
        [A, T, wants("p", **required(NOT_A))],
        "gaveUp",
        "node-a: the pod selects nodes by label, and no Node object was given for it",
    ),
    "names-are-known": ([A, T, wants("p", **required({"matchFields": ONLY_A["metadata"]}))], "allocated", ""),
    "slices-for-nodes-with-a-label": (
        [slice_of("node-a", gpu(0), nodeName=None, nodeSelector={"nodeSelectorTerms": [NOT_A]}), claim("c")],
        "gaveUp",
        "slices select nodes by labels, and no Node objects were given: whose devices those are isn't known",
    ),
    # More slices may reach node-b: for an All request, by a newer generation, with a selector that fails on them.
    "slices-for-nodes-with-a-label-and-for-others": (
        [slice_of("node-a", gpu(0), nodeName=None, nodeSelector={"nodeSelectorTerms": [NOT_A]}), B, claim("c")],
        "gaveUp",
        "slices select nodes by labels, and no Node objects were given: whose devices those are isn't known",
    ),
    "slices-for-a-node-by-name": (
        [slice_of("node-a", gpu(0), nodeName=None, nodeSelector=on_node("node-a")), claim("c")],
        "allocated",
        "",
    ),
    "a-name-or-a-label": ([A, T, wants("p", **required(NOT_A, {"matchFields": ONLY_A["metadata"]}))], "allocated", ""),
    "another-name-and-a-label": (
        [B, T, wants("p", **required({**NOT_A, "matchFields": ONLY_A["metadata"]}))],
        "gaveUp",
        "node-a: the pod selects nodes by label, and no Node object was given for it",
    ),
    "a-pod-names-a-node-that-no-slice-names": (
        [slice_of("", gpu(0), pool="p", allNodes=True), T, wants("p", **required({"matchFields": ONLY_A["metadata"]}))],
        "allocated",
        "",
    ),
    "a-node-that-nothing-names": (
        [A, slice_of("", gpu(0), pool="p", allNodes=True), T, wants("p", **required({"matchFields": NOT_NAMED_A}))],
        "gaveUp",
        "devices reach every node, and no Node objects were given: whether another one is open isn't known",
    ),
    "a-claim-is-on-a-node-that-no-slice-names": (
        [held_on_a(), pod("p", claims={"gpu": "shared"})],
        "alreadyAllocated",
        "",
    ),
    "daemons-with-a-label": (
        [A, T, build("DaemonSet", "d", api="apps/v1", namespace="inference", spec={"template": {"spec": LABELLED}})],
        "gaveUp",
        "node-a: the pod selects nodes by label, and no Node object was given for it",
    ),
    "daemons-on-who-knows-how-many-nodes": (
        [
            slice_of("", gpu(0), pool="p", allNodes=True),
            T,
            build("DaemonSet", "d", api="apps/v1", namespace="inference", spec={"template": {"spec": USES}}),
        ],
        "gaveUp",
        "no Node objects were given: on how many nodes it runs, and needs devices, isn't known",
    ),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_labels_that_are_not_known_decide_nothing(name: str) -> None:
    objects, outcome, line = UNKNOWN[name]
    found = answer([WHOLE, *objects])
    (subject,) = found.subjects
    assert (subject.outcome, found.exit_code) == (outcome, 2 if outcome == "gaveUp" else 0)
    assert [one.line for one in subject.reasons[:1]] == ([line] if line else [])


def test_who_comes_after_what_is_not_known_is_not_promised_its_devices() -> None:
    """The first may take them or not; another driver's are no matter, and what can't be had stays that way."""
    other = [
        device_class("nic", f"device.driver == '{NIC}'"),
        slice_of("node-a", device("nic-0"), driver=NIC, pool="n"),
    ]
    first = wants("p", nodeSelector={"zone": "a"}, priority=10)
    objects = [*other, claim("x", exactly("nic", "nic")), T, TWO, first, wants("q"), wants("r", "two")]
    found = answer([WHOLE, slice_of("node-a", gpu(0)), *objects])
    assert [(row[0], row[1]) for row in list_rows(found)] == [
        ("p", "gaveUp"),
        ("q", "gaveUp"),
        ("r", "unsatisfied"),
        ("x", "allocated"),
    ]
    line = "Pod inference/p comes first, and whether it takes devices of the same pool isn't known"
    assert [one.line for one in found.subjects[1].reasons] == [line]
    alone = answer([WHOLE, slice_of("node-a", gpu(0)), *objects], options=Options(each_alone=True))
    assert [row[1] for row in list_rows(alone)] == ["gaveUp", "allocated", "unsatisfied", "allocated"]


@pytest.mark.parametrize("turned", [0, 3, 5])
def test_answers_do_not_depend_on_the_order_of_slices_nodes_and_classes(turned: int) -> None:
    cluster = [*CLUSTER[turned:], *CLUSTER[:turned]]
    waiting = [T, TWO, wants("p"), wants("q", "two"), wants("r")]
    assert list_rows(answer([*waiting, *cluster])) == list_rows(answer([*CLUSTER, *waiting]))


def test_nodes_of_slices_that_are_not_given_are_said() -> None:
    objects = [WHOLE, slice_of("node-a", gpu(0)), slice_of("node-b", gpu(0)), claim("c")]
    said = "nodes that slices name and no Node object was given for are not there: node-b"
    assert said in answer([*objects, node("node-a")]).assumptions.assumed
    for given in ([], [node("node-a"), node("node-b")]):
        assert not any("are not there" in one for one in answer([*objects, *given]).assumptions.assumed)


def test_rules_whose_gate_is_off_are_said() -> None:
    taint = {"key": "sick", "effect": "NoSchedule"}
    spec = {"deviceSelector": {"driver": GPU}, "taint": taint}
    rule = build("DeviceTaintRule", "sick", api="resource.k8s.io/v1alpha3", spec=spec)
    said = "DeviceTaintRules taint nothing, because their gate is off"
    found = {}
    for minor in ("1.34", "1.36", "1.37"):
        one = answer([WHOLE, A, rule, claim("c")], minor=minor)
        found[minor] = (one.claims[0].outcome, said in one.assumptions.assumed)
    assert found == {"1.34": ("allocated", True), "1.36": ("allocated", True), "1.37": ("unsatisfied", False)}
    one = answer([WHOLE, A, rule, claim("c")], minor="1.34", gates={"DRADeviceTaints": True})
    assert (one.claims[0].outcome, said in one.assumptions.assumed) == ("unsatisfied", False)
    assert "device taints, with those of 1 DeviceTaintRule" in one.assumptions.modelled


def test_a_class_that_is_not_there_is_said_before_any_node_is_looked_at() -> None:
    """As the scheduler does, which waits for the class then: no error, and no word of the node's taint."""
    other = {"name": "any", "firstAvailable": [{"name": "one", "deviceClassName": "none"}]}
    tainted = node("node-a", taints=[DOWN])
    for request, name in ((exactly("gpu", "none"), "gpu"), (other, "any")):
        (subject,) = answer([WHOLE, A, tainted, claim("c", request)]).subjects
        line = f"claim inference/c, request {name}: device class none does not exist"
        assert (subject.outcome, [(one.line, one.hint) for one in subject.reasons]) == (
            "unsatisfied",
            [(line, f"known: {GPU}")],
        )
