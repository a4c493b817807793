"""What is wrong within a spec beyond its shape, and between all specs of a project."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from poolwright.specs.claiming import check_envelope
from poolwright.specs.entries import check_exactly_one, repeated, repeated_entries
from poolwright.specs.finding import Finding
from poolwright.specs.model import SpecModel
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.pool import CapacityRange, DeviceClassSpec, Pool, VersionRangeOfAttribute
from poolwright.specs.project import Cluster, Project
from poolwright.specs.resolve import ResolvedPlacement, cluster_of, resolve_cluster, resolve_placement
from poolwright.specs.stack import Stack

RESERVED_UNITS: Final = ("argocd", "platform")
RESERVED_CLUSTERS: Final = ("base",)
_RULE: Final = "poolwright.dev/v1alpha1"


def check_specs(specs: Specs) -> list[Finding]:
    """Everything that is wrong between the specs of a whole project: names that repeat, references that dangle."""
    from poolwright.specs.kept_free import check_kept_free  # these three: nothing that one unit is rendered from
    from poolwright.specs.quota import check_quotas
    from poolwright.specs.recovery import check_recovery

    problems = check_names(specs) + check_project(specs.project)
    for cluster in specs.project.value.spec.clusters:
        on, found = resolve_cluster(specs, cluster.name)
        problems += found
        if on:
            pools = [pool for pool in specs.pools if pool.value.spec.cluster_name == cluster.name]
            problems += check_platform(on.stack, pools)
    for stack in specs.stacks:
        problems += check_stack(stack)
    for pool in specs.pools:
        problems += [*check_pool(pool), *check_kept_free(pool), *cluster_of(specs, pool)[1]]
    for envelope in specs.envelopes:
        problems += [*check_envelope(envelope), *check_recovery(envelope)]
    resolved = []
    for placement in specs.placements:
        whole, found = resolve_placement(specs, placement)
        problems += found
        resolved += [whole] if whole else []
    return [*problems, *_check_claim_names(resolved), *check_quotas(specs.pools, resolved)]


def check_project(project: Spec[Project], *, only: str | None = None) -> list[Finding]:
    """What is wrong within the Project beyond its shape; of its clusters only the named one counts, if one is named."""
    problems = []
    for index, cluster in enumerate(project.value.spec.clusters):
        if only in (None, cluster.name):
            written = {
                "name": cluster.destination.name is not None,
                "server": cluster.destination.server is not None,
            }
            path = ("spec", "clusters", index, "destination")
            problems += check_exactly_one(project, path, written, "Argo CD knows a cluster by its name or its address")
            problems += _check_release(project, index, cluster)
    return problems


def _check_release(project: Spec[Project], index: int, cluster: Cluster) -> list[Finding]:
    """Whether a cluster names a release where it is delivered from one, and nowhere else."""
    by_packet = cluster.delivery == "packet"
    if by_packet == (cluster.release is not None):
        return []
    path = ("spec", "clusters", index)
    if by_packet:
        what, fix = "is delivered by packet, and no release is named", "write release: NAME, of a folder in releases/"
    else:
        what = f'is delivered as {cluster.delivery}, and the release "{cluster.release}" is named'
        fix = "write delivery: packet, or remove release"
    return [
        Finding(
            code="delivery-release",
            severity="error",
            place=project.place(*path, "delivery" if by_packet else "release"),
            what=f'cluster "{cluster.name}" {what}',
            why="what is taken from a release is taken from the one that the Project names",
            rule=_RULE,
            fix=fix,
        )
    ]


def check_platform(stack: Spec[Stack], pools: Sequence[Spec[Pool]]) -> list[Finding]:
    """What is wrong between the pools of one cluster that only its platform unit renders."""
    operator = stack.value.spec.gpu_operator
    problems = []
    first: dict[str, Place] = {}
    for pool in pools:
        for index, namespace in enumerate(pool.value.spec.namespaces):
            if operator and namespace.name == operator.namespace:
                what = f'a pool admits the namespace "{namespace.name}"'
                why = "it is the GPU operator's, made and removed with its own Application"
                problems.append(_reserved(pool.place("spec", "namespaces", index, "name"), what, why))
        for index, device_class in enumerate(pool.value.spec.device_classes):
            name = device_class.extended_resource_name
            place = pool.place("spec", "deviceClasses", index, "extendedResourceName")
            if name is not None and first.setdefault(name, place) != place:
                what = f'the extended resource "{name}" of cluster "{pool.value.spec.cluster_name}"'
                problems.append(repeated(place, what, first[name]))
    return problems


def check_names(specs: Specs) -> list[Finding]:
    """Names that stand for two things, or that the rendered tree uses itself."""
    return [*_check_names(specs), *_check_units(specs)]


def check_pool(pool: Spec[Pool], *, only: str | None = None) -> list[Finding]:
    """What is wrong within one pool beyond its shape; of its classes only the named one counts, if one is named."""
    said = pool.value.spec
    problems = repeated_entries(pool, ("spec", "deviceClasses"), [c.name for c in said.device_classes])
    problems += repeated_entries(pool, ("spec", "namespaces"), [n.name for n in said.namespaces])
    if only is None:
        problems += repeated_entries(pool, ("spec", "plannedNodes"), [n.name for n in said.planned_nodes])
        problems += _check_quota_names(pool)
    for index, toleration in enumerate(said.tolerations):
        if toleration.operator == "Exists" and toleration.value is not None:
            problems.append(_valued_exists(pool.place("spec", "tolerations", index, "value"), toleration.key))
    for index, device_class in enumerate(said.device_classes):
        if only in (None, device_class.name):
            problems += _check_class(pool, index, device_class)
    return problems


def check_stack(stack: Spec[Stack]) -> list[Finding]:
    """What is wrong within one stack beyond its shape."""
    return repeated_entries(stack, ("spec", "servingImages"), [i.name for i in stack.value.spec.serving_images])


def _check_quota_names(pool: Spec[Pool]) -> list[Finding]:
    """Quotas of classes that the pool doesn't have."""
    known = sorted(device_class.name for device_class in pool.value.spec.device_classes)
    return [
        Finding(
            code="dangling-reference",
            severity="error",
            place=pool.document.key_place(("spec", "namespaces", index, "quota", class_name)),
            what=f'namespace "{namespace.name}" has a quota of the class "{class_name}", which pool '
            f'"{pool.value.identity}" doesn\'t have',
            why="a quota of a class that nobody can claim limits nothing",
            rule=_RULE,
            fix=f"name a device class of the pool: {', '.join(known)}",
        )
        for index, namespace in enumerate(pool.value.spec.namespaces)
        for class_name in namespace.quota
        if class_name not in known
    ]


def _check_class(pool: Spec[Pool], index: int, device_class: DeviceClassSpec) -> Iterator[Finding]:
    path = ("spec", "deviceClasses", index)
    for name, bounds in device_class.capacity.items():
        yield from _check_bounds(pool.place(*path, "capacity", name), device_class.name, name, bounds)
    for name, versions in device_class.versions.items():
        yield from _check_versions(pool.place(*path, "versions", name), device_class.name, name, versions)
    for name, values in device_class.attributes.items():
        if len({type(value) for value in values}) > 1:
            yield _mixed_values(pool.place(*path, "attributes", name), device_class.name, name)
    yield from repeated_entries(pool, (*path, "features"), device_class.features)


def _check_bounds(place: Place, class_name: str, name: str, bounds: CapacityRange) -> list[Finding]:
    if bounds.min is None and bounds.below is None:
        what, fix = f'the capacity "{name}" of class "{class_name}" has no bound', "write min, below, or both"
        why = "a capacity without a bound selects nothing"
    elif any(bound and bound.quantity.nano < 0 for bound in (bounds.min, bounds.below)):
        what, fix = f'a bound of the capacity "{name}" of class "{class_name}" is negative', "write an amount from 0 on"
        why = "no device publishes a negative capacity"
    elif bounds.min and bounds.below and not bounds.min.quantity < bounds.below.quantity:
        what = f'the capacity "{name}" of class "{class_name}" has min {bounds.min} and below {bounds.below}'
        why, fix = "no device has at least min and less than below", "raise below, or lower min"
    else:
        return []
    return [Finding(code="capacity-bounds", severity="error", place=place, what=what, why=why, rule=_RULE, fix=fix)]


def _check_versions(place: Place, class_name: str, name: str, bounds: VersionRangeOfAttribute) -> Iterator[Finding]:
    if bounds.min is None and bounds.below is None:
        what, fix = f'the version "{name}" of class "{class_name}" has no bound', "write min, below, or both"
        why = "a version without a bound selects nothing"
    elif bounds.min and bounds.below and not _precedence(bounds.min) < _precedence(bounds.below):
        what = f'the version "{name}" of class "{class_name}" has min {bounds.min} and below {bounds.below}'
        why, fix = "no version is at least min and less than below", "raise below, or lower min"
    else:
        return
    yield Finding(code="version-bounds", severity="error", place=place, what=what, why=why, rule=_RULE, fix=fix)


def _precedence(version: str) -> tuple[object, ...]:
    """A key that sorts semantic versions by precedence (semver.org, item 11): build metadata doesn't count."""
    release, _, labels = version.partition("+")[0].partition("-")
    numbers = tuple(int(number) for number in release.split("."))
    # A number sorts before a word, and any pre-release before the release.
    words = tuple((0, int(label), "") if label.isdecimal() else (1, 0, label) for label in labels.split("."))
    return (numbers, not labels, words)


def _check_claim_names(placements: Iterable[ResolvedPlacement]) -> list[Finding]:
    """Named claims: unique in their cluster and namespace, or two units own one object."""
    first: dict[tuple[str, str, str], tuple[str, Place]] = {}
    problems = []
    for placement in placements:
        spec, unit = placement.envelope.value.spec, placement.placement.value.identity
        if spec.claim.pattern == "named" and spec.claim.name is not None:
            key = (placement.on.cluster.name, spec.namespace, spec.claim.name)
            place = placement.placement.place("spec", "envelope")
            owner, earlier = first.setdefault(key, (unit, place))
            if owner != unit:
                what = f'the claim "{spec.claim.name}" of unit "{unit}" in namespace "{spec.namespace}"'
                problems.append(repeated(place, what, earlier))
    return problems


def _check_names(specs: Specs) -> list[Finding]:
    clusters = specs.project.value.spec.clusters
    problems = repeated_entries(specs.project, ("spec", "clusters"), [cluster.name for cluster in clusters])
    for index, cluster in enumerate(clusters):
        if cluster.name in RESERVED_CLUSTERS:
            place = specs.project.place("spec", "clusters", index, "name")
            problems.append(_reserved(place, f'a cluster is named "{cluster.name}"', "overlays/base/ holds the bases"))
    for kind, of_kind in _list_kinds(specs):
        problems += _repeated_specs(kind, [(spec.value.identity, spec) for spec in of_kind])
    return problems


def _list_kinds(specs: Specs) -> Iterator[tuple[str, Sequence[Spec[SpecModel]]]]:
    """Specs whose names are unique in the project, by what a kind is called."""
    yield "stack", specs.stacks
    yield "pool", specs.pools
    yield "envelope", specs.envelopes
    yield "feature ledger", specs.ledgers


def _check_units(specs: Specs) -> list[Finding]:
    """Unit names and device classes: unique within a cluster."""
    cluster_by_pool = {pool.value.metadata.name: pool.value.spec.cluster_name for pool in specs.pools}
    units = [
        (f"{cluster_by_pool[placement.value.spec.pool_name]}/{placement.value.identity}", placement)
        for placement in specs.placements
        if placement.value.spec.pool_name in cluster_by_pool
    ]
    problems = _repeated_specs("placement", units)
    for placement in specs.placements:
        if placement.value.identity in RESERVED_UNITS:
            what = f'a placement is named "{placement.value.identity}"'
            why = "each cluster has a folder of that name which no placement owns"
            problems.append(_reserved(placement.place("metadata", "name"), what, why))
    first: dict[tuple[str, str], tuple[str, Place]] = {}
    for pool in specs.pools:
        for index, device_class in enumerate(pool.value.spec.device_classes):
            key = (pool.value.spec.cluster_name, device_class.name)
            place = pool.place("spec", "deviceClasses", index, "name")
            owner, earlier = first.setdefault(key, (pool.value.identity, place))
            if owner != pool.value.identity:
                problems.append(repeated(place, f'the class "{key[1]}" of cluster "{key[0]}"', earlier))
    return problems


def _repeated_specs(kind: str, named: Iterable[tuple[str, Spec[SpecModel]]]) -> list[Finding]:
    first: dict[str, Place] = {}
    problems = []
    for name, spec in named:
        place = spec.place("metadata", "name")
        if name in first:
            problems.append(repeated(place, f'the {kind} "{name}"', first[name]))
        first.setdefault(name, place)
    return problems


def _valued_exists(place: Place, key: str) -> Finding:
    return Finding(
        code="toleration-value",
        severity="error",
        place=place,
        what=f'the toleration of "{key}" has operator Exists and a value',
        why="with Exists the value doesn't count, and the API server refuses one",
        rule="Kubernetes core/v1 Toleration",
        fix="remove the value, or write operator: Equal",
    )


def _mixed_values(place: Place, class_name: str, name: str) -> Finding:
    return Finding(
        code="attribute-values",
        severity="error",
        place=place,
        what=f'the values of attribute "{name}" of class "{class_name}" are of different types',
        why="an attribute has one type, so values of another type can never match",
        rule="Kubernetes resource/v1 DeviceAttribute",
        fix="write only strings, only integers, or only true and false",
    )


def _reserved(place: Place, what: str, why: str) -> Finding:
    return Finding(
        code="name-reserved", severity="error", place=place, what=what, why=why, rule=_RULE, fix="choose another name"
    )
