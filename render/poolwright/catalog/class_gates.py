"""Fields of classes and claims that a cluster's API server drops while a Kubernetes gate is off."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedPlacement
from poolwright.specs.stack import Stack

EXTENDED_RESOURCE: Final = "DRAExtendedResource"
PRIORITIZED_LIST: Final = "DRAPrioritizedList"


def check_extended_resources(
    pool: Spec[Pool], stack: Spec[Stack], minor: str, facts: Facts, *, only: str | None = None
) -> list[Finding]:
    """Classes with an extended resource name on a cluster that doesn't take one; only the named one, if one is."""
    named = [
        (index, device_class)
        for index, device_class in enumerate(pool.value.spec.device_classes)
        if device_class.extended_resource_name is not None and only in (None, device_class.name)
    ]
    if not named or _is_on(EXTENDED_RESOURCE, stack, minor, facts):
        return []
    return [
        _off(
            "extended-resource-gate",
            pool.place("spec", "deviceClasses", index, "extendedResourceName"),
            f'class "{device_class.name}" has an extendedResourceName',
            "remove extendedResourceName",
            EXTENDED_RESOURCE,
            stack,
            minor,
        )
        for index, device_class in named
    ]


def check_first_available(resolved: ResolvedPlacement, minor: str, facts: Facts) -> list[Finding]:
    """Whether the cluster takes a claim with several classes, if the placement names several."""
    stack = resolved.on.stack
    if len(resolved.device_classes) == 1 or _is_on(PRIORITIZED_LIST, stack, minor, facts):
        return []
    place = resolved.placement.place("spec", "deviceClassNames")
    what = f'placement "{resolved.placement.value.identity}" names several classes'
    return [_off("alternatives-gate", place, what, "name one class", PRIORITIZED_LIST, stack, minor)]


def _is_on(gate: str, stack: Spec[Stack], minor: str, facts: Facts) -> bool:
    return facts.effective_gates(minor, stack.value.spec.kubernetes.feature_gates).get(gate, False)


def _off(code: str, place: Place, what: str, fix: str, gate: str, stack: Spec[Stack], minor: str) -> Finding:
    return Finding(
        code=code,
        severity="error",
        place=place,
        what=f'{what}, and Kubernetes {minor} of stack "{stack.value.identity}" has the gate {gate} off',
        why="without the gate the API server drops the field from what is applied, and says nothing",
        rule="poolwright facts, kubernetes-gates.json",
        fix=f"{fix}, choose a Kubernetes that has {gate} on, or turn the gate on in the stack's "
        "kubernetes.featureGates",
    )
