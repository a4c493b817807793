"""The memory that a claim asks for: what it leaves out wouldn't be admitted, and what it lets in isn't refused.

One that is let in may be too close to call: the band is for people, who can measure.
"""

from __future__ import annotations

from itertools import product

import pytest
from deployed import H100, LLAMA_8B, LLAMA_70B, MEASURED, constants_of, vary
from engine_logs import read_model

from poolwright.admission.adapters import Slots
from poolwright.admission.admit import admit
from poolwright.admission.bound import bound_memory
from poolwright.admission.deployment import Deployment, DeviceMemory, PricedEngine
from poolwright.admission.price import GIB, Price, price

ANY = DeviceMemory(name="any", total_bytes=80 * GIB)
CASES: dict[str, tuple[Deployment, int | None]] = {
    "weights-and-load": (vary(LLAMA_8B, concurrency=16), 54),
    "a-larger-load": (vary(LLAMA_8B, concurrency=17), 57),
    "a-budget-of-its-own": (vary(LLAMA_8B, concurrency=16, kv_budget_bytes=40 * GIB), 64),
    # The same however many there are: the budget is what counts.
    "a-budget-and-a-smaller-load": (vary(LLAMA_8B, concurrency=1, kv_budget_bytes=40 * GIB), 64),
    "a-smaller-share": (vary(LLAMA_8B, concurrency=16, memory_percent=70), 70),
    "little-beside-the-engine": (vary(LLAMA_8B, concurrency=16, beside_bytes=1 * GIB), 54),
    # What stands beside it decides: a tenth of the device must hold it.
    "much-beside-the-engine": (vary(LLAMA_8B, concurrency=16, beside_bytes=12 * GIB), 149),
    "adapters": (vary(LLAMA_8B, concurrency=16, adapters=Slots(count=8, rank=64)), 57),
    "a-common-beginning": (vary(LLAMA_8B, concurrency=16, shared_prefix_tokens=8192), 37),
    "two-devices": (vary(LLAMA_70B, concurrency=8), 64),
    "the-other-engine": (vary(LLAMA_8B, concurrency=16, engine="sglang", version="0.5.23"), 54),
    "a-version-that-nobody-fitted": (vary(LLAMA_8B, concurrency=16, version="0.33.0"), 56),
    "a-load-without-a-bound": (vary(LLAMA_8B, concurrency=None), None),
}


def price_of(deployment: Deployment, device: DeviceMemory) -> Price:
    found = price(deployment, device, constants_of(deployment))
    assert isinstance(found, Price)
    return found


@pytest.mark.parametrize(("deployment", "gib"), CASES.values(), ids=CASES)
def test_what_a_claim_asks_for(deployment: Deployment, gib: int | None) -> None:
    assert bound_memory(deployment, price_of(deployment, ANY)) == (None if gib is None else gib * 1024)
    if gib is None:
        return
    below, there, far = (admit_on(deployment, size) for size in (gib - 1, gib, 2 * gib))
    assert below in ("refused", "tooClose")
    assert there in ("tooClose", "admitted")
    assert far == "admitted"


def admit_on(deployment: Deployment, published_gib: float) -> str:
    device = DeviceMemory.of_published("x", int(published_gib * GIB))
    return admit(deployment, device, constants_of(deployment)).word


@pytest.mark.parametrize("concurrency", [1, 14])
def test_what_was_measured_holds_on_devices_as_large_as_the_measured_one(concurrency: int) -> None:
    """An H100 publishes 81559 MiB, of which its runtime has 79.19 GiB: it is let in, and no smaller one."""
    deployment = vary(LLAMA_70B, concurrency=concurrency, profile=MEASURED)
    found = bound_memory(deployment, price_of(deployment, H100))
    assert found == 81091
    assert admit_on(deployment, 81559 / 1024) == admit_on(deployment, (found + 1) / 1024) == "admitted"
    assert admit_on(deployment, (found - 1) / 1024) == "unsupported"


def test_of_an_engine_that_takes_all_of_a_device_none_is_large_enough() -> None:
    """The claim asks for what is taken; that nothing is left beside the engine is for `check` to say."""
    deployment = vary(LLAMA_8B, concurrency=16, memory_percent=100)
    assert bound_memory(deployment, price_of(deployment, ANY)) == 49 * 1024
    assert [admit_on(deployment, size) for size in (49, 98)] == ["refused"] * 2


@pytest.mark.parametrize("total_gib", [40, 79, 141])
def test_the_device_that_is_priced_makes_no_difference(total_gib: int) -> None:
    device = DeviceMemory(name="x", total_bytes=total_gib * GIB)
    for deployment, gib in CASES.values():
        assert bound_memory(deployment, price_of(deployment, device)) == (None if gib is None else gib * 1024)


def test_by_hand() -> None:
    """Llama 3.1 8B in bfloat16, 16 requests of 16,384 tokens, 90 % of the device: what its lines say."""
    deployment, gib = CASES["weights-and-load"]
    taken = sum(line.bytes for line in price_of(deployment, ANY).lines)
    cache = 16 * 2  # GiB: 128 KiB for each token
    assert gib == round((taken + cache * GIB) / GIB / 0.90 / 0.98)


MODELS = ("meta-llama/Llama-3.1-8B", "google/gemma-2-9b-it", "openai/gpt-oss-20b", "Qwen/Qwen3.5-35B-A3B")
ENGINES: tuple[tuple[PricedEngine, str], ...] = (("vllm", "0.19.0"), ("vllm", "0.33.0"), ("sglang", "0.5.23"))


@pytest.mark.parametrize("name", MODELS)
def test_no_device_is_left_out_that_would_be_admitted_and_none_let_in_that_is_refused(name: str) -> None:
    """Just below the bound, and on it, over shares and loads; of SGLang a large share leaves little beside it."""
    model, wrong = read_model(name), []
    for (engine, version), share, concurrency in product(ENGINES, (70, 86, 90, 95), (1, 3, 7, 16)):
        deployment = vary(
            LLAMA_8B,
            architecture=model,
            engine=engine,
            version=version,
            memory_percent=share,
            concurrency=concurrency,
            context_tokens=8192,
        )
        mib = bound_memory(deployment, price_of(deployment, ANY))
        assert mib is not None
        if admit_on(deployment, mib / 1024 - 0.02) == "admitted" or admit_on(deployment, mib / 1024) == "refused":
            wrong.append((engine, version, share, concurrency, mib))
    assert wrong == []
