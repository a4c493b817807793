"""Snapshots as tests write them."""

from __future__ import annotations

from collections.abc import Iterable

from given_cluster import Json, as_file
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.snapshots.build_snapshot import build_snapshot
from poolwright.snapshots.cluster import parse_cluster
from poolwright.snapshots.snapshot import LAYERS, Header, Snapshot, render_snapshot
from poolwright.specs.document import parse_documents

FILE = "before.jsonl"
HEADER = Header(
    cluster="lab",
    captured_at="2026-10-02T09:00:00Z",
    kubernetes_version="v1.36.2",
    resource_versions={"ResourceClaim": "812"},
    layers=dict.fromkeys(LAYERS, "absent"),
)
HEADER_LINE = (
    '{"apiVersion":"poolwright.dev/v1alpha1","capturedAt":"2026-10-02T09:00:00Z","cluster":"lab","kind":"Snapshot",'
    '"kubernetesVersion":"v1.36.2","layers":{"cdi":"absent","driver":"absent","router":"absent","runtime":"absent",'
    '"scheduler":"absent"},"resourceVersions":{"ResourceClaim":"812"}}\n'
)


def capture(objects: Iterable[Json]) -> Snapshot:
    """What `kubectl get -o json` of these gives."""
    return build_snapshot(HEADER, parse_documents(as_file(objects), "capture"))


def read(*objects: Json) -> ClusterObjects:
    """The objects of a snapshot of these, read back."""
    return parse_cluster(render_snapshot(capture(objects)), FILE).objects
