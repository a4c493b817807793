"""`poolwright diff` of plain manifests: folders, and what Git has of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from diff_project import Said, read, say

from folders import write_files
from made_repository import commit, git, make_repository
from run_poolwright import Ran, run

CLAIM = b"""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: talk, namespace: models}
spec: {devices: {requests: [{name: card, exactly: {deviceClassName: card.example.com}}]}}
"""
SLICE = b"""\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: one-cards}
spec:
  driver: card.example.com
  nodeName: one
  pool: {name: one, generation: 1, resourceSliceCount: 1}
  devices:
    - name: card-0
      attributes: {kind: {string: whole}}
"""
CLASS = b"""\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata:
  name: card.example.com
  OWNER
spec:
  selectors: [{cel: {expression: device.driver == 'card.example.com'}}]
"""
CHART = CLASS.replace(b"OWNER", b"labels: {app.kubernetes.io/managed-by: Helm}")
OPERATOR = CLASS.replace(b"OWNER", b"ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: operator, uid: u-1}]")
FIRST = {"cluster.yaml": SLICE, "claims/talk.yaml": CLAIM, "classes.yaml": CHART}
PODS = b"""\
apiVersion: apps/v1
kind: Deployment
metadata: {name: engine, namespace: models}
spec:
  replicas: 1
  selector: {matchLabels: {app: engine}}
  template:
    metadata: {labels: {app: engine}}
    spec:
      resourceClaims: [{name: card, resourceClaimTemplateName: NAME}]
      containers: [{name: engine, image: "engine:1", resources: {claims: [{name: card}]}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: big-one-card, namespace: models}
spec: {spec: {devices: {requests: [{name: card, exactly: {deviceClassName: card.example.com}}]}}}
"""


def make_history(folder: Path, *states: Mapping[str, bytes]) -> Path:
    make_repository(folder)
    for number, files in enumerate(states):
        for path in [one for one in folder.iterdir() if one.suffix == ".yaml"]:
            path.unlink()
        commit(folder, files, f"state {number}")
    return folder


def split_owners(folder: Path) -> Path:
    without = {path: data for path, data in FIRST.items() if path != "classes.yaml"}
    return make_history(folder, FIRST, without, {**without, "classes.yaml": OPERATOR})


# --- a class that goes in one commit and comes back in the next, of another owner ---

GONE = ("fit-worse", "removed-in-use", "shortfall-grew", "class-lost-devices")
OWNERS = {
    "both-ends-are-fine-and-its-owner-is-another": (
        ("HEAD~2", "HEAD"),
        Said(0, "HEAD~2", "HEAD", (), ("owner-changed",)),
    ),
    "the-middle-isn-t": (
        ("HEAD~2", "HEAD~1"),
        Said(1, "HEAD~2", "HEAD~1", ("models/talk (ResourceClaim) 1/1 -> ?/1",), GONE),
    ),
    "from-the-middle-it-is-mended": (
        ("HEAD~1",),
        Said(0, "HEAD~1", "the working folder", ("models/talk (ResourceClaim) ?/1 -> 1/1",), ()),
    ),
    "each-commit-shows-the-middle": (
        ("HEAD~2", "HEAD", "--each-commit"),
        Said(1, "HEAD~2", "HEAD", (), ("commit-unsafe", "owner-changed")),
    ),
}


@pytest.mark.parametrize("name", OWNERS)
def test_a_class_whose_owner_changes_in_two_commits(name: str, tmp_path: Path) -> None:
    arguments, said = OWNERS[name]
    assert say(*arguments, folder=split_owners(tmp_path / "r")) == said


def test_the_commit_between_is_named(tmp_path: Path) -> None:
    folder = split_owners(tmp_path / "r")
    report = read("HEAD~2", "HEAD", "--each-commit", folder=folder)[1]
    problem = (
        "objects/models/talk (ResourceClaim) was always-fits 1/1 and is error ?/1, on an empty cluster: node one: "
        "claim models/talk, request card: could not retrieve device class card.example.com: it does not exist "
        "[fit-worse]"
    )
    (commit,) = report.commits
    assert (commit.commit, commit.subject) == (git(folder, "rev-parse", "HEAD~1"), "state 1")
    assert (commit.is_safe, commit.problems[0]) == (False, problem)
    finding = report.findings[0]
    assert finding.what.startswith(f"commit {commit.commit[:12]} (state 1) isn't safe by itself: {problem}; ")
    assert (finding.code, finding.file) == ("commit-unsafe", ".")


# --- a prefix that renames a template, and not what names it ---


def test_a_prefix_leaves_a_reference_behind(tmp_path: Path) -> None:
    for name, template in (("before", b"big-one-card"), ("after", b"one-card")):
        files = {"a.yaml": PODS.replace(b"NAME", template), "c.yaml": CHART, "s.yaml": SLICE}
        write_files(tmp_path / name, files)
    code, report = read("./before", "./after", folder=tmp_path)
    found = [one for one in report.findings if one.code == "dangling-claim"]
    assert code == 1
    assert [(one.severity, one.file, one.line, one.what, one.fix) for one in found] == [
        (
            "error",
            "a.yaml",
            10,
            'Deployment "engine" names ResourceClaimTemplate "one-card", which is not among these objects',
            'write "big-one-card" (Kustomize\'s namePrefix and nameSuffix rename a ResourceClaimTemplate but not what '
            "names it)",
        )
    ]
    assert "dangling-claim" not in say("./after", "./before", folder=tmp_path).codes


# --- manifests without the devices of any cluster ---


def test_without_devices_no_workload_is_said_not_to_fit(tmp_path: Path) -> None:
    """What a chart renders has no ResourceSlices: that says nothing about the cluster that it goes to."""
    pods = PODS.replace(b"NAME", b"big-one-card")
    write_files(tmp_path / "before", {"c.yaml": CHART})
    write_files(tmp_path / "after", {"a.yaml": pods, "c.yaml": CHART})
    write_files(tmp_path / "later", {"a.yaml": pods.replace(b"engine:1", b"engine:2"), "c.yaml": CHART})
    code, report = read("./before", "./after", folder=tmp_path)
    found = [(one.code, one.severity, one.what) for one in report.findings if one.code != "image-floating"]
    what = "objects/models/engine is new and undecided 0-?/2, on an empty cluster: devices, none of which was given"
    assert (code, found, report.shortfalls) == (0, [("fit-worse", "warning", what)], ())
    code, report = read("./after", "./later", folder=tmp_path)
    assert (code, [one.name for one in report.restarts], report.rollouts) == (0, ["models/engine"], ())
    # An error is one wherever the manifests go.
    write_files(tmp_path / "broken", {"a.yaml": pods})
    code, report = read("./after", "./broken", folder=tmp_path)
    assert (code, report.workloads[0].change) == (1, "worse")


# --- where manifests stand ---


def test_manifests_in_any_folder_of_a_repository(tmp_path: Path) -> None:
    """Of a commit as on disk: folders that have a meaning in a project have none here."""
    folder = make_history(tmp_path / "r", {f"overlays/prod/{path}": data for path, data in FIRST.items()})
    nothing = Said(0, "HEAD", "the working folder")
    assert say("HEAD", folder=folder) == nothing
    assert say("HEAD", folder=folder / "overlays") == nothing
    assert say("HEAD", "--project", "overlays/prod", folder=folder) == nothing
    assert say("HEAD", "./overlays", folder=folder) == nothing._replace(head="./overlays")


def test_two_sides_need_not_have_the_same_files(tmp_path: Path) -> None:
    write_files(tmp_path / "a", FIRST)
    write_files(tmp_path / "b", {"all.yml": b"---\n".join(FIRST.values()), "README.md": b"a: ["})
    assert say("a", "b", folder=tmp_path) == Said(0, "a", "b")


KUSTOMIZED = """\
./b/kustomization.yaml: the folder is to be built by Kustomize, and its files aren't what is applied  [side-unbuilt]
  why  prefixes, patches and generators change names and references, which is what would be compared (poolwright diff)
  fix  build both sides first: kubectl kustomize FOLDER > before/objects.yaml, and compare the two results
"""
EMPTY = """\
./b: there is neither a poolwright.yaml nor a manifest in it  [objects-empty]
  why  nothing would look like everything being removed, or like nothing having changed (poolwright diff)
  fix  name a revision or a folder that holds a project, or manifests (.yaml, .yml)
"""
BROKEN = """\
./b/deep/x.yaml:2:1: this is not YAML: did not find expected node content, while parsing a flow node  [yaml-syntax]
  why  nothing of a file is used unless all of it can be read (YAML 1.2.2)
  fix  mend the syntax here or on a line above: often an indent, a missing bracket, or a colon in plain text
"""
LIVE = "poolwright: --live: plain manifests are judged by what is in them; put what runs beside them\n"
REFUSED: dict[str, tuple[Mapping[str, bytes], tuple[str, ...], str]] = {
    "a-kustomization": ({**FIRST, "kustomization.yaml": b"resources: [classes.yaml]\n"}, (), KUSTOMIZED),
    "nothing-in-it": ({"README.md": b"x\n"}, (), EMPTY),
    "no-object-in-its-files": ({"a.yaml": b"---\n# nothing\n"}, (), EMPTY),
    "no-yaml": ({**FIRST, "deep/x.yaml": b"a: ["}, (), BROKEN),
    "live": (FIRST, ("--live", "a/cluster.yaml"), LIVE),
}


@pytest.mark.parametrize("name", REFUSED)
def test_folders_that_are_refused(name: str, tmp_path: Path) -> None:
    files, options, said = REFUSED[name]
    write_files(tmp_path / "a", FIRST)
    write_files(tmp_path / "b", files)
    assert run("diff", "a", "./b", *options, folder=tmp_path) == Ran(2, "", said)
