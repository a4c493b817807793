"""`poolwright pin`: what it writes, keeps, moves and refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from fleet import FLEET
from folders import read_files, write_files
from poolwright.pins.report import pin_schema
from poolwright.specs.lock import LOCK_FILE, TOOL_VERSION, parse_lock, render_lock
from run_poolwright import Ran, run

STACK = "specs/stacks/operator-26-7.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, {path: text for path, text in read_files(FLEET).items() if not path.startswith("overlays/")})
    return tmp_path


def pin(folder: Path, *arguments: str) -> Ran:
    return run("pin", *arguments, folder=folder)


def edit(folder: Path, path: str, old: str, new: str) -> None:
    text = (folder / path).read_text()
    assert old in text
    (folder / path).write_text(text.replace(old, new))


def read_lock(folder: Path) -> Any:
    return json.loads((folder / LOCK_FILE).read_bytes())


def test_the_example_is_pinned(folder: Path) -> None:
    ran = pin(folder, "--check")
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.startswith(
        "poolwright.lock is up to date\n"
        "stack operator-26-7: supported, and nobody says anything of nic-dra-driver 1.4.0\n"
    )


def test_the_lock_is_the_same_whoever_writes_it(folder: Path) -> None:
    before = (folder / LOCK_FILE).read_bytes()
    (folder / LOCK_FILE).unlink()
    assert pin(folder).code == 0
    assert (folder / LOCK_FILE).read_bytes() == before == render_lock(parse_lock(before).value)
    assert before == (FLEET / LOCK_FILE).read_bytes()


def test_without_a_lock_check_says_so_and_writes_nothing(folder: Path) -> None:
    (folder / LOCK_FILE).unlink()
    ran = pin(folder, "--check")
    assert (ran.code, ran.stdout.splitlines()[0]) == (1, "poolwright.lock would change")
    assert not (folder / LOCK_FILE).exists()


def test_a_stack_that_moves_shows_what_moves(folder: Path) -> None:
    edit(folder, STACK, "580.173.02", "595.91.07")
    ran = pin(folder, "--check")
    assert (ran.code, ran.stdout.splitlines()[:2]) == (
        1,
        [
            "poolwright.lock would change",
            "  stacks.operator-26-7.gpuDriver  580.173.02 -> 595.91.07: exact in the stack",
        ],
    )
    assert pin(folder).code == 0
    assert pin(folder, "--check").code == 0


def test_only_what_is_upgraded_moves(folder: Path) -> None:
    lock = read_lock(folder)
    for stack in lock["stacks"].values():
        stack["kubernetes"] |= {"version": "1.36.1", "reason": "newest then"}
        stack["containerRuntime"] |= {"version": "2.2.0", "reason": "newest then"}
    old = json.dumps(lock)
    (folder / LOCK_FILE).write_text(old)
    assert (
        pin(folder, "--check").stdout.splitlines()[0] == "poolwright.lock would change, in its layout or reasons alone"
    )
    ran = pin(folder, "--upgrade", "kubernetes")
    assert [line.split()[0] for line in ran.stdout.splitlines() if "->" in line] == [
        "stacks.operator-26-7-shares.kubernetes",
        "stacks.operator-26-7.kubernetes",
    ]
    assert read_lock(folder)["stacks"]["operator-26-7"]["containerRuntime"]["version"] == "2.2.0"
    assert pin(folder, "--upgrade", "containerd").code == 2


def test_a_bound_stays_while_the_price_is_within_it(folder: Path) -> None:
    """A better figure for an engine renames no claim; a worse one does, and says so."""
    lock = read_lock(folder)
    lock["memoryBounds"]["east/chat-70b"] |= {"bound": "72Gi", "reason": "priced before"}
    lock["memoryBounds"]["east/rag-8b"] |= {"bound": "50Gi", "reason": "priced before"}
    (folder / LOCK_FILE).write_text(json.dumps(lock))
    ran = pin(folder)
    assert [line for line in ran.stdout.splitlines() if "memoryBounds" in line] == [
        "  memoryBounds.east/rag-8b  50Gi -> 60Gi: priced 60Gi, in whole Gi"
    ]
    assert read_lock(folder)["memoryBounds"]["east/chat-70b"]["bound"] == "72Gi"
    assert "east/chat-70b  72Gi -> 70Gi" in pin(folder, "--upgrade", "bounds").stdout


def test_what_is_rendered_asks_for_the_bound_of_the_lock(folder: Path) -> None:
    lock = read_lock(folder)
    lock["memoryBounds"]["lab-alpha/guard-1b7"] |= {"bound": "17Gi"}
    before = run("generate", "--cluster=lab-alpha", "--unit=guard-1b7", folder=folder).stdout
    (folder / LOCK_FILE).write_text(json.dumps(lock))
    after = run("generate", "--cluster=lab-alpha", "--unit=guard-1b7", folder=folder).stdout
    assert ("15Gi" in before, "17Gi" in after) == (True, True)
    # Of another version of the envelope it is another price, and one below today's price would be a wrong "it fits".
    lock["memoryBounds"]["lab-alpha/guard-1b7"] |= {"bound": "14Gi"}
    (folder / LOCK_FILE).write_text(json.dumps(lock))
    assert run("generate", "--cluster=lab-alpha", "--unit=guard-1b7", folder=folder).stdout == before
    lock["memoryBounds"]["lab-alpha/guard-1b7"] |= {"envelope": "guard-1b7@9.9.9"}
    (folder / LOCK_FILE).write_text(json.dumps(lock))
    assert run("generate", "--cluster=lab-alpha", "--unit=guard-1b7", folder=folder).stdout == before


def test_check_says_that_the_lock_is_behind(folder: Path) -> None:
    lock = read_lock(folder)
    lock["memoryBounds"]["lab-alpha/guard-1b7"] |= {"bound": "14Gi"}
    (folder / LOCK_FILE).write_text(json.dumps(lock))
    edit(folder, STACK, "580.173.02", "595.91.07")
    ran = run("check", folder=folder)
    assert ran.code == 0
    assert (
        "poolwright.lock: warning: 2 choices aren't what the specs ask for: memoryBounds.lab-alpha/guard-1b7, "
        "stacks.operator-26-7.gpuDriver  [lock-stale]\n"
        "  why  where the two differ the specs count, and nothing pins what they leave open "
        "(poolwright.dev/v1alpha1)\n"
        "  fix  run poolwright pin, and commit the lock\n"
    ) in ran.stdout
    assert pin(folder).code == 0
    assert "lock-stale" not in run("check", folder=folder).stdout


def test_check_says_that_the_lock_can_not_be_written_anew(folder: Path) -> None:
    edit(folder, STACK, "version: 2.2.x", "version: 3.9.x")
    ran = run("check", folder=folder)
    assert (
        "poolwright.lock: warning: it can't be brought up to date: no version of containerRuntime is known here that "
        "is in 3.9.x  [lock-stale]\n"
    ) in ran.stdout


def test_check_counts_what_is_rehearsed_as_pin_does(folder: Path) -> None:
    for path in folder.glob("rehearsals/26-7/**/*.yaml"):
        path.write_text(
            path.read_text().replace("name: containerd, version: 2.2.1", "name: containerd, version: 2.9.4")
        )
    edit(folder, STACK, "version: 2.2.x", "version: 2.9.x")
    assert "containerRuntime  2.2.1 -> 2.9.4: newest of 2.9.x that is rehearsed" in pin(folder, "--check").stdout
    (line,) = [one for one in run("check", folder=folder).stdout.splitlines() if "[lock-stale]" in one]
    assert line == (
        "poolwright.lock: warning: 1 choice isn't what the specs ask for: stacks.operator-26-7.containerRuntime  "
        "[lock-stale]"
    )


@pytest.mark.parametrize("option", ["--plan", "--matrix"])
def test_what_is_only_printed_writes_nothing(option: str, folder: Path) -> None:
    before = (folder / LOCK_FILE).read_bytes()
    edit(folder, STACK, "580.173.02", "595.91.07")
    assert pin(folder, option).code == 0
    assert (folder / LOCK_FILE).read_bytes() == before


def test_a_digest_that_a_stack_takes_back_is_gone(folder: Path) -> None:
    lock = read_lock(folder)
    images = lock["stacks"]["operator-26-7"]["images"]
    digest = "sha256:" + "a" * 64
    images["vllm"] |= {"digest": digest, "by": "stack", "reason": "written in the stack"}
    (folder / LOCK_FILE).write_text(json.dumps(lock))
    assert pin(folder).code == 0
    assert "digest" not in read_lock(folder)["stacks"]["operator-26-7"]["images"]["vllm"]
    images["vllm"] |= {"by": "registry"}
    (folder / LOCK_FILE).write_text(json.dumps(lock))
    assert pin(folder).code == 0
    assert read_lock(folder)["stacks"]["operator-26-7"]["images"]["vllm"]["digest"] == digest


@pytest.mark.parametrize(("field", "what"), [("digest", "no digest, and by whom"), ("by", "a digest, and not by whom")])
def test_a_digest_is_somebodys(field: str, what: str, folder: Path) -> None:
    lock = read_lock(folder)
    image = lock["stacks"]["operator-26-7"]["images"]["vllm"]
    image |= {"digest": "sha256:" + "a" * 64, "by": "registry"}
    del image[field]
    (folder / LOCK_FILE).write_text(json.dumps(lock, indent=1))
    ran = pin(folder)
    assert (ran.code, f"image vllm has {what}  [lock-unreadable]" in ran.stderr) == (2, True)


def test_a_version_in_the_lock_is_one(folder: Path) -> None:
    lock = read_lock(folder)
    lock["stacks"]["operator-26-7"]["gpuDriver"]["version"] = "newest"
    (folder / LOCK_FILE).write_text(json.dumps(lock, indent=1))
    ran = pin(folder, "--plan")
    assert (ran.code, "Traceback" in ran.stderr) == (2, False)
    assert ran.stderr.startswith("poolwright.lock:")


REFUSED = {
    "no-json-and-no-yaml": ("{", "poolwright.lock:2:1: ", "yaml-syntax"),
    "not-a-lock": ("[]\n", "poolwright.lock:1:1: ", "wrong-type"),
    "another-field": ('{"a": 1}\n', "poolwright.lock:1:2: ", "unknown-field"),
    "two": ("a: 1\n---\nb: 2\n", "poolwright.lock: it holds 2 documents", "lock-unreadable"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("command", [("pin",), ("check",), ("generate", "--cluster=east", "--unit=chat-70b")])
def test_a_lock_that_is_none_is_refused_everywhere(command: tuple[str, ...], name: str, folder: Path) -> None:
    text, place, code = REFUSED[name]
    (folder / LOCK_FILE).write_text(text)
    ran = run(*command, folder=folder)
    assert ran.code == (1 if command == ("check",) else 2)
    assert place in ran.stdout + ran.stderr
    assert f"[{code}]" in ran.stdout + ran.stderr
    assert (folder / LOCK_FILE).read_text() == text


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("minPoolwright", "9.0.0", "it was written for poolwright 9.0.0 or later"),
        ("renderFormat", {"version": 2, "reason": "x"}, "render format 2 isn't known here"),
    ],
)
def test_a_lock_of_a_newer_release_is_refused_before_any_spec(
    field: str, value: object, what: str, folder: Path
) -> None:
    (folder / LOCK_FILE).write_text(json.dumps(read_lock(folder) | {field: value}))
    (folder / "specs/broken.yaml").write_text("kind: FromTheFuture\n")
    ran = run("generate", "--cluster=east", "--unit=chat-70b", folder=folder)
    assert (ran.code, ran.stderr.splitlines()[0]) == (2, f"poolwright.lock: {what}  [lock-unreadable]")


def test_a_lock_is_one_document(folder: Path) -> None:
    (folder / LOCK_FILE).write_text("a: 1\n---\nb: 2\n")
    assert pin(folder).stderr == (
        "poolwright.lock: it holds 2 documents, and a lock is one  [lock-unreadable]\n"
        "  why  exact versions and the memory that claims ask for are read from it (poolwright.dev/v1alpha1)\n"
        "  fix  restore it from Git, or run poolwright pin\n"
    )


def test_a_range_without_a_known_version_is_refused(folder: Path) -> None:
    before = (folder / LOCK_FILE).read_bytes()
    edit(folder, STACK, "version: 2.2.x", "version: 3.9.x")
    ran = pin(folder)
    assert (ran.code, ran.stderr) == (
        2,
        "specs/stacks/operator-26-7.yaml:22:49: no version of containerRuntime is known here that is in 3.9.x  "
        "[version-unresolved]\n"
        "  at   spec.containerRuntime.version\n"
        "  why  what is pinned is a release that exists; none is made up (poolwright.dev/v1alpha1)\n"
        "  fix  write the exact version, or add it to the facts; known are 2.4.2, 2.4.1, 2.4.0, 2.3.7, 2.3.6\n",
    )
    assert (folder / LOCK_FILE).read_bytes() == before


def test_what_does_not_go_together_is_not_pinned(folder: Path) -> None:
    edit(folder, STACK, "version: 26.7.0", "version: 26.3.x")
    ran = pin(folder)
    assert (ran.code, "[operator-mode]" in ran.stderr, "Traceback" in ran.stderr) == (2, True, False)


def test_a_range_of_what_is_exact_elsewhere(folder: Path) -> None:
    """The operator, its DRA driver, the GPU driver and the toolkit too may be ranges, once there is a lock."""
    edit(folder, STACK, "version: 26.7.0", "version: 26.7.x")
    edit(folder, STACK, "version: 0.5.0", "version: 0.5.x")
    edit(folder, STACK, "580.173.02", "580.x")
    edit(folder, STACK, "version: 1.20.0", "version: 1.20.x")
    assert pin(folder).code == 0
    stack = read_lock(folder)["stacks"]["operator-26-7"]
    assert [stack[name]["version"] for name in ("gpuOperator", "gpuDriver", "containerToolkit")] == [
        "26.7.0",
        "580.173.02",
        "1.20.0",
    ]
    assert run("check", folder=folder).code == 0
    # What moved out of the lock's hands is read as it stands.
    edit(folder, STACK, "version: 26.7.x", "version: 26.3.x")
    assert 'stack "operator-26-7"' not in run("check", folder=folder).stdout
    assert run("check", folder=folder).code == 1


def test_json_is_what_the_schema_says(folder: Path) -> None:
    edit(folder, STACK, "580.173.02", "580.1.1")
    ran = pin(folder, "--check", "--format=json")
    document = json.loads(ran.stdout)
    jsonschema_rs.validate(pin_schema(), document)
    assert (ran.code, document["written"]) == (1, False)
    assert [one["answer"] for one in document["stacks"]] == ["unlisted", "supported"]


def test_a_digest_in_the_lock_is_what_is_rendered_and_what_policy_asks_for(folder: Path) -> None:
    edit(folder, "poolwright.yaml", "  clusters:\n", "  policy: {images: digest}\n  clusters:\n")
    ran = run("check", folder=folder)
    assert ran.stdout.count("[image-not-pinned]") == 3
    assert (
        'specs/stacks/operator-26-7.yaml:29:14: image "vllm" has a tag and no digest  [image-not-pinned]\n'
        "  at   spec.servingImages[0].image\n"
        "  why  a tag is a name that can come to mean another image; the project's policy is digests "
        "(poolwright.dev/v1alpha1: policy.images)\n"
        "  fix  write @sha256:..., or ask the registry: poolwright pin --online\n"
    ) in ran.stdout
    lock, digest = read_lock(folder), "sha256:" + "a" * 64
    for stack in lock["stacks"].values():
        for image in stack["images"].values():
            image |= {"digest": digest, "by": "registry"}
    (folder / LOCK_FILE).write_text(json.dumps(lock))
    assert "image-not-pinned" not in run("check", folder=folder).stdout
    assert (
        f"vllm-openai:v0.33.0@{digest}"
        in run("generate", "--cluster=lab-alpha", "--unit=guard-1b7", folder=folder).stdout
    )
    assert pin(folder).code == 0  # what a registry gave is kept
    assert digest in (folder / LOCK_FILE).read_text()


def test_the_release_is_the_packages() -> None:
    import tomllib

    text = (FLEET.parent.parent / "pyproject.toml").read_text()
    assert tomllib.loads(text)["project"]["version"] == TOOL_VERSION


def test_the_newest_that_is_rehearsed_comes_before_the_newest_that_is_known(folder: Path) -> None:
    (folder / LOCK_FILE).unlink()
    assert pin(folder).code == 0
    assert read_lock(folder)["stacks"]["operator-26-7"]["kubernetes"] == {
        "version": "1.36.2",
        "reason": "newest of 1.36.x that is rehearsed",
        "source": "rehearsals/",
    }
    (folder / LOCK_FILE).unlink()
    shutil.rmtree(folder / "rehearsals")
    assert pin(folder).code == 0
    assert read_lock(folder)["stacks"]["operator-26-7"]["kubernetes"]["reason"] == "newest of 1.36.x that is known here"


def test_the_matrix_says_what_is_owed(folder: Path) -> None:
    ran = pin(folder, "--check", "--matrix", "--as-of=2026-11-30")
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "1 of 28 steps are owed as of 2026-11-30; 27 records, 0 refused"
    # Before the records were written nothing was proven.
    early = pin(folder, "--check", "--matrix", "--as-of=2026-01-01").stdout.splitlines()[-1]
    assert early == "28 of 28 steps are owed as of 2026-01-01; 27 records, 27 refused"
    assert (
        "  rehearsals/26-7/h100-full-perpod-vllm/upgrade.yaml: claims: 1 gone, 1 kept, 1 new; 4 of 4 allocations are "
        in (ran.stdout)
    )
    assert ran.stdout.count(": not verifiable here: evidence/") == 26


def test_only_records_that_count_are_preferred(folder: Path) -> None:
    """Before they were carried out nothing was rehearsed."""
    (folder / LOCK_FILE).unlink()
    assert pin(folder, "--as-of=2026-01-01").code == 0
    assert read_lock(folder)["stacks"]["operator-26-7"]["kubernetes"]["reason"] == "newest of 1.36.x that is known here"


def test_a_snapshot_that_was_edited_refuses_its_record(folder: Path) -> None:
    edit(folder, "evidence/26-7/h100-full-perpod-vllm/upgrade/after.jsonl", "gpu-0", "gpu-7")
    lines = pin(folder, "--check", "--matrix", "--as-of=2026-11-30").stdout.splitlines()
    record = "rehearsals/26-7/h100-full-perpod-vllm/upgrade.yaml"
    assert f"    upgrade   missing; refused: {record}" in lines
    assert f"  {record}: 1 problem with its snapshots" in lines
    assert lines[-1] == "2 of 28 steps are owed as of 2026-11-30; 27 records, 1 refused"


def test_a_tag_that_moves_is_no_version(folder: Path) -> None:
    edit(folder, STACK, "vllm-openai:v0.33.0", "vllm-openai:latest")
    ran = run("check", folder=folder)
    assert (ran.code, ran.stdout.count("[image-not-pinned]")) == (1, 1)
    assert 'image "vllm" names no version that holds still  [image-not-pinned]' in ran.stdout


def test_a_cluster_has_one_of_the_operators_two_resources(folder: Path) -> None:
    """What a chart can't see: a ClusterPolicy that is left where the stack makes a GPUCluster."""
    path = folder / "inventory/east.yaml"
    left = "---\napiVersion: nvidia.com/v1\nkind: ClusterPolicy\nmetadata: {name: cluster-policy}\nspec: {}\n"
    path.write_text(path.read_text() + left)
    ran = run("check", folder=folder)
    assert ran.code == 1
    assert (
        'specs/stacks/operator-26-7.yaml:11:11: cluster "east" has ClusterPolicy/cluster-policy (inventory/east.yaml), '
        "and the stack's mode is gpuCluster  [operator-mode]\n"
    ) in ran.stdout
