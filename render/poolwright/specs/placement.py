"""The Placement: an envelope version on a pool. Promotion is an edit here."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from poolwright.specs.envelope import Isolation
from poolwright.specs.model import Metadata, Model, SpecModel
from poolwright.specs.pool import Lane
from poolwright.specs.scalar import Hostname, LabelValue, Semver, UnitName
from poolwright.specs.waiver import Waivers


class PlacementMetadata(Metadata, frozen=True, kw_only=True):
    """The Placement's identity: the unit, unique in its cluster."""

    name: Annotated[UnitName, Meta(description="The unit: the name of its folder and objects, unique in the cluster.")]


class EnvelopeReference(Model, frozen=True, kw_only=True):
    """Which envelope, and which version of it."""

    name: Annotated[UnitName, Meta(description="The envelope.")]
    version: Annotated[Semver, Meta(description="Its version; promotion is an edit of this line.")]


class PlacementRouter(Model, frozen=True, kw_only=True):
    """How requests reach the replicas."""

    pool_name: Annotated[
        UnitName | None, Meta(description="The unit whose router pool the replicas join. Default: their own.")
    ] = None
    hostnames: Annotated[
        tuple[Hostname, ...], Meta(max_length=16, description="Names the route answers to; only on the pool's owner.")
    ] = ()
    peak_concurrency: Annotated[
        Annotated[int, Meta(ge=1, le=1 << 30)] | None,
        Meta(
            description="Requests at once, at the worst time, that all units of the router pool carry together without "
            "their spare replicas; only on the pool's owner."
        ),
    ] = None


class PlacementSpec(Model, frozen=True, kw_only=True):
    """What the Placement says."""

    envelope: Annotated[EnvelopeReference, Meta(description="What is placed.")]
    pool_name: Annotated[UnitName, Meta(description="Where; the cluster follows from the pool.")]
    device_class_names: Annotated[
        tuple[UnitName, ...],
        Meta(
            min_length=1,
            max_length=8,
            description="Classes of the claimed devices, first choice first; each one of the pool's, all of one tier.",
        ),
    ]
    zone: Annotated[LabelValue | None, Meta(description="The zone that pods must run in. Default: any.")] = None
    min_replicas: Annotated[int, Meta(ge=1, le=10000, description="Replicas that are rendered.")]
    max_replicas: Annotated[
        Annotated[int, Meta(ge=1, le=10000)] | None,
        Meta(description="Most replicas; above minReplicas an autoscaler owns it. Default: min."),
    ] = None
    surge: Annotated[
        Annotated[int, Meta(ge=0, le=1000)] | None,
        Meta(
            description="Replicas above the number that a rolling update may add, each with devices of its own. "
            "0: an update takes a replica down first. Interactive must write it; batch has 0.",
        ),
    ] = None
    lane: Annotated[Lane, Meta(description="Consent: experiment, to be placed on an experiment pool.")] = "baseline"
    isolation: Annotated[
        Isolation | None, Meta(description="Consent to weaker isolation than the envelope's. Default: the envelope's.")
    ] = None
    router: Annotated[PlacementRouter | None, Meta(description="How requests reach the replicas.")] = None
    waivers: Waivers = ()


class Placement(SpecModel, frozen=True, kw_only=True):
    """An envelope version on a pool: how often, where, on which class."""

    kind: Annotated[Literal["Placement"], Meta(description="The kind of spec.")]
    metadata: Annotated[PlacementMetadata, Meta(description="The spec's identity.")]
    spec: Annotated[PlacementSpec, Meta(description="What the Placement says.")]
