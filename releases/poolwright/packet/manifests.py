"""`manifests/<cluster>/<unit>/`: finished objects, and a kustomization that gives them as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.packet.parts import PacketPart

OBJECTS: Final = "objects.yaml"
KUSTOMIZATION: Final = "kustomization.yaml"
# First in, first out: Kustomize prints the objects in the order of the file, which is the one that `generate` prints.
_TEXT: Final = b"""\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- objects.yaml
sortOptions:
  order: fifo
"""


def list_manifests(cluster: str, unit: str, objects: bytes) -> Iterator[PacketPart]:
    """The files of a unit. objects: as `poolwright generate` prints them."""
    folder = find_manifests(cluster, unit)
    for name, data in ((KUSTOMIZATION, _TEXT), (OBJECTS, objects)):
        yield PacketPart(path=f"{folder}/{name}", role="manifests", data=data, cluster=cluster, unit=unit)


def find_manifests(cluster: str, unit: str) -> str:
    """A unit's folder in the packet."""
    return f"manifests/{cluster}/{unit}"
