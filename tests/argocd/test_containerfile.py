"""The sidecar's image: linted, and its steps carried out in folders, so that what runs is only what it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from containerfile import Build, Root, Stage, parse_containerfile
from plugin_call import Call, build_environment, unit_parameters

from fleet import FLEET, ROOT
from folders import write_files
from needs import REASON, needs
from run_poolwright import Ran, run

ARGOCD = ROOT / "pipelines" / "argocd"
CONTAINERFILE = ARGOCD / "Containerfile"
STUB = "/var/run/argocd/argocd-cmp-server"  # what the pod's volume brings: here it runs what it is told


def test_the_linter_finds_nothing() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    ran = subprocess.run((linter, "--no-color", CONTAINERFILE), capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    ignored = re.findall("hadolint ignore=(.*)", CONTAINERFILE.read_text(encoding="utf-8"))
    assert ignored == ["DL3008"]  # a version of tini that Debian doesn't keep


def test_what_the_image_says() -> None:
    arguments, stages = parse_containerfile(CONTAINERFILE.read_text(encoding="utf-8"))
    assert arguments == ["BASE_IMAGE", "BASE_DIGEST"]  # neither with a default
    assert [(stage.name, stage.base) for stage in stages] == [
        (name, "${BASE_IMAGE}@${BASE_DIGEST}") for name in ("init", "build", "")
    ]
    image = stages[-1]
    assert {word: image.list_steps(word) for word in ("USER", "WORKDIR", "ENTRYPOINT")} == {
        "USER": ["999:999"],
        "WORKDIR": ["/home/argocd"],
        "ENTRYPOINT": [json.dumps(["/opt/poolwright/bin/tini", "--", STUB])],
    }
    assert image.environment == {
        "PATH": "/opt/poolwright/bin:/usr/local/bin:/usr/bin:/bin",
        "HOME": "/home/argocd",
        "TMPDIR": "/tmp",
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "POOLWRIGHT_KUSTOMIZE": "/opt/poolwright/bin/kubectl",
        "POOLWRIGHT_TEMPLATES": "off",
    }


def test_requirements_have_hashes_and_are_of_the_project() -> None:
    text = (ARGOCD / "requirements.txt").read_text(encoding="utf-8")
    lines = [line for line in text.replace(" \\\n   ", "").splitlines() if not line.startswith("#")]
    pin = r"([a-z0-9-]+)==[0-9.]+( ; [^-]+)?( --hash=sha256:[0-9a-f]{64})+"
    assert [line for line in lines if not re.fullmatch(pin, line)] == []
    named = {line.partition("==")[0] for line in lines}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    direct = [*project["dependencies"], *project["optional-dependencies"]["kustomize"]]
    assert {re.split("[<>=]", one)[0] for one in direct} - named == set()


# What is run as 999, with HOME=/ and a read-only root, in the project and without a network. Of a unit: as here.
UNIT = ("poolwright", "generate", "--cluster", "east", "--unit")
PLUGIN = ("poolwright", "generate", "--argocd")
TRUST = "/etc/poolwright"  # where the pod mounts it
COMMITTED = """\
apiVersion: poolwright.dev/v1alpha1
kind: TrustPolicy
allow: [{argocdProject: inference-fleet-east, clusters: [east], units: ["*"], deliveries: [committed]}]
"""
NOT_WRITTEN = "import os\ntry: open('/home/argocd/x', 'w')\nexcept OSError as e: print(e.strerror, os.getresuid())"
WITHOUT_BYTECODE = (
    "import os, sys, poolwright.cli.generate; "
    "print([name for name, module in sys.modules.items()"
    " if getattr(module, '__cached__', None) and not os.path.exists(module.__cached__)])"
)
INTERFACES = "import socket; print([name for _, name in socket.if_nameindex()])"


def list_runs() -> dict[str, tuple[tuple[str, ...], dict[str, str], Ran]]:
    """What is run, with which more in the environment (`tmpfs`: with a /tmp), and what comes of it."""
    here = {unit: run(*UNIT[1:], unit, folder=FLEET) for unit in ("chat-70b", "platform", "rewrite-0b6")}
    guard = run("generate", "--cluster=lab-alpha", "--unit=guard-1b7", folder=FLEET)
    assert {ran.code for ran in (*here.values(), guard)} == {0}
    no_slot = "POOLWRIGHT_AT_ONCE is 65, and /opt/poolwright/slots/64 can't be opened (No such file or directory)"
    return {
        "a-unit": ((*UNIT, "chat-70b"), {}, here["chat-70b"]),
        "a-platform": ((*UNIT, "platform"), {"POOLWRIGHT_AT_ONCE": "64"}, here["platform"]),
        "more-slots-than-there-are": (
            (*UNIT, "platform"),
            {"POOLWRIGHT_AT_ONCE": "65"},
            Ran(2, "", f"poolwright: {no_slot}: make it no larger\n"),
        ),
        "a-team's-component": ((*UNIT, "rewrite-0b6"), {"tmpfs": "/tmp"}, here["rewrite-0b6"]),
        # With the trust file that is shipped, where it is looked for.
        "the-plugin": (PLUGIN, send("lab-alpha", "guard-1b7", "guard"), guard),
        "the-plugin-with-a-team's-component": (
            PLUGIN,
            {**send("east", "rewrite-0b6", "search"), "POOLWRIGHT_TRUST": f"{TRUST}/committed.yaml", "tmpfs": "/tmp"},
            here["rewrite-0b6"],
        ),
        "nothing-is-compiled": (("python", "-c", WITHOUT_BYTECODE), {}, Ran(0, "[]\n", "")),
        "nothing-is-writable": (
            ("python", "-c", NOT_WRITTEN),
            {},
            Ran(0, "Read-only file system (999, 999, 999)\n", ""),
        ),
        "no-network": (("python", "-c", INTERFACES), {}, Ran(0, "['lo']\n", "")),
    }


def send(cluster: str, unit: str, namespace: str) -> dict[str, str]:
    """What Argo CD puts into the environment of a call for a unit."""
    asked = Call(
        parameters=unit_parameters(cluster, unit),
        argocd_project=f"inference-fleet-{cluster}",
        namespace=namespace,
        served=(),
    )
    environment = build_environment(asked, Path(TRUST))
    return {name: value for name, value in environment.items() if name.startswith(("ARGOCD_", "KUBE_"))}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Path]:
    """A folder that is gone afterwards: an image takes some hundred megabytes."""
    yield tmp_path
    shutil.rmtree(tmp_path)


def test_its_steps_give_what_renders_and_nothing_else_is_needed(room: Path) -> None:
    image, root = carry_out(room)
    mounts = [
        (str(room / "fleet"), "/work", "ro"),
        (str(room / "var-files"), "/var/run/argocd", "ro"),
        (str(room / "trust"), TRUST, "ro"),
    ]
    shutil.copytree(FLEET, room / "fleet")
    write_files(
        room / "trust",
        {"trust.yaml": (ARGOCD / "trust.yaml").read_bytes(), "committed.yaml": COMMITTED.encode()},
    )
    stub = room / "var-files" / Path(STUB).name
    stub.parent.mkdir()
    stub.write_text('#!/bin/sh\nexec "$@"\n')
    stub.chmod(0o755)
    entrypoint = json.loads(image.list_steps("ENTRYPOINT")[0])
    runs = list_runs()
    found = {}
    for name, (argv, more, _) in runs.items():
        tmp = [("tmpfs", more["tmpfs"], "rw")] if "tmpfs" in more else []
        environment = {**image.environment, "HOME": "/", **more}
        ended = root.run((*entrypoint, *argv), environment, folder="/work", mounts=[*mounts, *tmp])
        found[name] = Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())
    assert found == {name: expected for name, (_, _, expected) in runs.items()}
    plugin = root.folder / "home/argocd/cmp-server/config/plugin.yaml"
    assert plugin.read_bytes() == (ARGOCD / "plugin.yaml").read_bytes()


def carry_out(folder: Path) -> tuple[Stage, Root]:
    """The last stage and its root, made from a wheel of this checkout and the files beside the Containerfile."""
    tini = Path(needs("tini")).with_name("tini-static")
    probe = subprocess.run((needs("unshare"), "--mount", "--net", "mount", "-t", "tmpfs", "none", "/mnt"), check=False)
    if probe.returncode != 0 or not tini.exists():
        pytest.skip(f"{REASON}mounts in namespaces, or a static tini")
    context = folder / "context"
    shutil.copytree(ARGOCD, context)
    wheel = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", context / "wheels", ROOT)
    built = subprocess.run(wheel, capture_output=True, text=True, check=False)
    if "(from versions: none)" in built.stderr:
        pytest.skip(f"{REASON}a package index")
    assert built.returncode == 0, built.stderr
    init, build, image = parse_containerfile(CONTAINERFILE.read_text(encoding="utf-8"))[1]
    work = Build(folder=folder / "roots", context=context, roots={init.name: Path("/")})
    work.carry_out(build)
    return image, work.carry_out(image)
