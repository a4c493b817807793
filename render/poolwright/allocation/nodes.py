"""The nodes of a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Placement


def list_nodes(objects: ClusterObjects) -> tuple[Node, ...]:
    """The nodes of a cluster; without Node objects those that slices name, of which nothing else is known."""
    if objects.nodes:
        return tuple(placed.value for placed in objects.nodes)
    names = sorted(_name_nodes(objects)) or ("any",)
    return tuple(Node(name=name, is_known=False) for name in names)


def list_ungiven(objects: ClusterObjects) -> tuple[str, ...]:
    """The nodes that slices name and that aren't among the Node objects, where there are any; by name."""
    return (
        tuple(sorted(_name_nodes(objects) - {placed.value.name for placed in objects.nodes})) if objects.nodes else ()
    )


def selects_unknown_nodes(objects: ClusterObjects) -> bool:
    """Whether slices select nodes by labels, and there are no Node objects that have any."""
    return not objects.nodes and any(place.node_selector is not None for place in _list_places(objects))


def _name_nodes(objects: ClusterObjects) -> set[str]:
    return {place.node_name for place in _list_places(objects) if place.node_name}


def _list_places(objects: ClusterObjects) -> Iterator[Placement]:
    for placed in objects.slices:
        places = [placed.value.placement, *(device.placement for device in placed.value.devices)]
        yield from (place for place in places if place is not None)
