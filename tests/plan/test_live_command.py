"""`poolwright plan --live`: the example's cluster `lab` as kubectl printed it."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from fleet import FLEET, ROOT, copy_fleet
from poolwright.plan.report.plan_schema import plan_schema
from run_poolwright import Ran, run

SNAPSHOT = Path(__file__).parent / "snapshots" / "lab.yaml"
TEXT = SNAPSHOT.read_text(encoding="utf-8")
CLAIM = "chat/chat-70b-7c9d8f6b5d-x2k9q-devices-4j7tz"
MODELLED = (
    "  modelled: Kubernetes 1.36 with its incubating allocator; nodes: 1 captured, 0 planned; "
    "each workload at its peak: its most replicas and its surge; "
    "node selectors, required node affinity, node taints, cordoned nodes, device taints; "
    "what 2 claims hold, none of which departs; nodes of the files, slices of the files; "
    "planned nodes, 1 of them, are not there yet; pods belong to the workload that their owners lead to\n"
)
DISCHARGED = "  discharged: no pod asks for ephemeral storage or huge pages\n"
ASSUMED = (
    "  assumed: what the pods that run take of nodes, which is not looked at, leaves room for the pods; "
    "pods that are not among these objects take no more than what is left of nodes: daemons, system pods; "
    "volumes and ports of nodes leave room for the pods; "
    "nothing but these workloads, what holds devices and what waits for them uses the devices; "
    "drivers are healthy and slices current; nothing is preempted, nodes are not added, "
    "admission and resource quotas let the pods in and add no requests; "
    "the files hold all claims and pods of one moment, which was not before 2026-09-14T08:02:11Z, "
    "when their newest pod was made; nothing has changed since\n"
)
UNKNOWN = "CPU, memory and pods per node suffice on the nodes that pods may go to: their allocatable is not known"
FIRST = "lab: Kubernetes 1.36, live; 1 node (0 planned), 8 devices; 2 claims held, 1 of them by others\n"


def plan(*files: str, project: Path = FLEET, more: tuple[str, ...] = ()) -> Ran:
    return run("plan", "--project", str(project), "--cluster", "lab", *more, "--live", *files, folder=ROOT)


def write(folder: Path, *changes: tuple[str, str], text: str = TEXT) -> str:
    """The snapshot with some texts replaced; each must stand there."""
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    path = folder / "live.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_what_others_hold_leaves_no_room_for_the_surge() -> None:
    ran = plan(str(SNAPSHOT))
    assert ran == Ran(
        1,
        FIRST + "  chat/chat-70b  at most 1/2  unsatisfied  (specs/placements/lab.yaml:2:1)\n"
        "    1 of 2 runs, 1 to be placed\n"
        "    no node can serve it beside what is held\n"
        f"    request gpu: 8 devices on 1 node: 5 held by {CLAIM}, research/notebook-gpu; 3 left, 4 wanted "
        "(specs/envelopes/chat-70b/2.4.0.yaml:23:13)\n"
        f"    releasing claim {CLAIM} (gpu-0, gpu-1, gpu-2, gpu-3) would make room: "
        "gpu-0, gpu-1, gpu-2, gpu-3 on h100-lab-a\n"
        "    releasing claim research/notebook-gpu (gpu-7) would make room: gpu-4, gpu-5, gpu-6, gpu-7 on h100-lab-a\n"
        "  shortfall: at least 1 of 2 replicas stays without devices, whatever the order\n"
        f"{MODELLED}{DISCHARGED}{ASSUMED}\n",
        "",
    )


def test_a_held_device_that_is_gone(tmp_path: Path) -> None:
    """The notebook's device isn't published any more, and the four that are free suffice."""
    ran = plan(write(tmp_path, ("device: gpu-7", "device: gpu-9")))
    assert ran == Ran(
        0,
        FIRST + "  chat/chat-70b  2/2  always-fits (devices)\n"
        "    1 of 2 runs, 1 to be placed\n"
        "  held device gpu.nvidia.com/h100-lab-a/gpu-9 is not published any more (claim research/notebook-gpu)\n"
        f"{MODELLED}{DISCHARGED}{ASSUMED.replace(': what', f': {UNKNOWN}; what')}\n",
        "",
    )


def test_a_class_that_moved_strands_restarts(tmp_path: Path) -> None:
    """Who runs keeps its devices; the class now asks for hardware of another architecture."""
    project = copy_fleet(tmp_path)
    pool = project / "specs" / "pools" / "lab-full.yaml"
    pool.write_text(pool.read_text(encoding="utf-8").replace("[Hopper]", "[Ampere, Hopper]"), encoding="utf-8")
    live = write(tmp_path, ("architecture: {string: Hopper}", "architecture: {string: Blackwell}"))
    ran = plan(live, project=project)
    why = 'request gpu: 8 devices on 1 node: 8 fail architecture in ["Ampere", "Hopper"] (have Blackwell)'
    assert (ran.code, ran.stderr) == (1, "")
    assert [line.strip() for line in ran.stdout.splitlines()[1:]][:6] == [
        "chat/chat-70b  at most 1/2  unsatisfied  (specs/placements/lab.yaml:2:1)",
        "1 of 2 runs, 1 to be placed",
        "no node can serve it beside what is held",
        f"{why}; 0 left, 4 wanted (specs/pools/lab-full.yaml:17:47)",
        "1 of 1 running keeps its devices but couldn't be placed again after a restart",
        f"{why}; 0 left, 4 wanted",
    ]


def test_an_older_template(tmp_path: Path) -> None:
    ran = plan(write(tmp_path, ("chat-70b-devices-f2e2ace65b", "chat-70b-devices-0123456789")))
    assert "    1 of 1 running comes from another template than the one judged\n" in ran.stdout


def test_json(tmp_path: Path) -> None:
    ran = plan(write(tmp_path, ("device: gpu-7", "device: gpu-9")), more=("--format", "json"))
    document = json.loads(ran.stdout)
    jsonschema_rs.validate(plan_schema(), document)
    (cluster,) = document["clusters"]
    assert cluster["scenario"] == "live"
    assert cluster["live"] == {
        "heldClaims": 2,
        "othersClaims": 1,
        "unpublished": [{"device": "gpu.nvidia.com/h100-lab-a/gpu-9", "claim": "research/notebook-gpu"}],
        "nodesFrom": "files",
        "slicesFrom": "files",
        "newestPod": "2026-09-14T08:02:11Z",
        "claimsOfUnknownUsers": 0,
        "uncountedPods": 0,
    }
    (workload,) = cluster["workloads"]
    assert (workload["counts"], workload["replicas"], workload["running"]) == ("2/2", 2, 1)
    assert workload["live"] == {
        "toPlace": 1,
        "begun": [],
        "olderTemplate": 0,
        "leavingPods": 0,
        "bypassedPods": 0,
        "stuckAfterRestart": 0,
        "unknownAfterRestart": 0,
        "stuckReasons": [],
    }


def test_a_fresh_cluster_has_none_of_it() -> None:
    asked = ("plan", "--project", str(FLEET), "--cluster", "lab", "--format", "json")
    (cluster,) = json.loads(run(*asked, folder=ROOT).stdout)["clusters"]
    assert (cluster["scenario"], cluster["live"], cluster["workloads"][0]["running"]) == ("fresh", None, None)


def test_the_same_objects_in_other_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As JSON, in several files, as documents one by one, and from standard input."""
    expected = plan(str(SNAPSHOT)).stdout
    items = yaml.safe_load(TEXT)["items"]
    named = {
        kind: [one for one in items if one["kind"] == kind] for kind in dict.fromkeys(one["kind"] for one in items)
    }
    files = []
    for kind, objects in named.items():
        path = tmp_path / f"{kind}.json"
        listed = {"apiVersion": "v1", "kind": f"{kind}List" if kind == "Pod" else "List", "items": objects}
        path.write_text(json.dumps(listed), encoding="utf-8")
        files.append(str(path))
    assert plan(*reversed(files)).stdout == expected
    single = tmp_path / "single.yaml"
    single.write_text(yaml.safe_dump_all(items), encoding="utf-8")
    assert plan(str(single)).stdout == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert plan("-").stdout == expected


def test_what_is_not_captured_is_not_guessed(tmp_path: Path) -> None:
    """`lab` has no inventory of its own, and its planned nodes aren't there."""
    items = [one for one in yaml.safe_load(TEXT)["items"] if one["kind"] != "Node"]
    ran = plan(write(tmp_path, text=yaml.safe_dump_all(items)))
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr == (
        "poolwright: --live: there is no Node in the files, and the project has no inventory of lab; "
        "capture all of it: kubectl get resourceclaims,pods,resourceslices,nodes -A -o yaml\n"
    )


BAD: dict[str, tuple[Callable[[Path], str], str]] = {
    "a-file-that-is-not-there": (
        lambda folder: str(folder / "none.yaml"),
        "the file can't be read: No such file or directory",
    ),
    "yaml-cut-off": (
        lambda folder: write(folder, text=TEXT[:900]),
        "this is not YAML: did not find expected ','",
    ),
    "words-of-kubectl": (lambda folder: write(folder, text="No resources found\n"), "the document is not a map"),
    "nothing": (lambda folder: write(folder, text=""), "there is no object in it"),
    "an-empty-list": (
        lambda folder: write(folder, text="apiVersion: v1\nkind: List\nitems: []\n"),
        "poolwright: --live: there is no ResourceClaim in the files",
    ),
    "specs": (lambda _: str(FLEET / "poolwright.yaml"), "poolwright: --live: there is no ResourceClaim in the files"),
    "no-object": (lambda folder: write(folder, text='{"a": 1}'), "this is no Kubernetes object"),
    "another-api-version": (
        lambda folder: write(folder, ("apiVersion: resource.k8s.io/v1\n", "apiVersion: resource.k8s.io/v1alpha2\n")),
        'ResourceClaim of apiVersion "resource.k8s.io/v1alpha2"',
    ),
    "what-no-server-stores": (
        lambda folder: write(folder, ("        - name: devices\n", "        - name: other\n")),
        'container "engine" uses the claim "other", which the pod doesn\'t have',
    ),
    "a-claim-that-is-missing": (
        lambda folder: write(folder, ("    name: notebook-gpu\n", "    name: another\n")),
        "poolwright: --live: Pod research/notebook-0 is on h100-lab-a, and its claim research/notebook-gpu isn't in",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name: str, tmp_path: Path) -> None:
    build, said = BAD[name]
    ran = plan(build(tmp_path))
    assert (ran.code, ran.stdout) == (2, "")
    assert said in ran.stderr.splitlines()[0]
    assert "Traceback" not in ran.stderr


USAGE = {
    "no-cluster": (
        ("--live", "a.yaml"),
        "poolwright: --live: whose objects these are isn't said; add --cluster: east, lab, lab-alpha",
    ),
    "no-files": (("--cluster", "lab", "--live"), "Error: --live goes with FILE..."),
    "files-alone": (("--cluster", "lab", "a.yaml"), "Error: --live goes with FILE..."),
    "with-a-loss": (
        ("--cluster", "lab", "--loss", "node", "--live", "a.yaml"),
        "Error: --loss is judged of a cluster that starts empty; leave out --live",
    ),
    "with-slots": (
        ("--cluster", "lab", "--slots", "--live", "a.yaml"),
        "Error: --slots is judged of a cluster that starts empty; leave out --live",
    ),
}


@pytest.mark.parametrize("name", USAGE)
def test_usage(name: str) -> None:
    asked, said = USAGE[name]
    ran = run("plan", "--project", str(FLEET), *asked, folder=ROOT)
    assert (ran.code, ran.stdout, ran.stderr.splitlines()[-1]) == (2, "", said)
