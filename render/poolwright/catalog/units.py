"""From specs to closures: of one unit, or of everything a project renders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from poolwright.catalog.closure import (
    PLATFORM_UNIT,
    BaseClosure,
    Closure,
    PlatformClosure,
    UnitClosure,
    build_base_closure,
    build_platform_closure,
    build_unit_closure,
)
from poolwright.catalog.facts import Facts
from poolwright.catalog.rules import check_classes, check_compute_class, check_files, check_kubernetes
from poolwright.specs.consistency import check_envelope, check_names, check_pool, check_specs, check_stack
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.placement import Placement
from poolwright.specs.resolve import ResolvedPlacement, cluster_of, resolve_cluster, resolve_placement
from poolwright.specs.stack import Stack


def build_closures(specs: Specs, files: Mapping[str, bytes], facts: Facts) -> tuple[Closure, ...]:
    """The closure of every base, platform unit and placement, in that order, each by name.

    files:  bytes by path; those that envelopes name are looked up here.
    Raises: SpecError with everything that is wrong anywhere in the project.
    """
    problems = check_specs(specs)
    apis: dict[str, str] = {}
    for stack in specs.stacks:
        apis[stack.value.identity], found = check_kubernetes(stack, facts)
        problems += found
    for pool in specs.pools:
        problems += check_classes(pool, facts)
    for envelope in specs.envelopes:
        problems += check_files(envelope, files)
    resolved = [r for r in (resolve_placement(specs, placement)[0] for placement in specs.placements) if r]
    for placement in resolved:
        problems += check_compute_class(placement, facts)
    if problems:
        raise SpecError(problems)
    envelopes = sorted(specs.envelopes, key=lambda spec: (spec.value.metadata.name, spec.value.metadata.version))
    bases: list[Closure] = [build_base_closure(envelope.value, files) for envelope in envelopes]
    with_pools = {pool.value.spec.cluster_name for pool in specs.pools}  # zero objects are no unit
    platforms: list[Closure] = [
        _platform(specs, cluster.name, apis)
        for cluster in specs.project.value.spec.clusters
        if cluster.name in with_pools
    ]
    units: list[Closure] = [
        build_unit_closure(placement, apis[placement.on.stack.value.identity], facts, files) for placement in resolved
    ]
    return (*bases, *sorted(platforms, key=_order), *sorted(units, key=_order))


def build_closure(
    specs: Specs, cluster: str, unit: str, files: Mapping[str, bytes], facts: Facts
) -> UnitClosure | PlatformClosure | None:
    """The closure of one unit from its specs alone; None if the cluster has no such unit.

    specs:  the Project, and of the other kinds at least what the unit names.
    Raises: SpecError with everything that is wrong in what the unit names; other specs are not looked at.
    """
    on, problems = resolve_cluster(specs, cluster)
    if on is None:
        raise SpecError(problems)
    api, found = check_kubernetes(on.stack, facts)
    problems += found + check_stack(on.stack)
    stacks = tuple(stack for stack in specs.stacks if stack.value.identity == on.stack.value.identity)
    if unit == PLATFORM_UNIT:
        pools = tuple(pool for pool in specs.pools if pool.value.spec.cluster_name == cluster)
        for pool in pools:
            problems += check_pool(pool) + check_classes(pool, facts)
        problems += check_names(replace(specs, stacks=stacks, pools=pools, envelopes=(), placements=()))
        if problems:
            raise SpecError(problems)
        return build_platform_closure(on, pools, api) if pools else None
    placement = _find_placement(specs, cluster, unit)
    if placement is None:
        return None
    resolved, found = resolve_placement(specs, placement)
    problems += found
    if resolved:
        problems += check_names(_only(specs, stacks, resolved))
        problems += check_pool(resolved.pool, only=resolved.device_class.name)
        problems += check_classes(resolved.pool, facts, only=resolved.device_class.name)
        problems += check_envelope(resolved.envelope) + check_files(resolved.envelope, files)
        problems += check_compute_class(resolved, facts)
    if problems or resolved is None:
        raise SpecError(problems)
    return build_unit_closure(resolved, api, facts, files)


def _only(specs: Specs, stacks: tuple[Spec[Stack], ...], resolved: ResolvedPlacement) -> Specs:
    """The specs that bear a name which the unit uses: one of each, or the name stands for two things."""
    pool, envelope = resolved.pool.value.identity, resolved.envelope.value.identity
    return replace(
        specs,
        stacks=stacks,
        pools=tuple(spec for spec in specs.pools if spec.value.identity == pool),
        envelopes=tuple(spec for spec in specs.envelopes if spec.value.identity == envelope),
        placements=(),
    )


def _find_placement(specs: Specs, cluster: str, unit: str) -> Spec[Placement] | None:
    """The cluster's placement of this name; one whose pool dangles counts, so that its finding is what is said."""
    problems: list[Finding] = []
    by_pool = {pool.value.identity: cluster_of(specs, pool)[0] for pool in specs.pools}
    named = [placement for placement in specs.placements if placement.value.identity == unit]
    here = [placement for placement in named if by_pool.get(placement.value.spec.pool_name) == cluster]
    lost = [placement for placement in named if placement.value.spec.pool_name not in by_pool]
    if len(here) > 1:
        problems = check_specs(specs)
        raise SpecError(problem for problem in problems if problem.code == "duplicate-name")
    return next(iter(here or lost), None)


def _platform(specs: Specs, cluster: str, apis: Mapping[str, str]) -> PlatformClosure:
    on = resolve_cluster(specs, cluster)[0]
    if on is None:
        raise AssertionError(f"{cluster}: resolved above without a finding")
    pools = tuple(pool for pool in specs.pools if pool.value.spec.cluster_name == cluster)
    return build_platform_closure(on, pools, apis[on.stack.value.identity])


def _order(closure: Closure) -> tuple[str, str]:
    match closure:
        case BaseClosure(envelope=envelope):
            return envelope.name, envelope.version
        case PlatformClosure(on=on):
            return on.cluster, ""
        case UnitClosure(on=on, unit=unit):
            return on.cluster, unit
