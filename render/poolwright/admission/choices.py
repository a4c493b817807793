"""How somebody would serve a model: what they say, and what an engine does where they say nothing."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Final, TypeVar

from msgspec.structs import replace

from poolwright.admission.adapters import Slots
from poolwright.admission.architecture import Architecture, WeightFormat
from poolwright.admission.deployment import Deployment, DeviceMemory, Load, PricedEngine
from poolwright.admission.formats import CacheFormat, is_quantized
from poolwright.admission.from_envelope import choose_quantization
from poolwright.specs.version import parse_version

T = TypeVar("T")

GIB: Final = 1 << 30
# Of all memory, from a version of vLLM on. Source: vllm-project/vllm pull request 38284, in 0.21: graphs count since
# then, and the share was raised for them.
_MEMORY_PERCENTS: Final = (("0.21", 92), ("0", 90))
# Memory from which on, tokens of a step, sequences. Source: vllm 0.33.0, the package on PyPI: engine/arg_utils.py.
_BATCHES: Final = ((160 * GIB, 16384, 1024), (70 * GIB, 8192, 1024), (0, 2048, 256))
_SMALL_BATCH: Final = _BATCHES[-1]  # of A100s too, however large


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """What somebody says; None: nothing."""

    engine: PricedEngine | None = None
    version: str | None = None  # goes with the engine
    weights: WeightFormat | None = None
    cache: CacheFormat | None = None
    tensor_parallel: int | None = None
    pipeline_parallel: int | None = None
    context_tokens: int | None = None
    concurrency: int | None = None
    batch_tokens: int | None = None
    max_sequences: int | None = None
    memory_percent: int | None = None
    adapters: Slots | None = None


def apply_choices(deployment: Deployment, choices: Choices) -> Deployment:
    """A deployment with everything that was chosen."""
    load = replace(
        deployment.load,
        kv_budget_bytes=None if moves_need(choices) else deployment.load.kv_budget_bytes,
        context_tokens=_or(choices.context_tokens, deployment.load.context_tokens),
        concurrency=_or(choices.concurrency, deployment.load.concurrency),
    )
    changed = replace(
        deployment,
        engine=_or(choices.engine, deployment.engine),
        version=_or(choices.version, deployment.version),
        cache=_or(choices.cache, deployment.cache),
        load=load,
        batch_tokens=_or(choices.batch_tokens, deployment.batch_tokens),
        max_sequences=_or(choices.max_sequences, deployment.max_sequences),
        memory_percent=_or(choices.memory_percent, deployment.memory_percent),
        tensor_parallel=_or(choices.tensor_parallel, deployment.tensor_parallel),
        pipeline_parallel=_or(choices.pipeline_parallel, deployment.pipeline_parallel),
        adapters=_or(choices.adapters, deployment.adapters),
    )
    if choices.weights is None:
        return changed
    architecture = deployment.architecture
    if not is_quantized(choices.weights):
        architecture = replace(architecture, dtype=choices.weights)
    # The bytes of the checkpoint were those of the other format.
    quantization = choose_quantization(choices.weights, architecture)
    return replace(changed, architecture=architecture, quantization=quantization, weights_bytes=None)


def moves_need(choices: Choices) -> bool:
    """Whether a device's KV cache is another one than before, so that a budget that was declared for it isn't."""
    sizes = (choices.tensor_parallel, choices.pipeline_parallel, choices.context_tokens, choices.concurrency)
    return any(one is not None for one in (*sizes, choices.cache))


def deploy_model(
    architecture: Architecture, device: DeviceMemory, choices: Choices, *, engine: PricedEngine, version: str
) -> Deployment:
    """A model without an envelope: on this engine, whose defaults hold where nothing was chosen.

    Raises: ValueError with what has no default, in one sentence.
    """
    architecture = _load_dtype(architecture, choices.weights)
    context = _or(choices.context_tokens, architecture.max_positions)
    if not context:
        raise ValueError("the model doesn't say how many positions it has: say --context")
    if engine == "sglang" and None in (choices.batch_tokens, choices.max_sequences, choices.memory_percent):
        raise ValueError(
            "sglang derives these when it starts: say --batched-tokens, --max-sequences and --memory-fraction"
        )
    _, batch_tokens, max_sequences = _choose_batch(device)
    plain = Deployment(
        architecture=architecture,
        quantization=architecture.quantization,
        engine=engine,
        version=version,
        cache=_name_cache(architecture.dtype),
        load=Load(context_tokens=context, concurrency=None),
        max_sequences=max_sequences,
        batch_tokens=batch_tokens,
        memory_percent=_choose_percent(version),
    )
    return apply_choices(plain, dataclasses.replace(choices, engine=None, version=None))


def list_defaults(architecture: Architecture, choices: Choices) -> tuple[str, ...]:
    """What `deploy_model` takes because nobody says otherwise, beside numbers that stand in the answer anyway."""
    said = []
    if choices.context_tokens is None and architecture.max_positions:
        said.append(f"contextTokens {architecture.max_positions} are the model's own positions; --context says fewer")
    if _load_dtype(architecture, choices.weights) != architecture and choices.weights is None:
        said.append("the config's float32 is loaded in 16 bits, as engines do; --weights says otherwise")
    if None in (choices.batch_tokens, choices.max_sequences):
        said.append("the batch is the engine's default for the device")
    if choices.memory_percent is None:
        said.append("the share of memory is the engine's default for its version")
    return tuple(said)


def _load_dtype(architecture: Architecture, weights: WeightFormat | None) -> Architecture:
    """What isn't quantised, as engines load it that aren't told a dtype: float32 in 16 bits."""
    if weights == "float32" or architecture.dtype != "float32":
        return architecture
    return replace(architecture, dtype="float16")


def _name_cache(dtype: WeightFormat) -> CacheFormat:
    return dtype if dtype in ("float32", "float16") else "bfloat16"


def _choose_batch(device: DeviceMemory) -> tuple[int, int, int]:
    if device.name.startswith("a100"):
        return _SMALL_BATCH
    return next(one for one in _BATCHES if device.total_bytes >= one[0])


def _choose_percent(version: str) -> int:
    wanted = parse_version(version)
    return next(percent for since, percent in _MEMORY_PERCENTS if wanted >= parse_version(since))


def _or(chosen: T | None, other: T) -> T:
    return other if chosen is None else chosen
