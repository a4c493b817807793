"""The lines of specs that clauses, counts, constraints and zones of a cluster's objects follow from.

Built from the same functions as the objects, so that a clause is found by its text; `poolwright explain` measures the
same for every field of an object, which takes as many builds of a unit as it has spec values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from poolwright.admission.claimed import bound_envelope
from poolwright.allocation.reasons.clauses import split_clauses
from poolwright.catalog.closure import list_named_files
from poolwright.catalog.device_class import (
    MEMORY,
    attribute_selector,
    capacity_selector,
    version_range_selector,
    version_selector,
)
from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory
from poolwright.plan.sources import Sources, WorkloadSources
from poolwright.specs.claim_plan import plan_requests
from poolwright.specs.model import QuantityText
from poolwright.specs.parse import Specs
from poolwright.specs.place import FieldPath, Place, render_field
from poolwright.specs.pool import CapacityRange, DeviceClassSpec, VersionRangeOfAttribute
from poolwright.specs.resolve import ResolvedPlacement, resolve_placement


def build_sources(
    specs: Specs, cluster: str, inventory: Inventory | None, facts: Facts, files: Mapping[str, bytes]
) -> Sources:
    """The sources of a cluster.

    specs: of a whole project, whose references all lead somewhere.
    files: those that envelopes name, by path; of an envelope whose config isn't among them, nothing is said of memory.
    Cost:  linear in the specs.
    """
    classes: dict[tuple[str, str], Place] = {}
    for pool in specs.pools:
        if pool.value.spec.cluster_name == cluster:
            for at, device_class in enumerate(pool.value.spec.device_classes):
                for text, path in _list_selectors(device_class):
                    place = pool.place("spec", "deviceClasses", at, *path)
                    for clause in split_clauses(text):
                        classes.setdefault((device_class.name, clause), place)
    resolved = [one for one in (resolve_placement(specs, one)[0] for one in specs.placements) if one is not None]
    here = [one for one in resolved if one.on.cluster.name == cluster]
    return Sources(
        classes=classes,
        workloads={_name(one): _build_workload(one, facts, files) for one in here},
        nodes={node.name: Place(inventory.file) for node in inventory.nodes} if inventory else {},
    )


def _list_selectors(spec: DeviceClassSpec) -> Iterator[tuple[str, FieldPath]]:
    """Selectors of one bound each, in the order of the class's, with the field that each follows from."""
    yield f'device.driver == "{spec.driver}"', ("driver",)
    for name, values in sorted(spec.attributes.items()):
        yield attribute_selector(spec.driver, name, values), ("attributes", name)
    for name, versions in sorted(spec.versions.items()):
        for bound in ("min", "below"):
            if (limit := getattr(versions, bound)) is not None:
                text = version_range_selector(spec.driver, name, VersionRangeOfAttribute(**{bound: limit}))
                yield text, ("versions", name, bound)
    for name, amounts in sorted(spec.capacity.items()):
        for bound in ("min", "below"):
            if (limit := getattr(amounts, bound)) is not None:
                yield capacity_selector(spec.driver, name, CapacityRange(**{bound: limit})), ("capacity", name, bound)
    for at, selector in enumerate(spec.selectors):
        yield selector.cel.expression, ("selectors", at, "cel", "expression")


def _name(resolved: ResolvedPlacement) -> str:
    return f"{resolved.envelope.value.spec.namespace}/{resolved.placement.value.metadata.name}"


def _build_workload(resolved: ResolvedPlacement, facts: Facts, files: Mapping[str, bytes]) -> WorkloadSources:
    zone = resolved.placement.value.spec.zone
    return WorkloadSources(
        zone=zone,
        zone_place=None if zone is None else resolved.placement.place("spec", "zone"),
        counts=dict(_list_counts(resolved)),
        clauses=dict(_list_clauses(resolved, facts, files)),
        matches=dict(_list_matches(resolved)),
    )


def _list_counts(resolved: ResolvedPlacement) -> Iterator[tuple[str, tuple[int, Place]]]:
    envelope = resolved.envelope
    for request in plan_requests(envelope.value.spec):
        path: FieldPath = ("spec", "topology")
        if request.extra is not None:
            path = ("spec", "claim", "extraRequests", request.extra)
        place = envelope.place(*path)
        if place.field == render_field(path):  # else it isn't written, and the number is a default
            yield request.name, (request.count, place)


def _list_clauses(
    resolved: ResolvedPlacement, facts: Facts, files: Mapping[str, bytes]
) -> Iterator[tuple[tuple[str, str], Place]]:
    """Of the two selectors that the accelerators' requests have: the arithmetic that is asked for, and the memory."""
    envelope = resolved.envelope
    wanted = envelope.value.spec.compute_class
    accelerators = [one.name for one in plan_requests(envelope.value.spec) if one.extra is None]
    several = len(resolved.device_classes) > 1
    memory, drivers = _find_memory(resolved, facts, files), facts.memory_drivers
    for device_class in resolved.device_classes:
        found: list[tuple[str, Place]] = []
        native = None if wanted == "any" else facts.compute_class(device_class.driver, wanted)
        if native is not None:
            text = version_selector(device_class.driver, native.attribute, native.minimum)
            found.append((text, envelope.place("spec", "computeClass")))
        if memory is not None and device_class.driver in drivers:
            found.append((capacity_selector(device_class.driver, MEMORY, CapacityRange(min=memory[0])), memory[1]))
        for name in [device_class.name] if several else accelerators:
            for text, place in found:
                for clause in split_clauses(text):
                    yield (name, clause), place


def _find_memory(
    resolved: ResolvedPlacement, facts: Facts, files: Mapping[str, bytes]
) -> tuple[QuantityText, Place] | None:
    """What the claim asks for of each device's memory, and the line that it follows from; None: it has no price.

    What was measured, or the load; where that may be doubled and nothing changes, what is left beside the engine.
    """
    envelope = resolved.envelope
    spec, version = envelope.value.spec, resolved.image.version
    if not files.keys() >= set(list_named_files(envelope.value)):
        return None
    found = bound_envelope(spec, files, facts, version=version)
    if found is None or spec.model.measured_profile is not None:
        return None if found is None else (found, envelope.place("spec", "model", "measuredProfile"))
    load = spec.load
    if load.kv_budget is not None:
        more = replace(load, kv_budget=QuantityText(f"{2 * load.kv_budget.quantity.bytes}"))
    else:
        more = replace(load, concurrency=2 * (load.concurrency or 1))
    follows = bound_envelope(replace(spec, load=more), files, facts, version=version) != found
    field = "concurrency" if load.kv_budget is None else "kvBudget"
    return found, envelope.place("spec", "load", field) if follows else envelope.place("spec", "engine")


def _list_matches(resolved: ResolvedPlacement) -> Iterator[tuple[str, Place]]:
    """The first that asks for an attribute; constraints stand before pairs in the claim, so here they come last."""
    envelope, claim = resolved.envelope, resolved.envelope.value.spec.claim
    for at, request in reversed(list(enumerate(claim.extra_requests))):
        if request.match_attribute is not None:
            yield request.match_attribute, envelope.place("spec", "claim", "extraRequests", at, "matchAttribute")
    for at, constraint in reversed(list(enumerate(claim.constraints))):
        yield constraint.match_attribute, envelope.place("spec", "claim", "constraints", at, "matchAttribute")
