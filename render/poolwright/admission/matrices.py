"""The matrices of a model, layer by layer: how large each is, and how tensor parallelism splits it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from poolwright.admission.architecture import (
    Architecture,
    Attention,
    Experts,
    LatentAttention,
    Layer,
    LinearAttention,
    Mamba,
    Mlp,
)

# column: outputs are split; row: inputs are; heads: outputs are, but never below one head; whole: each rank has all.
Split = Literal["column", "row", "heads", "whole"]


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """A linear layer, or as many of one kind as there are experts."""

    name: str  # as in the checkpoint, without the layer: `self_attn.q_proj`
    inputs: int
    outputs: int
    split: Split
    count: int = 1
    head_size: int = 1  # of those that are split by heads
    has_bias: bool = False
    is_linear: bool = True  # False: it is never quantised
    is_expert: bool = False


def rank_shape(one: Matrix, tensor_parallel: int) -> tuple[int, int]:
    """The inputs and outputs that one rank has of each."""
    match one.split:
        case "column":
            return one.inputs, -(-one.outputs // tensor_parallel)
        case "row":
            return -(-one.inputs // tensor_parallel), one.outputs
        case "heads":
            heads = one.outputs // one.head_size
            return one.inputs, max(1, -(-heads // tensor_parallel)) * one.head_size
        case _:
            return one.inputs, one.outputs


def list_matrices(architecture: Architecture, layer: Layer) -> Iterator[Matrix]:
    """The matrices of one layer."""
    hidden = architecture.hidden
    match layer.mixer:
        case Attention() as mixer:
            yield from _list_attention(hidden, mixer)
        case LatentAttention() as mixer:
            yield from _list_latent(hidden, mixer)
        case LinearAttention() as mixer:
            yield from _list_delta(hidden, mixer)
        case Mamba() as mixer:
            inner, bands = mixer.heads * mixer.head_size, 2 * mixer.groups * mixer.state_size
            outputs = 2 * inner + bands + mixer.heads
            yield Matrix(name="mixer.in_proj", inputs=hidden, outputs=outputs, split="column")
            inputs, outputs = mixer.kernel, inner + bands
            yield Matrix(name="mixer.conv1d", inputs=inputs, outputs=outputs, split="column", is_linear=False)
            yield Matrix(name="mixer.out_proj", inputs=inner, outputs=hidden, split="row")
    match layer.mlp:
        case Mlp(width=width, is_gated=is_gated):
            yield from _list_mlp("mlp", hidden, width, is_gated=is_gated)
        case Experts() as experts:
            yield from _list_experts(hidden, experts)


def _list_attention(hidden: int, one: Attention) -> Iterator[Matrix]:
    def build(name: str, heads: int, size: int) -> Matrix:
        return Matrix(
            name=f"self_attn.{name}",
            inputs=hidden,
            outputs=heads * size,
            split="heads",
            head_size=size,
            has_bias=one.has_bias,
        )

    yield build("q_proj", one.heads * (2 if one.has_gate else 1), one.key_size)
    yield build("k_proj", one.kv_heads, one.key_size)
    yield build("v_proj", one.kv_heads, one.value_size)
    yield Matrix(name="self_attn.o_proj", inputs=one.heads * one.value_size, outputs=hidden, split="row")


def _list_latent(hidden: int, one: LatentAttention) -> Iterator[Matrix]:
    keys = one.heads * (one.nope_size + one.rope_size)
    if one.query_rank is None:
        yield Matrix(name="self_attn.q_proj", inputs=hidden, outputs=keys, split="column")
    else:
        yield Matrix(name="self_attn.q_a_proj", inputs=hidden, outputs=one.query_rank, split="whole")
        yield Matrix(name="self_attn.q_b_proj", inputs=one.query_rank, outputs=keys, split="column")
    rows = one.kv_rank + one.rope_size
    yield Matrix(name="self_attn.kv_a_proj_with_mqa", inputs=hidden, outputs=rows, split="whole")
    outputs = one.heads * (one.nope_size + one.value_size)
    yield Matrix(name="self_attn.kv_b_proj", inputs=one.kv_rank, outputs=outputs, split="column")
    # The engine keeps the two halves of it again, as they are absorbed into queries and outputs, in the model's dtype.
    yield Matrix(name="self_attn.absorbed", inputs=one.kv_rank, outputs=outputs, split="column", is_linear=False)
    yield Matrix(name="self_attn.o_proj", inputs=one.heads * one.value_size, outputs=hidden, split="row")


def _list_delta(hidden: int, one: LinearAttention) -> Iterator[Matrix]:
    keys, values = one.key_heads * one.key_size, one.value_heads * one.value_size
    yield Matrix(name="linear_attn.in_proj_qkv", inputs=hidden, outputs=2 * keys + values, split="column")
    yield Matrix(name="linear_attn.in_proj_z", inputs=hidden, outputs=values, split="column")
    gates = 2 * one.value_heads
    yield Matrix(name="linear_attn.in_proj_ba", inputs=hidden, outputs=gates, split="column", is_linear=False)
    outputs = 2 * keys + values
    yield Matrix(name="linear_attn.conv1d", inputs=one.kernel, outputs=outputs, split="column", is_linear=False)
    yield Matrix(name="linear_attn.out_proj", inputs=values, outputs=hidden, split="row")


def _list_mlp(name: str, hidden: int, width: int, *, is_gated: bool) -> Iterator[Matrix]:
    if is_gated:
        yield Matrix(name=f"{name}.gate_proj", inputs=hidden, outputs=width, split="column")
    yield Matrix(name=f"{name}.up_proj", inputs=hidden, outputs=width, split="column")
    yield Matrix(name=f"{name}.down_proj", inputs=width, outputs=hidden, split="row")


def _list_experts(hidden: int, one: Experts) -> Iterator[Matrix]:
    ups = 2 if one.is_gated else 1
    yield Matrix(
        name="mlp.experts.up_proj",
        inputs=hidden,
        outputs=ups * one.width,
        split="column",
        count=one.count,
        has_bias=one.has_bias,
        is_expert=True,
    )
    yield Matrix(
        name="mlp.experts.down_proj",
        inputs=one.width,
        outputs=hidden,
        split="row",
        count=one.count,
        has_bias=one.has_bias,
        is_expert=True,
    )
    yield Matrix(name="mlp.gate", inputs=hidden, outputs=one.count, split="whole", is_linear=False)
    if one.shared_width:
        yield from _list_mlp("mlp.shared_experts", hidden, one.shared_width, is_gated=one.is_gated)
