"""Refusals in the model owner's words, with the figures of a log."""

from __future__ import annotations

import pytest
from engine_logs import GIB, EngineLog, constants_of, deploy, device_of, read_logs
from msgspec.structs import replace

from poolwright.admission.deployment import Load, Profile
from poolwright.admission.devices import KnownDevice
from poolwright.admission.priced import Priced, price_on
from poolwright.admission.report.price_text import render_price_text
from poolwright.admission.report.words import say_apart, say_gib

LOG = "vllm-019-h100-fp8dyn-llama-3-3-70b-tp2pp1-8k-fp8"


def read_log() -> EngineLog:
    return next(one for one in read_logs() if one.id == LOG)


def price_log(*, concurrency: int | None, context_tokens: int = 16384) -> Priced:
    """Llama 3.3 70B in fp8 on two H100s, its weights and KV budget as they were printed, at 90 % of memory."""
    log = read_log()
    measured = Profile(
        source=log.id,
        weights_bytes=round(log.printed["weightsGiB"] * GIB),
        kv_budget_bytes=round(log.printed["kvGiB"] * GIB),
        device_bytes=device_of(log).total_bytes,
        memory_percent=90,
        tensor_parallel=2,
    )
    load = Load(context_tokens=context_tokens, concurrency=concurrency)
    deployment = replace(deploy(log), load=load, profile=measured, memory_percent=90)
    device = KnownDevice(memory=device_of(log), source="its log", compute_capability="9.0.0")
    return price_on(deployment, device, constants_of(log))


def test_the_load_of_the_guide_is_refused_in_its_figures() -> None:
    """Each single change that is enough; and fp8 for the cache, which helps and isn't."""
    head, reason, *_ = render_price_text("llama-70b", price_log(concurrency=32), (), explain=False)
    assert head == "refused: llama-70b on 2 x gpu"
    assert reason == (
        "  32 concurrent requests of 16384 tokens need 80.0 GiB of KV cache per GPU, the budget is 37.28 GiB: lower "
        "concurrency to 14, or contextTokens to 7632; not enough alone: fp8 KV cache (40.0 GiB, still 2.72 GiB too "
        "much, 29 concurrent)"
    )


@pytest.mark.parametrize(
    ("concurrency", "context_tokens", "word"),
    [(14, 16384, "admitted"), (15, 16384, "refused"), (32, 7632, "admitted"), (32, 7648, "refused")],
)
def test_what_it_offers_is_admitted_and_one_step_less_is_not(concurrency: int, context_tokens: int, word: str) -> None:
    assert price_log(concurrency=concurrency, context_tokens=context_tokens).admission.word == word


def test_one_request_that_does_not_fit_will_not_start() -> None:
    _, reason, *_ = render_price_text("x", price_log(concurrency=None, context_tokens=262_144), (), explain=False)
    assert reason == "  contextTokens 262144 is more than the model's 131072 positions: lower contextTokens to 131072"


@pytest.mark.parametrize(
    ("amount", "text"),
    [(80 * GIB, "80.0 GiB"), (round(37.28 * GIB), "37.28 GiB"), (0, "0.0 GiB"), (-GIB, "-1.0 GiB")],
)
def test_amounts_have_two_digits_at_most(amount: int, text: str) -> None:
    assert say_gib(amount) == text


def test_amounts_that_differ_look_different() -> None:
    assert say_apart(GIB, GIB) == ("1.0 GiB", "1.0 GiB")
    assert say_apart(GIB + (1 << 20), GIB) == ("1.0010 GiB", "1.0000 GiB")
    assert say_apart(GIB + 1, GIB) == ("1073741825 bytes", "1073741824 bytes")
