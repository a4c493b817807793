"""What a pool's change means to those who rely on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from poolwright.catalog.closure import Closure, PlatformClosure, UnitClosure
from poolwright.catalog.device_class import build_device_class
from poolwright.changes.hardware import SelectedDevices
from poolwright.changes.report import Step, WorkloadChange
from poolwright.changes.side import Side
from poolwright.changes.steps.narrowed import list_narrowed
from poolwright.changes.steps.outside import strip_labels
from poolwright.objects.unit import build_objects
from poolwright.specs.pool import Pool
from poolwright.specs.waiver import strip_waivers


def judge_pool(
    name: str, before: Side, after: Side, worse: Mapping[tuple[str, str], WorkloadChange]
) -> tuple[Step, list[str]]:
    """The step that a pool's change deserves, and why.

    worse: workloads whose verdict got worse, by cluster and NAMESPACE/NAME.
    """
    old, new = before.specs.pools_by_name[name].value, after.specs.pools_by_name[name].value
    major = [*list_narrowed(old, new), *_list_worse(name, before, after, worse)]
    if major:
        return "major", major
    changed = list(_list_rendered(name, before, after))
    if changed:
        return "minor", changed
    if _read_meaning(old) == _read_meaning(new):
        return "none", []
    return "patch", ["nothing that is rendered differs outside labels and annotations"]


def _read_meaning(pool: Pool) -> tuple[object, ...]:
    """What a pool says, however it is written; its version aside."""
    said = pool.spec
    namespaces = {space.name: sorted(space.quota.items()) for space in said.namespaces}
    classes = [(build_device_class(one), sorted(one.features)) for one in said.device_classes]
    classes.sort(key=lambda one: one[0].name)
    return said.cluster_name, said.owner, said.lane, namespaces, said.headroom, classes, _read_others(pool)


def _read_others(pool: Pool) -> tuple[object, ...]:
    """What verdicts follow from beside classes, in one order: lists whose items have names have none."""
    said = pool.spec
    nodes = sorted(said.planned_nodes, key=lambda one: one.name)
    return nodes, sorted(map(repr, said.reservations)), set(said.tolerations)


def _decides(name: str, before: Side, after: Side) -> bool:
    """Whether anything differs of a pool that verdicts follow from; else they got worse for other reasons."""
    old, new = before.specs.pools_by_name.get(name), after.specs.pools_by_name.get(name)
    if old is None or new is None:
        return old is not new
    return _read_others(old.value) != _read_others(new.value) or _selects_otherwise(old.value, new.value, before, after)


def _selects_otherwise(old: Pool, new: Pool, before: Side, after: Side) -> bool:
    """Whether some class lets other devices through, of those that are there now."""
    one, other = (side.clusters.get(new.spec.cluster_name) for side in (before, after))
    if one is None or other is None:
        return True
    there = SelectedDevices(other)
    names = {item.name for pool in (old, new) for item in pool.spec.device_classes}
    return any(
        there.select(one.demand.classes.get(name), there.devices)
        != there.select(other.demand.classes.get(name), there.devices)
        for name in sorted(names)
    )


def _list_worse(name: str, before: Side, after: Side, worse: Mapping[tuple[str, str], WorkloadChange]) -> Iterator[str]:
    """Workloads on the pool, and those beside it of which nothing else differs that could explain it."""
    if not _decides(name, before, after):
        return
    cluster = after.specs.pools_by_name[name].value.spec.cluster_name
    old, new = (side.specs.placements_by_cluster.get(cluster, {}) for side in (before, after))
    for (where, title), one in sorted(worse.items()):
        if where != cluster or one.before is None or one.after is None:
            continue
        placed, earlier = new.get(title.partition("/")[2]), old.get(title.partition("/")[2])
        if placed is not None and placed.value.spec.pool_name != name:
            is_moved = earlier is None or strip_waivers(earlier.value.spec) != strip_waivers(placed.value.spec)
            if is_moved or _decides(placed.value.spec.pool_name, before, after):
                continue
        yield f"{title} was {one.before.verdict} {one.before.counts} and is {one.after.verdict} {one.after.counts}"


def _list_rendered(name: str, before: Side, after: Side) -> Iterator[str]:
    """Objects that differ, labels and annotations aside, by this pool's change alone."""
    old, new = _find_platform(name, before.closures), _find_platform(name, after.closures)
    if old is not None and new is not None and _differ(old, replace(old, pools=new.pools)):
        yield "what its cluster's platform unit renders of it differs"
    later = {(one.on.cluster, one.unit): one for one in after.closures if isinstance(one, UnitClosure)}
    for closure in before.closures:
        if not isinstance(closure, UnitClosure) or closure.pool.name != name:
            continue
        other = later.get((closure.on.cluster, closure.unit))
        if other is not None and other.pool.name == name and _differ(closure, _take_pool(closure, other)):
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
