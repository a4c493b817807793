"""What is left of a cluster without its alpha gates, and what is said of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema_rs

from fleet import FACTS, FLEET, ROOT, Files, edit, list_specs, read_fleet
from folders import write_files
from plan_world import Want, World, demand_of
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.planned_nodes import build_planned_slices
from poolwright.plan.engine import judge
from poolwright.plan.report.plan_schema import plan_schema
from poolwright.plan.what_if.gates import Rollback, judge_rollback, roll_back
from poolwright.specs.parse import parse_specs
from poolwright.specs.resolve import resolve_cluster
from run_poolwright import run

STACK = "specs/stacks/operator-26-7-shares.yaml"
NOTE = "no verdict goes by the gates DRAResourcePoolStatus: what depends on them alone isn't seen"


def plan(project: Path, cluster: str, *asked: str) -> tuple[int, str, str]:
    ran = run("plan", "--project", str(project), "--cluster", cluster, "--loss", "gates", *asked, folder=ROOT)
    return ran.code, ran.stdout, ran.stderr


def roll(files: Files, cluster: str = "lab-alpha", *, captured: bool = False) -> Rollback:
    specs = parse_specs(list_specs(files))
    on = resolve_cluster(specs, cluster)[0]
    assert on is not None
    slices = tuple(
        one
        for pool in specs.pools
        if pool.value.spec.cluster_name == cluster
        for one in build_planned_slices(pool.value, on.stack.value, FACTS)
    )
    return roll_back(on, "1.36", Inventory(file="i.yaml", slices=slices) if captured else None, FACTS)


def test_an_experiment_loses_its_devices() -> None:
    code, out, err = plan(FLEET, "lab-alpha")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[2:7] == [
        "    price: unsupported on h200-share-alpha: several pods share a device, and an "
        "engine takes its share of all of it",
        "  without the alpha gates ConsumableShares of dra-driver-nvidia-gpu: at least 1 replica without devices, "
        "whatever the order",
        "    guard/guard-1b7  1/1 -> at most 0/1  unsatisfied",
        "      no free device that it may use meets its request",
        "      request gpu: 8 devices on 1 node: 8 fail device.allowMultipleAllocations (have allowMultipleAllocations "
        "false); 0 left, 1 wanted (specs/pools/h200-shares.yaml:19:29)",
    ]


def test_where_no_gate_is_on_nothing_changes() -> None:
    code, out, err = plan(FLEET, "lab")
    assert (code, err) == (0, "")
    assert "\n  no alpha gate is on, nothing to roll back: every verdict stays\n" in out


def test_json() -> None:
    document = json.loads(plan(FLEET, "lab-alpha", "--format", "json", "--room", "--add", "1xguard-1b7")[1])
    jsonschema_rs.validate(plan_schema(), document)
    (cluster,) = document["clusters"]
    (loss,) = cluster["losses"]
    # What was added counts here too.
    assert {**loss, "changes": [one["after"]["counts"] for one in loss["changes"]]} == {
        "thing": "gates",
        "names": ["ConsumableShares of dra-driver-nvidia-gpu"],
        "devices": 0,
        "shortfall": {"least": 2, "most": 2},
        "changes": ["at most 0/2"],
        "notes": [],
    }


def test_a_baseline_pool_rests_on_no_alpha_gate(tmp_path: Path) -> None:
    files = edit(read_fleet(), "specs/pools/h200-shares.yaml", ("lane: experiment", "lane: baseline"))
    files = edit(files, "specs/placements/lab-alpha.yaml", ("lane: experiment", "lane: baseline"))
    code, out, err = plan(write_files(tmp_path / "fleet", files), "lab-alpha")
    assert (code, out) == (2, "")
    assert "[lane-stack]" in err


def test_names_of_gates_and_what_is_not_seen() -> None:
    files = edit(
        read_fleet(),
        STACK,
        ("version: 1.36.x", "version: 1.36.x\n    featureGates: {DRAResourcePoolStatus: true, DRAAdminAccess: true}"),
    )
    found = roll(files)
    # The one that isn't alpha stays on.
    assert found.names == ("ConsumableShares of dra-driver-nvidia-gpu", "DRAResourcePoolStatus of Kubernetes")
    assert found.notes == (NOTE,)
    spec = found.on.stack.value.spec
    assert spec.kubernetes.feature_gates == {"DRAResourcePoolStatus": False, "DRAAdminAccess": True}
    assert spec.dra_drivers[0].feature_gates == {"ConsumableShares": False}


def test_captured_devices_are_said() -> None:
    found = roll(read_fleet(), captured=True)
    assert found.notes == (
        "8 captured devices count as they are published without ConsumableShares: gpu.nvidia.com/h200-0/gpu-0, "
        "gpu.nvidia.com/h200-0/gpu-1, gpu.nvidia.com/h200-0/gpu-2 and others",
    )
    assert found.inventory is not None
    assert not any(device.allow_multiple_allocations for device in found.inventory.devices)
    split = edit(
        read_fleet(),
        STACK,
        ("{ConsumableShares: true}", "{DynamicMIG: true}"),
        (", consumableShares: unlimited", ""),
    )
    partitions, whole = roll(split, captured=True).notes
    assert partitions.endswith(" and others")
    assert " captured devices don't count without DynamicMIG: gpu.nvidia.com/h200-0/gpu-0-mig-" in partitions
    assert whole.startswith("8 captured devices count as they are published without DynamicMIG: ")


def test_what_another_driver_publishes_is_not_known() -> None:
    other = "    - {name: nic-dra-driver, version: 1.4.0, install: external, featureGates: {Fast: true}}\n  gpuDriver:"
    found = roll(edit(read_fleet(), STACK, ("  gpuDriver:", other)), captured=True)
    assert "Fast of nic-dra-driver" in found.names
    assert "what nic-dra-driver publishes without Fast isn't known: its captured devices count" in found.notes


def test_a_workload_that_claims_nothing_any_more() -> None:
    demand = demand_of(World(((0, 1),), (Want(1, (frozenset({0}),)), Want(1, (frozenset({1}),)))))
    after = replace(demand, workloads=demand.workloads[1:], slices=())
    loss = judge_rollback(roll(read_fleet()), demand, judge(demand), after)
    assert (loss.devices, [(one.after.workload, one.after.word) for one in loss.changes]) == (
        2,
        [("w0", "undecided"), ("w1", "unsatisfied")],
    )
    assert loss.changes[0].after.reasons == ("without the gates its pods claim no device that is looked at",)
