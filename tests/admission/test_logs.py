"""What engines printed in public logs, against our prices: quantity by quantity, and the answers.

Percent say little of a small budget, so there are amounts too. A figure that was printed is rounded to 0.01 GiB; what
follows from it alone has to be exact within that.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest
from compared import (
    QUANTITIES,
    UNSUPPORTED,
    compare,
    compare_left_out,
    count_blocks,
    count_errors,
    fit_activation,
    is_plain,
    plan,
    read_priced_logs,
)
from engine_logs import (
    FACTS,
    GIB,
    EngineLog,
    constants_of,
    deploy,
    device_of,
    find_constants,
    parse_model,
    read_logs,
    read_model,
)
from msgspec.structs import replace

from poolwright.admission.admit import admit
from poolwright.admission.architecture import Unsupported
from poolwright.admission.cache import CachePlan, plan_cache
from poolwright.admission.deployment import DeviceMemory, Load, Profile
from poolwright.admission.price import Price, choose_constants, price

LOGS = {log.id: log for log in read_logs()}
FITTED, HELD_OUT, EXTRAPOLATED = "fitted", "held out", "extrapolated"


def group_of(log: EngineLog) -> str:
    """Whether constants were fitted on it; or on others of its versions; or on none of its version."""
    if log.is_fitted:
        return FITTED
    return EXTRAPOLATED if constants_of(log).is_extrapolated else HELD_OUT


@dataclass(frozen=True)
class Tolerance:
    """What errors of a quantity may be, in percent; and each of them in its own unit."""

    quantity: str
    group: str | None  # None: all logs
    count: int
    median: float
    p90: float
    each: float


# Weights follow from the config; activation, runtime and graphs are constants, so the budget is judged by group.
TOLERANCES = {
    # The formula leaves out what engines allocate beside the matrices: 0.03 GiB of 15. The rest is in DEVIATIONS.
    "weights": Tolerance("weights", None, 39, median=1, p90=2, each=0.36),
    # The largest is float32, whose logits the law doesn't know; then vocabularies of 32k.
    "activation-of-fitted-runs": Tolerance("activation", FITTED, 23, median=1.1, p90=6, each=0.31),
    "activation-of-others": Tolerance("activation", HELD_OUT, 2, median=2, p90=2, each=0.04),
    # A budget of 3 GiB is 0.17 GiB off, which is 6 %.
    "budget-of-fitted-runs": Tolerance("KV budget", FITTED, 23, median=0.2, p90=2, each=0.63),
    # The aim: 2 % in the median and 5 % for nine of ten, on runs that the constants weren't fitted on.
    "budget-of-others": Tolerance("KV budget", HELD_OUT, 3, median=2, p90=5, each=0.22),
    # From a budget that was printed there is no constant in between: the aim is 0.1 %.
    "tokens": Tolerance("KV tokens", None, 28, median=0.1, p90=0.11, each=14000),
    "blocks": Tolerance("KV blocks", None, 25, median=0.1, p90=0.1, each=30),
    "concurrency": Tolerance("maximum concurrency", None, 31, median=0.1, p90=0.1, each=0.06),
    "need-of-a-refusal": Tolerance("needed KV", None, 2, median=0, p90=0, each=0),
    "longest-of-a-refusal": Tolerance("longest context", None, 2, median=0.1, p90=0.1, each=224),
}

# Errors above 1 % of weights, and of tokens that the rounding doesn't explain: percent, and where they come from.
DEVIATIONS = {
    ("weights", "vllm-019-h100-w4a16-redhatai-lla-tp1pp1-8k-w4g128"): (-1.3, "buffers of the int4 kernels: 0.07 GiB"),
    ("weights", "vllm-019-h100-google-gemma-3-12b-it-tp1pp1-8k"): (-2.6, "its vision tower takes more: 0.61 GiB"),
    ("weights", "vllm-6746-llama31-405b-fp8-8xh100"): (
        -1.8,
        "vLLM 0.5; attention in 16 bits is counted, 47 GiB without",
    ),
    ("weights", "vllm-13061-r1-distill-qwen14b-2x4090"): (-1.4, "a V0 engine counts communication as weights"),
    ("weights", "vllm-23278-gpt-oss-120b-h100-oom"): (1.3, "experts are padded to 256; this release to less"),
    ("weights", "vllm-019-gpt-oss-20b-h100-util95-oom"): (1.3, "the same padding"),
    ("KV tokens", "vllm-21348-qwen3-235b-fp8-4xh100"): (
        1.1,
        "the rank with the least decides, another's GiB is printed",
    ),
    ("KV tokens", "vllm-13061-r1-distill-qwen14b-2x4090"): (16.4, "the same: one rank had 7.47 GiB, 8.69 are printed"),
}


@pytest.mark.parametrize("tolerance", TOLERANCES.values(), ids=TOLERANCES)
def test_errors_stay_within_what_is_promised(tolerance: Tolerance) -> None:
    found = [one for one in compare(tolerance.quantity).values() if tolerance.group in (None, group_of(one.log))]
    errors = count_errors(found)
    assert errors.count == tolerance.count
    assert errors.median <= tolerance.median
    assert errors.p90 <= tolerance.p90
    far = {
        one.log.id: one.ours - one.printed
        for one in found
        if abs(one.ours - one.printed) > tolerance.each and (tolerance.quantity, one.log.id) not in DEVIATIONS
    }
    assert far == {}


def test_every_deviation_is_named() -> None:
    found = {
        (quantity, name): round(one.error, 1)
        for quantity, least in (("weights", 1), ("KV tokens", 0.2))
        for name, one in compare(quantity).items()
        if abs(one.error) > least
    }
    assert found == {key: percent for key, (percent, _) in DEVIATIONS.items()}


EXACT = [
    name
    for name, log in LOGS.items()
    if log in read_priced_logs() and log.printed.get("kvGiB", 0) > 0 and ("KV tokens", name) not in DEVIATIONS
]


@pytest.mark.parametrize("name", EXACT)
def test_what_follows_from_a_printed_budget_is_exact_within_its_rounding(name: str) -> None:
    log = LOGS[name]
    cache, printed = plan(log), log.printed
    # Two rounded figures were added where keys and values are printed apart.
    half = 0.01 if log.engine == "sglang" else 0.005
    least, most = (count_blocks(log, cache, more_gib=more) for more in (-half, half))
    if "kvBlocks" in printed:
        assert least <= printed["kvBlocks"] <= most
    if "kvTokens" in printed and len(cache.groups) == 1:
        assert least * cache.block_tokens <= printed["kvTokens"] <= (most + 1) * cache.block_tokens
    if "maxConcurrency" in printed:
        pages = cache.count_blocks(log.context_tokens)
        assert least / pages - 0.0051 <= printed["maxConcurrency"] <= most / pages + 0.0051
    if "longestTokens" in printed:
        assert least * cache.block_tokens <= printed["longestTokens"] <= most * cache.block_tokens


# What hybrids print as tokens follows from the concurrency: requests times the longest context, since vLLM 0.21.
DERIVED = {"club3090-652-qwen36-35b-a3b-5090": 300, "talos-1995-qwen38-27b-fp8-2x3090": 208}


@pytest.mark.parametrize(("name", "blocks"), DERIVED.items())
def test_hybrids_with_states_by_their_page_plan(name: str, blocks: int) -> None:
    log = LOGS[name]
    cache = plan(log)
    assert count_blocks(log, cache) == blocks
    assert blocks * log.context_tokens // cache.count_blocks(log.context_tokens) == log.printed["kvTokens"]
    assert cache.block_tokens == log.printed.get("blockTokens", cache.block_tokens)


def test_another_engines_blocks_follow_from_the_same_rate() -> None:
    """TensorRT-LLM has no price. The bytes of a token are the model's, and its blocks of 64 tokens hold them."""
    log = LOGS["trtllm-2268-qwen15-7b-a100-40gb"]
    cache = plan_cache(
        read_model(log.model).layers, "float16", tensor_parallel=1, in_flight_tokens=2048, caches_prefixes=True
    )
    assert isinstance(cache, CachePlan)
    budget = log.printed["freeAfterLoadGiB"] * log.args["memory"] * GIB
    block_bytes = cache.block_bytes // cache.block_tokens * log.args["blockTokens"]
    assert abs(budget / block_bytes - log.printed["kvBlocks"]) < 1
    assert choose_constants(FACTS.engine_memory, log.engine, "0.13.0") is None


def test_sglang_budget_is_its_share_without_the_weights() -> None:
    """Of what is free before loading; the log's share is 91.1 %, and ours are whole percents: 0.1 % is added."""
    log = LOGS["sglang-18263-qwen3-30b-a3b-mi355"]
    share, after = log.args["memory"], log.printed["freeAfterLoadGiB"]
    free_gib = (after - log.printed["budgetGiB"]) / (1 - share)  # the engine's rule, turned round
    constants = constants_of(log)
    outside = constants.fact.at(constants.fact.context_mi, 1) << 20
    device = DeviceMemory(name="gpu", total_bytes=int(free_gib * GIB) + outside)
    found = price(deploy(log), device, constants)
    assert isinstance(found, Price)
    assert found.kv_budget_bytes / GIB + 0.001 * free_gib == pytest.approx(log.printed["budgetGiB"], abs=0.25)


# ----- constants ------------------------------------------------------------------------------------------------------


def test_budgets_of_a_family_by_the_law_fitted_on_the_others() -> None:
    """Leaving each family of models out of the fit says what to expect of a model that no log is of."""
    errors = count_errors(compare_left_out())
    assert (errors.count, errors.median < 0.5, errors.p90 < 5) == (14, True, True)


def test_the_law_is_the_one_that_the_logs_give() -> None:
    slope, base = fit_activation([log for log in LOGS.values() if log.is_fitted and is_plain(log)])
    fact = constants_of(LOGS["vllm-019-h100-qwen-qwen3-8b-tp1pp1-8k"]).fact
    assert slope * 1000 == pytest.approx(fact.activation_milli_bytes_per_logit, rel=0.03)
    assert base * 1024 == pytest.approx(fact.activation_base_mi, abs=60)


# Of versions whose amounts weren't fitted: GiB that the budget is off. Less than was printed is the safe side.
UNFITTED = {
    # V0 engines profiled a prefill, and had far smaller peaks than the oldest set has.
    "vllm-10517-llama31-8b-3090-20k": -3.40,
    "vllm-10517-llama31-8b-3090-29k": -2.48,
    "vllm-10511-llama3-8b-h100-tp1": -2.80,
    "vllm-13061-r1-distill-qwen14b-2x4090": -7.04,
    # V1 engines before 0.17: the planner's table that the amounts are of.
    "llmd-doc-qwen3-32b-tp1": -0.06,
    "llmd-doc-qwen3-32b-tp2": -1.41,
    "llmd-doc-llama33-70b-fp8-tp1-refusal": -0.84,
    "llmd-sweep-qwen3-14b-v0.16.0": -0.07,
}


def test_budgets_of_versions_without_fitted_amounts_are_never_too_large() -> None:
    found = {
        name: round(one.ours - one.printed, 2)
        for name, one in compare("KV budget").items()
        if group_of(one.log) == EXTRAPOLATED
    }
    assert found == UNFITTED


@pytest.mark.parametrize(
    "name", [name for name, one in compare("KV budget").items() if group_of(one.log) != EXTRAPOLATED]
)
def test_the_band_is_wider_than_the_error(name: str) -> None:
    log = LOGS[name]
    found = price(deploy(log), device_of(log), constants_of(log))
    assert isinstance(found, Price)
    assert abs(found.kv_budget_bytes / GIB - log.printed["kvGiB"]) < found.band_bytes / GIB


# vllm-project/vllm issue 52872: an RTX 5090 of 31.4 GiB at 93 %, a model of 48 gated delta nets and 16 layers of
# attention that isn't named. Batch tokens: GiB of activation, graphs and KV cache. The first two died under load.
BATCHES = {8192: (2.84, 0.89, 8.89), 4096: (2.42, 0.52, 9.72), 3072: (2.32, 0.52, 9.82), 2048: (2.21, 0.52, 9.93)}
DIED = (8192, 4096)


@pytest.mark.parametrize("sequences", [2, 256], ids=["on-the-floor", "above-it"])
def test_activation_of_gated_delta_nets_grows_with_the_batch(sequences: int) -> None:
    log = LOGS["talos-1995-qwen38-27b-fp8-2x3090"]  # of the same layers
    device = DeviceMemory(name="gpu", total_bytes=int(31.4 * GIB))

    def count(batch: int) -> float:
        deployment = replace(deploy(log), tensor_parallel=1, batch_tokens=batch, max_sequences=sequences)
        found = price(deployment, device, constants_of(log))
        assert isinstance(found, Price)
        return found.lines_by_name["activation"] / GIB

    for batch, (activation, graphs, kv) in BATCHES.items():
        more = count(batch) - count(2048)
        assert more == pytest.approx(activation - BATCHES[2048][0], abs=0.025)
        # What the activation and the graphs take more is what the cache has less.
        assert BATCHES[2048][2] - kv == pytest.approx(more + graphs - BATCHES[2048][1], abs=0.05)


# ----- answers --------------------------------------------------------------------------------------------------------

STOPPED = {
    "vllm-10517-llama31-8b-3090-29k": "unsupported",
    "vllm-13061-r1-distill-qwen14b-2x4090": "unsupported",
    "vllm-17327-qwen3-30b-a3b-4xa10": "unsupported",
    "vllm-23278-gpt-oss-120b-h100-oom": "tooClose",
    "llmd-doc-llama33-70b-fp8-tp1-refusal": "refused",
    "recipes-12-qwen3-coder-480b-fp8-dp8-util90": "refused",
    "vllm-019-gpt-oss-20b-h100-util95-oom": "tooClose",
}
# The shape of its cache follows from what it printed. What it weighs doesn't, so it has no answer but by its log.
WITHOUT_WEIGHTS = "kaito-2132-mistral-small-4-119b"


def answer(log: EngineLog, profile: Profile | None = None) -> str:
    """With one request at a time, and on as much memory as the device can have where the log doesn't say.

    What is older than any set has no price but a measured one.
    """
    if find_constants(log) is None and profile is None:
        return "unsupported"
    gib = log.total_gib or log.at_most_gib
    assert gib is not None
    device = DeviceMemory(name="gpu", total_bytes=int(gib * GIB))
    load = Load(context_tokens=log.context_tokens, concurrency=1)
    return admit(replace(deploy(log), load=load, profile=profile), device, constants_of(log)).word


def test_no_log_that_refused_or_ran_out_of_memory_is_admitted() -> None:
    stopped = [log for log in read_priced_logs() if log.outcome.startswith(("refused", "out of memory"))]
    assert {log.id: answer(log) for log in stopped if log.id != WITHOUT_WEIGHTS} == STOPPED


@pytest.mark.parametrize(
    "name", ["vllm-10517-llama31-8b-3090-29k", "recipes-12-qwen3-coder-480b-fp8-dp8-util90", WITHOUT_WEIGHTS]
)
def test_a_context_that_a_log_refused_is_refused_by_its_own_figures(name: str) -> None:
    log = LOGS[name]
    deployment = deploy(log)
    profile = Profile(
        source="the log",
        weights_bytes=0,
        kv_budget_bytes=int(log.printed["kvGiB"] * GIB),
        device_bytes=1,
        memory_percent=deployment.memory_percent,
        tensor_parallel=deployment.tensor_parallel,
        pipeline_parallel=deployment.pipeline_parallel,
    )
    assert answer(log, profile) == "refused"


def test_no_log_that_started_is_refused() -> None:
    started = [log for log in read_priced_logs() if log.outcome == "started" and log.total_gib is not None]
    assert len(started) == 30
    words = Counter(answer(log) for log in started)
    assert (words["refused"], words["unsupported"]) == (0, 2)


@pytest.mark.parametrize("batch", DIED)
def test_a_log_that_died_under_load_is_not_admitted(batch: int) -> None:
    """Its own figures as a measured profile don't make it so: the peak was larger than the one profiled."""
    log = LOGS["talos-1995-qwen38-27b-fp8-2x3090"]
    activation, graphs, kv = BATCHES[batch]
    weights = 0.93 * 31.4 - activation - graphs - kv
    deployment = replace(
        deploy(log),
        tensor_parallel=1,
        batch_tokens=batch,
        memory_percent=93,
        load=Load(context_tokens=16384, concurrency=1),
        profile=Profile(
            source="the log",
            weights_bytes=int(weights * GIB),
            kv_budget_bytes=int(kv * GIB),
            device_bytes=int(31.4 * GIB),
            memory_percent=93,
        ),
    )
    found = admit(deployment, DeviceMemory(name="gpu", total_bytes=int(31.4 * GIB)), constants_of(log))
    assert [(one.failure, one.is_close) for one in found.refusals] == [("diesLater", True)]


@pytest.mark.parametrize("name", [name for name, log in LOGS.items() if log.model in UNSUPPORTED])
def test_a_model_that_the_formulas_dont_cover_is_said_to_be_so(name: str) -> None:
    """A plain rule would be 89 % too low for it."""
    found = parse_model(LOGS[name].model)
    assert found == Unsupported(reason="the formulas don't cover DeepseekV4ForCausalLM")


def test_every_quantity_is_judged() -> None:
    assert {one.quantity for one in TOLERANCES.values()} == set(QUANTITIES)
    assert (len(LOGS), len(read_priced_logs())) == (50, 48)
