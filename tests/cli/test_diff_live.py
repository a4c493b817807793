"""`poolwright diff --live`: both sides judged beside what runs."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from diff_project import BASE, MORE, RENAMED, read

from fleet import PROJECT, edit
from folders import write_files
from run_poolwright import Ran, run

# Somebody's notebook has one device, and a pod of theirs is there.
OTHERS = b"""\
apiVersion: v1
kind: List
items:
- apiVersion: resource.k8s.io/v1
  kind: ResourceClaim
  metadata: {name: notebook, namespace: research, uid: c-1, creationTimestamp: "2026-09-10T15:40:00Z"}
  spec:
    devices:
      requests: [{name: one, exactly: {deviceClassName: interactive-80g, allocationMode: ExactCount, count: 1}}]
  status:
    allocation:
      devices:
        results: [{device: gpu-0, driver: gpu.nvidia.com, pool: gpu-h100-a, request: one}]
      nodeSelector:
        nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [gpu-h100-a]}]}]
    reservedFor: [{name: notebook, resource: pods, uid: p-1}]
- apiVersion: v1
  kind: Pod
  metadata: {name: notebook, namespace: research, uid: p-1, creationTimestamp: "2026-09-10T15:40:00Z"}
  spec:
    nodeName: gpu-h100-a
    resourceClaims: [{name: one, resourceClaimName: notebook}]
    containers: [{name: main, image: "notebook:1"}]
  status: {phase: Running}
"""
CAPTURE = ("--live", "a/inventory/east.yaml", "--live", "others.yaml")
WEST = "    - {name: west, stackName: kubernetes-1-36, destination: {name: west}}\n"
TWO = edit(BASE, PROJECT, ("  clusters:\n", f"  clusters:\n{WEST}"))
SAME = ["chat/chat-70b 2/2 -> 2/2", "chat/chat-70b-next 0-1/1 -> 0-1/1"]


def write_sides(folder: Path) -> Path:
    write_files(folder, {"others.yaml": OTHERS})
    write_files(folder / "a", BASE)
    write_files(folder / "b", MORE)
    return folder


def list_live(*arguments: str, folder: Path) -> list[str]:
    """Verdicts beside what runs."""
    rows = read(*arguments, folder=folder)[1].workloads
    return [
        f"{row.name} {row.before and row.before.counts} -> {row.after and row.after.counts}"
        for row in rows
        if row.scenario == "live"
    ]


def test_both_sides_are_judged_beside_what_runs(tmp_path: Path) -> None:
    assert list_live("a", "b", *CAPTURE, folder=write_sides(tmp_path)) == [
        "chat/chat-70b 2/2 -> at most 3/4",
        "chat/chat-70b-next 0-1/1 -> at most 1/3",
    ]
    assert list_live("a", "./a", *CAPTURE, folder=tmp_path) == SAME
    assert list_live("a", "b", folder=tmp_path) == []


def test_standard_input_is_for_both_sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sides(tmp_path)
    both = BASE["inventory/east.yaml"] + b"\n---\n" + OTHERS
    by_file = read("a", "b", *CAPTURE, folder=tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(both)))
    assert read("a", "b", "--live", "-", folder=tmp_path) == by_file


UNREADABLE = """\
gone.yaml: the file can't be read: No such file or directory  [file-unreadable]
  why  objects are judged together, so none is judged without the others (poolwright check)
  fix  name files that hold manifests, or - for standard input
"""
PARTIAL = (
    "poolwright: --live: there is no ResourceClaim in the files, so what runs and what is held isn't known; "
    "capture all of it: kubectl get resourceclaims,pods,resourceslices,nodes -A -o yaml\n"
)
EMPTY = """\
empty.yaml: there is no object in it  [objects-empty]
  why  whatever was to print objects most likely failed, and nothing would look like nothing wrong (poolwright check)
  fix  see what the command before the pipe said, or leave the file out
"""
BROKEN = """\
./broken/specs/placements.yaml:9:22: pool "h100-full" has no device class "interactive-80g"  [dangling-reference]
"""
WHOSE = "poolwright: --live: whose objects these are isn't said; add --cluster: east, west\n"
UNKNOWN = "poolwright: --cluster: there is no such cluster; known: {}\n"
REFUSED: dict[str, tuple[tuple[str, ...], str]] = {
    "no-such-file": (("a", "--live", "gone.yaml"), UNREADABLE),
    "no-object": (("a", "--live", "others.yaml", "--live", "empty.yaml"), EMPTY),
    "not-all-of-it": (("a", "--live", "a/inventory/east.yaml"), PARTIAL),
    "no-such-cluster": (("a", *CAPTURE, "--cluster", "eats"), UNKNOWN.format("east")),
    "one-of-several": (("two", *CAPTURE), WHOSE),
    "one-of-several-that-is-unknown": (("two", *CAPTURE, "--cluster", "north"), UNKNOWN.format("east, west")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_captures_that_are_refused(name: str, tmp_path: Path) -> None:
    """Also where nothing differs between the two sides."""
    write_files(write_files(write_sides(tmp_path), {"empty.yaml": b""}) / "two", TWO)
    (head, *options), said = REFUSED[name]
    assert run("diff", "a", f"./{head}", *options, folder=tmp_path) == Ran(2, "", said)


def test_the_named_cluster_of_several(tmp_path: Path) -> None:
    """Which one that is may stand on one side alone."""
    write_files(write_sides(tmp_path) / "two", TWO)
    assert list_live("two", "./two", *CAPTURE, "--cluster", "east", folder=tmp_path) == SAME
    assert list_live("two", "a", *CAPTURE, "--cluster", "east", folder=tmp_path) == SAME
    assert list_live("a", "two", *CAPTURE, "--cluster", "west", folder=tmp_path) == []


def test_a_side_is_named_where_it_is_wrong_and_a_capture_has_none(tmp_path: Path) -> None:
    write_files(write_sides(tmp_path) / "broken", RENAMED)
    ran = run("diff", "a", "./broken", *CAPTURE, folder=tmp_path)
    assert (ran.code, ran.stdout, ran.stderr.splitlines(keepends=True)[0]) == (2, "", BROKEN)
