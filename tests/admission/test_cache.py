"""The KV cache: what a token takes, how layers are cut into groups of pages, and what a request holds."""

from __future__ import annotations

import pytest
from engine_logs import read_model

from poolwright.admission.architecture import (
    Attention,
    LatentAttention,
    Layer,
    LinearAttention,
    Mamba,
    Mlp,
    Unsupported,
)
from poolwright.admission.cache import CachePlan, Group, plan_cache
from poolwright.admission.formats import CacheFormat


def build_full(*, window: int | None = None, chunk: int | None = None) -> Attention:
    return Attention(heads=32, kv_heads=8, key_size=128, value_size=128, window=window, chunk=chunk)


FULL, NEAR, CHUNKED = build_full(), build_full(window=1024), build_full(chunk=8192)
LATENT = LatentAttention(heads=128, query_rank=1536, kv_rank=512, nope_size=128, rope_size=64, value_size=128)
STATE = LinearAttention(key_heads=16, value_heads=32, key_size=128, value_size=128, kernel=4)
MAMBA = Mamba(heads=64, head_size=64, state_size=128, groups=8, kernel=4)


def plan(
    *mixers: Attention | LatentAttention | LinearAttention | Mamba,
    precision: CacheFormat = "bfloat16",
    tensor: int = 1,
    in_flight: int = 8192,
    caches_prefixes: bool = True,
) -> CachePlan:
    found = plan_cache(
        [Layer(mixer=mixer, mlp=Mlp(width=1)) for mixer in mixers],
        precision,
        tensor_parallel=tensor,
        in_flight_tokens=in_flight,
        caches_prefixes=caches_prefixes,
    )
    assert isinstance(found, CachePlan), found
    return found


# Bytes of a token in all layers of a GPU.
RATES = {
    "meta-llama/Llama-3.1-8B": (1, "bfloat16", 131_072),
    "meta-llama/Llama-3.1-70B": (1, "bfloat16", 327_680),
    "a-rank-of-two-has-half": ("meta-llama/Llama-3.1-70B", 2, "bfloat16", 163_840),
    "fp8-takes-half": ("meta-llama/Llama-3.1-70B", 2, "fp8", 81_920),
    "float32-takes-twice": ("meta-llama/Llama-3.1-8B", 1, "float32", 262_144),
    "a-rank-has-a-whole-head-at-least": ("meta-llama/Llama-3.1-70B", 16, "bfloat16", 40_960),
    "Qwen/Qwen3-32B": (1, "bfloat16", 262_144),
    "Qwen/Qwen3-30B-A3B": (1, "bfloat16", 98_304),
    "meta-llama/Llama-2-7b-hf": (1, "bfloat16", 524_288),
    "moonshotai/Kimi-K2-Instruct": (1, "bfloat16", 70_272),
    "a-latent-row-is-whole-on-every-rank": ("moonshotai/Kimi-K2-Instruct", 8, "bfloat16", 70_272),
}


@pytest.mark.parametrize("row", [row if len(row) == 4 else (name, *row) for name, row in RATES.items()], ids=RATES)
def test_bytes_of_a_token(row: tuple[str, int, CacheFormat, int]) -> None:
    name, tensor, precision, expected = row
    mixers = [layer.mixer for layer in read_model(name).layers]
    found = plan(*(one for one in mixers if one is not None), precision=precision, tensor=tensor)
    assert (found.block_tokens, found.block_bytes, len(found.groups)) == (16, 16 * expected, 1)


# Blocks of a request. All of these have one page a layer and 16 tokens a block.
REQUESTS = {
    "one-token-takes-a-block": (FULL, 1, 1),
    "a-full-block": (FULL, 16, 1),
    "and-one-more": (FULL, 17, 2),
    "a-long-one": (FULL, 131072, 8192),
    # A window of 1,024 and 8,192 tokens in flight: ceil(9,215 / 16) and one for where it begins within a block.
    "a-window-and-what-a-step-adds": (NEAR, 131072, 577),
    # The token itself is one of them: 1,024 before it and 8,192 are whole blocks.
    "a-window-counts-the-token-itself": (build_full(window=1025), 131072, 577),
    "shorter-than-that": (NEAR, 8192, 513),
    "no-more-than-there-are-tokens": (NEAR, 16, 2),
    "a-chunk-and-what-a-step-adds": (CHUNKED, 131072, 1024),
    "a-short-one-in-chunks": (CHUNKED, 100, 7),
}


@pytest.mark.parametrize(("mixer", "tokens", "blocks"), REQUESTS.values(), ids=REQUESTS)
def test_blocks_of_a_request(mixer: Attention, tokens: int, blocks: int) -> None:
    found = plan(mixer)
    assert (found.count_blocks(tokens), found.count_bytes(tokens)) == (blocks, blocks * 16 * 4096)


def test_a_larger_batch_makes_windows_larger() -> None:
    assert [plan(NEAR, in_flight=batch).count_blocks(131072) for batch in (2048, 8192, 16384)] == [193, 577, 1089]
    assert [plan(FULL, in_flight=batch).count_blocks(131072) for batch in (2048, 8192, 16384)] == [8192] * 3


# Groups are as deep as the rarest type has layers, or as the most frequent, if that has less than 1.5 times as many.
DEPTHS = {
    "one-type": ((FULL,) * 30, 30, (1, 0)),
    "as-many-of-each": ((FULL, NEAR) * 12, 12, (1, 1)),
    "five-to-one": ((*(NEAR,) * 5, FULL) * 8, 8, (1, 5)),
    # 52 layers with windows in groups of 10: the sixth is padded.
    "a-padded-group": ((*(NEAR,) * 52, *(FULL,) * 10), 10, (1, 6)),
    "few-more": ((*(NEAR,) * 14, *(FULL,) * 10), 14, (1, 1)),
    "half-as-many-more": ((*(NEAR,) * 15, *(FULL,) * 10), 10, (1, 2)),
}


@pytest.mark.parametrize(("mixers", "depth", "groups"), DEPTHS.values(), ids=DEPTHS)
def test_layers_are_cut_into_groups_of_one_depth(
    mixers: tuple[Attention, ...], depth: int, groups: tuple[int, int]
) -> None:
    found = plan(*mixers)
    full, near = (sum(1 for one in found.groups if one == group) for group in (Group(), Group(window=1024)))
    assert (found.block_bytes, full, near) == (16 * 4096 * depth, *groups)


def build_linear(key_heads: int, value_heads: int) -> LinearAttention:
    return LinearAttention(key_heads=key_heads, value_heads=value_heads, key_size=128, value_size=128, kernel=4)


def test_a_state_stretches_the_block() -> None:
    """Qwen3.6-35B-A3B in fp8, as one log has it: 2,096 tokens, 300 blocks in 6.01 GiB, 69 of a request of 131,072."""
    full = Attention(heads=16, kv_heads=2, key_size=256, value_size=256, has_gate=True)
    found = plan(*(*(STATE,) * 3, full) * 10, precision="fp8")
    assert (found.block_tokens, found.block_bytes) == (2096, 21_463_040)
    assert sorted(one.states for one in found.groups) == [0, 2, 2, 2]
    assert found.count_blocks(131072) == 63 + 3 * 2
    assert int(6.01 * 2**30) // found.block_bytes == 300
    # A short request holds a whole block, and its states.
    assert found.count_blocks(100) == found.count_blocks(1) == 1 + 3 * 2


def test_a_state_is_shared_by_ranks() -> None:
    """Qwen3.8-27B in fp8 on two: 1,568 tokens; 90 blocks at 131,072 tokens, 174 at 262,144, and 208 were there."""
    full = Attention(heads=24, kv_heads=4, key_size=256, value_size=256, has_gate=True)
    found = plan(*(*(build_linear(16, 48),) * 3, full) * 16, precision="fp8", tensor=2)
    assert (found.block_tokens, found.block_bytes) == (1568, 25_690_112)
    assert (found.count_blocks(131072), found.count_blocks(262144)) == (90, 174)
    assert int(4.99 * 2**30) // found.block_bytes == 208


def test_without_prefix_caching_a_request_has_one_state() -> None:
    mixers = (*(STATE,) * 3, FULL) * 4
    kept, once = (plan(*mixers, caches_prefixes=caches) for caches in (True, False))
    assert kept.count_blocks(1) - once.count_blocks(1) == 3
    assert (kept.block_tokens, kept.block_bytes) == (once.block_tokens, once.block_bytes)


def test_the_state_of_mamba() -> None:
    """Convolution of 6,144 channels over 3 steps in 16 bits, and 64 heads of 64 x 128 in 32."""
    state = 6144 * 3 * 2 + 64 * 64 * 128 * 4
    small = Attention(heads=32, kv_heads=2, key_size=128, value_size=128)
    found = plan(*(MAMBA,) * 6, *(small,) * 6)
    assert found.block_tokens == 16 * -(-state // (16 * 1024))
    assert found.block_bytes == found.block_tokens * 1024 * 6


def test_fp8_doubles_less_of_a_hybrid() -> None:
    """Only attention's part halves: by pages it is 1.00 for short requests, and nears two for long ones."""
    mixers = (*(STATE,) * 3, FULL) * 10
    wide, narrow = plan(*mixers), plan(*mixers, precision="fp8")
    assert (wide.count_bytes(100), wide.block_tokens) == (narrow.count_bytes(100), narrow.block_tokens // 2)
    gain = [round(wide.count_bytes(tokens) / narrow.count_bytes(tokens), 2) for tokens in (32768, 131072, 1 << 20)]
    assert gain == sorted(gain)
    assert 1.6 < gain[0] < gain[-1] < 2


# Blocks that requests which begin alike hold once, in a cache of layers one deep.
SHARED = {
    "whole-blocks": ((FULL,), 12000, 750),
    "rounded-down": ((FULL,), 12015, 750),
    "of-latent-rows": ((LATENT,), 32, 2),
    "not-windows": ((FULL, NEAR), 12000, 750),
    "nor-chunks": ((FULL, CHUNKED), 12000, 750),
    "nothing-where-all-have-windows": ((NEAR,), 12000, 0),
    # A block of 528 tokens, and each request has its own states.
    "nor-states": ((FULL, STATE), 12000, 22),
    "less-than-a-block": ((FULL, STATE), 527, 0),
}


@pytest.mark.parametrize(("mixers", "tokens", "blocks"), SHARED.values(), ids=SHARED)
def test_what_a_common_beginning_is_held_once_of(
    mixers: tuple[Attention | LatentAttention | LinearAttention, ...], tokens: int, blocks: int
) -> None:
    found = plan(*mixers)
    assert found.count_shared_bytes(tokens) == blocks * found.block_bytes


UNSUPPORTED = {
    "no-attention-at-all": (STATE, STATE),
    "heads-that-differ": (FULL, Attention(heads=32, kv_heads=4, key_size=128, value_size=128)),
    "latent-and-plain": (FULL, LATENT),
    "states-that-differ": (FULL, STATE, build_linear(16, 48)),
}


@pytest.mark.parametrize("mixers", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_pages_of_several_sizes_have_no_plan(
    mixers: tuple[Attention | LatentAttention | LinearAttention, ...],
) -> None:
    found = plan_cache(
        [Layer(mixer=mixer, mlp=None) for mixer in mixers],
        "bfloat16",
        tensor_parallel=1,
        in_flight_tokens=8192,
        caches_prefixes=True,
    )
    assert found == Unsupported(reason="its layers don't all have a cache of the same size")


def test_layers_without_a_mixer_have_no_cache() -> None:
    layers = [Layer(mixer=FULL, mlp=None), Layer(mixer=None, mlp=Mlp(width=1))]
    found = plan_cache(layers, "bfloat16", tensor_parallel=1, in_flight_tokens=1, caches_prefixes=True)
    assert found == plan(FULL, in_flight=1)
