"""Figures that engines printed beside ours: for the tests, and for the table of errors in `benchmarks/pricing.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import linear_regression, median

from engine_logs import GIB, EngineLog, constants_of, deploy, device_of, read_logs, read_model

from poolwright.admission.cache import CachePlan, plan_cache
from poolwright.admission.price import Price, price
from poolwright.admission.weights import count_weights, split_layers

UNSUPPORTED = ("deepseek-ai/DeepSeek-V4-Flash",)  # models that the formulas say they don't cover
OTHER_ENGINES = ("tensorrt-llm",)


@dataclass(frozen=True)
class Compared:
    """One figure of one log."""

    log: EngineLog
    ours: float
    printed: float

    @property
    def error(self) -> float:
        """Percent of what was printed; below zero where ours is less."""
        return 100 * (self.ours - self.printed) / self.printed


@dataclass(frozen=True)
class Errors:
    """Percent, without the sign."""

    count: int
    median: float
    p90: float
    largest: float


def read_priced_logs() -> tuple[EngineLog, ...]:
    """All logs of engines and models that have a price."""
    return tuple(log for log in read_logs() if log.model not in UNSUPPORTED and log.engine not in OTHER_ENGINES)


def plan(log: EngineLog) -> CachePlan:
    """The cache of its last pipeline stage."""
    deployment = deploy(log)
    counts = split_layers(len(deployment.architecture.layers), log.pipeline_parallel)
    found = plan_cache(
        deployment.architecture.layers[-counts[-1] :],
        deployment.cache,
        tensor_parallel=log.tensor_parallel,
        in_flight_tokens=deployment.batch_tokens * constants_of(log).fact.concurrent_batches,
        caches_prefixes=True,
    )
    assert isinstance(found, CachePlan), (log.id, found)
    return found


def compare_weights(log: EngineLog) -> Compared | None:
    if "weightsGiB" not in log.printed:
        return None
    deployment, stages = deploy(log), log.pipeline_parallel
    ours = count_weights(
        deployment.architecture,
        deployment.quantization,
        tensor_parallel=log.tensor_parallel,
        stages=stages,
        stage=stages - 1,
    )
    return Compared(log, ours / GIB, log.printed["weightsGiB"])


def compare_activation(log: EngineLog) -> Compared | None:
    if "activationGiB" not in log.printed or log.total_gib is None:
        return None
    found = price(deploy(log), device_of(log), constants_of(log))
    assert isinstance(found, Price)
    return Compared(log, found.lines_by_name["activation"] / GIB, log.printed["activationGiB"])


def compare_budget(log: EngineLog) -> Compared | None:
    """The KV budget, from the device's memory and the arguments alone. Where none was left, the percent say nothing."""
    if log.total_gib is None or "kvGiB" not in log.printed or "memory" not in log.args:
        return None
    found = price(deploy(log), device_of(log), constants_of(log))
    assert isinstance(found, Price)
    return Compared(log, found.kv_budget_bytes / GIB, log.printed["kvGiB"])


def compare_tokens(log: EngineLog) -> Compared | None:
    """Tokens of the budget that was printed. Hybrids aside: what they print is another figure."""
    cache = plan(log)
    if "kvGiB" not in log.printed or "kvTokens" not in log.printed or len(cache.groups) > 1:
        return None
    return Compared(log, count_blocks(log, cache) * cache.block_tokens, log.printed["kvTokens"])


def compare_blocks(log: EngineLog) -> Compared | None:
    if log.printed.get("kvGiB", 0) <= 0 or "kvBlocks" not in log.printed:
        return None
    return Compared(log, count_blocks(log, plan(log)), log.printed["kvBlocks"])


def compare_concurrency(log: EngineLog) -> Compared | None:
    """Requests of the longest context that the printed budget holds, by pages."""
    if "kvGiB" not in log.printed or "maxConcurrency" not in log.printed:
        return None
    cache = plan(log)
    return Compared(
        log, count_blocks(log, cache) / cache.count_blocks(log.context_tokens), log.printed["maxConcurrency"]
    )


def compare_need(log: EngineLog) -> Compared | None:
    """What one request of the longest context needs, as a refusal says it."""
    if "kvNeededGiB" not in log.printed:
        return None
    return Compared(log, plan(log).count_bytes(log.context_tokens) / GIB, log.printed["kvNeededGiB"])


def compare_longest(log: EngineLog) -> Compared | None:
    """The longest context that the printed budget holds, as a refusal says it."""
    if "longestTokens" not in log.printed:
        return None
    cache = plan(log)
    return Compared(log, count_blocks(log, cache) * cache.block_tokens, log.printed["longestTokens"])


def count_blocks(log: EngineLog, cache: CachePlan, *, more_gib: float = 0) -> int:
    """Blocks of the budget that was printed, which is rounded: or of a little more or less."""
    return int((log.printed["kvGiB"] + more_gib) * GIB) // cache.block_bytes


Compare = Callable[[EngineLog], Compared | None]
QUANTITIES: dict[str, Compare] = {
    "weights": compare_weights,
    "activation": compare_activation,
    "KV budget": compare_budget,
    "KV tokens": compare_tokens,
    "KV blocks": compare_blocks,
    "maximum concurrency": compare_concurrency,
    "needed KV": compare_need,
    "longest context": compare_longest,
}


def compare(quantity: str) -> dict[str, Compared]:
    """All logs that print a quantity, by id."""
    found = ((log.id, QUANTITIES[quantity](log)) for log in read_priced_logs())
    return {name: one for name, one in found if one is not None}


def count_errors(found: Iterable[Compared]) -> Errors:
    """p90: the smallest error that nine tenths of the logs stay within."""
    errors = sorted(abs(one.error) for one in found)
    return Errors(len(errors), median(errors), errors[-(-9 * len(errors) // 10) - 1], errors[-1])


def is_plain(log: EngineLog) -> bool:
    """Dense, in 16 bits, without a vision tower, and above the floor: what the law of activations was fitted on."""
    made = read_model(log.model)
    is_dense = not (made.is_moe or made.has_latent or made.vision_parameters)
    return is_dense and log.dtype != "float32" and log.printed["activationGiB"] > 0.8


def fit_activation(logs: list[EngineLog]) -> tuple[float, float]:
    """GiB for each GiB of logits, and GiB."""
    sizes = [log.args["maxSequences"] * read_model(log.model).vocabulary / GIB for log in logs]
    return linear_regression(sizes, [log.printed["activationGiB"] for log in logs])


def compare_left_out() -> list[Compared]:
    """KV budgets of each family of models, by activations as they were fitted on the other families' logs."""
    plain = [log for log in read_priced_logs() if log.is_fitted and is_plain(log)]
    family = {log.id: log.model.partition("/")[0] for log in plain}
    return [_refit(log, [one for one in plain if family[one.id] != family[log.id]]) for log in plain]


def _refit(log: EngineLog, others: list[EngineLog]) -> Compared:
    slope, base = fit_activation(others)
    refitted = base + slope * log.args["maxSequences"] * read_model(log.model).vocabulary / GIB
    found = price(deploy(log), device_of(log), constants_of(log))
    assert isinstance(found, Price)
    ours = (found.kv_budget_bytes + found.lines_by_name["activation"]) / GIB - refitted
    return Compared(log, ours, log.printed["kvGiB"])
