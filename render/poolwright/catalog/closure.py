"""The closure of a unit: everything its bytes follow from, as one value, and nothing else.

Builders are handed a closure and can't reach further, so a file that isn't in it can't change the unit. The digest is
over the value: reformatting a spec, or adding a cluster, changes no closure.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from poolwright.catalog.device_class import DeviceClass, build_device_class
from poolwright.catalog.device_mode import may_share
from poolwright.catalog.dialect import Dialect, build_base_dialect, build_dialect
from poolwright.catalog.facts import ComputeClassFact, Facts
from poolwright.specs.canonical import Canonical, canonical_json
from poolwright.specs.digest import Digest, digest_bytes, digest_value
from poolwright.specs.envelope import Envelope, EnvelopeSpec
from poolwright.specs.lock import RENDER_FORMAT
from poolwright.specs.model import API_VERSION, Model, QuantityText, plain_spec
from poolwright.specs.parse import Spec
from poolwright.specs.placement import PlacementSpec
from poolwright.specs.pool import Lane, Pool, PoolNamespace, Tier, Toleration
from poolwright.specs.project import GatewayReference, Tiers
from poolwright.specs.resolve import ResolvedCluster, ResolvedPlacement
from poolwright.specs.stack import ServingImage
from poolwright.specs.waiver import strip_waivers

if TYPE_CHECKING:  # `generate` never has one, and each type takes time to define
    from poolwright.catalog.argocd_closure import ArgocdClosure

PLATFORM_UNIT: Final = "platform"
_NOTHING: Final[Mapping[int, Canonical]] = MappingProxyType({})


class EnvelopeClosure(Model, frozen=True, kw_only=True):
    """What a base follows from: one envelope version and the files it names."""

    name: str
    version: str
    spec: EnvelopeSpec
    files: dict[str, Digest]  # by path
    dialect: Dialect | None  # the render format's; None: an engine of the team's own, which its template starts
    workload: dict[str, Any] | None = None  # what the envelope's template gives, whole and checked; None: it has none

    @property
    def record(self) -> dict[str, object]:
        """The decision record: its canonical JSON is what the envelope's digest is over."""
        return {"apiVersion": API_VERSION, "files": dict(self.files), "spec": plain_spec(self.spec)}

    @property
    def digest(self) -> Digest:
        """The envelope's digest: equal for equal meaning, whatever the file looks like."""
        return digest_value(self.record)


class ClusterApi(Model, frozen=True, kw_only=True):
    """What a cluster's Kubernetes serves."""

    minor: str  # 1.36
    resource_api: str  # version of resource.k8s.io


class ClusterClosure(Model, frozen=True, kw_only=True):
    """What a unit takes from its project and cluster."""

    project: str
    cluster: str
    kubernetes: str  # minor release, 1.36
    resource_api: str  # version of resource.k8s.io that it serves
    gateway: GatewayReference | None  # where routes are attached; None: nowhere


class PoolClosure(Model, frozen=True, kw_only=True):
    """What a unit takes from its pool."""

    name: str
    lane: Lane
    owner: str
    tolerations: tuple[Toleration, ...]


class ClaimedClass(Model, frozen=True, kw_only=True):
    """A class that a unit claims accelerators of, and how its devices show the arithmetic the envelope asks for."""

    device_class: DeviceClass
    native: ComputeClassFact | None  # None: the envelope asks for none
    memory: QuantityText | None = None  # that the envelope costs on each device; None: that isn't known
    is_shared: bool = False  # several pods may have one of its devices, or that isn't ruled out


class UnitClosure(Model, frozen=True, kw_only=True):
    """What a placement's unit follows from."""

    render_format: int
    on: ClusterClosure
    unit: str
    placement: PlacementSpec
    pool: PoolClosure
    alternatives: tuple[ClaimedClass, ...]  # classes of the accelerators, first choice first
    extra_classes: tuple[DeviceClass, ...]  # one for each extra request of the envelope, in its order
    image: ServingImage
    dialect: Dialect | None  # of the image's engine version, where it isn't like the base's
    router_pool: str  # the unit whose router pool the replicas are in
    envelope: EnvelopeClosure
    is_priced: bool = False  # whether it is known what a replica costs on each of the classes
    custom: Digest | None = None  # of the folder with the team's own component; None: there is none

    @property
    def tier(self) -> Tier:
        """The tier of the placement: that of its classes, which all have the same."""
        return self.alternatives[0].device_class.tier

    @property
    def surge(self) -> int:
        """Replicas above the number that an update may add."""
        return self.placement.surge or 0

    @property
    def max_replicas(self) -> int:
        """Most replicas at rest."""
        return self.placement.max_replicas or self.placement.min_replicas


class PlatformPool(Model, frozen=True, kw_only=True):
    """What the platform unit takes from a pool."""

    name: str
    version: str
    owner: str
    lane: Lane
    device_classes: tuple[DeviceClass, ...]
    namespaces: tuple[PoolNamespace, ...]


class PlatformClosure(Model, frozen=True, kw_only=True):
    """What a cluster's platform unit follows from: all its pools."""

    render_format: int
    on: ClusterClosure
    tiers: Tiers
    pools: tuple[PlatformPool, ...]  # by name


class BaseClosure(Model, frozen=True, kw_only=True):
    """What a base follows from."""

    render_format: int
    envelope: EnvelopeClosure


Closure: TypeAlias = "UnitClosure | PlatformClosure | BaseClosure | ArgocdClosure"


def digest_closure(closure: Closure, known: Mapping[int, Canonical] = _NOTHING) -> Digest:
    """SHA-256 of the closure's canonical JSON: equal closures, equal bytes of the unit.

    known: the canonical JSON of some of its parts, by their id; what many closures share needn't be rendered for each.
    """
    return digest_value(plain_spec(closure, known))


def canonical_part(part: Model) -> Canonical:
    """What `digest_closure` may be given for a part of closures."""
    return Canonical(canonical_json(plain_spec(part)).decode())


def build_unit_closure(
    resolved: ResolvedPlacement, api: ClusterApi, facts: Facts, envelope: EnvelopeClosure
) -> UnitClosure:
    """The closure of a placement's unit.

    api:      what the cluster's Kubernetes serves.
    envelope: that of the placement's envelope; one value for all units of it saves building it again.
    Raises:   CelError if a raw selector of a class is no selector.
    """
    pool = resolved.pool.value
    wanted = envelope.spec.compute_class
    return UnitClosure(
        render_format=RENDER_FORMAT,
        on=build_cluster_closure(resolved.on, api),
        unit=resolved.placement.value.metadata.name,
        placement=strip_waivers(resolved.placement.value.spec),
        pool=PoolClosure(
            name=pool.metadata.name,
            lane=pool.spec.lane,
            owner=pool.spec.owner,
            tolerations=_sorted_tolerations(pool),
        ),
        alternatives=tuple(
            ClaimedClass(
                device_class=build_device_class(device_class),
                native=None if wanted == "any" else facts.compute_class(device_class.driver, wanted),
                is_shared=may_share(device_class, resolved.on.stack.value, facts),
            )
            for device_class in resolved.device_classes
        ),
        extra_classes=tuple(build_device_class(device_class) for device_class in resolved.extra_classes),
        image=resolved.image,
        dialect=_other_dialect(resolved.image, facts),
        router_pool=resolved.router_owner.value.metadata.name,
        envelope=envelope,
    )


def build_platform_closure(on: ResolvedCluster, pools: tuple[Spec[Pool], ...], api: ClusterApi) -> PlatformClosure:
    """The closure of a cluster's platform unit.

    pools:  all pools of the cluster, in any order.
    Raises: CelError if a raw selector of a class is no selector.
    """
    return PlatformClosure(
        render_format=RENDER_FORMAT,
        on=build_cluster_closure(on, api),
        tiers=on.project.value.spec.tiers,
        pools=tuple(_platform_pool(pool.value) for pool in sorted(pools, key=lambda spec: spec.value.identity)),
    )


def build_base_closure(envelope: EnvelopeClosure) -> BaseClosure:
    """The closure of an envelope version's base."""
    return BaseClosure(render_format=RENDER_FORMAT, envelope=envelope)


def base_closure(closure: UnitClosure) -> BaseClosure:
    """The closure of the base that a unit stands on."""
    return BaseClosure(render_format=closure.render_format, envelope=closure.envelope)


def build_envelope_closure(envelope: Envelope, files: Mapping[str, bytes], facts: Facts) -> EnvelopeClosure:
    """The part of a closure that an envelope decides: its spec, and by digest the files it names.

    files: bytes of the files the envelope names, by path; they must be there.
    """
    return EnvelopeClosure(
        name=envelope.metadata.name,
        version=envelope.metadata.version,
        spec=envelope.spec,
        files={path: digest_bytes(files[path]) for path in list_named_files(envelope)},
        dialect=build_base_dialect(facts, envelope.spec.engine.type),
    )


def list_named_files(envelope: Envelope) -> tuple[str, ...]:
    """Paths of the files that the envelope names, sorted."""
    model = envelope.spec.model
    named = {model.config_path, model.measured_profile, envelope.spec.engine.template}
    return tuple(sorted(path for path in named if path is not None))


def build_cluster_closure(on: ResolvedCluster, api: ClusterApi) -> ClusterClosure:
    """The part of a closure that project and cluster decide."""
    return ClusterClosure(
        project=on.project.value.metadata.name,
        cluster=on.cluster.name,
        kubernetes=api.minor,
        resource_api=api.resource_api,
        gateway=on.cluster.gateway,
    )


def _other_dialect(image: ServingImage, facts: Facts) -> Dialect | None:
    """The dialect of an image's engine version; None where it is like the base's."""
    base, own = build_base_dialect(facts, image.engine), build_dialect(facts, image.engine, image.version)
    return None if base is None or own is None or own.is_like(base) else own


def _platform_pool(pool: Pool) -> PlatformPool:
    return PlatformPool(
        name=pool.metadata.name,
        version=pool.metadata.version,
        owner=pool.spec.owner,
        lane=pool.spec.lane,
        device_classes=tuple(build_device_class(c) for c in sorted(pool.spec.device_classes, key=lambda c: c.name)),
        namespaces=tuple(sorted(pool.spec.namespaces, key=lambda namespace: namespace.name)),
    )


def _sorted_tolerations(pool: Pool) -> tuple[Toleration, ...]:
    """Order means nothing in a pool's list, so it has one order here."""
    return tuple(sorted(set(pool.spec.tolerations), key=lambda t: (t.key, t.operator, t.value or "", t.effect or "")))
