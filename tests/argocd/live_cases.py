"""Calls that are made of the real argocd-cmp-server and of ours: small repositories and plugins."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fleet import ROOT, read_fleet
from folders import write_files

OBJECT = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}'
YAML = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One call."""

    spec: Mapping[str, Any]  # of the plugin
    method: str = "GenerateManifest"
    files: Mapping[str, str] = field(default_factory=lambda: {"app/values.yaml": "x: 1\n"})
    links: Mapping[str, str] = field(default_factory=dict)
    executable: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    app_path: str = "app"
    environment: tuple[tuple[str, str], ...] = (("ARGOCD_APP_NAME", "a"),)
    timeout_s: float = 20
    max_message_mib: int | None = None
    sidecar: Mapping[str, str] = field(default_factory=dict)  # of its own environment

    def plugin_file(self) -> str:
        """The plugin.yaml."""
        plugin = {"apiVersion": "argoproj.io/v1alpha1", "kind": "ConfigManagementPlugin", "metadata": {"name": "p"}}
        return json.dumps({**plugin, "spec": self.spec})

    def write(self, folder: Path) -> Path:
        """The repository, with times and modes that are the same everywhere."""
        root = write_files(folder / "repo", {path: text.encode() for path, text in self.files.items()})
        for path, target in self.links.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).symlink_to(target)
        for path in (root, *root.rglob("*")):
            if not path.is_symlink():
                is_open = path.is_dir() or path.relative_to(root).as_posix() in self.executable
                path.chmod(0o755 if is_open else 0o644)
        for path in (*root.rglob("*"), root):
            os.utime(path, (0, 0), follow_symlinks=False)
        return root


def sh(script: str, **others: object) -> dict[str, object]:
    return {"generate": {"command": ["sh", "-c"], "args": [script]}, **others}


def prints(text: str) -> Case:
    return Case(spec={"generate": {"command": ["cat", "out"]}}, files={"app/out": text})


def finds(discover: object, **files: str) -> Case:
    found = {f"app/{name}".replace("__", "/"): text for name, text in files.items()}
    return Case(
        spec={**sh(":"), "discover": discover},
        method="MatchRepository",
        files={"pool.yaml": "", "app/x": "", **found},
    )


def announces(text: str, static: object = ()) -> Case:
    parameters = {"dynamic": {"command": ["cat", "out"]}, "static": static}
    return Case(spec=sh(":", parameters=parameters), method="GetParametersAnnouncement", files={"app/out": text})


def links_to(**links: str) -> Case:
    """What became of links is shown by an object: comments would be gone before anybody could compare them."""
    script = (
        'cd ..; printf \'{"kind":"L","links":"\'; '
        "find . -type l -printf '%P %l;' | tr ';' '\\n' | sort | tr '\\n' ';'; printf '\"}'"
    )
    made = {path.replace("__", "/"): target for path, target in links.items()}
    return Case(spec=sh(script), files={"app/etc/hostname": "h", "base/pool.yaml": "p"}, links=made)


SCALARS = "{y: Y, b: [on, no, Off, yEs], i: [010, 0o10, 0b11, 0x1F, 1_000, 08, +3], f: [1e3, .5, 1.50], "
SCALARS += "s: [12:30, 2026-11-30, 1.2.3, '1', ~], m: &m {k: v}, n: {<<: *m, l: w}, big: 18446744073709551616}"

CASES: dict[str, Case] = {
    "clean": prints(YAML),
    "log-line-first": prints(f"INFO rendering pool h100\n{YAML}"),
    "a-field-by-accident": prints(f"warning: old\n{YAML}"),
    "values-are-no-object": prints("image:\n  tag: v1\n"),
    "empty-documents": prints(f"---\n---\n{YAML}---\n"),
    "nothing-but-nulls": prints("---\nnull\n---\n# nothing\n---\n~\n"),
    "empty": prints(""),
    "json-object": prints(OBJECT),
    "json-stream": prints(f"{OBJECT}{OBJECT}\n{OBJECT}\n"),
    "yaml-after-one-of-json": prints(f"{OBJECT}\n---\n{YAML}"),
    "yaml-after-two-of-json": prints(f"{OBJECT}\n{OBJECT}\n---\n{YAML}"),
    "a-brace-that-is-yaml": prints("{apiVersion: v1, kind: A}\n---\n" + YAML),
    "a-comment": prints(f"{YAML}# Warning: 'commonLabels' is deprecated\n"),
    "text-behind-a-separator": prints(f"{YAML}--- warning\n{YAML}"),
    "a-comment-behind-a-separator": prints(f"{YAML}--- # second\n{YAML}"),
    "a-list": prints(f"apiVersion: v1\nkind: List\nitems:\n- {OBJECT}\n"),
    "a-document-that-is-no-object": prints("- a\n"),
    "a-repeated-key": prints(f"{YAML}kind: Secret\n"),
    "windows-line-ends": prints(YAML.replace("\n", "\r\n")),
    "scalars": prints(f"apiVersion: v1\nkind: A\nspec: {SCALARS}\n"),
    "a-number-that-json-has-not": prints("a: .nan\n"),
    "a-tab": prints("a:\n\tb: 1\n"),
    "many-aliases": prints(
        "\n".join(["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)])
    ),
    "swallowed": Case(spec=sh("(exit 3) | cat")),
    "half": Case(spec=sh(f"echo '{OBJECT}'; echo 'no such pool' >&2; exit 4")),
    "stderr-of-a-success": Case(spec=sh(f"echo INFO >&2; echo '{OBJECT}'")),
    "stderr-of-many-lines": Case(spec=sh("printf '\\n one\\ntwo \\n\\n' >&2; exit 2")),
    "a-signal": Case(spec=sh("kill -TERM $$")),
    "not-on-path": Case(spec={"generate": {"command": ["no-such-program"]}}),
    "words-are-not-read": Case(spec={"generate": {"command": ["ls"], "args": ["$HOME", "a b", ""]}}),
    "a-script-loses-its-mode": Case(
        spec={"generate": {"command": ["./run.sh"]}},
        files={"app/run.sh": f"#!/bin/sh\necho '{OBJECT}'\n"},
        executable=("app/run.sh",),
    ),
    "a-script-keeps-its-mode": Case(
        spec={"generate": {"command": ["./run.sh"]}, "preserveFileMode": True},
        files={"app/run.sh": f"#!/bin/sh\necho '{OBJECT}'\n"},
        executable=("app/run.sh",),
    ),
    "modes": Case(
        spec=sh(
            'cd ..; printf \'{"kind":"M","modes":"\'; find . -mindepth 1 -printf \'%P %m\\n\' | sort | '
            "tr '\\n' ';'; printf '\"}'"
        ),
        files={"app/a": "", ".git/config": "", "run.sh": ""},
        executable=("run.sh",),
        excluded=(".git/*",),
    ),
    "variables": Case(
        spec=sh(
            'printf \'{"kind":"E","env":"\'; '
            "env | grep -vE '^(PATH|PWD|ARGOCD_(PLUGIN|CMP|LOG)[A-Z_]*)=' | sort | tr '\\n\"' \";'\"; printf '\"}'"
        ),
        environment=(
            *(("ARGOCD_APP_NAME", "a"), ("ARGOCD_APP_PARAMETERS", "null"), ("X", "first"), ("X", "last=1")),
            *(("HOME", "/of-the-application"), ("", "nameless"), ("EMPTY", "")),
        ),
    ),
    "links": links_to(app__one="../base/pool.yaml", copy="base", app__self="etc"),
    "link-absolute": links_to(app__hostname="/etc/hostname"),
    "link-escape": links_to(app__out="../../outside/values.yaml"),
    "link-to-the-root": links_to(app__top=".."),
    "link-loop": links_to(app__loop="loop"),
    "link-dangling": links_to(app__x="missing.yaml"),
    "link-through-a-link": links_to(a="b", b="base"),
    "init": Case(spec=sh("cat made", init={"command": ["sh", "-c", f"echo noise; echo '{OBJECT}' >made"]})),
    "init-fails": Case(spec=sh(f"echo '{OBJECT}'", init={"command": ["false"]})),
    "arguments-without-a-command": Case(spec=sh(f"echo '{OBJECT}'", init={"args": ["false"]})),
    "killed-at-the-deadline": Case(spec=sh("exec sleep 30"), timeout_s=2),
    "a-grandchild-keeps-stdout": Case(spec=sh(f"sleep 30 & echo '{OBJECT}'"), timeout_s=2),
    "a-stubborn-grandchild": Case(
        spec=sh("sh -c \"trap '' TERM; while :; do sleep 0.05; done\" & echo '" + OBJECT + "'"), timeout_s=2
    ),
    "more-than-a-message": Case(
        spec=sh('printf \'{"kind":"B","a":"\'; head -c 1100000 /dev/zero | tr \'\\0\' a; printf \'"}\''),
        max_message_mib=1,
    ),
    "a-folder-that-is-not-there": Case(spec=sh(f"echo '{OBJECT}'"), app_path="gone"),
    "find-file": finds({"fileName": "pool.yaml"}, **{"pool.yaml": ""}),
    "find-file-not-at-the-top": finds({"fileName": "pool.yaml"}),
    "find-file-pattern": finds({"fileName": "*/p?ol.[xy]aml"}, **{"deep__pool.yaml": ""}),
    "find-file-comes-first": finds({"fileName": "gone", "find": {"command": ["echo", "x"]}}),
    "find-file-bad-pattern": finds({"fileName": "["}),
    "find-glob": finds({"find": {"glob": "**/*.jsonnet"}}, **{"a__b__c.jsonnet": ""}),
    "find-glob-here": finds({"find": {"glob": "**/*.jsonnet"}}, **{"c.jsonnet": ""}),
    "find-glob-either": finds({"find": {"glob": "{pool,cluster}.yaml"}}, **{"cluster.yaml": ""}),
    "find-glob-no": finds({"find": {"glob": "*.jsonnet"}}),
    "find-glob-without-a-star": finds({"find": {"glob": "gone.yaml"}}),
    "find-command": finds({"find": {"command": ["find"], "args": [".", "-name", "pool.yaml"]}}, **{"pool.yaml": ""}),
    "find-command-no": finds({"find": {"command": ["find", ".", "-name", "pool.yaml"]}}),
    "find-command-blank": finds({"find": {"command": ["echo"]}}),
    "find-command-fails": finds({"find": {"command": ["sh", "-c", "echo x; echo why >&2; exit 1"]}}),
    "parameters": announces(
        '[{"name": "cluster", "title": "Cluster", "required": true, "collectionType": "array", "array": ["a"]}]',
        [{"name": "unit", "string": "x"}],
    ),
    "parameters-none": announces("null"),
    "parameters-no-json": announces("INFO\n[]"),
    "parameters-no-list": announces('{"name": "a"}'),
}


def build_own_case(trust: Path) -> Case:
    """Poolwright itself, on the example fleet. It isn't recorded: what it prints changes with it.

    trust: where a trust file may be written.
    """
    trust.write_text(
        "apiVersion: poolwright.dev/v1alpha1\nkind: TrustPolicy\nallow:\n- argocdProject: inference-fleet-lab-alpha\n"
        '  clusters: [lab-alpha]\n  units: ["*"]\n  deliveries: [plugin]\n'
    )
    parameters = [{"name": "cluster", "string": "lab-alpha"}, {"name": "unit", "string": "guard-1b7"}]
    return Case(
        spec=yaml.safe_load((ROOT / "pipelines/argocd/plugin.yaml").read_text())["spec"],
        files={path: data.decode() for path, data in read_fleet().items()},
        app_path=".",
        environment=(
            ("ARGOCD_APP_NAME", "lab-alpha-guard-1b7"),
            ("ARGOCD_APP_NAMESPACE", "guard"),
            ("ARGOCD_APP_PROJECT_NAME", "inference-fleet-lab-alpha"),
            ("ARGOCD_APP_SOURCE_PATH", "."),
            ("ARGOCD_APP_PARAMETERS", json.dumps(parameters, separators=(",", ":"))),
        ),
        timeout_s=60,
        sidecar={"POOLWRIGHT_TRUST": str(trust), "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )
