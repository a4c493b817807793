"""Gates of its driver without which a class, or a claim's constraint, finds no device: written, or read off it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, Literal

import msgspec

from poolwright.catalog.device_class import MEMORY
from poolwright.catalog.device_mode import read_types
from poolwright.catalog.facts import Facts
from poolwright.catalog.qualified_name import split_name
from poolwright.specs.place import FieldPath
from poolwright.specs.pool import DeviceClassSpec

SHARES: Final = "ConsumableShares"  # what lets several claims have one device of NVIDIA's driver
_DRIVER: Final = "gpu.nvidia.com"

_Group = Literal["attribute", "capacity"]


class ClassNeed(msgspec.Struct, frozen=True, kw_only=True):
    """A gate that a class needs to match anything."""

    gate: str
    path: FieldPath  # below the class: what needs it
    said: str  # in words; empty: the class names the gate itself


def list_class_needs(device_class: DeviceClassSpec, facts: Facts) -> tuple[ClassNeed, ...]:
    """Each gate once, in the order of the class's fields: those it names, then those that its selection rests on.

    What only a gate publishes is needed where no device without it could match: a type of device, a value that every
    line reads, shares. A read with a guard is none, as it has an answer without the value. Of a class whose raw CEL is
    no selector, which `check_classes` refuses, only those it names.
    """
    found: dict[str, ClassNeed] = {}
    for need in (*_list_written(device_class), *_list_selected(device_class, facts)):
        found.setdefault(need.gate, need)
    return tuple(found.values())


def list_attribute_gates(driver: str, name: str, facts: Facts) -> tuple[str, ...]:
    """The gates one of which a driver needs to publish an attribute (DOMAIN/NAME); none: it has it without, or never.

    Sorted. What no fact speaks of is nobody's.
    """
    domain, identifier = split_name(driver, name)
    types = frozenset(fact.type_attribute for fact in facts.device_types if fact.driver == driver)
    return _find_gates("attribute", driver, domain, identifier, types, facts)


def _list_written(device_class: DeviceClassSpec) -> Iterator[ClassNeed]:
    for position, feature in enumerate(device_class.features):
        yield ClassNeed(gate=feature, path=("features", position), said="")


def _list_selected(device_class: DeviceClassSpec, facts: Facts) -> tuple[ClassNeed, ...]:
    if not device_class.selectors:
        return tuple(_list_read(device_class, facts))
    from poolwright.catalog.cel import CelError  # a large shared object: only where there is CEL

    try:
        return tuple(_list_read(device_class, facts))
    except CelError:
        return ()


def _list_read(device_class: DeviceClassSpec, facts: Facts) -> Iterator[ClassNeed]:
    driver = device_class.driver
    is_shared, types = read_types(device_class, facts)
    if is_shared and driver == _DRIVER:
        said = "it asks for devices that several claims may have"
        yield ClassNeed(gate=SHARES, path=("selectors",), said=said)
    yield from _list_types(device_class, types, facts)
    reads: list[tuple[FieldPath, _Group, str]] = [
        (("attributes", name), "attribute", name) for name in device_class.attributes
    ]
    reads += [(("versions", name), "attribute", name) for name in device_class.versions]
    reads += [(("capacity", name), "capacity", name) for name in device_class.capacity]
    reads += _list_raw(device_class)
    for path, group, name in reads:
        for gate in _find_gates(group, driver, *split_name(driver, name), types, facts):
            yield ClassNeed(gate=gate, path=path, said=f"it reads the {group} {name}, which is published with it only")


def _list_types(device_class: DeviceClassSpec, types: Collection[str], facts: Facts) -> Iterator[ClassNeed]:
    """The gates of types of device, where each type that the class takes has one."""
    rows = [fact for fact in facts.device_types if fact.driver == device_class.driver and fact.type_attribute in types]
    if not rows or any(fact.gate is None for fact in rows):
        return
    path: FieldPath = ("attributes",) if device_class.attributes else ("selectors",)
    for gate in sorted({fact.gate for fact in rows if fact.gate}):
        said = f"it takes only devices of type {', '.join(sorted(types))}, which are published with it only"
        yield ClassNeed(gate=gate, path=path, said=said)


def _list_raw(device_class: DeviceClassSpec) -> Iterator[tuple[FieldPath, _Group, str]]:
    if not device_class.selectors:
        return
    from poolwright.catalog.cel import find_reads, parse_cel

    for number, selector in enumerate(device_class.selectors):
        reads = find_reads(parse_cel(selector.cel.expression))
        guarded = {(read.kind, read.domain, read.name) for read in reads if read.guarded}
        for read in reads:
            if read.kind in ("attribute", "capacity") and read.domain and read.name and not read.guarded:
                if (read.kind, read.domain, read.name) in guarded and "||" in selector.cel.expression:
                    continue  # without the value, the other side may hold
                group: _Group = "attribute" if read.kind == "attribute" else "capacity"
                yield ("selectors", number, "cel", "expression"), group, f"{read.domain}/{read.name}"


def _find_gates(
    group: _Group, driver: str, domain: str, name: str, types: Collection[str], facts: Facts
) -> tuple[str, ...]:
    """The gates of a value, if no device of these types has it without one."""
    ids = {fact.id for fact in facts.device_types if fact.driver == driver and fact.type_attribute in types}
    if group == "attribute":
        gates = {
            row.gate
            for row in facts.device_attributes
            if row.driver == driver and (row.domain, row.name) == (domain, name) and row.device_type in ids
        }
    elif (domain, name) == (driver, MEMORY):  # every class asks for it, and the table takes a while to read
        return ()
    else:
        gates = {
            row.gate
            for row in facts.device_capacities
            if row.driver == driver and domain == driver and row.name == name and row.device_type in ids
        }
    return () if None in gates else tuple(sorted(gate for gate in gates if gate))
