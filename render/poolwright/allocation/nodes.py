"""The nodes of a cluster."""

from __future__ import annotations

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.catalog.inventory import Node


def list_nodes(objects: ClusterObjects) -> tuple[Node, ...]:
    """The nodes of a cluster; without Node objects those that slices name, of which nothing else is known."""
    if objects.nodes:
        return tuple(placed.value for placed in objects.nodes)
    return tuple(Node(name=name) for name in sorted(_name_nodes(objects))) or (Node(name="any"),)


def list_ungiven(objects: ClusterObjects) -> tuple[str, ...]:
    """The nodes that slices name and that aren't among the Node objects, where there are any; by name."""
    return (
        tuple(sorted(_name_nodes(objects) - {placed.value.name for placed in objects.nodes})) if objects.nodes else ()
    )


def _name_nodes(objects: ClusterObjects) -> set[str]:
    names: set[str] = set()
    for placed in objects.slices:
        places = [placed.value.placement, *(device.placement for device in placed.value.devices)]
        names |= {place.node_name for place in places if place is not None and place.node_name}
    return names
