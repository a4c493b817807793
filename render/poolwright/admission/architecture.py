"""What a model is made of, as far as its memory goes by it."""

from __future__ import annotations

from typing import Literal

import msgspec

WeightFormat = Literal[
    "float32",
    "bfloat16",
    "float16",
    "fp8",
    "fp8Block128",
    "int8",
    "int4",
    "int4ZeroPoint",
    "nf4",
    "mxfp4",
    "nvfp4",
]


class Attention(msgspec.Struct, frozen=True, kw_only=True):
    """Keys and values by head."""

    heads: int
    kv_heads: int
    key_size: int
    value_size: int
    window: int | None = None  # tokens that a sliding layer looks back on
    chunk: int | None = None  # tokens of the chunks that a local layer looks at one by one
    has_bias: bool = False
    has_gate: bool = False  # a second projection of the size of the queries


class LatentAttention(msgspec.Struct, frozen=True, kw_only=True):
    """Multi-head latent attention: one row for all heads."""

    heads: int
    query_rank: int | None  # None: queries are projected at once
    kv_rank: int
    nope_size: int
    rope_size: int
    value_size: int


class LinearAttention(msgspec.Struct, frozen=True, kw_only=True):
    """Gated delta net: a state of fixed size for each request."""

    key_heads: int
    value_heads: int
    key_size: int
    value_size: int
    kernel: int  # of the convolution


class Mamba(msgspec.Struct, frozen=True, kw_only=True):
    """A Mamba 2 layer: a state of fixed size for each request."""

    heads: int
    head_size: int
    state_size: int
    groups: int
    kernel: int


class Mlp(msgspec.Struct, frozen=True, kw_only=True):
    """A feed-forward layer that every token goes through."""

    width: int
    is_gated: bool = True


class Experts(msgspec.Struct, frozen=True, kw_only=True):
    """A feed-forward layer of which each token takes a few; all are resident."""

    count: int
    width: int
    shared_width: int = 0
    is_gated: bool = True
    has_bias: bool = False


Mixer = Attention | LatentAttention | LinearAttention | Mamba


class Layer(msgspec.Struct, frozen=True, kw_only=True):
    """One layer of the decoder."""

    mixer: Mixer | None
    mlp: Mlp | Experts | None


class Quantization(msgspec.Struct, frozen=True, kw_only=True):
    """The format of the linear layers, and which of them keep the checkpoint's own."""

    format: WeightFormat
    group: int = 128  # elements that share a scale, where a format has groups
    experts_only: bool = False
    excluded: tuple[str, ...] = ()  # names of modules, or of what they stand in, with `*` for anything


class Architecture(msgspec.Struct, frozen=True, kw_only=True):
    """A decoder."""

    name: str  # as its config calls it, `LlamaForCausalLM`
    hidden: int
    vocabulary: int
    max_positions: int
    is_tied: bool  # one matrix for the embeddings and the head
    layers: tuple[Layer, ...]
    dtype: WeightFormat  # of what isn't quantised
    quantization: Quantization | None = None
    vision_parameters: int = 0  # on every rank, in the dtype

    @property
    def is_moe(self) -> bool:
        """Whether some layer has experts."""
        return any(isinstance(layer.mlp, Experts) for layer in self.layers)

    @property
    def has_latent(self) -> bool:
        """Whether some layer has latent attention."""
        return any(isinstance(layer.mixer, LatentAttention) for layer in self.layers)

    @property
    def has_linear(self) -> bool:
        """Whether some layer is a gated delta net."""
        return any(isinstance(layer.mixer, LinearAttention) for layer in self.layers)


class Unsupported(msgspec.Struct, frozen=True, kw_only=True):
    """A model that the formulas don't cover; only a measured profile tells what it takes."""

    reason: str
