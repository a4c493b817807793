"""What a pool's change means to those who rely on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from poolwright.catalog.closure import Closure, PlatformClosure, UnitClosure
from poolwright.changes.report import Step, WorkloadChange
from poolwright.changes.side import Side
from poolwright.changes.steps.outside import strip_labels
from poolwright.objects.unit import build_objects
from poolwright.specs.pool import CapacityRange, DeviceClassSpec, Pool, VersionRangeOfAttribute
from poolwright.specs.quantity import parse_quantity
from poolwright.specs.version import parse_version


def judge_pool(
    name: str, before: Side, after: Side, worse: Mapping[tuple[str, str], WorkloadChange]
) -> tuple[Step, list[str]]:
    """The step that a pool's change deserves, and why.

    worse: workloads whose verdict got worse, by cluster and NAMESPACE/NAME.
    """
    old, new = before.specs.pools_by_name[name].value, after.specs.pools_by_name[name].value
    major = [*_list_narrowed(old, new), *(_list_worse(name, after, worse) if _decides(old, new) else ())]
    if major:
        return "major", major
    changed = list(_list_rendered(name, before, after))
    if changed:
        return "minor", changed
    if old.spec == new.spec:
        return "none", []
    return "patch", ["nothing that is rendered differs outside labels and annotations"]


def _decides(old: Pool, new: Pool) -> bool:
    """Whether anything that verdicts follow from differs; else they got worse for other reasons."""
    one, other = old.spec, new.spec
    return (one.planned_nodes, one.device_classes, one.reservations, one.tolerations) != (
        *(other.planned_nodes, other.device_classes, other.reservations, other.tolerations),
    )


def _list_worse(name: str, after: Side, worse: Mapping[tuple[str, str], WorkloadChange]) -> Iterator[str]:
    cluster = after.specs.pools_by_name[name].value.spec.cluster_name
    for unit, placement in after.specs.placements_by_cluster.get(cluster, {}).items():
        if placement.value.spec.pool_name != name:
            continue
        for (where, title), one in worse.items():
            if where == cluster and title.partition("/")[2] == unit and one.before and one.after:
                yield f"{title} was {one.before.verdict} and is {one.after.verdict}"


def _list_narrowed(old: Pool, new: Pool) -> Iterator[str]:
    """What others rely on and isn't there any more, or is less."""
    one, other = old.spec, new.spec
    if one.cluster_name != other.cluster_name:
        yield f"it is in cluster {other.cluster_name} and no longer in {one.cluster_name}"
    if one.lane == "baseline" and other.lane != "baseline":
        yield "who is placed on it must consent to the experiment lane"
    classes = {item.name: item for item in other.device_classes}
    for item in one.device_classes:
        if item.name not in classes:
            yield f"class {item.name} goes away"
        else:
            yield from (f"class {item.name}: {what}" for what in _list_class_narrowed(item, classes[item.name]))
    namespaces = {item.name: item for item in other.namespaces}
    for space in one.namespaces:
        if space.name not in namespaces:
            yield f"namespace {space.name} may claim no longer"
            continue
        for name, amount in namespaces[space.name].quota.items():
            had = space.quota.get(name)
            if had is None or amount < had:
                was = "any number" if had is None else had
                yield f"namespace {space.name} may claim {amount} of {name}, before {was}"


def _list_class_narrowed(old: DeviceClassSpec, new: DeviceClassSpec) -> Iterator[str]:
    if old.driver != new.driver:
        yield f"its driver is {new.driver}, before {old.driver}"
    if old.tier != new.tier:
        yield f"its tier is {new.tier}, before {old.tier}"
    if old.extended_resource_name not in (None, new.extended_resource_name):
        yield f"pods can't ask for it as {old.extended_resource_name} any more"
    for gate in new.features:
        if gate not in old.features:
            yield f"it needs the gate {gate}"
    for name, values in new.attributes.items():
        had = old.attributes.get(name)
        if had is None:
            yield f"{name} is a new condition"
        elif gone := [str(one) for one in had if not _holds(values, one)]:
            yield f"{name} may no longer be {', '.join(gone)}"
    for name, versions in new.versions.items():
        yield from _list_cut(name, old.versions.get(name), versions, _version_key)
    for name, amounts in new.capacity.items():
        yield from _list_cut(name, old.capacity.get(name), amounts, lambda text: parse_quantity(text).nano)
    texts = [one.cel.expression for one in old.selectors]
    for selector in new.selectors:
        if selector.cel.expression not in texts:
            yield f"{selector.cel.expression} is a new condition"


def _holds(values: tuple[object, ...], one: object) -> bool:
    """Whether a value is among others; true isn't 1."""
    return any(type(other) is type(one) and other == one for other in values)


def _version_key(text: str) -> object:
    return parse_version(text).key


def _list_cut(
    name: str,
    old: CapacityRange | VersionRangeOfAttribute | None,
    new: CapacityRange | VersionRangeOfAttribute,
    key: Callable[[str], Any],
) -> Iterator[str]:
    """How a range is cut at either end."""
    if new.min is not None and (old is None or old.min is None or key(new.min) > key(old.min)):
        had = "" if old is None or old.min is None else f", before {old.min}"
        yield f"{name} must be at least {new.min}{had}"
    if new.below is not None and (old is None or old.below is None or key(new.below) < key(old.below)):
        had = "" if old is None or old.below is None else f", before {old.below}"
        yield f"{name} must be below {new.below}{had}"


def _list_rendered(name: str, before: Side, after: Side) -> Iterator[str]:
    """Objects that differ, labels and annotations aside, by this pool's change alone."""
    old, new = _find_platform(name, before.closures), _find_platform(name, after.closures)
    if old is not None and new is not None and _differ(old, new):
        yield "what its cluster's platform unit renders of it differs"
    later = {(one.on.cluster, one.unit): one for one in after.closures if isinstance(one, UnitClosure)}
    for closure in before.closures:
        if not isinstance(closure, UnitClosure) or closure.pool.name != name:
            continue
        other = later.get((closure.on.cluster, closure.unit))
        if other is not None and _differ(closure, _take_pool(closure, other)):
            yield f"objects of {closure.on.cluster}/{closure.unit} differ"


def _find_platform(name: str, closures: tuple[Closure, ...]) -> PlatformClosure | None:
    """The platform unit of a pool's cluster as if it had no other pool."""
    for closure in closures:
        if isinstance(closure, PlatformClosure):
            mine = tuple(pool for pool in closure.pools if pool.name == name)
            if mine:
                return replace(closure, pools=mine)
    return None


def _take_pool(closure: UnitClosure, other: UnitClosure) -> UnitClosure:
    """A unit with what another one takes from its pool, as far as both claim the same classes."""
    classes = {one.device_class.name: one.device_class for one in other.alternatives}
    extra = {one.name: one for one in other.extra_classes}
    return replace(
        closure,
        pool=other.pool,
        alternatives=tuple(
            replace(one, device_class=classes.get(one.device_class.name, one.device_class))
            for one in closure.alternatives
        ),
        extra_classes=tuple(extra.get(one.name, one) for one in closure.extra_classes),
    )


def _differ(one: Closure, other: Closure) -> bool:
    if one == other:
        return False
    return strip_labels(build_objects(one)) != strip_labels(build_objects(other))
