"""`poolwright cmp test` as people run it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from fleet import FLEET, ROOT
from folders import write_files
from poolwright.argocd.runner.plugin import BUILT_IN, parse_plugin
from run_poolwright import Ran, run

APP = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: app}
spec:
  destination: {namespace: ns}
  project: p
  source: {path: apps/a, repoURL: https://git.example.com/r.git, targetRevision: main, plugin: {name: sh}}
"""
PLUGIN = """\
kind: ConfigManagementPlugin
metadata: {name: sh}
spec: {generate: {command: [sh, -c], args: ["cat objects.yaml; cat said >&2; exit $(cat code)"]}}
"""
OBJECTS = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: ns}\n"
TRUST = """\
apiVersion: poolwright.dev/v1alpha1
kind: TrustPolicy
allow:
- {argocdProject: inference-fleet-lab-alpha, clusters: [lab-alpha], units: ["*"], deliveries: [plugin]}
"""
FILES = {
    "app.yaml": APP.encode(),
    "plugin.yaml": PLUGIN.encode(),
    "repo/apps/a/objects.yaml": OBJECTS.encode(),
    "repo/apps/a/said": b"all \x1b[1mwell\n",
    "repo/apps/a/code": b"0",
}
OPTIONS = ("app.yaml", "--plugin", "plugin.yaml", "--repo", "repo")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(tmp_path, FILES)


def commit_files(folder: Path) -> str:
    """Everything in a folder as the first commit of a repository; its id."""
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    environment = {**os.environ, **dict.fromkeys(names, "a"), "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "first"), ("rev-parse", "HEAD")):
        command = ["git", *words]
        ended = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    return ended.stdout.strip()


ACCEPTED = """\
app       app, path apps/a
revision  none; the folder is sent as it is on disk
sent      3 files, 2 folders, 0 links, 80 bytes
plugin    sh
verdict   accepted, 1 object
object    ConfigMap ns/a (v1)
"""


def test_what_is_accepted(folder: Path) -> None:
    assert run("cmp", "test", *OPTIONS, folder=folder) == Ran(0, ACCEPTED, "stderr    all \\x1b[1mwell\n")


def test_what_goes_away(folder: Path) -> None:
    write_files(folder, {"before.yaml": f"{OBJECTS}---\n{OBJECTS.replace('ConfigMap', 'Secret')}".encode()})
    ran = run("cmp", "test", *OPTIONS, "--previous", "before.yaml", folder=folder)
    assert ran.stdout == ACCEPTED + "prune     Argo CD would prune 1 object: Secret ns/a\n"


def test_what_fails(folder: Path) -> None:
    write_files(folder, {"repo/apps/a/code": b"3", "repo/apps/a/said": b"no such pool\n"})
    said = (
        "Failed to load target state: failed to generate manifest for source 1 of 1: rpc error: code = Unknown desc = "
        'CMP processing failed for application "app": error generating manifests in cmp: rpc error: code = Unknown '
        'desc = error generating manifests: `sh -c "cat objects.yaml; cat said >&2; exit $(cat code)"` failed exit '
        "status 3: no such pool"
    )
    head = ACCEPTED.partition("verdict")[0]
    expected = f"{head}verdict   failed\nmessage   {said}\n"
    assert run("cmp", "test", *OPTIONS, folder=folder) == Ran(1, expected, "stderr    no such pool\n")


def test_an_empty_success_is_none(folder: Path) -> None:
    write_files(folder, {"repo/apps/a/objects.yaml": b""})
    ran = run("cmp", "test", *OPTIONS, folder=folder)
    assert (ran.code, ran.stdout.splitlines()[4:]) == (
        1,
        [
            "verdict   EMPTY",
            "reason    exit 0 and no object in 0 bytes",
            "prune     Argo CD would prune everything that the application has",
        ],
    )


def test_json_has_whole_objects(folder: Path) -> None:
    ran = run("cmp", "test", *OPTIONS, "--format", "json", folder=folder)
    report = json.loads(ran.stdout)
    digest = report["sent"].pop("digest")
    assert digest.startswith("sha256:")
    assert (ran.code, report) == (
        0,
        {
            "application": "app",
            "revision": "0" * 40,
            "verdict": "accepted",
            "plugin": "sh",
            "reason": None,
            "message": None,
            "hint": None,
            "sent": {"files": 3, "folders": 2, "links": 0, "bytes": 80},
            "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ns"}}],
            "parameters": None,
            "pruned": None,
            "stderr": "all \x1b[1mwell\n",
        },
    )


def test_the_folder_is_sent_without_what_git_ignores(folder: Path) -> None:
    write_files(folder, {"repo/.gitignore": b"/out/\n*.log\n"})
    commit = commit_files(folder / "repo")
    write_files(folder, {"repo/out/a/b": b"", "repo/x.log": b"", "repo/new": b"", "repo/apps/a/x.log": b""})
    (folder / "repo/out/python").symlink_to("/usr/bin/python3")  # as virtual environments have it
    ran = run("cmp", "test", *OPTIONS, "--exclude", ".git", folder=folder)
    lines = ran.stdout.splitlines()
    assert lines[1] == f"revision  {commit[:8]}, and the folder is sent as it is on disk, without what Git ignores"
    assert lines[2].startswith("sent      5 files, 2 folders, 0 links, ")
    with_git = run("cmp", "test", *OPTIONS, folder=folder).stdout.splitlines()[2]
    assert int(with_git.split()[1]) > 15


def test_a_revision_is_sent_as_it_was_committed(folder: Path) -> None:
    (folder / "repo/apps/a/link").symlink_to("objects.yaml")
    commit = commit_files(folder / "repo")
    write_files(folder, {"repo/apps/a/objects.yaml": b"", "repo/new": b""})
    ran = run("cmp", "test", *OPTIONS, "--revision", "HEAD", folder=folder)
    expected = ACCEPTED.replace("none; the folder is sent as it is on disk", f"{commit[:8]} (HEAD), sent without .git")
    assert ran.stdout == expected.replace("0 links", "1 links")


def test_the_sidecar_sees_nothing_of_the_caller(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    write_files(folder, {"plugin.yaml": PLUGIN.replace("exit $(cat code)", "env >&2; exit 1").encode()})
    ran = run("cmp", "test", *OPTIONS, "--env", "A=b=c", "--kube-version", "v1.34.1", folder=folder)
    names = {line.removeprefix("stderr    ").partition("=")[0] for line in ran.stderr.splitlines() if "=" in line}
    assert "stderr    A=b=c\n" in ran.stderr
    assert "stderr    KUBE_VERSION=1.34.1\n" in ran.stderr
    sent = {name for name in names if not name.startswith(("ARGOCD_", "KUBE_"))}
    assert sent == {"A", "HOME", "PATH", "PWD"}


REFUSED = {
    "no-such-file": (
        ("gone.yaml",),
        "gone.yaml: it can't be read: No such file or directory  [cmp-test-input]",
        "give a file that is there",
    ),
    "no-such-application": (
        ("app.yaml", "--app", "other"),
        'app.yaml: no Application is called "other"  [cmp-test-input]',
        "name one of: app",
    ),
    "no-application": (
        ("plugin.yaml",),
        "plugin.yaml: there is no Application with a plugin  [cmp-test-input]",
        "give a file with an Application",
    ),
    "no-such-repository": (
        ("app.yaml", "--repo", "gone"),
        "gone: there is no such folder  [cmp-test-input]",
        "pass --repo DIR, the folder that Argo CD would clone",
    ),
    "a-revision-of-no-repository": (
        ("app.yaml", "--repo", "repo", "--revision", "main"),
        "repo: no Git repository holds it  [cmp-test-input]",
        "leave --revision out, or pass --repo DIR",
    ),
    "a-variable-without-a-value": (
        ("app.yaml", "--env", "A"),
        '--env: "A" names no variable  [cmp-test-input]',
        "write --env NAME=VALUE",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_tried(name: str, folder: Path) -> None:
    arguments, what, fix = REFUSED[name]
    said = f"{what}\n  why  without it there is nothing to try (poolwright cmp test)\n  fix  {fix}\n"
    assert run("cmp", "test", *arguments, folder=folder) == Ran(2, "", said)


def test_the_application_is_looked_for_in_the_project(tmp_path: Path) -> None:
    folder = write_files(tmp_path, FILES)
    where = ("--project", str(FLEET), "--repo", str(FLEET), "--plugin", "plugin.yaml")
    ran = run("cmp", "test", *where, folder=folder)
    assert ran == Ran(
        2,
        "",
        f"{FLEET}/overlays/*/argocd/*.yaml: 2 Applications could be meant  [cmp-test-input]\n"
        "  why  without it there is nothing to try (poolwright cmp test)\n"
        "  fix  pass --app, one of: lab-alpha-guard-1b7, lab-alpha-platform\n",
    )
    ran = run("cmp", "test", *where, "--app", "lab-alpha-platform", folder=folder)
    assert (ran.code, ran.stderr) == (1, "")
    assert ran.stdout.splitlines()[0] == "app       lab-alpha-platform, path ."
    assert ran.stdout.splitlines()[-1] == "hint      there is no such plugin; there is: sh"


def test_the_plugin_without_a_file_is_the_one_that_is_shipped() -> None:
    shipped = ROOT / "pipelines/argocd/plugin.yaml"
    assert parse_plugin(shipped.read_bytes(), "plugin.yaml") == BUILT_IN


def test_poolwright_itself_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "trust.yaml").write_text(TRUST)
    where = ("--project", str(FLEET), "--repo", str(FLEET), "--app", "lab-alpha-guard-1b7", "--trust", "trust.yaml")
    # Where this checkout isn't installed; never the tests' folder, which holds projects.
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(":") if path and not path.endswith("/tests")]
    ran = run("cmp", "test", *where, *(("--env", f"PYTHONPATH={':'.join(paths)}") if paths else ()), folder=tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert lines[3:5] == ["plugin    poolwright", "verdict   accepted, 7 objects"]
    assert [line.split()[1] for line in lines[5:]] == [
        *("ResourceClaimTemplate", "Service", "ConfigMap", "Deployment"),
        *("PodDisruptionBudget", "PodMonitor", "PrometheusRule"),
    ]
