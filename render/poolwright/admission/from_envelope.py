"""An envelope as a deployment that has a price."""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from poolwright.admission.adapters import Slots
from poolwright.admission.architecture import Architecture, Quantization, Unsupported, WeightFormat
from poolwright.admission.deployment import Deployment, Load, PricedEngine, Profile
from poolwright.admission.formats import is_quantized
from poolwright.specs.claim_plan import ENGINE_CONTAINER
from poolwright.specs.envelope import EnvelopeSpec

_GROUPS: Final[dict[WeightFormat, int]] = {"mxfp4": 32, "nvfp4": 16}
_MEASURED: Final = ("weightsBytes", "kvBudgetBytes", "deviceBytes", "deviceMemoryPercent")
_SIZES: Final = ("tensorParallel", "pipelineParallel")
_EXTRA_SLOTS: Final[dict[PricedEngine, int]] = {"vllm": 0, "sglang": 1}  # SGLang has one for requests without any
_SPECULATIVE: Final = ("--speculative-config", "--speculative-algorithm", "--speculative-draft-model-path")


def build_deployment(
    spec: EnvelopeSpec, architecture: Architecture, *, version: str, profile: Profile | None = None
) -> Deployment | Unsupported:
    """What an envelope asks for, on the engine's version that a stack has.

    architecture: of its config.json.
    profile:      what its measuredProfile says.
    """
    engine = _find_engine(spec)
    if engine is None:
        return Unsupported(reason="the formulas don't cover a custom engine")
    if any(argument.partition("=")[0] in _SPECULATIVE for argument in spec.engine.args):
        return Unsupported(reason="the formulas don't cover speculative decoding")
    load, size = spec.load, spec.model.weights_size
    # What isn't quantised is in the number format that the engine computes in.
    architecture = replace(architecture, dtype=spec.precision.compute)
    adapters = spec.adapters
    return Deployment(
        architecture=architecture,
        quantization=choose_quantization(spec.precision.weights, architecture),
        engine=engine,
        version=version,
        cache=spec.precision.kv_cache,
        load=Load(
            context_tokens=load.context_tokens,
            concurrency=load.concurrency,
            shared_prefix_tokens=load.shared_prefix_tokens,
            kv_budget_bytes=None if load.kv_budget is None else load.kv_budget.quantity.bytes,
        ),
        max_sequences=load.batch.max_sequences,
        batch_tokens=load.batch.max_tokens,
        memory_percent=spec.engine.device_memory_percent,
        tensor_parallel=spec.topology.tensor_parallel,
        pipeline_parallel=spec.topology.pipeline_parallel,
        data_parallel=spec.topology.data_parallel,
        adapters=None
        if adapters is None
        else Slots(count=adapters.slots + _EXTRA_SLOTS[engine], rank=adapters.max_rank),
        weights_bytes=None if size is None else size.quantity.bytes,
        beside_bytes=sum(_list_beside(spec)),
        profile=profile,
    )


def choose_quantization(weights: WeightFormat | None, architecture: Architecture) -> Quantization | None:
    """What linear layers are in: what the envelope says, of the layers that the model's config says."""
    known = architecture.quantization
    if weights is None:
        return known
    if not is_quantized(weights):
        return None
    if known is not None:
        return replace(known, format=weights, experts_only=known.experts_only or weights == "mxfp4")
    return Quantization(
        format=weights,
        group=_GROUPS.get(weights, 128),
        experts_only=weights == "mxfp4",
        excluded=("lm_head",),
    )


def parse_profile(text: bytes, path: str) -> Profile:
    """A measured profile: the bytes of one device that an engine's log says, and what it ran with.

    Raises: ValueError with what is wrong, in one sentence.
    """
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("it isn't JSON") from None
    if not isinstance(value, dict):
        raise ValueError("it isn't a JSON object")
    known = {*_MEASURED, *_SIZES, "source"}
    wrong = sorted(map(str, set(value) - known)) or sorted(set(_MEASURED) - set(value))
    if wrong:
        raise ValueError(f"{wrong[0][:60]} is {'missing' if wrong[0] in _MEASURED else 'no field of a profile'}")
    numbers = {name: value.get(name, 1) for name in (*_MEASURED, *_SIZES)}
    for name, number in numbers.items():
        if isinstance(number, bool) or not isinstance(number, int) or number < (0 if name in _MEASURED[:2] else 1):
            raise ValueError(f"{name} isn't a whole number that it may be")
    source = value.get("source", path)
    if not isinstance(source, str):
        raise ValueError("its source isn't a text")
    weights, budget, device, percent, tensor, pipeline = numbers.values()
    if percent > 100:
        raise ValueError("deviceMemoryPercent is more than 100")
    if (weights + budget) * 100 > device * percent:
        raise ValueError("weightsBytes and kvBudgetBytes together are more than deviceMemoryPercent of deviceBytes")
    return Profile(
        source=source,
        weights_bytes=weights,
        kv_budget_bytes=budget,
        device_bytes=device,
        memory_percent=percent,
        tensor_parallel=tensor,
        pipeline_parallel=pipeline,
    )


def _find_engine(spec: EnvelopeSpec) -> PricedEngine | None:
    return None if spec.engine.type == "custom" else spec.engine.type


def _list_beside(spec: EnvelopeSpec) -> list[int]:
    """The memory of each device that others of the claim take: containers of the pod, and consumers."""
    claim = spec.claim
    users = claim.containers if claim.pattern == "perPodShared" else (ENGINE_CONTAINER,)
    sizes = [one.device_memory for one in spec.sidecars if one.name in users]
    sizes += [one.device_memory for one in claim.consumers]
    return [one.quantity.bytes for one in sizes if one is not None]
