"""A plan as it is printed, and its JSON by the published schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema_rs
import pytest

from fleet import FLEET, ROOT, copy_fleet
from poolwright.catalog.inventory import parse_inventory
from poolwright.cli.plan_case import check_nodes, load_for_plan
from poolwright.plan.report.clearing import render_clearings
from poolwright.plan.report.contests import render_contests
from poolwright.plan.report.plan_schema import plan_schema
from poolwright.plan.report.rollouts import build_deadlocks_json, build_rollouts_json, render_rollouts
from poolwright.plan.report.words import say_counts
from poolwright.plan.verdict import Contest, Count, Judgement, Method, Move, Verdict, Witness, Word, exactly
from poolwright.plan.what_if.clearing import Clearing
from poolwright.plan.what_if.gang import GangDeadlock
from poolwright.plan.what_if.rollout import Rollout
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError
from run_poolwright import run

COUNTS: dict[str, tuple[Word, Count, Count, str]] = {
    "always": ("always-fits", exactly(6), exactly(6), "6/6"),
    "depends": ("order-dependent", exactly(3), exactly(6), "3-6/6"),
    "none": ("unsatisfied", exactly(0), exactly(0), "at most 0/6"),
    "some": ("unsatisfied", Count(1, 2), Count(3, 4), "at most 4/6"),
    "unknown": ("undecided", Count(2, 6), Count(4, 6), "2-?/6"),
    "unknown-but-placed-once": ("undecided", Count(2, 6), exactly(6), "2-6/6"),
    "error": ("error", Count(0, 6), Count(0, 6), "?/6"),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    word, always, best, said = COUNTS[name]
    verdict = Verdict(
        workload="chat/a", word=word, replicas=6, always=always, at_best=best, method="single-device flow"
    )
    assert say_counts(verdict) == said


def test_json_is_what_the_schema_says() -> None:
    ran = run("plan", "--project", str(FLEET), "--format", "json", "--loss", "zone", folder=ROOT)
    assert ran.stderr == ""
    document = json.loads(ran.stdout)
    jsonschema_rs.validate(plan_schema(), document)
    assert [one["name"] for one in document["clusters"]] == ["east", "lab", "lab-alpha"]


CONTESTS: dict[str, tuple[Method, tuple[tuple[str, int], ...], int, int, str]] = {
    "some-are-left-out": (
        "single-device flow",
        (("a", 6), ("b", 4)),
        10,
        8,
        "10 claims compete for 8 devices: 2 stay unsatisfied, which ones depends on the order: 6 of a, 4 of b",
    ),
    "one-is": (
        "single-device flow",
        (("a", 2),),
        2,
        1,
        "2 claims compete for 1 device: 1 stays unsatisfied, which one depends on the order: 2 of a",
    ),
    "no-device": ("single-device flow", (("a", 1),), 1, 0, "1 claim competes for 0 devices: 1 of a"),
    # Other pods of the part take several devices: more than these may be left out.
    "at-least": (
        "bounds and witnesses",
        (("a", 2), ("b", 1)),
        3,
        2,
        "3 claims compete for 2 devices: at least 1 stays unsatisfied, which one depends on the order: 2 of a, 1 of b",
    ),
    "several-each": (
        "bounds and witnesses",
        (("a", 3),),
        12,
        8,
        "pods that need 12 devices or more compete for 8: 3 of a",
    ),
}


@pytest.mark.parametrize("name", CONTESTS)
def test_contests(name: str) -> None:
    method, pods, demanded, devices, said = CONTESTS[name]
    verdicts = tuple(
        Verdict(workload=title, word="undecided", replicas=count, always=exactly(0), at_best=exactly(0), method=method)
        for title, count in pods
    )
    contest = Contest(pods=pods, demanded=demanded, devices=devices)
    judgement = Judgement(verdicts=verdicts, demanded=demanded, shortfall=exactly(1), over_demanded=(contest,))
    assert list(render_contests(judgement)) == [said]


def test_who_is_short_is_named_first() -> None:
    """So that nobody of the contest hides behind those of the same part that have room enough."""
    clearing = Clearing(workloads=("a", "b", "c", "d", "e"), shortfall=exactly(1), reasons=("why",))
    contest = Contest(pods=(("c", 2), ("e", 1)), demanded=3, devices=2)
    assert list(render_clearings((clearing,), (contest,))) == [
        "shortfall of c, e, a and 2 more: nothing was found that clears it",
        "  why",
    ]


def test_what_is_lost_alike_stands_together() -> None:
    """Two replicas of four on a node of eight: without one device, one of them has no room; without the node, both."""
    asked = ("plan", "--project", str(FLEET), "--cluster", "lab", "--loss", "device", "--loss", "node")
    ran = run(*asked, folder=ROOT)
    assert (ran.code, ran.stderr) == (0, "")
    devices = ", ".join(f"gpu.nvidia.com/h100-0/gpu-{number}" for number in range(3))
    starts = ("  without", "    chat", "      there")
    assert [line for line in ran.stdout.splitlines() if line.startswith(starts)] == [
        f"  without device {devices} or another of 8: at least 1 replica without devices, whatever the order",
        "    chat/chat-70b  2/2 -> at most 1/2  unsatisfied",
        "      there is room for 1 replica of it at most, with nobody else there",
        "  without node h100-0: at least 2 replicas without devices, whatever the order",
        "    chat/chat-70b  2/2 -> at most 0/2  unsatisfied",
    ]
    (cluster,) = json.loads(run(*asked, "--format", "json", folder=ROOT).stdout)["clusters"]
    assert [(one["thing"], len(one["names"]), one["devices"], one["shortfall"]) for one in cluster["losses"]] == [
        ("device", 8, 1, {"least": 1, "most": 1}),
        ("node", 1, 8, {"least": 2, "most": 2}),
    ]


def test_the_example_fleet() -> None:
    """One workload of it may be left out, on purpose: no two whole nodes of its zone are kept for it."""
    asked = ("plan", "--project", str(FLEET), "--cluster", "east", "--loss", "family", "--format", "json")
    ran = run(*asked, folder=ROOT)
    assert ran.code == 0
    (cluster,) = json.loads(ran.stdout)["clusters"]
    depends = {one["workload"]: one for one in cluster["workloads"] if one["verdict"] == "order-dependent"}
    assert list(depends) == ["reasoning/reason-671b"]
    assert depends["reasoning/reason-671b"]["source"] == {
        "file": "specs/placements/east.yaml",
        "line": 57,
        "column": 1,
        "field": "",
    }
    witness = depends["reasoning/reason-671b"]["worst"]
    assert (witness["placed"], witness["replays"]) == (0, "now")
    assert len({move["node"] for move in witness["moves"]}) == 6
    (lost,) = [one for one in cluster["losses"] if one["names"] == ["NVIDIA H100 80GB HBM3 gpu"]]
    assert {one["workload"]: one["after"]["counts"] for one in lost["changes"]} == {
        "chat/chat-70b": "at most 0/4",
        "chat/prefill-8b": "at most 0/2",
        "search/rag-8b": "at most 0/2",
        "reasoning/reason-671b": "at most 0/1",
        "chat/tenants-8b": "at most 0/2",
        "chat/tenants-8b-b": "at most 0/3",
        "reserved:team-training/interactive-80g": "at most 0/2",
    }
    why = {one["workload"]: one["reasons"][-1] for one in lost["changes"]}
    assert why["chat/chat-70b"] == (
        'request gpu: 37 devices on 9 nodes: 32 fail type == "gpu" (have mig), '
        '5 fail architecture == "Hopper" (have Ampere); 0 left, 4 wanted'
    )
    where = {
        (one["workload"], place["field"]): f"{place['file']}:{place['line']}"
        for one in lost["changes"]
        for said in one["sources"]
        for place in said["places"]
    }
    assert where["chat/chat-70b", "spec.deviceClasses[0].attributes.type"] == "specs/pools/h100-full.yaml:24"
    assert where["chat/chat-70b", "spec.deviceClasses[0].attributes.architecture"] == "specs/pools/h100-full.yaml:25"
    assert where["reasoning/reason-671b", "spec.zone"] == "specs/placements/east.yaml:65"
    assert {workload for workload, _ in where} == {
        one["workload"] for one in lost["changes"] if one["after"]["counts"].startswith("at most 0")
    }


def test_what_would_mend_the_example_fleet() -> None:
    """Each of the others' pods may be on a node of its own; in the other zone no two whole nodes are left."""
    ran = run("plan", "--project", str(FLEET), "--cluster", "east", "--format", "json", folder=ROOT)
    (cluster,) = json.loads(ran.stdout)["clusters"]
    (found,) = [one for one in cluster["workloads"] if one["workload"] == "reasoning/reason-671b"]
    assert [one["what"] for one in found["mends"]] == ["11 more nodes like h100-b-0"]
    assert [(one["what"], one["then"]["verdict"]) for one in found["mendsTried"][:3]] == [
        ("one more node like h100-b-0", "order-dependent"),
        ("2 more nodes like h100-b-0", "order-dependent"),
        ("without zone east-b", "order-dependent"),
    ]
    zone, *more = found["mendsTried"][3:]
    assert zone["what"] == "zone east-a instead of east-b"
    assert zone["then"]["verdict"] in ("undecided", "unsatisfied")
    counts = {one["what"].split()[0]: one["then"]["verdict"] for one in more}
    assert counts == dict.fromkeys(("4", "8", "10"), "order-dependent") | dict.fromkeys(
        ("11", "12", "16"), "always-fits"
    )


# Replicas, and those that a rollout adds, of four devices each, where there is a node of eight.
BELOW_THE_ROW = {
    "two-and-one-of-a-rollout": (2, 1, ""),
    "three-that-must-serve": (3, 0, " (below its minimum of 3)"),
}


@pytest.mark.parametrize("name", BELOW_THE_ROW)
def test_what_mends_is_said_below_the_row(name: str, tmp_path: Path) -> None:
    replicas, surge, below = BELOW_THE_ROW[name]
    copy_fleet(tmp_path)
    changes = (
        ("placements/lab.yaml", "Replicas: 1", f"Replicas: {replicas}"),
        ("placements/lab.yaml", "surge: 1", f"surge: {surge}"),
        ("pools/lab-full.yaml", "80g: 8", "80g: 12"),
    )
    for path, old, new in changes:
        file = tmp_path / "fleet" / "specs" / path
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")
    ran = run("plan", "--project", str(tmp_path / "fleet"), "--cluster", "lab", folder=ROOT)
    assert (ran.code, ran.stderr) == (1, "")
    assert ran.stdout.splitlines()[1:7] == [
        "  chat/chat-70b  at most 2/3  unsatisfied  (specs/placements/lab.yaml:2:1)",
        "    there is room for 2 replicas of it at most, with nobody else there",
        "    mended by: one more node like h100-0 -> 3/3 always-fits (devices)",
        f"    mended by: one replica less at the peak{below} -> 2/2 always-fits (devices)",
        "    price: admitted on interactive-80g (KV cache: 40.0 GiB of 50.83 GiB, extrapolated); 4 devices each, "
        f"{4 * replicas} at its most, {f'{4 * (replicas + surge)} in a rollout, ' if surge else ''}4 of them spare",
        "  shortfall: at least 1 of 3 replicas stays without devices, whatever the order",
    ]
    assert "hardware that would mend a verdict is as what it is like, and nobody else's\n" in ran.stdout


def test_nodes_without_a_zone_are_said(tmp_path: Path) -> None:
    copy_fleet(tmp_path)
    inventory = tmp_path / "fleet" / "inventory" / "east.yaml"
    text = inventory.read_text(encoding="utf-8")
    inventory.write_text(text.replace("topology.kubernetes.io/zone", "example.com/zone"), encoding="utf-8")
    asked = ("plan", "--project", str(tmp_path / "fleet"), "--cluster", "east")
    said = "no loss of a zone takes the nodes without a zone label: 2 of 9"
    for losses, is_said in (((), False), (("--loss", "node"), False), (("--loss", "zone"), True)):
        assert (said in run(*asked, *losses, folder=ROOT).stdout) == is_said


def test_what_changes_nothing_is_said_in_one_line() -> None:
    ran = run("plan", "--project", str(FLEET), "--cluster", "east", "--loss", "family", folder=ROOT)
    a100 = "NVIDIA A100-SXM4-40GB"
    assert f"  without family {a100} gpu, {a100} mig: every verdict stays\n" in ran.stdout


def test_a_rollout_that_can_stick() -> None:
    """Without surge its one replica is let go first, and others may come to its two whole nodes before the new one."""
    asked = ("plan", "--project", str(FLEET), "--cluster", "east")
    why = "once the old replica gave devices back, others have the rest, and no new one has room"
    lines = run(*asked, folder=ROOT).stdout.splitlines()
    at = lines.index(f"  rollout of reasoning/reason-671b: can stick: {why}")
    assert lines[at + 1].startswith("    after: search/rag-8b#0 on h100-b-0, ")
    (cluster,) = json.loads(run(*asked, "--format", "json", folder=ROOT).stdout)["clusters"]
    (found,) = [one for one in cluster["rollouts"] if one["workload"] == "reasoning/reason-671b"]
    assert {key: found[key] for key in found if key != "witness"} == {
        "workload": "reasoning/reason-671b",
        "outcome": "can-stick",
        "maximum": 1,
        "surge": 0,
        "maxUnavailable": 1,
        "why": why,
        "fixes": [],
    }
    assert (found["witness"]["placed"], found["witness"]["replays"]) == (0, "now")
    assert cluster["gangDeadlocks"] == []


def test_rollouts_and_deadlocks_are_said() -> None:
    witness = Witness(moves=(Move(workload="a/b", replica=0, node="n"),), placed=1, replays="now")
    rollout = Rollout(workload="a/b", outcome="can-stick", maximum=1, surge=1, unavailable=0, why="no room")
    deadlock = GangDeadlock(
        workloads=("a/b",),
        holding=2,
        complete=0,
        gained=(("a/b", 1),),
        why="2 replicas hold a part",
        fix="gang scheduling",
        witness=witness,
    )
    rollouts = (
        replace(rollout, outcome="completes"),
        replace(rollout, witness=witness, fixes=("surge 0", "one fewer")),
        replace(rollout, outcome="not-known"),
    )
    assert list(render_rollouts(rollouts, (deadlock,))) == [
        "rollout of a/b: can stick: no room",
        "  after: a/b#0 on n (with devices as they are published now)",
        "  mended by: surge 0; or one fewer",
        "rollout of a/b: it isn't known whether it completes: no room",
        "2 replicas hold a part",
        "  after: a/b#0 on n (with devices as they are published now)",
        "  mended by: gang scheduling",
    ]
    document = json.loads(
        run("plan", "--project", str(FLEET), "--cluster", "lab", "--format", "json", folder=ROOT).stdout
    )
    document["clusters"][0]["rollouts"] = build_rollouts_json(rollouts, lambda _: None)
    document["clusters"][0]["gangDeadlocks"] = build_deadlocks_json(
        (deadlock,),
        lambda one: one and {"placed": one.placed, "replays": one.replays, "deviceOrder": None, "moves": []},
    )
    jsonschema_rs.validate(plan_schema(), document)


H100_CPU = "      cpu: 223840m\n"
CHANGES: dict[str, tuple[str, str, list[str]]] = {
    "as-captured": (
        H100_CPU,
        H100_CPU,
        [
            "discharged: CPU: at most 32 of 223.84 on 1 node whose allocatable is known (gpu-h100-a)",
            "assumed: CPU and memory suffice on 6 nodes whose allocatable is not known",
            "assumed: pods per node suffice on 7 nodes whose allocatable is not known",
        ],
    ),
    "too-little": (
        H100_CPU,
        "      cpu: 15\n",
        ["assumed: CPU and memory suffice on the nodes that pods may go to: their allocatable is not known"],
    ),
    "just-enough-for-one": (
        H100_CPU,
        "      cpu: 31500m\n",
        ["modelled: CPU of nodes, which may run out on gpu-h100-a"],
    ),
    "no-allocatable": (
        "    allocatable:\n",
        "    capacity:\n",
        [
            "discharged: no pod asks for ephemeral storage or huge pages",
            "assumed: CPU, memory and pods per node suffice on the nodes that pods may go to: "
            "their allocatable is not known",
        ],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_is_said_of_nodes(name: str, tmp_path: Path) -> None:
    before, after, sentences = CHANGES[name]
    copy_fleet(tmp_path)
    inventory = tmp_path / "fleet" / "inventory" / "east.yaml"
    text = inventory.read_text(encoding="utf-8")
    assert before in text
    inventory.write_text(text.replace(before, after), encoding="utf-8")
    asked = ("plan", "--project", str(tmp_path / "fleet"), "--cluster", "east")
    (cluster,) = json.loads(run(*asked, "--format", "json", folder=ROOT).stdout)["clusters"]
    said = [f"{kind}: {one}" for kind, listed in cluster["assumptions"].items() for one in listed]
    assert [one for one in sentences if one not in said] == []
    lines = run(*asked, folder=ROOT).stdout.splitlines()
    for one in sentences:
        kind, _, sentence = one.partition(": ")
        assert any(line.startswith(f"  {kind}: ") and sentence in line for line in lines)


def test_allocatable_that_cannot_be_read(tmp_path: Path) -> None:
    copy_fleet(tmp_path)
    inventory = tmp_path / "fleet" / "inventory" / "east.yaml"
    text = inventory.read_text(encoding="utf-8")
    inventory.write_text(text.replace(H100_CPU, "      cpu: 224 cores\n"), encoding="utf-8")
    ran = run("plan", "--project", str(tmp_path / "fleet"), "--cluster", "east", folder=ROOT)
    assert (ran.code, ran.stdout) == (2, "")
    assert 'allocatable "cpu" is no quantity  [inventory-unreadable]' in ran.stderr
    assert "Traceback" not in ran.stderr


def test_an_unknown_cluster() -> None:
    ran = run("plan", "--project", str(FLEET), "--cluster", "west", folder=ROOT)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr == "poolwright: --cluster: there is no such cluster; known: east, lab, lab-alpha\n"


SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.nvidia.com
  SCOPE
  pool: {name: gpu-h100-a, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}]
"""
CAPTURES = {
    "nothing": (
        "",
        """\
inventory/east.yaml: there is no object in it  [inventory-empty]
  why  what was to capture the cluster most likely failed, and nothing would be compared with its devices \
(poolwright.dev/v1alpha1)
  fix  capture it again: kubectl get nodes,resourceslices -o yaml; or remove the file
""",
    ),
    # Planned nodes make no difference: the captured devices are on none of them.
    "devices-without-nodes": (
        SLICE.replace("SCOPE", "nodeName: gpu-h100-a"),
        """\
inventory/east.yaml: there are ResourceSlices in it (1), and no Node  [inventory-nodeless]
  why  pods are placed on nodes: without them no pod would fit anywhere, whatever devices there are (poolwright plan)
  fix  capture both: kubectl get nodes,resourceslices -o yaml
""",
    ),
}


@pytest.mark.parametrize(("capture", "said"), CAPTURES.values(), ids=CAPTURES)
def test_a_capture_that_is_not_whole_is_no_answer(capture: str, said: str, tmp_path: Path) -> None:
    copy_fleet(tmp_path)
    (tmp_path / "fleet" / "inventory" / "east.yaml").write_text(capture, encoding="utf-8")
    asked = ("plan", "--project", str(tmp_path / "fleet"), "--cluster", "east")
    ran = run(*asked, folder=ROOT)
    assert (ran.code, ran.stdout, ran.stderr) == (2, "", said)


def test_devices_of_all_nodes_need_no_captured_one() -> None:
    """Where nodes are planned; without those there is nothing to place pods on either."""
    given = load_for_plan(str(FLEET)).build_case("east")
    slices = parse_inventory(parse_documents(SLICE.replace("SCOPE", "allNodes: true").encode(), "i.yaml"), "i.yaml")
    check_nodes(replace(given, inventory=slices))
    with pytest.raises(SpecError, match="inventory-nodeless"):
        check_nodes(replace(given, inventory=slices, cluster=replace(given.cluster, nodes=())))
