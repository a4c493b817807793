"""Device classes against what drivers publish: an attribute that no captured device has can't be matched."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from typing import Final

from poolwright.catalog.cel import find_reads, parse_cel
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.qualified_name import split_name
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.placement import Placement
from poolwright.specs.pool import DeviceClassSpec, Pool

_RULE: Final = "captured ResourceSlices"
_TYPES: Final = {str: "string", bool: "bool", int: "int"}


def check_published(specs: Specs, inventories: Mapping[str, Inventory]) -> list[Finding]:
    """Warnings where a class reads what no captured device of its driver publishes, and a zone that no node is in.

    inventories: by cluster; a cluster without one is not judged, and neither is a driver without captured devices.
    """
    problems: list[Finding] = []
    clusters = {}
    for pool in specs.pools:
        clusters[pool.value.identity] = pool.value.spec.cluster_name
        inventory = inventories.get(pool.value.spec.cluster_name)
        if inventory:
            problems += _check_pool(pool, inventory)
    for placement in specs.placements:
        inventory = inventories.get(clusters.get(placement.value.spec.pool_name, ""))
        if inventory:
            problems += _check_zone(placement, inventory)
    return problems


def _check_pool(pool: Spec[Pool], inventory: Inventory) -> Iterator[Finding]:
    for index, device_class in enumerate(pool.value.spec.device_classes):
        devices = [device for device in inventory.devices if device.driver == device_class.driver]
        if not devices:
            continue
        attributes = {name: value.type for device in devices for name, value in device.attributes.items()}
        capacities = {name: "quantity" for device in devices for name in device.capacity}
        for path, group, domain, name, wanted in _reads(device_class):
            at = ("spec", "deviceClasses", index, *path)
            published = attributes if group == "attribute" else capacities
            if (domain, name) not in published:
                yield _unpublished(_place(pool, at), group, domain, name, published, inventory)
            elif wanted and published[domain, name] != wanted:
                yield _mistyped(pool, at, domain, name, published[domain, name], wanted, inventory)


def _reads(device_class: DeviceClassSpec) -> Iterator[tuple[FieldPath, str, str, str, str]]:
    """What a class reads: path in it, attribute or capacity, domain, identifier, and the type it must have if known."""
    for name, values in device_class.attributes.items():
        yield ("attributes", name), "attribute", *split_name(device_class.driver, name), _TYPES[type(values[0])]
    for name in device_class.capacity:
        yield ("capacity", name), "capacity", *split_name(device_class.driver, name), ""
    for number, selector in enumerate(device_class.selectors):
        for read in find_reads(parse_cel(selector.cel.expression)):
            # A guarded read has an answer for devices that lack the value: that is a decision, not a slip.
            if read.kind in ("attribute", "capacity") and read.domain and read.name and not read.guarded:
                yield ("selectors", number, "cel", "expression"), read.kind, read.domain, read.name, ""


def _place(pool: Spec[Pool], path: FieldPath) -> Place:
    """The name that is read: of a structured line the key, of raw CEL the expression."""
    return pool.place(*path) if path[-1] == "expression" else pool.document.key_place(path)


def _unpublished(
    place: Place,
    group: str,
    domain: str,
    name: str,
    published: Mapping[tuple[str, str], str],
    inventory: Inventory,
) -> Finding:
    known = sorted(f"{d}/{n}" for d, n in published)
    near = difflib.get_close_matches(f"{domain}/{name}", known, 1, 0.6)
    return Finding(
        code="class-unpublished",
        severity="warning",
        place=place,
        what=f'no captured device publishes the {group} "{domain}/{name}"',
        why=f"the class matches none of the devices in {inventory.file}, and claims on it would wait",
        rule=_RULE,
        fix=(f'did you mean "{near[0]}"? ' if near else "") + f"published: {', '.join(known)}",
    )


def _mistyped(
    pool: Spec[Pool], path: FieldPath, domain: str, name: str, has: str, wanted: str, inventory: Inventory
) -> Finding:
    fix = f"write values of type {has}"
    if has == "version":
        fix = "use a raw selector with compareTo(semver(...))"
    elif has.endswith("s"):
        fix = "use a raw selector that looks into the list"
    return Finding(
        code="class-attribute-type",
        severity="warning",
        place=pool.place(*path),
        what=f'the attribute "{domain}/{name}" is published as {has} and compared as {wanted}',
        why=f"values of different types are never equal: the class matches none of the devices in {inventory.file}",
        rule=_RULE,
        fix=fix,
    )


def _check_zone(placement: Spec[Placement], inventory: Inventory) -> list[Finding]:
    zone = placement.value.spec.zone
    zones = sorted({node.zone for node in inventory.nodes if node.zone})
    if zone is None or zone in zones or not inventory.nodes:
        return []
    return [
        Finding(
            code="zone-unknown",
            severity="warning",
            place=placement.place("spec", "zone"),
            what=f'no captured node is in zone "{zone}"',
            why=f"pods that must run in a zone of no node in {inventory.file} stay Pending",
            rule="captured Nodes, label topology.kubernetes.io/zone",
            fix=f"captured zones: {', '.join(zones)}" if zones else "no captured node has a zone label",
        )
    ]
