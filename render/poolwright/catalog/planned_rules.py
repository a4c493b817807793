"""What planned nodes may not say: hardware that isn't known, layouts that don't fit, slices that Kubernetes refuses."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import list_driver_names
from poolwright.catalog.mig_layout import count_profiles, place_partitions
from poolwright.catalog.planned_devices import PCIE_ROOT, AcceleratorPlan, build_driver_plan
from poolwright.catalog.planned_nodes import MAX_DEVICES, NodePlan, find_gpu_driver, list_planned_names
from poolwright.catalog.qualified_name import split_name
from poolwright.catalog.resource_slice import ResourceSlice
from poolwright.catalog.tables.hardware import HardwareFact, MigProfileFact
from poolwright.specs.entries import repeated
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.pool import PartitionLayout, PlannedNode, Pool
from poolwright.specs.stack import DraDriver, Stack

# k8s.io/api resource/v1 v0.36.0: ResourceSliceMaxDevicesWithTaintsOrConsumesCounters (list attributes count too),
# ResourceSliceMaxCounterSets, ResourceSliceMaxAttributesAndCapacitiesPerDevice.
_MAX_DEVICES_ADVANCED: Final = 64
_MAX_COUNTER_SETS: Final = 8
_MAX_ATTRIBUTES: Final = 32
_RULE: Final = "poolwright.dev/v1alpha1"
_HARDWARE_RULE: Final = "poolwright facts, hardware.json"
_PROFILES_RULE: Final = "poolwright facts, mig-profiles.json"
_API_RULE: Final = "Kubernetes resource/v1 ResourceSlice"


def check_planned_nodes(pool: Spec[Pool], stack: Spec[Stack], facts: Facts) -> list[Finding]:
    """Everything that is wrong with a pool's planned nodes.

    stack: of the pool's cluster.
    """
    problems: list[Finding] = []
    driver = find_gpu_driver(stack.value, facts)
    for index, entry in enumerate(pool.value.spec.planned_nodes):
        path: FieldPath = ("spec", "plannedNodes", index)
        hardware = facts.hardware_model(entry.hardware_model)
        found = [*_check_counts(pool, path, entry), *_check_companions(pool, path, entry, stack, driver, facts)]
        if hardware is None:
            found.append(_unknown_hardware(pool.place(*path, "hardwareModel"), entry, facts))
        if driver is None:
            found.append(_no_driver(pool.place(*path, "hardwareModel"), entry, stack))
        if hardware and driver:
            found += _check_layouts(pool, path, entry, hardware, driver, stack, facts)
        if hardware and driver and not found:
            slices = NodePlan(entry, hardware, driver, stack.value, facts).build_slices(list_planned_names(entry)[0])
            found += _check_limits(pool.place(*path), entry, slices)
        problems += found
    return problems


def check_planned_names(pools: Iterable[Spec[Pool]]) -> list[Finding]:
    """Entries of one name in several pools of a cluster: their nodes would have one name, too."""
    problems = []
    first: dict[tuple[str, str], tuple[str, Place]] = {}
    for pool in pools:
        for index, entry in enumerate(pool.value.spec.planned_nodes):
            place = pool.place("spec", "plannedNodes", index, "name")
            key = (pool.value.spec.cluster_name, entry.name)
            owner, earlier = first.setdefault(key, (pool.value.identity, place))
            if owner != pool.value.identity:
                problems.append(repeated(place, f'the planned nodes "{entry.name}" of cluster "{key[0]}"', earlier))
    return problems


def _check_counts(pool: Spec[Pool], path: FieldPath, entry: PlannedNode) -> Iterator[Finding]:
    cut = 0
    for index, layout in enumerate(entry.partitions):
        cut += layout.devices
        if cut > entry.devices_per_node:
            yield Finding(
                code="partition-count",
                severity="error",
                place=pool.place(*path, "partitions", index, "devices"),
                what=f'the layouts of "{entry.name}" cut {cut} accelerators, and each of its nodes has '
                f"{entry.devices_per_node}",
                why="an accelerator has one layout",
                rule=_RULE,
                fix="lower devices, or raise devicesPerNode",
            )
            return


def _check_layouts(
    pool: Spec[Pool],
    path: FieldPath,
    entry: PlannedNode,
    hardware: HardwareFact,
    driver: DraDriver,
    stack: Spec[Stack],
    facts: Facts,
) -> Iterator[Finding]:
    profiles = facts.model_profiles(entry.hardware_model)
    plan = AcceleratorPlan(hardware, profiles, build_driver_plan(driver, stack.value, facts), facts)
    for index, layout in enumerate(entry.partitions):
        at = (*path, "partitions", index)
        if plan.is_split:
            what = f'"{entry.name}" expects partitions, and stack "{stack.value.identity}" has the gate DynamicMIG on'
            why = "the driver makes and removes partitions itself then, and publishes every one that is possible"
            fix = "remove the layout, or turn the gate off"
            yield _layout(pool.place(*at), what, why, "poolwright facts, device-types.json", fix)
        elif not profiles:
            capable = sorted({fact.model for fact in facts.hardware if fact.mig_memory_slices is not None})
            what = f"{entry.hardware_model} can't be cut into partitions"
            why, fix = "it has no MIG", f"remove the layout; models that have it: {', '.join(capable)}"
            yield _layout(pool.place(*at), what, why, _HARDWARE_RULE, fix)
        else:
            yield from _check_layout(pool, at, entry, layout, profiles)


def _check_layout(
    pool: Spec[Pool], at: FieldPath, entry: PlannedNode, layout: PartitionLayout, profiles: Sequence[MigProfileFact]
) -> Iterator[Finding]:
    known = [profile.name for profile in profiles]
    unknown = [name for name in layout.profiles if name not in known]
    for name in unknown:
        near = difflib.get_close_matches(name, known, 1, 0.6)
        what = f'{entry.hardware_model} has no profile "{name}"'
        why = "a profile's name goes with the model and the memory that its driver reports"
        fix = (f'did you mean "{near[0]}"? ' if near else "") + f"known: {', '.join(known)}"
        yield _layout(pool.document.key_place((*at, "profiles", name)), what, why, _PROFILES_RULE, fix)
    if not layout.profiles:
        what = f'a layout of "{entry.name}" has no profiles'
        why = "an accelerator in MIG mode without partitions is not published: nothing of it could be claimed"
        yield _layout(pool.place(*at, "profiles"), what, why, _RULE, f"write some of: {', '.join(known)}")
    if unknown or not layout.profiles:
        return
    placed = place_partitions(layout.profiles, profiles)
    if len(placed) < sum(layout.profiles.values()):
        asked = [profile for profile in profiles if profile.name in layout.profiles]
        places = "; ".join(_say_places(profile) for profile in asked)
        what = f"no {entry.hardware_model} can be cut into {_say(layout.profiles)}"
        fix = f"of these, {_say(count_profiles(placed))} fits, and covers most memory"
        why = f"partitions lie side by side on fixed memory slices: {places}"
        yield _layout(pool.place(*at, "profiles"), what, why, _PROFILES_RULE, fix)


def _say(counts: dict[str, int]) -> str:
    return "{" + ", ".join(f"{name}: {count}" for name, count in counts.items()) + "}"


def _say_places(profile: MigProfileFact) -> str:
    starts = ", ".join(str(placement.start) for placement in profile.placements)
    size = max(placement.size for placement in profile.placements)
    most = f", at most {profile.max_instances}" if profile.max_instances < len(profile.placements) else ""
    return f"{profile.name} takes {size} from {starts}{most}"


def _check_companions(
    pool: Spec[Pool],
    path: FieldPath,
    entry: PlannedNode,
    stack: Spec[Stack],
    gpu_driver: DraDriver | None,
    facts: Facts,
) -> Iterator[Finding]:
    known = sorted({name for driver in stack.value.spec.dra_drivers for name in list_driver_names(driver, facts)})
    own = list_driver_names(gpu_driver, facts) if gpu_driver else ()
    for index, companion in enumerate(entry.companions):
        at = (*path, "companions", index)
        if companion.driver in own:
            what = f'the companions of "{entry.name}" are of the accelerators\' own driver, {companion.driver}'
            why = "a driver publishes one pool per node, and what it is in is planned by hardwareModel"
            fix = "name the other devices' driver, or add an entry to plannedNodes"
            yield _driver(pool.place(*at, "driver"), what, why, fix)
        elif companion.driver not in known:
            what = f'no driver of stack "{stack.value.identity}" publishes devices as {companion.driver}'
            why, fix = "companions are devices that a driver of the cluster publishes", f"known: {', '.join(known)}"
            yield _driver(pool.place(*at, "driver"), what, why, fix)
        seen: dict[tuple[str, str], str] = {PCIE_ROOT: ""}
        for name in companion.attributes:
            first = seen.setdefault(split_name(companion.driver, name), name)
            if first != name:
                place = pool.document.key_place((*at, "attributes", name))
                yield _attribute(place, _twice(name, first), "write it once" if first else "remove it")
        if len(seen) > _MAX_ATTRIBUTES:
            place = pool.place(*at, "attributes")
            what = f"a companion has {len(seen)} attributes, its PCIe root included"
            yield _attribute(place, what, f"a device has at most {_MAX_ATTRIBUTES}: remove some", _API_RULE)


def _twice(name: str, first: str) -> str:
    if first:
        return f'"{name}" is the attribute "{first}" once more'
    return f'"{name}" is said of a companion, which is on the PCIe root of its accelerator'


def _check_limits(place: Place, entry: PlannedNode, slices: Sequence[ResourceSlice]) -> Iterator[Finding]:
    """Slices of one node that the API server would refuse, so that none of the driver's devices were published."""
    for one in slices:
        has_lists = any(on.type.endswith("s") for device in one.devices for on in device.attributes.values())
        is_advanced = has_lists or any(device.consumes for device in one.devices)
        limit = _MAX_DEVICES_ADVANCED if is_advanced else MAX_DEVICES
        if len(one.devices) > limit:
            reason = " that has counters or lists as attributes" if is_advanced else ""
            yield _limit(place, entry, f"{len(one.devices)} devices", f"{limit} in one{reason}")
        elif len(one.shared_counters) > _MAX_COUNTER_SETS:
            yield _limit(place, entry, f"{len(one.shared_counters)} counter sets", f"{_MAX_COUNTER_SETS} in one")
        else:
            continue
        return


def _limit(place: Place, entry: PlannedNode, has: str, most: str) -> Finding:
    return Finding(
        code="planned-limit",
        severity="error",
        place=place,
        what=f'a slice of a node of "{entry.name}" would have {has}',
        why=f"the driver publishes them together, and Kubernetes takes at most {most}: no device would be published",
        rule=_API_RULE,
        fix="plan fewer accelerators or partitions per node",
    )


def _unknown_hardware(place: Place, entry: PlannedNode, facts: Facts) -> Finding:
    known = [fact.model for fact in facts.hardware]
    near = difflib.get_close_matches(entry.hardware_model, known, 1, 0.6)
    return Finding(
        code="hardware-unknown",
        severity="error",
        place=place,
        what=f'no facts about the accelerator "{entry.hardware_model}"',
        why="what a planned node will publish follows from its model, and isn't guessed",
        rule=_HARDWARE_RULE,
        fix=(f'did you mean "{near[0]}"? ' if near else "") + f"known: {', '.join(known)}",
    )


def _no_driver(place: Place, entry: PlannedNode, stack: Spec[Stack]) -> Finding:
    what = (
        f'"{entry.name}" has NVIDIA accelerators, and stack "{stack.value.identity}" no known release of their driver'
    )
    why = "what is published depends on the driver's release; without a driver nothing is"
    return _driver(place, what, why, "add the driver to the stack's draDrivers, or remove the nodes")


def _driver(place: Place, what: str, why: str, fix: str) -> Finding:
    return Finding(code="planned-driver", severity="error", place=place, what=what, why=why, rule=_RULE, fix=fix)


def _layout(place: Place, what: str, why: str, rule: str, fix: str) -> Finding:
    return Finding(code="partition-layout", severity="error", place=place, what=what, why=why, rule=rule, fix=fix)


def _attribute(place: Place, what: str, fix: str, rule: str = _RULE) -> Finding:
    why = "companions are published with exactly these attributes"
    return Finding(code="companion-attribute", severity="error", place=place, what=what, why=why, rule=rule, fix=fix)
