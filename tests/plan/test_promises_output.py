"""What `plan` prints of promises that aren't kept, and of what others use: the whole texts are in promises/*.txt."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import pytest

from fleet import FLEET, ROOT, copy_fleet
from golden import Golden
from poolwright.plan.report.plan_schema import plan_schema
from run_poolwright import run

POOL, PLACEMENT = "specs/pools/lab-full.yaml", "specs/placements/lab.yaml"
RESERVED = """\
  reservations:
    - {deviceClassName: interactive-80g, count: 1, owner: team-training, reason: Notebooks.}
    - {deviceClassName: interactive-80g, count: 2, owner: team-training, reason: "More notebooks, in two rooms."}
  headroom:"""
Edit = tuple[str, str, str]
# A node of eight devices, of which a replica takes four; two replicas while an update runs.
CASES: dict[str, tuple[tuple[Edit, ...], int]] = {
    "kept": ((), 0),
    "no-room-for-the-surge": (((POOL, "  headroom:", RESERVED),), 1),
    "no-room-for-the-replicas": (
        (
            (PLACEMENT, "minReplicas: 1", "minReplicas: 3"),
            (PLACEMENT, "surge: 1", "surge: 0"),
            (POOL, "quota: {interactive-80g: 8}", "quota: {interactive-80g: 12}"),
        ),
        1,
    ),
    "no-room-after-a-loss": (((POOL, "{devices: 1}", "{devices: 1, nodes: 1}"),), 1),
}


def edit_fleet(folder: Path, edits: tuple[Edit, ...]) -> str:
    copy_fleet(folder)
    for file, old, new in edits:
        path = folder / "fleet" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, (file, old)
        path.write_text(text.replace(old, new), encoding="utf-8")
    return str(folder / "fleet")


def test_whole_texts(tmp_path: Path, golden: Golden) -> None:
    printed = {}
    for name, (edits, code) in CASES.items():
        (tmp_path / name).mkdir()
        project = edit_fleet(tmp_path / name, edits)
        ran = run("plan", "--project", project, "--cluster", "lab", folder=ROOT)
        assert (ran.code, ran.stderr) == (code, ""), name
        printed[f"{name}.txt"] = ran.stdout.encode()
    golden.compare(Path(__file__).parent / "promises", printed)


def test_findings_and_reservations_in_json(tmp_path: Path) -> None:
    project = edit_fleet(tmp_path, CASES["no-room-for-the-surge"][0])
    document = json.loads(run("plan", "--project", project, "--cluster", "lab", "--format", "json", folder=ROOT).stdout)
    jsonschema_rs.validate(plan_schema(), document)
    (cluster,) = document["clusters"]
    assert [(one["code"], one["severity"], one["file"], one["field"]) for one in cluster["findings"]] == [
        ("surge-short", "error", PLACEMENT, "spec.surge")
    ]
    named = {"deviceClassName": "interactive-80g", "owner": "team-training"}
    first = "reserved:team-training/interactive-80g"
    assert cluster["reservations"] == [
        {"workload": first, **named, "count": 1, "reason": "Notebooks."},
        {"workload": f"{first}:2", **named, "count": 2, "reason": "More notebooks, in two rooms."},
    ]
    assert [(one["workload"], one["counts"]) for one in cluster["workloads"]] == [
        ("chat/chat-70b", "1-2/2"),
        (first, "0-1/1"),
        (f"{first}:2", "0-2/2"),
    ]


def test_a_reservation_keeps_no_node_and_no_device_out(tmp_path: Path) -> None:
    """East's captured nodes have taints that nobody says others don't tolerate."""
    old = "      count: 2\n      owner: team-training\n"
    project = edit_fleet(tmp_path, (("specs/pools/h100-full.yaml", old, old.replace("2", "60")),))
    ran = run("plan", "--project", project, "--cluster", "east", "--format", "json", folder=ROOT)
    (cluster,) = json.loads(ran.stdout)["clusters"]
    (reserved,) = [one for one in cluster["workloads"] if one["workload"].startswith("reserved:")]
    assert (ran.code, reserved["counts"]) == (1, "at most 56/60")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "deviceClassName: interactive-80g",
            "deviceClassName: mig-20g",
            "name a device class of the pool: interactive-80g, rdma-nic",
        ),
        ("count: 2", "count: two", "write an integer"),
        ("tolerateLoss: {nodes: 1}", "tolerateLoss: {nodes: 0}", "write 1 or more"),
    ],
)
def test_bad_specs_end_with_2(old: str, new: str, said: str, tmp_path: Path) -> None:
    project = edit_fleet(tmp_path, (("specs/pools/h100-full.yaml", old, new),))
    ran = run("plan", "--project", project, folder=ROOT)
    assert (ran.code, ran.stdout) == (2, "")
    assert said in ran.stderr


def test_the_example_keeps_its_promises() -> None:
    """But for the one that is order-dependent on purpose, which is relocatable, and one without a price: warnings."""
    ran = run("plan", "--project", str(FLEET), "--format", "json", folder=ROOT)
    found = [one for cluster in json.loads(ran.stdout)["clusters"] for one in cluster["findings"]]
    assert ran.code == 0
    assert [(one["severity"], one["what"]) for one in found] == [
        ("warning", 'placement "reason-671b" at minReplicas: some order leaves it with 0 of 1 replica'),
        (
            "warning",
            "envelope guard-1b7@1.0.0 has no price on class h200-share-alpha: several pods share a device, and an "
            "engine takes its share of all of it",
        ),
    ]


def test_what_has_no_price_for_want_of_a_device_says_so(tmp_path: Path) -> None:
    """The devices of the planned node are too large for the class."""
    project = edit_fleet(tmp_path, (("specs/pools/lab-full.yaml", "h100-sxm5-80gb", "h200-sxm-141gb"),))
    ran = run("plan", "--project", project, "--cluster", "lab", folder=ROOT)
    said = "    price: none: no known device of its classes says what memory it has"
    assert (ran.code, ran.stdout.splitlines().count(said)) == (1, 1)
    assert ran.stdout.splitlines()[1].startswith("  chat/chat-70b ")
    assert run("plan", "--cluster", "lab", folder=FLEET).stdout.count("price: none") == 0


def test_a_cluster_that_runs_counts_what_others_have_not_got_yet(tmp_path: Path) -> None:
    """A notebook's device was asked for of another class. Promises are about a cluster that starts empty."""
    project = edit_fleet(tmp_path, CASES["no-room-for-the-surge"][0])
    snapshot = str(Path(__file__).parent / "snapshots" / "lab.yaml")
    asked = ("plan", "--project", project, "--cluster", "lab", "--live", snapshot, "--format", "json")
    (cluster,) = json.loads(run(*asked, folder=ROOT).stdout)["clusters"]
    reserved = [one for one in cluster["workloads"] if one["workload"].startswith("reserved:")]
    assert [one["counts"] for one in reserved] == ["1/1", "2/2"]
    assert cluster["findings"] == []
    assert [one for one in cluster["assumptions"]["modelled"] if "reserved" in one or "headroom" in one] == [
        "3 reserved devices, as claims of one each on any node and device of their class, less what others have of them"
    ]
