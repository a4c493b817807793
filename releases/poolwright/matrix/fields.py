"""Combinations field by field: what two of them differ in, each field with both of its texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from poolwright.specs.rehearsal import Combination, GateDifferences, OtherEnd
from poolwright.specs.version import parse_version

NOTHING: Final = "none"  # what stands in the place of a field that a combination doesn't have


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A field that two combinations don't have alike."""

    field: str  # `kubernetes`, `draDrivers.dra-driver-nvidia-gpu`, `featureGates.kubernetes.DRAAdminAccess`
    wanted: str  # in the row; NOTHING: it has none
    rehearsed: str  # in the record, likewise


def list_fields(of: Combination | OtherEnd) -> dict[str, str]:
    """Each field that a combination has, with its text, in one order; versions as they are written."""
    return dict(_iterate_fields(of))


def compare(row: Combination, record: Combination) -> tuple[Difference, ...]:
    """What a record's combination has otherwise than a row, in the order of the fields; empty: it is equal.

    Versions are equal if they are one release of one vendor: `v1.36.2` is 1.36.2, `1.36.2-gke.100` isn't. Gates are
    compared as they are set, those at their default too: what counts as the default isn't in the record.
    """
    wanted, rehearsed = list_fields(row), list_fields(record)
    return tuple(
        Difference(field=field, wanted=wanted.get(field, NOTHING), rehearsed=rehearsed.get(field, NOTHING))
        for field in _merge(wanted, rehearsed)
        if not is_same(wanted.get(field), rehearsed.get(field))
    )


def list_changes(record: Combination, end: OtherEnd) -> tuple[Difference, ...]:
    """What an upgrade or a rollback changed: of the fields that the other end says, those that differ there.

    `wanted` is what stands in the combination, `rehearsed` what stands at the other end.
    """
    here, there = list_fields(record), list_fields(end)
    if end.feature_gates is not None:  # all gates are said: one that isn't among them wasn't set
        there |= {field: NOTHING for field in here if field.startswith("featureGates.") and field not in there}
    return tuple(
        Difference(field=field, wanted=here.get(field, NOTHING), rehearsed=text)
        for field, text in there.items()
        if not is_same(here.get(field), None if text == NOTHING else text)
    )


def is_same(one: str | None, other: str | None) -> bool:
    """Whether two texts of a field say the same, as `compare` has it; None: the field isn't there."""
    if one is None or other is None or one == other:
        return one == other
    try:
        return parse_version(one) == parse_version(other) and _find_vendor(one) == _find_vendor(other)
    except ValueError:
        return False


def say_difference(difference: Difference) -> str:
    """`gpuDriver 580.167.08, and the row has 580.173.02`."""
    return f"{difference.field} {difference.rehearsed}, and the row has {difference.wanted}"


def _iterate_fields(of: Combination | OtherEnd) -> Iterator[tuple[str, str]]:
    versions = {"kubernetes": of.kubernetes, "gpuOperator": of.gpu_operator}
    yield from ((field, version) for field, version in versions.items() if version is not None)
    yield from ((f"draDrivers.{one.name}", one.version) for one in sorted(of.dra_drivers, key=lambda one: one.name))
    if of.gpu_driver is not None:
        yield "gpuDriver", of.gpu_driver
    if of.container_runtime is not None:
        yield f"containerRuntime.{of.container_runtime.name}", of.container_runtime.version
    if of.container_toolkit is not None:
        yield "containerToolkit", of.container_toolkit
    if of.cdi is not None:
        yield "cdi", _say(of.cdi)
    yield from _iterate_gates(of.feature_gates)
    if isinstance(of, Combination):
        yield from (("hardware.model", of.hardware.model), ("hardware.mode", of.hardware.mode))
        yield "claimPattern", of.claim_pattern
    if of.serving_image is not None:
        yield f"servingImage.{of.serving_image.name}", of.serving_image.version


def _iterate_gates(gates: GateDifferences | None) -> Iterator[tuple[str, str]]:
    if gates is None:
        return
    for name, is_on in sorted(gates.kubernetes.items()):
        yield f"featureGates.kubernetes.{name}", _say(is_on)
    for driver, of_driver in sorted(gates.dra_drivers.items()):
        for name, is_on in sorted(of_driver.items()):
            yield f"featureGates.{driver}.{name}", _say(is_on)


def _merge(wanted: Mapping[str, str], rehearsed: Mapping[str, str]) -> tuple[str, ...]:
    """The fields of both in the order of the first, those that only the second has before what comes after them."""
    return tuple(dict.fromkeys((*wanted, *rehearsed)))


def _find_vendor(version: str) -> str:
    """What follows the numbers: the vendor's build, or a stage."""
    return re.sub(r"^v?[0-9.]+", "", version)


def _say(is_on: bool) -> str:
    return "true" if is_on else "false"
