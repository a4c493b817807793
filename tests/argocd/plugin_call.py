"""One call of the plugin as Argo CD makes it: a folder that was just unpacked, and the environment that it sends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet import PROJECT, Files, edit, read_small_fleet, render_small_tree
from folders import write_files
from run_poolwright import Ran

ARGOCD_PROJECT = "inference-fleet-east"
TRUST = f"""\
apiVersion: poolwright.dev/v1alpha1
kind: TrustPolicy
allow:
  - {{argocdProject: {ARGOCD_PROJECT}, clusters: [east], units: ["*"], deliveries: [committed, plugin]}}
  - {{argocdProject: team-chat, clusters: [east], units: [chat-70b-next], deliveries: [plugin]}}
"""
# What the destination cluster says of itself.
SERVED = ("v1", "v1/Service", "apps/v1", "apps/v1/Deployment", "resource.k8s.io/v1", "resource.k8s.io/v1/DeviceClass")


def plugin_fleet() -> dict[str, bytes]:
    """The small fleet, its cluster delivered by the plugin; nothing is committed but its specs."""
    return edit(read_small_fleet(), PROJECT, ("      stackName:", "      delivery: plugin\n      stackName:"))


def committed_fleet() -> dict[str, bytes]:
    """The small fleet with its tree."""
    return {**read_small_fleet(), **render_small_tree()}


def unit_parameters(cluster: str, unit: str) -> str:
    """The parameters of a unit, as Argo CD writes them."""
    return json.dumps([{"name": "cluster", "string": cluster}, {"name": "unit", "string": unit}])


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What an Application says, and what Argo CD adds. Every variable of the contract is there."""

    parameters: str | None = unit_parameters("east", "chat-70b")  # None: the Application has no plugin section
    path: str = "."
    sent: str = ""  # the folder of the repository that was sent; empty: all of it
    argocd_project: str = ARGOCD_PROJECT
    namespace: str = "chat"
    kube_version: str = "1.36.2"
    served: Sequence[str] = SERVED
    trust: str | None = TRUST
    more: Mapping[str, str] = field(default_factory=dict)


def call(call: Call, files: Files, top: Path, command: Sequence[str] = ("generate", "--argocd")) -> Ran:
    """Run the plugin on a repository's files.

    top: an empty folder: `sent` in it is what Argo CD unpacked, `trust.yaml` the sidecar's own.
    """
    root = write_files(
        top / "sent", {path.removeprefix(call.sent): data for path, data in files.items() if path.startswith(call.sent)}
    )
    folder = root / call.path.removeprefix(call.sent.rstrip("/")).lstrip("/")
    if call.trust is not None:
        (top / "trust.yaml").write_text(call.trust)
    return run_plugin(folder, build_environment(call, top / "trust.yaml"), command)


def run_plugin(folder: Path, environment: Mapping[str, str], command: Sequence[str]) -> Ran:
    """The real command, as a process of its own, with this environment and nothing else."""
    argv = [sys.executable, "-P", "-m", "poolwright", *command]
    ended = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, check=False, timeout=120)
    return Ran(ended.returncode, ended.stdout.decode(), ended.stderr.decode())


def build_environment(call: Call, trust: Path) -> dict[str, str]:
    """The sidecar's own variables, and those that Argo CD puts behind them."""
    shared = {
        "ARGOCD_APP_NAME": "east-chat-70b",
        "ARGOCD_APP_NAMESPACE": call.namespace,
        "ARGOCD_APP_PROJECT_NAME": call.argocd_project,
        "ARGOCD_APP_REVISION": "3f1c0de000000000000000000000000000000000",
        "ARGOCD_APP_REVISION_SHORT": "3f1c0de",
        "ARGOCD_APP_REVISION_SHORT_8": "3f1c0de0",
        "ARGOCD_APP_SOURCE_REPO_URL": "https://git.example.com/platform/inference-fleet.git",
        "ARGOCD_APP_SOURCE_PATH": call.path,
        "ARGOCD_APP_SOURCE_TARGET_REVISION": "main",
        "KUBE_VERSION": call.kube_version,
        "KUBE_API_VERSIONS": ",".join(call.served),
    }
    if call.parameters is not None:
        shared |= {"ARGOCD_APP_PARAMETERS": call.parameters}
    return {**sidecar_environment(trust), **shared, **call.more}


def sidecar_environment(trust: Path) -> dict[str, str]:
    """The sidecar's own variables."""
    own = {"PATH": os.defpath, "HOME": "/", "POOLWRIGHT_TRUST": str(trust), "POOLWRIGHT_TEMPLATES": "off"}
    # Where this checkout isn't installed; never the tests' folder, which holds projects.
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(":") if path and not path.endswith("/tests")]
    return {**own, "PYTHONPATH": ":".join(paths)} if paths else own
