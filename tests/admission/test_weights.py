"""The bytes of weights: against the parameters that publishers state, and how ranks and stages share them."""

from __future__ import annotations

import pytest
from engine_logs import read_model
from msgspec.structs import replace

from poolwright.admission.architecture import Architecture, Attention, Layer, Mlp, Quantization, WeightFormat
from poolwright.admission.formats import count_bytes
from poolwright.admission.weights import count_weights, split_layers


def count(
    made: Architecture, quantization: Quantization | None = None, *, tensor: int = 1, stages: int = 1, stage: int = 0
) -> int:
    return count_weights(made, quantization, tensor_parallel=tensor, stages=stages, stage=stage)


# Parameters of the checkpoint, as its publisher states them; what ours has more, or less where it is below zero.
PUBLISHED = {
    "meta-llama/Llama-2-7b-hf": (6_738_415_616, 0),
    "meta-llama/Llama-3.1-8B": (8_030_261_248, 0),
    "meta-llama/Llama-3.1-70B": (70_553_706_496, 0),
    "meta-llama/Llama-3.1-405B": (405_853_388_800, 0),
    "mistralai/Mixtral-8x7B-v0.1": (46_702_792_704, 0),
    "microsoft/phi-4": (14_659_507_200, 0),
    "Qwen/Qwen2.5-7B-Instruct": (7_615_616_512, 0),  # biases of queries, keys and values
    "Qwen/Qwen2.5-14B-Instruct": (14_770_033_664, 0),
    "Qwen/Qwen2.5-72B-Instruct": (72_706_203_648, 0),
    "google/gemma-7b": (8_537_680_896, 0),  # one matrix for embeddings and head
    # Norms of each head of queries and keys aren't counted, nor two of the four norms of a layer of Gemma 2.
    "Qwen/Qwen3-8B": (8_190_735_360, -36 * 2 * 128),
    "Qwen/Qwen3-14B": (14_768_307_200, -40 * 2 * 128),
    "Qwen/Qwen3-32B": (32_762_123_264, -64 * 2 * 128),
    "Qwen/Qwen3-30B-A3B": (30_532_122_624, -48 * 2 * 128),
    "Qwen/Qwen3-235B-A22B-FP8": (235_093_634_560, -94 * 2 * 128),
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": (480_154_875_392, -62 * 2 * 128),
    "google/gemma-2-9b-it": (9_241_705_984, -42 * 2 * 3584),
    # Sinks of each head, biases of the router and of the outputs of attention.
    "openai/gpt-oss-20b": (20_914_757_184, -24 * (64 + 32 + 2880)),
    "openai/gpt-oss-120b": (116_829_156_672, -36 * (64 + 128 + 2880)),
    # The vocabulary is padded to a multiple of 64: 32,016 to 32,064, twice; 49,155 to 49,216, once.
    "codellama/CodeLlama-7b-hf": (6_738_546_688, 2 * 48 * 4096),
    "ibm-granite/granite-3.1-8b-instruct": (8_170_848_256, 61 * 4096),
    # The engine keeps the absorbed halves of a projection again. Norms of the latent row aren't counted.
    "deepseek-ai/DeepSeek-V2-Lite-Chat": (15_706_484_224, 27 * (512 * 16 * (128 + 128) - 512)),
}


@pytest.mark.parametrize(
    ("name", "published", "more"), [(name, *row) for name, row in PUBLISHED.items()], ids=PUBLISHED
)
def test_parameters_are_those_of_the_checkpoint(name: str, published: int, more: int) -> None:
    assert count(replace(read_model(name), dtype="bfloat16", quantization=None)) == 2 * (published + more)


BYTES: dict[str, tuple[WeightFormat, int, int, int]] = {
    "bfloat16": ("bfloat16", 16384, 128, 32768),
    "float32": ("float32", 16384, 128, 65536),
    "fp8": ("fp8", 16384, 128, 16384),
    "fp8-in-blocks-has-a-scale-for-each": ("fp8Block128", 32768, 128, 32768 + 8),
    "int8": ("int8", 16384, 128, 16384),
    "int4-has-a-scale-for-each-group": ("int4", 16384, 128, 8192 + 256),
    "smaller-groups-more-scales": ("int4", 16384, 32, 8192 + 1024),
    "zero-points-of-half-a-byte": ("int4ZeroPoint", 16384, 128, 8192 + 256 + 64),
    "mxfp4": ("mxfp4", 16384, 32, 8192 + 512),
    "nvfp4": ("nvfp4", 16384, 16, 8192 + 1024),
    "rounded-up": ("mxfp4", 1, 32, 1),
}


@pytest.mark.parametrize(("form", "elements", "group", "expected"), BYTES.values(), ids=BYTES)
def test_bytes_of_formats(form: WeightFormat, elements: int, group: int, expected: int) -> None:
    assert count_bytes(form, elements, group) == expected


SMALL = Architecture(
    name="LlamaForCausalLM",
    hidden=1024,
    vocabulary=6400,
    max_positions=4096,
    is_tied=False,
    layers=(Layer(mixer=Attention(heads=8, kv_heads=2, key_size=128, value_size=128), mlp=Mlp(width=4096)),) * 4,
    dtype="bfloat16",
)
NORMS, EMBEDDING = 2 * 1024, 6400 * 1024
QUERIES, KEYS, OUTPUT, MLP = 1024 * 8 * 128, 1024 * 2 * 128, 8 * 128 * 1024, 3 * 1024 * 4096
ATTENTION = QUERIES + 2 * KEYS + OUTPUT


def test_ranks_share_matrices_and_keep_norms() -> None:
    whole = 4 * (NORMS + ATTENTION + MLP) + 2 * EMBEDDING + 1024
    assert count(SMALL) == 2 * whole
    half = 4 * (NORMS + (ATTENTION + MLP) // 2) + EMBEDDING + 1024
    assert count(SMALL, tensor=2) == 2 * half
    # Each of two heads of keys is on two ranks of four.
    quarter = 4 * (NORMS + (QUERIES + OUTPUT + MLP) // 4 + 2 * KEYS // 2) + 2 * EMBEDDING // 4 + 1024
    assert count(SMALL, tensor=4) == 2 * quarter


def test_stages_have_layers_and_the_ends_what_is_at_the_ends() -> None:
    layer = NORMS + ATTENTION + MLP
    stages = [count(SMALL, stages=3, stage=stage) for stage in range(3)]
    assert stages == [2 * (layer + EMBEDDING), 2 * 2 * layer, 2 * (layer + EMBEDDING + 1024)]
    assert sum(stages) == count(SMALL)
    tied = replace(SMALL, is_tied=True)
    assert count(SMALL) - count(tied) == 2 * EMBEDDING
    # Tied or not, the first and the last stage each have it.
    assert [count(tied, stages=3, stage=stage) for stage in range(3)] == stages


def test_a_vision_tower_is_whole_on_each_rank_of_the_first_stage() -> None:
    seeing = replace(SMALL, vision_parameters=1000)
    assert count(seeing, tensor=4) - count(SMALL, tensor=4) == 2000
    assert count(seeing, stages=2, stage=1) == count(SMALL, stages=2, stage=1)


def test_scales_of_rows_go_with_the_rows() -> None:
    rows = 8 * 128 + 2 * 2 * 128 + 1024 + 4096 + 4096 + 1024
    plain = 4 * NORMS + 2 * EMBEDDING + 1024  # never quantised
    assert count(SMALL, Quantization(format="fp8")) == 2 * plain + 4 * (ATTENTION + MLP + 4 * rows)


def test_experts_of_mxfp4_are_padded_and_alone() -> None:
    """2,880 to 3,072 on both sides, on one rank and on two: on two, 1,440 to 1,536."""
    made = read_model("openai/gpt-oss-20b")
    kept = made.quantization
    assert kept is not None
    experts = 24 * 32 * (2880 * 2 * 2880 + 2880 * 2880)
    padded = 24 * 32 * (3072 * 5888 + 3072 * 3072)  # up and gate are one matrix of 5,760 outputs, padded to 5,888
    saved = 2 * experts - padded * 17 // 32
    assert count(replace(made, quantization=None)) - count(made, kept) == saved


def test_a_partly_quantised_checkpoint() -> None:
    """Meta's 405B in fp8: attention, and the first and last layer whole, in 16 bits. 57.75 GiB a GPU, not 47.3."""
    made = read_model("meta-llama/Llama-3.1-405B")
    names = ("model.layers.*.self_attn", "model.layers.0", "model.layers.125")
    partly = count(made, Quantization(format="fp8", excluded=names), tensor=8)
    wholly = count(made, Quantization(format="fp8"), tensor=8)
    attention = 16384 * 128 * (128 + 2 * 8) + 16384 * 128 * 128
    rows = 128 * (128 + 2 * 8) // 8 + 16384
    mlp, mlp_rows = 3 * 16384 * 53248, 2 * 53248 // 8 + 16384
    assert partly - wholly == 126 * (attention // 8 - 4 * rows) + 2 * (mlp // 8 - 4 * mlp_rows)
    assert (round(partly / 2**30, 1), round(wholly / 2**30, 1)) == (56.7, 47.8)


# As vLLM's get_pp_indices shares them: what is left over goes to the stages before the last.
SPLITS = {
    "evenly": (80, 4, (20, 20, 20, 20)),
    "one-more-before-the-last": (81, 4, (20, 20, 21, 20)),
    "two-more": (126, 4, (31, 32, 32, 31)),
    "all-but-the-last": (7, 4, (2, 2, 2, 1)),
    "two-stages": (61, 2, (31, 30)),
    "one-stage": (32, 1, (32,)),
}


@pytest.mark.parametrize(("layers", "stages", "expected"), SPLITS.values(), ids=SPLITS)
def test_layers_of_pipeline_stages(layers: int, stages: int, expected: tuple[int, ...]) -> None:
    assert split_layers(layers, stages) == expected
