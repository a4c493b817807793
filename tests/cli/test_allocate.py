"""`poolwright allocate`: what it prints, where, and the exit code."""

from __future__ import annotations

import io
import json
import shutil
import sys
from functools import partial
from pathlib import Path

import jsonschema_rs
import pytest

from case_clusters import build_fragmented_two, build_incomplete, build_shared_name
from fleet import ROOT
from given_cluster import (
    WHOLE,
    Json,
    as_file,
    build,
    claim,
    device,
    device_class,
    exactly,
    gpu,
    node,
    pod,
    slice_of,
    template,
)
from poolwright.allocation.answer_schema import answer_schema
from poolwright.allocation.assumptions import Options
from run_poolwright import Ran, run, start

EXAMPLE = ROOT / "examples" / "pending-pod.yaml"
TAINTS = "device taints, with those of 0 DeviceTaintRules"
ORDER = "pods one after the other: by priority, then by age, then as given; claims without a pod come last"
MODELLED = f"modelled: Kubernetes 1.37 with its incubating allocator; what 0 allocated claims hold; {TAINTS}; {ORDER}\n"
GENERAL = (
    "CPU, memory, volumes and ports of nodes leave room for the pod; "
    "slices are current, drivers are healthy, nothing else holds their devices; "
    "nothing is preempted, nodes are not added, admission lets the pods in\n"
)
NO_NODES = "no Node objects were given: nodes are those that something names, without taints and device plugins; "
TWO = [WHOLE, slice_of("node-a", gpu(0))]
ONE_FITS = (
    "ResourceClaim inference/a: allocated on node-a\n"
    "  a gpu: gpu.nvidia.com/node-a/gpu-0\n"
    "\n"
    "1 claim without a pod: 1 allocated\n"
    f"{MODELLED}assumed: {NO_NODES}{GENERAL}"
)
NONE_FITS = (
    "ResourceClaim inference/a: allocated on node-a\n"
    "  a gpu: gpu.nvidia.com/node-a/gpu-0\n"
    "ResourceClaim inference/b: unsatisfied\n"
    "  request gpu: 1 device on 1 node: 1 held by inference/a; 0 left, 1 wanted\n"
    "  not giving devices to claim inference/a (gpu-0) would make room: gpu-0 on node-a\n"
    "\n"
    "2 claims without a pod: 1 allocated, 1 unsatisfied\n"
    f"{MODELLED}assumed: {NO_NODES}{GENERAL}"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(EXAMPLE, tmp_path / "pending-pod.yaml")
    write(tmp_path / "one.json", [*TWO, claim("a")])
    write(tmp_path / "two.json", [*TWO, claim("a"), claim("b")])
    write(tmp_path / "cluster.json", TWO)
    write(tmp_path / "claims.json", [claim("a"), claim("b")])
    return tmp_path


def write(path: Path, objects: list[Json]) -> None:
    path.write_bytes(as_file(objects))


# --- answers ---


def test_everything_has_devices(folder: Path) -> None:
    assert run("allocate", "one.json", folder=folder) == Ran(0, ONE_FITS, "")


def test_something_has_none(folder: Path) -> None:
    assert run("allocate", "two.json", folder=folder) == Ran(1, NONE_FITS, "")


def test_several_files_are_one_cluster(folder: Path) -> None:
    assert run("allocate", "claims.json", "cluster.json", folder=folder) == Ran(1, NONE_FITS, "")
    assert run("allocate", "two.json", "cluster.json", "./two.json", folder=folder) == Ran(1, NONE_FITS, "")


def test_standard_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO((folder / "claims.json").read_bytes()))
    monkeypatch.setattr(sys, "stdin", given)
    assert run("allocate", "-", "cluster.json", folder=folder) == Ran(1, NONE_FITS, "")


def test_documents_and_lists_in_lists(folder: Path) -> None:
    inner = {"apiVersion": "v1", "kind": "ResourceClaimList", "items": [claim("a"), claim("b")]}
    (folder / "mixed.yaml").write_text("---\n".join(json.dumps(one) + "\n" for one in (*TWO, inner)))
    assert run("allocate", "mixed.yaml", folder=folder) == Ran(1, NONE_FITS, "")


def test_the_example(folder: Path) -> None:
    said = (
        "Pod inference/chat-0: unsatisfied\n"
        "  request gpu: 2 devices on 1 node: 2 fail memory >= 80Gi (have 81559Mi (79.65Gi)); 0 left, 1 wanted\n"
        "    hint: memory 81559Mi (79.65Gi) is just short of 80Gi: a card sold by the GB has fewer Gi; ask for 81559Mi"
        " or less\n"
        "  node-b: the node has the taint maintenance:NoSchedule, which the pod doesn't tolerate\n"
        "  node-b has the devices (gpu-0), but isn't open to the pod\n"
        "\n"
        "1 pod: 1 unsatisfied\n"
        "modelled: Kubernetes 1.37 with its incubating allocator; what 0 allocated claims hold; node selectors, "
        f"required node affinity, node taints, cordoned nodes; {TAINTS}; {ORDER}\n"
        "assumed: of the nodes that can serve a pod the first by name is taken; kube-scheduler scores them; "
        f"{GENERAL}"
    )
    assert run("allocate", "pending-pod.yaml", folder=folder) == Ran(1, said, "")


def test_nothing_waits(folder: Path) -> None:
    said = "nothing that was asked about waits: neither a pod that has claims, nor a claim without a pod or devices\n"
    assert run("allocate", "cluster.json", folder=folder) == Ran(0, f"{said}{MODELLED}assumed: {NO_NODES}{GENERAL}", "")


def test_notes_go_to_stderr(folder: Path) -> None:
    write(folder / "shared.json", [*build_shared_name(), build("ConfigMap", "x", spec={}, api="v1")])
    ran = run("allocate", "shared.json", folder=folder)
    assert (ran.code, ran.stdout.count("\n")) == (1, 9)
    assert [line.partition(": ")[2] for line in ran.stderr.splitlines() if not line.startswith(" ")] == [
        "warning: device dra.net/fast/eth0 is published from 2 nodes: node-a, node-b  [device-name-shared]",
        "note: passed over: 1 ConfigMap  [objects-passed-over]",
    ]


def test_a_search_that_is_given_up_is_no_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("poolwright.cli.allocate.Options", partial(Options, max_looks=1000))
    devices = [device(f"d{n:02}", attributes={"half": n // 7}) for n in range(14)]
    asked = claim("all-eight", *(exactly(f"r{n}", "c") for n in range(8)), constraints=[{"matchAttribute": "d/half"}])
    write(folder / "hard.json", [device_class("c"), slice_of("node-a", *devices, driver="d"), asked])
    ran = run("allocate", "hard.json", folder=folder)
    assert (ran.code, ran.stderr) == (2, "")
    assert ran.stdout.startswith(
        "ResourceClaim inference/all-eight: not known\n"
        "  the search on node-a was given up: whether the devices there can be combined isn't known, and kube-scheduler"
        " may run out of time as well\n"
    )


# --- what is asked ---


def test_one_pod_as_if_no_other_were_waiting(folder: Path) -> None:
    ran = run("allocate", "two.json", "--pod", "inference/b", folder=folder)
    assert ran.code == 0
    assert ran.stdout.startswith(
        "ResourceClaim inference/b: allocated on node-a\n  b gpu: gpu.nvidia.com/node-a/gpu-0\n\n1 claim without a pod:"
    )
    assert "; this pod as if no other were waiting\n" in ran.stdout
    assert run("allocate", "two.json", "--pod", "b", folder=folder) == ran


def test_each_alone(folder: Path) -> None:
    ran = run("allocate", "two.json", "--each-alone", folder=folder)
    assert ran.code == 0
    assert "2 claims without a pod: 2 allocated\n" in ran.stdout
    assert "; each pod as if no other were waiting\n" in ran.stdout


def test_one_node(folder: Path) -> None:
    write(folder / "incomplete.json", build_incomplete())
    assert run("allocate", "incomplete.json", "--each-alone", folder=folder).code == 1
    assert run("allocate", "incomplete.json", "--each-alone", "--node", "node-b", folder=folder).code == 0


@pytest.mark.parametrize(
    ("version", "allocator"),
    [("1.34", "experimental"), ("1.35.2", "incubating"), ("v1.36.1", "incubating"), ("1.37", "incubating")],
)
def test_versions(version: str, allocator: str, folder: Path) -> None:
    ran = run("allocate", "one.json", "--kubernetes", version, folder=folder)
    assert (ran.code, ran.stderr) == (0, "")
    minor = ".".join(version.lstrip("v").split(".")[:2])
    assert f"\nmodelled: Kubernetes {minor} with its {allocator} allocator; " in ran.stdout
    compared = f"the allocator of {minor} was compared with upstream only in whether there is an answer; "
    assert (compared in ran.stdout) == (minor in ("1.34", "1.35"))


def test_a_gate_that_is_off(folder: Path) -> None:
    tainted = gpu(0, taints=[{"key": "example.com/broken", "effect": "NoSchedule"}])
    write(folder / "tainted.json", [WHOLE, slice_of("node-a", tainted), claim("a")])
    assert run("allocate", "tainted.json", folder=folder).code == 1
    ran = run("allocate", "tainted.json", "--feature-gates", "DRADeviceTaints=false", folder=folder)
    assert ran.code == 0
    assert "DRADeviceTaints" in ran.stderr  # the field that the server drops


# --- refusals: one line, and no traceback ---

KNOWN = "known: 1.34, 1.35, 1.36, 1.37"
UNSUPPORTED = "is unsupported: its allocator isn't modelled, and it isn't guessed"
REFUSED: dict[tuple[str, ...], str] = {
    ("--kubernetes", "1.33"): f"Kubernetes 1.33 {UNSUPPORTED}; {KNOWN}",
    ("--kubernetes", "1.38"): f"Kubernetes 1.38 {UNSUPPORTED}; {KNOWN}",
    ("--kubernetes", "2.0"): f"Kubernetes 2.0 {UNSUPPORTED}; {KNOWN}",
    ("--kubernetes", "newest"): f"--kubernetes newest: that is no version; {KNOWN}",
    ("--kubernetes", "\x1b[2J1.37"): f"--kubernetes \\x1b[2J1.37: that is no version; {KNOWN}",
    ("--feature-gates", "DRANope=true"): "--feature-gates DRANope: Kubernetes 1.37 has no such gate that decides on "
    "devices",
    ("--feature-gates", "DRAAdminAcces=true"): "--feature-gates DRAAdminAcces: Kubernetes 1.37 has no such gate that "
    "decides on devices; did you mean DRAAdminAccess?",
    ("--feature-gates", "DRAAdminAccess"): "--feature-gates DRAAdminAccess: write NAME=true or NAME=false",
    ("--feature-gates", "DRAAdminAccess=yes"): "--feature-gates DRAAdminAccess=yes: write NAME=true or NAME=false",
    (
        "--feature-gates",
        "DynamicResourceAllocation=false",
    ): "--feature-gates DynamicResourceAllocation: it is locked in Kubernetes 1.37",
    ("--pod", "c"): "--pod c: there is no such pod or claim; known: inference/a, inference/b",
    ("--pod", "other/a"): "--pod other/a: there is no such pod or claim; known: inference/a, inference/b",
    ("--node", "node-z"): "--node node-z: there is no such node; known: node-a",
}


@pytest.mark.parametrize("arguments", REFUSED, ids=" ".join)
def test_what_cannot_be_asked(arguments: tuple[str, ...], folder: Path) -> None:
    ran = run("allocate", "two.json", *arguments, folder=folder)
    assert ran == Ran(2, "", f"poolwright: {REFUSED[arguments]}\n")


FLAT = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c}
spec: {devices: {requests: [REQUEST]}}
"""
BAD: dict[str, tuple[str, str]] = {
    "not-yaml": ("a: [\n", "bad.yaml:2:1: this is not YAML: did not find expected node content"),
    "empty": ("", "bad.yaml: there is no object in it  [objects-empty]"),
    "only-a-comment": ("# none\n", "bad.yaml: there is no object in it  [objects-empty]"),
    "a-text": ("No resources found\n", "bad.yaml:1:1: the document is not a map  [object-unreadable]"),
    "no-kind": ("a: 1\n", "bad.yaml:1:1: this is no Kubernetes object: it has no apiVersion or no kind"),
    "flat-request-in-v1": (
        FLAT.replace("REQUEST", "{name: g, deviceClassName: x}"),
        "bad.yaml:4:29: spec.devices.requests[0] has deviceClassName beside its name  [object-unreadable]",
    ),
    "wrong-type": (
        FLAT.replace("REQUEST", "{name: g, exactly: {deviceClassName: x, count: true}}"),
        "bad.yaml:4:76: spec.devices.requests[0].exactly.count is not a whole number of 64 bits",
    ),
    "too-deep": ("[" * 100_000, "bad.yaml:1:1001: this is not YAML: exceeded maximum nesting depth"),
    "an-alias": ("a: &a [x]\nb: *a\n", "bad.yaml:2:4: the alias *a repeats a value from elsewhere  [yaml-alias]"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read(name: str, folder: Path) -> None:
    text, said = BAD[name]
    (folder / "bad.yaml").write_text(text)
    ran = run("allocate", "bad.yaml", "two.json", folder=folder)
    assert (ran.code, ran.stdout) == (2, "")
    first, *rest = ran.stderr.splitlines()
    assert first.startswith(said)
    assert all(line.startswith("  ") for line in rest)


def test_a_file_that_is_not_there(folder: Path) -> None:
    ran = run("allocate", "none.json", folder=folder)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("none.json: the file can't be read: No such file or directory  [file-unreadable]\n")


def test_one_name_for_two_objects(folder: Path) -> None:
    write(folder / "other.json", [claim("a", exactly("other"))])
    ran = run("allocate", "two.json", "other.json", folder=folder)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(
        'other.json:1:48: ResourceClaim "inference/a" stands a second time and differs; two.json:1:'
    )


# --- texts that nobody vouches for, and too much of everything ---


def test_control_characters_move_no_cursor(folder: Path) -> None:
    """They are refused where they are read as they are, and shown as their escapes."""
    evil = "a\x1b[2J\u202eb\n"
    for text in (evil, json.dumps(evil)):
        (folder / "evil.yaml").write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {text}}}\n")
        for form in ("text", "json"):
            ran = start("allocate", "evil.yaml", "two.json", "--format", form, folder=folder)
            assert ran.code == 2
            assert all(line.isprintable() for line in (ran.stdout + ran.stderr).split("\n"))


def test_names_of_any_letters_are_shown(folder: Path) -> None:
    write(folder / "names.json", [*TWO, claim("käfer-\u3042", exactly("gpu", "kl\u00e4sse"))])
    ran = start("allocate", "names.json", folder=folder)
    assert ran.code == 1
    assert "käfer-\u3042" in ran.stdout


def test_too_much_ends_soon(folder: Path) -> None:
    huge = 2_000_000_000
    many = {
        "replicas": huge,
        "template": {"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}},
    }
    workload = build("Deployment", "chat", spec=many, api="apps/v1", namespace="inference")
    write(folder / "huge.json", [*TWO, template("t"), workload, claim("most", exactly("gpu", count=huge))])
    ran = run("allocate", "huge.json", folder=folder)
    assert (ran.code, ran.stderr) == (1, "")
    assert ran.stdout.startswith(
        "Deployment pod inference/chat-0: allocated on node-a\n"
        "  chat-0-gpu gpu: gpu.nvidia.com/node-a/gpu-0\n"
        "Deployment pod inference/chat-1 and 998 more: unsatisfied\n"
    )
    assert (
        "Deployment inference/chat has yet to make more than 1,000 pods, and the others are not looked at" in ran.stdout
    )


# --- JSON ---


def test_json_names_everything(folder: Path) -> None:
    write(folder / "pods.json", build_fragmented_two(same_pod=False))
    ran = run("allocate", "pods.json", "--format", "json", folder=folder)
    assert (ran.code, ran.stderr) == (1, "")
    found = json.loads(ran.stdout)
    jsonschema_rs.validator_for(answer_schema()).validate(found)
    assert [(one["kind"], one["name"], one["outcome"], one["node"]) for one in found["pods"]] == [
        ("Pod", "a", "allocated", "node-a"),
        ("Pod", "b", "unsatisfied", None),
    ]
    # Claims that were allocated before are no answer of this run.
    assert [(one["name"], one["outcome"]) for one in found["claims"]] == [
        ("a-small", "allocated"),
        ("b-mid", "unsatisfied"),
    ]
    (reason, *mends) = found["pods"][1]["reasons"]
    assert (reason["kind"], reason["asked"], reason["devices"], reason["left"]) == ("devices", 1, 14, 0)
    assert [(part["kind"], part["devices"], part["holders"]) for part in reason["parts"]] == [
        ("clause", 1, []),
        ("clause", 10, []),
        ("counters", 1, ["inference/held-0", "inference/held-1"]),
        ("counters", 1, ["inference/a-small"]),
        ("counters", 1, ["inference/held-5"]),
    ]
    assert [mend["claim"] for mend in mends] == ["inference/a-small", "inference/held-5"]


def test_json_has_the_notes(folder: Path) -> None:
    write(folder / "shared.json", build_shared_name())
    ran = run("allocate", "shared.json", "--format", "json", folder=folder)
    assert (ran.code, ran.stderr) == (1, "")
    (note,) = json.loads(ran.stdout)["notes"]
    assert (note["code"], note["severity"], note["file"]) == ("device-name-shared", "warning", "shared.json")


def test_answers_do_not_depend_on_the_order_of_files(folder: Path) -> None:
    objects = [*TWO, node("node-a"), template("t"), pod("p", templates={"gpu": "t"})]
    answers = set()
    for order in (objects, objects[::-1], [*objects[2:], *objects[:2]]):
        write(folder / "cluster.json", order)
        answers.add(run("allocate", "cluster.json", "--format", "json", folder=folder).stdout)
    assert len(answers) == 1
