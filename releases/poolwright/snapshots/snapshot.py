"""A cluster as it was captured: a header and its objects, in one form, so that a digest stands for all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from poolwright.specs.canonical import canonical_json
from poolwright.specs.model import API_VERSION

KIND: Final = "Snapshot"
MAX_BYTES: Final = 64 << 20
Layer = Literal["scheduler", "driver", "cdi", "runtime", "router"]
Seen = Literal["observed", "absent"]
LAYERS: Final[tuple[Layer, ...]] = get_args(Layer)

Json = Mapping[str, Any]  # an object as it stands in its line
ObjectKey = tuple[str, str, str, str]  # apiVersion, kind, namespace ("": none) and name: what objects are sorted by


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a snapshot is of."""

    cluster: str
    captured_at: str  # RFC 3339 in UTC, to the second
    kubernetes_version: str
    resource_versions: Mapping[str, str]  # by kind, of the lists that were captured; of what isn't there it isn't known
    layers: Mapping[Layer, Seen]  # each of LAYERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A header, and objects sorted by their keys; none of them holds what `cleanse` takes out."""

    header: Header
    objects: tuple[Json, ...]


def render_snapshot(snapshot: Snapshot) -> bytes:
    """JSON Lines: the header, then one object a line, each as canonical JSON and ended by a line feed."""
    return b"".join(canonical_json(line) + b"\n" for line in (build_header_line(snapshot.header), *snapshot.objects))


def build_header_line(header: Header) -> Json:
    """A header as it stands in the first line."""
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "cluster": header.cluster,
        "capturedAt": header.captured_at,
        "kubernetesVersion": header.kubernetes_version,
        "resourceVersions": dict(header.resource_versions),
        "layers": dict(header.layers),
    }


def object_key(line: Json) -> ObjectKey:
    """What an object is sorted by. Needs: a text under apiVersion, kind and metadata.name."""
    metadata = line["metadata"]
    return line["apiVersion"], line["kind"], metadata.get("namespace") or "", metadata["name"]
