"""`poolwright pin --online` against a real registry: what it writes, what moved, and when it writes nothing."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet import read_fleet
from folders import read_files, write_files
from loopback_registry import Registry, run_registry
from loopback_server import Server, reply, run_server
from needs import needs
from poolwright.pins.report import pin_schema
from poolwright.specs.lock import LOCK_FILE
from run_poolwright import Ran, run

STACK = "specs/stacks/operator-26-7.yaml"
ARCHIVE = b"the chart of the operator"
CHART_DIGEST = "sha256:" + hashlib.sha256(ARCHIVE).hexdigest()
OTHER = "sha256:" + "a" * 64
WHY = (
    "  why  a digest is written only as a registry gives it, and the lock only once all are there "
    "(poolwright.dev/v1alpha1)\n"
)


@dataclass(frozen=True, slots=True)
class World:
    """The example fleet, its images in a registry and its chart in a repository, both on loopback."""

    folder: Path
    registry: Registry
    charts: Server
    vllm: str  # digests
    sglang: str

    def pin(self, *arguments: str) -> Ran:
        return run("pin", *arguments, folder=self.folder)

    def read_lock(self) -> Any:
        return json.loads((self.folder / LOCK_FILE).read_bytes())

    def edit(self, old: str, new: str) -> None:
        text = (self.folder / STACK).read_text()
        assert old in text
        (self.folder / STACK).write_text(text.replace(old, new))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    needs("docker-registry")
    with run_registry(tmp_path_factory.mktemp("registry")) as found:
        yield found


@pytest.fixture
def world(tmp_path: Path, registry: Registry, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    files = {
        path: data.replace(b"registry.example.com", registry.host.encode())
        if path.startswith("specs/stacks/")
        else data
        for path, data in read_fleet().items()
    }
    write_files(tmp_path, files)
    vllm = registry.push_index("serving/vllm-openai:v0.33.0", {"amd64": "vllm", "arm64": "vllm for arm"})
    sglang = registry.push_image("serving/sglang:v0.5.23", "sglang")
    with run_server() as charts:
        entry = {"version": "v26.7.0", "digest": CHART_DIGEST.removeprefix("sha256:"), "urls": ["operator.tgz"]}
        charts.answers["/nvidia/index.yaml"] = reply(yaml.safe_dump({"entries": {"gpu-operator": [entry]}}).encode())
        charts.answers["/nvidia/operator.tgz"] = reply(ARCHIVE)
        monkeypatch.setattr("poolwright.catalog.charts._OPERATOR_REPOSITORY", f"http://{charts.host}/nvidia")
        world = World(tmp_path, registry, charts, vllm, sglang)
        assert world.pin().code == 0
        yield world


def test_digests_are_what_registries_have(world: World) -> None:
    before = world.read_lock()
    ran = world.pin("--online")
    assert (ran.code, ran.stderr) == (0, "")
    host, charts = world.registry.host, f"http://{world.charts.host}/nvidia"
    image = "what its registry has under the tag"
    chart = "the chart of gpu-operator v26.7.0; its own range of Kubernetes is too wide to rely on"
    changes = [
        (f"charts.gpu-operator  v26.7.0 -> v26.7.0 {CHART_DIGEST}: {chart}", ("operator-26-7-shares", "operator-26-7")),
        (f"images.vllm  {host}/serving/vllm-openai:v0.33.0 -> {host}/serving/vllm-openai:v0.33.0 {world.vllm}: {image}",
         ("operator-26-7-shares", "operator-26-7")),
        (f"images.sglang  {host}/serving/sglang:v0.5.23 -> {host}/serving/sglang:v0.5.23 {world.sglang}: {image}",
         ("operator-26-7",)),
    ]  # fmt: skip
    wanted = {f"stacks.{stack}.{change}" for change, stacks in changes for stack in stacks}
    shown = [line for line in ran.stdout.splitlines() if "->" in line]
    assert {" ".join(line.split()) for line in shown} == {" ".join(line.split()) for line in wanted}
    after = world.read_lock()
    for stack in before["stacks"].values():
        stack["charts"]["gpu-operator"] |= {"digest": CHART_DIGEST, "repository": charts}
        stack["images"]["vllm"] |= {"digest": world.vllm, "by": "registry", "reason": image}
    before["stacks"]["operator-26-7"]["images"]["sglang"] |= {"digest": world.sglang, "by": "registry", "reason": image}
    assert after == before
    assert world.vllm == world.registry.read_manifest("serving/vllm-openai:v0.33.0")[0]
    # The same again, and nothing to write; without asking, what was given is kept.
    text = (world.folder / LOCK_FILE).read_bytes()
    for arguments in (("--online",), ("--check", "--online"), (), ("--check",)):
        again = world.pin(*arguments)
        assert (again.code, again.stdout.splitlines()[0]) == (0, "poolwright.lock is up to date")
    assert (world.folder / LOCK_FILE).read_bytes() == text
    (world.folder / LOCK_FILE).unlink()
    assert world.pin("--online").code == 0
    assert (world.folder / LOCK_FILE).read_bytes() == text


def test_a_tag_that_moved_is_a_change_with_both_digests(world: World) -> None:
    assert world.pin("--online").code == 0
    text = (world.folder / LOCK_FILE).read_bytes()
    moved = world.registry.push_image("serving/sglang:v0.5.23", "another one")
    ran = world.pin("--check", "--online")
    name = f"{world.registry.host}/serving/sglang:v0.5.23"
    assert (ran.code, ran.stdout.splitlines()[:2]) == (
        1,
        [
            "poolwright.lock would change",
            f"  stacks.operator-26-7.images.sglang  {name} {world.sglang} -> {name} {moved}: "
            "what its registry has under the tag",
        ],
    )
    assert (world.folder / LOCK_FILE).read_bytes() == text
    report = json.loads(world.pin("--online", "--format=json").stdout)
    assert report["changes"] == [
        {
            "path": "stacks.operator-26-7.images.sglang",
            "before": f"{name} {world.sglang}",
            "after": f"{name} {moved}",
            "reason": "what its registry has under the tag",
        }
    ]
    assert set(report) == set(pin_schema()["properties"])
    assert moved.encode() in (world.folder / LOCK_FILE).read_bytes()


def test_a_digest_in_the_stack_is_compared_and_stays_the_stacks(world: World) -> None:
    name = f"{world.registry.host}/serving/sglang:v0.5.23"
    world.edit(name, f"{name}@{world.sglang}")
    assert world.pin("--online").code == 0
    assert world.read_lock()["stacks"]["operator-26-7"]["images"]["sglang"] == {
        "image": name,
        "digest": world.sglang,
        "by": "stack",
        "reason": "written in the stack",
    }
    text = (world.folder / LOCK_FILE).read_bytes()
    world.edit(f"{name}@{world.sglang}", f"{name}@{OTHER}")
    ran = world.pin("--online")
    assert (ran.code, ran.stdout, ran.stderr) == (
        2,
        "",
        f"{STACK}:33:14: image {name} is {world.sglang} in its registry, and {OTHER} in the stack  "
        "[registry-differs]\n"
        "  at   spec.servingImages[1].image\n"
        "  why  the digest decides what runs, so that the tag beside it says what isn't so (poolwright.dev/v1alpha1)\n"
        "  fix  write the digest that is meant, and the tag that has it\n",
    )
    assert (world.folder / LOCK_FILE).read_bytes() == text


@pytest.mark.parametrize("arguments", [(), ("--check",), ("--format=json",)])
def test_if_one_does_not_answer_nothing_is_written(arguments: tuple[str, ...], world: World) -> None:
    name, charts = f"{world.registry.host}/serving/sglang", world.charts.host
    world.edit(f"{name}:v0.5.23", f"{name}:v9.9.9")
    del world.charts.answers["/nvidia/operator.tgz"]
    files = read_files(world.folder)
    ran = world.pin("--online", *arguments)
    assert (ran.code, ran.stdout, ran.stderr) == (
        2,
        "",
        "specs/stacks/operator-26-7-shares.yaml:10:14: no digest of chart "
        f"http://{charts}/nvidia/gpu-operator:v26.7.0: the index of {charts} names an archive that isn't there (404)"
        "  [registry-nonsense]\n"
        "  at   spec.gpuOperator.version\n"
        f"{WHY}"
        "  fix  ask who runs the registry, or leave --online out: nothing else needs it\n"
        f"{STACK}:33:14: no digest of image {name}:v9.9.9: {world.registry.host} has no such repository or tag (404)"
        "  [registry-lacks]\n"
        "  at   spec.servingImages[1].image\n"
        f"{WHY}"
        "  fix  name a repository, a tag and a version that it has\n",
    )
    assert read_files(world.folder) == files


QUIET = """
import sys
def hook(event, _):
    if event.startswith("socket."):
        sys.__stderr__.write(f"{event}\\n")
sys.addaudithook(hook)
sys.argv[0] = "poolwright"
from poolwright.cli.main import main
try:
    main()
finally:
    loaded = {"ssl", "http.client", "urllib.request", "poolwright.registry"} & set(sys.modules)
    sys.__stderr__.write(f"loaded: {sorted(loaded)}\\n")
"""


@pytest.mark.parametrize("arguments", [("pin",), ("pin", "--check"), ("pin", "--upgrade=kubernetes"), ("check",)])
def test_without_online_there_is_no_network(arguments: tuple[str, ...], tmp_path: Path) -> None:
    """Not a socket, by Python's own audit of them, and nothing loaded that could open one."""
    write_files(tmp_path, read_fleet())
    (tmp_path / LOCK_FILE).unlink()
    command = (sys.executable, "-P", "-c", QUIET, *arguments)
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.stderr.splitlines() == ["loaded: []"]
