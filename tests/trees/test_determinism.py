"""Same meaning, same bytes: whatever a spec looks like, wherever and in whatever order it is read."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet import (
    ENVELOPE,
    FLEET,
    PLACEMENTS,
    POOL,
    PROJECT,
    STACK,
    Files,
    edit,
    list_specs,
    read_small_fleet,
    render_tree,
)
from fleet_variants import IMAGE, large_fleet
from folders import read_files, write_files
from poolwright.specs.document import parse_documents
from poolwright.trees.folder import MANIFEST_NAME

LARGE = large_fleet()
TREE = render_tree(LARGE)

# --- what a file looks like ---


class _Quoting(yaml.SafeDumper):
    """Writes every text in double quotes, keys too."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def dump_flow(document: Any) -> str:
    return yaml.safe_dump(document, default_flow_style=True, width=40, sort_keys=False, allow_unicode=True)


def dump_json(document: Any) -> str:
    return json.dumps(document, indent=1, ensure_ascii=True) + "\n"


def dump_block(document: Any) -> str:
    return yaml.safe_dump(document, default_flow_style=False, sort_keys=False, indent=5, width=10_000)


def dump_quoted(document: Any) -> str:
    return yaml.dump(document, Dumper=_Quoting, default_flow_style=False, sort_keys=False, width=10_000)


def dump_commented(document: Any) -> str:
    lines = dump_block(document).splitlines()
    return "# kind: Placement\n" + "".join(f"{line}   # name: chat-70b\n\n      # {{\n" for line in lines)


def dump_explicit(document: Any) -> str:
    return "---\n" + dump_block(document).replace("\n", "\r\n") + "...\n"


STYLES = (dump_flow, dump_json, dump_block, dump_quoted, dump_commented, dump_explicit)
# Lists keyed by name, and lists that are sets.
UNORDERED = (
    "clusters",
    "draDrivers",
    "servingImages",
    "deviceClasses",
    "namespaces",
    "tolerations",
    "type",
    "productName",
    "profile",
)


def rewrite(files: Files, change: Callable[[Any], Any], dump: Callable[[Any], str]) -> dict[str, bytes]:
    """Every spec file written anew: each document changed as a plain value, then dumped."""
    written = {
        path: "---\n".join(dump(change(document.value)) for document in parse_documents(data, path)).encode()
        for path, data in list_specs(files).items()
    }
    return {**files, **written}


def keep(value: Any) -> Any:
    return value


def reverse(value: Any) -> Any:
    """The last key first, and the last item of every list without an order."""
    if isinstance(value, dict):
        return {
            key: list(map(reverse, reversed(item))) if key in UNORDERED and isinstance(item, list) else reverse(item)
            for key, item in reversed(value.items())
        }
    return [reverse(item) for item in value] if isinstance(value, list) else value


def merge(files: Files) -> Files:
    """All specs but the Project in one file."""
    rest = {path: data for path, data in files.items() if path not in list_specs(files) or path == PROJECT}
    return {**rest, "specs/all.yml": b"\n---\n".join(d for p, d in list_specs(files).items() if p != PROJECT)}


def split(files: Files) -> Files:
    """Each spec in a file of its own, the last ones first by name."""
    rest = {path: data for path, data in files.items() if path not in list_specs(files) or path == PROJECT}
    documents = [d for p, data in list_specs(files).items() if p != PROJECT for d in parse_documents(data, p)]
    return rest | {
        f"specs/deep/er/{100 - number}.yaml": dump_block(document.value).encode()
        for number, document in enumerate(documents)
    }


REFORMATTED: dict[str, Files] = {
    **{f"style-{dump.__name__.removeprefix('dump_')}": rewrite(LARGE, keep, dump) for dump in STYLES},
    "keys-and-unordered-lists-the-other-way-round": rewrite(LARGE, reverse, dump_block),
    "line-ends-of-another-system": {**LARGE, **{p: d.replace(b"\n", b"\r\n") for p, d in list_specs(LARGE).items()}},
    "quantities-spelled-otherwise": edit(
        edit(
            edit(LARGE, POOL, ("79Gi, below: 90Gi", '80896Mi, below: "96636764160"')),
            ENVELOPE,
            ('cpu: "16", memory: 128Gi', "cpu: 16000m, memory: 131072Mi"),
            ("limits: {memory: 128Gi}", "limits: {memory: 137438953472}"),
        ),
        "specs/west/units.yml",
        ("cpu: 500m", 'cpu: "0.5"'),
    ),
    "durations-spelled-otherwise": edit(LARGE, ENVELOPE, ("timeout: 15m", "timeout: 900s")),
    "defaults-written-out": edit(
        edit(LARGE, PLACEMENTS, ("  surge: 1\n", "  surge: 1\n  lane: baseline\n")),
        "specs/west/pools.yaml",
        ("{key: nvidia.com/gpu}", "{key: nvidia.com/gpu, operator: Equal}"),
        ("driver: gpu.example.com}", "driver: gpu.example.com, attributes: {}, capacity: {}, selectors: []}"),
    ),
    "a-default-left-out": edit(LARGE, ENVELOPE, ("precision: {compute: bfloat16, kvCache: bfloat16}", "precision: {}")),
    "a-toleration-twice": edit(
        LARGE, "specs/west/pools.yaml", ("    - {key: nvidia.com/gpu}\n", "    - {key: nvidia.com/gpu}\n" * 2)
    ),
    "all-in-one-file": merge(LARGE),
    "each-in-a-file": split(LARGE),
    "listed-the-other-way-round": dict(reversed(LARGE.items())),
    "files-that-nothing-names": {**LARGE, "notes.yaml": b"]", "specs/README.md": b"#", "custom/a.yaml": b"{"},
}


def test_a_map_of_defaults_left_out_changes_no_byte() -> None:
    assert render_tree(edit(LARGE, ENVELOPE, ("  precision: {compute: bfloat16, kvCache: bfloat16}\n", ""))) == TREE


@pytest.mark.parametrize("name", REFORMATTED)
def test_another_look_changes_no_byte(name: str) -> None:
    files = REFORMATTED[name]
    assert list(files.items()) != list(LARGE.items())
    assert render_tree(files) == TREE


@settings(max_examples=12, deadline=None)
@given(st.randoms(use_true_random=False))
def test_any_style_and_order_gives_the_same_bytes(rng: random.Random) -> None:
    def shuffle(value: Any) -> Any:
        if isinstance(value, dict):
            pairs = [
                (k, rng.sample(v, len(v)) if k in UNORDERED and isinstance(v, list) else v) for k, v in value.items()
            ]
            return {key: shuffle(item) for key, item in rng.sample(pairs, len(pairs))}
        return [shuffle(item) for item in value] if isinstance(value, list) else value

    files = rewrite(LARGE, shuffle, lambda document: rng.choice(STYLES)(document))
    assert render_tree(dict(rng.sample(list(files.items()), len(files)))) == TREE


# --- raw CEL ---

CEL_BLOCK = """\
            expression: |
              device.attributes["gpu.nvidia.com"].driverVersion
                .compareTo(semver("580.0.0")) >= 0
"""
CEL: dict[str, str] = {
    "on-one-line": 'device.attributes["gpu.nvidia.com"].driverVersion.compareTo(semver("580.0.0")) >= 0',
    "single-quotes": "device.attributes['gpu.nvidia.com'].driverVersion.compareTo(semver('580.0.0')) >= 0",
    "three-quotes": "device.attributes[\"\"\"gpu.nvidia.com\"\"\"].driverVersion.compareTo(semver('''580.0.0''')) >= 0",
    "raw-text": 'device.attributes[r"gpu.nvidia.com"].driverVersion.compareTo(semver(R"580.0.0")) >= 0',
    "escapes": 'device.attributes["gpu\\x2envidia.com"].driverVersion.compareTo(semver("\\u003580.0.0")) >= 0',
    "parentheses": '((device).attributes["gpu.nvidia.com"].driverVersion.compareTo((semver("580.0.0")))) >= (0)',
    "spaces": 'device . attributes [ "gpu.nvidia.com" ] . driverVersion . compareTo( semver( "580.0.0" ) )>=0',
    "line-breaks-and-comments": (
        'device // one\n\n.attributes["gpu.nvidia.com"]\t.driverVersion\n  .compareTo(\nsemver("580.0.0")) >=\n0 //'
    ),
    "number-of-another-base": 'device.attributes["gpu.nvidia.com"].driverVersion.compareTo(semver("580.0.0")) >= 0x0',
}


@pytest.mark.parametrize("name", CEL)
def test_another_look_of_cel_changes_no_byte(name: str) -> None:
    files = edit(LARGE, POOL, (CEL_BLOCK, f"            expression: {json.dumps(CEL[name])}\n"))
    assert render_tree(files) == TREE


# --- what is elsewhere ---

ANOTHER_POOL = b"""\
apiVersion: poolwright.dev/v1alpha1
kind: Pool
metadata: {name: a-pool, version: 1.0.0}
spec:
  clusterName: CLUSTER
  lane: baseline
  owner: platform-gpu
  deviceClasses: [{name: a-class, tier: batch, driver: gpu.nvidia.com}]
  namespaces: [{name: a-namespace}]
"""
SMALL = read_small_fleet()
EAST = {"east/platform", "east/chat-70b", "east/chat-70b-next"}
BASES = {"base/chat-70b/2.3.0", "base/chat-70b/2.4.0"}
# An edit, and the folders whose bytes may change.
EDITS: dict[str, tuple[Files, set[str]]] = {
    "another-cluster": (large_fleet(), set()),
    "a-pool-on-another-cluster": (
        {
            **edit(
                SMALL,
                PROJECT,
                ("  clusters:\n", "  clusters:\n    - {name: a, stackName: kubernetes-1-36, destination: {name: a}}\n"),
            ),
            "specs/a.yaml": ANOTHER_POOL.replace(b"CLUSTER", b"a"),
        },
        set(),
    ),
    "a-pool-on-the-same-cluster": (
        {**SMALL, "specs/a.yaml": ANOTHER_POOL.replace(b"CLUSTER", b"east")},
        {"east/platform", "east/argocd"},  # what it may write to is in the AppProject
    ),
    "a-class-that-no-unit-claims": (
        edit(
            SMALL,
            POOL,
            ("  deviceClasses:\n", "  deviceClasses:\n    - {name: a, tier: batch, driver: gpu.nvidia.com}\n"),
        ),
        {"east/platform"},
    ),
    # Its tolerations and the class's tier are all that a unit takes from a pool.
    "the-pool's-version": (edit(SMALL, POOL, ("version: 1.0.0", "version: 1.0.1")), {"east/platform"}),
    "a-toleration": (
        edit(SMALL, POOL, ("effect: NoSchedule", "effect: NoExecute")),
        {"east/chat-70b", "east/chat-70b-next"},
    ),
    "an-image": (edit(SMALL, STACK, (IMAGE, "vllm:2")), {"east/chat-70b", "east/chat-70b-next"}),
    "an-image-that-no-unit-runs": (
        edit(
            SMALL,
            STACK,
            ("  servingImages:\n", "  servingImages:\n    - {name: a, engine: vllm, version: 0.33.0, image: a}\n"),
        ),
        set(),
    ),
    # It is in each unit's closure: the next test.
    "a-kubernetes-that-serves-the-same": (edit(SMALL, STACK, ("1.36.x", "1.37.x")), EAST),
    "a-promotion": (edit(SMALL, PLACEMENTS, ("version: 2.3.0", "version: 2.4.0")), {"east/chat-70b"}),
    "an-envelope-version": (
        edit(SMALL, ENVELOPE, ("contextTokens: 16384", "contextTokens: 16385")),
        {"base/chat-70b/2.3.0", "east/chat-70b"},
    ),
    "the-model's-config": ({**SMALL, "models/llama-3.3-70b-fp8/config.json": b"{}"}, BASES | EAST - {"east/platform"}),
    "the-project's-name": (edit(SMALL, PROJECT, ("name: inference-fleet", "name: fleet")), EAST | {"east/argocd"}),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_changes_only_what_follows_from_it(name: str) -> None:
    files, allowed = EDITS[name]
    before, after = render_tree(SMALL), render_tree(files)
    changed = {path for path, data in before.items() if after.get(path) != data}
    assert {path.removeprefix("overlays/") for path in map(_unit_folder, changed)} == allowed


def test_a_kubernetes_that_serves_the_same_changes_no_object() -> None:
    before, after = render_tree(SMALL), render_tree(EDITS["a-kubernetes-that-serves-the-same"][0])
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert changed == {f"overlays/{unit}/{MANIFEST_NAME}" for unit in EAST}


def _unit_folder(path: str) -> str:
    return "/".join(path.split("/")[: 4 if path.startswith("overlays/base/") else 3])


# --- where and when it runs ---

ELSEWHERE: dict[str, Mapping[str, str]] = {
    "posix-locale-and-far-east": {
        "LC_ALL": "POSIX",
        "PYTHONUTF8": "0",
        "TZ": "Pacific/Kiritimati",
        "PYTHONHASHSEED": "1",
    },
    "ascii-and-far-west": {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "TZ": "Etc/GMT+12",
        "PYTHONHASHSEED": "4242",
    },
    "utf-8-and-optimised": {"LC_ALL": "C.UTF-8", "PYTHONOPTIMIZE": "2", "PYTHONHASHSEED": "random"},
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_another_process_writes_the_same_bytes(name: str, tmp_path: Path) -> None:
    """In another folder, with another locale, hash seed and time zone; a second run changes nothing."""
    project = write_files(tmp_path / "a project", LARGE)
    # With what is under test, if that isn't what is installed.
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = {**kept, **ELSEWHERE[name]}
    command = (sys.executable, "-m", "poolwright", "render", "--project", "a project", "--out", "out")
    said = [
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True).stdout for _ in range(2)
    ]
    assert read_files(tmp_path / "out") == TREE
    assert said[1] == b"11 folders: 0 written, 11 already current\n"
    assert read_files(project) == dict(LARGE)
    unit = ("--cluster=west", "--unit=embed-with-a-name-of-forty-characters-xx")
    command = (sys.executable, "-m", "poolwright", "generate", "--project", "a project", *unit)
    printed = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True).stdout
    assert "example.com/é: {embed}".encode() in printed


def test_the_example_is_read_from_where_it_is() -> None:
    """The path of the project stands in no byte: every other test of this file renders it from memory."""
    assert not any(str(FLEET).encode() in data for data in read_files(FLEET / "overlays").values())
