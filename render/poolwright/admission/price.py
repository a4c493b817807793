"""The price: the memory of one rank, line by line. The worst rank decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from poolwright.admission.adapters import count_adapters
from poolwright.admission.architecture import Unsupported
from poolwright.admission.cache import CachePlan, plan_cache
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.weights import count_weights, split_layers
from poolwright.catalog.tables.engine_memory import EngineMemoryFact
from poolwright.specs.version import parse_version

MIB: Final = 1 << 20
GIB: Final = 1 << 30
CHECKPOINT_PERCENT: Final = 102  # what an engine holds, of the bytes of a checkpoint's files
LineName = Literal["weights", "adapters", "activation", "runtime", "graphs"]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A summand of what a rank takes of the engine's budget."""

    name: LineName
    bytes: int
    source: str


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """The rank that has the least left for its KV cache."""

    device: DeviceMemory
    stage: int  # of the pipeline, from 0
    shared_bytes: int  # of the device, that the engine's share is of
    requested_bytes: int  # what the engine may use
    lines: tuple[Line, ...]
    cache: CachePlan
    kv_budget_bytes: int  # may be negative
    outside_bytes: int  # of the device, that the engine may not use and nobody else has
    outside_needed_bytes: int
    band_bytes: int  # how far off the budget may be
    outside_band_bytes: int
    constants: str  # the set, `vllm 0.17.0`
    is_extrapolated: bool

    @property
    def lines_by_name(self) -> dict[str, int]:
        """Bytes of each line."""
        return {one.name: one.bytes for one in self.lines}

    @property
    def weights_bytes(self) -> int:
        """Bytes of the weights."""
        return self.lines_by_name["weights"]


class Constants(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine takes, of the version that is closest from below."""

    fact: EngineMemoryFact
    is_extrapolated: bool  # it wasn't fitted on this version

    @property
    def name(self) -> str:
        """The set."""
        return f"{self.fact.engine} {self.fact.version}"


def choose_constants(facts: Sequence[EngineMemoryFact], engine: str, version: str) -> Constants | None:
    """The newest set that isn't newer than an engine's version; None: there is none, or all are newer.

    version: as a stack has it; of one that can't be compared, such as `nightly`, nothing is known.
    """
    try:
        wanted = parse_version(version)
    except ValueError:
        return None
    older = [one for one in facts if one.engine == engine and parse_version(one.version) <= wanted]
    if not older:
        return None
    fact = max(older, key=lambda one: parse_version(one.version))
    is_fitted = fact.fitted_until is not None and parse_version(wanted.minor) <= parse_version(fact.fitted_until)
    return Constants(fact=fact, is_extrapolated=not is_fitted)


def price(deployment: Deployment, device: DeviceMemory, constants: Constants) -> Price | Unsupported:
    """What one rank of a deployment takes of a device.

    Cost: a handful of sums for each pipeline stage.
    Source: how vLLM and SGLang set up their memory; the amounts of `constants`.
    """
    unlike = _check_profile(deployment, device)
    if unlike:
        return Unsupported(reason=f"its profile was measured {unlike}")
    found: list[Price] = []
    for stage in range(deployment.pipeline_parallel):
        one = _price_stage(deployment, device, constants, stage)
        if isinstance(one, Unsupported):
            return one
        found.append(one)
    need = deployment.load.context_tokens
    return min(found, key=lambda one: MIB * one.kv_budget_bytes // one.cache.count_bytes(need))


def count_need(deployment: Deployment, found: Price) -> int | None:
    """Bytes of KV cache for the declared load on one rank; None: its concurrency isn't declared."""
    load = deployment.load
    if load.concurrency is None:
        return None
    cache = found.cache
    concurrency = -(-load.concurrency // deployment.data_parallel)
    # The last token is each request's own: what is computed for it can't be shared.
    shared = cache.count_shared_bytes(min(load.shared_prefix_tokens, load.context_tokens - 1))
    return shared + concurrency * (cache.count_bytes(load.context_tokens) - shared)


def _check_profile(deployment: Deployment, device: DeviceMemory) -> str:
    """How a profile was measured otherwise than it is to run; empty: it wasn't, or there is none."""
    profile = deployment.profile
    if profile is None:
        return ""
    if profile.tensor_parallel != deployment.tensor_parallel:
        return f"with tensorParallel {profile.tensor_parallel}"
    if profile.pipeline_parallel != deployment.pipeline_parallel:
        return f"with pipelineParallel {profile.pipeline_parallel}"
    if profile.memory_percent != deployment.memory_percent:
        return f"with deviceMemoryPercent {profile.memory_percent}"
    # What a driver publishes is up to 2 % more than the runtime has, and so much is taken off.
    is_smaller = device.total_bytes * 100 < profile.device_bytes * 98
    return "on a larger device" if is_smaller else ""


def _price_stage(deployment: Deployment, device: DeviceMemory, constants: Constants, stage: int) -> Price | Unsupported:
    fact, tensor, stages = constants.fact, deployment.tensor_parallel, deployment.pipeline_parallel
    counts = split_layers(len(deployment.architecture.layers), stages)
    first = sum(counts[:stage])
    cache = plan_cache(
        deployment.architecture.layers[first : first + counts[stage]],
        deployment.cache,
        tensor_parallel=tensor,
        in_flight_tokens=deployment.batch_tokens * fact.concurrent_batches,
        caches_prefixes=True,
    )
    if isinstance(cache, Unsupported):
        return cache
    shared = _count_shared(deployment, device, fact)
    requested = -(-shared * deployment.memory_percent // 100)
    lines = tuple(_list_lines(deployment, constants, stage))
    if deployment.profile is None:
        budget = requested - sum(one.bytes for one in lines)
    else:
        budget = deployment.profile.kv_budget_bytes
    band, outside_band = _count_bands(deployment, device, constants)
    return Price(
        device=device,
        stage=stage,
        shared_bytes=shared,
        requested_bytes=requested,
        lines=lines,
        cache=cache,
        kv_budget_bytes=budget,
        outside_bytes=device.total_bytes - requested - deployment.beside_bytes,
        outside_needed_bytes=_count_outside(deployment, constants),
        band_bytes=band,
        outside_band_bytes=outside_band,
        constants=constants.name,
        is_extrapolated=constants.is_extrapolated,
    )


def _list_lines(deployment: Deployment, constants: Constants, stage: int) -> Iterator[Line]:
    fact, architecture = constants.fact, deployment.architecture
    yield _build_weights(deployment, stage)
    if deployment.adapters is not None:
        slots = count_adapters(
            architecture,
            deployment.adapters,
            tensor_parallel=deployment.tensor_parallel,
            stages=deployment.pipeline_parallel,
            stage=stage,
        )
        rank = deployment.adapters.padded_rank
        yield Line(name="adapters", bytes=slots, source=f"{deployment.adapters.count} slots at rank {rank}")
    where = f"{constants.name}, {fact.fitted_on}"
    is_last = stage == deployment.pipeline_parallel - 1
    if fact.activation_in_budget:
        yield Line(name="activation", bytes=_count_activation(deployment, fact, is_last=is_last), source=where)
    yield Line(name="runtime", bytes=_count_runtime(deployment, fact) * MIB, source=where)
    if fact.graphs_in_budget:
        yield Line(name="graphs", bytes=fact.graphs_mi * MIB, source=where)


def _build_weights(deployment: Deployment, stage: int) -> Line:
    if deployment.profile is not None:
        return Line(name="weights", bytes=deployment.profile.weights_bytes, source=deployment.profile.source)
    tensor, stages = deployment.tensor_parallel, deployment.pipeline_parallel
    architecture, quantization = deployment.architecture, deployment.quantization
    own = count_weights(architecture, quantization, tensor_parallel=tensor, stages=stages, stage=stage)
    if deployment.weights_bytes is None:
        return Line(name="weights", bytes=own, source="the architecture's matrices")
    whole = count_weights(architecture, quantization, tensor_parallel=1, stages=1, stage=0)
    share = -(-own * deployment.weights_bytes * CHECKPOINT_PERCENT // (100 * whole))
    return Line(name="weights", bytes=share, source="the checkpoint's bytes, and 2 %")


def _count_activation(deployment: Deployment, fact: EngineMemoryFact, *, is_last: bool) -> int:
    """The peak of a step. Its largest part is the sampler's, on the last stage: every sequence by the vocabulary."""
    architecture = deployment.architecture
    logits = deployment.max_sequences * architecture.vocabulary if is_last else 0
    total = -(-fact.activation_milli_bytes_per_logit * logits // 1000) + fact.activation_base_mi * MIB
    is_marlin = deployment.quantization is not None and deployment.quantization.format == "mxfp4"
    if (architecture.is_moe and not is_marlin) or architecture.has_latent:
        total += fact.activation_experts_mi * MIB
    if architecture.vision_parameters:
        total += fact.activation_vision_mi * MIB
    total = max(total, fact.activation_floor_mi * MIB)
    if architecture.has_linear:
        total += -(-fact.activation_linear_mi * MIB * deployment.batch_tokens // 1024)
    return total


def _count_runtime(deployment: Deployment, fact: EngineMemoryFact) -> int:
    tensor = deployment.tensor_parallel
    if deployment.pipeline_parallel > 1 and tensor == 1:
        return fact.runtime_stage_mi
    return fact.at(fact.runtime_mi, tensor)


def _count_outside(deployment: Deployment, constants: Constants) -> int:
    """What must be left outside the budget: context, fragments, and graphs where they aren't in it."""
    fact = constants.fact
    total = (_count_context(deployment, fact) + fact.at(fact.fragments_mi, _count_ranks(deployment))) * MIB
    total += 0 if fact.graphs_in_budget else fact.graphs_mi * MIB
    return total + (0 if fact.activation_in_budget else _count_activation(deployment, fact, is_last=True))


def _count_shared(deployment: Deployment, device: DeviceMemory, fact: EngineMemoryFact) -> int:
    return device.total_bytes - (0 if fact.activation_in_budget else _count_context(deployment, fact) * MIB)


def _count_context(deployment: Deployment, fact: EngineMemoryFact) -> int:
    return fact.at(fact.context_mi, _count_ranks(deployment))


def _count_ranks(deployment: Deployment) -> int:
    return deployment.tensor_parallel * deployment.pipeline_parallel


def _count_bands(deployment: Deployment, device: DeviceMemory, constants: Constants) -> tuple[int, int]:
    """How far off the budget, and what is outside of it, may be. What was measured isn't off.

    Source: half a GiB or 2 % is what 51 public logs stay within; twice that, where no log of the version was read.
    """
    fact, times = constants.fact, 2 if constants.is_extrapolated else 1
    outside = max(GIB // 2, device.total_bytes // 100) * times
    outside += 0 if fact.graphs_in_budget else (fact.graphs_high_mi - fact.graphs_mi) * MIB
    if deployment.profile is not None:
        return 0, outside
    return max(GIB // 2, device.total_bytes * 2 // 100) * times, outside
