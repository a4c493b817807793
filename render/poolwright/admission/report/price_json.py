"""Prices for other tools: JSON by a published schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from poolwright.admission.admit import Refusal
from poolwright.admission.deployment import Deployment
from poolwright.admission.mends import Mend
from poolwright.admission.price import Price
from poolwright.admission.priced import Priced
from poolwright.admission.thresholds import Thresholds

API_VERSION: Final = "poolwright.dev/v1alpha1"
KIND: Final = "PriceList"
_Json = dict[str, object]


def render_price_json(subject: str, prices: Sequence[Priced], notes: Sequence[str]) -> str:
    """The document that `price_schema` describes, in ASCII, ended by a line break."""
    document: _Json = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "subject": subject,
        "prices": [build_price_json(one) for one in prices],
        "notes": list(notes),
    }
    return json.dumps(document, indent=2) + "\n"


def build_price_json(priced: Priced) -> _Json:
    """One device of it."""
    admission, deployment, device = priced.admission, priced.deployment, priced.device
    return {
        "device": device.name,
        "isPartition": device.memory.is_partition,
        "deviceMemoryBytes": device.memory.total_bytes,
        "deviceMemorySource": device.source,
        "deployment": None if deployment is None else _deployment(deployment),
        "admission": admission.word,
        "failure": admission.refusals[0].failure if admission.refusals else None,
        "reason": admission.reason,
        "kvTokens": admission.kv_tokens,
        "maxConcurrency": admission.max_concurrency,
        "kvBytesNeeded": admission.kv_needed_bytes,
        **_price(admission.price, deployment),
        "refusals": [_refusal(one) for one in admission.refusals],
        "mends": [_mend(one) for one in priced.mends],
        "partitions": [{"profile": name, "admission": word} for name, word in priced.partitions.items()],
        "thresholds": build_thresholds_json(priced.thresholds),
        "constants": {"set": priced.constants.name, "extrapolated": priced.constants.is_extrapolated},
    }


def build_thresholds_json(one: Thresholds | None) -> _Json | None:
    """What `build_thresholds_schema` describes."""
    return None if one is None else {"concurrency": one.concurrency, "contextTokens": one.context_tokens}


def _deployment(one: Deployment) -> _Json:
    return {
        "engine": one.engine,
        "version": one.version,
        "weights": one.architecture.dtype if one.quantization is None else one.quantization.format,
        "kvCache": one.cache,
        "tensorParallel": one.tensor_parallel,
        "pipelineParallel": one.pipeline_parallel,
        "dataParallel": one.data_parallel,
        "contextTokens": one.load.context_tokens,
        "concurrency": one.load.concurrency,
        "batchedTokens": one.batch_tokens,
        "maxSequences": one.max_sequences,
        "memoryPercent": one.memory_percent,
        "adapterSlots": 0 if one.adapters is None else one.adapters.count,
        "adapterRank": None if one.adapters is None else one.adapters.rank,
    }


def _price(one: Price | None, deployment: Deployment | None) -> _Json:
    lines = {} if one is None else one.lines_by_name
    tokens = None if deployment is None else deployment.load.context_tokens
    return {
        "stage": None if one is None else one.stage,
        "requestedBytes": None if one is None else one.requested_bytes,
        "weightsBytes": lines.get("weights"),
        "adapterBytes": lines.get("adapters", None if one is None else 0),
        "activationBytes": lines.get("activation"),
        "runtimeBytes": lines.get("runtime"),
        "graphBytes": lines.get("graphs"),
        "kvBudgetBytes": None if one is None else one.kv_budget_bytes,
        "kvBytesPerRequest": None if one is None or tokens is None else one.cache.count_bytes(tokens),
        "bandBytes": None if one is None else one.band_bytes,
        "outsideBytes": None if one is None else one.outside_bytes,
        "outsideNeededBytes": None if one is None else one.outside_needed_bytes,
        "outsideBandBytes": None if one is None else one.outside_band_bytes,
        "lines": [] if one is None else [{"name": x.name, "bytes": x.bytes, "source": x.source} for x in one.lines],
    }


def _refusal(one: Refusal) -> _Json:
    return {
        "failure": one.failure,
        "dimension": one.dimension,
        "what": one.what,
        "neededBytes": one.needed_bytes,
        "availableBytes": one.available_bytes,
        "isClose": one.is_close,
    }


def _mend(one: Mend) -> _Json:
    return {
        "field": one.field,
        "was": one.was,
        "now": one.now,
        "isEnough": one.is_enough,
        "maxConcurrency": one.max_concurrency,
        "left": None if one.left is None else _refusal(one.left),
    }
