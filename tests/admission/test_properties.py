"""What holds for every price: more load never costs less, less precision never more, and mends are the nearest."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deployed import H100, constants_of, vary
from engine_logs import GIB, read_model
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from poolwright.admission.adapters import Slots
from poolwright.admission.admit import Admission, admit
from poolwright.admission.architecture import Quantization, WeightFormat
from poolwright.admission.cache import plan_cache
from poolwright.admission.deployment import Deployment, DeviceMemory, Load, PricedEngine
from poolwright.admission.mends import Mend, find_mends
from poolwright.admission.price import Price, count_need, price
from poolwright.admission.thresholds import find_thresholds
from poolwright.admission.weights import count_weights

MODELS = (
    "meta-llama/Llama-3.1-8B",
    "meta-llama/Llama-3.1-70B",
    "Qwen/Qwen3-30B-A3B",
    "Qwen/Qwen3.5-27B",
    "google/gemma-3-12b-it",
    "openai/gpt-oss-20b",
    "deepseek-ai/DeepSeek-V2-Lite-Chat",
    "microsoft/phi-4",
)
FORMATS: tuple[WeightFormat | None, ...] = (None, "fp8", "fp8Block128", "int4", "nvfp4")
ENGINES: tuple[tuple[PricedEngine, str], ...] = (
    ("vllm", "0.16.0"),
    ("vllm", "0.19.0"),
    ("vllm", "0.33.0"),
    ("sglang", "0.5.23"),
)
WORDS = ("admitted", "tooClose", "refused")
GROWN = ("context_tokens", "concurrency", "slots", "rank", "max_sequences", "batch_tokens", "beside_bytes")


@dataclass(frozen=True)
class Drawn:
    """A deployment that is shown without the layers of its model."""

    model: str
    fields: str
    deployment: Deployment = field(repr=False)


@st.composite
def deployments(draw: st.DrawFn) -> Drawn:
    """Models on engines, of sizes that often are near what a device holds."""
    engine, version = draw(st.sampled_from(ENGINES))
    model = draw(st.sampled_from(MODELS))
    form = draw(st.sampled_from(FORMATS))
    concurrency = draw(st.none() | st.integers(1, 400))
    deployment = Deployment(
        architecture=read_model(model),
        quantization=None if form is None else Quantization(format=form),
        engine=engine,
        version=version,
        cache=draw(st.sampled_from(("bfloat16", "fp8"))),
        load=Load(
            context_tokens=draw(st.integers(1, 40_000)),
            concurrency=concurrency,
            shared_prefix_tokens=draw(st.sampled_from((0, 0, 1000))),
            kv_budget_bytes=draw(st.none() | st.integers(1, 80).map(lambda gib: gib * GIB)),
        ),
        max_sequences=draw(st.integers(concurrency or 1, 1024) | st.integers(1, 400)),
        batch_tokens=draw(st.sampled_from((2048, 8192, 16384))),
        memory_percent=draw(st.integers(60, 99)),
        tensor_parallel=draw(st.sampled_from((1, 2, 4))),
        pipeline_parallel=draw(st.sampled_from((1, 1, 2))),
        data_parallel=draw(st.sampled_from((1, 1, 2))),
        adapters=draw(st.none() | st.builds(Slots, count=st.integers(1, 64), rank=st.integers(1, 512))),
        beside_bytes=draw(st.sampled_from((0, GIB))),
    )
    shown = {name: value for name, value in asdict(deployment).items() if name != "architecture"}
    return Drawn(model, str(shown), deployment)


devices = st.sampled_from((24, 40, 79, 140)).map(lambda gib: DeviceMemory(name="gpu", total_bytes=gib * GIB))
# The first draws parse the models.
thorough = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def grow(deployment: Deployment, field: str, more: int) -> Deployment:
    load, adapters = deployment.load, deployment.adapters
    if field == "context_tokens":
        return vary(deployment, context_tokens=load.context_tokens + more)
    if field == "concurrency":
        assume(load.concurrency is not None)
        return vary(deployment, concurrency=(load.concurrency or 0) + more)
    if field in ("slots", "rank"):
        known = adapters or Slots(count=1, rank=1)
        changed = replace(known, **{"count" if field == "slots" else "rank": getattr(known, _name(field)) + more})
        assume(changed.padded_rank is not None)
        return vary(deployment, adapters=changed)
    scale = GIB // 16 if field == "beside_bytes" else 1
    return vary(deployment, **{field: getattr(deployment, field) + more * scale})


def _name(field: str) -> str:
    return "count" if field == "slots" else "rank"


def find_price(deployment: Deployment, device: DeviceMemory = H100) -> Price:
    found = price(deployment, device, constants_of(deployment))
    assume(isinstance(found, Price))
    assert isinstance(found, Price)
    return found


def ask(deployment: Deployment, device: DeviceMemory) -> Admission:
    return admit(deployment, device, constants_of(deployment))


def count_parts(deployment: Deployment) -> tuple[int, ...]:
    """Bytes of a rank before its cache, of a request and of all, and what must be left outside."""
    found = find_price(deployment)
    need = count_need(deployment, found) or 0
    request = found.cache.count_bytes(deployment.load.context_tokens)
    return sum(one.bytes for one in found.lines), request, need, found.outside_needed_bytes


@thorough
@given(drawn=deployments(), field=st.sampled_from(GROWN), more=st.integers(1, 5000))
def test_more_of_anything_never_costs_less(drawn: Drawn, field: str, more: int) -> None:
    grown = grow(drawn.deployment, field, more)
    # Stages are asked apart: which of them has the least left may be another then.
    one = vary(drawn.deployment, pipeline_parallel=1)
    assert all(
        before <= after for before, after in zip(count_parts(one), count_parts(grow(one, field, more)), strict=True)
    )
    assert find_price(grown).kv_budget_bytes <= find_price(drawn.deployment).kv_budget_bytes


@thorough
@given(drawn=deployments(), device=devices, field=st.sampled_from(GROWN), more=st.integers(1, 5000))
def test_no_answer_gets_better_with_more_load(drawn: Drawn, device: DeviceMemory, field: str, more: int) -> None:
    deployment = drawn.deployment
    before, after = ask(deployment, device).word, ask(grow(deployment, field, more), device).word
    assume("unsupported" not in (before, after))
    # More sequences at once take more memory, and carry more.
    each = -(-(deployment.load.concurrency or 1) // deployment.data_parallel)
    assume(field != "max_sequences" or each <= deployment.max_sequences)
    assert WORDS.index(before) <= WORDS.index(after)


@thorough
@given(drawn=deployments(), more=st.integers(1, 100))
def test_no_answer_gets_worse_on_a_larger_device(drawn: Drawn, more: int) -> None:
    small = DeviceMemory(name="gpu", total_bytes=40 * GIB)
    large = DeviceMemory(name="gpu", total_bytes=(40 + more) * GIB)
    before, after = ask(drawn.deployment, small).word, ask(drawn.deployment, large).word
    assume(before != "unsupported")
    assert WORDS.index(after) <= WORDS.index(before)


@thorough
@given(drawn=deployments(), tokens=st.integers(1, 200_000))
def test_half_the_precision_never_costs_more(drawn: Drawn, tokens: int) -> None:
    # Blocks that a state stretches hold more tokens then, and less of a common beginning fills whole ones.
    assume(not (drawn.deployment.architecture.has_linear and drawn.deployment.load.shared_prefix_tokens))
    costs = []
    for precision in ("fp8", "bfloat16", "float32"):
        found = find_price(vary(drawn.deployment, cache=precision))
        costs.append((found.cache.count_bytes(tokens), count_need(drawn.deployment, found) or 0))
    assert costs == sorted(costs)
    assert [need for _, need in costs] == sorted(need for _, need in costs)


@thorough
@given(drawn=deployments(), prefix=st.integers(1, 50_000), concurrency=st.integers(1, 400))
def test_a_common_beginning_saves_no_more_than_itself(drawn: Drawn, prefix: int, concurrency: int) -> None:
    apart = vary(drawn.deployment, concurrency=concurrency, shared_prefix_tokens=0)
    together = vary(apart, shared_prefix_tokens=prefix)
    found = find_price(apart)
    before, after = count_need(apart, found), count_need(together, found)
    assert before is not None
    assert after is not None
    ranks = drawn.deployment.data_parallel
    one = found.cache.count_bytes(min(prefix, apart.load.context_tokens))
    assert before - (-(-concurrency // ranks) - 1) * one <= after <= before
    # A request alone needs all of its own, and each request its states and windows.
    assert after >= found.cache.count_bytes(apart.load.context_tokens)
    own = sum(one.states for one in found.cache.groups) * found.cache.block_bytes
    assert after >= -(-concurrency // ranks) * own


@thorough
@given(drawn=deployments(), tensor=st.sampled_from((2, 4, 8)), tokens=st.integers(1, 200_000))
def test_ranks_together_have_all_and_each_what_is_replicated(drawn: Drawn, tensor: int, tokens: int) -> None:
    architecture = drawn.deployment.architecture
    one, many = (
        vary(drawn.deployment, tensor_parallel=ranks, pipeline_parallel=1, adapters=Slots(count=4, rank=16))
        for ranks in (1, tensor)
    )
    before, after = find_price(one), find_price(many)
    alone, each = before.lines_by_name, after.lines_by_name
    assert each["weights"] * tensor >= alone["weights"]
    assert each["adapters"] * tensor >= alone["adapters"]
    # Norms and the vision tower; the sampler works on the whole vocabulary; communication only comes with ranks.
    replicated = 2 * (2 * len(architecture.layers) + 1) * architecture.hidden + 2 * architecture.vision_parameters
    assert each["weights"] >= replicated
    assert each.get("activation") == alone.get("activation")  # SGLang's isn't of the budget
    assert each.get("runtime", 0) >= alone.get("runtime", 0)
    assert after.outside_needed_bytes >= before.outside_needed_bytes
    if architecture.has_latent:
        assert after.cache.count_bytes(tokens) == before.cache.count_bytes(tokens)
    if not architecture.has_linear:  # whose blocks are as large as a state
        assert after.cache.count_bytes(tokens) * tensor >= before.cache.count_bytes(tokens)


@thorough
@given(drawn=deployments(), stages=st.integers(2, 8))
def test_stages_together_have_all_weights(drawn: Drawn, stages: int) -> None:
    architecture, kept = drawn.deployment.architecture, drawn.deployment.quantization
    parts = [
        count_weights(architecture, kept, tensor_parallel=1, stages=stages, stage=stage) for stage in range(stages)
    ]
    whole = count_weights(architecture, kept, tensor_parallel=1, stages=1, stage=0)
    again = 2 * (architecture.vocabulary + 64) * architecture.hidden if architecture.is_tied else 0
    assert whole <= sum(parts) <= whole + again + stages


@thorough
@given(
    drawn=deployments(),
    batch=st.sampled_from((2048, 8192)),
    tokens=st.integers(1, 200_000),
    more=st.integers(1, 99),
)
def test_a_longer_request_never_takes_fewer_blocks(drawn: Drawn, batch: int, tokens: int, more: int) -> None:
    plans = [
        plan_cache(
            drawn.deployment.architecture.layers,
            drawn.deployment.cache,
            tensor_parallel=1,
            in_flight_tokens=batch,
            caches_prefixes=caches,
        )
        for caches in (False, True)
    ]
    once, kept = plans
    assert not hasattr(once, "reason")
    assert not hasattr(kept, "reason")
    assert once.count_blocks(tokens) <= once.count_blocks(tokens + more)
    assert once.count_blocks(tokens) <= kept.count_blocks(tokens)


def apply(deployment: Deployment, field: str, value: str) -> Deployment:
    match field:
        case "concurrency":
            return vary(deployment, concurrency=int(value))
        case "contextTokens":
            return vary(deployment, context_tokens=int(value))
        case "kvCache":
            return vary(deployment, cache=value)
        case "tensorParallel":
            return vary(deployment, tensor_parallel=int(value))
        case "maxSequences":
            return vary(deployment, max_sequences=int(value))
        case "memoryPercent":
            return vary(deployment, memory_percent=int(value))
        case "kvBudget":
            return vary(deployment, kv_budget_bytes=int(value.removesuffix("Gi")) * GIB)
    assert deployment.adapters is not None
    return vary(deployment, adapters=replace(deployment.adapters, count=int(value)))


def list_nearer(deployment: Deployment, mend: Mend) -> list[str]:
    """One step less of a change: empty where there is none."""
    if mend.field == "kvCache":
        return []
    if mend.field == "kvBudget":
        now, was = int(mend.now.removesuffix("Gi")), float(mend.was.removesuffix("Gi"))
        return [f"{now - 1}Gi"] if now - 1 > was else [f"{now + 1}Gi"] if now + 1 < was else []
    now, was = int(mend.now), int(mend.was)
    if mend.field == "tensorParallel":
        return [str(now // 2)] if now // 2 > was else []
    step = (16 if mend.field == "contextTokens" else 1) * (1 if now < was else -1)
    return [str(now + step)] if min(now, was) < now + step < max(now, was) else []


@settings(thorough, max_examples=100)
@given(drawn=deployments(), device=devices)
def test_every_mend_is_admitted_and_one_step_less_isnt(drawn: Drawn, device: DeviceMemory) -> None:
    before = ask(drawn.deployment, device)
    mends = find_mends(drawn.deployment, device, constants_of(drawn.deployment))
    if before.word in ("admitted", "unsupported"):
        assert mends == ()
        return
    for mend in mends:
        changed: Any = apply(drawn.deployment, mend.field, mend.now)
        assert (ask(changed, device).word == "admitted") is mend.is_enough
        assert changed != drawn.deployment
        if mend.is_enough:
            nearer = [apply(drawn.deployment, mend.field, value) for value in list_nearer(drawn.deployment, mend)]
            assert [ask(one, device).word for one in nearer if ask(one, device).word == "admitted"] == []


@settings(thorough, max_examples=60)
@given(drawn=deployments(), device=devices)
def test_a_threshold_is_admitted_and_one_step_more_isnt(drawn: Drawn, device: DeviceMemory) -> None:
    found = find_thresholds(drawn.deployment, device, constants_of(drawn.deployment))
    assert (found is None) is (ask(drawn.deployment, device).word != "admitted")
    if found is None:
        return
    for field_name, most, step in (("context_tokens", found.context_tokens, 16), ("concurrency", found.concurrency, 1)):
        if most is not None:
            assert ask(vary(drawn.deployment, **{field_name: most}), device).word == "admitted"
            assert ask(vary(drawn.deployment, **{field_name: most + step}), device).word != "admitted"
