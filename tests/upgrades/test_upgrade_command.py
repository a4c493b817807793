"""`poolwright pin --plan` on the example: what moves, and which claims are at risk on the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from fleet import FLEET
from folders import read_files, write_files
from golden import Golden
from poolwright.specs.lock import LOCK_FILE
from poolwright.upgrades.report import upgrade_schema
from run_poolwright import Ran, run

STACK = "specs/stacks/operator-26-7.yaml"
FILES = {path: text for path, text in read_files(FLEET).items() if not path.startswith("overlays/")}
EDITS: dict[str, tuple[tuple[str, str], ...]] = {
    "operator-bump": (("version: 26.7.0", "version: 26.7.2"), ("version: 0.5.0", "version: 0.5.1")),
    "driver-and-kubernetes": (("580.173.02", "595.91.07"), ("version: 1.36.x", "version: 1.37.x")),
    "driver-that-is-too-old": (("580.173.02", "535.309.01"),),
    "image": (("vllm-openai:v0.33.0", "vllm-openai:v0.33.0-1"),),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path, FILES)


def plan(folder: Path, name: str, *arguments: str) -> Ran:
    text = FILES[STACK].decode()
    for old, new in EDITS[name]:
        assert old in text
        text = text.replace(old, new)
    (folder / STACK).write_text(text)
    return run("pin", "--check", "--plan", *arguments, folder=folder)


def test_whole_texts(folder: Path, golden: Golden) -> None:
    printed = {}
    for name in EDITS:
        ran = plan(folder, name)
        printed[f"{name}.txt"] = f"{ran.stdout}{ran.stderr}exit code {ran.code}\n".encode()
    golden.compare(Path(__file__).parent / "commands", printed)


def test_json_is_what_the_schema_says(folder: Path) -> None:
    ran = plan(folder, "driver-and-kubernetes", "--format=json")
    document = json.loads(ran.stdout)
    jsonschema_rs.validate(upgrade_schema(), document)
    assert [len(stack["steps"]) for stack in document["stacks"]] == [0, 2]
    assert document["also"] == []


def change_lock(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Write the project's lock, changed, to the file of an earlier one."""
    old = json.loads(FILES[LOCK_FILE])
    change(old)
    (folder / "old.lock").write_text(json.dumps(old))


def plan_from(folder: Path, *arguments: str) -> Ran:
    return run("pin", "--check", "--plan", "--from=old.lock", *arguments, folder=folder)


def _set(old: dict[str, Any], *path: str, value: object) -> None:
    for key in path[:-1]:
        old = old[key]
    old[path[-1]] = value


NAME = "operator-26-7"
DIGESTS = {"digest": f"sha256:{'0' * 64}", "by": "registry"}
LOCKS: dict[str, Callable[[dict[str, Any]], object]] = {
    "the-same": lambda old: None,
    "a-bound": lambda old: _set(old, "memoryBounds", "east/chat-70b", "bound", value="69Gi"),
    "a-bound-that-is-gone": lambda old: old["memoryBounds"].update({"east/old": old["memoryBounds"]["east/chat-70b"]}),
    "a-digest": lambda old: old["stacks"][NAME]["images"]["vllm"].update(DIGESTS),
    "a-stack-more": lambda old: old["stacks"].update(other=old["stacks"][NAME]),
    "a-stack-less": lambda old: old["stacks"].pop(NAME),
    "a-component-less": lambda old: old["stacks"][NAME].pop("containerRuntime"),
    "a-driver-more": lambda old: old["stacks"][NAME]["draDrivers"].update(other={"version": "1.2.3", "reason": "-"}),
    "prices": lambda old: _set(old, "pricing", "set", value=f"sha256:{'1' * 64}"),
    "what-goes-with-a-choice": lambda old: (
        _set(old, "stacks", NAME, "charts", "gpu-operator", "repository", value="https://example.com"),
        _set(old, "stacks", NAME, "charts", "gpu-operator", "crds", value=["one.example.com"]),
        _set(old, "memoryBounds", "east/chat-70b", "envelope", value="chat-70b@2.2.0"),
        _set(old, "minPoolwright", value="0.0.9"),
    ),
    "a-reason": lambda old: _set(old, "pricing", "reason", value="another one"),
    # Steps cover the chart of what they move.
    "a-step-and-a-bound": lambda old: (
        _set(old, "stacks", NAME, "gpuOperator", "version", value="26.3.3"),
        _set(old, "stacks", NAME, "charts", "gpu-operator", "version", value="v26.3.3"),
        _set(old, "stacks", NAME, "draDrivers", "dra-driver-nvidia-gpu", "version", value="0.4.1"),
        _set(old, "memoryBounds", "east/chat-70b", "bound", value="69Gi"),
    ),
}


def test_whatever_differs_is_said(folder: Path, golden: Golden) -> None:
    printed = {}
    for name, change in LOCKS.items():
        change_lock(folder, change)
        ran = plan_from(folder)
        assert ("also " in ran.stdout) == (name != "the-same")
        printed[f"{name}.txt"] = f"{ran.stdout}{ran.stderr}exit code {ran.code}\n".encode()
    golden.compare(Path(__file__).parent / "locks", printed)


def test_a_component_that_is_new_to_the_lock_is_no_step(folder: Path) -> None:
    """The stack's own text is the range 2.2.x, which is no version to come from."""
    old = json.loads(FILES[LOCK_FILE])
    del old["stacks"][NAME]["containerRuntime"]
    (folder / LOCK_FILE).write_text(json.dumps(old))
    ran = run("pin", "--check", "--plan", folder=folder)
    assert (ran.code, ran.stderr) == (1, "")
    assert f"stack {NAME}: nothing moves\n" in ran.stdout
    assert f"also    stacks.{NAME}.containerRuntime  new: 2.2." in ran.stdout


def test_whatever_differs_is_in_the_json_too(folder: Path) -> None:
    for name in ("a-bound", "a-stack-less", "a-stack-more"):
        change_lock(folder, LOCKS[name])
        document = json.loads(plan_from(folder, "--format=json").stdout)
        jsonschema_rs.validate(upgrade_schema(), document)
        assert document["also"]
    change_lock(folder, LOCKS["a-bound"])
    assert json.loads(plan_from(folder, "--format=json").stdout)["also"] == [
        {
            "path": "memoryBounds.east/chat-70b",
            "before": "69Gi",
            "after": "70Gi",
            "reason": "priced 70Gi, in whole Gi",
            "effect": "claim templates get another name with it, so that the unit's pods are made anew",
        }
    ]


def test_exit_code_1_if_a_step_is_unsupported(folder: Path) -> None:
    change_lock(folder, lambda old: _set(old, "stacks", NAME, "kubernetes", "version", value="1.37.2"))
    ran = plan_from(folder)
    assert (ran.code, "1 step, step 1 unsupported" in ran.stdout) == (1, True)


def test_a_gpu_driver_of_a_vendor(folder: Path) -> None:
    """The version that devices publish is its numbers alone."""
    change_lock(folder, lambda old: _set(old, "stacks", NAME, "gpuDriver", "version", value="580.167.08-1ubuntu"))
    ran = plan_from(folder)
    assert (ran.code, ran.stderr) == (0, "")
    assert "devices publish driverVersion 580.173.2 and no longer 580.167.8\n" in ran.stdout


LOCK = FILES[LOCK_FILE].decode()
EARLIER = {
    "not-there": (None, "file-unreadable"),
    "empty": ("", "lock-unreadable"),
    "of-a-later-release": (
        FILES[LOCK_FILE].decode().replace('wright": "0.1.0"', 'wright": "9.0.0"'),
        "lock-unreadable",
    ),
    "a-key-too-many": (LOCK.replace("{", '{"more": 1,', 1), "unknown-field"),
    "no-version": (LOCK.replace('"1.36.2"', '"latest"', 1), "invalid-value"),
}


def test_findings_about_an_earlier_lock_name_it_as_it_was_given(folder: Path, golden: Golden) -> None:
    (folder / "of old").mkdir()
    printed = {}
    for name, (text, code) in EARLIER.items():
        if text is not None:
            (folder / "of old" / f"{name}.lock").write_text(text)
        ran = run("pin", "--check", "--plan", f"--from=of old/{name}.lock", folder=folder)
        assert (ran.code, ran.stdout) == (2, "")
        assert ran.stderr.startswith(f"of old/{name}.lock:")
        assert f"[{code}]" in ran.stderr
        assert "poolwright pin" not in ran.stderr
        printed[f"{name}.txt"] = ran.stderr.encode()
    golden.compare(Path(__file__).parent / "earlier", printed)


def test_from_another_lock(folder: Path) -> None:
    old = json.loads(FILES[LOCK_FILE])
    old["stacks"]["operator-26-7"]["gpuDriver"]["version"] = "580.167.08"
    (folder / "old.lock").write_text(json.dumps(old))
    ran = run("pin", "--check", "--plan", "--from=old.lock", folder=folder)
    assert (ran.code, "1. gpuDriver 580.167.08 -> 580.173.02" in ran.stdout) == (0, True)
    assert run("pin", "--from=old.lock", folder=folder).code == 2
    (folder / LOCK_FILE).unlink()
    assert "[lock-unreadable]" in run("pin", "--check", "--plan", folder=folder).stderr
