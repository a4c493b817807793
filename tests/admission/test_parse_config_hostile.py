"""Configs that aren't covered, that are broken, or that are meant to break the reader: never a traceback."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from test_parse_config import DEEPSEEK, DELTA, NEMOTRON, parse, read, vary

from poolwright.admission.architecture import Architecture, Unsupported
from poolwright.admission.parse_config import MAX_LAYERS, parse_config
from poolwright.admission.parse_quantization import MAX_EXCLUDED
from poolwright.admission.weights import count_weights

NOT_COVERED: dict[str, tuple[dict[str, Any], str]] = {
    "another-class": (vary(architectures=["GlmMoeDsaForCausalLM"]), "the formulas don't cover GlmMoeDsaForCausalLM"),
    "no-class": (vary(architectures=...), "architectures names no one class"),
    "two-classes": (vary(architectures=["A", "B"]), "architectures names no one class"),
    "a-class-that-is-no-list": (vary(architectures="LlamaForCausalLM"), "architectures isn't a list of texts"),
    "layers-that-differ-in-heads": (vary(block_configs=[{}]), "the formulas don't cover block_configs"),
    "layers-that-share-their-cache": (vary(num_kv_shared_layers=4), "the formulas don't cover num_kv_shared_layers"),
    "experts-of-another-width": (vary(**NEMOTRON, moe_latent_size=1024), "the formulas don't cover moe_latent_size"),
    "a-layer-of-another-type": (vary(layer_types=["full_attention", "moe"] * 2), "layer_types has moe"),
    # A class without such layers says that it has some.
    "a-layer-of-another-class": (vary(layer_types=["linear_attention"] * 4), "layer_types has linear_attention"),
    "fewer-types-than-layers": (vary(layer_types=["full_attention"]), "layer_types isn't one for each layer"),
    "types-that-are-no-texts": (vary(layer_types=[1, 2, 3, 4]), "layer_types isn't a list of texts"),
    "a-window-of-no-size": (
        vary(layer_types=["sliding_attention"] * 4),
        "it has no sliding_window",
    ),
    "a-letter-for-no-layer": (
        vary(**{**NEMOTRON, "hybrid_override_pattern": "MMX*"}),
        "hybrid_override_pattern isn't M, *, - or E for each layer",
    ),
    "delta-nets-and-something-else": (
        vary(**DELTA, layer_types=["linear_attention", "sliding_attention"] * 2),
        "layer_types isn't full_attention or linear_attention for each layer",
    ),
    "dense-layers-that-are-no-numbers": (
        vary(num_experts=8, mlp_only_layers=["0"]),
        "mlp_only_layers isn't a list of numbers",
    ),
    "a-step-that-is-a-list": (vary(**DEEPSEEK, moe_layer_freq=[1, 1]), "moe_layer_freq isn't a number from 1 on"),
    "another-dtype": (vary(torch_dtype="float8"), "its dtype isn't bfloat16, float16 or float32"),
    # Passed over, each of these would give some other model a price.
    "a-dtype-that-is-no-text": (vary(torch_dtype=16), "torch_dtype isn't a text"),
    "a-quantization-that-is-no-object": (vary(quantization_config="fp8"), "quantization_config isn't an object"),
    "a-text-model-that-is-no-object": (vary(text_config=[1]), "text_config isn't an object"),
    "a-text-model-of-nothing": (vary(text_config={}), "it has no num_attention_heads"),
    "a-vision-tower-that-is-no-object": (vary(vision_config="x"), "vision_config isn't an object"),
    "a-type-that-is-no-text": (vary(model_type=5), "model_type isn't a text"),
    "true-isnt-a-number": (vary(hidden_size=True), "hidden_size isn't a number from 1 on"),
    "nor-is-a-fraction": (vary(hidden_size=4096.5), "hidden_size isn't a number from 1 on"),
    "nor-a-whole-float": (vary(hidden_size=4096.0), "hidden_size isn't a number from 1 on"),
    "nor-a-text": (vary(hidden_size="4096"), "hidden_size isn't a number from 1 on"),
    "nor-nothing": (vary(hidden_size=None), "it has no hidden_size"),
    "not-a-number": (vary(vocab_size=float("nan")), "vocab_size isn't a number from 1 on"),
    "without-end": (vary(vocab_size=float("inf")), "vocab_size isn't a number from 1 on"),
    "below-zero": (vary(num_key_value_heads=-8), "num_key_value_heads isn't a number from 1 on"),
    "zero": (vary(num_attention_heads=0), "num_attention_heads isn't a number from 1 on"),
    "larger-than-anything": (vary(intermediate_size=10**30), "intermediate_size isn't a number from 1 on"),
    "more-layers-than-anything": (vary(num_hidden_layers=MAX_LAYERS + 1), f"it has more than {MAX_LAYERS} layers"),
    "a-billion-layers": (vary(num_hidden_layers=10**9), f"it has more than {MAX_LAYERS} layers"),
    "a-vision-tower-of-as-many": (
        vary(vision_config={"hidden_size": 8, "num_hidden_layers": 10**9, "intermediate_size": 8}),
        f"its vision tower has more than {MAX_LAYERS} layers",
    ),
    "a-tie-that-is-a-number": (vary(tie_word_embeddings=1), "tie_word_embeddings isn't true or false"),
}


@pytest.mark.parametrize(("config", "reason"), NOT_COVERED.values(), ids=NOT_COVERED)
def test_what_isnt_covered_is_said(config: dict[str, Any], reason: str) -> None:
    assert parse(config) == Unsupported(reason=reason)


BROKEN = {
    "nothing": (b"", "it isn't JSON: Expecting value: line 1 column 1 (char 0)"),
    "an-open-end": (b'{"a": 1', "it isn't JSON: Expecting ',' delimiter: line 1 column 8 (char 7)"),
    "a-list": (b"[]", "it isn't a JSON object"),
    "null": (b"null", "it isn't a JSON object"),
    "a-number": (b"1", "it isn't a JSON object"),
    "not-a-number": (b"NaN", "it isn't a JSON object"),
    "lists-in-lists": (b"[" * 1_000_000, "it is nested too deeply"),
    "objects-in-objects": (b'{"a":' * 1_000_000, "it is nested too deeply"),
    "a-number-of-100000-digits": (b'{"hidden_size":' + b"9" * 100_000 + b"}", "a number in it has too many digits"),
    "latin-1": (b'{"a": "\xff"}', "it isn't UTF-8"),
    "yaml": (b"a: 1", "it isn't JSON: Expecting value: line 1 column 1 (char 0)"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.values(), ids=BROKEN)
def test_what_isnt_a_config_is_an_error_in_one_line(text: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=r"^(?:it|a number) ") as caught:
        parse_config(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"[" * 1_000_000, id="lists-in-lists"),
        pytest.param(b'{"a":' * 1_000_000, id="objects-in-objects"),
        pytest.param(b'{"hidden_size":' + b"9" * 100_000 + b"}", id="a-number-of-100000-digits"),
        pytest.param(b'{"a": "\xff"}', id="no-utf-8"),
        pytest.param(json.dumps(vary(architectures=["A" * 1_000_000])).encode(), id="a-name-of-a-million-letters"),
        pytest.param(b"\x00" * 64, id="zeroes"),
        pytest.param(b'{"a": "\\ud800"}', id="half-a-character"),
    ],
)
def test_hostile_texts_are_answered_soon_and_in_one_line(text: bytes) -> None:
    started = time.process_time()
    answer = say(text)
    assert time.process_time() - started < 5
    assert len(answer.splitlines()) == 1
    assert len(answer) < 200


def say(text: bytes) -> str:
    try:
        found = parse_config(text)
    except ValueError as error:
        return str(error)
    assert isinstance(found, Unsupported)
    return found.reason


def test_of_a_field_that_is_there_twice_the_last_counts() -> None:
    """As for the engine, which reads the same file with the same rule."""
    text = json.dumps(vary())[:-1] + ', "hidden_size": 8192}'
    found = parse_config(text.encode())
    assert isinstance(found, Architecture)
    assert found.hidden == 8192


def test_the_most_that_a_config_may_say_is_priced_soon() -> None:
    """As many layers as there may be, all of which keep something else, by names with patterns in them."""
    names = [f"model.layers.{number}.self_attn.{'qkvo'[number % 4]}_proj*" for number in range(MAX_EXCLUDED)]
    quantization = {"quant_method": "fp8", "ignore": names}
    started = time.process_time()
    found = read(vary(num_hidden_layers=MAX_LAYERS, quantization_config=quantization))
    total = count_weights(found, found.quantization, tensor_parallel=1, stages=1, stage=0)
    assert time.process_time() - started < 10
    kept = MAX_LAYERS // 4 * 4096 * (4096 + 1024 + 1024 + 4096)
    without = count_weights(read(vary(num_hidden_layers=MAX_LAYERS)), None, tensor_parallel=1, stages=1, stage=0)
    assert total == pytest.approx(without / 2 + kept, rel=0.01)  # embeddings, norms and scales aside


def test_numbers_at_the_limit_have_a_price() -> None:
    most = 1 << 40
    found = read(
        vary(hidden_size=most, vocab_size=most, intermediate_size=most, num_attention_heads=most, head_dim=most)
    )
    assert count_weights(found, None, tensor_parallel=1, stages=1, stage=0) > most**3
