"""The KV cache on one rank: pages, what one request costs, and how many a budget holds.

Layers of one type look back alike; vLLM cuts each type into groups of as many layers, and all groups share one pool of
pages of equal bytes. Source: vLLM 0.33, v1/core/kv_cache_utils.py and v1/kv_cache_interface.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from poolwright.admission.architecture import (
    Attention,
    LatentAttention,
    Layer,
    LinearAttention,
    Mamba,
    Unsupported,
)
from poolwright.admission.formats import CACHE_BYTES, CacheFormat

BLOCK_TOKENS: Final = 16  # of a block, unless states stretch it
STATE_BYTES: Final = 4  # of an element of a recurrent state, kept in float32
CONVOLUTION_BYTES: Final = 2


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Layers of one type, as many as the pool is deep."""

    window: int | None = None
    chunk: int | None = None
    states: int = 0  # that each request has; 0: attention, which grows with the context


class CachePlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a rank's cache is cut."""

    groups: tuple[Group, ...]
    block_tokens: int
    block_bytes: int  # of one page of a group
    in_flight_tokens: int  # that a step may add to a layer that looks back so far

    def count_blocks(self, tokens: int) -> int:
        """Blocks of a request of so many tokens."""
        return sum(self._count_pages(one, tokens) for one in self.groups)

    def count_bytes(self, tokens: int) -> int:
        """Bytes of a request of so many tokens."""
        return self.count_blocks(tokens) * self.block_bytes

    def count_shared_bytes(self, tokens: int) -> int:
        """Bytes that requests which begin with the same tokens hold once: whole blocks of layers that look back on all.

        States, and what windows and chunks reach back to, are each request's own.
        """
        groups = sum(1 for one in self.groups if not one.states and one.window is None and one.chunk is None)
        return groups * (tokens // self.block_tokens) * self.block_bytes

    def _count_pages(self, group: Group, tokens: int) -> int:
        if group.states:
            return group.states
        if group.window is not None:
            held = min(group.window - 1 + self.in_flight_tokens, tokens)
            return -(-held // self.block_tokens) + 1
        if group.chunk is not None:
            return -(-min(group.chunk + self.in_flight_tokens, tokens) // self.block_tokens)
        return -(-tokens // self.block_tokens)


def plan_cache(
    layers: Sequence[Layer],
    precision: CacheFormat,
    *,
    tensor_parallel: int,
    in_flight_tokens: int,
    caches_prefixes: bool,
) -> CachePlan | Unsupported:
    """The cache of a stage's layers.

    caches_prefixes: states are kept at the ends of blocks, so that a request holds one more of each.
    """
    mixers = [layer.mixer for layer in layers if layer.mixer is not None]
    rates = {_count_token_bytes(one, precision, tensor_parallel) for one in mixers if _is_attention(one)}
    sizes = {_count_state_bytes(one, tensor_parallel) for one in mixers if not _is_attention(one)}
    if not rates or len(rates) > 1 or len(sizes) > 1:
        return Unsupported(reason="its layers don't all have a cache of the same size")
    (rate,) = rates
    block_tokens = BLOCK_TOKENS
    page_bytes = block_tokens * rate
    if sizes:
        (state_bytes,) = sizes
        block_tokens *= -(-state_bytes // page_bytes)
        page_bytes = block_tokens * rate
    counts = Counter(_build_group(one, caches_prefixes=caches_prefixes) for one in mixers)
    depth = _choose_depth(counts.values())
    return CachePlan(
        groups=tuple(group for group, count in counts.items() for _ in range(-(-count // depth))),
        block_tokens=block_tokens,
        block_bytes=page_bytes * depth,
        in_flight_tokens=in_flight_tokens,
    )


def _is_attention(mixer: object) -> bool:
    return isinstance(mixer, Attention | LatentAttention)


def _build_group(mixer: object, *, caches_prefixes: bool) -> Group:
    match mixer:
        case Attention(window=window, chunk=chunk):
            return Group(window=window, chunk=chunk)
        case LatentAttention():
            return Group()
        case _:
            return Group(states=2 if caches_prefixes else 1)


def _choose_depth(counts: Iterable[int]) -> int:
    """Layers of a group: as many as the rarest type has, or the most frequent one, if that has few more."""
    known = list(counts)
    return max(known) if 2 * max(known) < 3 * min(known) else min(known)


def _count_token_bytes(mixer: object, precision: CacheFormat, tensor_parallel: int) -> int:
    """Bytes of one token in one layer."""
    match mixer:
        case Attention() as one:
            heads = max(1, -(-one.kv_heads // tensor_parallel))
            return heads * (one.key_size + one.value_size) * CACHE_BYTES[precision]
        case LatentAttention() as one:
            return (one.kv_rank + one.rope_size) * CACHE_BYTES[precision]  # the same on every rank
        case _:
            return 0


def _count_state_bytes(mixer: object, tensor_parallel: int) -> int:
    """Bytes of one request's state in one layer."""
    match mixer:
        case LinearAttention() as one:
            band = (2 * one.key_heads * one.key_size + one.value_heads * one.value_size) // tensor_parallel
            state = one.value_heads // tensor_parallel * one.value_size * one.key_size * STATE_BYTES
            return band * (one.kernel - 1) * CONVOLUTION_BYTES + state
        case Mamba() as one:
            band = (one.heads * one.head_size + 2 * one.groups * one.state_size) // tensor_parallel
            state = one.heads // tensor_parallel * one.head_size * one.state_size * STATE_BYTES
            return band * (one.kernel - 1) * CONVOLUTION_BYTES + state
        case _:
            return 0
