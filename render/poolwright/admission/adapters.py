"""LoRA adapters: slots are reserved at the start, each at the largest rank, before any adapter is loaded."""

from __future__ import annotations

from typing import Final

import msgspec

from poolwright.admission.architecture import Architecture, Layer
from poolwright.admission.matrices import Matrix, list_matrices, rank_shape
from poolwright.admission.weights import split_layers

# Source: vLLM 0.33, config/lora.py, the values that max_lora_rank may have.
RANKS: Final = (1, 8, 16, 32, 64, 128, 256, 320, 512)
ELEMENT_BYTES: Final = 2


class Slots(msgspec.Struct, frozen=True, kw_only=True):
    """Adapters that are resident at once."""

    count: int
    rank: int  # the largest

    @property
    def padded_rank(self) -> int | None:
        """What each slot is charged at; None: the engine has none so large."""
        return next((one for one in RANKS if one >= self.rank), None)


def count_adapters(architecture: Architecture, slots: Slots, *, tensor_parallel: int, stages: int, stage: int) -> int:
    """Bytes of one rank of a stage. Zero where the rank is larger than any slot: the engine refuses that at its start.

    Source: vLLM 0.33, lora/layers: of a layer whose outputs are split A is whole and B split; of one whose inputs are
    split, A is. Experts have one pair for each.
    """
    rank = slots.padded_rank
    counts = split_layers(len(architecture.layers), stages)
    first = sum(counts[:stage])
    known: dict[Layer, int] = {}
    total = 0
    for layer in architecture.layers[first : first + counts[stage]]:
        if layer not in known:
            known[layer] = sum(_count(one, tensor_parallel) for one in list_matrices(architecture, layer))
        total += known[layer]
    return total * slots.count * (rank or 0) * ELEMENT_BYTES


def _count(one: Matrix, tensor_parallel: int) -> int:
    """The elements of A and B for each rank of the adapter."""
    if not one.is_linear:
        return 0
    inputs, outputs = rank_shape(one, tensor_parallel)
    return one.count * (inputs + outputs)
