"""What a unit's claim asks of its devices' memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar

import msgspec

from poolwright.admission.architecture import Unsupported
from poolwright.admission.bound import bound_memory
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.from_envelope import build_deployment, parse_profile
from poolwright.admission.parse_config import parse_config
from poolwright.admission.price import GIB, Constants, choose_constants, price
from poolwright.catalog.closure import Closure, UnitClosure
from poolwright.catalog.facts import Facts
from poolwright.specs.envelope import EnvelopeSpec
from poolwright.specs.finding import Finding
from poolwright.specs.model import QuantityText
from poolwright.specs.parse import Specs
from poolwright.specs.place import Place

MEMORY: Final = "memory"  # the capacity that drivers publish
_ANY: Final = DeviceMemory(name="any", total_bytes=80 * GIB)


C = TypeVar("C", bound=Closure)


def bound_claim(closure: C, files: Mapping[str, bytes], facts: Facts) -> C:
    """The closure; a unit's claim asks for as much memory as its envelope costs on each device.

    files: those that the envelope names, by path. One that can't be read bounds nothing here: `check` says so.
    A class whose driver publishes no memory, and an envelope without a price, have no bound.
    """
    if not isinstance(closure, UnitClosure):
        return closure
    drivers = list_memory_drivers(facts)
    if not any(way.device_class.driver in drivers for way in closure.alternatives):
        return closure
    bound = bound_envelope(closure.envelope.spec, files, facts, version=closure.image.version)
    if bound is None:
        return closure
    ways = (
        msgspec.structs.replace(way, memory=bound) if way.device_class.driver in drivers else way
        for way in closure.alternatives
    )
    return msgspec.structs.replace(closure, alternatives=tuple(ways))


def list_memory_drivers(facts: Facts) -> frozenset[str]:
    """Drivers that publish the memory of their devices."""
    return frozenset(fact.driver for fact in facts.device_capacities if fact.name == MEMORY)


def check_start(specs: Specs, closure: UnitClosure, files: Mapping[str, bytes], facts: Facts) -> Iterator[Finding]:
    """Classes on which a unit's engine can't start, whichever of their devices it gets.

    specs: among them the unit's placement and pool. A class that doesn't say what its devices' memory is below isn't
    judged: what devices there are isn't known here. `check` knows, and says more.
    """
    known = {one.name: one for pool in specs.pools for one in pool.value.spec.device_classes}
    placements = [one for one in specs.placements if one.value.metadata.name == closure.unit]
    for index, way in enumerate(closure.alternatives):
        bounds = known[way.device_class.name].capacity.get(MEMORY) if way.device_class.name in known else None
        if bounds is None or bounds.below is None or not placements:
            continue
        largest = DeviceMemory(name=way.device_class.name, total_bytes=bounds.below.quantity.bytes)
        needed = _find_excess(closure, files, facts, largest)
        if needed is not None:
            yield _refuse(closure, placements[0].place("spec", "deviceClassNames", index), largest, needed)


def _find_excess(
    closure: UnitClosure, files: Mapping[str, bytes], facts: Facts, device: DeviceMemory
) -> tuple[int, int] | None:
    """What one rank needs to start and what the engine may take of a device, if that is surely too little."""
    built = _build(closure.envelope.spec, files, facts, version=closure.image.version)
    found = price(built[0], device, built[1]) if built is not None and built[0].profile is None else None
    if built is None or found is None or isinstance(found, Unsupported):
        return None
    one = found.cache.count_bytes(built[0].load.context_tokens)
    if one - found.kv_budget_bytes <= found.band_bytes:
        return None
    # Of amounts that weren't fitted on this version, weights alone are sure.
    needed = one + (found.weights_bytes if found.is_extrapolated else sum(line.bytes for line in found.lines))
    return (needed, found.requested_bytes) if needed > found.requested_bytes else None


def _refuse(closure: UnitClosure, place: Place, device: DeviceMemory, amounts: tuple[int, int]) -> Finding:
    needed, there = (f"{amount / GIB:.2f} GiB" for amount in amounts)
    envelope = f"{closure.envelope.name}@{closure.envelope.version}"
    return Finding(
        code="price-refused",
        severity="error",
        place=place,
        what=f"envelope {envelope} won't start on class {device.name}: one request needs {needed} per device with what "
        f"the engine takes before it, and of the largest device of the class it may take {there}",
        why="what can't start would restart for as long as it holds its devices",
        rule="poolwright.dev/v1alpha1",
        fix="see what would fit: poolwright check, or poolwright price",
    )


def bound_envelope(
    spec: EnvelopeSpec, files: Mapping[str, bytes], facts: Facts, *, version: str
) -> QuantityText | None:
    """The memory that drivers must publish of each device of an envelope; None: it has no price."""
    built = _build(spec, files, facts, version=version)
    if built is None:
        return None
    deployment, constants = built
    profile = deployment.profile
    device = _ANY if profile is None else DeviceMemory(name="measured", total_bytes=profile.device_bytes)
    found = price(deployment, device, constants)
    mib = None if isinstance(found, Unsupported) else bound_memory(deployment, found)
    if mib is None:
        return None
    return QuantityText(f"{mib >> 10}Gi" if mib % 1024 == 0 else f"{mib}Mi")


def _build(
    spec: EnvelopeSpec, files: Mapping[str, bytes], facts: Facts, *, version: str
) -> tuple[Deployment, Constants] | None:
    measured = spec.model.measured_profile
    try:
        architecture = parse_config(files[spec.model.config_path])
        profile = None if measured is None else parse_profile(files[measured], measured)
    except ValueError:
        return None
    constants = choose_constants(facts.engine_memory, spec.engine.type, version)
    if isinstance(architecture, Unsupported) or constants is None:
        return None
    deployment = build_deployment(spec, architecture, version=version, profile=profile)
    return None if isinstance(deployment, Unsupported) else (deployment, constants)
