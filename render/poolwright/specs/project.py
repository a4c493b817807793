"""The Project: which clusters there are and which stack each one runs."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from poolwright.specs.model import Metadata, Model, SpecModel
from poolwright.specs.scalar import RelativePath, UnitName


class ProjectMetadata(Metadata, frozen=True, kw_only=True):
    """The Project's identity."""

    name: Annotated[
        UnitName, Meta(description="Name of the fleet; the part-of label of objects that belong to a cluster.")
    ]


class Cluster(Model, frozen=True, kw_only=True):
    """One Kubernetes cluster of the fleet."""

    name: Annotated[UnitName, Meta(description="Name of the cluster and of its folder under overlays/.")]
    stack_name: Annotated[UnitName, Meta(description="The Stack that the cluster runs.")]
    inventory: Annotated[
        RelativePath | None,
        Meta(
            description="File with the cluster's Nodes and ResourceSlices as `kubectl get -o yaml` prints them. "
            "Default: inventory/NAME.yaml, if that file exists."
        ),
    ] = None


class ProjectSpec(Model, frozen=True, kw_only=True):
    """What the Project says."""

    clusters: Annotated[
        tuple[Cluster, ...], Meta(min_length=1, description="The clusters, keyed by name; order means nothing.")
    ]


class Project(SpecModel, frozen=True, kw_only=True):
    """The root of a repository (`poolwright.yaml`, exactly one): clusters and the stack each one runs."""

    kind: Annotated[Literal["Project"], Meta(description="The kind of spec.")]
    metadata: Annotated[ProjectMetadata, Meta(description="The spec's identity.")]
    spec: Annotated[ProjectSpec, Meta(description="What the Project says.")]
