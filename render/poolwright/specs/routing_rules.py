"""What a placement may not say about how requests reach its replicas, or can't have measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.placement import Placement
from poolwright.specs.project import Cluster

_RULE: Final = "poolwright.dev/v1alpha1"


def check_routing(
    placement: Spec[Placement],
    envelope: Spec[Envelope],
    owner: Spec[Placement],
    envelopes: Iterable[Spec[Envelope]],
    cluster: Cluster,
) -> list[Finding]:
    """Everything wrong with a placement's routing.

    owner:     whose router pool the replicas are in; the placement itself if it joins none.
    envelopes: among them the owner's; if it isn't there, that is the owner's own finding.
    """
    wanted = owner.value.spec.envelope
    placed = (e for e in envelopes if e.value.identity == f"{wanted.name}@{wanted.version}")
    joins = owner.value.identity != placement.value.identity
    problems = list(_check_hostnames(placement, cluster, owner if joins else None))
    if joins:
        problems += _check_chain(placement, owner)
        for owners in placed:
            problems += _check_joined(placement, envelope, owner, owners)
    return [*problems, *_check_measured(envelope)]


def _check_hostnames(placement: Spec[Placement], cluster: Cluster, owner: Spec[Placement] | None) -> Iterator[Finding]:
    router, unit = placement.value.spec.router, placement.value.identity
    if router is None or not router.hostnames:
        return
    place = placement.place("spec", "router", "hostnames")
    if owner:
        yield Finding(
            code="route-joined",
            severity="error",
            place=place,
            what=f'placement "{unit}" has hostnames and joins the router pool of "{owner.value.identity}"',
            why="a pool has one route, its owner's; a second one would lead to a pool that doesn't exist",
            rule=_RULE,
            fix=f'move the hostnames to "{owner.value.identity}", or remove router.poolName',
        )
    elif cluster.gateway is None:
        yield Finding(
            code="route-gateway",
            severity="error",
            place=place,
            what=f'placement "{unit}" has hostnames, and cluster "{cluster.name}" has no gateway',
            why="a route is attached to a Gateway; without one the names would lead nowhere, and nobody would see it",
            rule=_RULE,
            fix="add the cluster's gateway to the Project, or remove the hostnames",
        )


def _check_chain(placement: Spec[Placement], owner: Spec[Placement]) -> Iterator[Finding]:
    router = owner.value.spec.router
    further = router.pool_name if router else None
    if further and further != owner.value.identity:
        yield Finding(
            code="router-pool-chain",
            severity="error",
            place=placement.place("spec", "router", "poolName"),
            what=f'placement "{placement.value.identity}" joins the router pool of "{owner.value.identity}", which '
            f'joins that of "{further}"',
            why="a unit that joins another's pool has none of its own",
            rule=_RULE,
            fix=f'write poolName: {further}, or remove it from "{owner.value.identity}"',
        )


def _check_joined(
    placement: Spec[Placement], envelope: Spec[Envelope], owner: Spec[Placement], owners: Spec[Envelope]
) -> Iterator[Finding]:
    place, unit = placement.place("spec", "router", "poolName"), placement.value.identity
    if owners.value.spec.router is None:
        yield Finding(
            code="router-pool-picker",
            severity="error",
            place=place,
            what=f'placement "{unit}" joins the router pool of "{owner.value.identity}", whose envelope '
            f"{owners.value.identity} has no endpoint picker",
            why="without a picker there is no pool, only the owner's Service, which knows the owner's replicas alone",
            rule=_RULE,
            fix="add router.endpointPicker to the owner's envelope, in a new version, or remove router.poolName",
        )
    here, there = envelope.value.spec.namespace, owners.value.spec.namespace
    if here != there:
        yield Finding(
            code="router-pool-namespace",
            severity="error",
            place=place,
            what=f'placement "{unit}" is in namespace "{here}" and joins the router pool of "{owner.value.identity}" '
            f'in "{there}"',
            why="a pool selects pods of its own namespace",
            rule="inference.networking.k8s.io/v1 InferencePool",
            fix="join a pool of the same namespace, or remove router.poolName",
        )


def _check_measured(envelope: Spec[Envelope]) -> Iterator[Finding]:
    said = envelope.value.spec
    if said.engine.type == "custom" and (said.slo.time_to_first_token or said.slo.inter_token_latency):
        yield Finding(
            code="slo-unmeasured",
            severity="error",
            place=envelope.place("spec", "slo"),
            what=f"envelope {envelope.value.identity} promises latencies of a custom engine",
            why="in which series an engine reports latencies is known of vllm and sglang only: no alert can be made",
            rule="poolwright facts, metrics.json",
            fix="remove slo, and add the alerts in custom/",
        )
