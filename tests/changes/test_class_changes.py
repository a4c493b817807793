"""Classes before and after: what they select, who claims by them, and who gets other hardware unasked."""

from __future__ import annotations

import pytest

from change_sides import compare, say_findings
from fleet import PLACEMENTS, POOL, Files, edit, read_fleet, read_small_fleet
from poolwright.changes.report import ClassChange, Hardware, Move

SMALL = read_small_fleet()
INVENTORY = "inventory/east.yaml"
H100, NVL = "NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL"
USERS = ("chat/chat-70b", "chat/chat-70b-next")
CLASS = "interactive-80g"
MEMORY = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("{}")) {} 0'
MIG = "    - {name: slices, tier: batch, driver: gpu.nvidia.com, attributes: {type: [mig]}}\n"


def change_nodes(old: str, new: str, *, node: str = "gpu-h100-b", files: Files = SMALL, count: int = -1) -> Files:
    """A text of one node's slice replaced, everywhere or the first times it stands there."""
    text = files[INVENTORY].decode()
    start = text.index(f"    nodeName: {node}\n")
    end = text.find("\n- apiVersion", start)
    part = text[start : end if end > 0 else None]
    assert old in part
    changed = part.replace(old, new, count)
    return {**files, INVENTORY: (text[:start] + changed + text[start + len(part) :]).encode()}


def h100(count: int) -> tuple[Hardware, ...]:
    return (Hardware(product=H100, kind="gpu", count=count),)


def row(change: str, before: int | None, after: int | None, **parts: object) -> ClassChange:
    nothing: dict[str, object] = {"lost": (), "gained": (), "clauses": (), "users": USERS, "name": CLASS}
    return ClassChange(cluster="east", change=change, before=before, after=after, **nothing | parts)  # type: ignore[arg-type]


OLDER = change_nodes("architecture: {string: Hopper}", "architecture: {string: Ampere}")
WIDE = edit(SMALL, POOL, ("[Hopper]", "[Hopper, Ampere]"))
HOPPER = 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'
BOTH = 'device.attributes["gpu.nvidia.com"].architecture in ["Ampere", "Hopper"]'
CASES: dict[str, tuple[Files, Files, tuple[ClassChange, ...]]] = {
    "nothing-differs": (SMALL, edit(SMALL, POOL, ("platform-gpu", "platform-hpc")), ()),
    "shrank-by-its-devices": (SMALL, OLDER, (row("shrank", 16, 8, lost=h100(8)),)),
    "grew-by-its-devices": (OLDER, SMALL, (row("grew", 8, 16, gained=h100(8)),)),
    "shrank-by-its-words": (
        SMALL,
        edit(SMALL, POOL, ("min: 79Gi", "min: 80Gi")),
        (
            row(
                "shrank",
                16,
                0,
                lost=h100(16),
                clauses=(f"- {MEMORY.format('79Gi', '>=')}", f"+ {MEMORY.format('80Gi', '>=')}"),
            ),
        ),
    ),
    "grew-by-its-words": (
        OLDER,
        {**WIDE, INVENTORY: OLDER[INVENTORY]},
        (row("grew", 8, 16, gained=h100(8), clauses=(f"- {HOPPER}", f"+ {BOTH}")),),
    ),
    "reworded-and-the-same-devices": (
        SMALL,
        edit(SMALL, POOL, ("min: 79Gi", "min: 78Gi")),
        (row("reworded", 16, 16, clauses=(f"- {MEMORY.format('79Gi', '>=')}", f"+ {MEMORY.format('78Gi', '>=')}")),),
    ),
    "moved-from-some-devices-to-others": (
        OLDER,
        edit(OLDER, POOL, ("[Hopper]", "[Ampere]")),
        (
            row(
                "moved",
                8,
                8,
                lost=h100(8),
                gained=h100(8),
                clauses=(f"- {HOPPER}", '+ device.attributes["gpu.nvidia.com"].architecture == "Ampere"'),
            ),
        ),
    ),
    # The names of the devices are the same, and what is behind them isn't.
    "moved-under-the-same-names": (
        SMALL,
        change_nodes(H100, NVL),
        (row("moved", 16, 16, lost=h100(8), gained=(Hardware(product=NVL, kind="gpu", count=8),)),),
    ),
    # What differs of them is nothing that anybody tells hardware by.
    "devices-with-another-driver": (SMALL, change_nodes("version: 580.173.2", "version: 580.200.0"), ()),
    "devices-under-other-names": (
        SMALL,
        change_nodes("- name: gpu-", "- name: card-"),
        (row("moved", 16, 16, lost=h100(8), gained=h100(8)),),
    ),
    "new-and-claimed-by-nobody": (
        SMALL,
        edit(SMALL, POOL, ("  tolerations:", MIG + "  tolerations:")),
        (row("new", None, 0, name="slices", users=()),),
    ),
    "renamed": (
        SMALL,
        edit(edit(SMALL, POOL, (f"name: {CLASS}", "name: h100")), PLACEMENTS, (f"[{CLASS}]", "[h100]")),
        (row("new", None, 16, name="h100", gained=h100(16)), row("gone", 16, None, lost=h100(16))),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_classes(case: str) -> None:
    before, after, rows = CASES[case]
    assert compare(before, after).classes == rows


LOST = (
    "specs/pool.yaml:12:7: warning: east: class interactive-80g selects 8 NVIDIA H100 80GB HBM3 no longer: 8 devices "
    "left  [class-lost-devices]\n"
    "  at   spec.deviceClasses[0]\n"
    "  why  chat/chat-70b, chat/chat-70b-next claim by it: pods that run keep what they have, and a restart "
    "chooses among "
    "what is left (poolwright diff)\n"
    "  fix  if that isn't meant, widen the class again; the verdicts say whether all still find devices\n"
)
SAID = {
    "shrank-by-its-devices": LOST,
    "moved-under-the-same-names": LOST.replace("8 devices left", "16 devices left"),
    "grew-by-its-devices": "",
    "reworded-and-the-same-devices": "",
    # Nobody claims by the one that is gone any more.
    "renamed": "",
}


@pytest.mark.parametrize("case", SAID)
def test_what_is_said_of_devices_that_are_lost(case: str) -> None:
    before, after, _ = CASES[case]
    assert say_findings(compare(before, after), "class-lost-devices") == SAID[case]


# --- silent moves

OTHER = edit(SMALL, PLACEMENTS, ("minReplicas: 1\n  surge: 1", "minReplicas: 2\n  surge: 0"))
MOVES: dict[str, tuple[Files, Files, tuple[Move, ...]]] = {
    "other-devices-under-the-same-names": (
        SMALL,
        change_nodes(H100, NVL),
        (Move(cluster="east", workload="chat/chat-70b", before=(H100,), after=(H100, NVL)),),
    ),
    "a-class-that-lets-more-through": (
        change_nodes("Hopper", "Blackwell", files=change_nodes(H100, NVL)),
        edit(
            change_nodes("Hopper", "Blackwell", files=change_nodes(H100, NVL)),
            POOL,
            ("[Hopper]", "[Hopper, Blackwell]"),
        ),
        (Move(cluster="east", workload="chat/chat-70b", before=(H100,), after=(H100, NVL)),),
    ),
    # Its Deployment differs too, so that nothing of it is silent.
    "a-workload-that-changes-itself": (
        SMALL,
        edit(change_nodes(H100, NVL), PLACEMENTS, ("minReplicas: 1\n  surge: 1", "minReplicas: 2\n  surge: 0")),
        (),
    ),
    "a-workload-with-another-claim": (
        SMALL,
        edit(change_nodes(H100, NVL), PLACEMENTS, ("version: 2.3.0", "version: 2.4.0"), ("surge: 1", "surge: 0")),
        (),
    ),
    # Objects that say nothing of devices don't tell of it.
    "an-alert-that-changes": (
        SMALL,
        edit(change_nodes(H100, NVL), POOL, ("platform-gpu", "platform-hpc")),
        (Move(cluster="east", workload="chat/chat-70b", before=(H100,), after=(H100, NVL)),),
    ),
    # That it has none at all is its verdict's to say.
    "a-workload-without-devices": (SMALL, change_nodes("Hopper", "Ampere", files=OLDER, node="gpu-h100-a"), ()),
    "the-same-hardware-on-fewer-nodes": (SMALL, OLDER, ()),
}


@pytest.mark.parametrize("case", MOVES)
def test_moves(case: str) -> None:
    before, after, moves = MOVES[case]
    assert compare(before, after).moves == moves


def test_what_is_said_of_a_move() -> None:
    before, after, _ = MOVES["other-devices-under-the-same-names"]
    assert say_findings(compare(before, after), "silent-move") == (
        "specs/placements.yaml:2:1: warning: east: chat/chat-70b may get NVIDIA H100 80GB HBM3 or NVIDIA H100 "
        "NVL, before "
        "NVIDIA H100 80GB HBM3, though none of its objects changes  [silent-move]\n"
        "  why  its pods aren't replaced, so nothing shows until one of them starts on other hardware "
        "(poolwright diff)\n"
        "  fix  if that isn't meant, bound the class (a product, a memory range); else say it in the pull request\n"
    )


def test_where_a_selector_fails_devices_of_another_driver_are_no_other_hardware() -> None:
    """A plan then counts on every device of the node; its network cards aren't the class's."""
    before = read_fleet()
    text = before[INVENTORY].decode()
    after = {**before, INVENTORY: text.replace("        driverVersion: {version: 580.173.2}\n", "").encode()}
    report = compare(before, after)
    first = report.workloads[0]
    assert (first.name, first.after and first.after.verdict, report.moves) == (USERS[0], "undecided", ())


PLAIN = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec: {selectors: [{cel: {expression: 'device.driver == "gpu.nvidia.com"'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one, namespace: chat}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: quiet, namespace: chat}
spec:
  replicas: 1
  selector: {matchLabels: {a: quiet}}
  template:
    metadata: {labels: {a: quiet}}
    spec:
      containers: [{name: c, image: "i:1", resources: {claims: [{name: d}]}}]
      resourceClaims: [{name: d, resourceClaimTemplateName: one}]
"""


def test_among_plain_manifests_one_that_changes_hides_no_others_move() -> None:
    """They are no units: each workload stands for itself."""
    deployment = PLAIN.partition("kind: ResourceClaimTemplate")[2].partition("---\n")[2]
    both = f"{PLAIN}---\n{deployment.replace('quiet', 'loud')}".encode()
    before = {"objects.yaml": both, "nodes.yaml": SMALL[INVENTORY]}
    after = {
        "objects.yaml": both.replace(
            b"name: loud, namespace: chat}\nspec:\n  replicas: 1", b"name: loud, namespace: chat}\nspec:\n  replicas: 2"
        ),
        "nodes.yaml": change_nodes(H100, NVL)[INVENTORY],
    }
    report = compare(before, after, is_project=False)
    assert report.moves == (Move(cluster="objects", workload="chat/quiet", before=(H100,), after=(H100, NVL)),)
