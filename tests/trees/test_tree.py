"""The tree on disk: real Kustomize builds the finished objects from it, and the example's is the committed one."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from fleet import FLEET, load_closures, read_fleet, read_small_fleet, render_tree
from fleet_variants import SHA, VARIANTS, image_of
from folders import write_files
from golden import Golden
from poolwright.objects.unit import build_objects
from poolwright.trees.tree import unit_name
from poolwright.trees.yaml_text import render_objects
from real_kustomize import build_for_real


@pytest.mark.parametrize("variant", VARIANTS)
def test_real_kustomize_builds_the_finished_objects(variant: str, tmp_path: Path) -> None:
    files, units = VARIANTS[variant]
    write_files(tmp_path, render_tree(files))
    finished = {unit_name(c): render_objects(build_objects(c)) for c in load_closures(files)}
    assert {unit: build_for_real(tmp_path, f"overlays/{unit}") for unit in units} == {
        unit: finished[unit] for unit in units
    }


# What a registry's port, a tag and a digest become: fields of their own, so that a bump is one line of the diff.
IMAGES = {
    "registry.example.com/a/vllm:v1": {"newName": "registry.example.com/a/vllm", "newTag": "v1"},
    f"registry.example.com/vllm@{SHA}": {"newName": "registry.example.com/vllm", "digest": SHA},
    f"vllm:v1@{SHA}": {"newName": "vllm", "newTag": "v1", "digest": SHA},
    "registry.example.com:5000/vllm": {"newName": "registry.example.com:5000/vllm"},
    f"localhost:5000/vllm:v1@{SHA}": {"newName": "localhost:5000/vllm", "newTag": "v1", "digest": SHA},
    "vllm": {"newName": "vllm"},
}


@pytest.mark.parametrize("image", IMAGES)
def test_an_image_in_its_parts(image: str) -> None:
    decisions = yaml.safe_load(render_tree(image_of(image))["overlays/east/chat-70b/decisions/kustomization.yaml"])
    assert decisions["images"] == [{"name": "vllm", **IMAGES[image]}]


def test_variants_show_every_folder_of_the_small_fleet() -> None:
    assert {f"overlays/{unit}" for unit in VARIANTS["as-committed"][1]} == {
        path.rpartition("/")[0]
        for path in render_tree(read_small_fleet())
        if path.endswith("/poolwright-manifest.json")
    }


EXAMPLE = read_fleet()
EXAMPLE_CLOSURES = {unit_name(closure): closure for closure in load_closures(EXAMPLE)}


def test_example_is_committed_as_rendered(golden: Golden) -> None:
    """All but the units of the cluster that the plugin renders for: of it only the folder `argocd` is committed."""
    committed = {
        path.removeprefix("overlays/"): data
        for path, data in render_tree(EXAMPLE).items()
        if not path.startswith("overlays/lab-alpha/") or path.startswith("overlays/lab-alpha/argocd/")
    }
    golden.compare(FLEET / "overlays", committed)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example's whole tree, beside the components of its teams."""
    custom = {path: data for path, data in EXAMPLE.items() if path.startswith("custom/")}
    return write_files(tmp_path_factory.mktemp("example"), {**render_tree(EXAMPLE), **custom})


@pytest.mark.parametrize("unit", EXAMPLE_CLOSURES)
def test_real_kustomize_builds_the_finished_objects_of_the_example(unit: str, example: Path) -> None:
    """And behind them, in one unit, what its team adds."""
    closure = EXAMPLE_CLOSURES[unit]
    added = {"east/rewrite-0b6": "custom/east/rewrite-0b6/rewrite-eval.yaml"}
    built = build_for_real(example, f"overlays/{unit}")
    finished = render_objects(build_objects(closure))
    if unit in added:
        own = list(yaml.safe_load_all(EXAMPLE[added[unit]]))
        assert list(yaml.safe_load_all(built)) == [*yaml.safe_load_all(finished), *own]
    else:
        assert built == finished
