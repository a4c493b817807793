"""Rows about serving engines, and the series that they and their surroundings report."""

from __future__ import annotations

from typing import Literal

import msgspec

from poolwright.catalog.facts import Fact


class EngineFact(Fact, frozen=True, kw_only=True):
    """A serving engine."""

    engine: str
    version: str  # the one that was read; another may differ
    command: tuple[str, ...]
    port: int  # HTTP, default
    startup_path: str
    readiness_path: str
    liveness_path: str
    metrics_path: str  # on the same port


class EngineArgumentFact(Fact, frozen=True, kw_only=True):
    """How an engine spells a quantity."""

    engine: str
    version: str  # the one that was read
    quantity: Literal[
        "model",
        "servedModelName",
        "host",
        "port",
        "metrics",
        "tensorParallel",
        "pipelineParallel",
        "dataParallel",
        "expertParallel",
        "nodes",
        "nodeRank",
        "leaderAddress",
        "headless",
        "dtype",
        "kvCacheDtype",
        "contextTokens",
        "maxSequences",
        "maxBatchedTokens",
        "memoryFraction",
        "kvCacheBytes",
        "eager",
        "revision",
        "lora",
        "loraMaxAdapters",
        "loraMaxRank",
        "loraModules",
        "configFile",
    ]
    argument: str | None  # None: the first argument without a name, or none at all
    # values: several words after one name; absent: this version has no such argument.
    form: Literal["value", "values", "flag", "positional", "absent"]
    aliases: tuple[str, ...] = ()  # other names of it, abbreviations aside
    default: str | None = None  # None: derived at start, required, or off
    values: dict[str, str] = msgspec.field(default_factory=dict)  # our word: the engine's; none: as it is

    def spell(self, word: str) -> str | None:
        """The engine's word for ours; None: it has none."""
        return self.values.get(word) if self.values else word


class MetricFact(Fact, frozen=True, kw_only=True):
    """A metric that alerts and dashboards may use."""

    emitter: Literal["vllm", "sglang", "dcgm-exporter", "kube-state-metrics", "kubelet", "nvidia-dra-driver"]
    measure: str  # what it answers; equal for equal measures of two emitters
    name: str  # as the emitter's code names it
    kind: Literal["gauge", "counter", "histogram"] | None  # None: not found
    labels: tuple[str, ...] = ()  # that a query may need, where they were read

    @property
    def series(self) -> tuple[str, ...]:
        """The names in which Prometheus stores it."""
        if self.kind == "histogram":
            return (f"{self.name}_bucket", f"{self.name}_count", f"{self.name}_sum")
        return (f"{self.name.removesuffix('_total')}_total",) if self.kind == "counter" else (self.name,)
