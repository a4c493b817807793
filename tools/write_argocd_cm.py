"""Write what users add to Argo CD's ConfigMap from the health scripts, or with --check say whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "pipelines" / "argocd"
READING = "reading.lua"  # stands before every script

# Each kind as Argo CD's key has it, and its script. Kinds without a status have none: there is nothing to say of them.
# Nor have those that Argo CD knows itself.
SCRIPTS = {
    "ResourceQuota": "quota.lua",
    "admissionregistration.k8s.io_ValidatingAdmissionPolicy": "admission_policy.lua",
    "inference.networking.k8s.io_InferencePool": "accepted.lua",
    "inference.networking.x-k8s.io_InferenceObjective": "accepted.lua",
    "leaderworkerset.x-k8s.io_LeaderWorkerSet": "leader_worker_set.lua",
    "monitoring.coreos.com_PodMonitor": "accepted.lua",
    "monitoring.coreos.com_PrometheusRule": "accepted.lua",
    "nvidia.com_ClusterPolicy": "nvidia.lua",
    "nvidia.com_GPUCluster": "nvidia.lua",
    "nvidia.com_NVIDIADriver": "nvidia.lua",
    "resource.k8s.io_ResourceClaim": "claim.lua",
}

_HEAD = """\
# Written by tools/write_argocd_cm.py from health/; change the scripts instead.
# It adds keys to Argo CD's own ConfigMap and replaces none that Argo CD ships:
#   kubectl patch configmap argocd-cm -n argocd --patch-file argocd-cm.yaml
# or as a patch in a Kustomization, or the data as configs.cm in the values of Argo CD's chart.
# The scripts judge every object of their kinds that this Argo CD manages, whoever rendered it.
apiVersion: v1
kind: ConfigMap
metadata:
  name: argocd-cm
data:
  # Each pod that comes and goes changes a named claim: its reservations, and a finalizer. Neither is in Git.
  resource.customizations.ignoreResourceUpdates.resource.k8s.io_ResourceClaim: |
    jsonPointers:
    - /metadata/finalizers
    - /status
"""


def main() -> int:
    """Write or check the file; 1 if it is out of date."""
    path, text = FOLDER / "argocd-cm.yaml", render_config_map()
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in sys.argv:
        sys.stderr.write("pipelines/argocd/argocd-cm.yaml is not what the scripts say: run `make docs`\n")
        return 1
    path.write_text(text, encoding="utf-8")
    sys.stdout.write("wrote pipelines/argocd/argocd-cm.yaml\n")
    return 0


def render_config_map() -> str:
    """The whole file, keys in the order of SCRIPTS."""
    parts = [_HEAD]
    for kind in SCRIPTS:
        lines = read_script(kind).splitlines()
        parts.append(f"  resource.customizations.health.{kind}: |\n")
        parts += [f"    {line}\n" if line else "\n" for line in lines]
    return "".join(parts)


def read_script(kind: str) -> str:
    """The whole script of a kind, as Argo CD runs it."""
    texts = (FOLDER / "health" / name for name in (READING, SCRIPTS[kind]))
    return "\n".join(path.read_text(encoding="utf-8") for path in texts)


if __name__ == "__main__":
    sys.exit(main())
