"""The closure of a unit: everything its bytes follow from, as one value, and nothing else.

Builders are handed a closure and can't reach further, so a file that isn't in it can't change the unit. The digest is
over the value: reformatting a spec, or adding a cluster, changes no closure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from poolwright.catalog.device_class import DeviceClass, build_device_class
from poolwright.catalog.facts import ComputeClassFact, Facts
from poolwright.specs.digest import Digest, digest_bytes, digest_value
from poolwright.specs.envelope import Envelope, EnvelopeSpec
from poolwright.specs.model import API_VERSION, Model, plain_spec
from poolwright.specs.parse import Spec
from poolwright.specs.placement import PlacementSpec
from poolwright.specs.pool import Lane, Pool, Toleration
from poolwright.specs.resolve import ResolvedCluster, ResolvedPlacement

RENDER_FORMAT: Final = 1  # what decides rendered bytes beside the specs; a new number may restart every model
PLATFORM_UNIT: Final = "platform"


class EnvelopeClosure(Model, frozen=True, kw_only=True):
    """What a base follows from: one envelope version and the files it names."""

    name: str
    version: str
    spec: EnvelopeSpec
    files: dict[str, Digest]  # by path

    @property
    def record(self) -> dict[str, object]:
        """The decision record: its canonical JSON is what the envelope's digest is over."""
        return {"apiVersion": API_VERSION, "files": dict(self.files), "spec": plain_spec(self.spec)}

    @property
    def digest(self) -> Digest:
        """The envelope's digest: equal for equal meaning, whatever the file looks like."""
        return digest_value(self.record)


class ClusterClosure(Model, frozen=True, kw_only=True):
    """What a unit takes from its project and cluster."""

    project: str
    cluster: str
    resource_api: str  # version of resource.k8s.io that the pinned Kubernetes serves


class PoolClosure(Model, frozen=True, kw_only=True):
    """What a unit takes from its pool."""

    name: str
    tolerations: tuple[Toleration, ...]


class UnitClosure(Model, frozen=True, kw_only=True):
    """What a placement's unit follows from."""

    render_format: int
    on: ClusterClosure
    unit: str
    placement: PlacementSpec
    pool: PoolClosure
    device_class: DeviceClass
    compute_class: ComputeClassFact | None  # None: the envelope asks for no native arithmetic
    image: str
    envelope: EnvelopeClosure


class PlatformPool(Model, frozen=True, kw_only=True):
    """What the platform unit takes from a pool."""

    name: str
    version: str
    owner: str
    lane: Lane
    device_classes: tuple[DeviceClass, ...]
    namespaces: tuple[str, ...]


class PlatformClosure(Model, frozen=True, kw_only=True):
    """What a cluster's platform unit follows from: all its pools."""

    render_format: int
    on: ClusterClosure
    pools: tuple[PlatformPool, ...]  # by name


class BaseClosure(Model, frozen=True, kw_only=True):
    """What a base follows from."""

    render_format: int
    envelope: EnvelopeClosure


Closure = UnitClosure | PlatformClosure | BaseClosure


def digest_closure(closure: Closure) -> Digest:
    """SHA-256 of the closure's canonical JSON: equal closures, equal bytes of the unit."""
    return digest_value(plain_spec(closure))


def build_unit_closure(
    resolved: ResolvedPlacement, resource_api: str, facts: Facts, files: Mapping[str, bytes]
) -> UnitClosure:
    """The closure of a placement's unit.

    resource_api: the version of resource.k8s.io to render.
    files:        bytes of the files the envelope names, by path; they must be there.
    Raises:       CelError if a raw selector of the class is no selector.
    """
    pool, envelope = resolved.pool.value, resolved.envelope.value
    wanted = envelope.spec.compute_class
    return UnitClosure(
        render_format=RENDER_FORMAT,
        on=build_cluster_closure(resolved.on, resource_api),
        unit=resolved.placement.value.metadata.name,
        placement=resolved.placement.value.spec,
        pool=PoolClosure(name=pool.metadata.name, tolerations=_sorted_tolerations(pool)),
        device_class=build_device_class(resolved.device_class),
        compute_class=None if wanted == "any" else facts.compute_class(resolved.device_class.driver, wanted),
        image=resolved.image.image,
        envelope=build_envelope_closure(envelope, files),
    )


def build_platform_closure(on: ResolvedCluster, pools: tuple[Spec[Pool], ...], resource_api: str) -> PlatformClosure:
    """The closure of a cluster's platform unit.

    pools:  all pools of the cluster, in any order.
    Raises: CelError if a raw selector of a class is no selector.
    """
    return PlatformClosure(
        render_format=RENDER_FORMAT,
        on=build_cluster_closure(on, resource_api),
        pools=tuple(_platform_pool(pool.value) for pool in sorted(pools, key=lambda spec: spec.value.identity)),
    )


def build_base_closure(envelope: Envelope, files: Mapping[str, bytes]) -> BaseClosure:
    """The closure of an envelope version's base; files as for a unit."""
    return BaseClosure(render_format=RENDER_FORMAT, envelope=build_envelope_closure(envelope, files))


def base_closure(closure: UnitClosure) -> BaseClosure:
    """The closure of the base that a unit stands on."""
    return BaseClosure(render_format=closure.render_format, envelope=closure.envelope)


def build_envelope_closure(envelope: Envelope, files: Mapping[str, bytes]) -> EnvelopeClosure:
    """The part of a closure that an envelope decides: its spec, and by digest the files it names."""
    path = envelope.spec.model.config_path
    return EnvelopeClosure(
        name=envelope.metadata.name,
        version=envelope.metadata.version,
        spec=envelope.spec,
        files={path: digest_bytes(files[path])},
    )


def build_cluster_closure(on: ResolvedCluster, resource_api: str) -> ClusterClosure:
    """The part of a closure that project and cluster decide."""
    return ClusterClosure(project=on.project.value.metadata.name, cluster=on.cluster.name, resource_api=resource_api)


def _platform_pool(pool: Pool) -> PlatformPool:
    return PlatformPool(
        name=pool.metadata.name,
        version=pool.metadata.version,
        owner=pool.spec.owner,
        lane=pool.spec.lane,
        device_classes=tuple(build_device_class(c) for c in sorted(pool.spec.device_classes, key=lambda c: c.name)),
        namespaces=tuple(sorted(namespace.name for namespace in pool.spec.namespaces)),
    )


def _sorted_tolerations(pool: Pool) -> tuple[Toleration, ...]:
    """Order means nothing in a pool's list, so it has one order here."""
    return tuple(sorted(set(pool.spec.tolerations), key=lambda t: (t.key, t.operator, t.value or "", t.effect or "")))
