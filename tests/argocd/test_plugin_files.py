"""plugin.yaml, and what it runs beside generate: parameters announced, Applications discovered."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from packet_fleet import packet_call, packet_fleet
from plugin_call import (
    TRUST,
    Call,
    build_environment,
    call,
    committed_fleet,
    plugin_fleet,
    run_plugin,
    sidecar_environment,
    unit_parameters,
)

from fleet import PROJECT, ROOT, Files, edit
from folders import write_files
from poolwright.argocd.announcements import MAX_NAMES, build_announcements
from poolwright.argocd.discover import find_marker
from poolwright.objects.argocd import PLUGIN as PLUGIN_NAME
from run_poolwright import Ran, run

PLUGIN = plugin_fleet()
COMMITTED = committed_fleet()
UNIT_PATH = "overlays/east/chat-70b"
ANNOUNCE = ("cmp", "announce-parameters")


def read_plugin(name: str) -> Any:
    return yaml.safe_load((ROOT / "pipelines" / "argocd" / name).read_text(encoding="utf-8"))


# Argo CD ignores keys that it doesn't know, so a misspelt one would have no effect that anybody sees.
GENERATE = {"command": ["poolwright", "generate", "--argocd"]}
PARAMETERS = {"dynamic": {"command": ["poolwright", *ANNOUNCE]}}
OFF = {"preserveFileMode": False, "provideGitCreds": False}
DISCOVER = {"find": {"command": ["poolwright", "cmp", "discover"]}}
PLUGINS = {
    "plugin.yaml": {"generate": GENERATE, "parameters": PARAMETERS, **OFF},
    "plugin-with-discovery.yaml": {"discover": DISCOVER, "generate": GENERATE, "parameters": PARAMETERS, **OFF},
}


@pytest.mark.parametrize("name", PLUGINS)
def test_the_file_says_just_this(name: str) -> None:
    assert read_plugin(name) == {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ConfigManagementPlugin",
        "metadata": {"name": PLUGIN_NAME},
        "spec": PLUGINS[name],
    }


@pytest.mark.parametrize("name", PLUGINS)
def test_its_commands_are_ours(name: str, tmp_path: Path) -> None:
    spec = read_plugin(name)["spec"]
    commands = [spec["generate"]["command"], spec["parameters"]["dynamic"]["command"]]
    commands += [spec["discover"]["find"]["command"]] if "discover" in spec else []
    for program, *arguments in commands:
        assert program == "poolwright"
        ran = call(Call(), PLUGIN, tmp_path / arguments[-1], arguments)
        assert (ran.code, ran.stderr) == (0, "")
        assert ran.stdout


# --- announcements ---


def announced(required: bool, cluster: str = "", unit: str = "", taken: str = "None is") -> list[dict[str, object]]:
    kinds = {"itemType": "string", "collectionType": "string"}
    names = "A placement, or platform. east: chat-70b, chat-70b-next, platform"
    return [
        {"name": "cluster", "title": "Cluster", "tooltip": "One of: east", "required": required, "string": cluster}
        | kinds,
        {"name": "unit", "title": "Unit", "tooltip": names, "required": required, "string": unit} | kinds,
        {
            "name": "release",
            "title": "Release",
            "tooltip": f"Of clusters that are delivered by packet, and no others. {taken}",
            "required": False,
            "string": "",
        }
        | kinds,
    ]


def announce(files: Files, top: Path, path: str = ".") -> Ran:
    """With the shorter environment that it gets: no project, namespace or revision, nothing of the cluster."""
    root = write_files(top / "sent", files)
    said = {
        "ARGOCD_APP_NAME": "east-chat-70b",
        "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/platform/inference-fleet.git",
        "ARGOCD_APP_SOURCE_PATH": path,
        "ARGOCD_APP_SOURCE_TARGET_REVISION": "main",
        "ARGOCD_APP_PARAMETERS": "null",
    }
    return run_plugin(root / path, {**sidecar_environment(top / "trust.yaml"), **said}, ANNOUNCE)


def test_clusters_and_units_are_announced(tmp_path: Path) -> None:
    ran = announce(PLUGIN, tmp_path)
    assert (ran.code, ran.stderr, json.loads(ran.stdout)) == (0, "", announced(True))


def test_releases_are_announced(tmp_path: Path) -> None:
    files = edit(PLUGIN, PROJECT, ("delivery: plugin", "delivery: packet\n      release: 26-7"))
    ran = announce(files, tmp_path)
    assert (ran.code, ran.stderr, json.loads(ran.stdout)) == (0, "", announced(True, taken="east: 26-7"))


def test_what_the_path_says_is_the_default(tmp_path: Path) -> None:
    ran = announce(COMMITTED, tmp_path, UNIT_PATH)
    assert (ran.code, ran.stderr, json.loads(ran.stdout)) == (0, "", announced(False, "east", "chat-70b"))


NO_RELEASE = "Of clusters that are delivered by packet, and no others. None is"
BROKEN = {
    "another-teams-spec": (
        {**PLUGIN, "specs/x.yaml": b"kind: Envelope"},
        ("One of: east", "A placement, or platform. east: none", NO_RELEASE),
    ),
    "the-project": (
        {**PLUGIN, "poolwright.yaml": b"spec: ["},
        (
            "The clusters aren't known: poolwright.yaml:2:1: this is not YAML: did not find expected node content, "
            "while parsing a flow node",
            "A placement, or platform.",
            NO_RELEASE,
        ),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_form_is_there_for_who_corrects_it(name: str, tmp_path: Path) -> None:
    files, tooltips = BROKEN[name]
    ran = announce(files, tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    assert tuple(one["tooltip"] for one in json.loads(ran.stdout)) == tooltips


def test_without_a_project_nothing_is_announced(tmp_path: Path) -> None:
    said = """\
poolwright.yaml: there is no poolwright.yaml in the repository's root  [project-missing]
  why  that file is the root of a project: it names the clusters (Argo CD's plugin contract)
  fix  point source.path of the Application at the project's folder, or at one in it
poolwright: announce-parameters refused: poolwright.yaml: there is no poolwright.yaml in the repository's root; \
fix: point source.path of the Application at the project's folder, or at one in it
"""
    assert announce({"x": b""}, tmp_path) == Ran(2, "", said)


def test_a_tooltip_is_bounded() -> None:
    many = {f"cluster-{number:03}": ["platform"] for number in range(500)}
    for one in build_announcements(many, None, releases=dict.fromkeys(many, "26-7")):
        assert len(one.tooltip) == MAX_NAMES + 3


# --- discovery ---

DISCOVERED: dict[str, tuple[str, Files, bool, str]] = {
    # path, files, whether the Application has a plugin section, what is printed
    "a-units-folder": (UNIT_PATH, COMMITTED, False, "poolwright-manifest.json"),
    "a-platforms-folder": ("overlays/east/platform", COMMITTED, False, "poolwright-manifest.json"),
    "a-project-by-name": (".", PLUGIN, True, "poolwright.yaml"),
    # The marker in the repository's root doesn't count: discovery runs in the Application's own folder.
    "another-folder-of-the-repository": ("apps/web", {**PLUGIN, "apps/web/kustomization.yaml": b""}, False, ""),
    "another-folder-by-name": ("apps/web", {**PLUGIN, "apps/web/kustomization.yaml": b""}, True, ""),
    "a-project-as-plain-files": (".", PLUGIN, False, ""),
    "a-folder-of-applications": (
        "overlays/east/argocd",
        {**COMMITTED, "overlays/east/argocd/poolwright-manifest.json": b"{}"},
        False,
        "",
    ),
    "a-base": ("overlays/base/chat-70b/2.3.0", COMMITTED, False, ""),
    "a-unit-that-isnt-rendered": (UNIT_PATH, {f"{UNIT_PATH}/kustomization.yaml": b""}, False, ""),
}


@pytest.mark.parametrize("name", DISCOVERED)
def test_which_applications_are_ours(name: str, tmp_path: Path) -> None:
    path, files, has_section, marker = DISCOVERED[name]
    root = write_files(tmp_path, files)
    environ = {"ARGOCD_APP_SOURCE_PATH": path, **({"ARGOCD_APP_PARAMETERS": "null"} if has_section else {})}
    assert find_marker(str(root / path), environ) == marker


def test_discovery_prints_a_line_or_nothing(tmp_path: Path) -> None:
    """With the environment of an automatic probe, and little loaded: it is asked about every Application."""
    unit = Call(parameters=None, path=UNIT_PATH)
    assert call(unit, COMMITTED, tmp_path, ("cmp", "discover")) == Ran(0, "poolwright-manifest.json\n", "")
    assert call(replace(unit, path="specs"), COMMITTED, tmp_path, ("cmp", "discover")) == Ran(0, "", "")
    loaded = list_modules(("cmp", "discover"), tmp_path / "sent", dict(os.environ))
    assert {name for name in loaded if name.split(".")[0] in ("msgspec", "yaml", "click", "re", "json")} == set()


# --- what Argo CD takes for an answer ---


def test_a_debugging_python_says_nothing_on_stdout(tmp_path: Path) -> None:
    """Whatever is switched on, stdout has objects and nothing else."""
    root = write_files(tmp_path / "sent", PLUGIN)
    (tmp_path / "trust.yaml").write_text(TRUST)
    quiet = run_plugin(root, build_environment(Call(), tmp_path / "trust.yaml"), ("generate", "--argocd"))
    more = {"PYTHONVERBOSE": "1", "PYTHONWARNINGS": "always", "PYTHONDEVMODE": "1"}
    loud = run_plugin(root, build_environment(Call(more=more), tmp_path / "trust.yaml"), ("generate", "--argocd"))
    assert (quiet.code, loud.code, loud.stdout) == (0, 0, quiet.stdout)
    assert loud.stderr
    documents = list(yaml.safe_load_all(quiet.stdout))
    assert documents
    assert all({"apiVersion", "kind", "metadata"} <= document.keys() for document in documents)


def test_an_answer_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    """A full disk behind stdout, or nobody there: never an empty success, which would remove everything."""
    root = write_files(tmp_path / "sent", PLUGIN)
    (tmp_path / "trust.yaml").write_text(TRUST)
    argv = [sys.executable, "-P", "-m", "poolwright", "generate", "--argocd"]
    environment = build_environment(Call(), tmp_path / "trust.yaml")
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(argv, cwd=root, env=environment, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (2, b"poolwright: stdout: No space left on device\n")


# As test_generate_command's, but for `generate --argocd`: of a start-up path of its own that is the longest.
HEAVY = (
    *("click", "jsonschema_rs", "jinja2", "argparse", "subprocess", "pathlib", "tempfile", "fractions", "difflib"),
    *("concurrent", "json", "socket", "ssl", "urllib", "importlib.metadata", "logging", "git", "urllib3"),
    *("poolwright.specs.schema", "poolwright.specs.shape", "poolwright.kustomize", "poolwright.sandbox"),
    *("poolwright.cli.commands", "poolwright.cli.load", "poolwright.plan", "poolwright.allocation"),
    *("poolwright.trust.schema", "poolwright.argocd.announcements", "poolwright.argocd.discover"),
)
# What judges signatures: only where something is taken from a release.
JUDGES = ("dataclasses", "cryptography", "poolwright.attestations", "poolwright.packets", "poolwright.packet")
LOADED = {
    "rendered": (Call(parameters=unit_parameters("east", "platform")), PLUGIN, (*HEAVY, *JUDGES)),
    "released": (packet_call(), packet_fleet(), HEAVY),
}


@pytest.mark.parametrize(("asked", "files", "heavy"), LOADED.values(), ids=LOADED)
def test_it_loads_nothing_heavy(asked: Call, files: Files, heavy: tuple[str, ...], tmp_path: Path) -> None:
    root = write_files(tmp_path / "sent", files)
    (tmp_path / "trust.yaml").write_text(str(asked.trust))
    environment = build_environment(asked, tmp_path / "trust.yaml")
    loaded = list_modules(("generate", "--argocd"), root, environment)
    loaded -= list_modules((), root, environment)
    assert "poolwright.argocd.request" in loaded
    assert {name for name in loaded for one in heavy if name == one or name.startswith(f"{one}.")} == set()


MODULES = (
    "import runpy, sys\n"
    "sys.argv = ['poolwright', *sys.argv[1:]]\n"
    "try:\n    sys.argv[1:] and runpy.run_module('poolwright', run_name='__main__')\n"
    "except SystemExit as stop:\n    assert stop.code == 0\n"
    "print(*sorted(sys.modules), file=sys.stderr)\n"
)


def list_modules(arguments: tuple[str, ...], folder: Path, environment: dict[str, str]) -> set[str]:
    """Everything that is loaded when the command ends."""
    argv = [sys.executable, "-P", "-c", MODULES, *arguments]
    ended = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return set(ended.stderr.split())


def test_help_of_the_group_lists_its_commands() -> None:
    assert "announce-parameters" in run("cmp", "--help", folder=ROOT).stdout
