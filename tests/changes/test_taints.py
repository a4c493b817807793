"""Taints that are new: what stands behind each of them, and for whom it is out of reach."""

from __future__ import annotations

import pytest

from change_sides import compare, say_findings
from fleet import POOL, Files, edit, read_small_fleet
from poolwright.changes.report import Taint

SMALL = read_small_fleet()
INVENTORY = "inventory/east.yaml"
BOTH = ("chat/chat-70b", "chat/chat-70b-next")
ZONED = ("chat/chat-70b",)  # the other one may only run in east-a
TOLERATED = "nvidia.com/gpu:NoSchedule"


def taint_node(zone: str, *taints: str, files: Files = SMALL, cordoned: bool = False) -> Files:
    spec = f"spec: {{unschedulable: {str(cordoned).lower()}, taints: [{', '.join(taints)}]}}"
    label = f"      topology.kubernetes.io/zone: {zone}\n"
    return edit(files, INVENTORY, (label, f"{label}  {spec}\n"))


def taint_device(node: str, *taints: str, device: str = "gpu-0", files: Files = SMALL) -> Files:
    text = files[INVENTORY].decode()
    at = text.index(f"    - name: {device}\n", text.index(f"    nodeName: {node}\n")) + len(f"    - name: {device}\n")
    return {**files, INVENTORY: f"{text[:at]}      taints: [{', '.join(taints)}]\n{text[at:]}".encode()}


def row(target: str, taint: str, devices: int, workloads: tuple[str, ...], *, evicts: bool = False) -> Taint:
    return Taint(cluster="east", target=target, taint=taint, devices=devices, evicts=evicts, workloads=workloads)


SICK = "{key: sick, effect: NoSchedule}"
AWAY = "{key: away, value: today, effect: NoExecute}"
A, B = "node gpu-h100-a", "node gpu-h100-b"
OF_A, OF_B = ("device gpu.nvidia.com/gpu-h100-a/gpu-0", "device gpu.nvidia.com/gpu-h100-b/gpu-0")
CORDON = "node.kubernetes.io/unschedulable:NoSchedule"
CASES: dict[str, tuple[Files, Files, tuple[Taint, ...]]] = {
    "on-a-node": (SMALL, taint_node("east-a", SICK), (row(A, "sick:NoSchedule", 8, BOTH),)),
    "on-a-node-of-another-zone": (SMALL, taint_node("east-b", SICK), (row(B, "sick:NoSchedule", 8, ZONED),)),
    "who-runs-there-must-leave": (
        SMALL,
        taint_node("east-a", AWAY),
        (row(A, "away=today:NoExecute", 8, BOTH, evicts=True),),
    ),
    "a-cordon": (SMALL, taint_node("east-a", cordoned=True), (row(A, CORDON, 8, BOTH),)),
    "a-cordon-and-a-taint": (
        SMALL,
        taint_node("east-a", SICK, cordoned=True),
        (row(A, CORDON, 8, BOTH), row(A, "sick:NoSchedule", 8, BOTH)),
    ),
    "that-pods-tolerate": (
        SMALL,
        taint_node("east-a", "{key: nvidia.com/gpu, effect: NoSchedule}"),
        (row(A, TOLERATED, 8, ()),),
    ),
    "that-pods-tolerate-with-another-effect": (
        SMALL,
        taint_node("east-a", "{key: nvidia.com/gpu, effect: NoExecute}"),
        (row(A, "nvidia.com/gpu:NoExecute", 8, BOTH, evicts=True),),
    ),
    "a-preference": (SMALL, taint_node("east-a", "{key: sick, effect: PreferNoSchedule}"), ()),
    "that-was-there": (taint_node("east-a", SICK), taint_node("east-a", SICK), ()),
    "that-goes": (taint_node("east-a", SICK), SMALL, ()),
    "a-harder-one": (
        taint_node("east-a", "{key: nvidia.com/gpu, effect: NoSchedule}"),
        taint_node("east-a", "{key: nvidia.com/gpu, effect: NoExecute}"),
        (row(A, "nvidia.com/gpu:NoExecute", 8, BOTH, evicts=True),),
    ),
    # Nobody who comes could have come before.
    "on-a-node-that-was-cordoned": (
        taint_node("east-a", cordoned=True),
        taint_node("east-a", SICK, cordoned=True),
        (row(A, "sick:NoSchedule", 8, ()),),
    ),
    "on-a-device": (SMALL, taint_device("gpu-h100-a", SICK), (row(OF_A, "sick:NoSchedule", 1, BOTH),)),
    "on-a-device-of-another-zone": (SMALL, taint_device("gpu-h100-b", SICK), (row(OF_B, "sick:NoSchedule", 1, ZONED),)),
    "on-a-device-whose-users-must-leave": (
        SMALL,
        taint_device("gpu-h100-a", "{key: sick, effect: NoExecute}"),
        (row(OF_A, "sick:NoExecute", 1, BOTH, evicts=True),),
    ),
    "on-a-device-that-is-only-told-of": (SMALL, taint_device("gpu-h100-a", "{key: sick, effect: None}"), ()),
    # A pod's toleration is of its node: the claim's requests have none.
    "on-a-device-with-what-pods-tolerate-of-nodes": (
        SMALL,
        taint_device("gpu-h100-a", "{key: nvidia.com/gpu, effect: NoSchedule}"),
        (row(OF_A, TOLERATED, 1, BOTH),),
    ),
    "on-a-device-that-nobody-claims": (
        edit(SMALL, POOL, ("[Hopper]", "[Hopper, Blackwell]")),
        edit(
            taint_device("gpu-h100-a", SICK),
            INVENTORY,
            (
                f"    - name: gpu-0\n      taints: [{SICK}]\n      attributes:\n        addressingMode: "
                f"{{string: HMM}}\n"
                "        architecture: {string: Hopper}",
                f"    - name: gpu-0\n      taints: [{SICK}]\n      attributes:\n        architecture: {{string: "
                f"Ampere}}",
            ),
        ),
        (row(OF_A, "sick:NoSchedule", 1, ()),),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_taints(case: str) -> None:
    before, after, rows = CASES[case]
    assert compare(before, after).taints == rows


def test_a_node_that_is_new_takes_nothing_from_anybody() -> None:
    text = SMALL[INVENTORY].decode()
    one, other = text.index("- apiVersion: v1\n  kind: Node"), text.index("- apiVersion: resource.k8s.io/v1")
    slices = text[other:].index("- apiVersion: resource.k8s.io/v1", 1) + other
    alone = (
        text[:one] + text[one:other].partition("- apiVersion: v1\n  kind: Node\n  metadata:\n    name: gpu-h100-b")[0]
    )
    before = {**SMALL, INVENTORY: (alone + text[other:slices]).encode()}
    assert compare(before, taint_node("east-b", AWAY)).taints == ()


SAID = {
    "on-a-node": (
        taint_node("east-a", SICK),
        "inventory/east.yaml: warning: east: node gpu-h100-a is newly tainted sick:NoSchedule: 8 devices behind "
        "it, out "
        "of reach for chat/chat-70b, chat/chat-70b-next  [taint-reaches]\n"
        "  why  new pods that don't tolerate it stay away; those that run there keep their devices and can't come back "
        "(poolwright diff)\n"
        "  fix  see the verdicts for who has no other device; a toleration is the pool's to give\n",
    ),
    "on-a-device-whose-users-must-leave": (
        taint_device("gpu-h100-b", "{key: sick, effect: NoExecute}"),
        "inventory/east.yaml: warning: east: device gpu.nvidia.com/gpu-h100-b/gpu-0 is newly tainted sick:NoExecute: 1 "
        "device behind it, out of reach for chat/chat-70b  [taint-reaches]\n"
        "  why  new pods that don't tolerate it stay away; those that run there must leave (poolwright diff)\n"
        "  fix  see the verdicts for who has no other device; a toleration is the pool's to give\n",
    ),
    "that-reaches-nobody": (taint_node("east-a", "{key: nvidia.com/gpu, effect: NoSchedule}"), ""),
}


@pytest.mark.parametrize("case", SAID)
def test_what_is_said(case: str) -> None:
    after, text = SAID[case]
    assert say_findings(compare(SMALL, after), "taint-reaches") == text


def test_devices_of_one_node_with_one_taint_are_a_row() -> None:
    """A driver that taints all of a node's devices isn't as many warnings."""
    text = SMALL["inventory/east.yaml"].decode()
    names = ("gpu-0", "gpu-1")
    for name in names:
        text = text.replace(
            f"    - name: {name}\n", f"    - name: {name}\n      taints: [{{key: sick, effect: NoSchedule}}]\n", 1
        )
    report = compare(SMALL, {**SMALL, "inventory/east.yaml": text.encode()})
    assert [(one.target, one.devices) for one in report.taints] == [("2 devices of node gpu-h100-a", 2)]
    assert say_findings(report, "taint-reaches").startswith(
        "inventory/east.yaml: warning: east: 2 devices of node gpu-h100-a are newly tainted sick:NoSchedule: 2 devices "
        "behind it, out of reach for chat/chat-70b"
    )
