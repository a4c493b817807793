"""Observed receipts: what claims have, by what slices publish, and nothing made up."""

from __future__ import annotations

import json

import jsonschema_rs
import msgspec

from given_cluster import (
    ANY,
    GPU,
    WHOLE,
    claim,
    device,
    device_class,
    exactly,
    gpu,
    holds,
    node,
    slice_of,
)
from poolwright.objects.lineage import AFTER_SCHEDULING
from poolwright.receipts.document import (
    Choice,
    Filtered,
    Lineage,
    PodUser,
    Tolerated,
    parse_receipts,
    receipts_schema,
    render_receipts,
)
from receipt_worlds import given, observe, replica

ZONED = {"topology.kubernetes.io/zone": "east-a"}
NODES = (node("node-a", labels=ZONED), node("node-b"))


def test_a_claim_leads_to_pod_workload_device_and_node() -> None:
    found = observe(
        *NODES,
        WHOLE,
        slice_of("node-a", gpu(0, of={"resource.kubernetes.io/numaNode": 1}), gpu(1)),
        slice_of("node-b", gpu(2)),
        replica("chat-0", uid="p0"),
        given("chat-0-gpu", "gpu-0", uid="c0", of="p0"),
    )
    (row,) = found.receipts
    (one,) = row.devices
    assert (row.id, row.claim_uid, row.workload, row.pod_claim) == ("claim:c0", "c0", "Deployment/chat", "gpu")
    assert (row.users, row.node, row.zone) == ((PodUser(uid="p0", name="chat-0"),), "node-a", "east-a")
    assert one.lineage == Lineage(
        claim_name="chat-0-gpu",
        claim_uid="c0",
        request="gpu",
        driver=GPU,
        pool="node-a",
        generation=1,
        device="gpu-0",
        slice="node-a-gpu.nvidia.com",
        hw_id="GPU-0000",
        hw_parent=None,
        profile=None,
        numa_node="1",
        bus_id=None,
        cdi_device=None,
        receipt="claim:c0",
        release=None,
    )
    assert row.why is not None
    assert row.why.node == (
        "node-a was chosen by the scheduler; at the capture 2 nodes could have served the pod: node-a, node-b"
    )
    assert row.requests[0].candidates == Choice(
        on_node=Filtered(devices=2, selected=2, free=2, counted=2, left=2),
        in_cluster=Filtered(devices=3, selected=3, free=3, counted=3, left=3),
        nodes=2,
    )
    assert [clause.values for clause in found.grounds[0].clauses] == [
        ("driver = gpu.nvidia.com",),
        ("gpu.nvidia.com/type = gpu",),
    ]
    assert (one.interchangeable, row.prepared_at, row.notes) == (2, None, ())
    assert [one.title for one in found.unassigned] == [f"{GPU}/node-a/gpu-1", f"{GPU}/node-b/gpu-2"]


def test_a_loss_is_said_for_what_runs() -> None:
    """Two replicas on two devices: without either one of them finds none."""
    found = observe(
        node("node-a"),
        WHOLE,
        slice_of("node-a", gpu(0), gpu(1)),
        *(replica(f"chat-{at}", uid=f"p{at}") for at in range(2)),
        *(given(f"chat-{at}-gpu", f"gpu-{at}", uid=f"c{at}", of=f"p{at}") for at in range(2)),
    )
    assert [(one.id, one.members, one.unsatisfied, one.sentence) for one in found.loss_classes] == [
        (
            "device-1",
            (f"{GPU}/node-a/gpu-0", f"{GPU}/node-a/gpu-1"),
            ("inference/chat (Deployment)",),
            "without this device (1 device): inference/chat (Deployment): at most 1 of 2 replicas finds devices, "
            "1 stays without (2/2 before); replicas without in all: 1, 0 before",
        ),
        (
            "node-1",
            ("node-a",),
            ("inference/chat (Deployment)",),
            "without this node (2 devices): inference/chat (Deployment): no replica finds any, 2 stay without "
            "(2/2 before); replicas without in all: 2, 0 before",
        ),
    ]
    assert [row.if_lost.devices for row in found.receipts if row.if_lost] == [("device-1",), ("device-1",)]


WARN = {"key": "gpu.nvidia.com/ecc", "value": "warn", "effect": "NoExecute"}
BRAVE = {
    "key": "gpu.nvidia.com/ecc",
    "operator": "Equal",
    "value": "warn",
    "effect": "NoExecute",
    "tolerationSeconds": 60,
}
SAID = "gpu.nvidia.com/ecc Equal warn, effect NoExecute, for 60 s"


def test_a_tolerated_taint_is_in_the_receipt_with_its_seconds() -> None:
    """Evictions go by the allocation: one that lacks what the request has is noted."""
    rows = {}
    for name, recorded in (("kept", {"tolerations": [BRAVE]}), ("lost", {})):
        found = observe(
            node("node-a"),
            WHOLE,
            slice_of("node-a", gpu(0, taints=[WARN])),
            claim("brave", exactly("gpu", tolerations=[BRAVE]), held=(holds("gpu-0", **recorded),), node="node-a"),
            minor="1.37",
        )
        (rows[name],) = found.receipts
    taint = f"{WARN['key']}=warn:NoExecute"
    for name, is_recorded in (("kept", True), ("lost", False)):
        assert rows[name].devices[0].taints == (
            Tolerated(taint=taint, toleration=SAID, seconds=60, is_recorded=is_recorded),
        )
    assert rows["kept"].notes == ()
    assert rows["lost"].notes == (
        f"the allocation of {GPU}/node-a/gpu-0 lacks the toleration of {taint}: evictions go by the allocation, not by "
        "the request",
    )


def test_a_partition_made_on_demand_has_its_parent_and_no_uuid() -> None:
    mig = device("gpu-1-mig-3g40gb-9-0", attributes={"type": "mig", "profile": "3g.40gb", "parentUUID": "GPU-0001"})
    found = observe(
        node("node-a"),
        ANY,
        slice_of("node-a", mig),
        claim("c", exactly("gpu", "any"), held=(holds("gpu-1-mig-3g40gb-9-0"),), node="node-a"),
    )
    ((one,), notes) = found.receipts[0].devices, found.receipts[0].notes
    assert (one.uuid, one.mode, one.profile, one.parent) == (None, "mig", "3g.40gb", "GPU-0001")
    assert notes == (f"the driver publishes no uuid of {GPU}/node-a/gpu-1-mig-3g40gb-9-0; it is of GPU-0001",)


def test_what_was_not_captured_is_said() -> None:
    """No class: no grounds, no losses, no candidates. No slice: a ghost. No pod: its uid alone."""
    found = observe(slice_of("node-a", gpu(0)), given("c", "gpu-0", of="p"), given("d", "gpu-9"))
    first, second = found.receipts
    assert (first.users, first.workload, first.if_lost) == ((PodUser(uid="p", name=None),), None, None)
    assert (first.devices[0].grounds, first.requests[0].candidates, found.loss_classes) == (None, None, ())
    assert first.notes == (
        f"device class gpu.nvidia.com wasn't captured, so what made {GPU}/node-a/gpu-0 match isn't known",
        "it is reserved for the pod with uid p, which wasn't captured",
    )
    assert (second.devices[0].is_published, second.devices[0].generation) == (False, None)
    assert second.notes == (f"no slice publishes {GPU}/node-a/gpu-9",)


def test_constraints_are_checked_on_what_the_claim_has() -> None:
    root = "resource.kubernetes.io/pcieRoot"
    rows = []
    for other in ("pci0", "pci1"):
        found = observe(
            node("node-a"),
            WHOLE,
            slice_of("node-a", gpu(0, of={root: "pci0"}), gpu(1, of={root: other})),
            claim(
                "pair",
                exactly("gpu", count=2),
                held=(holds("gpu-0"), holds("gpu-1")),
                constraints=[{"matchAttribute": root}],
                node="node-a",
            ),
        )
        rows += [(one.values, one.is_met) for one in found.receipts[0].topology]
    assert rows == [(("pci0", "pci0"), True), (("pci0", "pci1"), False)]


def test_a_device_that_no_longer_matches_is_noted() -> None:
    found = observe(
        node("node-a"),
        device_class(GPU, f"device.attributes['{GPU}'].productName == 'other'"),
        slice_of("node-a", gpu(0)),
        given("c", "gpu-0"),
    )
    assert found.receipts[0].notes == (f"{GPU}/node-a/gpu-0 doesn't meet all selectors as it is published now",)


def test_names_are_those_of_the_lineage_table() -> None:
    assert tuple(one.encode_name for one in msgspec.structs.fields(Lineage)) == AFTER_SCHEDULING


def test_hostile_names_stay_text() -> None:
    """Markup, quotes, control characters and line ends in every name are data: valid, and the same when read back."""
    name = 'a"</script>\n{{x}}'
    found = observe(
        node(name),
        WHOLE,
        slice_of(name, gpu(0, of={"uuid": name}), pool=name),
        claim(name, exactly("gpu"), held=(holds("gpu-0", pool=name),), node=name, namespace="n"),
    )
    data = render_receipts(found)
    assert parse_receipts(data) == found
    jsonschema_rs.validator_for(receipts_schema()).validate(json.loads(data))
    assert (found.receipts[0].node, found.receipts[0].devices[0].uuid) == (name, name)
