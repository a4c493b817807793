"""The objects of a cluster as they are applied: every unit built, teams' own components in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.parse_objects import parse_objects
from poolwright.catalog.argocd_closure import ArgocdClosure
from poolwright.catalog.closure import Closure, PlatformClosure, UnitClosure
from poolwright.files.custom import Custom
from poolwright.objects.argocd import build_argocd
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from poolwright.specs.document import Document, parse_documents
from poolwright.trees.tree import unit_name
from poolwright.trees.yaml_text import render_objects

_MAX_BYTES = 64 << 20


class Workshop:
    """Builds units and reads what it built; what is asked for again is taken from before.

    One serves several revisions of a project: a unit with an equal closure is equal, its component's digest in it.
    """

    def __init__(self) -> None:
        self._built: dict[str, tuple[UnitClosure | PlatformClosure, bytes, tuple[Document, ...]]] = {}

    def read_objects(
        self, closures: Iterable[UnitClosure | PlatformClosure], customs: Mapping[str, Custom]
    ) -> ClusterObjects:
        """What is applied to one cluster.

        closures: of that cluster's units.
        customs:  components by the name of their unit's folder.
        Raises:   SpecError if a component can't be built, or does what it may not.
        """
        return parse_objects([document for one in closures for document in self._build(one, customs)[1]])

    def list_objects(self, closure: UnitClosure | PlatformClosure, customs: Mapping[str, Custom]) -> tuple[Object, ...]:
        """The same of one unit, as plain values."""
        return tuple(one.value for one in self._build(closure, customs)[1] if isinstance(one.value, dict))

    def render_objects(self, closure: UnitClosure | PlatformClosure, customs: Mapping[str, Custom]) -> bytes:
        """The same as `poolwright generate` prints them."""
        return self._build(closure, customs)[0]

    def _build(
        self, closure: UnitClosure | PlatformClosure, customs: Mapping[str, Custom]
    ) -> tuple[bytes, tuple[Document, ...]]:
        name = unit_name(closure)
        known = self._built.get(name)
        if known is None or known[0] != closure:
            text = _build_text(closure, customs.get(name))
            known = self._built[name] = (closure, text, parse_documents(text, name, max_bytes=_MAX_BYTES))
        return known[1:]


def list_cluster_objects(
    workshop: Workshop, closures: Iterable[Closure], customs: Mapping[str, Custom], cluster: str
) -> dict[str, tuple[Object, ...]]:
    """The finished objects of a cluster by unit, `platform` and `argocd` too. customs: as for `read_objects`."""
    found: dict[str, tuple[Object, ...]] = {}
    for closure in closures:
        if isinstance(closure, UnitClosure | PlatformClosure) and closure.on.cluster == cluster:
            found[unit_name(closure).rpartition("/")[2]] = workshop.list_objects(closure, customs)
        elif isinstance(closure, ArgocdClosure) and closure.on.cluster == cluster:
            found["argocd"] = build_argocd(closure)
    return found


def _build_text(closure: UnitClosure | PlatformClosure, custom: Custom | None) -> bytes:
    if custom is not None and isinstance(closure, UnitClosure):
        from poolwright.cli.custom import apply_custom  # here: it starts other programs

        return apply_custom(closure, custom)
    return render_objects(build_objects(closure))
