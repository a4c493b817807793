"""What a unit's claim asks of its devices' memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from poolwright.admission.architecture import Unsupported
from poolwright.admission.bound import bound_memory
from poolwright.admission.deployment import DeviceMemory
from poolwright.admission.from_envelope import build_deployment, parse_profile
from poolwright.admission.parse_config import parse_config
from poolwright.admission.price import GIB, choose_constants, price
from poolwright.catalog.closure import Closure, UnitClosure
from poolwright.catalog.facts import Facts
from poolwright.specs.envelope import EnvelopeSpec
from poolwright.specs.model import QuantityText

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


def bound_envelope(
    spec: EnvelopeSpec, files: Mapping[str, bytes], facts: Facts, *, version: str
) -> QuantityText | None:
    """The memory that drivers must publish of each device of an envelope; None: it has no price."""
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
    if isinstance(deployment, Unsupported):
        return None
    device = _ANY if profile is None else DeviceMemory(name="measured", total_bytes=profile.device_bytes)
    found = price(deployment, device, constants)
    mib = None if isinstance(found, Unsupported) else bound_memory(deployment, found)
    if mib is None:
        return None
    return QuantityText(f"{mib >> 10}Gi" if mib % 1024 == 0 else f"{mib}Mi")
