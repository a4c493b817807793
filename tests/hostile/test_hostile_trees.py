"""Hostile rendered trees, records of them, and inventories: nothing is followed, and nothing of others' is written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_case import CHECKED, CLUSTER, STALE, UNIT, Case, check_secrets, judge, put
from hostile_run import Installed, World, environment, make_unread, run_measured, snapshot

from poolwright.trees.folder import JOURNAL_NAME, MANIFEST_NAME

FOLDER = f"overlays/{CLUSTER}/{UNIT}"
MANIFEST, JOURNAL = f"{FOLDER}/{MANIFEST_NAME}", f"{FOLDER}/{JOURNAL_NAME}"
INVENTORY = f"inventory/{CLUSTER}.yaml"
DIGEST = "sha256:" + "0" * 64


def with_files(data: dict[str, bytes | str]) -> Callable[[World], None]:
    """A repository with these files."""
    return lambda world: put(world, data)


def manifest(paths: dict[str, str], **more: object) -> str:
    """A manifest that lists these paths."""
    return json.dumps({"renderFormat": 1, "unit": f"{CLUSTER}/{UNIT}", "closure": DIGEST, "files": paths, **more})


def instead(name: str, make: Callable[[Path, World], object]) -> Callable[[World], None]:
    """A repository with something that is no file, or no folder, under a name."""

    def build(world: World) -> None:
        put(world, {})
        path = world.repository / name
        path.parent.mkdir(parents=True, exist_ok=True)
        make(path, world)

    return build


def to_outside(path: Path, world: World) -> None:
    path.symlink_to(world.outside)


def to_secret(path: Path, world: World) -> None:
    path.symlink_to(world.secret)


def to_pipe(path: Path, _: World) -> None:
    os.mkfifo(path)


def to_sparse(path: Path, _: World) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte that takes no room


def listed_and_sparse(world: World) -> None:
    put(world, {MANIFEST: manifest({"deployment.yaml": DIGEST})})
    to_sparse(world.repository / FOLDER / "deployment.yaml", world)


def in_inventory(text: str) -> Callable[[World], None]:
    return with_files({INVENTORY: text})


NODE = "{apiVersion: v1, kind: Node, metadata: {name: a}, spec: {}}"
SLICE = "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\n"
CASES: dict[str, Case] = {
    # Records of a rendered folder that somebody else wrote.
    "manifest-nested-100000-deep": Case(
        with_files({MANIFEST: '{"files": ' + "[" * 100_000}),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-with-repeated-keys": Case(
        with_files({MANIFEST: manifest({"a": DIGEST})[:-1] + ', "unit": "x"}'}),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-with-dot-dot": Case(
        with_files({MANIFEST: manifest({"../../../../outside/secret.yaml": DIGEST})}),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-with-an-absolute-path": Case(
        with_files({MANIFEST: manifest({"/etc/passwd": DIGEST})}),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-of-another-unit": Case(
        with_files({MANIFEST: manifest({"a": DIGEST}, unit="base/x/1.0.0")}),
        says=(
            "overlays/my-cluster/my-model: the committed folder holds files that poolwright didn't write "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-that-lists-what-is-there-not": Case(
        with_files({MANIFEST: manifest({"a": DIGEST})}),
        says="overlays/my-cluster/my-model: the committed folder isn't what the specs give  [tree-stale]",
        codes=STALE,
    ),
    "manifest-of-1-TiB": Case(
        instead(MANIFEST, to_sparse),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-of-many-lists": Case(
        with_files({MANIFEST: "[" + "[]," * 1_390_000 + "[]]"}),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-with-a-number-of-a-million-digits": Case(
        with_files({MANIFEST: "1" * 1_000_000}),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-is-a-link": Case(
        instead(MANIFEST, to_secret),
        says=(
            "overlays/my-cluster/my-model: the committed folder holds files that poolwright didn't write "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "manifest-is-a-pipe": Case(
        instead(MANIFEST, to_pipe),
        says=(
            "overlays/my-cluster/my-model: the committed folder holds files that poolwright didn't write "
            "(poolwright-manifest.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "journal-with-dot-dot": Case(
        with_files({JOURNAL: json.dumps({"mayStand": {"../../../../outside/secret.yaml": [DIGEST]}})}),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(.poolwright-writing.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "journal-nested-100000-deep": Case(
        with_files({JOURNAL: "[" * 100_000}),
        says=(
            "overlays/my-cluster/my-model: the committed folder was edited by hand "
            "(.poolwright-writing.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "journal-is-a-link": Case(
        instead(JOURNAL, to_secret),
        says=(
            "overlays/my-cluster/my-model: the committed folder holds files that poolwright didn't write "
            "(.poolwright-writing.json)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "listed-file-of-1-TiB": Case(
        listed_and_sparse,
        says=("overlays/my-cluster/my-model: the committed folder was edited by hand (deployment.yaml)  [tree-stale]"),
        codes=STALE,
    ),
    # Places that lead elsewhere.
    "overlays-is-a-link": Case(
        instead("overlays", to_outside),
        says=(
            "overlays/my-cluster/my-model: the committed folder is a link or a file, or stands behind one  [tree-stale]"
        ),
        codes=STALE,
    ),
    "cluster-folder-is-a-link": Case(
        instead(f"overlays/{CLUSTER}", to_outside),
        says=(
            "overlays/my-cluster/my-model: the committed folder is a link or a file, or stands behind one  [tree-stale]"
        ),
        codes=STALE,
    ),
    "unit-folder-is-a-link": Case(
        instead(FOLDER, to_outside),
        says=(
            "overlays/my-cluster/my-model: the committed folder is a link or a file, or stands behind one  [tree-stale]"
        ),
        codes=STALE,
    ),
    "unit-folder-is-a-file": Case(
        with_files({FOLDER: "mine"}),
        says=(
            "overlays/my-cluster/my-model: the committed folder is a link or a file, or stands behind one  [tree-stale]"
        ),
        codes=STALE,
    ),
    "a-file-in-it-is-a-link": Case(
        instead(f"{FOLDER}/deployment.yaml", to_secret),
        says=(
            "overlays/my-cluster/my-model: the committed folder holds files that poolwright didn't write "
            "(deployment.yaml)  [tree-stale]"
        ),
        codes=STALE,
    ),
    "a-file-in-it-is-a-pipe": Case(
        instead(f"{FOLDER}/deployment.yaml", to_pipe),
        says=(
            "overlays/my-cluster/my-model: the committed folder holds files that poolwright didn't write "
            "(deployment.yaml)  [tree-stale]"
        ),
        codes=STALE,
    ),
    # Inventories: `check` alone reads them.
    "inventory-of-1-TiB": Case(
        instead(INVENTORY, to_sparse),
        says=(
            "inventory/my-cluster.yaml: inventory/my-cluster.yaml can't be read: it has 1,099,511,627,776 bytes, "
            "and 67,108,864 is the most  [file-unreadable]"
        ),
        codes=(2, 0, 0),
    ),
    "inventory-of-many-values": Case(
        in_inventory("[" + "1," * 2_000_000 + "]"),
        says="inventory/my-cluster.yaml: the file has 2,000,001 lines and separators  [file-too-large]",
        codes=CHECKED,
    ),
    "inventory-nested-100000-deep": Case(
        in_inventory("a: " + "{a: " * 100_000),
        says=(
            "inventory/my-cluster.yaml:1:4000: this is not YAML: exceeded maximum nesting depth, while increasing "
            "flow level  [yaml-syntax]"
        ),
        codes=CHECKED,
    ),
    "inventory-alias-bomb": Case(
        in_inventory("kind: List\nitems:\n- &a " + NODE + "\n" + "- *a\n" * 10_000),
        says="inventory/my-cluster.yaml:4:3: the alias *a repeats a value from elsewhere  [yaml-alias]",
        codes=CHECKED,
    ),
    "inventory-of-wrong-types": Case(
        in_inventory("kind: List\nitems: [1, [], {kind: Node, metadata: 3, spec: []}]\n"),
        says="inventory/my-cluster.yaml:2:9: items[0] is not a map  [inventory-unreadable]",
        codes=CHECKED,
    ),
    "inventory-with-a-slice-of-wrong-types": Case(
        in_inventory(SLICE + "metadata: {name: [a]}\nspec: {driver: {}, pool: 1, devices: {}, nodeName: 1}\n"),
        says="inventory/my-cluster.yaml:3:18: metadata.name is not a string  [inventory-unreadable]",
        codes=CHECKED,
    ),
    "inventory-with-100000-wrong-nodes": Case(
        in_inventory("kind: List\nitems:\n" + "- {kind: Node}\n" * 100_000),
        says="inventory/my-cluster.yaml:3:3: items[0].metadata is missing  [inventory-unreadable]",
        codes=CHECKED,
    ),
    "inventory-is-a-link": Case(
        instead(INVENTORY, to_secret),
        says="inventory/my-cluster.yaml: inventory/my-cluster.yaml can't be read: it is a link  [file-unreadable]",
        codes=(2, 0, 0),
    ),
    "inventory-is-a-pipe": Case(
        instead(INVENTORY, to_pipe),
        says=(
            "inventory/my-cluster.yaml: inventory/my-cluster.yaml can't be read: it is no regular file  "
            "[file-unreadable]"
        ),
        codes=(2, 0, 0),
    ),
    "inventory-folder-is-a-link": Case(
        instead("inventory", to_outside),
        says="inventory/my-cluster.yaml: inventory/my-cluster.yaml can't be read: "
        "inventory is a link  [file-unreadable]",
        codes=(2, 0, 0),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_tree_is_refused_or_harmless(name: str, world: World, installed: Installed) -> None:
    judge(CASES[name], world, installed)


OURS = ("manifest-that-lists-what-is-there-not",)  # a folder of ours with a file missing: that one is healed


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.codes == STALE and name not in OURS])
def test_render_in_place_leaves_it_alone(name: str, world: World, installed: Installed) -> None:
    """A folder with something in it that isn't ours isn't written; nothing is written through a link."""
    CASES[name].build(world)
    before = {path: data for path, data in snapshot(world.repository).items() if f"/{FOLDER}" in path}
    others = snapshot(world.outside, world.home)
    make_unread(world.secret)
    ended = run_measured(
        (installed.command, "render"),
        folder=world.repository,
        environment=environment(world),
        scratch=world.top / "scratch",
    )
    assert ended.code == 1, ended
    assert "Traceback" not in ended.stderr
    after = {path: data for path, data in snapshot(world.repository).items() if f"/{FOLDER}" in path}
    assert after == before
    assert snapshot(world.outside, world.home) == others
    check_secrets(world)
