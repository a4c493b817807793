"""Devices of the hardware facts, by name: a whole one, or a partition of one."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Final

from poolwright.admission.deployment import DeviceMemory
from poolwright.catalog.facts import Facts
from poolwright.catalog.tables.hardware import HardwareFact, MigProfileFact
from poolwright.specs.envelope import EnvelopeSpec
from poolwright.specs.version import parse_version

MIB: Final = 1 << 20
_DRIVER: Final = "gpu.nvidia.com"  # of all devices in the hardware facts


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownDevice:
    """A device, and where its memory is known from."""

    memory: DeviceMemory
    source: str
    compute_capability: str  # semantic version

    @property
    def name(self) -> str:
        """`l4`, or `h100-sxm5-80gb/1g.10gb`."""
        return self.memory.name


def list_devices(facts: Facts) -> tuple[tuple[KnownDevice, ...], tuple[str, ...]]:
    """Whole devices whose memory is known, in the facts' order, and the names of those whose memory isn't."""
    known = tuple(_build_whole(fact) for fact in facts.hardware if fact.memory_mi is not None)
    return known, tuple(fact.model for fact in facts.hardware if fact.memory_mi is None)


def find_device(facts: Facts, name: str) -> KnownDevice:
    """A device by its name: a model of the facts, or MODEL/PROFILE.

    Raises: ValueError with what isn't known and what is, in one sentence.
    """
    model, separator, profile = name.partition("/")
    fact = facts.hardware_model(model)
    if fact is None:
        raise ValueError(f"there is no such device{_suggest(model, [one.model for one in facts.hardware])}")
    if not separator:
        if fact.memory_mi is None:
            raise ValueError("its memory isn't known")
        return _build_whole(fact)
    profiles = facts.model_profiles(model)
    found = next((one for one in profiles if one.name == profile), None)
    if found is None:
        known = [f"{model}/{one.name}" for one in profiles]
        raise ValueError(f"{model} has no such partition{_suggest(name, known) if known else ': it has none'}")
    return _build_partition(name, found, fact)


def list_partitions(facts: Facts, model: str) -> dict[str, KnownDevice | None]:
    """The partitions of a model by profile, in the facts' order; None: the memory of one isn't known."""
    fact = facts.hardware_model(model)
    if fact is None:
        return {}
    return {
        one.name: None if one.memory_mi is None else _build_partition(f"{model}/{one.name}", one, fact)
        for one in facts.model_profiles(model)
    }


def check_claimed(facts: Facts, spec: EnvelopeSpec, device: KnownDevice) -> str:
    """Why an envelope's claim doesn't take a device, whatever its memory; empty: it does."""
    if device.memory.is_partition and spec.isolation == "exclusive":
        return "its isolation is exclusive, and this is a partition"
    wanted = facts.compute_class(_DRIVER, spec.compute_class)
    if wanted is not None and parse_version(device.compute_capability) < parse_version(wanted.minimum):
        return f"it has no native {spec.compute_class} arithmetic, which computeClass asks for"
    return ""


def _build_whole(fact: HardwareFact) -> KnownDevice:
    if fact.cuda_total_mi is not None:
        memory = DeviceMemory(name=fact.model, total_bytes=fact.cuda_total_mi * MIB)
        return _build(memory, f"what the CUDA runtime has: {fact.cuda_total_basis}", fact)
    published = fact.memory_mi or 0
    memory = DeviceMemory.of_published(fact.model, published * MIB)
    return _build(memory, f"{published}Mi as published, less 2 %", fact)


def _build_partition(name: str, profile: MigProfileFact, fact: HardwareFact) -> KnownDevice:
    if profile.memory_mi is None:
        raise ValueError("its memory isn't known")
    memory = DeviceMemory.of_published(name, profile.memory_mi * MIB, is_partition=True)
    return _build(memory, f"{profile.memory_mi}Mi as published, less 2 %", fact)


def _build(memory: DeviceMemory, source: str, fact: HardwareFact) -> KnownDevice:
    return KnownDevice(memory=memory, source=source, compute_capability=fact.cuda_compute_capability)


def _suggest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, 1, 0.6)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"{hint}; known: {', '.join(known)}"
