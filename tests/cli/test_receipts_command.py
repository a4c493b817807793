"""`poolwright receipts` and `receipts compare`: what they print, and one message where there is no answer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema_rs
import pytest

from fleet import FLEET
from given_cluster import WHOLE, as_file, claim, exactly, gpu, holds, node, slice_of
from poolwright.receipts.comparison import comparison_schema
from poolwright.receipts.document import receipts_schema
from poolwright.snapshots.build_snapshot import build_snapshot
from poolwright.snapshots.snapshot import LAYERS, Header, render_snapshot
from poolwright.specs.document import parse_documents
from run_poolwright import Ran, run

OBJECTS = (
    node("node-a"),
    WHOLE,
    slice_of("node-a", gpu(0), gpu(1)),
    claim("rag-0", exactly("gpu"), held=(holds("gpu-0"),), node="node-a", uid="c0"),
)
AFTER = (*OBJECTS[:2], slice_of("node-a", {**gpu(1), "name": "gpu-0"}, generation=2), OBJECTS[3])
HEADER = Header(
    cluster="lab",
    captured_at="2026-10-02T09:00:00Z",
    kubernetes_version="v1.36.2",
    resource_versions={},
    layers=dict.fromkeys(LAYERS, "absent"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures, and receipts of the example's smallest cluster."""
    folder = tmp_path_factory.mktemp("receipts")
    shutil.copytree(FLEET, folder / "fleet", ignore=shutil.ignore_patterns("overlays"))
    (folder / "now.json").write_bytes(as_file(OBJECTS))
    (folder / "later.json").write_bytes(as_file(AFTER))
    (folder / "snapshot.jsonl").write_bytes(
        render_snapshot(build_snapshot(HEADER, parse_documents(as_file(OBJECTS), "capture")))
    )
    (folder / "other.json").write_text('{"kind": "Receipts"}')
    planned = run("receipts", "--project", "fleet", "--cluster", "lab", "--format", "json", folder=folder)
    assert (planned.code, planned.stderr) == (0, "")
    (folder / "planned.json").write_text(planned.stdout)
    return folder


def test_a_project_has_planned_receipts(folder: Path) -> None:
    document = json.loads((folder / "planned.json").read_bytes())
    jsonschema_rs.validator_for(receipts_schema()).validate(document)
    assert [(one["unit"], one["node"], len(one["devices"])) for one in document["receipts"]] == [
        ("chat-70b", "h100-0", 4),
        ("chat-70b", "h100-0", 4),
    ]
    # Planned nodes: nothing that looks captured.
    assert {one["uuid"] for row in document["receipts"] for one in row["devices"]} == {None}
    assert {row["requests"][0]["price"].partition(":")[0] for row in document["receipts"]} == {"admitted"}
    assert [pin["component"] for pin in document["pins"]] == sorted(pin["component"] for pin in document["pins"])


def test_receipts_that_were_made_are_read_back(folder: Path) -> None:
    assert run("receipts", "--from", "planned.json", "--format", "json", folder=folder) == Ran(
        0, (folder / "planned.json").read_text(), ""
    )


def test_a_snapshot_says_its_cluster_and_when(folder: Path) -> None:
    assert run("receipts", "--live", "snapshot.jsonl", folder=folder) == Ran(
        0,
        "lab: 1 observed receipt, captured 2026-10-02T09:00:00Z; 1 device is nobody's\n"
        "  claim:c0  claim inference/rag-0  node-a: gpu-0\n"
        "  nobody's: gpu.nvidia.com/node-a/gpu-1\n",
        "",
    )


def test_a_project_beside_says_what_a_cluster_is_pinned_to(folder: Path) -> None:
    ran = run(
        "receipts", "--live", "now.json", "--project", "fleet", "--cluster", "lab", "--format", "json", folder=folder
    )
    document = json.loads(ran.stdout)
    jsonschema_rs.validator_for(receipts_schema()).validate(document)
    assert (ran.code, document["cluster"], document["statement"]) == (0, "lab", "observed")
    assert "kubernetes" in [pin["component"] for pin in document["pins"]]


def test_an_answer_can_be_checked_against_the_slices(folder: Path) -> None:
    ran = run("receipts", "--live", "now.json", "--device", "GPU-0000", folder=folder)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.splitlines() == [
        "unnamed, observed: claim inference/rag-0",
        "  claim:c0",
        "  prepared: not observed, unprepared: not observed",
        "  device gpu.nvidia.com/node-a/gpu-0 for gpu (full): uuid GPU-0000, slice node-a-gpu.nvidia.com, generation "
        "1, 2 on the node would do as well",
        "  why this node: node-a was chosen by the scheduler; which others could have served it isn't known without "
        "its pod",
        "  why this device: gpu-0 meets",
        '    class gpu.nvidia.com: device.driver == "gpu.nvidia.com"   [driver = gpu.nvidia.com]',
        '    class gpu.nvidia.com: device.attributes["gpu.nvidia.com"].type == "gpu"   [gpu.nvidia.com/type = gpu]',
        "  candidates for gpu (class gpu.nvidia.com): on the node 2 devices, 2 selected, 2 of them free, 2 with "
        "counters left, 2 with no taint in the way; on 1 open node 2 devices, 2 selected, 2 of them free, 2 with "
        "counters left, 2 with no taint in the way",
        "  price on class gpu.nvidia.com: not priced",
        "  tie rule: of the devices that are left on the node the first that meet all requests and constraints "
        "together: pools by driver and name, those with binding conditions last, devices as their slices list them",
        "  if lost, gpu-0: without this device (1 device) every workload is served as before",
        "  if lost, node node-a: without this node (2 devices): inference/rag-0 (ResourceClaim): no replica finds any, "
        "1 stays without (1/1 before); replicas without in all: 1, 0 before",
    ]


def test_nothing_found_is_a_no(folder: Path) -> None:
    assert run("receipts", "--live", "now.json", "--claim", "rag-1", folder=folder) == Ran(
        1, "no receipt has claim rag-1; searched: 1 observed of unnamed; near: rag-0\n", ""
    )


COMPARED = {
    "before-and-after": (
        ("now.json", "later.json"),
        1,
        "unnamed, before against after: 1 differs\n"
        "  differs: inference/rag-0: moved: the name gpu-0 is now another card (the former gpu-1, GPU-0001); the card "
        "that it had is gone\n"
        "action: drain node-a, release inference/rag-0, allocate again, new receipts\n",
    ),
    "the-same": (
        ("snapshot.jsonl", "--live", "now.json"),
        0,
        "unnamed, before against after: 1 fine\n  fine: inference/rag-0: intact: gpu-0 is the same card\n",
    ),
}


@pytest.mark.parametrize("name", COMPARED)
def test_two_are_compared(name: str, folder: Path) -> None:
    arguments, code, said = COMPARED[name]
    assert run("receipts", "compare", *arguments, folder=folder) == Ran(code, said, "")
    document = json.loads(run("receipts", "compare", *arguments, "--format", "json", folder=folder).stdout)
    jsonschema_rs.validator_for(comparison_schema()).validate(document)


def test_a_plan_is_compared_with_what_runs(folder: Path) -> None:
    ran = run("receipts", "compare", "planned.json", "--live", "snapshot.jsonl", folder=folder)
    assert (ran.code, ran.stderr) == (1, "")
    assert ran.stdout.splitlines()[0] == "lab, planned against observed: 2 differs, 1 fine"


REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "an-unknown-cluster": (
        ("--project", "fleet", "--cluster", "west"),
        "poolwright: --cluster: there is no such cluster; known: east, lab, lab-alpha\n",
    ),
    "json-of-several": (
        ("--project", "fleet", "--format", "json"),
        "poolwright: --cluster: JSON is of one cluster; name it: east, lab, lab-alpha\n",
    ),
    "no-receipts": (
        ("--from", "other.json"),
        "poolwright: receipts: other.json: it is no Receipts of poolwright.dev/v1alpha1: Object missing required field "
        "`apiVersion`\n",
    ),
    "of-another-cluster": (
        ("--from", "planned.json", "--cluster", "east"),
        "poolwright: --cluster: planned.json is of the cluster lab\n",
    ),
    "a-snapshot-of-another-cluster": (
        ("--live", "snapshot.jsonl", "--cluster", "east"),
        "poolwright: receipts: snapshot.jsonl is of the cluster lab, not of east\n",
    ),
    "a-snapshot-and-more": (
        ("--live", "snapshot.jsonl", "--live", "now.json"),
        "poolwright: receipts: snapshot.jsonl is a Snapshot, which is a whole cluster by itself\n",
    ),
    "a-version-that-nobody-models": (
        ("--live", "now.json", "--kubernetes", "1.20"),
        "poolwright: receipts: the allocator of Kubernetes 1.20 isn't modelled; known: 1.34, 1.35, 1.36, 1.37\n",
    ),
    "no-such-file": (("--from", "none.json"), "poolwright: none.json: No such file or directory\n"),
    "a-plan-is-second": (
        ("compare", "now.json", "planned.json", "--cluster", "lab"),
        "poolwright: receipts compare: the second is planned: what is there is compared with a plan, or with what was "
        "there\n",
    ),
    "two-clusters": (
        ("compare", "planned.json", "now.json", "--cluster", "east"),
        "poolwright: receipts compare: one is of the cluster lab, the other of east\n",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_answered_is_said_once(name: str, folder: Path) -> None:
    arguments, said = REFUSED[name]
    assert run("receipts", *arguments, folder=folder) == Ran(2, "", said)


USAGE = {
    "one-alone": (("compare", "now.json"), "two are compared: name FIRST and SECOND, or FIRST and --live FILE"),
    "options-in-front": (("--claim", "c", "compare", "a", "b"), "options of `compare` stand behind it"),
    "two-sources": (("--from", "a", "--live", "b"), "--from and --live are read one at a time"),
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_use_is_said(name: str, folder: Path) -> None:
    arguments, said = USAGE[name]
    ran = run("receipts", *arguments, folder=folder)
    assert (ran.code, ran.stdout, ran.stderr.splitlines()[-1]) == (2, "", f"Error: {said}")
