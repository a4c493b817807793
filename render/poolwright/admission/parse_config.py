"""A model's own Hugging Face `config.json`, as far as its memory goes by it.

Which fields a class of model has, and what they mean, is as in the `transformers` and vLLM code of those classes. What
isn't listed here isn't guessed: it is unsupported, and so is a known class with a part that changes its memory.
"""

from __future__ import annotations

import re
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
    Quantization,
    Unsupported,
    WeightFormat,
)
from poolwright.admission.excluded import find_unknown

MAX_LAYERS: Final = 1024
MAX_NUMBER: Final = 1 << 40
MAX_EXCLUDED: Final = 4096  # names of what isn't quantised
_MAX_REASON: Final = 160  # letters of it
_DTYPES: Final[Mapping[str, WeightFormat]] = {"bfloat16": "bfloat16", "float16": "float16", "float32": "float32"}


class _NotCoveredError(Exception):
    """Why a config isn't covered."""


class _Config(msgspec.Struct, frozen=True):
    """A JSON object of the file, read strictly: a field that has another type than it must isn't covered."""

    fields: Mapping[str, object]

    def has(self, name: str) -> bool:
        return self.fields.get(name) is not None

    def number(self, name: str, default: int | None = None, *, least: int = 1) -> int:
        value = self.fields.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_NUMBER:
            said = f"it has no {name}" if value is None else f"{name} isn't a number from {least} on"
            raise _NotCoveredError(said)
        return value

    def first(self, *names: str, default: int | None = None, least: int = 1) -> int:
        """The first of some fields that is there."""
        for name in names:
            if self.has(name):
                return self.number(name, least=least)
        return self.number(names[0], default, least=least)

    def flag(self, name: str, *, default: bool = False) -> bool:
        value = self.fields.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise _NotCoveredError(f"{name} isn't true or false")
        return value

    def text(self, name: str) -> str:
        value = self.fields.get(name)
        if value is not None and not isinstance(value, str):
            raise _NotCoveredError(f"{name} isn't a text")
        return value or ""

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise _NotCoveredError(f"{name} isn't a list of texts")
        return tuple(value)

    def inner(self, name: str) -> _Config | None:
        value = self.fields.get(name)
        if value is not None and not isinstance(value, dict):
            raise _NotCoveredError(f"{name} isn't an object")
        return None if value is None else _Config(value)


def parse_config(text: bytes) -> Architecture | Unsupported:
    """What a config says.

    Raises: ValueError with what is wrong with the file itself, in one sentence.
    """
    value = _read(text)
    if not isinstance(value, dict):
        raise ValueError("it isn't a JSON object")
    try:
        return _build(_Config(value))
    except _NotCoveredError as error:
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


def _build(outer: _Config) -> Architecture:
    names = outer.texts("architectures")
    if len(names) != 1:
        raise _NotCoveredError("architectures names no one class")
    name = names[0]
    config = outer.inner("text_config") or outer
    build_layers = _CLASSES.get(name)
    if build_layers is None:
        raise _NotCoveredError(f"the formulas don't cover {name}")
    for field in ("block_configs", "num_kv_shared_layers", "hidden_size_per_layer_input", "moe_latent_size"):
        if config.fields.get(field):
            raise _NotCoveredError(f"the formulas don't cover {field}")
    layers = build_layers(config)
    said = (one.text(field) for one in (config, outer) for field in ("torch_dtype", "dtype"))
    dtype = _DTYPES.get(next((one for one in said if one), "bfloat16"))
    if dtype is None:
        raise _NotCoveredError("its dtype isn't bfloat16, float16 or float32")
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
        quantization=None if quantization is None else _build_quantization(quantization),
        vision_parameters=0 if vision is None else _count_vision(vision, config.number("hidden_size")),
    )
    unknown = None if found.quantization is None else find_unknown(found, found.quantization.excluded)
    if unknown is not None:
        raise _NotCoveredError(f"the formulas don't know {unknown}, which isn't quantised")
    return found


def _is_tied(name: str) -> bool:
    return name.startswith("Gemma")


def _count_layers(config: _Config) -> int:
    count = config.number("num_hidden_layers")
    if count > MAX_LAYERS:
        raise _NotCoveredError(f"it has more than {MAX_LAYERS} layers")
    return count


def _build_plain(config: _Config, *, has_bias: bool = False) -> tuple[Layer, ...]:
    """Attention and a feed-forward layer, or experts, in every layer."""
    return tuple(
        Layer(mixer=mixer, mlp=_build_mlp(config, number))
        for number, mixer in enumerate(_build_attention(config, has_bias=has_bias))
    )


def _build_biased(config: _Config) -> tuple[Layer, ...]:
    return _build_plain(config, has_bias=True)


def _build_attention(config: _Config, *, has_bias: bool) -> list[Attention]:
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


def _list_kinds(config: _Config, count: int) -> list[str]:
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
        raise _NotCoveredError(f"layer_types has {unknown[0]}" if unknown else "layer_types isn't one for each layer")
    return kinds


def _build_mlp(config: _Config, number: int) -> Mlp | Experts:
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


def _list_dense(config: _Config) -> Sequence[object]:
    value = config.fields.get("mlp_only_layers")
    if value is None:
        return ()
    if not isinstance(value, list) or not all(type(one) is int for one in value):
        raise _NotCoveredError("mlp_only_layers isn't a list of numbers")
    return value


def _build_latent(config: _Config) -> tuple[Layer, ...]:
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


def _build_delta(config: _Config) -> tuple[Layer, ...]:
    """Gated delta nets with attention in between, as Qwen3-Next and later have them."""
    count = _count_layers(config)
    every = config.number("full_attention_interval", 4)
    kinds = list(config.texts("layer_types")) or [
        "linear_attention" if (at + 1) % every else "full_attention" for at in range(count)
    ]
    if len(kinds) != count or set(kinds) - {"linear_attention", "full_attention"}:
        raise _NotCoveredError("layer_types isn't full_attention or linear_attention for each layer")
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


def _build_nemotron(config: _Config) -> tuple[Layer, ...]:
    """One thing in each layer, by its letter: Mamba, attention, a feed-forward part or experts."""
    pattern = config.text("hybrid_override_pattern")
    if len(pattern) != _count_layers(config) or set(pattern) - set("M*-E"):
        raise _NotCoveredError("hybrid_override_pattern isn't M, *, - or E for each layer")
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


_CLASSES: Final[Mapping[str, Callable[[_Config], tuple[Layer, ...]]]] = {
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


def _count_vision(config: _Config, hidden: int) -> int:
    """The parameters of a vision tower: its layers, and what joins it to the decoder.

    Source: the vision transformers of the classes above: four square matrices and two of the feed-forward width.
    """
    width = config.number("hidden_size")
    layers = config.first("num_hidden_layers", "depth")
    if layers > MAX_LAYERS:
        raise _NotCoveredError(f"its vision tower has more than {MAX_LAYERS} layers")
    inner = config.number("intermediate_size")
    gated = 3 if config.text("model_type") == "pixtral" else 2
    return layers * (4 * width * width + gated * width * inner) + 2 * width * hidden


def _build_quantization(config: _Config) -> Quantization:
    """The format that the linear layers are in."""
    method = config.text("quant_method")
    excluded = tuple(
        _read_pattern(one)
        for name in ("modules_to_not_convert", "ignore", "ignored_layers")
        for one in config.texts(name)
    )
    if len(excluded) > MAX_EXCLUDED:
        raise _NotCoveredError(f"it has more than {MAX_EXCLUDED} names of what isn't quantised")
    if method == "fp8":
        return Quantization(format="fp8Block128" if config.has("weight_block_size") else "fp8", excluded=excluded)
    if method == "mxfp4":
        return Quantization(format="mxfp4", group=32, experts_only=True, excluded=excluded)
    if method == "fbgemm_fp8":
        return Quantization(format="fp8", excluded=excluded)
    if method in ("gptq", "awq"):
        if config.number("bits", 4) not in (4, 8):
            raise _NotCoveredError(f"{method} of {config.number('bits')} bits")
        if config.number("bits", 4) == 8:
            return Quantization(format="int8", excluded=excluded)
        name: WeightFormat = "int4ZeroPoint" if method == "awq" else "int4"
        return Quantization(format=name, group=config.number("group_size", 128), excluded=excluded)
    if method == "compressed-tensors":
        return _build_compressed(config, excluded)
    if method == "modelopt" and config.text("quant_algo") == "FP8":
        return Quantization(format="fp8", excluded=excluded)
    if method == "modelopt" and config.text("quant_algo") == "NVFP4":
        return Quantization(format="nvfp4", group=16, excluded=excluded)
    raise _NotCoveredError(f"quant_method {method or 'that has no name'}")


def _build_compressed(config: _Config, excluded: tuple[str, ...]) -> Quantization:
    groups = config.inner("config_groups")
    if groups is None:
        return Quantization(format="fp8", excluded=(*excluded, "lm_head"))
    if len(groups.fields) != 1:
        raise _NotCoveredError("several groups of layers are quantised each in its own way")
    (name,) = groups.fields
    group = groups.inner(name)
    weights = None if group is None else group.inner("weights")
    if group is None or weights is None or group.texts("targets") != ("Linear",):
        raise _NotCoveredError("the quantised layers are named one by one")
    bits, kind = weights.number("num_bits"), weights.text("type")
    if bits == 8:
        floating: WeightFormat = "fp8Block128" if weights.has("block_structure") else "fp8"
        return Quantization(format=floating if kind == "float" else "int8", excluded=excluded)
    if bits == 4 and kind == "int":
        return Quantization(format="int4", group=weights.number("group_size", 128), excluded=excluded)
    if bits == 4 and kind == "float" and weights.number("group_size", 0, least=0) == 16:
        return Quantization(format="nvfp4", group=16, excluded=excluded)
    raise _NotCoveredError(f"weights of {bits} bits of the type {kind or 'that has no name'}")


def _read_pattern(text: str) -> str:
    """A module's name with `*` for anything. Patterns of expressions are read as far as they are `.*` and names."""
    if not text.startswith("re:"):
        return text
    plain = text[3:].removeprefix("^").removesuffix("$").replace(r"\.", ".").replace(".*", "*")
    if re.fullmatch(r"[A-Za-z0-9_.*]+", plain) is None:
        raise _NotCoveredError("an expression says which layers aren't quantised")
    return plain
