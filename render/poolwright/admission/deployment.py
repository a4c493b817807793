"""How a model is to be served on a device: what its price follows from."""

from __future__ import annotations

from typing import Literal

import msgspec

from poolwright.admission.adapters import Slots
from poolwright.admission.architecture import Architecture, Quantization
from poolwright.admission.formats import CacheFormat

PricedEngine = Literal["vllm", "sglang"]


class DeviceMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory of one device."""

    name: str
    total_bytes: int  # what the CUDA runtime reports
    is_partition: bool = False  # hardware shares it out: no two of its kind reach each other
    is_shared: bool = False  # several pods may have it at once

    @classmethod
    def of_published(
        cls, name: str, capacity_bytes: int, *, is_partition: bool = False, is_shared: bool = False
    ) -> DeviceMemory:
        """From what a driver publishes, which is 0.4 to 2.0 % more than the runtime has: 2 % are taken off.

        Source: NVML and CUDA totals of H100, B200, A100, L4 and RTX cards in public logs.
        """
        total = capacity_bytes * 98 // 100
        return cls(name=name, total_bytes=total, is_partition=is_partition, is_shared=is_shared)


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """What one replica carries, all of it at the same time."""

    context_tokens: int  # longest request, prompt and answer together
    concurrency: int | None  # requests; None: nobody says
    shared_prefix_tokens: int = 0  # that all requests begin with
    kv_budget_bytes: int | None = None  # of one device; None: what is needed


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine printed when it ran: it replaces what formulas say, where it ran as it is to run."""

    source: str
    weights_bytes: int
    kv_budget_bytes: int
    device_bytes: int  # what the CUDA runtime had of the device
    memory_percent: int
    tensor_parallel: int = 1
    pipeline_parallel: int = 1


class Deployment(msgspec.Struct, frozen=True, kw_only=True):
    """A model on an engine."""

    architecture: Architecture
    quantization: Quantization | None
    engine: PricedEngine
    version: str
    cache: CacheFormat
    load: Load
    max_sequences: int
    batch_tokens: int
    memory_percent: int
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    data_parallel: int = 1
    adapters: Slots | None = None
    weights_bytes: int | None = None  # of the whole checkpoint, where it is known
    beside_bytes: int = 0  # of the same device, for containers beside the engine
    profile: Profile | None = None
