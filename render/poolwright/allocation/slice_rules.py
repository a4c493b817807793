"""What is wrong with ResourceSlices, as far as a claim's answer can depend on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from poolwright.allocation.cluster_objects import Placed
from poolwright.allocation.refusals import Refusal, refuse_limit, refuse_names
from poolwright.catalog.resource_slice import Device, ResourceSlice
from poolwright.specs.finding import Finding

MAX_DEVICES: Final = 128
MAX_ADVANCED: Final = 64  # devices of a slice in which one has taints, counters or lists
MAX_TAINTS: Final = 16
MAX_COUNTER_SETS: Final = 8
MAX_CONSUMED: Final = 2
_RULE: Final = "k8s.io/api resource/v1"


def check_slice(placed: Placed[ResourceSlice], minor: str) -> Iterator[Finding]:
    """Lists of a slice that are too long, and devices of one name.

    Source: k8s.io/api resource/v1; 1.34 has other bounds for what is alpha there, which aren't checked.
    """
    one, devices = placed.value, placed.value.devices
    is_old = minor == "1.34"
    is_advanced = not is_old and any(_is_advanced(device) for device in devices)
    most = MAX_ADVANCED if is_advanced else MAX_DEVICES
    if len(devices) > most:
        name = "devices, some with taints, counters or lists," if is_advanced else "devices"
        yield refuse_limit(Refusal(placed, ("spec", "devices"), _RULE), name, len(devices), most)
    yield from refuse_names(placed, ("spec", "devices"), "device", [device.name for device in devices], _RULE)
    if is_old:
        return
    if len(one.shared_counters) > MAX_COUNTER_SETS:
        at = Refusal(placed, ("spec", "sharedCounters"), _RULE)
        yield refuse_limit(at, "counter sets", len(one.shared_counters), MAX_COUNTER_SETS)
    if one.shared_counters and devices:
        yield Refusal(placed, ("spec", "sharedCounters"), _RULE).finding(
            f'slice "{one.name}" has both devices and counter sets',
            "since Kubernetes 1.35 a pool has its counter sets in slices of their own",
            "publish sharedCounters in another slice of the pool",
        )
    for index, device in enumerate(devices):
        for name, count, bound in (
            ("taints", len(device.taints), MAX_TAINTS),
            ("consumesCounters", len(device.consumes), MAX_CONSUMED),
        ):
            if count > bound:
                yield refuse_limit(Refusal(placed, ("spec", "devices", index, name), _RULE), name, count, bound)


def find_shared_names(slices: Sequence[Placed[ResourceSlice]]) -> Mapping[int, Finding]:
    """Devices of one driver, pool and name on several nodes; a finding for each pool, by the identity of its slice.

    On one node they make their pool invalid, and the allocator says so.
    """
    newest: dict[tuple[str, str], int] = {}
    for placed in slices:
        key = (placed.value.driver, placed.value.pool)
        newest[key] = max(newest.get(key, 0), placed.value.generation)
    nodes: dict[tuple[str, str, str], dict[str, Placed[ResourceSlice]]] = {}
    for placed in slices:
        one = placed.value
        if one.generation != newest[one.driver, one.pool]:
            continue
        for device in one.devices:
            node = (device.placement or one.placement).node_name
            if node:
                nodes.setdefault((one.driver, one.pool, device.name), {}).setdefault(node, placed)
    found: dict[int, Finding] = {}
    pools: set[tuple[str, str]] = set()
    for (driver, pool, name), places in nodes.items():
        if len(places) > 1 and (driver, pool) not in pools:
            pools.add((driver, pool))
            second = list(places.values())[1]
            found[id(second)] = _build_shared(f"{driver}/{pool}/{name}", sorted(places), second)
    return found


def _build_shared(title: str, nodes: Sequence[str], placed: Placed[ResourceSlice]) -> Finding:
    more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""
    return Finding(
        code="device-name-shared",
        severity="warning",
        place=placed.locate(("spec", "devices")),
        what=f"device {title} is published from {len(nodes)} nodes: {', '.join(nodes[:3])}{more}",
        why="a device is known by driver, pool and name alone: while one of these is allocated, all of them are held",
        rule="k8s.io/dynamic-resource-allocation structured",
        fix="give each node's devices a pool of their own, named after the node",
    )


def _is_advanced(device: Device) -> bool:
    has_list = any(isinstance(attribute.value, tuple) for attribute in device.attributes.values())
    return bool(device.taints or device.consumes) or has_list
