"""Gates of a pool's cluster against its lane, and those that its classes and the claims placed on it need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.catalog.class_needs import list_attribute_gates, list_class_needs
from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import build_driver_gates, find_experimental_stage, list_experiments, list_publishers
from poolwright.catalog.rules import check_kubernetes
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedPlacement
from poolwright.specs.stack import DraDriver, Stack

_RULE: Final = "poolwright.dev/v1alpha1"


def check_pool_gates(pool: Spec[Pool], stack: Spec[Stack], facts: Facts, *, only: str | None = None) -> list[Finding]:
    """Gates of the pool's cluster that its lane forbids, and those that its classes (or the named one) need.

    Of a baseline pool on a stack without findings, every class finds the same devices with each alpha gate off.
    """
    api, _ = check_kubernetes(stack, facts)
    problems = check_lane(pool, stack, api.minor, facts) if api else []
    return problems + check_class_needs(pool, stack, facts, only=only)


def check_lane(pool: Spec[Pool], stack: Spec[Stack], minor: str, facts: Facts) -> list[Finding]:
    """Gates that a baseline pool's cluster may not have on: a gate is a property of the whole cluster."""
    if pool.value.spec.lane != "baseline":
        return []
    return [
        Finding(
            code="lane-stack",
            severity="error",
            place=pool.place("spec", "lane"),
            what=f'baseline pool "{pool.value.identity}" is on a cluster whose stack "{stack.value.identity}" '
            f"has {one.said} on ({one.place})",
            why="a gate is on for the whole cluster, so everything on it runs on what has no production promise",
            rule=_RULE,
            fix="turn the gate off, give the cluster a stack without it, or write `lane: experiment` in the pool",
        )
        for one in list_experiments(stack, minor, facts)
    ]


def check_class_needs(pool: Spec[Pool], stack: Spec[Stack], facts: Facts, *, only: str | None = None) -> list[Finding]:
    """Gates that classes need to match anything, where the lane forbids them or the stack has them off.

    only: the class that counts; None: all.
    """
    problems: list[Finding] = []
    for number, device_class in enumerate(pool.value.spec.device_classes):
        if only not in (None, device_class.name):
            continue
        drivers = list_publishers(device_class.driver, stack, facts)
        for need in list_class_needs(device_class, facts):
            place = pool.place("spec", "deviceClasses", number, *need.path)
            what = f'class "{device_class.name}" needs the gate {need.gate}'
            what += f" ({need.said})" if need.said else ""
            fix = "remove the class" if not need.said else "select what is published without it"
            problems += _judge(pool, stack, need.gate, device_class.driver, drivers, place, what, fix, facts)
    return problems


def check_claim_needs(resolved: ResolvedPlacement, facts: Facts) -> list[Finding]:
    """The same of what the envelope's constraints compare, which the driver must publish for any claim to be met."""
    envelope, pool, stack = resolved.envelope, resolved.pool, resolved.on.stack
    problems: list[Finding] = []
    for number, constraint in enumerate(envelope.value.spec.claim.constraints):
        place = envelope.place("spec", "claim", "constraints", number, "matchAttribute")
        for driver in sorted({one.driver for one in resolved.device_classes}):
            for gate in list_attribute_gates(driver, constraint.match_attribute, facts):
                what = f"placement {resolved.placement.value.identity} needs the gate {gate} (its envelope compares "
                what += f"{constraint.match_attribute}, which is published with it only)"
                fix = "remove the constraint"
                drivers = list_publishers(driver, stack, facts)
                problems += _judge(pool, stack, gate, driver, drivers, place, what, fix, facts)
    return problems


def _judge(
    pool: Spec[Pool],
    stack: Spec[Stack],
    gate: str,
    name: str,
    drivers: Sequence[DraDriver],
    place: Place,
    what: str,
    fix: str,
    facts: Facts,
) -> Iterator[Finding]:
    """Whether a gate that something needs may be used in the pool's lane, and is on."""
    stages = [find_experimental_stage(driver, gate, facts) for driver in drivers]
    if pool.value.spec.lane == "baseline" and drivers and all(stages):
        said = ", ".join(
            f"{stage} in {driver.name} {driver.version}" for driver, stage in zip(drivers, stages, strict=True)
        )
        yield Finding(
            code="lane-feature",
            severity="error",
            place=place,
            what=f'{what}, which is {said}, and pool "{pool.value.identity}" is baseline',
            why="the baseline must be schedulable with every alpha gate off: a rollback of one takes nothing from it",
            rule=_RULE,
            fix=f"{fix}, or move it to a pool with `lane: experiment`",
        )
    elif not any(build_driver_gates(driver, facts).get(gate) for driver in drivers):
        said = ", ".join(f"{driver.name} {driver.version}" for driver in drivers) or "no driver"
        yield Finding(
            code="gate-off",
            severity="error",
            place=place,
            what=f'{what}, and stack "{stack.value.identity}" doesn\'t have it on for {name} ({said})',
            why="without the gate the driver publishes nothing that the class matches: its pods stay pending",
            rule=_RULE,
            fix=f"add `{gate}: true` to the driver's featureGates in the stack, or {fix}",
        )
