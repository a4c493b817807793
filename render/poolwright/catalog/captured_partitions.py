"""Partitions that a pool expects of its planned nodes against those of the nodes that were captured since."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.planned_nodes import list_planned_names
from poolwright.catalog.resource_slice import Device, is_complete, newest_pools
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.pool import PlannedNode, Pool

_RULE: Final = "captured ResourceSlices"

Layout = tuple[tuple[str, int], ...]  # profiles and how many of each, sorted


def check_partitions(pool: Spec[Pool], inventory: Inventory, facts: Facts) -> Iterator[Finding]:
    """Warnings where a captured node is cut in another way than its pool plans.

    Judged is a node that has a planned one's name, zone and accelerator, whose slices are all there, and whose
    partitions the host makes: only then is it sure to be the node that was meant.
    """
    zones = {node.name: node.zone for node in inventory.nodes}
    drivers = {fact.driver for fact in facts.device_types if fact.id == "mig-static"}
    published = {
        slices[0].placement.node_name: [device for one in slices for device in one.devices]
        for (driver, _), slices in newest_pools(inventory.slices).items()
        if driver in drivers and is_complete(slices)
    }
    for index, entry in enumerate(pool.value.spec.planned_nodes):
        hardware = facts.hardware_model(entry.hardware_model)
        wanted = _count_expected(entry)
        for name in list_planned_names(entry):
            devices = published.get(name, [])
            products = {_text(device, "productName") for device in devices}
            if zones.get(name) != entry.zone or hardware is None or products != {hardware.product_name}:
                continue
            if any(device.consumes for device in devices):  # the driver makes them, on demand
                continue
            found = _count_found(devices)
            if found != wanted:
                yield Finding(
                    code="partition-unexpected",
                    severity="warning",
                    place=pool.place("spec", "plannedNodes", index, "partitions"),
                    what=f'node "{name}" has {_say(found)}, and pool "{pool.value.identity}" expects {_say(wanted)}',
                    why=f"partitions are made by the host: those in {inventory.file} are what can be claimed",
                    rule=_RULE,
                    fix="cut the node as planned, or change the layout; the entry goes when its nodes are captured",
                )


def _count_expected(entry: PlannedNode) -> Counter[Layout]:
    """How many accelerators of a node have each layout; whole ones don't count."""
    counts: Counter[Layout] = Counter()
    for layout in entry.partitions:
        counts[tuple(sorted(layout.profiles.items()))] += layout.devices
    return counts


def _count_found(devices: Iterable[Device]) -> Counter[Layout]:
    profiles: dict[str, Counter[str]] = {}
    for device in devices:
        if _text(device, "type") == "mig":
            profiles.setdefault(_text(device, "parentUUID"), Counter())[_text(device, "profile")] += 1
    return Counter(tuple(sorted(counts.items())) for counts in profiles.values())


def _text(device: Device, name: str) -> str:
    attribute = device.attributes.get((device.driver, name))
    return str(attribute.value) if attribute and attribute.value is not None else ""


def _say(layouts: Counter[Layout]) -> str:
    said = [
        f"{count} accelerator{'' if count == 1 else 's'} cut into "
        + "{"
        + ", ".join(f"{name}: {number}" for name, number in layout)
        + "}"
        for layout, count in sorted(layouts.items())
    ]
    return " and ".join(said) or "no partitions"
