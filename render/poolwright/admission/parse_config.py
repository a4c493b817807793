"""A model's own Hugging Face `config.json`, as far as its memory goes by it.

Which fields a class of model has, and what they mean, is as in the `transformers` and vLLM code of those classes. What
isn't listed here isn't guessed: it is unsupported, and so is a known class with a part that changes its memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from poolwright.admission.architecture import (
    Architecture,
    Attention,
    Experts,
    LatentAttention,
    Layer,
    LinearAttention,
    Mamba,
    Mixer,
    Mlp,
    Unsupported,
    WeightFormat,
)
from poolwright.admission.config_fields import ConfigFields, NotCoveredError
from poolwright.admission.excluded import find_unknown
from poolwright.admission.parse_quantization import build_quantization

MAX_LAYERS: Final = 1024
_MAX_REASON: Final = 160  # letters of it
_DTYPES: Final[Mapping[str, WeightFormat]] = {"bfloat16": "bfloat16", "float16": "float16", "float32": "float32"}


def parse_config(text: bytes) -> Architecture | Unsupported:
    """What a config says.

    Raises: ValueError with what is wrong with the file itself, in one sentence.
    """
    value = _read(text)
    if not isinstance(value, dict):
        raise ValueError("it isn't a JSON object")
    try:
        return _build(ConfigFields(value))
    except NotCoveredError as error:
        return Unsupported(reason=str(error)[:_MAX_REASON])  # a name in it may be of any length


def _read(text: bytes) -> object:
    """Also what Python writes: a config may have `Infinity` in a field that nobody asks for here."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        import json  # nearly no config needs it

        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"it isn't JSON: {error}") from None
        except UnicodeDecodeError:
            raise ValueError("it isn't UTF-8") from None
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        except ValueError:
            raise ValueError("a number in it has too many digits") from None


def _build(outer: ConfigFields) -> Architecture:
    names = outer.texts("architectures")
    if len(names) != 1:
        raise NotCoveredError("architectures names no one class")
    name = names[0]
    config = outer.inner("text_config") or outer
    build_layers = _CLASSES.get(name)
    if build_layers is None:
        raise NotCoveredError(f"the formulas don't cover {name}")
    for field in ("block_configs", "num_kv_shared_layers", "hidden_size_per_layer_input", "moe_latent_size"):
        if config.fields.get(field):
            raise NotCoveredError(f"the formulas don't cover {field}")
    layers = build_layers(config)
    said = (one.text(field) for one in (config, outer) for field in ("torch_dtype", "dtype"))
    dtype = _DTYPES.get(next((one for one in said if one), "bfloat16"))
    if dtype is None:
        raise NotCoveredError("its dtype isn't bfloat16, float16 or float32")
    tied = config.flag("tie_word_embeddings", default=outer.flag("tie_word_embeddings", default=_is_tied(name)))
    quantization = outer.inner("quantization_config") or config.inner("quantization_config")
    vision = outer.inner("vision_config")
    found = Architecture(
        name=name,
        hidden=config.number("hidden_size"),
        vocabulary=config.number("vocab_size"),
        max_positions=config.number("max_position_embeddings", 0, least=0),
        is_tied=tied,
        layers=layers,
        dtype=dtype,
        quantization=None if quantization is None else build_quantization(quantization),
        vision_parameters=0 if vision is None else _count_vision(vision, config.number("hidden_size")),
    )
    unknown = None if found.quantization is None else find_unknown(found, found.quantization.excluded)
    if unknown is not None:
        raise NotCoveredError(f"the formulas don't know {unknown}, which isn't quantised")
    return found


def _is_tied(name: str) -> bool:
    return name.startswith("Gemma")


def _count_layers(config: ConfigFields) -> int:
    count = config.number("num_hidden_layers")
    if count > MAX_LAYERS:
        raise NotCoveredError(f"it has more than {MAX_LAYERS} layers")
    return count


def _build_plain(config: ConfigFields, *, has_bias: bool = False) -> tuple[Layer, ...]:
    """Attention and a feed-forward layer, or experts, in every layer."""
    return tuple(
        Layer(mixer=mixer, mlp=_build_mlp(config, number))
        for number, mixer in enumerate(_build_attention(config, has_bias=has_bias))
    )


def _build_biased(config: ConfigFields) -> tuple[Layer, ...]:
    return _build_plain(config, has_bias=True)


def _build_attention(config: ConfigFields, *, has_bias: bool) -> list[Attention]:
    heads, count = config.number("num_attention_heads"), _count_layers(config)
    size = config.first("head_dim", default=max(1, config.number("hidden_size") // heads))
    one = Attention(
        heads=heads,
        kv_heads=config.number("num_key_value_heads", heads),
        key_size=size,
        value_size=size,
        has_bias=config.flag("attention_bias", default=has_bias),
    )
    kinds = _list_kinds(config, count)
    window = config.number("sliding_window") if "sliding_attention" in kinds else None
    chunk = config.number("attention_chunk_size") if "chunked_attention" in kinds else None
    built = {
        "full_attention": one,
        "sliding_attention": _with_reach(one, window=window),
        "chunked_attention": _with_reach(one, chunk=chunk),
    }
    return [built[kind] for kind in kinds]


def _with_reach(one: Attention, *, window: int | None = None, chunk: int | None = None) -> Attention:
    return Attention(
        heads=one.heads,
        kv_heads=one.kv_heads,
        key_size=one.key_size,
        value_size=one.value_size,
        window=window,
        chunk=chunk,
        has_bias=one.has_bias,
    )


def _list_kinds(config: ConfigFields, count: int) -> list[str]:
    """What each layer looks back on, by whichever field of the class says it."""
    kinds = list(config.texts("layer_types"))
    if not kinds and config.has("sliding_window_pattern"):
        every = config.number("sliding_window_pattern")
        kinds = ["sliding_attention" if (at + 1) % every else "full_attention" for at in range(count)]
    if not kinds and config.text("model_type") == "gemma2":
        kinds = ["full_attention" if at % 2 else "sliding_attention" for at in range(count)]
    if not kinds and config.text("model_type") == "gemma3_text":
        kinds = ["sliding_attention" if (at + 1) % 6 else "full_attention" for at in range(count)]
    if not kinds and config.text("model_type") == "llama4_text":
        kinds = ["chunked_attention" if (at + 1) % 4 else "full_attention" for at in range(count)]
    if not kinds:
        is_qwen = config.text("model_type").startswith("qwen")
        if config.has("sliding_window") and config.flag("use_sliding_window", default=not is_qwen):
            first = config.number("max_window_layers", 0, least=0)
            kinds = ["full_attention" if at < first else "sliding_attention" for at in range(count)]
        else:
            kinds = ["full_attention"] * count
    unknown = sorted(set(kinds) - {"full_attention", "sliding_attention", "chunked_attention"})
    if unknown or len(kinds) != count:
        raise NotCoveredError(f"layer_types has {unknown[0]}" if unknown else "layer_types isn't one for each layer")
    return kinds


def _build_mlp(config: ConfigFields, number: int) -> Mlp | Experts:
    """The feed-forward part of a layer."""
    experts = config.first("num_local_experts", "n_routed_experts", "num_experts", default=0, least=0)
    first_dense = config.number("first_k_dense_replace", 0, least=0)
    step = config.first("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_freq", default=1)
    is_dense = not experts or number < first_dense or (number + 1) % step or number in _list_dense(config)
    if is_dense:
        return Mlp(width=config.first(*(("intermediate_size_mlp",) if experts else ()), "intermediate_size"))
    own = config.first("moe_intermediate_size", "intermediate_size")
    shared = config.first("shared_expert_intermediate_size", "moe_shared_expert_intermediate_size", default=0, least=0)
    if not shared:
        shared = own * config.first("n_shared_experts", "num_shared_experts", default=0, least=0)
    if not shared and config.text("model_type") == "llama4_text":
        shared = own
    return Experts(count=experts, width=own, shared_width=shared, has_bias=config.text("model_type") == "gpt_oss")


def _list_dense(config: ConfigFields) -> Sequence[object]:
    value = config.fields.get("mlp_only_layers")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(type(one) is int for one in value):
        raise NotCoveredError("mlp_only_layers isn't a list of numbers")
    return value


def _build_latent(config: ConfigFields) -> tuple[Layer, ...]:
    """Multi-head latent attention, as DeepSeek V2 and V3 have it."""
    mixer = LatentAttention(
        heads=config.number("num_attention_heads"),
        query_rank=config.number("q_lora_rank") if config.has("q_lora_rank") else None,
        kv_rank=config.number("kv_lora_rank"),
        nope_size=config.number("qk_nope_head_dim"),
        rope_size=config.number("qk_rope_head_dim"),
        value_size=config.number("v_head_dim"),
    )
    return tuple(Layer(mixer=mixer, mlp=_build_mlp(config, number)) for number in range(_count_layers(config)))


def _build_delta(config: ConfigFields) -> tuple[Layer, ...]:
    """Gated delta nets with attention in between, as Qwen3-Next and later have them."""
    count = _count_layers(config)
    every = config.number("full_attention_interval", 4)
    kinds = list(config.texts("layer_types")) or [
        "linear_attention" if (at + 1) % every else "full_attention" for at in range(count)
    ]
    if len(kinds) != count or set(kinds) - {"linear_attention", "full_attention"}:
        raise NotCoveredError("layer_types isn't full_attention or linear_attention for each layer")
    heads = config.number("num_attention_heads")
    size = config.number("head_dim")
    full: Mixer = Attention(
        heads=heads,
        kv_heads=config.number("num_key_value_heads"),
        key_size=size,
        value_size=size,
        has_gate=True,
    )
    linear: Mixer = LinearAttention(
        key_heads=config.number("linear_num_key_heads"),
        value_heads=config.number("linear_num_value_heads"),
        key_size=config.number("linear_key_head_dim"),
        value_size=config.number("linear_value_head_dim"),
        kernel=config.number("linear_conv_kernel_dim"),
    )
    return tuple(
        Layer(mixer=full if kind == "full_attention" else linear, mlp=_build_mlp(config, number))
        for number, kind in enumerate(kinds)
    )


def _build_nemotron(config: ConfigFields) -> tuple[Layer, ...]:
    """One thing in each layer, by its letter: Mamba, attention, a feed-forward part or experts."""
    pattern = config.text("hybrid_override_pattern")
    if len(pattern) != _count_layers(config) or set(pattern) - set("M*-E"):
        raise NotCoveredError("hybrid_override_pattern isn't M, *, - or E for each layer")
    heads = config.number("num_attention_heads")
    size = config.first("head_dim", "attention_head_dim", default=max(1, config.number("hidden_size") // heads))
    mamba = Mamba(
        heads=config.number("mamba_num_heads"),
        head_size=config.number("mamba_head_dim"),
        state_size=config.first("ssm_state_size", "mamba_state_dim"),
        groups=config.first("n_groups", "mamba_n_groups"),
        kernel=config.number("conv_kernel"),
    )
    attention = Attention(heads=heads, kv_heads=config.number("num_key_value_heads"), key_size=size, value_size=size)
    built = {
        "M": Layer(mixer=mamba, mlp=None),
        "*": Layer(mixer=attention, mlp=None),
        "-": Layer(mixer=None, mlp=Mlp(width=config.number("intermediate_size", 0, least=0), is_gated=False)),
    }
    if "E" in pattern:
        experts = Experts(
            count=config.number("n_routed_experts"),
            width=config.number("moe_intermediate_size"),
            shared_width=config.number("moe_shared_expert_intermediate_size", 0, least=0),
            is_gated=False,
        )
        built["E"] = Layer(mixer=None, mlp=experts)
    return tuple(built[letter] for letter in pattern)


_CLASSES: Final[Mapping[str, Callable[[ConfigFields], tuple[Layer, ...]]]] = {
    **dict.fromkeys(
        (
            *("LlamaForCausalLM", "MistralForCausalLM", "Mistral3ForConditionalGeneration", "Phi3ForCausalLM"),
            *("GraniteForCausalLM", "GemmaForCausalLM", "Gemma2ForCausalLM", "Gemma3ForCausalLM"),
            *("Gemma3ForConditionalGeneration", "Qwen3ForCausalLM", "Qwen3VLForConditionalGeneration"),
            *("Qwen3MoeForCausalLM", "Qwen3VLMoeForConditionalGeneration", "MixtralForCausalLM"),
            *("GptOssForCausalLM", "Llama4ForConditionalGeneration", "MiniMaxM2ForCausalLM"),
        ),
        _build_plain,
    ),
    "Qwen2ForCausalLM": _build_biased,
    **dict.fromkeys(
        (*("DeepseekV2ForCausalLM", "DeepseekV3ForCausalLM", "KimiK25ForConditionalGeneration"),),
        _build_latent,
    ),
    **dict.fromkeys(
        (
            *("Qwen3NextForCausalLM", "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration"),
            *("Qwen3_5ForCausalLM", "Qwen3_5MoeForCausalLM"),
        ),
        _build_delta,
    ),
    "NemotronHForCausalLM": _build_nemotron,
}


def _count_vision(config: ConfigFields, hidden: int) -> int:
    """The parameters of a vision tower: its layers, and what joins it to the decoder.

    Source: the vision transformers of the classes above: four square matrices and two of the feed-forward width.
    """
    width = config.number("hidden_size")
    layers = config.first("num_hidden_layers", "depth")
    if layers > MAX_LAYERS:
        raise NotCoveredError(f"its vision tower has more than {MAX_LAYERS} layers")
    inner = config.number("intermediate_size")
    gated = 3 if config.text("model_type") == "pixtral" else 2
    return layers * (4 * width * width + gated * width * inner) + 2 * width * hidden
