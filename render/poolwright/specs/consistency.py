"""What is wrong within a spec beyond its shape, and between all specs of a project."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

from poolwright.specs.envelope import Envelope
from poolwright.specs.finding import Finding
from poolwright.specs.model import SpecModel
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.pool import CapacityRange, Pool
from poolwright.specs.resolve import cluster_of, resolve_cluster, resolve_placement
from poolwright.specs.stack import Stack

RESERVED_UNITS: Final = ("argocd", "platform")
RESERVED_CLUSTERS: Final = ("base",)
MAX_STARTUP_S: Final = 7 * 86400
_RULE: Final = "poolwright.dev/v1alpha1"

K = TypeVar("K", bound=SpecModel)


def check_specs(specs: Specs) -> list[Finding]:
    """Everything that is wrong between the specs of a whole project: names that repeat, references that dangle."""
    problems = check_names(specs)
    for cluster in specs.project.value.spec.clusters:
        problems += resolve_cluster(specs, cluster.name)[1]
    for stack in specs.stacks:
        problems += check_stack(stack)
    for envelope in specs.envelopes:
        problems += check_envelope(envelope)
    for pool in specs.pools:
        problems += [*check_pool(pool), *cluster_of(specs, pool)[1]]
    for placement in specs.placements:
        problems += resolve_placement(specs, placement)[1]
    return problems


def check_names(specs: Specs) -> list[Finding]:
    """Names that stand for two things, or that the rendered tree uses itself."""
    return [*_check_names(specs), *_check_units(specs)]


def check_pool(pool: Spec[Pool], *, only: str | None = None) -> list[Finding]:
    """What is wrong within one pool beyond its shape; of its classes only the named one counts, if one is named."""
    said = pool.value.spec
    problems = repeated_entries(pool, ("spec", "deviceClasses"), [c.name for c in said.device_classes])
    problems += repeated_entries(pool, ("spec", "namespaces"), [n.name for n in said.namespaces])
    for index, toleration in enumerate(said.tolerations):
        if toleration.operator == "Exists" and toleration.value is not None:
            problems.append(_valued_exists(pool.place("spec", "tolerations", index, "value"), toleration.key))
    for index, device_class in enumerate(said.device_classes):
        if only not in (None, device_class.name):
            continue
        path = ("spec", "deviceClasses", index)
        for name, bounds in device_class.capacity.items():
            place = pool.place(*path, "capacity", name)
            problems += _check_bounds(place, device_class.name, name, bounds)
        for name, values in device_class.attributes.items():
            if len({type(value) for value in values}) > 1:
                problems.append(_mixed_values(pool.place(*path, "attributes", name), device_class.name, name))
    return problems


def check_envelope(envelope: Spec[Envelope]) -> list[Finding]:
    """What is wrong within one envelope beyond its shape."""
    said = envelope.value.spec
    problems = []
    timeout_s = said.startup.timeout.milliseconds / 1000
    if not 1 <= timeout_s <= MAX_STARTUP_S:
        why = (
            f"a start takes at least 1s, and one of more than {MAX_STARTUP_S // 86400}d would never be noticed as stuck"
        )
        place = envelope.place("spec", "startup", "timeout")
        problems.append(
            _resource(place, f"spec.startup.timeout is {said.startup.timeout}", why, "write a time within it")
        )
    requests, limits = said.engine.resources.requests, said.engine.resources.limits
    path = ("spec", "engine", "resources")
    for key, name, amount in (
        ("requests", "cpu", requests.cpu),
        ("requests", "memory", requests.memory),
        ("limits", "memory", limits.memory),
    ):
        if amount and amount.quantity.nano <= 0:
            what = f"spec.engine.resources.{key}.{name} is {amount}"
            place = envelope.place(*path, key, name)
            problems.append(_resource(place, what, "a container needs some of it", "write an amount above 0"))
    if requests.memory and limits.memory and limits.memory.quantity < requests.memory.quantity:
        what = f"the memory limit {limits.memory} is below the request {requests.memory}"
        place = envelope.place(*path, "limits", "memory")
        problems.append(
            _resource(place, what, "the API server refuses such a pod", "raise the limit, or lower the request")
        )
    return problems


def _resource(place: Place, what: str, why: str, fix: str) -> Finding:
    return Finding(code="out-of-range", severity="error", place=place, what=what, why=why, rule=_RULE, fix=fix)


def check_stack(stack: Spec[Stack]) -> list[Finding]:
    """What is wrong within one stack beyond its shape."""
    return repeated_entries(stack, ("spec", "servingImages"), [i.name for i in stack.value.spec.serving_images])


def repeated_entries(spec: Spec[K], path: tuple[str, ...], names: Iterable[str]) -> list[Finding]:
    """A finding for each entry of a list keyed by name whose name an earlier entry has."""
    first: dict[str, int] = {}
    problems = []
    for index, name in enumerate(names):
        if name in first:
            place, earlier = spec.place(*path, index, "name"), spec.place(*path, first[name], "name")
            problems.append(_repeated(place, f'the entry "{name}" of {".".join(path)}', earlier))
        first.setdefault(name, index)
    return problems


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


def _check_names(specs: Specs) -> list[Finding]:
    clusters = specs.project.value.spec.clusters
    problems = repeated_entries(specs.project, ("spec", "clusters"), [cluster.name for cluster in clusters])
    for index, cluster in enumerate(clusters):
        if cluster.name in RESERVED_CLUSTERS:
            place = specs.project.place("spec", "clusters", index, "name")
            problems.append(_reserved(place, f'a cluster is named "{cluster.name}"', "overlays/base/ holds the bases"))
    for kind, of_kind in (("stack", specs.stacks), ("pool", specs.pools), ("envelope", specs.envelopes)):
        problems += _repeated_specs(kind, [(spec.value.identity, spec) for spec in of_kind])
    return problems


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
                problems.append(_repeated(place, f'the class "{key[1]}" of cluster "{key[0]}"', earlier))
    return problems


def _repeated_specs(kind: str, named: Iterable[tuple[str, Spec[SpecModel]]]) -> list[Finding]:
    first: dict[str, Place] = {}
    problems = []
    for name, spec in named:
        place = spec.place("metadata", "name")
        if name in first:
            problems.append(_repeated(place, f'the {kind} "{name}"', first[name]))
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


def _repeated(place: Place, what: str, first: Place) -> Finding:
    return Finding(
        code="duplicate-name",
        severity="error",
        place=place,
        what=f"{what} exists already, at {first}",
        why="a name stands for one thing, so that every reference and every finding is about that one",
        rule=_RULE,
        fix="rename or remove one of the two",
    )


def _reserved(place: Place, what: str, why: str) -> Finding:
    return Finding(
        code="name-reserved", severity="error", place=place, what=what, why=why, rule=_RULE, fix="choose another name"
    )
