"""The example fleet's tree built by every Kustomize there is: the wheel's, those on PATH, and with Go 5.6 and 5.7."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from needs import needs
from poolwright.cli.load import load_project
from poolwright.kustomize.build import BuildOutput, build
from poolwright.kustomize.find import Kustomize, find_kustomize
from poolwright.objects.unit import build_objects
from poolwright.trees.tree import unit_name
from poolwright.trees.yaml_text import render_objects

FLEET = Path(__file__).parents[2] / "examples/fleet"


def list_programs() -> list[str]:
    """Each kustomize and kubectl of PATH once, beside the one that the other tests use."""
    folders = dict.fromkeys(os.environ.get("PATH", "").split(os.pathsep))
    found = [shutil.which(name, path=folder) for name in ("kustomize", "kubectl") for folder in folders]
    return list({os.path.realpath(program): program for program in found if program}.values())


def check_every_folder(kustomize: Kustomize, tree: Path) -> int:
    """Assert that Kustomize builds every folder's finished objects; returns how many folders."""
    closures = [c for c in load_project(str(FLEET)).closures if not getattr(c, "custom", None)]
    for closure in closures:
        built = build(kustomize, tree, f"overlays/{unit_name(closure)}")
        assert isinstance(built, BuildOutput), built
        assert built.objects == render_objects(build_objects(closure)), (kustomize.version, unit_name(closure))
    return len(closures)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from poolwright.cli.render import run_render

    folder = tmp_path_factory.mktemp("tree")
    out = str(folder)
    assert run_render(str(FLEET), None, check=False, out=out, verify=False, discard_edits=False) == 0
    return folder


@pytest.mark.parametrize("program", list_programs())
def test_every_kustomize_of_this_machine_builds_the_finished_objects(program: str, tree: Path) -> None:
    kustomize = find_kustomize(program, os.environ)
    assert isinstance(kustomize, Kustomize), kustomize
    if kustomize.version.startswith(("v3.", "v4.", "v5.0", "v5.1", "v5.2", "v5.3", "v5.4")):
        pytest.skip(f"{program} is Kustomize {kustomize.version}; what is promised starts with 5.5")
    assert check_every_folder(kustomize, tree) > 20


@pytest.mark.oracle
@pytest.mark.parametrize("version", ["v5.6.0", "v5.7.0"])
def test_older_kustomize_builds_the_finished_objects(version: str, tree: Path, tmp_path: Path) -> None:
    """Needs Go and its modules: `make oracle`."""
    environment = {**os.environ, "GOBIN": str(tmp_path), "GOFLAGS": "-buildvcs=false"}
    if "go" not in os.environ.get("POOLWRIGHT_REQUIRE", ""):
        environment["GOPROXY"] = "off"
    module = f"sigs.k8s.io/kustomize/kustomize/v5@{version}"
    command = [needs("go"), "install", module]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if made.returncode != 0 and "go" not in os.environ.get("POOLWRIGHT_REQUIRE", ""):
        pytest.skip("needs what isn't on this machine: Go modules of Kustomize")
    assert made.returncode == 0, made.stderr
    kustomize = find_kustomize(str(tmp_path / "kustomize"), {})
    assert isinstance(kustomize, Kustomize), kustomize
    assert check_every_folder(kustomize, tree) > 20
