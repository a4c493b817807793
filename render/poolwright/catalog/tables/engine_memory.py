"""Rows about the memory that an engine takes beside weights and KV cache."""

from __future__ import annotations

import msgspec

from poolwright.catalog.facts import Fact


class ByParallel(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """An amount from a tensor parallel size on."""

    tensor_parallel: int
    mi: int


class EngineMemoryFact(Fact, frozen=True, kw_only=True):
    """What an engine takes of a device, from a version on until the next row. Amounts of one rank, in MiB."""

    engine: str
    version: str  # the first that it is taken for
    fitted_until: str | None  # the last minor release whose logs it was fitted on; None: it was fitted on none
    fitted_on: str  # devices and number of logs
    activation_milli_bytes_per_logit: int  # thousandths; of each sequence of the batch and entry of the vocabulary
    activation_base_mi: int
    activation_floor_mi: int
    activation_experts_mi: int  # added for experts that aren't in mxfp4, or latent attention
    activation_vision_mi: int  # added for a vision tower
    activation_linear_mi: int  # added for linear attention, for each 1024 tokens of the batch
    runtime_mi: tuple[ByParallel, ...]  # of the budget: communication, and what else isn't the framework's
    runtime_stage_mi: int  # the same with pipeline stages of one device
    context_mi: tuple[ByParallel, ...]  # outside the budget: CUDA context and communication
    fragments_mi: tuple[ByParallel, ...]  # outside the budget: what the allocator holds and can't use
    graphs_mi: int  # CUDA graphs, mean
    graphs_high_mi: int
    graphs_in_budget: bool
    # False: its share is for weights and cache alone, of what is free once the context is made.
    activation_in_budget: bool
    concurrent_batches: int  # steps in flight

    @staticmethod
    def at(table: tuple[ByParallel, ...], tensor_parallel: int) -> int:
        """The amount for a tensor parallel size."""
        return next((one.mi for one in reversed(table) if one.tensor_parallel <= tensor_parallel), 0)
