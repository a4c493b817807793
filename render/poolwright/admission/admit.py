"""Whether a deployment is admitted on a device, and if not, which dimension is too large and what would make it fit.

Three ways to fail are kept apart, as engines keep them apart: it won't start; it starts and can't carry what was
declared; it starts and dies later, because too little is left outside the engine's budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from poolwright.admission.architecture import (
    Architecture,
    Attention,
    LatentAttention,
    LinearAttention,
    Mamba,
    Unsupported,
)
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.price import Constants, Price, count_need, price

Word = Literal["admitted", "refused", "tooClose", "unsupported"]
Failure = Literal["willNotStart", "cannotCarryLoad", "diesLater"]
Dimension = Literal[
    "tensorParallel",
    "contextTokens",
    "concurrency",
    "maxSequences",
    "weights",
    "adapters",
    "kvBudget",
    "deviceMemory",
    "isolation",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What stands against it."""

    failure: Failure
    dimension: Dimension
    what: str  # without figures, or with those that aren't bytes
    needed_bytes: int | None = None
    available_bytes: int | None = None
    is_close: bool = False  # the figures are less apart than they may be off


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The answer for one device."""

    word: Word
    price: Price | None  # None: not even that is known
    refusals: tuple[Refusal, ...] = ()  # what decides first
    kv_needed_bytes: int | None = None  # for the declared load; None: it isn't declared
    max_concurrency: int | None = None  # requests of the declared context that the budget holds
    kv_tokens: int | None = None  # that the budget holds of one request after the other, of the declared context
    reason: str = ""  # of unsupported


def admit(deployment: Deployment, device: DeviceMemory, constants: Constants) -> Admission:
    """Price a deployment and decide."""
    against = check_shape(deployment, device)
    if against is not None:
        return Admission(word="refused", price=None, refusals=(against,))
    if device.is_shared:
        reason = "several pods share a device, and an engine takes its share of all of it"
        return Admission(word="unsupported", price=None, reason=reason)
    found = price(deployment, device, constants)
    if isinstance(found, Unsupported):
        return Admission(word="unsupported", price=None, reason=found.reason)
    return decide(deployment, found)


def decide(deployment: Deployment, found: Price) -> Admission:
    """What a price comes to."""
    load = deployment.load
    per_request = found.cache.count_bytes(load.context_tokens)
    budget = max(0, found.kv_budget_bytes) // found.cache.block_bytes * found.cache.block_bytes
    held = budget // per_request
    start = _check_start(deployment, found, per_request)
    is_none_left = start is not None and not start.is_close and found.kv_budget_bytes <= 0  # that says it all
    carried = None if is_none_left else _check_load(deployment, found)
    refusals = [one for one in (start, carried, _check_batch(deployment), _check_outside(found)) if one is not None]
    refusals.sort(key=lambda one: one.is_close)
    word: Word = "admitted"
    if refusals:
        word = "tooClose" if refusals[0].is_close else "refused"
    return Admission(
        word=word,
        price=found,
        refusals=tuple(refusals),
        kv_needed_bytes=count_need(deployment, found),
        max_concurrency=held,
        kv_tokens=budget * load.context_tokens // per_request,
    )


def check_shape(deployment: Deployment, device: DeviceMemory) -> Refusal | None:
    """What no memory would mend."""
    tensor, architecture = deployment.tensor_parallel, deployment.architecture
    undivided = [what for number, what in _list_heads(architecture) if number % tensor]
    undivided += [
        f"{number} heads of keys and values" for number in _list_kv_heads(architecture) if not _fits(number, tensor)
    ]
    if undivided:
        what = f"tensorParallel {tensor} doesn't divide the model's {undivided[0]}"
        return Refusal(failure="willNotStart", dimension="tensorParallel", what=what)
    if deployment.pipeline_parallel > len(architecture.layers):
        what = f"pipelineParallel {deployment.pipeline_parallel} is more than its {len(architecture.layers)} layers"
        return Refusal(failure="willNotStart", dimension="tensorParallel", what=what)
    if device.is_partition and tensor * deployment.pipeline_parallel > 1:
        what = "a process uses one partition, and partitions don't reach each other: parallel sizes above 1 don't start"
        return Refusal(failure="willNotStart", dimension="isolation", what=what)
    if deployment.adapters is not None and deployment.adapters.padded_rank is None:
        what = f"the engine has no slots for adapters of rank {deployment.adapters.rank}"
        return Refusal(failure="willNotStart", dimension="adapters", what=what)
    longest = architecture.max_positions
    if longest and deployment.load.context_tokens > longest:
        what = f"contextTokens {deployment.load.context_tokens} is more than the model's {longest} positions"
        return Refusal(failure="willNotStart", dimension="contextTokens", what=what)
    return None


def _list_heads(architecture: Architecture) -> list[tuple[int, str]]:
    """What is split evenly, and how it is called."""
    found: set[tuple[int, str]] = set()
    for mixer in {layer.mixer for layer in architecture.layers}:
        match mixer:
            case Attention(heads=heads) | LatentAttention(heads=heads) | Mamba(heads=heads):
                found.add((heads, f"{heads} heads"))
            case LinearAttention(key_heads=keys, value_heads=values):
                found |= {(number, f"{number} heads of linear attention") for number in (keys, values)}
    return sorted(found)


def _list_kv_heads(architecture: Architecture) -> list[int]:
    mixers = {layer.mixer for layer in architecture.layers}
    return sorted({mixer.kv_heads for mixer in mixers if isinstance(mixer, Attention)})


def _fits(kv_heads: int, tensor: int) -> bool:
    """Whether each rank has as many, or each head is on as many ranks. Source: vLLM, models/llama.py."""
    return kv_heads % tensor == 0 if kv_heads >= tensor else tensor % kv_heads == 0


def _check_start(deployment: Deployment, found: Price, per_request: int) -> Refusal | None:
    """The engine starts if one request of the declared context fits."""
    missing = per_request - found.kv_budget_bytes
    if missing <= -found.band_bytes:
        return None
    lines, requested = found.lines_by_name, found.requested_bytes
    # Where amounts are carried over from another version, only weights are certain.
    is_certain = not found.is_extrapolated or lines["weights"] + per_request > requested
    is_close = missing <= found.band_bytes or not is_certain
    if found.kv_budget_bytes > 0:
        what = f"one request of {deployment.load.context_tokens} tokens must fit"
        return Refusal(
            failure="willNotStart",
            dimension="contextTokens",
            what=what,
            needed_bytes=per_request,
            available_bytes=found.kv_budget_bytes,
            is_close=is_close,
        )
    adapters = lines.get("adapters", 0)
    dimension: Dimension = "adapters" if found.kv_budget_bytes + adapters > per_request else "weights"
    return Refusal(
        failure="willNotStart",
        dimension=dimension,
        what="nothing is left for the KV cache",
        needed_bytes=sum(lines.values()) + per_request,
        available_bytes=requested,
        is_close=is_close,
    )


def _check_batch(deployment: Deployment) -> Refusal | None:
    """What the engine doesn't run at once waits, however much memory there is."""
    concurrency, copies = deployment.load.concurrency, deployment.data_parallel
    if concurrency is None or -(-concurrency // copies) <= deployment.max_sequences:
        return None
    each = f" on each of {copies} copies" if copies > 1 else ""
    return Refusal(
        failure="cannotCarryLoad",
        dimension="maxSequences",
        what=f"{concurrency} concurrent requests are more than the {deployment.max_sequences} sequences that the "
        f"engine runs at once{each}: others wait",
    )


def _check_load(deployment: Deployment, found: Price) -> Refusal | None:
    """All of the declared load at the same time."""
    need = count_need(deployment, found)
    load, budget = deployment.load, found.kv_budget_bytes
    if need is None and load.kv_budget_bytes is None:
        return None
    what = f"{load.concurrency} concurrent requests of {load.context_tokens} tokens must fit"
    chosen: Dimension = "concurrency"
    if need is not None and load.kv_budget_bytes is not None and load.kv_budget_bytes < need:
        what = f"kvBudget is less than {what.removesuffix(' must fit')} need"
        return Refusal(
            failure="cannotCarryLoad",
            dimension="kvBudget",
            what=what,
            needed_bytes=need,
            available_bytes=load.kv_budget_bytes,
        )
    if load.kv_budget_bytes is not None:
        need, chosen, what = load.kv_budget_bytes, "kvBudget", "kvBudget must fit"
    missing = (need or 0) - budget
    if missing <= -found.band_bytes:
        return None
    adapters = found.lines_by_name.get("adapters", 0)
    if missing > 0 and adapters and missing + found.band_bytes <= adapters:
        chosen = "adapters"
        what = f"{what}, and would without the adapters' slots"
    return Refusal(
        failure="cannotCarryLoad",
        dimension=chosen,
        what=what,
        needed_bytes=need,
        available_bytes=max(0, budget),
        is_close=missing <= found.band_bytes,
    )


def _check_outside(found: Price) -> Refusal | None:
    """What the engine doesn't count: contexts, fragments, and in some versions graphs."""
    missing = found.outside_needed_bytes - found.outside_bytes
    if missing <= -found.outside_band_bytes:
        return None
    return Refusal(
        failure="diesLater",
        dimension="deviceMemory",
        what="what the engine doesn't count must fit beside its share",
        needed_bytes=found.outside_needed_bytes,
        available_bytes=found.outside_bytes,
        is_close=missing <= found.outside_band_bytes,
    )
