"""What a checkpoint keeps as it is, by the names in its config."""

from __future__ import annotations

import pytest
from engine_logs import read_model
from msgspec.structs import replace

from poolwright.admission.architecture import Quantization
from poolwright.admission.excluded import find_unknown, is_excluded, parse_excluded
from poolwright.admission.weights import count_weights

IS_EXCLUDED = {
    "the-module-itself": ("model.layers.3.self_attn.q_proj", 3, "self_attn.q_proj", True),
    "of-that-layer-alone": ("model.layers.3.self_attn.q_proj", 4, "self_attn.q_proj", False),
    "what-it-stands-in": ("model.layers.3.self_attn", 3, "self_attn.q_proj", True),
    "but-not-the-start-of-another-name": ("model.layers.3.self_att", 3, "self_attn.q_proj", False),
    "a-whole-layer": ("model.layers.0", 0, "mlp.up_proj", True),
    "any-layer": ("model.layers.*.self_attn", 41, "self_attn.o_proj", True),
    # As for fnmatch, which the engines use: layers.1* is layer 1, and 10 to 19 too.
    "numbers-that-begin-so": ("model.layers.1*", 17, "mlp.up_proj", True),
    "numbers-that-dont": ("model.layers.1*", 21, "mlp.up_proj", False),
    "an-open-end": ("model.layers.2.self_attn*", 2, "self_attn.k_proj", True),
    "beside-a-vision-tower": ("model.language_model.layers.2.linear_attn*", 2, "linear_attn.in_proj_z", True),
    "within-a-language-model": ("language_model.model.layers.2.self_attn", 2, "self_attn.k_proj", True),
    "shared-experts-by-their-other-name": ("*.mlp.shared_expert.*", 5, "mlp.shared_experts.up_proj", True),
    "experts-by-their-other-name": ("model.layers.0.block_sparse_moe.experts", 0, "mlp.experts.up_proj", True),
    "a-word-is-a-part": ("gate", 9, "mlp.gate", True),
    "a-word-isnt-a-part-of-a-part": ("gate", 9, "mlp.gate_proj", False),
    # The layers of multi-token prediction aren't the decoder's.
    "other-layers-of-that-number": ("mtp.layers.0*", 0, "self_attn.q_proj", False),
}


@pytest.mark.parametrize(("name", "number", "module", "expected"), IS_EXCLUDED.values(), ids=IS_EXCLUDED)
def test_which_modules_a_name_keeps(name: str, number: int, module: str, expected: bool) -> None:
    assert is_excluded(parse_excluded((name,)).pick(number), module) is expected


UNKNOWN = {
    "nothing": ((), None),
    "modules": (("model.layers.0.self_attn.q_proj", "model.layers.1*", "model.layers.*.mlp"), None),
    "what-is-never-quantised": (("lm_head", "model.embed_tokens", "model.layers.0.input_layernorm", "visual*"), None),
    "beyond-its-layers": (("model.layers.61.self_attn",), None),
    "another-module": (("lm_head", "model.layers.0.attention.wq"), "model.layers.0.attention.wq"),
    "one-expert-of-many": (("model.layers.0.mlp.experts.7.down_proj",), "model.layers.0.mlp.experts.7.down_proj"),
    "a-pattern-of-nothing": (("*.attn.*",), "*.attn.*"),
    "layers-of-something-else": (("decoder.layers.0.self_attn.q_proj",), "decoder.layers.0.self_attn.q_proj"),
    # `gate_proj` isn't a router, whatever its name begins with.
    "a-part-that-only-begins-like-a-router": (("model.layers.0.ffn.gate_proj",), "model.layers.0.ffn.gate_proj"),
}


@pytest.mark.parametrize(("names", "expected"), UNKNOWN.values(), ids=UNKNOWN)
def test_a_name_that_nobody_knows_is_found(names: tuple[str, ...], expected: str | None) -> None:
    assert find_unknown(read_model("meta-llama/Llama-3.1-8B"), names) == expected


def test_what_is_kept_weighs_as_the_checkpoint_does() -> None:
    """Attention of every layer beside a vision tower: 16 full layers of 104,857,600 elements, 48 linear ones."""
    architecture = read_model("Qwen/Qwen3.5-27B")

    def count(*excluded: str) -> int:
        kept = Quantization(format="fp8Block128", excluded=excluded)
        return count_weights(architecture, kept, tensor_parallel=1, stages=1, stage=0)

    full = 5120 * (2 * 24 * 256 + 2 * 4 * 256) + 24 * 256 * 5120
    linear = 5120 * (2 * 16 * 128 + 2 * 48 * 128) + 48 * 128 * 5120
    saved = (full * 16 + linear * 48) * (16384 - 4) // 16384  # two bytes instead of one, and no scale
    everywhere = ("model.language_model.layers.*.self_attn", "model.language_model.layers.*.linear_attn*")
    assert count(*everywhere) - count() == saved
    one_by_one = (
        f"model.language_model.layers.{number}.{name}" for number in range(64) for name in ("self_attn", "linear_attn")
    )
    assert count(*one_by_one) == count(*everywhere)


def test_each_layer_that_differs_is_counted() -> None:
    architecture = replace(read_model("meta-llama/Llama-3.1-8B"), quantization=None)
    layer = 4096 * 128 * (32 + 2 * 8) + 32 * 128 * 4096 + 3 * 4096 * 14336
    rows = 4 * (128 * (32 + 2 * 8) + 4096 + 2 * 14336 + 4096)  # a scale for each output

    def count(*excluded: str) -> int:
        kept = Quantization(format="fp8", excluded=excluded)
        return count_weights(architecture, kept, tensor_parallel=1, stages=1, stage=0)

    assert count("model.layers.0", "model.layers.31") - count() == 2 * (layer - rows)
    assert count("model.layers.1*") - count() == 11 * (layer - rows)
