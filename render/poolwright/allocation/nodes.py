"""The nodes of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.node_selector import asks_labels, list_named_nodes
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Placement

GIVE_NODES: Final = "give the nodes too: kubectl get nodes -o yaml"
UNNAMED: Final = "any"  # a node that nothing names, where there may be any number of them


def list_nodes(objects: ClusterObjects) -> tuple[Node, ...]:
    """The nodes of a cluster; without Node objects those that are named, of which nothing else is known."""
    if objects.nodes:
        return tuple(placed.value for placed in objects.nodes)
    names = sorted(_name_nodes(objects) | _name_others(objects)) or (UNNAMED,)
    return tuple(Node(name=name, is_known=False) for name in names)


def list_ungiven(objects: ClusterObjects) -> tuple[str, ...]:
    """The nodes that slices name and that aren't among the Node objects, where there are any; by name."""
    return (
        tuple(sorted(_name_nodes(objects) - {placed.value.name for placed in objects.nodes})) if objects.nodes else ()
    )


def selects_unknown_nodes(objects: ClusterObjects) -> bool:
    """Whether slices select nodes by labels, and there are no Node objects that have any."""
    return not objects.nodes and any(asks_labels(place.node_selector) for place in _list_places(objects))


def reaches_unnamed_nodes(objects: ClusterObjects) -> bool:
    """Whether slices are for every node, and there are no Node objects to say which ones there are."""
    return not objects.nodes and any(place.all_nodes for place in _list_places(objects))


def _name_nodes(objects: ClusterObjects) -> set[str]:
    places = tuple(_list_places(objects))
    names = {place.node_name for place in places if place.node_name}
    return names | {name for place in places for name in list_named_nodes(place.node_selector)}


def _name_others(objects: ClusterObjects) -> set[str]:
    """The nodes that pods and allocated claims name."""
    allocated = [one.value.allocation for one in objects.claims if one.value.allocation is not None]
    selectors = [*(one.node_selector for one in allocated), *(one.value.affinity for one in objects.pods)]
    names = {name for selector in selectors for name in list_named_nodes(selector)}
    return names | {one.value.node_name for one in objects.pods if one.value.node_name}


def _list_places(objects: ClusterObjects) -> Iterator[Placement]:
    for placed in objects.slices:
        places = [placed.value.placement, *(device.placement for device in placed.value.devices)]
        yield from (place for place in places if place is not None)
