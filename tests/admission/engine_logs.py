"""Public logs of engines: how each was started, and the same deployment here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from msgspec.structs import replace

from poolwright.admission.architecture import Architecture, Quantization, Unsupported, WeightFormat
from poolwright.admission.deployment import Deployment, DeviceMemory, Load
from poolwright.admission.parse_config import parse_config
from poolwright.admission.price import Constants, choose_constants
from poolwright.catalog.facts import FACT_FILES, Facts

HERE = Path(__file__).parent
TABLES = HERE.parents[1] / "render/poolwright/catalog/tables"
FACTS = Facts({name: (TABLES / name).read_bytes() for name in FACT_FILES})
GIB = 1 << 30
NEWEST = {"vllm": "0.33.0", "sglang": "0.5.23"}  # where a log doesn't say: nothing was fitted on these


@dataclass(frozen=True)
class EngineLog:
    """One start of an engine."""

    id: str
    engine: str
    version: str | None
    model: str
    outcome: str
    args: dict[str, float]
    printed: dict[str, float]
    gpu: str
    total_gib: float | None
    at_most_gib: float | None
    weights: str | None
    cache: str | None
    dtype: str | None

    @property
    def tensor_parallel(self) -> int:
        return int(self.args.get("tensorParallel", 1))

    @property
    def pipeline_parallel(self) -> int:
        return int(self.args.get("pipelineParallel", 1))

    @property
    def context_tokens(self) -> int:
        return int(self.args.get("contextTokens", 8192))

    @property
    def is_fitted(self) -> bool:
        """Whether the constants were fitted on it."""
        return self.id.startswith("vllm-019-h100")


def read_logs() -> tuple[EngineLog, ...]:
    return tuple(
        EngineLog(
            id=one["id"],
            engine=one["engine"],
            version=one.get("version"),
            model=one["model"],
            outcome=one["outcome"],
            args=one["args"],
            printed=one["printed"],
            gpu=one["device"]["gpu"],
            total_gib=one["device"].get("totalGiB"),
            at_most_gib=one["device"].get("atMostGiB"),
            weights=one.get("weights"),
            cache=one.get("cache"),
            dtype=one.get("dtype"),
        )
        for one in yaml.safe_load((HERE / "logs.yaml").read_text("utf-8"))
    )


@cache
def _read_models() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((HERE / "models.yaml").read_text("utf-8"))
    return found


def read_config(name: str) -> dict[str, Any]:
    """As it is in its `config.json`."""
    found: dict[str, Any] = _read_models()[name]
    return found


def parse_model(name: str) -> Architecture | Unsupported:
    return parse_config(json.dumps(read_config(name)).encode())


@cache
def read_model(name: str) -> Architecture:
    found = parse_model(name)
    assert isinstance(found, Architecture), (name, found)
    return found


def choose_quantization(log: EngineLog, architecture: Architecture) -> Quantization | None:
    """What the checkpoint was in, by the log; else by the model's own config."""
    formats: dict[str, WeightFormat] = {"fp8": "fp8", "fp8Block128": "fp8Block128", "int4": "int4", "nvfp4": "nvfp4"}
    if log.weights is None:
        return architecture.quantization
    if log.weights == "fbgemm":  # attention, and the first and last layer, stay as they are
        whole = tuple(f"model.layers.{number}" for number in (0, len(architecture.layers) - 1))
        return Quantization(format="fp8", excluded=("model.layers.*.self_attn", *whole))
    return Quantization(format=formats[log.weights], experts_only=log.model.startswith("moonshotai"))


def deploy(log: EngineLog) -> Deployment:
    architecture = read_model(log.model)
    is_whole = log.dtype == "float32"
    if is_whole:
        architecture = replace(architecture, dtype="float32")
    # Defaults of the engine: a large batch on devices of 70 GiB or more that aren't A100s.
    is_large = "A100" not in log.gpu and (log.total_gib or log.at_most_gib or 80) >= 70
    return Deployment(
        architecture=architecture,
        quantization=choose_quantization(log, architecture),
        engine="sglang" if log.engine == "sglang" else "vllm",
        version=log.version or NEWEST[log.engine],
        cache="fp8" if log.cache == "fp8" else "float32" if is_whole else "bfloat16",
        load=Load(context_tokens=log.context_tokens, concurrency=None),
        max_sequences=int(log.args.get("maxSequences", 1024 if is_large else 256)),
        batch_tokens=int(log.args.get("batchTokens", 8192 if is_large else 2048)),
        memory_percent=int(Fraction(str(log.args.get("memory", 0.9))) * 100),
        tensor_parallel=log.tensor_parallel,
        pipeline_parallel=log.pipeline_parallel,
        data_parallel=int(log.args.get("dataParallel", 1)),
    )


def constants_of(log: EngineLog) -> Constants:
    """Of a version older than any set those of the oldest: of it only what no constant decides is compared."""
    found = find_constants(log)
    oldest = next(fact for fact in FACTS.engine_memory if fact.engine == log.engine)
    return found or Constants(fact=oldest, is_extrapolated=True)


def find_constants(log: EngineLog) -> Constants | None:
    return choose_constants(FACTS.engine_memory, log.engine, log.version or NEWEST[log.engine])


def device_of(log: EngineLog) -> DeviceMemory:
    assert log.total_gib is not None
    return DeviceMemory(name="gpu", total_bytes=int(log.total_gib * GIB))
