"""A model's config.json: what is read, what isn't covered, and files that aren't one."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from poolwright.admission.architecture import (
    Architecture,
    Attention,
    Experts,
    LatentAttention,
    Layer,
    LinearAttention,
    Mamba,
    Mlp,
    Quantization,
    Unsupported,
)
from poolwright.admission.parse_config import parse_config
from poolwright.admission.parse_quantization import MAX_EXCLUDED

# Fields of real configs, with fewer layers.
DENSE: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_hidden_layers": 4,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
GQA = Attention(heads=32, kv_heads=8, key_size=128, value_size=128)
SWIGLU = Mlp(width=14336)


def vary(**fields: Any) -> dict[str, Any]:
    """The dense config with other fields; `...` leaves one out."""
    return {name: value for name, value in {**DENSE, **fields}.items() if value is not ...}


def parse(config: dict[str, Any]) -> Architecture | Unsupported:
    return parse_config(json.dumps(config).encode())


def read(config: dict[str, Any]) -> Architecture:
    found = parse(config)
    assert isinstance(found, Architecture), found
    return found


def test_a_dense_model() -> None:
    assert read(DENSE) == Architecture(
        name="LlamaForCausalLM",
        hidden=4096,
        vocabulary=128256,
        max_positions=131072,
        is_tied=False,
        layers=(Layer(mixer=GQA, mlp=SWIGLU),) * 4,
        dtype="bfloat16",
    )


def attend(**fields: Any) -> Attention:
    return Attention(**{"heads": 32, "kv_heads": 8, "key_size": 128, "value_size": 128, **fields})


QWEN3_MOE = {"architectures": ["Qwen3MoeForCausalLM"], "num_experts": 128, "moe_intermediate_size": 768}
DEEPSEEK = {
    "architectures": ["DeepseekV3ForCausalLM"],
    "num_attention_heads": 128,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "n_routed_experts": 256,
    "n_shared_experts": 1,
    "moe_intermediate_size": 2048,
    "first_k_dense_replace": 3,
    "intermediate_size": 18432,
}
DELTA = {
    "architectures": ["Qwen3_5ForConditionalGeneration"],
    "head_dim": 256,
    "full_attention_interval": 4,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 48,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
}
NEMOTRON = {
    "architectures": ["NemotronHForCausalLM"],
    "hybrid_override_pattern": "M*-E",
    "mamba_num_heads": 64,
    "mamba_head_dim": 64,
    "ssm_state_size": 128,
    "n_groups": 8,
    "conv_kernel": 4,
    "n_routed_experts": 128,
    "moe_intermediate_size": 1856,
    "moe_shared_expert_intermediate_size": 3712,
    "time_step_limit": [0.0, float("inf")],  # as transformers writes it: `Infinity`
}
MLA = LatentAttention(heads=128, query_rank=1536, kv_rank=512, nope_size=128, rope_size=64, value_size=128)
V3 = Experts(count=256, width=2048, shared_width=2048)
STATE = LinearAttention(key_heads=16, value_heads=48, key_size=128, value_size=128, kernel=4)
GATED = Attention(heads=32, kv_heads=8, key_size=256, value_size=256, has_gate=True)

LAYERS: dict[str, tuple[dict[str, Any], tuple[Layer, ...]]] = {
    "as-many-heads-of-keys-where-none-are-said": (
        vary(num_key_value_heads=...),
        (Layer(mixer=attend(kv_heads=32), mlp=SWIGLU),) * 4,
    ),
    "heads-of-another-size": (
        vary(head_dim=64),
        (Layer(mixer=attend(key_size=64, value_size=64), mlp=SWIGLU),) * 4,
    ),
    "biases-that-a-class-has": (
        vary(architectures=["Qwen2ForCausalLM"]),
        (Layer(mixer=attend(has_bias=True), mlp=SWIGLU),) * 4,
    ),
    "a-text-model-within": (
        {
            "architectures": ["Mistral3ForConditionalGeneration"],
            "text_config": vary(architectures=...),
            "vision_config": {"hidden_size": 8, "num_hidden_layers": 1, "intermediate_size": 16},
        },
        (Layer(mixer=GQA, mlp=SWIGLU),) * 4,
    ),
    "windows-by-layer": (
        vary(
            layer_types=["sliding_attention", "full_attention"] * 2,
            sliding_window=128,
            architectures=["GptOssForCausalLM"],
        ),
        (Layer(mixer=attend(window=128), mlp=SWIGLU), Layer(mixer=GQA, mlp=SWIGLU)) * 2,
    ),
    "windows-by-a-pattern": (
        vary(sliding_window_pattern=2, sliding_window=512, architectures=["Gemma3ForCausalLM"]),
        (Layer(mixer=attend(window=512), mlp=SWIGLU), Layer(mixer=GQA, mlp=SWIGLU)) * 2,
    ),
    "windows-of-a-class-that-alternates": (
        vary(model_type="gemma2", sliding_window=4096, architectures=["Gemma2ForCausalLM"]),
        (Layer(mixer=attend(window=4096), mlp=SWIGLU), Layer(mixer=GQA, mlp=SWIGLU)) * 2,
    ),
    "a-window-for-all": (
        vary(sliding_window=4096, architectures=["MistralForCausalLM"]),
        (Layer(mixer=attend(window=4096), mlp=SWIGLU),) * 4,
    ),
    "a-window-that-isnt-used": (
        vary(sliding_window=4096, use_sliding_window=False),
        (Layer(mixer=GQA, mlp=SWIGLU),) * 4,
    ),
    # Classes of Qwen leave it unused unless they say otherwise.
    "nor-if-its-class-doesnt-say": (
        vary(sliding_window=4096, model_type="qwen3", architectures=["Qwen3ForCausalLM"]),
        (Layer(mixer=GQA, mlp=SWIGLU),) * 4,
    ),
    "a-window-from-a-layer-on": (
        vary(
            sliding_window=4096,
            use_sliding_window=True,
            max_window_layers=3,
            model_type="qwen3",
            architectures=["Qwen3ForCausalLM"],
        ),
        (*(Layer(mixer=GQA, mlp=SWIGLU),) * 3, Layer(mixer=attend(window=4096), mlp=SWIGLU)),
    ),
    "chunks": (
        vary(
            architectures=["Llama4ForConditionalGeneration"],
            model_type="llama4_text",
            attention_chunk_size=8192,
            num_local_experts=16,
            intermediate_size=8192,
            intermediate_size_mlp=16384,
            interleave_moe_layer_step=2,
        ),
        (
            Layer(mixer=attend(chunk=8192), mlp=Mlp(width=16384)),
            Layer(mixer=attend(chunk=8192), mlp=Experts(count=16, width=8192, shared_width=8192)),
            Layer(mixer=attend(chunk=8192), mlp=Mlp(width=16384)),
            Layer(mixer=GQA, mlp=Experts(count=16, width=8192, shared_width=8192)),
        ),
    ),
    "experts-in-every-layer": (
        vary(**QWEN3_MOE),
        (Layer(mixer=GQA, mlp=Experts(count=128, width=768)),) * 4,
    ),
    "layers-without-experts": (
        vary(**QWEN3_MOE, mlp_only_layers=[1], decoder_sparse_step=2),
        (*(Layer(mixer=GQA, mlp=SWIGLU),) * 3, Layer(mixer=GQA, mlp=Experts(count=128, width=768))),
    ),
    "latent-attention-and-the-first-layers-dense": (
        vary(**DEEPSEEK),
        (*(Layer(mixer=MLA, mlp=Mlp(width=18432)),) * 3, Layer(mixer=MLA, mlp=V3)),
    ),
    "queries-projected-at-once": (
        vary(**{**DEEPSEEK, "q_lora_rank": None, "first_k_dense_replace": 0, "num_hidden_layers": 1}),
        (
            Layer(
                mixer=LatentAttention(
                    heads=128, query_rank=None, kv_rank=512, nope_size=128, rope_size=64, value_size=128
                ),
                mlp=V3,
            ),
        ),
    ),
    "gated-delta-nets-in-between": (
        vary(**DELTA),
        (*(Layer(mixer=STATE, mlp=SWIGLU),) * 3, Layer(mixer=GATED, mlp=SWIGLU)),
    ),
    "gated-delta-nets-by-layer": (
        vary(**DELTA, layer_types=["full_attention", "linear_attention"] * 2),
        (Layer(mixer=GATED, mlp=SWIGLU), Layer(mixer=STATE, mlp=SWIGLU)) * 2,
    ),
    "one-thing-in-each-layer": (
        vary(**NEMOTRON),
        (
            Layer(mixer=Mamba(heads=64, head_size=64, state_size=128, groups=8, kernel=4), mlp=None),
            Layer(mixer=GQA, mlp=None),
            Layer(mixer=None, mlp=Mlp(width=14336, is_gated=False)),
            Layer(mixer=None, mlp=Experts(count=128, width=1856, shared_width=3712, is_gated=False)),
        ),
    ),
}


@pytest.mark.parametrize(("config", "layers"), LAYERS.values(), ids=LAYERS)
def test_what_layers_are_made_of(config: dict[str, Any], layers: tuple[Layer, ...]) -> None:
    assert read(config).layers == layers


def test_gemma_3_has_five_layers_with_a_window_for_one_without() -> None:
    config = vary(
        architectures=["Gemma3ForCausalLM"], model_type="gemma3_text", num_hidden_layers=62, sliding_window=1024
    )
    found = read(config)
    assert Counter(layer.mixer.window for layer in found.layers if isinstance(layer.mixer, Attention)) == {
        1024: 52,
        None: 10,
    }


def test_a_vision_tower_is_counted() -> None:
    """Of 24 layers: four square matrices and three of the feed-forward part each; and two that join it."""
    vision = {"hidden_size": 1024, "num_hidden_layers": 24, "intermediate_size": 4096, "model_type": "pixtral"}
    config = {"architectures": ["Mistral3ForConditionalGeneration"], "text_config": DENSE, "vision_config": vision}
    expected = 24 * (4 * 1024 * 1024 + 3 * 1024 * 4096) + 2 * 1024 * 4096
    assert read(config).vision_parameters == expected
    vision["model_type"] = "siglip_vision_model"
    assert read(config).vision_parameters == expected - 24 * 1024 * 4096


@pytest.mark.parametrize(
    ("fields", "dtype", "is_tied"),
    [
        pytest.param({"torch_dtype": "float16"}, "float16", False, id="a-dtype"),
        pytest.param({"torch_dtype": ..., "dtype": "float32"}, "float32", False, id="by-its-newer-name"),
        pytest.param({"torch_dtype": ...}, "bfloat16", False, id="none-said"),
        pytest.param({"tie_word_embeddings": ...}, "bfloat16", False, id="most-classes-arent-tied"),
        pytest.param(
            {"tie_word_embeddings": ..., "architectures": ["GemmaForCausalLM"]}, "bfloat16", True, id="gemmas-are"
        ),
    ],
)
def test_dtype_and_ties(fields: dict[str, Any], dtype: str, is_tied: bool) -> None:
    found = read(vary(**fields))
    assert (found.dtype, found.is_tied) == (dtype, is_tied)


def compress(**weights: Any) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights}
    return {"quant_method": "compressed-tensors", "config_groups": {"group_0": group}, "ignore": ["lm_head"]}


QUANTIZATIONS: dict[str, tuple[dict[str, Any], Quantization | str]] = {
    "fp8-in-blocks": (
        {"quant_method": "fp8", "weight_block_size": [128, 128]},
        Quantization(format="fp8Block128"),
    ),
    "fp8": (
        {"quant_method": "fp8", "modules_to_not_convert": ["lm_head"]},
        Quantization(format="fp8", excluded=("lm_head",)),
    ),
    "fp8-of-meta": (
        {"quant_method": "fbgemm_fp8", "modules_to_not_convert": ["model.layers.0.self_attn.q_proj"]},
        Quantization(format="fp8", excluded=("model.layers.0.self_attn.q_proj",)),
    ),
    "mxfp4-of-experts": (
        {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]},
        Quantization(format="mxfp4", group=32, experts_only=True, excluded=("model.layers.*.self_attn",)),
    ),
    "gptq": ({"quant_method": "gptq", "bits": 4, "group_size": 64}, Quantization(format="int4", group=64)),
    "gptq-of-8-bits": ({"quant_method": "gptq", "bits": 8}, Quantization(format="int8")),
    "gptq-of-3-bits": ({"quant_method": "gptq", "bits": 3}, "gptq of 3 bits"),
    "awq-has-zero-points": ({"quant_method": "awq"}, Quantization(format="int4ZeroPoint")),
    "a-group-of-no-size": ({"quant_method": "gptq", "group_size": -1}, "group_size isn't a number from 1 on"),
    "compressed-fp8": (compress(num_bits=8, type="float"), Quantization(format="fp8", excluded=("lm_head",))),
    "compressed-int8": (compress(num_bits=8, type="int"), Quantization(format="int8", excluded=("lm_head",))),
    "compressed-int4": (
        compress(num_bits=4, type="int", group_size=32),
        Quantization(format="int4", group=32, excluded=("lm_head",)),
    ),
    "compressed-nvfp4": (
        compress(num_bits=4, type="float", group_size=16),
        Quantization(format="nvfp4", group=16, excluded=("lm_head",)),
    ),
    "compressed-otherwise": (compress(num_bits=2, type="int"), "weights of 2 bits of the type int"),
    # Priced as if quantised, a checkpoint that is only pruned would be half as large as it is.
    "pruned-and-not-quantised": (
        {"quant_method": "compressed-tensors", "format": "dense", "sparsity_config": {"format": "dense"}},
        "it doesn't say which layers are quantised, and how",
    ),
    "a-format-and-no-layers": (
        {"quant_method": "compressed-tensors", "format": "float-quantized"},
        "it doesn't say which layers are quantised, and how",
    ),
    "groups-of-layers": (
        {"quant_method": "compressed-tensors", "config_groups": {"group_0": {}, "group_1": {}}},
        "several groups of layers are quantised each in its own way",
    ),
    "a-group-that-is-none": (
        {"quant_method": "compressed-tensors", "config_groups": {"group_0": 5}},
        "group_0 isn't an object",
    ),
    "layers-named-one-by-one": (
        {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": {"targets": ["model.layers.0.mlp"], "weights": {"num_bits": 8}}},
        },
        "the quantised layers are named one by one",
    ),
    "nvfp4-of-modelopt": (
        {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["model.layers.0*"]},
        Quantization(format="nvfp4", group=16, excluded=("model.layers.0*",)),
    ),
    "fp8-of-modelopt": ({"quant_method": "modelopt", "quant_algo": "FP8"}, Quantization(format="fp8")),
    "mixed-of-modelopt": ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, "quant_method modelopt"),
    "a-method-that-isnt-listed": ({"quant_method": "bitsandbytes"}, "quant_method bitsandbytes"),
    "no-method": ({}, "quant_method that has no name"),
    "an-expression-of-names": (
        {"quant_method": "fp8", "ignore": ["re:.*self_attn.*", r"re:^model\.layers\.0\..*$"]},
        Quantization(format="fp8", excluded=("*self_attn*", "model.layers.0.*")),
    ),
    "an-expression-with-choices": (
        {"quant_method": "fp8", "ignore": [r"re:.*mlp\.(gate|up)_proj.*"]},
        "an expression says which layers aren't quantised",
    ),
    "an-expression-without-an-end": (
        {"quant_method": "fp8", "ignore": ["re:" + "(a+)+" * 1000]},
        "an expression says which layers aren't quantised",
    ),
    # What it keeps would be priced as quantised.
    "a-name-that-nobody-knows": (
        {"quant_method": "fp8", "ignore": ["transformer.h.0.attn"]},
        "the formulas don't know transformer.h.0.attn, which isn't quantised",
    ),
    "more-names-than-any-model-has": (
        {"quant_method": "fp8", "ignore": ["lm_head"] * (MAX_EXCLUDED + 1)},
        f"it has more than {MAX_EXCLUDED} names of what isn't quantised",
    ),
    "names-that-are-no-texts": ({"quant_method": "fp8", "ignore": [1]}, "ignore isn't a list of texts"),
}


@pytest.mark.parametrize(("config", "expected"), QUANTIZATIONS.values(), ids=QUANTIZATIONS)
def test_formats_of_weights(config: dict[str, Any], expected: Quantization | str) -> None:
    found = parse(vary(quantization_config=config))
    if isinstance(expected, str):
        assert found == Unsupported(reason=expected)
    else:
        assert isinstance(found, Architecture), found
        assert found.quantization == expected
