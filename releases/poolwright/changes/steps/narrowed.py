"""What others rely on of a pool, and that goes away or gets less with a change of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from poolwright.allocation.reasons.clauses import split_clauses
from poolwright.catalog.device_class import (
    attribute_selector,
    build_device_class,
    capacity_selector,
    version_range_selector,
)
from poolwright.catalog.qualified_name import split_name
from poolwright.specs.pool import CapacityRange, DeviceClassSpec, Pool, VersionRangeOfAttribute
from poolwright.specs.quantity import parse_quantity
from poolwright.specs.version import parse_version

V = TypeVar("V")


def list_narrowed(old: Pool, new: Pool) -> Iterator[str]:
    """What others rely on and isn't there any more, or is less; sentences."""
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
    known = {item.name for item in one.device_classes}
    for space in one.namespaces:
        if space.name not in namespaces:
            yield f"namespace {space.name} may claim no longer"
            continue
        for name, amount in sorted(namespaces[space.name].quota.items()):
            had = space.quota.get(name)
            if name in known and (had is None or amount < had):  # of a class that is new nobody had any
                was = "any number" if had is None else had
                yield f"namespace {space.name} may claim {amount} of {name}, before {was}"


def _list_class_narrowed(old: DeviceClassSpec, new: DeviceClassSpec) -> Iterator[str]:
    """What makes a class select less, or serve its users less; a condition in other words is none."""
    if old.tier != new.tier:
        yield f"its tier is {new.tier}, before {old.tier}"
    if old.extended_resource_name not in (None, new.extended_resource_name):
        yield f"pods can't ask for it as {old.extended_resource_name} any more"
    for gate in new.features:
        if gate not in old.features:
            yield f"it needs the gate {gate}"
    if old.driver != new.driver:  # nor do conditions compare: names without a domain are those of the driver
        yield f"its driver is {new.driver}, before {old.driver}"
        return
    known = {clause for text in build_device_class(old).selectors for clause in split_clauses(text)}
    yield from _list_values_narrowed(old, new, known)
    yield from _list_ranges_narrowed(old, new, known)
    structured = len(new.attributes) + len(new.versions) + len(new.capacity) + 1  # the driver stands first
    for text in build_device_class(new).selectors[structured:]:
        yield from (f"{clause} is a new condition" for clause in split_clauses(text) if clause not in known)


def _list_values_narrowed(old: DeviceClassSpec, new: DeviceClassSpec, known: set[str]) -> Iterator[str]:
    before = _qualify(old.driver, old.attributes)
    for name, values in sorted(new.attributes.items()):
        had = before.get(split_name(new.driver, name))
        if had is None:
            if not _is_known(attribute_selector(new.driver, name, values), known):
                yield f"{name} is a new condition"
        elif gone := [str(one) for one in had if not _holds(values, one)]:
            yield f"{name} may no longer be {', '.join(gone)}"


def _list_ranges_narrowed(old: DeviceClassSpec, new: DeviceClassSpec, known: set[str]) -> Iterator[str]:
    versions, amounts = _qualify(old.driver, old.versions), _qualify(old.driver, old.capacity)
    for name, versions_now in sorted(new.versions.items()):
        if not _is_known(version_range_selector(new.driver, name, versions_now), known):
            yield from _list_cut(name, versions.get(split_name(new.driver, name)), versions_now, _version_key)
    for name, amounts_now in sorted(new.capacity.items()):
        if not _is_known(capacity_selector(new.driver, name, amounts_now), known):
            yield from _list_cut(name, amounts.get(split_name(new.driver, name)), amounts_now, _amount)


def _qualify(driver: str, values: Mapping[str, V]) -> dict[tuple[str, str], V]:
    """By domain and identifier: a name that says the driver's domain, and one that leaves it out, are one."""
    return {split_name(driver, name): value for name, value in values.items()}


def _is_known(selector: str, known: set[str]) -> bool:
    """Whether every clause of a selector was one before."""
    return all(clause in known for clause in split_clauses(selector))


def _holds(values: tuple[object, ...], one: object) -> bool:
    """Whether a value is among others; true isn't 1."""
    return any(type(other) is type(one) and other == one for other in values)


def _version_key(text: str) -> object:
    return parse_version(text).key


def _amount(text: str) -> int:
    return parse_quantity(text).nano


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
