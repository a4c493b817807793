"""Rows about accelerators, as their driver publishes them."""

from __future__ import annotations

import msgspec

from poolwright.catalog.facts import Fact


class HardwareFact(Fact, frozen=True, kw_only=True):
    """A model. The row is verified if every field with a flag of its own is."""

    model: str
    product_name: str
    product_name_verified: bool
    architecture: str
    architecture_verified: bool
    cuda_compute_capability: str  # semantic version
    cuda_compute_capability_verified: bool
    pci_device_ids: tuple[str, ...]
    memory_mi: int | None  # what the whole device publishes
    memory: str | None  # the same as a canonical quantity
    memory_basis: str  # where it was seen
    memory_verified: bool
    multiprocessors: int | None
    multiprocessors_verified: bool
    mig_memory_slices: int | None  # None: it can't be partitioned
    mig_compute_slices: int | None
    profiles_of: str | None = None  # the model whose profiles it shares
    cuda_total_mi: int | None = None  # what the CUDA runtime has of the whole device, less than is published
    cuda_total_basis: str | None = None  # where it was seen


class Placement(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where an instance may lie."""

    start: int  # memory slice
    size: int  # memory slices

    def __str__(self) -> str:
        return f"{self.start}:{self.size}"


class Engines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Engines of an instance."""

    copy: int
    decoders: int
    encoders: int
    jpeg: int
    ofa: int

    def __str__(self) -> str:
        return f"copy {self.copy}, dec {self.decoders}, enc {self.encoders}, jpeg {self.jpeg}, ofa {self.ofa}"


class MigProfileFact(Fact, frozen=True, kw_only=True):
    """A partition of a model."""

    model: str
    name: str
    gi_profile_id: int
    gi_profile_id_verified: bool
    memory_mi: int | None
    memory: str | None  # canonical quantity
    multiprocessors: int | None
    max_instances: int
    placements: tuple[Placement, ...]
    placements_verified: bool
    engines: Engines | None
    engines_verified: bool
