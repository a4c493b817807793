"""What specs promise of a cluster's workloads: how sure their replicas are, and which losses they survive."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from poolwright.specs.envelope import ReplicaBehavior
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement

RULE = "poolwright.dev/v1alpha1"

LostThing = Literal["node", "device", "zone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """What a placement and its envelope say together."""

    workload: str  # its title in the demand
    unit: str
    pool: str
    envelope: str  # name@version
    behavior: ReplicaBehavior
    least: int  # minReplicas
    most: int  # maxReplicas, or minReplicas where it isn't written
    surge: int
    least_place: Place
    most_place: Place
    surge_place: Place

    @property
    def peak(self) -> int:
        """Replicas that there may be at once, in a rollout."""
        return self.most + self.surge


@dataclass(frozen=True, slots=True, kw_only=True)
class Tolerance:
    """A pool's headroom for one sort of loss."""

    pool: str
    thing: LostThing
    count: int  # of them that may be lost at once
    place: Place


def list_promises(specs: Specs, cluster: str) -> Iterator[Promise]:
    """Of each placement on the cluster's pools, in the order of their files.

    specs: of a whole project, whose references all lead somewhere.
    """
    for placement in specs.placements:
        resolved = resolve_placement(specs, placement)[0]
        if resolved is not None and resolved.on.cluster.name == cluster:
            yield _build_promise(resolved)


def list_tolerances(specs: Specs, cluster: str) -> Iterator[Tolerance]:
    """What the cluster's pools say of losses, in the order of their files."""
    for pool in specs.pools:
        if pool.value.spec.cluster_name == cluster and pool.value.spec.headroom is not None:
            yield from _list_of_pool(pool)


def _build_promise(resolved: ResolvedPlacement) -> Promise:
    placement, envelope = resolved.placement, resolved.envelope.value
    said, unit = placement.value.spec, placement.value.identity
    return Promise(
        workload=f"{envelope.spec.namespace}/{unit}",
        unit=unit,
        pool=resolved.pool.value.identity,
        envelope=envelope.identity,
        behavior=envelope.spec.replica_behavior,
        least=said.min_replicas,
        most=said.min_replicas if said.max_replicas is None else said.max_replicas,
        surge=said.surge or 0,
        least_place=placement.place("spec", "minReplicas"),
        most_place=placement.place("spec", "minReplicas" if said.max_replicas is None else "maxReplicas"),
        surge_place=placement.place("spec", "surge"),
    )


def _list_of_pool(pool: Spec[Pool]) -> Iterator[Tolerance]:
    headroom = pool.value.spec.headroom
    if headroom is None:
        return
    said = headroom.tolerate_loss
    things: tuple[tuple[LostThing, str, int | None], ...] = (
        ("node", "nodes", said.nodes),
        ("device", "devices", said.devices),
        ("zone", "zones", said.zones),
    )
    for thing, field, count in things:
        if count is not None:
            place = pool.place("spec", "headroom", "tolerateLoss", field)
            yield Tolerance(pool=pool.value.identity, thing=thing, count=count, place=place)
