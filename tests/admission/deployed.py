"""A model on two H100s that a public log measured, to be varied field by field; and how an answer is written short."""

from __future__ import annotations

from typing import Any

from engine_logs import FACTS, GIB, read_model
from msgspec.structs import replace

from poolwright.admission.admit import Admission, Refusal
from poolwright.admission.architecture import Quantization
from poolwright.admission.deployment import Deployment, DeviceMemory, Load, Profile
from poolwright.admission.mends import Mend
from poolwright.admission.price import Constants, choose_constants

H100 = DeviceMemory(name="H100", total_bytes=int(79.19 * GIB))
SLICE = DeviceMemory.of_published("2g.20gb", 20096 << 20, is_partition=True)
# What vLLM 0.19 printed for it: weights 33.88 GiB, KV cache 37.28 GiB of each GPU.
MEASURED = Profile(
    source="a log",
    weights_bytes=int(33.88 * GIB),
    kv_budget_bytes=int(37.28 * GIB),
    device_bytes=H100.total_bytes,
    memory_percent=90,
    tensor_parallel=2,
)
LLAMA_70B = Deployment(
    architecture=read_model("meta-llama/Llama-3.1-70B"),
    quantization=Quantization(format="fp8", excluded=("lm_head",)),
    engine="vllm",
    version="0.19.0",
    cache="bfloat16",
    load=Load(context_tokens=16384, concurrency=32),
    max_sequences=64,
    batch_tokens=8192,
    memory_percent=90,
    tensor_parallel=2,
)
LLAMA_8B = replace(
    LLAMA_70B,
    architecture=read_model("meta-llama/Llama-3.1-8B"),
    quantization=None,
    tensor_parallel=1,
    max_sequences=256,
)
_LOAD = ("context_tokens", "concurrency", "shared_prefix_tokens", "kv_budget_bytes")


def vary(deployment: Deployment, **fields: Any) -> Deployment:
    """With some fields otherwise, those of its load among them."""
    load = {name: fields.pop(name) for name in _LOAD if name in fields}
    return replace(deployment, load=replace(deployment.load, **load), **fields)


def constants_of(deployment: Deployment) -> Constants:
    found = choose_constants(FACTS.engine_memory, deployment.engine, deployment.version)
    assert found is not None
    return found


def write_refusal(one: Refusal) -> str:
    """As `~willNotStart/weights: needs 66.55 GiB, has 63.35: what`; the wave where it is too close to call."""
    figures = ""
    if one.needed_bytes is not None and one.available_bytes is not None:
        figures = f" needs {one.needed_bytes / GIB:.2f} GiB, has {one.available_bytes / GIB:.2f}:"
    return f"{'~' if one.is_close else ''}{one.failure}/{one.dimension}:{figures} {one.what}"


def write_answer(one: Admission) -> tuple[str, ...]:
    return (one.word, *(write_refusal(refusal) for refusal in one.refusals))


def write_mend(one: Mend) -> str:
    left = "" if one.left is None else f"; {write_refusal(one.left)}"
    return f"{one.field} {one.was} to {one.now}: {'enough' if one.is_enough else 'less'}, {one.max_concurrency}{left}"
