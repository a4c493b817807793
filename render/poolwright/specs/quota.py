"""Quotas of namespaces against what the placements in them may claim at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.specs.claim_plan import count_extra, devices_per_replica
from poolwright.specs.envelope import EnvelopeSpec
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedPlacement

_RULE: Final = "Kubernetes ResourceQuota"


def check_quotas(pools: Sequence[Spec[Pool]], placements: Sequence[ResolvedPlacement]) -> list[Finding]:
    """A finding for each quota of a pool that is below what its placements may claim, surge included.

    The API server refuses a claim above the quota, so pods stay without theirs. A request for the first available of
    several classes counts in every class that it names.
    Cost: linear in placements.
    """
    needed: dict[tuple[str, str, str], dict[str, int]] = {}  # devices by unit, by pool, namespace and class
    for placement in placements:
        unit = placement.placement.value.identity
        for class_name, count in _list_needs(placement):
            key = (placement.pool.value.identity, placement.envelope.value.spec.namespace, class_name)
            units = needed.setdefault(key, {})
            units[unit] = units.get(unit, 0) + count
    problems = []
    for pool in pools:
        for index, namespace in enumerate(pool.value.spec.namespaces):
            for class_name, quota in namespace.quota.items():
                units = needed.get((pool.value.identity, namespace.name, class_name), {})
                if sum(units.values()) > quota:
                    problems.append(_short(pool, index, class_name, quota, units))
    return problems


def _list_needs(placement: ResolvedPlacement) -> Iterator[tuple[str, int]]:
    """Classes and how many of their devices the placement may have claimed at once."""
    said, spec = placement.placement.value.spec, placement.envelope.value.spec
    replicas = (said.max_replicas or said.min_replicas) + (said.surge or 0)
    for device_class in placement.device_classes:
        yield device_class.name, replicas * devices_per_replica(spec.topology)
    for index, device_class in enumerate(placement.extra_classes):
        yield device_class.name, replicas * _extra_per_replica(spec, index)


def _extra_per_replica(spec: EnvelopeSpec, index: int) -> int:
    return count_extra(spec, index) * spec.topology.nodes


def _short(pool: Spec[Pool], index: int, class_name: str, quota: int, units: dict[str, int]) -> Finding:
    namespace, needed = pool.value.spec.namespaces[index].name, sum(units.values())
    each = ", ".join(f"{unit} {count}" for unit, count in sorted(units.items()))
    return Finding(
        code="quota-short",
        severity="error",
        place=pool.place("spec", "namespaces", index, "quota", class_name),
        what=f'namespace "{namespace}" may claim {quota} devices of class "{class_name}", and its placements need '
        f"{needed} ({each})",
        why="above the quota the API server refuses a pod's claim: replicas are missing, or an update stands still",
        rule=_RULE,
        fix=f"raise the quota to {needed}, or lower maxReplicas or surge",
    )
