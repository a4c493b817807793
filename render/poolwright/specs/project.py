"""The Project: which clusters there are and which stack each one runs."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from poolwright.specs.model import DurationText, Metadata, Model, SpecModel
from poolwright.specs.scalar import DnsLabel, GitUrl, OneLine, RelativePath, ReleaseName, ServerUrl, UnitName
from poolwright.specs.waiver import Waivers


class ProjectMetadata(Metadata, frozen=True, kw_only=True):
    """The Project's identity."""

    name: Annotated[
        UnitName, Meta(description="Name of the fleet; the part-of label of objects that belong to a cluster.")
    ]


Delivery = Literal["committed", "plugin", "packet"]


class Argocd(Model, frozen=True, kw_only=True):
    """Where Argo CD finds this repository, and where its own objects live."""

    repo_url: Annotated[GitUrl, Meta(description="Address of this repository, as Argo CD reaches it.")] = msgspec.field(
        name="repoURL"
    )
    target_revision: Annotated[OneLine, Meta(description="The branch, tag or commit that Argo CD follows.")] = "main"
    namespace: Annotated[DnsLabel, Meta(description="Argo CD's own namespace: Applications are made there.")] = "argocd"


class Destination(Model, frozen=True, kw_only=True):
    """The cluster as Argo CD calls it: exactly one of the two."""

    name: Annotated[OneLine | None, Meta(description="Argo CD's name of the cluster.")] = None
    server: Annotated[ServerUrl | None, Meta(description="Address of the cluster's API server.")] = None


class GatewayReference(Model, frozen=True, kw_only=True):
    """The Gateway that routes are attached to."""

    name: Annotated[DnsLabel, Meta(description="Name of the Gateway.")]
    namespace: Annotated[DnsLabel, Meta(description="Its namespace.")]


class TierPolicy(Model, frozen=True, kw_only=True):
    """What a tier promises."""

    priority: Annotated[
        int, Meta(ge=-1_000_000_000, le=1_000_000_000, description="Value of the tier's PriorityClass.")
    ]


class Tiers(Model, frozen=True, kw_only=True):
    """The two tiers."""

    interactive: Annotated[TierPolicy, Meta(description="Served while people wait.")] = TierPolicy(priority=100_000)
    batch: Annotated[TierPolicy, Meta(description="May wait in a queue.")] = TierPolicy(priority=10_000)


class Cluster(Model, frozen=True, kw_only=True):
    """One Kubernetes cluster of the fleet."""

    name: Annotated[UnitName, Meta(description="Name of the cluster and of its folder under overlays/.")]
    stack_name: Annotated[UnitName, Meta(description="The Stack that the cluster runs.")]
    destination: Annotated[Destination, Meta(description="The cluster as Argo CD calls it.")]
    delivery: Annotated[
        Delivery,
        Meta(
            description="How Argo CD gets the cluster's units: committed in overlays/, rendered by the plugin at each "
            "sync, or taken by the plugin from a signed release. The Applications themselves are always committed."
        ),
    ] = "committed"
    release: Annotated[
        ReleaseName | None,
        Meta(description="The release in releases/ that is delivered: with `delivery: packet`, and only then."),
    ] = None
    gateway: Annotated[
        GatewayReference | None, Meta(description="Where HTTPRoutes are attached; without one there are no routes.")
    ] = None
    inventory: Annotated[
        RelativePath | None,
        Meta(
            description="File with the cluster's Nodes and ResourceSlices as `kubectl get -o yaml` prints them. "
            "Default: inventory/NAME.yaml, if that file exists."
        ),
    ] = None


class Policy(Model, frozen=True, kw_only=True):
    """What must be so before anything is merged."""

    images: Annotated[
        Literal["digest", "version"],
        Meta(description="What serving images must be pinned by; a digest may stand in the stack or in the lock."),
    ] = "version"
    waiver_max_age: Annotated[
        DurationText | None,
        Meta(description="How long from the day of a check a waiver may still count; default: as long as it says."),
    ] = None


class ProjectSpec(Model, frozen=True, kw_only=True):
    """What the Project says."""

    argocd: Annotated[Argocd, Meta(description="Where Argo CD finds this repository.")]
    tiers: Annotated[Tiers, Meta(description="What the tiers promise.")] = Tiers()
    policy: Annotated[Policy, Meta(description="What must be so before anything is merged.")] = Policy()

    synthetic_rehearsals: Annotated[
        Literal["refused", "accepted"],
        Meta(description="Whether records with `synthetic: true` prove anything; accepted only in an example."),
    ] = "refused"
    clusters: Annotated[
        tuple[Cluster, ...], Meta(min_length=1, description="The clusters, keyed by name; order means nothing.")
    ]
    waivers: Waivers = ()


class Project(SpecModel, frozen=True, kw_only=True):
    """The root of a repository (`poolwright.yaml`, exactly one): clusters and the stack each one runs."""

    kind: Annotated[Literal["Project"], Meta(description="The kind of spec.")]
    metadata: Annotated[ProjectMetadata, Meta(description="The spec's identity.")]
    spec: Annotated[ProjectSpec, Meta(description="What the Project says.")]
