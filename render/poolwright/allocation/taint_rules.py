"""DeviceTaintRules put into slices: the scheduler sees their taints as if drivers had published them.

Source: k8s.io/dynamic-resource-allocation resourceslice/tracker, 0.34 to 0.37.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from poolwright.allocation.cluster_objects import ClusterObjects, TaintRule
from poolwright.catalog.resource_slice import Device, ResourceSlice


def apply_taint_rules(
    slices: Iterable[ResourceSlice], rules: Iterable[TaintRule], *, minor: str
) -> tuple[ResourceSlice, ...]:
    """Slices whose devices have the taints of the rules that select them, after their own.

    Upstream puts several rules in no order; here they are in order of their names. A device's answer doesn't depend
    on it, only which taint is named first.
    """
    ordered = sorted(rules, key=lambda rule: rule.name)
    return tuple(_taint_slice(one, ordered, minor) for one in slices)


def _taint_slice(one: ResourceSlice, rules: list[TaintRule], minor: str) -> ResourceSlice:
    selecting = [rule for rule in rules if _selects(rule, one, minor)]
    if not selecting:
        return one
    devices = tuple(_taint_device(device, selecting) for device in one.devices)
    return replace(one, devices=devices) if devices != one.devices else one


def _taint_device(device: Device, rules: list[TaintRule]) -> Device:
    taints = tuple(rule.taint for rule in rules if rule.device in (None, device.name))
    return replace(device, taints=(*device.taints, *taints)) if taints else device


def _selects(rule: TaintRule, one: ResourceSlice, minor: str) -> bool:
    if not rule.has_selector:
        return int(minor.partition(".")[2]) < 37  # 1.37 reads it as no device, all before as every device
    return rule.driver in (None, one.driver) and rule.pool in (None, one.pool)


def apply_rules(objects: ClusterObjects, minor: str) -> ClusterObjects:
    """A cluster whose slices have the taints of its rules."""
    rules = [placed.value for placed in objects.taint_rules]
    slices = [placed.value for placed in objects.slices]
    tainted = apply_taint_rules(slices, rules, minor=minor)
    placed = (one.having(value) for one, value in zip(objects.slices, tainted, strict=True))
    return replace(objects, slices=tuple(placed))
