"""From specs to closures: of one unit, or of everything a project renders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from poolwright.catalog.class_gates import check_extended_resources, check_first_available
from poolwright.catalog.class_needs import list_class_needs
from poolwright.catalog.closure import (
    PLATFORM_UNIT,
    BaseClosure,
    Closure,
    ClusterApi,
    PlatformClosure,
    UnitClosure,
    build_base_closure,
    build_envelope_closure,
    build_platform_closure,
    build_unit_closure,
)
from poolwright.catalog.device_mode import check_modes
from poolwright.catalog.engine_rules import check_engine, check_engine_version
from poolwright.catalog.facts import Facts
from poolwright.catalog.rules import check_classes, check_compute_class, check_files, check_kubernetes
from poolwright.specs.claiming import check_envelope
from poolwright.specs.consistency import (
    check_names,
    check_platform,
    check_pool,
    check_project,
    check_specs,
    check_stack,
)
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.placement import Placement
from poolwright.specs.pool import Pool
from poolwright.specs.resolve import ResolvedPlacement, cluster_of, resolve_cluster, resolve_placement
from poolwright.specs.stack import Stack

if TYPE_CHECKING:  # as in `closure`
    from poolwright.catalog.argocd_closure import ArgocdClosure


def build_closures(specs: Specs, files: Mapping[str, bytes], facts: Facts) -> tuple[Closure, ...]:
    """The closure of every base, platform unit, placement and `argocd` folder, in that order, each by name.

    files:  bytes by path; those that envelopes name are looked up here.
    Raises: SpecError with everything that is wrong anywhere in the project, if any of it is more than a risk.
    """
    from poolwright.catalog.argocd_closure import check_applications  # these two: not what `generate` waits for
    from poolwright.catalog.stack_rules import check_stacks
    from poolwright.specs.risks import RISKS

    problems = check_specs(specs) + check_stacks(specs, facts)
    apis: dict[str, ClusterApi] = {}
    for stack in specs.stacks:
        api, found = check_kubernetes(stack, facts)
        problems += found
        if api:
            apis[stack.value.identity] = api
    for pool in specs.pools:
        problems += check_classes(pool, facts) + _check_class_gates(specs, pool, apis, facts)
    for envelope in specs.envelopes:
        problems += check_files(envelope, files) + check_engine(envelope, facts)
    resolved = [r for r in (resolve_placement(specs, placement)[0] for placement in specs.placements) if r]
    for placement in resolved:
        problems += check_compute_class(placement, facts) + check_engine_version(placement, facts)
        problems += _check_constraint_gates(placement, facts)
        api = apis.get(placement.on.stack.value.identity)
        problems += check_first_available(placement, api.minor, facts) if api else []
    if not any(problem.code == "cel-invalid" for problem in problems):
        for placement in resolved:
            problems += check_modes(placement, facts)
    problems += check_applications(specs, resolved)
    if any(problem.severity == "error" and problem.code not in RISKS for problem in problems):
        raise SpecError(problems)
    envelopes = sorted(specs.envelopes, key=lambda spec: (spec.value.metadata.name, spec.value.metadata.version))
    records = {spec.value.identity: build_envelope_closure(spec.value, files, facts) for spec in envelopes}
    bases: list[Closure] = [build_base_closure(records[envelope.value.identity]) for envelope in envelopes]
    with_pools = {pool.value.spec.cluster_name for pool in specs.pools}  # zero objects are no unit
    platforms: list[Closure] = [
        _platform(specs, cluster.name, apis)
        for cluster in specs.project.value.spec.clusters
        if cluster.name in with_pools
    ]
    units: list[Closure] = [
        build_unit_closure(
            placement, apis[placement.on.stack.value.identity], facts, records[placement.envelope.value.identity]
        )
        for placement in resolved
    ]
    folders = [_argocd(specs, cluster.name, resolved, apis, facts) for cluster in specs.project.value.spec.clusters]
    return (*bases, *sorted(platforms, key=_order), *sorted(units, key=_order), *sorted(folders, key=_order))


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
    problems += found + check_stack(on.stack) + check_project(specs.project, only=cluster)
    stacks = tuple(stack for stack in specs.stacks if stack.value.identity == on.stack.value.identity)
    if unit == PLATFORM_UNIT:
        pools = tuple(pool for pool in specs.pools if pool.value.spec.cluster_name == cluster)
        for pool in pools:
            problems += check_pool(pool) + check_classes(pool, facts)
            problems += check_extended_resources(pool, on.stack, api.minor, facts) if api else []
            problems += _check_gates(pool, on.stack, facts)
        problems += check_platform(on.stack, pools)
        problems += check_names(replace(specs, stacks=stacks, pools=pools, envelopes=(), placements=()))
        if problems or api is None:
            raise SpecError(problems)
        return build_platform_closure(on, pools, api) if pools else None
    placement = _find_placement(specs, cluster, unit)
    if placement is None:
        return None
    resolved, found = resolve_placement(specs, placement)
    problems += found
    if resolved:
        problems += check_names(_only(specs, stacks, resolved))
        for device_class in dict.fromkeys(c.name for c in (*resolved.device_classes, *resolved.extra_classes)):
            problems += check_pool(resolved.pool, only=device_class)
            problems += check_classes(resolved.pool, facts, only=device_class)
            problems += _check_gates(resolved.pool, on.stack, facts, only=device_class)
        problems += check_envelope(resolved.envelope)
        problems += check_engine(resolved.envelope, facts) + check_engine_version(resolved, facts)
        problems += check_files(resolved.envelope, files) + check_compute_class(resolved, facts)
        problems += _check_constraint_gates(resolved, facts)
        problems += check_first_available(resolved, api.minor, facts) if api else []
        if not any(problem.code == "cel-invalid" for problem in problems):
            problems += check_modes(resolved, facts)
    if problems or resolved is None or api is None:
        raise SpecError(problems)
    return build_unit_closure(resolved, api, facts, build_envelope_closure(resolved.envelope.value, files, facts))


def _check_gates(pool: Spec[Pool], stack: Spec[Stack], facts: Facts, *, only: str | None = None) -> list[Finding]:
    """Rules of lane and gates, where anything rests on a gate: the facts of gates take a while to read."""
    classes, drivers = pool.value.spec.device_classes, stack.value.spec.dra_drivers
    said = [driver.feature_gates for driver in drivers]
    needs = [list_class_needs(one, facts) for one in classes if only in (None, one.name)]
    if not any((stack.value.spec.kubernetes.feature_gates, *said, *needs)):
        return []
    from poolwright.catalog.pool_gates import check_pool_gates

    return check_pool_gates(pool, stack, facts, only=only)


def _check_constraint_gates(resolved: ResolvedPlacement, facts: Facts) -> list[Finding]:
    if not resolved.envelope.value.spec.claim.constraints:
        return []
    from poolwright.catalog.pool_gates import check_claim_needs

    return check_claim_needs(resolved, facts)


def _check_class_gates(specs: Specs, pool: Spec[Pool], apis: Mapping[str, ClusterApi], facts: Facts) -> list[Finding]:
    cluster = cluster_of(specs, pool)[0]
    on = resolve_cluster(specs, cluster)[0] if cluster else None
    api = apis.get(on.stack.value.identity) if on else None
    return check_extended_resources(pool, on.stack, api.minor, facts) if on and api else []


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


def _platform(specs: Specs, cluster: str, apis: Mapping[str, ClusterApi]) -> PlatformClosure:
    on = resolve_cluster(specs, cluster)[0]
    if on is None:
        raise AssertionError(f"{cluster}: resolved above without a finding")
    pools = tuple(pool for pool in specs.pools if pool.value.spec.cluster_name == cluster)
    return build_platform_closure(on, pools, apis[on.stack.value.identity])


def _argocd(
    specs: Specs, cluster: str, placements: list[ResolvedPlacement], apis: Mapping[str, ClusterApi], facts: Facts
) -> ArgocdClosure:
    from poolwright.catalog.argocd_closure import build_argocd_closure

    on = resolve_cluster(specs, cluster)[0]
    if on is None:
        raise AssertionError(f"{cluster}: resolved above without a finding")
    return build_argocd_closure(
        on,
        [pool for pool in specs.pools if pool.value.spec.cluster_name == cluster],
        [placement for placement in placements if placement.on.cluster.name == cluster],
        resource_api=apis[on.stack.value.identity].resource_api,
        facts=facts,
    )


def _order(closure: Closure) -> tuple[str, str]:
    match closure:
        case BaseClosure(envelope=envelope):
            return envelope.name, envelope.version
        case UnitClosure(on=on, unit=unit):
            return on.cluster, unit
    return closure.on.cluster, ""
