"""The objects of a cluster as they are applied: every unit built, teams' own components in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.parse_objects import parse_objects
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.files.custom import Custom
from poolwright.objects.unit import build_objects
from poolwright.specs.document import Document, parse_documents
from poolwright.trees.tree import unit_name
from poolwright.trees.yaml_text import render_objects

_MAX_BYTES = 64 << 20


def read_built_objects(
    closures: Iterable[UnitClosure | PlatformClosure], customs: Mapping[str, Custom]
) -> ClusterObjects:
    """What is applied to one cluster.

    closures: of that cluster's units.
    customs:  components by the name of their unit's folder.
    Raises:   SpecError if a component can't be built, or does what it may not.
    """
    documents: list[Document] = []
    for closure in closures:
        name = unit_name(closure)
        if name in customs and isinstance(closure, UnitClosure):
            from poolwright.cli.custom import apply_custom  # here: it starts other programs

            text = apply_custom(closure, customs[name])
        else:
            text = render_objects(build_objects(closure))
        documents += parse_documents(text, name, max_bytes=_MAX_BYTES)
    return parse_objects(documents)
