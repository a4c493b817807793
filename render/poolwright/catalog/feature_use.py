"""Which gates of Kubernetes and of DRA drivers each stack's pools really use: those that are set, and those needed.

A gate that is on by default and that nothing needs is nobody's decision, so it is no use.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from poolwright.catalog.class_gates import EXTENDED_RESOURCE, PRIORITIZED_LIST
from poolwright.catalog.class_needs import list_attribute_gates, list_class_needs
from poolwright.catalog.device_mode import read_types
from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import build_driver_gates, is_nvidia_package, list_publishers
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement
from poolwright.specs.stack import DraDriver, Stack

KUBERNETES: Final = "kubernetes"  # the component; every other one is a driver's package
CONSUMABLE_CAPACITY: Final = "DRAConsumableCapacity"  # what lets several claims have one device of any driver
_COMPUTE_DOMAIN: Final = "compute-domain.nvidia.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureUse:
    """A gate that the clusters of a stack use."""

    component: str
    feature: str
    stack: str
    clusters: tuple[str, ...]  # sorted
    pools: tuple[str, ...]  # that need it, sorted; none: it is only set
    reasons: tuple[str, ...]  # in words, sorted
    place: Place  # of the first reason, in the order of what stacks, classes and placements say


@dataclass(frozen=True, slots=True)
class _Reason:
    component: str
    feature: str
    said: str
    place: Place
    pool: str | None = None


def list_uses(specs: Specs, facts: Facts) -> tuple[FeatureUse, ...]:
    """Each feature that a stack's clusters use, once for each stack; by component, feature and stack.

    specs: of a whole project without errors (CelError if a raw selector is none). A stack that no cluster runs uses
           nothing.
    """
    placements = [found for one in specs.placements if (found := resolve_placement(specs, one)[0])]
    uses: list[FeatureUse] = []
    for stack in specs.stacks:
        name = stack.value.identity
        clusters = tuple(sorted(c.name for c in specs.project.value.spec.clusters if c.stack_name == name))
        if not clusters:
            continue
        reasons = list(_list_reasons(specs, stack, clusters, placements, facts))
        for component, feature in dict.fromkeys((one.component, one.feature) for one in reasons):
            mine = [one for one in reasons if (one.component, one.feature) == (component, feature)]
            uses.append(
                FeatureUse(
                    component=component,
                    feature=feature,
                    stack=name,
                    clusters=clusters,
                    pools=tuple(sorted({one.pool for one in mine if one.pool})),
                    reasons=tuple(sorted({one.said for one in mine})),
                    place=mine[0].place,
                )
            )
    return tuple(sorted(uses, key=lambda one: (one.component, one.feature, one.stack)))


def _list_reasons(
    specs: Specs,
    stack: Spec[Stack],
    clusters: tuple[str, ...],
    placements: list[ResolvedPlacement],
    facts: Facts,
) -> Iterator[_Reason]:
    yield from _list_set(stack)
    for pool in specs.pools:
        if pool.value.spec.cluster_name in clusters:
            yield from _list_of_pool(pool, stack, facts)
    for placement in placements:
        if placement.on.stack.value.identity == stack.value.identity:
            yield from _list_of_placement(placement, facts)
    yield from _list_needed(stack, facts)


def _list_set(stack: Spec[Stack]) -> Iterator[_Reason]:
    """What the stack turns on."""
    said = f"stack {stack.value.identity} turns it on"
    for name, value in stack.value.spec.kubernetes.feature_gates.items():
        if value:
            place = stack.document.key_place(("spec", "kubernetes", "featureGates", name))
            yield _Reason(KUBERNETES, name, said, place)
    for index, driver in enumerate(stack.value.spec.dra_drivers):
        for name, value in driver.feature_gates.items():
            if value:
                place = stack.document.key_place(("spec", "draDrivers", index, "featureGates", name))
                yield _Reason(driver.name, name, said, place)


def _list_of_pool(pool: Spec[Pool], stack: Spec[Stack], facts: Facts) -> Iterator[_Reason]:
    cluster, identity = pool.value.spec.cluster_name, pool.value.identity
    for number, device_class in enumerate(pool.value.spec.device_classes):
        drivers = list_publishers(device_class.driver, stack, facts)
        owner = f"class {cluster}/{device_class.name}"
        for need in list_class_needs(device_class, facts):
            place = pool.place("spec", "deviceClasses", number, *need.path)
            said = f"{owner}: {need.said or 'its features name it'}"
            yield from (_Reason(driver.name, need.gate, said, place, identity) for driver in drivers)
        place = pool.place("spec", "deviceClasses", number)
        if device_class.extended_resource_name is not None:
            said = f"{owner} has an extended resource name"
            yield _Reason(KUBERNETES, EXTENDED_RESOURCE, said, place, identity)
        if read_types(device_class, facts)[0]:
            said = f"{owner} asks for devices that several claims may have"
            yield _Reason(KUBERNETES, CONSUMABLE_CAPACITY, said, place, identity)
        if device_class.driver == _COMPUTE_DOMAIN:
            for driver in drivers:
                for gate in _list_compute_domains(driver, facts):
                    said = f"{owner} is of compute domains, and the driver has it on"
                    yield _Reason(driver.name, gate, said, place, identity)


def _list_compute_domains(driver: DraDriver, facts: Facts) -> Iterator[str]:
    """Gates of compute domains that are on, by default or because somebody says so."""
    if is_nvidia_package(driver.name, facts):
        gates = build_driver_gates(driver, facts)
        yield from (
            fact.name for fact in facts.nvidia_gates if fact.component == "computeDomain" and gates.get(fact.name)
        )


def _list_of_placement(placement: ResolvedPlacement, facts: Facts) -> Iterator[_Reason]:
    pool, stack, spec = placement.pool.value.identity, placement.on.stack, placement.placement
    owner = f"placement {placement.on.cluster.name}/{spec.value.identity}"
    if len(placement.device_classes) > 1:
        place, said = spec.place("spec", "deviceClassNames"), f"{owner} names several classes"
        yield _Reason(KUBERNETES, PRIORITIZED_LIST, said, place, pool)
    for number, constraint in enumerate(placement.envelope.value.spec.claim.constraints):
        place = placement.envelope.place("spec", "claim", "constraints", number)
        for name in sorted({one.driver for one in placement.device_classes}):
            for gate in list_attribute_gates(name, constraint.match_attribute, facts):
                said = f"{owner} compares {constraint.match_attribute}"
                for driver in list_publishers(name, stack, facts):
                    yield _Reason(driver.name, gate, said, place, pool)


def _list_needed(stack: Spec[Stack], facts: Facts) -> Iterator[_Reason]:
    """What of Kubernetes the drivers' gates need that are on."""
    for index, driver in enumerate(stack.value.spec.dra_drivers):
        if not is_nvidia_package(driver.name, facts):
            continue
        gates = build_driver_gates(driver, facts)
        for need in facts.nvidia_gate_needs:
            if gates.get(need.name):
                path = ("spec", "draDrivers", index, "featureGates", need.name)
                place = stack.document.key_place(path) if need.name in driver.feature_gates else stack.place(*path)
                said = f"{need.name} of {driver.name} needs it"
                yield _Reason(KUBERNETES, need.kubernetes_gate, said, place)
