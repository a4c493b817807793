"""`manifests/<cluster>/<unit>/`: finished objects, and a kustomization that gives them as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.catalog.closure import PLATFORM_UNIT
from poolwright.packet.index import PacketIndex
from poolwright.packet.parts import PacketPart
from poolwright.specs.consistency import RESERVED_UNITS

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


def list_units(index: PacketIndex, cluster: str) -> tuple[str, ...]:
    """The units of a cluster whose objects a packet has, by name. Its Applications are none: they go elsewhere."""
    paths = {one.path: one for one in index.files}
    named = {one.unit for one in index.files if one.role == "manifests" and one.cluster == cluster and one.unit}
    units = {unit for unit in named if unit == PLATFORM_UNIT or unit not in RESERVED_UNITS}
    return tuple(sorted(unit for unit in units if f"{find_manifests(cluster, unit)}/{OBJECTS}" in paths))
