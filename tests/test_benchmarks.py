"""The benchmarks measure what they say: projects are valid, peers print the same, reports hold together.

No figure is judged here: on a slow machine they are others.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml

from fleet import FLEET, ROOT
from needs import REASON, needs
from poolwright.catalog.closure import BaseClosure, PlatformClosure, UnitClosure
from poolwright.cli.load import load_project
from poolwright.trees.tree import build_folder, build_folders

BENCHMARKS = ROOT / "benchmarks"
WRITE_PROJECT = (
    "import sys; from pathlib import Path; from fleet_project import write_project; "
    "write_project(Path(sys.argv[1]), Path(sys.argv[2]), clusters=2, units=18)"
)


def make_project(folder: Path) -> Path:
    """A project of two clusters with two rounds of units each, as the benchmark makes one."""
    argv = [sys.executable, "-c", WRITE_PROJECT, str(FLEET), str(folder)]
    subprocess.run(argv, cwd=BENCHMARKS, check=True)
    return folder


def test_pages_are_timed_in_a_browser() -> None:
    needs("chromium")
    pytest.importorskip("playwright.sync_api", reason=f"{REASON}playwright")
    argv = [sys.executable, str(BENCHMARKS / "page.py"), "--devices=400", "--rounds=1", "--format=json"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    report = json.loads(run.stdout)
    assert set(report["medians"]["small"]) == set(report["medians"]["large"]) >= {"it is loaded", "a node is chosen"}
    assert report["bytes"]["large"] > report["bytes"]["small"]


def test_releases_are_made_verified_and_compared(tmp_path: Path) -> None:
    argv = [sys.executable, str(BENCHMARKS / "release.py"), "--clusters=1", "--units=9", "--nodes=12"]
    run = subprocess.run(
        [*argv, "--folder", str(tmp_path), "--format=json"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    report = json.loads(run.stdout)
    assert list(report["medians"]) == [
        *("render, cold", "release", "verify, rebuilt", "verify, signatures and digests"),
    ]
    assert set(report["ratios"]) == {*report["medians"]} - {"render, cold"}
    assert report["files"] > 9 * 2


def test_benchmark_runs_and_reports_every_command(tmp_path: Path) -> None:
    argv = [sys.executable, str(BENCHMARKS / "fleet.py"), "--clusters=1", "--units=9", "--sample=2", "--runs=1"]
    run = subprocess.run(
        [*argv, "--folder", str(tmp_path), "--format=json"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    report = json.loads(run.stdout)
    assert (report["clusters"], report["units"], report["sample"], report["runs"]) == (1, 9, 2, 1)
    assert list(report["medians"]) == [
        "render, after one edit",
        "kustomize, each unit",
        "kustomize, each unit, xargs -P2",
        "generate, small repository",
        "generate, large repository",
        "kustomize, that unit",
        "render, cold",
        "render, cold, nothing synced",
    ]
    assert all(run["wall_s"] > 0 and run["cpu_s"] > 0 and run["peak_mib"] > 0 for run in report["medians"].values())
    # What is printed as a ratio is the one of what is printed as times.
    first = report["ratios"][0]
    one, other = (report["medians"][name] for name in first["what"].split(" / "))
    assert first["wall"][1] == pytest.approx(one["wall_s"] / other["wall_s"], rel=0.01, abs=0.01)
    assert [growth["units"] for growth in report["growth"]] == [9, 9, 9]
    assert list(tmp_path.iterdir()) == []


def test_the_sidecars_memory_is_the_sum_of_what_was_measured() -> None:
    argv = [sys.executable, str(BENCHMARKS / "plugin_memory.py"), "--calls=6", "--at-once=2", "--format=json"]
    ran = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    report = json.loads(ran.stdout)
    load = report["load"]
    assert (load["calls"], load["at_once"], load["failed"]) == (6, 2, 0)
    # One that waits has loaded next to nothing; Kustomize is larger than what starts it.
    assert 0 < load["waiting_mib"] < report["unit_mib"] / 2 < report["kustomize_mib"] / 2
    assert 0 < load["first_s"] < load["last_s"]
    whole = 1.25 * (2 * (report["unit_mib"] + report["kustomize_mib"]) + 4 * load["waiting_mib"] + 128)
    assert report["limit_mib"] == pytest.approx(whole, abs=1)


def test_project_has_every_kind_of_unit_and_shares_bases(tmp_path: Path) -> None:
    project = load_project(str(make_project(tmp_path / "project")))
    units = [closure for closure in project.closures if isinstance(closure, UnitClosure)]
    assert Counter(unit.on.cluster for unit in units) == {"cluster-000": 18, "cluster-001": 18}
    example = yaml.safe_load_all((FLEET / "specs" / "placements" / "east.yaml").read_text())
    placed = {document["metadata"]["name"] for document in example}
    assert {unit.unit for unit in units} >= placed
    assert any(unit.router_pool != unit.unit for unit in units)
    assert any(len(unit.alternatives) > 1 for unit in units)
    assert {"named", "perPodShared"} <= {unit.envelope.spec.claim.pattern for unit in units}
    assert {1, 2} == {unit.envelope.spec.topology.nodes for unit in units}
    by_base = Counter((unit.on.cluster, unit.envelope.name, unit.envelope.version) for unit in units)
    # A round of its own for a named claim, two rounds for the others; tenants are placed twice in each.
    assert {base[1]: count for base, count in by_base.items() if count != 2} == {
        "rewrite-0b6": 1,
        "rewrite-0b6-1": 1,
        "tenants-8b": 4,
    }


def test_folders_built_together_are_those_built_one_by_one(tmp_path: Path) -> None:
    closures = load_project(str(make_project(tmp_path / "project"))).closures
    kinds = {type(closure) for closure in closures}
    assert {BaseClosure, PlatformClosure, UnitClosure} < kinds
    together = list(build_folders(closures))
    assert together == [build_folder(closure) for closure in closures]
    # Whatever was built before: nothing of a folder is left in what the next ones share.
    assert list(build_folders(closures[::-1]))[::-1] == together


@pytest.mark.oracle
def test_allocating_is_compared_with_upstream() -> None:
    """Other placements than upstream's would end it in exit code 2."""
    argv = [sys.executable, str(BENCHMARKS / "allocate.py"), "--divide=50", "--format=json"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    if "skipped: " in run.stderr:
        needs("go")  # so that one who requires it isn't told that all is well
        pytest.skip(f"{REASON}Go modules of tests/oracle/allocator")
    report = json.loads(run.stdout)
    sizes = [(part["world"], part["nodes"], part["claims"]) for part in report["parts"]]
    assert sizes == [
        ("whole", 2, 10),
        ("whole", 8, 33),
        ("whole", 25, 100),
        ("pairs", 2, 2),
        ("pairs", 6, 6),
        ("pairs", 20, 20),
        ("mig", 1, 2),
        ("mig", 3, 6),
        ("mig", 10, 20),
    ]
    assert all(part["placed"] == part["claims"] for part in report["parts"])
    # What is printed as a ratio is the one of what is printed as times.
    part = report["parts"][-1]
    ours, peer = (part["medians"][name]["cpu_s"] for name in ("ours", "upstream's"))
    assert part["ratios"]["ours"]["cpu"][1] == pytest.approx(ours / peer, rel=0.02, abs=0.01)


def test_verdicts_are_compared_with_one_plan() -> None:
    argv = [sys.executable, str(BENCHMARKS / "plan.py"), "--world=sizes", "--divide=250", "--divide=125", "--runs=1"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    title, judged, lost, *larger, grown = run.stdout.splitlines()
    # 20 workloads of one replica on five nodes of 8, and more of them for the first product than its one node holds.
    assert title.startswith("sizes, 5 nodes, 20 pods; ")
    assert "'order-dependent'" in title
    assert judged.startswith("  one plan ")
    assert lost.startswith("  every node lost / verdicts ")
    assert [line.partition(";")[0].split()[0] for line in larger] == ["sizes,", "one", "every"]
    assert re.fullmatch(
        r"  growth from 5 nodes: pods x1\.0, one plan x\d+\.\d, verdicts x\d+\.\d, every node lost x\d+\.\d", grown
    )


def test_changes_are_compared_with_one_render(tmp_path: Path) -> None:
    """A report that doesn't show its change would end it in exit code 2."""
    argv = [sys.executable, str(BENCHMARKS / "diff.py"), "--clusters=2", "--units=9", "--nodes=3", "--runs=1"]
    run = subprocess.run(
        [*argv, "--folder", str(tmp_path), "--format=json"], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, "")
    report = json.loads(run.stdout)
    sizes = [(size["clusters"], size["units"], size["devices"]) for size in report["sizes"]]
    assert sizes == [(1, 9, 80), (2, 18, 160)]
    largest = report["sizes"][-1]
    changes = [
        "nothing",
        "a promotion in one cluster",
        "a class reworded in one cluster",
        "one more replica at most in one cluster",
        "a class that loses devices in one cluster",
        "another image in every cluster's stack",
    ]
    assert list(largest["medians"]) == ["render, cold", *changes]
    assert list(largest["ratios"]) == changes
    # What is printed as a ratio is the one of what is printed as times.
    ours, peer = (largest["medians"][name]["cpu_s"] for name in ("a promotion in one cluster", "render, cold"))
    assert largest["ratios"]["a promotion in one cluster"]["cpu"][1] == pytest.approx(ours / peer, rel=0.02, abs=0.01)
    assert list(tmp_path.iterdir()) == []


def test_prices_are_compared_with_logs() -> None:
    argv = [sys.executable, str(BENCHMARKS / "pricing.py"), "--seconds=0.001", "--format=json"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert [(one["quantity"], one["logs"], one["n"]) for one in report["errors"]] == [
        ("weights", "all", 39),
        ("activation", "fitted", 23),
        ("activation", "held out", 2),
        ("activation", "extrapolated", 5),
        ("KV budget", "fitted", 23),
        ("KV budget", "held out", 3),
        ("KV budget", "extrapolated", 8),
        ("KV tokens", "all", 28),
        ("KV blocks", "all", 25),
        ("maximum concurrency", "all", 31),
        ("needed KV", "all", 2),
        ("longest context", "all", 2),
        ("KV budget", "left out", 14),
    ]
    assert all(one["median"] <= one["p90"] <= one["largest"] for one in report["errors"])
    assert [one["tensors"] for one in report["speed"]] == [291, 723, 18771]
    # The peer isn't one of our dependencies; where it isn't installed there are our own rates, and it is said.
    said = "" if report["peer"] else "no ratios: hf-mem 0.5.6 isn't installed\n"
    assert run.stderr == said
    assert all(bool(one["ratios"]) is (report["peer"] is not None) for one in report["speed"])


def test_the_plugin_is_compared_on_every_unit() -> None:
    """Other bytes than Kustomize's would end it in exit code 2."""
    argv = [sys.executable, str(BENCHMARKS / "applications.py"), "--clusters=1", "--units=9"]
    run = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    first, *_, last = run.stdout.splitlines()
    assert first.startswith("9 units, 2 processes at once, ")
    assert last.startswith("ratio of CPU time ours/peer: ")
