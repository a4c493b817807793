"""The example fleet edited: what changes in the tree, and what doesn't."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from fleet import PROJECT, Files, Scalar, edit, list_scalars, list_specs, read_fleet, render_tree, write_scalars
from poolwright.objects.built import list_leaves
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import SpecError
from poolwright.trees.folder import MANIFEST_NAME
from spec_values import FIXED, OTHER_VALUES
from unit_objects import change, objects_of

FLEET = read_fleet()
TREE = render_tree(FLEET)
PLACED = {
    (cluster, document.scalar_text(("metadata", "name"))): file
    for cluster in ("east", "lab", "lab-alpha")
    for file in [f"specs/placements/{cluster}.yaml"]
    for document in parse_documents(FLEET[file], file)
}
UNITS = [pytest.param(*unit, id="/".join(unit)) for unit in PLACED]


def compare(files: Files) -> tuple[set[str], set[str], set[str]]:
    """What the edit removes from the tree, what it changes there and what it adds; by path from overlays/."""
    after = render_tree(files)
    removed, added = TREE.keys() - after.keys(), after.keys() - TREE.keys()
    changed = {path for path in TREE.keys() & after.keys() if TREE[path] != after[path]}
    return _from_overlays(removed), _from_overlays(changed), _from_overlays(added)


def _from_overlays(paths: set[str]) -> set[str]:
    return {path.removeprefix("overlays/") for path in paths}


def in_folder(*folders: str) -> set[str]:
    """The paths of the tree in these folders."""
    return {path for path in _from_overlays(set(TREE)) if path.startswith(tuple(f"{folder}/" for folder in folders))}


def lines_of(cluster: str, unit: str) -> list[Scalar]:
    """The values that a placement writes, but its name."""
    file = PLACED[cluster, unit]
    number = [name for where, name in PLACED if where == cluster].index(unit)
    text = FLEET[file].decode()
    starts = [index for index, line in enumerate(text.splitlines()) if line == "kind: Placement"]
    own = range(starts[number], [*starts, text.count("\n") + 1][number + 1])
    return [
        scalar
        for scalar in list_scalars({file: FLEET[file]})
        if text[: scalar.start].count("\n") in own and scalar.path[0] not in (*FIXED, "metadata")
    ]


@pytest.mark.parametrize(("cluster", "unit"), UNITS)
def test_a_change_to_a_placement_changes_its_unit_folder_and_its_application(cluster: str, unit: str) -> None:
    may_change = in_folder(f"{cluster}/{unit}") | {
        f"{cluster}/argocd/{cluster}-{unit}.yaml",
        f"{cluster}/argocd/{MANIFEST_NAME}",
    }
    seen: set[str] = set()
    for what, files in list_edits(cluster, unit):
        try:
            removed, changed, added = compare(files)
        except SpecError:
            continue
        assert removed | changed <= may_change, what
        assert {path.rpartition("/")[0] for path in added} <= {f"{cluster}/{unit}", f"{cluster}/{unit}/decisions"}
        seen |= changed
    assert f"{cluster}/{unit}/{MANIFEST_NAME}" in seen


def list_edits(cluster: str, unit: str) -> Iterator[tuple[object, Files]]:
    """The fleet with another value in one line of the placement, and with a zone where it has none."""
    lines, file = lines_of(cluster, unit), PLACED[cluster, unit]
    for scalar in lines:
        for text in OTHER_VALUES[scalar.field]:
            yield (scalar, text), write_scalars(FLEET, {scalar: text})
    if not any(scalar.path == ("spec", "zone") for scalar in lines):
        (pool,) = (scalar for scalar in lines if scalar.path == ("spec", "poolName"))
        text = FLEET[file].decode()
        yield "a zone", {**FLEET, file: f"{text[: pool.end]}\n  zone: east-a{text[pool.end :]}".encode()}


NEW_CLUSTER = b"""\
apiVersion: poolwright.dev/v1alpha1
kind: Pool
metadata: {name: west-full, version: 1.0.0}
spec:
  clusterName: west
  lane: baseline
  owner: platform-gpu
  plannedNodes:
    - {name: h100, count: 1, hardwareModel: h100-sxm5-80gb, devicesPerNode: 8, zone: west-a}
  deviceClasses:
    - name: interactive-80g
      tier: interactive
      driver: gpu.nvidia.com
      attributes: {type: [gpu], architecture: [Hopper]}
      capacity:
        memory: {min: 79Gi, below: 90Gi}
  namespaces:
    - {name: chat, quota: {interactive-80g: 8}}
---
apiVersion: poolwright.dev/v1alpha1
kind: Placement
metadata: {name: chat-70b}
spec:
  envelope: {name: chat-70b, version: 2.4.0}
  poolName: west-full
  deviceClassNames: [interactive-80g]
  minReplicas: 1
  surge: 1
"""


def test_adding_a_cluster_changes_no_file() -> None:
    entry = "    - {name: west, stackName: operator-26-7, destination: {name: west}}\n"
    files = {**edit(FLEET, PROJECT, ("  clusters:\n", f"  clusters:\n{entry}")), "specs/west.yaml": NEW_CLUSTER}
    removed, changed, added = compare(files)
    assert removed | changed == set()
    assert {"/".join(path.split("/")[:2]) for path in added} == {"west/argocd", "west/platform", "west/chat-70b"}


def without(files: Files, *specs: tuple[str, str]) -> Files:
    """The files without the documents of these kinds and names; names of envelopes with their version."""
    left = dict(files)
    for file, data in list_specs(files).items():
        kept = [
            document.value
            for document in parse_documents(data, file)
            if (document.value["kind"], _identity(document.value)) not in specs
        ]
        left[file] = yaml.safe_dump_all(kept).encode() if kept else b""
    return {file: data for file, data in left.items() if data}


def _identity(value: dict[str, dict[str, str]]) -> str:
    name, version = value["metadata"]["name"], value["metadata"].get("version")
    return f"{name}@{version}" if value["kind"] == "Envelope" else name  # type: ignore[comparison-overlap]


# Others join the router pool of tenants-8b, and guard-1b7 and chat-70b are the names of two placements.
LEAVES_ALONE = ["rag-8b", "prefill-8b", "reason-671b", "rewrite-0b6", "summarise-20b", "tenants-8b-b"]


@pytest.mark.parametrize("unit", LEAVES_ALONE)
def test_removing_a_placement_removes_exactly_its_files(unit: str) -> None:
    removed, changed, added = compare(without(FLEET, ("Placement", unit)))
    assert removed == in_folder(f"east/{unit}") | {f"east/argocd/east-{unit}.yaml"}
    assert changed == {"east/argocd/kustomization.yaml", f"east/argocd/{MANIFEST_NAME}"}
    assert added == set()


def test_removing_an_envelope_that_nothing_places_removes_exactly_its_base() -> None:
    placed = without(FLEET, ("Placement", "rag-8b"))
    before, after = render_tree(placed), render_tree(without(placed, ("Envelope", "rag-8b@1.1.0")))
    assert _from_overlays(before.keys() - after.keys()) == in_folder("base/rag-8b/1.1.0")
    assert after == {path: data for path, data in before.items() if path in after}


def test_removing_a_cluster_removes_exactly_its_folders() -> None:
    (entry,) = [part for part in FLEET[PROJECT].decode().split("    - name: ") if part.startswith("lab ")]
    files = {
        file: data
        for file, data in edit(FLEET, PROJECT, ("    - name: " + entry, "")).items()
        if file not in ("specs/pools/lab-full.yaml", "specs/placements/lab.yaml")
    }
    assert compare(files) == (in_folder("lab"), set(), set())


RAG = "name: rag-8b}\nspec:\n  envelope: {name: rag-8b, version: 1.1.0}\n  poolName: h100-full\n"
POOL = "specs/pools/h100-full.yaml"


def test_one_envelope_under_both_tiers_differs_in_exactly_the_fields_that_are_meant() -> None:
    """In any of the unit's objects; surge aside: both are without, which a batch placement always is."""
    said = RAG + "  deviceClassNames: [interactive-80g]\n  minReplicas: 1\n"
    placed = change(FLEET, "specs/placements/east.yaml", (said + "  surge: 1\n", said + "  surge: 0\n"))
    batch = change(
        placed, POOL, ("tier: interactive\n      driver: gpu.nvidia.com", "tier: batch\n      driver: gpu.nvidia.com")
    )
    leaves = [
        {
            f"{document['kind']}{pointer}": value
            for document in objects_of(files, "rag-8b")
            for pointer, value in list_leaves(document).items()
        }
        for files in (placed, batch)
    ]
    different = [key for key in leaves[0] | leaves[1] if leaves[0].get(key, ...) != leaves[1].get(key, ...)]
    assert sorted(different) == [
        "Deployment/metadata/labels/poolwright.dev~1tier",
        "Deployment/spec/template/metadata/labels/poolwright.dev~1tier",
        "Deployment/spec/template/spec/priorityClassName",
        "PodDisruptionBudget/metadata/labels/poolwright.dev~1tier",
        "PodDisruptionBudget/spec/maxUnavailable",
        "PodMonitor/metadata/labels/poolwright.dev~1tier",
        "PrometheusRule/metadata/labels/poolwright.dev~1tier",
        "PrometheusRule/spec/groups/0/rules/0/labels/severity",
        "PrometheusRule/spec/groups/0/rules/1/labels/severity",
    ]
