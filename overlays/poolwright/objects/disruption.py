"""How many replicas an eviction may take at once: part of what a tier promises, and never what blocks a drain."""

from __future__ import annotations

from poolwright.catalog.closure import UnitClosure
from poolwright.objects.envelope import leader_selector
from poolwright.objects.kubernetes import MANAGED_BY, PART_OF, TIER, UNIT, Object


def build_disruption_budget(closure: UnitClosure) -> tuple[Object, ...]:
    """The unit's PodDisruptionBudget; none where replicas may wait anyway.

    Always maxUnavailable, and at least 1: minAvailable, or 0, would keep a node from being drained. Of groups the
    leaders count, so that a group is one.
    """
    spec = closure.envelope.spec
    if spec.replica_behavior == "queueable":
        return ()
    labels = {**MANAGED_BY, PART_OF: closure.on.project, TIER: closure.tier, UNIT: closure.unit}
    budget: Object = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": closure.unit, "namespace": spec.namespace, "labels": labels},
        "spec": {
            "maxUnavailable": _most_away(closure),
            "selector": {"matchLabels": {UNIT: closure.unit, **leader_selector(closure.envelope)}},
            # A pod that never got ready doesn't serve: it must not hold up a drain until it does.
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    }
    return (budget,)


def _most_away(closure: UnitClosure) -> int | str:
    if closure.tier == "interactive":
        # Spares may go; one replica at least stays, unless there is but one.
        return max(1, min(closure.envelope.spec.recovery.spare_replicas, closure.placement.min_replicas - 1))
    if closure.envelope.spec.topology.nodes > 1:
        return max(1, -(-closure.placement.min_replicas // 2))  # a share of pods would not be one of groups
    return "50%"
