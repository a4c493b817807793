"""The objects of a snapshot as the allocator reads them, and its Kubernetes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import MINORS, Features, build_features
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.parse_objects import parse_objects
from poolwright.allocation.taint_rules import apply_rules
from poolwright.catalog.facts import Facts
from poolwright.snapshots.parse_snapshot import parse_snapshot
from poolwright.snapshots.snapshot import MAX_BYTES, Snapshot
from poolwright.specs.document import parse_documents
from poolwright.specs.version import parse_version


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedCluster:
    """A snapshot that was read to the end."""

    snapshot: Snapshot
    objects: ClusterObjects  # as its API server stores them


def parse_cluster(data: bytes, file: str) -> CapturedCluster:
    """A snapshot with its objects.

    Raises: SpecError as parse_snapshot does, or with every object that can't be read, each with its line.
    """
    snapshot = parse_snapshot(data, file)
    # JSON is YAML, and what stands behind `---` a document of its own: so every place has the line it stands in.
    _, _, lines = data.partition(b"\n")
    text = b"\n" + b"".join(b"--- " + line + b"\n" for line in lines.split(b"\n") if line)
    return CapturedCluster(
        snapshot=snapshot, objects=parse_objects(parse_documents(text, file, max_bytes=2 * MAX_BYTES))
    )


def find_features(snapshot: Snapshot, gates: Mapping[str, bool], facts: Facts) -> Features | str:
    """What the allocator of a snapshot's Kubernetes does; a text: why that isn't known, in a sentence.

    gates: of Kubernetes that were set otherwise than by default.
    """
    minor = parse_version(snapshot.header.kubernetes_version).minor
    if minor not in MINORS:
        return f"the allocator of Kubernetes {snapshot.header.kubernetes_version} isn't modelled"
    return build_features(minor, facts.effective_gates(minor, gates))


def build_stored(
    cluster: CapturedCluster, features: Features, gates: Mapping[str, bool], facts: Facts
) -> ClusterObjects:
    """The objects as the scheduler goes by them: no fields whose gate is off, and every taint in its slice."""
    stored, _ = strip_gated(cluster.objects, facts.effective_gates(features.minor, gates))
    return apply_rules(stored, features.minor) if features.applies_taint_rules else stored
