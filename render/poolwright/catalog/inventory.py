"""What a cluster's Nodes and ResourceSlices say: the devices that drivers publish, and the nodes they are on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from poolwright.catalog.captured import CapturedReader, Source, list_objects
from poolwright.catalog.captured_slice import parse_slice, parse_taints
from poolwright.catalog.resource_slice import Device, ResourceSlice, Taint, newest_pools
from poolwright.specs.document import Document, Plain
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import FieldPath
from poolwright.specs.quantity import Quantity

_OPERANDS: Final = (("nvidia.com/v1", "ClusterPolicy"), ("nvidia.com/v1alpha1", "GPUCluster"))
ZONE_LABEL: Final = "topology.kubernetes.io/zone"
SOURCE: Final = Source(
    code="inventory-unreadable",
    rule="Kubernetes resource/v1 ResourceSlice",
    why="the capture can't be read as it stands",
    fix="capture the cluster again: kubectl get nodes,resourceslices -o yaml",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the cluster."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    declared_features: tuple[str, ...] = ()  # status.declaredFeatures
    allocatable: Mapping[str, Quantity] = field(default_factory=dict)  # with what device plugins offer
    is_known: bool = True  # False: only slices name it, so that nothing else of it is known

    @property
    def zone(self) -> str | None:
        """Its zone; None: it has no zone label."""
        return self.labels.get(ZONE_LABEL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """A cluster as it was captured, in the order of the capture."""

    file: str
    nodes: tuple[Node, ...] = ()
    slices: tuple[ResourceSlice, ...] = ()
    operands: tuple[str, ...] = ()  # ClusterPolicy and GPUCluster, as KIND/NAME, of the GPU Operator

    @property
    def devices(self) -> tuple[Device, ...]:
        """The devices of each pool's newest generation: what a scheduler looks at."""
        return tuple(device for pool in newest_pools(self.slices).values() for s in pool for device in s.devices)


def parse_inventory(documents: Iterable[Document], file: str) -> Inventory:
    """Nodes and ResourceSlices as `kubectl get nodes,resourceslices -o yaml` prints them; other kinds are passed over,
    but for the GPU Operator's two resources, of which a cluster has one.

    Slices of v1, v1beta2 and v1beta1 give the same values.
    Raises: SpecError with every part that can't be read; what is kept aside is not looked at.
    """
    nodes: list[Node] = []
    slices: list[ResourceSlice] = []
    operands: list[str] = []
    problems: list[Finding] = []
    for document in documents:
        reader = CapturedReader(document, problems, SOURCE)
        for item, path in list_objects(reader):
            if item.get("kind") == "Node":
                nodes.append(parse_node(reader, item, path))
            elif item.get("kind") == "ResourceSlice":
                slices += parse_slice(reader, item, path)
            elif (item.get("apiVersion"), item.get("kind")) in _OPERANDS:
                name = reader.mapping(item.get("metadata"), (*path, "metadata")).get("name")
                operands.append(f"{item['kind']}/{name}")
    if problems:
        raise SpecError(problems)
    return Inventory(file=file, nodes=tuple(nodes), slices=tuple(slices), operands=tuple(operands))


def parse_node(reader: CapturedReader, item: dict[str, Plain], path: FieldPath) -> Node:
    """A Node that stands at path; what can't be read is noted."""
    metadata = reader.mapping(item.get("metadata"), (*path, "metadata"))
    labels = reader.mapping(metadata.get("labels", {}), (*path, "metadata", "labels"))
    spec = reader.mapping(item.get("spec", {}), (*path, "spec"))
    status = reader.mapping(item.get("status", {}), (*path, "status"))
    declared, allocatable = (*path, "status", "declaredFeatures"), (*path, "status", "allocatable")
    return Node(
        name=reader.text(metadata.get("name"), (*path, "metadata", "name")),
        labels={name: reader.text(value, (*path, "metadata", "labels", name)) for name, value in labels.items()},
        taints=parse_taints(reader, spec.get("taints", []), (*path, "spec", "taints")),
        unschedulable=reader.flag(spec.get("unschedulable", False), (*path, "spec", "unschedulable")),
        declared_features=tuple(
            reader.text(name, (*declared, index))
            for index, name in enumerate(reader.sequence(status.get("declaredFeatures", []), declared))
        ),
        allocatable={
            name: reader.quantity(amount, (*allocatable, name), f'allocatable "{name}"')
            for name, amount in reader.mapping(status.get("allocatable", {}), allocatable).items()
        },
    )
