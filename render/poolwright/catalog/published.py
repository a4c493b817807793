"""What specs expect of devices against what is captured and planned: classes, zones, and partitions of the host."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from poolwright.catalog.captured_partitions import check_partitions
from poolwright.catalog.cel import find_reads, parse_cel
from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.planned_nodes import build_planned_slices
from poolwright.catalog.planned_rules import check_planned_names, check_planned_nodes
from poolwright.catalog.qualified_name import split_name
from poolwright.catalog.resource_slice import UNSUPPORTED, Device, ResourceSlice
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.placement import Placement
from poolwright.specs.pool import DeviceClassSpec, Pool
from poolwright.specs.resolve import resolve_cluster

_TYPES: Final = {str: "string", bool: "bool", int: "int"}

Planned = Mapping[str, Sequence[ResourceSlice]]  # by cluster
_NONE: Final[Planned] = {}


def check_devices(specs: Specs, inventories: Mapping[str, Inventory], facts: Facts) -> list[Finding]:
    """Errors in planned nodes, and warnings where classes, zones or planned partitions don't meet the devices known.

    specs:       of a whole project, whose references all lead somewhere.
    inventories: by cluster; a cluster may have none.
    A cluster whose planned nodes have errors isn't judged beyond them: what it will have isn't known.
    """
    problems = check_planned_names(specs.pools)
    judged = dict(inventories)
    planned: dict[str, tuple[ResourceSlice, ...]] = {}
    for cluster in specs.project.value.spec.clusters:
        on = resolve_cluster(specs, cluster.name)[0]
        pools = [pool for pool in specs.pools if pool.value.spec.cluster_name == cluster.name]
        if on is None:
            continue
        found = [finding for pool in pools for finding in check_planned_nodes(pool, on.stack, facts)]
        if found:
            problems += found
            judged.pop(cluster.name, None)
            continue
        planned[cluster.name] = tuple(
            one for pool in pools for one in build_planned_slices(pool.value, on.stack.value, facts, max_nodes=1)
        )
        inventory = inventories.get(cluster.name)
        if inventory:
            problems += [finding for pool in pools for finding in check_partitions(pool, inventory, facts)]
    return [*problems, *check_published(specs, judged, planned)]


def check_published(specs: Specs, inventories: Mapping[str, Inventory], planned: Planned = _NONE) -> list[Finding]:
    """Warnings where a class reads what no known device of its driver publishes, and a zone that no known node is in.

    inventories, planned: what is captured and planned, by cluster; a cluster with neither is not judged, and neither
    is a driver without any device. Of planned nodes that are alike, one is enough.
    """
    problems: list[Finding] = []
    clusters = {pool.value.identity: pool.value.spec.cluster_name for pool in specs.pools}
    for pool in specs.pools:
        cluster = pool.value.spec.cluster_name
        problems += _check_pool(pool, inventories.get(cluster), planned.get(cluster, ()))
    for placement in specs.placements:
        cluster = clusters.get(placement.value.spec.pool_name, "")
        if cluster in inventories or cluster in planned:
            entries = [pool for pool in specs.pools if pool.value.spec.cluster_name == cluster]
            problems += _check_zone(placement, inventories.get(cluster), entries if cluster in planned else [])
    return problems


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """The devices of one driver that are known in a cluster."""

    devices: tuple[Device, ...]
    kinds: str  # captured | planned | captured or planned
    where: str  # "captured in inventory/east.yaml"
    rule: str

    def types(self, group: str) -> dict[tuple[str, str], set[str]]:
        """The types that an attribute or a capacity has on them, by name."""
        types: dict[tuple[str, str], set[str]] = {}
        for device in self.devices:
            for key, kind in _types_of(device, group).items():
                types.setdefault(key, set()).add(kind)
        return types


def _types_of(device: Device, group: str) -> dict[tuple[str, str], str]:
    if group == "attribute":
        return {key: attribute.type for key, attribute in device.attributes.items()}
    return dict.fromkeys(device.capacity, "quantity")


def _build_known(driver: str, inventory: Inventory | None, planned: Sequence[ResourceSlice]) -> _Known | None:
    captured = [device for device in inventory.devices if device.driver == driver] if inventory else []
    expected = [device for one in planned for device in one.devices if device.driver == driver]
    file = inventory.file if inventory else ""
    said = [
        (word, where, rule)
        for devices, word, where, rule in (
            (captured, "captured", f"captured in {file}", "captured ResourceSlices"),
            (expected, "planned", "planned for the cluster", "planned nodes"),
        )
        if devices
    ]
    if not said:
        return None
    words, where, rules = zip(*said, strict=True)
    return _Known(
        devices=(*captured, *expected), kinds=" or ".join(words), where=" or ".join(where), rule=" and ".join(rules)
    )


def _check_pool(pool: Spec[Pool], inventory: Inventory | None, planned: Sequence[ResourceSlice]) -> Iterator[Finding]:
    for index, device_class in enumerate(pool.value.spec.device_classes):
        known = _build_known(device_class.driver, inventory, planned)
        if known:
            path: FieldPath = ("spec", "deviceClasses", index)
            found = list(_check_reads(pool, path, device_class, known))
            yield from found or _check_together(pool, path, device_class, known)


def _check_reads(pool: Spec[Pool], path: FieldPath, device_class: DeviceClassSpec, known: _Known) -> Iterator[Finding]:
    types = {group: known.types(group) for group in ("attribute", "capacity")}
    for part, group, domain, name, wanted in _reads(device_class):
        published = types[group]
        if (domain, name) not in published:
            yield _unpublished(_place(pool, (*path, *part)), group, domain, name, sorted(published), known)
        elif wanted and wanted not in published[domain, name]:
            has = min(published[domain, name] - {UNSUPPORTED}, default=UNSUPPORTED)
            yield _mistyped(pool, (*path, *part), domain, name, has, wanted, known)


def _check_together(
    pool: Spec[Pool], path: FieldPath, device_class: DeviceClassSpec, known: _Known
) -> Iterator[Finding]:
    """Whether some device has all that the structured lines read: each of them must hold. Raw CEL may have `||`."""
    wanted = [read for read in _reads(device_class) if read[0][0] != "selectors"]
    for device in known.devices:
        types = {group: _types_of(device, group) for group in ("attribute", "capacity")}
        if all(types[group].get((domain, name)) == kind for _, group, domain, name, kind in wanted):
            return
    names = ", ".join(f"{domain}/{name}" for _, _, domain, name, _ in wanted)
    yield Finding(
        code="class-unpublished",
        severity="warning",
        place=pool.place(*path),
        what=f'no {known.kinds} device publishes all that class "{device_class.name}" reads: {names}',
        why=f"the class matches none of the devices {known.where}, and claims on it would wait",
        rule=known.rule,
        fix="select by what one device has: a class is for one kind of device",
    )


def _reads(device_class: DeviceClassSpec) -> Iterator[tuple[FieldPath, str, str, str, str]]:
    """What a class reads: path in it, attribute or capacity, domain, identifier, and the type it must have if known."""
    for name, values in device_class.attributes.items():
        yield ("attributes", name), "attribute", *split_name(device_class.driver, name), _TYPES[type(values[0])]
    for name in device_class.versions:
        yield ("versions", name), "attribute", *split_name(device_class.driver, name), "version"
    for name in device_class.capacity:
        yield ("capacity", name), "capacity", *split_name(device_class.driver, name), "quantity"
    for number, selector in enumerate(device_class.selectors):
        for read in find_reads(parse_cel(selector.cel.expression)):
            # A guarded read has an answer for devices that lack the value: that is a decision, not a slip.
            if read.kind in ("attribute", "capacity") and read.domain and read.name and not read.guarded:
                yield ("selectors", number, "cel", "expression"), read.kind, read.domain, read.name, ""


def _place(pool: Spec[Pool], path: FieldPath) -> Place:
    """The name that is read: of a structured line the key, of raw CEL the expression."""
    return pool.place(*path) if path[-1] == "expression" else pool.document.key_place(path)


def _unpublished(
    place: Place, group: str, domain: str, name: str, published: Sequence[tuple[str, str]], known: _Known
) -> Finding:
    names = [f"{d}/{n}" for d, n in published]
    # The name in another domain, or a similar one in its own: domains are long, and make all names in them similar.
    near = [f"{d}/{n}" for d, n in published if n == name]
    near += [f"{domain}/{n}" for n in difflib.get_close_matches(name, [n for d, n in published if d == domain], 1, 0.6)]
    return Finding(
        code="class-unpublished",
        severity="warning",
        place=place,
        what=f'no {known.kinds} device publishes the {group} "{domain}/{name}"',
        why=f"the class matches none of the devices {known.where}, and claims on it would wait",
        rule=known.rule,
        fix=(f'did you mean "{near[0]}"? ' if near else "") + f"published: {', '.join(names) or 'none'}",
    )


def _mistyped(
    pool: Spec[Pool], path: FieldPath, domain: str, name: str, has: str, wanted: str, known: _Known
) -> Finding:
    fix, why = f"write values of type {has}", "values of different types are never equal"
    if has == UNSUPPORTED:
        fix = "compare another attribute"
        why = "a scheduler that doesn't know the value's type either fails on every selector that meets the device"
    elif has == "version":
        fix = "move it to the class's versions, as {min: ..., below: ...}"
    elif wanted == "version":
        fix = "move it to the class's attributes, with the values that it may have"
    elif has.endswith("s"):
        fix = "use a raw selector that looks into the list"
    return Finding(
        code="class-attribute-type",
        severity="warning",
        place=pool.place(*path),
        what=f'the attribute "{domain}/{name}" is published as '
        f"{'a value of no known type' if has == UNSUPPORTED else has} and compared as {wanted}",
        why=f"{why}: the class matches none of the devices {known.where}",
        rule=known.rule,
        fix=fix,
    )


def _check_zone(placement: Spec[Placement], inventory: Inventory | None, pools: Sequence[Spec[Pool]]) -> list[Finding]:
    """pools: of the cluster, whose planned nodes count."""
    zone = placement.value.spec.zone
    nodes = inventory.nodes if inventory else ()
    planned = {entry.zone for pool in pools for entry in pool.value.spec.planned_nodes}
    zones = sorted({node.zone for node in nodes if node.zone} | planned)
    if zone is None or zone in zones or not (nodes or planned):
        return []
    known = {"captured": f"captured in {inventory.file}"} if inventory and nodes else {}
    known |= {"planned": "planned"} if planned else {}
    return [
        Finding(
            code="zone-unknown",
            severity="warning",
            place=placement.place("spec", "zone"),
            what=f'no {" or ".join(known)} node is in zone "{zone}"',
            why="pods that must run in a zone without nodes stay Pending",
            rule="label topology.kubernetes.io/zone",
            fix=f"zones of nodes {' or '.join(known.values())}: {', '.join(zones) or 'none'}",
        )
    ]
