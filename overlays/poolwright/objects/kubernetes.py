"""What all rendered objects share: how they are told apart, their labels, and the waves they are applied in."""

from __future__ import annotations

from typing import Any, Final

Object = dict[str, Any]  # a finished Kubernetes object: JSON-like, keys in any order

MANAGED_BY: Final = {"app.kubernetes.io/managed-by": "poolwright"}
PART_OF: Final = "app.kubernetes.io/part-of"
UNIT: Final = "poolwright.dev/unit"
ENVELOPE: Final = "poolwright.dev/envelope"
ENVELOPE_VERSION: Final = "poolwright.dev/envelope-version"
ENVELOPE_DIGEST: Final = "poolwright.dev/envelope-digest"
MODEL_DIGEST: Final = "poolwright.dev/model-digest"
OWNER: Final = "poolwright.dev/owner"
POOL: Final = "poolwright.dev/pool"
POOL_VERSION: Final = "poolwright.dev/pool-version"
LANE: Final = "poolwright.dev/lane"
TIER: Final = "poolwright.dev/tier"
ZONE_LABEL: Final = "topology.kubernetes.io/zone"  # the one node label that a workload may choose by

SYNC_WAVE: Final = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS: Final = "argocd.argoproj.io/sync-options"
# Argo CD applies lower waves first, within one Application.
NAMESPACE_WAVE: Final = "-30"
CLASS_WAVE: Final = "-20"
CLAIM_WAVE: Final = "-10"
WORKLOAD_WAVE: Final = "0"


def identify(document: Object) -> tuple[str, str, str]:
    """Kind, namespace (empty for cluster-scoped objects) and name: unique within a unit."""
    metadata = document["metadata"]
    return document["kind"], metadata.get("namespace", ""), metadata["name"]
