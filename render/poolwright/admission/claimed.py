"""What a unit's claim asks of its devices' memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar, cast

import msgspec

from poolwright.admission.architecture import Unsupported
from poolwright.admission.bound import bound_memory
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.model_files import check_model_files, parse_deployment
from poolwright.admission.price import GIB, Constants, choose_constants, price
from poolwright.catalog.closure import Closure, UnitClosure
from poolwright.catalog.device_class import MEMORY
from poolwright.catalog.facts import Facts
from poolwright.specs.envelope import EnvelopeSpec
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.lock import BoundChoice, Lock
from poolwright.specs.model import QuantityText
from poolwright.specs.parse import Specs
from poolwright.specs.place import Place
from poolwright.specs.quantity import parse_quantity

_ANY: Final = DeviceMemory(name="any", total_bytes=80 * GIB)
C = TypeVar("C", bound=Closure)


def bound_claim(closure: C, files: Mapping[str, bytes], facts: Facts, lock: Lock | None = None) -> C:
    """The closure; a unit's claim asks for as much memory as its envelope costs on each device, and it is `is_priced`.

    files: those that the envelope names, by path. One that can't be read bounds nothing: check_model_files says so.
    lock:  keeps the bound that was priced before while the price is within it, so that a better figure for an engine
           renames no claim; one below the price would give an engine a device that it can't start on.
    A class whose driver publishes no memory, and an envelope without a price, have no bound.
    """
    if not isinstance(closure, UnitClosure):
        return closure
    try:
        built = _build(closure.envelope.spec, files, facts, version=closure.image.version)
    except ValueError:
        return closure
    return cast("C", _set_price(closure, built, facts, lock))


def admit_claim(
    specs: Specs, closure: UnitClosure, files: Mapping[str, bytes], facts: Facts, lock: Lock | None = None
) -> UnitClosure:
    """`bound_claim` of a unit whose engine can start.

    specs:  among them the unit's placement, pool and envelope.
    Raises: SpecError if one of the files can't be read, or there is a class on which the engine can't start, whichever
            of its devices it gets. A class that doesn't say what its devices' memory is below isn't judged: what
            devices there are isn't known here. `check` knows, and says more.
    """
    try:
        built = _build(closure.envelope.spec, files, facts, version=closure.image.version)
    except ValueError:
        named = f"{closure.envelope.name}@{closure.envelope.version}"
        mine = [one for one in specs.envelopes if one.value.identity == named]
        raise SpecError(list(check_model_files(mine, files))) from None
    if built is not None and (refused := list(_check_start(specs, closure, *built))):
        raise SpecError(refused)
    return _set_price(closure, built, facts, lock)


def _set_price(
    closure: UnitClosure, built: tuple[Deployment, Constants] | None, facts: Facts, lock: Lock | None
) -> UnitClosure:
    if built is None:
        return closure
    bound, drivers = _find_bound(*built), facts.memory_drivers
    kept = find_kept(closure, lock)
    if bound is not None and kept is not None and parse_quantity(kept.bound) >= bound.quantity:
        bound = QuantityText(kept.bound)
    ways = tuple(
        msgspec.structs.replace(way, memory=bound) if way.device_class.driver in drivers else way
        for way in closure.alternatives
    )
    is_priced = bound is not None and all(
        way.device_class.driver in drivers and not way.is_shared for way in closure.alternatives
    )
    return msgspec.structs.replace(closure, alternatives=ways, is_priced=is_priced)


def find_kept(closure: UnitClosure, lock: Lock | None) -> BoundChoice | None:
    """What the lock keeps for a unit; None: nothing, or it was priced for another version of its envelope."""
    kept = lock.memory_bounds.get(f"{closure.on.cluster}/{closure.unit}") if lock else None
    return kept if kept and kept.envelope == f"{closure.envelope.name}@{closure.envelope.version}" else None


def _check_start(specs: Specs, closure: UnitClosure, deployment: Deployment, constants: Constants) -> Iterator[Finding]:
    pool, unit = closure.pool.name, closure.unit
    known = {
        one.name: one.capacity.get(MEMORY)
        for spec in specs.pools
        if spec.value.metadata.name == pool
        for one in spec.value.spec.device_classes
    }
    (placement,) = (
        one for one in specs.placements if (one.value.metadata.name, one.value.spec.pool_name) == (unit, pool)
    )
    for index, way in enumerate(closure.alternatives):
        bounds = known.get(way.device_class.name)
        if bounds is None or bounds.below is None:
            continue
        largest = DeviceMemory(name=way.device_class.name, total_bytes=bounds.below.quantity.bytes)
        needed = _find_excess(deployment, constants, largest)
        if needed is not None:
            yield _refuse(closure, placement.place("spec", "deviceClassNames", index), largest, needed)


def _find_excess(deployment: Deployment, constants: Constants, device: DeviceMemory) -> tuple[int, int] | None:
    """What one rank needs to start and what the engine may take of a device, if that is surely too little."""
    found = price(deployment, device, constants) if deployment.profile is None else None
    if found is None or isinstance(found, Unsupported):
        return None
    one = found.cache.count_bytes(deployment.load.context_tokens)
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
    """The memory that drivers must publish of each device of an envelope; None: it has no price.

    Raises: ValueError if a file can't be read.
    """
    built = _build(spec, files, facts, version=version)
    return None if built is None else _find_bound(*built)


def _find_bound(deployment: Deployment, constants: Constants) -> QuantityText | None:
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
    """None: it has no price. Raises: ValueError if a file can't be read."""
    constants = choose_constants(facts.engine_memory, spec.engine.type, version)
    deployment = parse_deployment(spec, files, version=version)
    return None if isinstance(deployment, Unsupported) or constants is None else (deployment, constants)
