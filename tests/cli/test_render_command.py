"""`poolwright render`: what it says and writes, whole, in each state that a tree can be in."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from fleet import (
    CONFIG,
    PLACEMENTS,
    SMALL_FLEET,
    copy_small_fleet,
    edit,
    read_small_fleet,
    render_small_tree,
    render_tree,
)
from fleet_variants import large_fleet
from folders import read_files, write_files
from poolwright.files.disk import Disk
from real_kustomize import build_for_real
from run_poolwright import Ran, run

TREE = render_small_tree()
NEW = """\
new        overlays/base/chat-70b/2.3.0  (5 files)
new        overlays/base/chat-70b/2.4.0  (5 files)
new        overlays/east/argocd  (6 files)
new        overlays/east/chat-70b  (10 files)
new        overlays/east/chat-70b-next  (10 files)
new        overlays/east/platform  (7 files)
6 folders: 6 written, 0 already current
"""
CURRENT = "6 folders: 0 written, 6 already current\n"
DEPLOYMENT = "overlays/east/chat-70b/decisions/deployment.yaml"


def read_overlays(project: Path) -> dict[str, bytes]:
    return {path: data for path, data in read_files(project).items() if path.startswith("overlays/")}


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    """A copy of the example, rendered."""
    return copy_small_fleet(tmp_path)


def test_a_new_tree_and_then_a_current_one(tmp_path: Path) -> None:
    project = write_files(tmp_path, read_small_fleet())
    assert run("render", folder=project) == Ran(0, NEW, "")
    assert read_overlays(project) == TREE
    assert run("render", folder=project) == Ran(0, CURRENT, "")
    assert run("render", "--check", folder=project) == Ran(0, "6 folders are what the specs give\n", "")
    assert read_files(project) == {**read_small_fleet(), **TREE}


WHY = "  why  Argo CD would apply something other than what the specs say\n"
FIX = "  fix  run `poolwright render` and commit what it writes\n"


def stale(project: Path) -> None:
    write_files(
        project, edit(read_small_fleet(), PLACEMENTS, ("minReplicas: 1\n  surge: 0", "minReplicas: 2\n  surge: 0"))
    )


def unrendered(project: Path) -> None:
    shutil.rmtree(project / "overlays" / "east" / "platform")


def unplaced(project: Path) -> None:
    text = (project / PLACEMENTS).read_text()
    (project / PLACEMENTS).write_text(text[: text.index("---")])


def interrupted(project: Path) -> None:
    (project / "overlays/east/platform/poolwright-manifest.json").unlink()
    (project / "overlays/east/platform/namespaces.yaml").unlink()


def edited(project: Path) -> None:
    with (project / DEPLOYMENT).open("a") as file:
        file.write("# mine\n")


def foreign(project: Path) -> None:
    (project / "overlays/east/platform/mine.yaml").write_text("a: b\n")


# What happened to the tree; what --check says on stderr; what render then says, and whether the tree is wanted again.
STATES = {
    "stale": (
        stale,
        "overlays/east/chat-70b-next: this folder isn't what the specs give; files to write or remove: 3  "
        "[folder-stale]\n" + WHY + FIX,
        Ran(
            0,
            "changed    overlays/east/chat-70b-next  (3 files)\n6 folders: 1 written, 5 already current\n",
            "",
        ),
    ),
    "a-folder-not-rendered": (
        unrendered,
        "overlays/east/platform: this folder isn't rendered  [folder-absent]\n" + WHY + FIX,
        Ran(0, "new        overlays/east/platform  (7 files)\n6 folders: 1 written, 5 already current\n", ""),
    ),
    "a-folder-that-nothing-gives": (
        unplaced,
        "overlays/east/argocd: this folder isn't what the specs give; files to write or remove: 3  [folder-stale]\n"
        + WHY
        + FIX
        + "overlays/east/chat-70b-next: nothing in the specs gives this folder any more  [folder-stale]\n"
        + WHY
        + FIX,
        Ran(
            0,
            "changed    overlays/east/argocd  (3 files)\nremoved    overlays/east/chat-70b-next  (10 files)\n"
            "6 folders: 2 written, 4 already current\n",
            "",
        ),
    ),
    "interrupted": (
        interrupted,
        "overlays/east/platform: a render of this folder was stopped before its end  [folder-interrupted]\n"
        + WHY
        + FIX,
        Ran(0, "healed     overlays/east/platform  (2 files)\n6 folders: 1 written, 5 already current\n", ""),
    ),
    "edited": (
        edited,
        f"{DEPLOYMENT}: this rendered file was changed by hand  [folder-edited]\n"
        "  why  rendering would lose the change, so the whole folder is left as it is (poolwright's tree on disk)\n"
        "  fix  restore the file and change the specs, or lose the change with `poolwright render --discard-edits`\n",
        None,
    ),
    "foreign": (
        foreign,
        "overlays/east/platform/mine.yaml: poolwright didn't write this file  [folder-foreign]\n"
        "  why  a rendered folder holds what its manifest lists and nothing else; a file not in it is never touched "
        "(poolwright's tree on disk)\n"
        "  fix  move it out of overlays/, or delete it\n",
        None,
    ),
}


@pytest.mark.parametrize("name", STATES)
def test_a_tree_that_is_not_as_wanted(name: str, fleet: Path) -> None:
    happen, problem, rendered = STATES[name]
    happen(fleet)
    before = read_files(fleet)
    assert run("render", "--check", folder=fleet) == Ran(1, "", problem)
    assert read_files(fleet) == before
    assert run("render", folder=fleet) == (rendered or Ran(1, "", problem))
    if rendered:
        assert read_overlays(fleet) == render_tree({k: v for k, v in before.items() if not k.startswith("overlays/")})
    else:
        assert read_files(fleet) == before


STRANGE = {
    "a-name-of-two-lines": ("overlays/east/a\nb", "overlays/east/a\\nb"),
    "a-name-with-an-escape-sequence": ("overlays/a\x1b[2J", "overlays/a\\x1b[2J"),
    "a-name-that-is-not-utf-8": ("overlays/east/a\udcff", "overlays/east/a\\udcff"),
    "a-folder-that-holds-units": ("overlays/east", "overlays/east"),
}


@pytest.mark.parametrize("check", [False, True], ids=["render", "check"])
@pytest.mark.parametrize("name", STRANGE)
def test_a_manifest_where_none_can_be(name: str, check: bool, fleet: Path) -> None:
    """It is said, left alone, and keeps nothing else from being written."""
    path, shown = STRANGE[name]
    manifest = (fleet / "overlays/east/platform/poolwright-manifest.json").read_bytes()
    write_files(fleet, {f"{path}/poolwright-manifest.json": manifest})
    stale(fleet)
    before = read_files(fleet)
    said = (
        f"{shown}: a manifest of poolwright's stands in a folder that can't be one of its own  [folder-foreign]\n"
        "  why  what is listed there can't be told from files of yours, so the folder is left as it is "
        "(poolwright's tree on disk)\n"
        "  fix  delete the manifest (poolwright-manifest.json), or the folder\n"
    )
    if check:
        ran = run("render", "--check", folder=fleet)
        assert (ran.code, ran.stdout) == (1, "")
        assert sorted(ran.stderr.splitlines()) == sorted((said + STATES["stale"][1]).splitlines())
        assert read_files(fleet) == before
    else:
        done = "changed    overlays/east/chat-70b-next  (3 files)\n"
        assert run("render", folder=fleet) == Ran(1, done, said)
        assert read_files(fleet).keys() == before.keys()
        assert read_files(fleet / path)["poolwright-manifest.json"] == manifest


def test_edits_are_given_up_when_asked_to(fleet: Path) -> None:
    edited(fleet)
    said = "overwritten overlays/east/chat-70b  (2 files)\n6 folders: 1 written, 5 already current\n"
    assert run("render", "--discard-edits", folder=fleet) == Ran(0, said, "")
    assert read_overlays(fleet) == TREE


def test_one_edited_folder_keeps_no_other_from_being_written(fleet: Path) -> None:
    edited(fleet)
    stale(fleet)
    assert run("render", folder=fleet) == Ran(
        1, "changed    overlays/east/chat-70b-next  (3 files)\n", STATES["edited"][1]
    )


def test_removing_a_placement_removes_exactly_its_folder(fleet: Path) -> None:
    notes = write_files(fleet, {"overlays/notes.md": b"mine", "custom/east/chat-70b-next/a.yaml": b"mine"})
    before = read_files(notes)
    unplaced(fleet)
    assert run("render", folder=fleet).code == 0
    argocd = "overlays/east/argocd"
    gone = {path for path in before if path.startswith("overlays/east/chat-70b-next/")}
    gone.add(f"{argocd}/east-chat-70b-next.yaml")  # its Application
    changed = {PLACEMENTS, f"{argocd}/kustomization.yaml", f"{argocd}/poolwright-manifest.json"}
    assert before.keys() - read_files(fleet).keys() == gone
    assert not (fleet / "overlays/east/chat-70b-next").exists()
    assert {p: d for p, d in before.items() if p not in gone | changed} == {
        p: d for p, d in read_files(fleet).items() if p not in changed
    }


def test_one_cluster_is_its_units_and_their_bases(tmp_path: Path) -> None:
    project = write_files(tmp_path, large_fleet())
    said = """\
new        overlays/base/chat-70b/2.3.0  (5 files)
new        overlays/base/embed/1.0.0-rc.1+build-  (5 files)
new        overlays/west/argocd  (6 files)
new        overlays/west/chat-70b  (10 files)
new        overlays/west/embed-with-a-name-of-forty-characters-xx  (10 files)
new        overlays/west/platform  (7 files)
6 folders: 6 written, 0 already current
"""
    assert run("render", "--cluster", "west", folder=project) == Ran(0, said, "")
    whole = render_tree(large_fleet())
    wanted = ("overlays/west/", "overlays/base/chat-70b/2.3.0/", "overlays/base/embed/")
    assert read_overlays(project) == {path: data for path, data in whole.items() if path.startswith(wanted)}
    assert run("render", "--cluster", "east", folder=project).code == 0
    assert read_overlays(project) == whole


UNKNOWN_CLUSTER = """\
poolwright.yaml:11:5: the project has no cluster "north"  [cluster-unknown]
  at   spec.clusters
  why  poolwright.yaml names every cluster that is rendered for (poolwright.dev/v1alpha1)
  fix  name one of: east
"""


def test_an_unknown_cluster() -> None:
    assert run("render", "--check", "--cluster", "north", folder=SMALL_FLEET) == Ran(2, "", UNKNOWN_CLUSTER)


WRONG = {
    "dangling-reference": (PLACEMENTS, "poolName: h100-full", "poolName: h100"),
    "model-unreadable": (CONFIG, '"architectures"', "architectures"),  # its claims would ask for no memory
}


@pytest.mark.parametrize("code", WRONG)
def test_wrong_specs_render_nothing(code: str, tmp_path: Path) -> None:
    file, before, after = WRONG[code]
    project = write_files(tmp_path, edit(read_small_fleet(), file, (before, after)))
    ran = run("render", folder=project)
    assert (ran.code, ran.stdout) == (2, "")
    assert f"[{code}]" in ran.stderr
    assert not (project / "overlays").exists()


def test_another_place_to_write_to(tmp_path: Path) -> None:
    project = write_files(tmp_path / "project", read_small_fleet())
    out = ("--out", "../out/deep")
    assert run("render", *out, folder=project) == Ran(0, NEW, "")
    assert read_files(tmp_path / "out" / "deep") == TREE
    assert run("render", "--check", *out, folder=project) == Ran(0, "6 folders are what the specs give\n", "")
    assert read_files(project) == read_small_fleet()


def test_a_place_that_cannot_be_written_to() -> None:
    assert run("render", "--out", "/dev/null/out", folder=SMALL_FLEET) == Ran(
        2, "", "poolwright: /dev/null/out: Not a directory\n"
    )


def test_verify_builds_every_folder_with_real_kustomize(fleet: Path) -> None:
    ran = run("render", "--verify", folder=fleet)
    current, building, *lines = ran.stdout.splitlines(keepends=True)
    assert (ran.code, current, ran.stderr) == (0, CURRENT, "")
    assert building.startswith("building with Kustomize v")
    assert building.endswith(" (POOLWRIGHT_KUSTOMIZE)\n")  # not the one on PATH
    unit = (
        "1 ConfigMap, 1 Deployment, 1 PodDisruptionBudget, 1 PodMonitor, 1 PrometheusRule, "
        "1 ResourceClaimTemplate, 1 Service\n"
    )
    assert lines == [
        "verified   overlays/base/chat-70b/2.3.0: 1 ConfigMap, 1 Deployment, 1 Service\n",
        "verified   overlays/base/chat-70b/2.4.0: 1 ConfigMap, 1 Deployment, 1 Service\n",
        "verified   overlays/east/platform: 1 ConfigMap, 1 DeviceClass, 2 Namespace, 2 PriorityClass, "
        "4 ValidatingAdmissionPolicy, 4 ValidatingAdmissionPolicyBinding\n",
        f"verified   overlays/east/chat-70b: {unit}",
        f"verified   overlays/east/chat-70b-next: {unit}",
        "verified   overlays/east/argocd: 1 AppProject, 3 Application\n",
    ]


def test_another_writer_at_work(fleet: Path) -> None:
    with Disk(str(fleet)).lock():
        assert run("render", folder=fleet) == Ran(
            2,
            "",
            ".: another poolwright is writing this tree  [tree-locked]\n"
            "  why  two writers at once would leave a mixture of both\n"
            "  fix  wait until it is done, then run this again\n",
        )
        assert run("render", "--check", folder=fleet).code == 0  # reading needs no lock


@contextmanager
def as_nobody() -> Iterator[None]:
    """As a user whom modes bind; root isn't one."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


def test_a_read_only_project_is_read_and_not_written() -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        project = copy_small_fleet(Path(folder))
        stale(project)
        commands = (("check",), ("render", "--check"), ("render", "--out", "out"), ("render",))
        for command in commands:  # so that nobody need read a module
            run(*command, "--cluster=none" if "render" in command else "--format=text", folder=project)
        before = read_files(project)
        _set_modes(project, 0o555, 0o444)
        with as_nobody():
            check, render_check, out, render = (run(*command, folder=project) for command in commands)
        _set_modes(project, 0o755, 0o644)
        assert read_files(project) == before
        assert check == Ran(0, "ok: 1 cluster, 1 stack, 1 pool, 2 envelope versions, 2 placements\n", "")
        assert render_check == Ran(1, "", STATES["stale"][1])
        assert out == Ran(2, "", "poolwright: out: Permission denied\n")
        assert render == Ran(
            2,
            "",
            "overlays/east/chat-70b-next: the disk refuses: Permission denied  [disk-error]\n"
            "  why  a folder can't be judged or finished like that; what was begun is finished by the next render\n"
            "  fix  mend that (space, permissions, a read-only mount), then run this again\n",
        )


def _set_modes(project: Path, of_folders: int, of_files: int) -> None:
    for path in (project, *project.rglob("*")):
        path.chmod(of_folders if path.is_dir() else of_files)


def test_what_is_written_is_what_kustomize_builds_elsewhere(tmp_path: Path) -> None:
    """The tree stands by itself: it is built from another folder, without the specs."""
    assert run("render", "--project", str(SMALL_FLEET), "--out", "out", folder=tmp_path).code == 0
    built = build_for_real(tmp_path / "out", "overlays/east/chat-70b")
    printed = run("generate", "--project", str(SMALL_FLEET), "--cluster", "east", "--unit", "chat-70b", folder=tmp_path)
    assert printed == Ran(0, built.decode(), "")
