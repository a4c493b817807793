"""From a commit to a cluster: released, signed, committed, named by the Project, and taken by the plugin as Argo CD
asks it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from packet_fleet import packet_trust

from fleet import PLACEMENTS, PROJECT, edit
from folders import write_files
from made_packet import ALICE, write_key
from made_repository import commit, git
from release_project import make_releasable, read_releasable, release
from run_poolwright import run

APPLICATIONS = "overlays/east/argocd"
BY_PACKET = "      delivery: packet\n      release: {}\n      stackName:"


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder beside every repository, with the key and the trust file."""
    folder = tmp_path_factory.mktemp("outside")
    write_key(folder / "alice.pem", ALICE)
    (folder / "trust.yaml").write_text(packet_trust(ALICE))
    return folder


@pytest.fixture(scope="module")
def delivered(outside: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose cluster is delivered from its first release."""
    folder = make_releasable(tmp_path_factory.mktemp("cycle") / "fleet")
    put_out(folder, outside, "r1")
    name(folder, "r1")
    return folder


def put_out(folder: Path, outside: Path, made: str) -> None:
    """Release, sign and commit."""
    ran = release(made, folder=folder)
    assert ran.code == 0, ran
    assert run("sign", f"releases/{made}", "--key", str(outside / "alice.pem"), folder=folder).code == 0
    commit(folder, {}, f"release {made}")


def name(folder: Path, made: str) -> None:
    """Let the Project name a release, and commit that with the Applications."""
    text = edit(read_releasable(), PROJECT, ("      stackName:", BY_PACKET.format(made)))[PROJECT]
    write_files(folder, {PROJECT: text})
    assert run("render", folder=folder).code == 0
    assert run("check", "--as-of", "2026-11-30", folder=folder).code == 0
    commit(folder, {}, f"deliver {made}")


def ask(folder: Path, trust: Path, unit: str = "chat-70b") -> tuple[int, dict[str, Any]]:
    """What Argo CD would make of a unit's Application that is committed: the exit code of `cmp test`, its report."""
    # Where this checkout isn't installed; never the tests' folder, which holds projects.
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(":") if path and not path.endswith("/tests")]
    options = ("--revision", "HEAD", "--trust", str(trust), "--format", "json")
    options += ("--env", f"PYTHONPATH={':'.join(paths)}") if paths else ()
    ran = run("cmp", "test", f"{APPLICATIONS}/east-{unit}.yaml", *options, folder=folder)
    return ran.code, json.loads(ran.stdout)


def read_objects(folder: Path, made: str, unit: str = "chat-70b") -> list[Any]:
    return list(yaml.safe_load_all((folder / f"releases/{made}/manifests/east/{unit}/objects.yaml").read_bytes()))


@pytest.mark.parametrize("unit", ["chat-70b", "platform"])
def test_argo_cd_gets_the_very_objects(unit: str, delivered: Path, outside: Path) -> None:
    code, report = ask(delivered, outside / "trust.yaml", unit)
    assert (code, report["verdict"], report["objects"]) == (0, "accepted", read_objects(delivered, "r1", unit))


def test_a_release_is_delivered_once_it_is_named_and_not_before(delivered: Path, outside: Path, tmp_path: Path) -> None:
    """And going back is naming the one before, as far as the trust file takes it."""
    folder = tmp_path / "fleet"
    git(tmp_path, "clone", "--quiet", str(delivered), str(folder))
    trust, first = outside / "trust.yaml", read_objects(delivered, "r1")
    promoted = edit(read_releasable(), PLACEMENTS, ("version: 2.3.0", "version: 2.4.0"))[PLACEMENTS]
    commit(folder, {PLACEMENTS: promoted}, "the next version")
    name(folder, "r1")
    assert ask(folder, trust)[1]["objects"] == first
    put_out(folder, outside, "r2")
    assert run("verify", "releases/r2", "--trust", str(trust), folder=folder).code == 0
    second = read_objects(folder, "r2")
    assert second != first
    assert ask(folder, trust)[1]["objects"] == first
    # It was made of a commit whose Project names the one before, and so do the Applications in it.
    applications = [one for one in read_objects(folder, "r2", "argocd") if "plugin" in one["spec"].get("source", {})]
    assert {one["spec"]["source"]["plugin"]["parameters"][2]["string"] for one in applications} == {"r1"}
    old = (folder / APPLICATIONS / "east-chat-70b.yaml").read_bytes()
    name(folder, "r2")
    assert ask(folder, trust)[1]["objects"] == second
    (tmp_path / "trust.yaml").write_text(packet_trust(ALICE, least=2))
    assert ask(folder, tmp_path / "trust.yaml")[1]["objects"] == second
    name(folder, "r1")
    assert (folder / APPLICATIONS / "east-chat-70b.yaml").read_bytes() == old
    assert ask(folder, trust)[1]["objects"] == first
    code, report = ask(folder, tmp_path / "trust.yaml")
    assert (code, report["verdict"]) == (1, "failed")
    assert "this is release 1 of inference-fleet, and 2 is the oldest that " in report["stderr"]
