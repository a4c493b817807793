"""Slots of adapters: all at the largest rank, on every rank of the engine."""

from __future__ import annotations

import pytest
from engine_logs import GIB, read_model

from poolwright.admission.adapters import Slots, count_adapters
from poolwright.admission.architecture import Architecture, Experts, Layer, LinearAttention


def count(made: Architecture, slots: Slots, *, tensor: int = 1, stages: int = 1, stage: int = 0) -> int:
    return count_adapters(made, slots, tensor_parallel=tensor, stages=stages, stage=stage)


# All linear layers in 16 bits: GiB of each GPU.
SIZES = {
    "8b-one-slot": ("meta-llama/Llama-3.1-8B", 1, 16, 1, 0.078),
    "8b-eight-slots": ("meta-llama/Llama-3.1-8B", 1, 16, 8, 0.625),
    "8b-a-larger-rank": ("meta-llama/Llama-3.1-8B", 1, 64, 4, 1.25),
    "8b-four-gpus-dont-have-a-quarter": ("meta-llama/Llama-3.1-8B", 4, 64, 4, 0.64),
    "70b": ("meta-llama/Llama-3.1-70B", 4, 16, 4, 0.80),
    "70b-a-larger-rank": ("meta-llama/Llama-3.1-70B", 4, 64, 8, 6.37),
}


@pytest.mark.parametrize(("name", "tensor", "rank", "slots", "gib"), SIZES.values(), ids=SIZES)
def test_sizes_of_slots(name: str, tensor: int, rank: int, slots: int, gib: float) -> None:
    found = count(read_model(name), Slots(count=slots, rank=rank), tensor=tensor)
    assert found / GIB == pytest.approx(gib, abs=0.005)


def test_pairs_are_split_as_their_layer_is() -> None:
    """Of a split output A is whole and B split; of a split input A is split and B whole."""
    h, kv, mlp = 4096, 1024, 14336

    def pair(tensor: int) -> int:
        outputs = (h + h // tensor) + 2 * (h + kv // tensor) + 2 * (h + mlp // tensor)
        inputs = (h // tensor + h) + (mlp // tensor + h)
        return 32 * (outputs + inputs) * 16 * 2

    for tensor in (1, 2, 8):
        assert count(read_model("meta-llama/Llama-3.1-8B"), Slots(count=3, rank=16), tensor=tensor) == 3 * pair(tensor)


@pytest.mark.parametrize(
    ("rank", "padded"),
    [(1, 1), (2, 8), (8, 8), (9, 16), (20, 32), (64, 64), (65, 128), (300, 320), (321, 512), (512, 512), (513, None)],
)
def test_a_rank_is_charged_at_the_next_that_the_engine_has(rank: int, padded: int | None) -> None:
    assert Slots(count=1, rank=rank).padded_rank == padded
    made = read_model("meta-llama/Llama-3.1-8B")
    assert count(made, Slots(count=1, rank=rank)) == count(made, Slots(count=1, rank=1)) * (padded or 0)


def test_every_expert_has_a_pair() -> None:
    made = read_model("Qwen/Qwen3-30B-A3B")
    experts = next(layer.mlp for layer in made.layers)
    assert isinstance(experts, Experts)
    hidden, width = 2048, 768
    attention = (2048 + 4096) + 2 * (2048 + 512) + (4096 + 2048)
    of_experts = 128 * ((hidden + 2 * width) + (width + hidden))  # up and gate are one matrix
    assert count(made, Slots(count=1, rank=8)) == 48 * (attention + of_experts) * 8 * 2


def test_stages_have_the_slots_of_their_layers() -> None:
    made = read_model("meta-llama/Llama-3.1-8B")
    stages = [count(made, Slots(count=4, rank=16), stages=3, stage=stage) for stage in range(3)]
    assert sum(stages) == count(made, Slots(count=4, rank=16))
    assert stages[0] * 10 == stages[1] * 10 == stages[2] * 11  # of 11, 11 and 10 layers


def test_what_isnt_a_linear_layer_has_none() -> None:
    state = LinearAttention(key_heads=16, value_heads=32, key_size=128, value_size=128, kernel=4)
    made = Architecture(
        name="Qwen3NextForCausalLM",
        hidden=2048,
        vocabulary=64,
        max_positions=1,
        is_tied=True,
        layers=(Layer(mixer=state, mlp=None),),
        dtype="bfloat16",
    )
    keys, values = 16 * 128, 32 * 128
    pairs = (2048 + 2 * keys + values) + (2048 + values) + (values + 2048)  # no convolution, no gates
    assert count(made, Slots(count=1, rank=1)) == pairs * 2
