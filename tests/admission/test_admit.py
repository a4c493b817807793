"""What is admitted, and on which dimension it is refused otherwise; and what would mend it."""

from __future__ import annotations

import pytest
from deployed import (
    H100,
    LLAMA_8B,
    LLAMA_70B,
    MEASURED,
    SLICE,
    constants_of,
    vary,
    write_answer,
    write_mend,
)
from engine_logs import GIB, read_model

from poolwright.admission.adapters import Slots
from poolwright.admission.admit import admit
from poolwright.admission.architecture import Quantization
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.mends import find_mends

WORKED = vary(LLAMA_70B, profile=MEASURED)


def test_the_worked_refusal_in_its_figures() -> None:
    """32 x 16,384 tokens need 80.0 GiB of each GPU, 37.28 are there: 14, or 7,632 tokens; fp8 alone isn't enough."""
    answer = admit(WORKED, H100, constants_of(WORKED))
    assert write_answer(answer) == (
        "refused",
        "cannotCarryLoad/concurrency: needs 80.00 GiB, has 37.28: 32 concurrent requests of 16384 tokens must fit",
    )
    assert (answer.kv_needed_bytes, answer.max_concurrency, answer.kv_tokens) == (80 * GIB, 14, 244304)
    assert [write_mend(one) for one in find_mends(WORKED, H100, constants_of(WORKED))] == [
        "concurrency 32 to 14: enough, 14",
        "contextTokens 16384 to 7632: enough, 32",
        "kvCache bfloat16 to fp8: less, 29; cannotCarryLoad/concurrency: needs 40.00 GiB, has 37.28: "
        "32 concurrent requests of 16384 tokens must fit",
    ]


ADMITTED = {
    "as-many-as-the-log-holds": (vary(WORKED, concurrency=14), H100),
    "a-context-that-just-fits": (vary(WORKED, context_tokens=7632), H100),
    "by-the-formulas-with-a-margin": (vary(LLAMA_70B, concurrency=13), H100),
    "all-the-model's-positions": (vary(LLAMA_70B, context_tokens=131072, concurrency=1), H100),
    "nobody-says-how-many": (vary(LLAMA_8B, concurrency=None), H100),
    "ranks-with-the-same-head": (vary(LLAMA_70B, tensor_parallel=16, concurrency=1), H100),
    "a-prefix-that-all-share-counts-once": (vary(LLAMA_8B, concurrency=40, shared_prefix_tokens=12000), H100),
    "ranks-that-share-the-requests": (vary(LLAMA_8B, concurrency=40, data_parallel=2), H100),
    "a-budget-between-need-and-device": (vary(LLAMA_8B, concurrency=16, kv_budget_bytes=32 * GIB), H100),
}


@pytest.mark.parametrize(("deployment", "device"), ADMITTED.values(), ids=ADMITTED)
def test_what_fits_is_admitted(deployment: Deployment, device: DeviceMemory) -> None:
    answer = admit(deployment, device, constants_of(deployment))
    assert (answer.word, answer.refusals) == ("admitted", ())
    assert find_mends(deployment, device, constants_of(deployment)) == ()


REFUSED: dict[str, tuple[Deployment, DeviceMemory, tuple[str, ...]]] = {
    "one-more-than-the-log-holds": (
        vary(WORKED, concurrency=15),
        H100,
        (
            "refused",
            "cannotCarryLoad/concurrency: needs 37.50 GiB, has 37.28: 15 concurrent requests of 16384 tokens must fit",
        ),
    ),
    "one-block-more-than-fits": (
        vary(WORKED, context_tokens=7648),
        H100,
        (
            "refused",
            "cannotCarryLoad/concurrency: needs 37.34 GiB, has 37.28: 32 concurrent requests of 7648 tokens must fit",
        ),
    ),
    # 12 more requests would fit by the figures, but not with what the figures may be off.
    "within-what-the-formulas-may-be-off": (
        vary(LLAMA_8B, concurrency=27),
        H100,
        (
            "tooClose",
            "~cannotCarryLoad/concurrency: needs 54.00 GiB, has 55.26: 27 concurrent requests of 16384 tokens must fit",
        ),
    ),
    "not-one-request": (
        vary(LLAMA_70B, tensor_parallel=1, concurrency=1),
        H100,
        (
            "refused",
            "willNotStart/contextTokens: needs 5.00 GiB, has 2.53: one request of 16384 tokens must fit",
            "cannotCarryLoad/concurrency: needs 5.00 GiB, has 2.53: 1 concurrent requests of 16384 tokens must fit",
        ),
    ),
    "weights-alone": (
        vary(LLAMA_70B, tensor_parallel=1, concurrency=1, quantization=None),
        H100,
        ("refused", "willNotStart/weights: needs 137.47 GiB, has 71.27: nothing is left for the KV cache"),
    ),
    "the-slots-of-adapters-are-what-is-missing": (
        vary(LLAMA_8B, concurrency=20, adapters=Slots(count=64, rank=64)),
        H100,
        (
            "refused",
            "cannotCarryLoad/adapters: needs 40.00 GiB, has 35.26: 20 concurrent requests of 16384 tokens must fit, "
            "and would without the adapters' slots",
        ),
    ),
    # They are larger than what is missing, but not by what the figures may be off.
    "slots-that-may-be-what-is-missing": (
        vary(LLAMA_8B, concurrency=27, adapters=Slots(count=8, rank=64)),
        H100,
        (
            "tooClose",
            "~cannotCarryLoad/concurrency: needs 54.00 GiB, has 52.76: 27 concurrent requests of 16384 tokens must fit",
        ),
    ),
    "slots-that-leave-nothing": (
        vary(LLAMA_8B, concurrency=20, adapters=Slots(count=200, rank=64)),
        H100,
        ("refused", "willNotStart/adapters: needs 80.51 GiB, has 71.27: nothing is left for the KV cache"),
    ),
    # Without them it would still be too much, so they aren't named.
    "slots-that-arent-what-is-missing": (
        vary(LLAMA_8B, concurrency=40, adapters=Slots(count=8, rank=16)),
        H100,
        (
            "refused",
            "cannotCarryLoad/concurrency: needs 80.00 GiB, has 54.64: 40 concurrent requests of 16384 tokens must fit",
        ),
    ),
    "a-rank-that-no-slot-has": (
        vary(LLAMA_8B, concurrency=16, adapters=Slots(count=4, rank=513)),
        H100,
        ("refused", "willNotStart/adapters: the engine has no slots for adapters of rank 513"),
    ),
    "heads-that-dont-divide": (
        vary(LLAMA_70B, tensor_parallel=3),
        H100,
        ("refused", "willNotStart/tensorParallel: tensorParallel 3 doesn't divide the model's 64 heads"),
    ),
    # 40 heads are divided by 4, their 10 heads of keys and values aren't: the engine ends on that.
    "heads-of-keys-that-dont-divide": (
        vary(LLAMA_8B, architecture=read_model("microsoft/phi-4"), tensor_parallel=4, concurrency=1),
        H100,
        (
            "refused",
            "willNotStart/tensorParallel: tensorParallel 4 doesn't divide the model's 10 heads of keys and values",
        ),
    ),
    "heads-of-states-that-dont-divide": (
        vary(LLAMA_8B, architecture=read_model("Qwen/Qwen3.5-27B"), tensor_parallel=24, concurrency=1),
        H100,
        (
            "refused",
            "willNotStart/tensorParallel: tensorParallel 24 doesn't divide the model's 16 heads of linear attention",
        ),
    ),
    "more-stages-than-layers": (
        vary(LLAMA_8B, pipeline_parallel=33),
        H100,
        ("refused", "willNotStart/tensorParallel: pipelineParallel 33 is more than its 32 layers"),
    ),
    "partitions-dont-reach-each-other": (
        vary(LLAMA_8B, tensor_parallel=2),
        SLICE,
        (
            "refused",
            "willNotStart/isolation: a process uses one partition, and partitions don't reach each other: parallel "
            "sizes above 1 don't start",
        ),
    ),
    "nor-for-stages": (
        vary(LLAMA_8B, pipeline_parallel=2),
        SLICE,
        (
            "refused",
            "willNotStart/isolation: a process uses one partition, and partitions don't reach each other: parallel "
            "sizes above 1 don't start",
        ),
    ),
    "above-the-model's-positions": (
        vary(LLAMA_8B, context_tokens=131073),
        H100,
        ("refused", "willNotStart/contextTokens: contextTokens 131073 is more than the model's 131072 positions"),
    ),
    "a-budget-below-the-need": (
        vary(LLAMA_8B, concurrency=16, kv_budget_bytes=31 * GIB),
        H100,
        (
            "refused",
            "cannotCarryLoad/kvBudget: needs 32.00 GiB, has 31.00: kvBudget is less than 16 concurrent requests of "
            "16384 tokens need",
        ),
    ),
    "a-budget-above-the-device": (
        vary(LLAMA_8B, concurrency=16, kv_budget_bytes=60 * GIB),
        H100,
        ("refused", "cannotCarryLoad/kvBudget: needs 60.00 GiB, has 55.26: kvBudget must fit"),
    ),
    "though-nobody-says-how-many": (
        vary(LLAMA_8B, concurrency=None, kv_budget_bytes=60 * GIB),
        H100,
        ("refused", "cannotCarryLoad/kvBudget: needs 60.00 GiB, has 55.26: kvBudget must fit"),
    ),
    "what-runs-beside-takes-the-rest": (
        vary(LLAMA_8B, concurrency=16, beside_bytes=7 * GIB),
        H100,
        (
            "refused",
            "diesLater/deviceMemory: needs 2.61 GiB, has 0.92: what the engine doesn't count must fit beside its share",
        ),
    ),
    "a-share-that-leaves-too-little": (
        vary(LLAMA_8B, concurrency=16, memory_percent=99),
        H100,
        (
            "refused",
            "diesLater/deviceMemory: needs 2.61 GiB, has 0.79: what the engine doesn't count must fit beside its share",
        ),
    ),
    "a-share-where-it-is-uncertain": (
        vary(LLAMA_8B, concurrency=16, memory_percent=95),
        H100,
        (
            "tooClose",
            "~diesLater/deviceMemory: needs 2.61 GiB, has 3.96: what the engine doesn't count must fit beside its "
            "share",
        ),
    ),
    # As the calculation for a partition of 2g.20gb says: about 1.1 GiB are left, one request of 8k tokens is close.
    "a-partition-with-too-many-requests": (
        vary(LLAMA_8B, concurrency=4, context_tokens=8192),
        SLICE,
        (
            "refused",
            "cannotCarryLoad/concurrency: needs 4.00 GiB, has 1.30: 4 concurrent requests of 8192 tokens must fit",
            "~willNotStart/contextTokens: needs 1.00 GiB, has 1.30: one request of 8192 tokens must fit",
            "~diesLater/deviceMemory: needs 2.61 GiB, has 1.92: what the engine doesn't count must fit beside its "
            "share",
        ),
    ),
    # Whether it starts is too close to call; that it can't carry the load isn't, and decides.
    "nothing-left-by-a-little-and-far-too-little": (
        vary(LLAMA_8B, concurrency=200, context_tokens=512, adapters=Slots(count=4, rank=16)),
        DeviceMemory(name="small", total_bytes=18 * GIB),
        (
            "refused",
            "cannotCarryLoad/concurrency: needs 12.50 GiB, has 0.00: 200 concurrent requests of 512 tokens must fit",
            "~willNotStart/adapters: needs 16.38 GiB, has 16.20: nothing is left for the KV cache",
            "~diesLater/deviceMemory: needs 2.61 GiB, has 1.80: "
            "what the engine doesn't count must fit beside its share",
        ),
    ),
    # Amounts of an older version: only what weights alone rule out is certain.
    "of-another-version-only-weights-are-certain": (
        vary(LLAMA_70B, tensor_parallel=1, concurrency=1, version="0.33.0", context_tokens=8192, cache="fp8"),
        H100,
        (
            "tooClose",
            "~willNotStart/contextTokens: needs 1.25 GiB, has 1.43: one request of 8192 tokens must fit",
            "~cannotCarryLoad/concurrency: needs 1.25 GiB, has 1.43: 1 concurrent requests of 8192 tokens must fit",
        ),
    ),
    "and-those-are": (
        vary(LLAMA_70B, tensor_parallel=1, concurrency=1, version="0.33.0", quantization=None),
        H100,
        ("refused", "willNotStart/weights: needs 138.57 GiB, has 71.27: nothing is left for the KV cache"),
    ),
}


@pytest.mark.parametrize(("deployment", "device", "answer"), REFUSED.values(), ids=REFUSED)
def test_what_doesnt_fit_is_refused_on_its_dimension(
    deployment: Deployment, device: DeviceMemory, answer: tuple[str, ...]
) -> None:
    assert write_answer(admit(deployment, device, constants_of(deployment))) == answer


def test_layers_without_a_cache_of_one_size_have_no_price() -> None:
    """Pipeline stages cut a hybrid so that one of them has no attention."""
    deployment = vary(
        LLAMA_8B,
        architecture=read_model("Qwen/Qwen3.5-27B"),
        pipeline_parallel=64,
        quantization=Quantization(format="fp8"),
    )
    answer = admit(deployment, H100, constants_of(deployment))
    assert (answer.word, answer.reason) == ("unsupported", "its layers don't all have a cache of the same size")
    assert find_mends(deployment, H100, constants_of(deployment)) == ()


def test_a_device_that_pods_share_has_no_price() -> None:
    device = DeviceMemory(name="H100", total_bytes=H100.total_bytes, is_shared=True)
    answer = admit(LLAMA_8B, device, constants_of(LLAMA_8B))
    reason = "several pods share a device, and an engine takes its share of all of it"
    assert (answer.word, answer.price, answer.reason) == ("unsupported", None, reason)


MENDS: dict[str, tuple[Deployment, tuple[str, ...]]] = {
    "fewer-adapters": (
        vary(LLAMA_8B, concurrency=20, adapters=Slots(count=64, rank=64)),
        (
            "concurrency 20 to 16: enough, 17",
            "contextTokens 16384 to 13792: enough, 20",
            "kvCache bfloat16 to fp8: enough, 35",
            "tensorParallel 1 to 2: enough, 47",
            "adapterSlots 64 to 43: enough, 20",
        ),
    ),
    "a-smaller-share": (
        vary(LLAMA_8B, concurrency=16, memory_percent=95),
        ("memoryPercent 95 to 94: enough, 29",),
    ),
    "a-larger-share": (
        vary(LLAMA_8B, concurrency=16, memory_percent=60),
        (
            "concurrency 16 to 14: enough, 15",
            "contextTokens 16384 to 15312: enough, 16",
            "kvCache bfloat16 to fp8: enough, 31",
            "tensorParallel 1 to 2: enough, 37",
            "memoryPercent 60 to 63: enough, 16",
        ),
    ),
    "as-many-sequences-as-fit": (
        vary(LLAMA_8B, concurrency=400, context_tokens=1080, max_sequences=1024),
        (
            "concurrency 400 to 395: enough, 407",
            "contextTokens 1080 to 1072: enough, 413",
            "kvCache bfloat16 to fp8: enough, 815",
            "tensorParallel 1 to 2: enough, 900",
            "maxSequences 1024 to 702: enough, 411",
            "memoryPercent 90 to 91: enough, 413",
        ),
    ),
    # Half of 720 is fewer than the requests, and isn't asked; 702 are still found.
    "sequences-between-the-requests-and-what-is-asked": (
        vary(LLAMA_8B, concurrency=400, context_tokens=1080, max_sequences=720),
        (
            "concurrency 400 to 399: enough, 411",
            "contextTokens 1080 to 1072: enough, 417",
            "kvCache bfloat16 to fp8: enough, 823",
            "tensorParallel 1 to 2: enough, 908",
            "maxSequences 720 to 702: enough, 411",
            "memoryPercent 90 to 91: enough, 417",
        ),
    ),
    "the-smallest-budget-that-carries-the-load": (
        vary(LLAMA_8B, concurrency=16, kv_budget_bytes=20 * GIB),
        (
            "concurrency 16 to 10: enough, 27",
            "contextTokens 16384 to 10240: enough, 44",
            "kvCache bfloat16 to fp8: enough, 55",
            "tensorParallel 1 to 2: enough, 60",
            "kvBudget 20.00Gi to 32Gi: enough, 27",
        ),
    ),
    # However much is declared, no more prices are asked than the device has GiB.
    "the-largest-budget-that-the-device-has": (
        vary(LLAMA_8B, concurrency=16, kv_budget_bytes=1 << 50),
        (
            "kvBudget 1048576.00Gi to 53Gi: enough, 27",
            "tensorParallel 1 to 8: less, 265; cannotCarryLoad/kvBudget: needs 1048576.00 GiB, has 66.45: kvBudget "
            "must fit",
        ),
    ),
    "the-nearest-parallel-size-that-divides": (
        vary(LLAMA_70B, tensor_parallel=3),
        ("tensorParallel 3 to 4: enough, 41",),
    ),
}


@pytest.mark.parametrize(("deployment", "mends"), MENDS.values(), ids=MENDS)
def test_what_would_mend_it(deployment: Deployment, mends: tuple[str, ...]) -> None:
    assert tuple(write_mend(one) for one in find_mends(deployment, H100, constants_of(deployment))) == mends
