"""Errors of prices against what engines printed in public logs; and prices a second, against another estimator.

    python benchmarks/pricing.py
    python benchmarks/pricing.py --seconds 2 --format json

The peer is hf-mem 0.5.6 (`pip install hf-mem==0.5.6`), which adds up the tensors that the headers of weight files list,
and the KV cache by a formula. It fetches both; here it gets them from memory, and only its own sums are timed. Without
it there are no ratios. Figures measured: docs/benchmarks.md. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "admission"))

from compared import QUANTITIES, Compared, Errors, compare, compare_left_out, count_errors
from engine_logs import FACTS, GIB, EngineLog, constants_of, read_config, read_model

from poolwright.admission.admit import admit
from poolwright.admission.architecture import Architecture
from poolwright.admission.deployment import Deployment, DeviceMemory, Load
from poolwright.admission.matrices import list_matrices
from poolwright.admission.parse_config import parse_config
from poolwright.admission.price import choose_constants, price
from poolwright.admission.weights import count_weights

PEER, PEER_VERSION = "hf-mem", "0.5.6"
MODELS: Final = ("meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-70B", "Qwen/Qwen3-30B-A3B")
TOKENS, REQUESTS = 8192, 16
ROUNDS: Final = 7
GROUPS: Final = ("fitted", "held out", "extrapolated")
DEVICE: Final = DeviceMemory(name="H100", total_bytes=79 * GIB)


def group_of(log: EngineLog) -> str:
    """Whether constants were fitted on a log, on others of its version, or on none."""
    if log.is_fitted:
        return "fitted"
    return "extrapolated" if constants_of(log).is_extrapolated else "held out"


def list_errors() -> Iterator[tuple[str, str, Errors]]:
    """Errors of all logs, and where constants that were fitted go into a quantity, by group.

    Left out: budgets of each family of models, by the law of activations fitted on the other families' logs.
    """
    for quantity in QUANTITIES:
        found = list(compare(quantity).values())
        if quantity not in ("activation", "KV budget"):
            yield quantity, "all", count_errors(found)
            continue
        for group in GROUPS:
            of_group = [one for one in found if group_of(one.log) == group]
            yield quantity, group, count_errors(of_group)
    yield "KV budget", "left out", count_errors(compare_left_out())


def list_largest() -> Iterator[tuple[str, str, float]]:
    """The largest difference of each group's KV budgets in GiB, above zero where ours is more."""
    found = list(compare("KV budget").values())
    for group in GROUPS:
        of_group: Iterable[Compared] = (one for one in found if group_of(one.log) == group)
        worst = max(of_group, key=lambda one: abs(one.ours - one.printed))
        yield group, worst.log.id, worst.ours - worst.printed


def build_deployment(architecture: Architecture) -> Deployment:
    """One rank, 16 requests of 8,192 tokens."""
    return Deployment(
        architecture=architecture,
        quantization=None,
        engine="vllm",
        version="0.19.0",
        cache="bfloat16",
        load=Load(context_tokens=TOKENS, concurrency=REQUESTS),
        max_sequences=256,
        batch_tokens=8192,
        memory_percent=90,
    )


def build_header(architecture: Architecture) -> dict[str, Any]:
    """The header of one safetensors file of all weights: each matrix of each expert is a tensor of its own."""
    hidden, vocabulary = architecture.hidden, architecture.vocabulary
    shapes = {"model.embed_tokens.weight": [vocabulary, hidden], "model.norm.weight": [hidden]}
    if not architecture.is_tied:
        shapes["lm_head.weight"] = [vocabulary, hidden]
    for number, layer in enumerate(architecture.layers):
        at = f"model.layers.{number}"
        shapes |= {f"{at}.{name}.weight": [hidden] for name in ("input_layernorm", "post_attention_layernorm")}
        for one in list_matrices(architecture, layer):
            if not one.is_expert:
                shapes[f"{at}.{one.name}.weight"] = [one.outputs, one.inputs]
                continue
            for expert in range(one.count):
                of_expert = f"{at}.mlp.experts.{expert}.{one.name.rpartition('.')[2]}"
                if one.name.endswith("up_proj"):  # here up and gate are one
                    gate = of_expert.replace("up_proj", "gate_proj")
                    shapes[f"{gate}.weight"] = shapes[f"{of_expert}.weight"] = [one.outputs // 2, one.inputs]
                else:
                    shapes[f"{of_expert}.weight"] = [one.outputs, one.inputs]
    return {name: {"dtype": "BF16", "shape": shape, "data_offsets": [0, 0]} for name, shape in shapes.items()}


def find_peer() -> Callable[[dict[str, Any], dict[str, Any]], tuple[int, int]] | None:
    """The peer's own sums of a config and a header: bytes of weights, and of the KV cache. None: it isn't installed."""
    try:
        if importlib.metadata.version(PEER) != PEER_VERSION:
            return None
    except importlib.metadata.PackageNotFoundError:
        return None
    from hf_mem.safetensors import (
        compute_safetensors_kv_cache_size,
        parse_moe_metadata,
        parse_safetensors_metadata,
        resolve_kv_cache_dtype,
    )

    def estimate(config: dict[str, Any], header: dict[str, Any]) -> tuple[int, int]:
        found = parse_safetensors_metadata({"Transformer": header})
        parse_moe_metadata({"Transformer": header}, config)
        dtype = resolve_kv_cache_dtype(config, None, found, "model")
        return found.bytes_count, compute_safetensors_kv_cache_size(config, dtype, TOKENS, REQUESTS)

    return estimate


def count_rate(run: Callable[[], object], seconds: float) -> float:
    """Runs for each second of CPU time."""
    runs, started = 0, time.process_time()
    while (taken := time.process_time() - started) < seconds:
        run()
        runs += 1
    return runs / taken


def measure(name: str, seconds: float) -> dict[str, Any]:
    """Rates of one model, in turn: ours and the peer's, from what is in memory and from texts."""
    architecture, config = read_model(name), read_config(name)
    constants = choose_constants(FACTS.engine_memory, "vllm", "0.19.0")
    assert constants is not None
    header = build_header(architecture)
    texts = json.dumps(config).encode(), json.dumps(header).encode()
    runs: dict[str, Callable[[], object]] = {
        "answer": lambda: admit(build_deployment(architecture), DEVICE, constants),
        "text to answer": lambda: admit(build_deployment(_parse(texts[0])), DEVICE, constants),
    }
    peer = find_peer()
    if peer is not None:
        _check_same(architecture, peer(config, header))
        runs["peer's sums"] = lambda: peer(config, header)
        runs["peer's, from texts"] = lambda: peer(json.loads(texts[0]), json.loads(texts[1]))
    found = [{what: count_rate(run, seconds) for what, run in runs.items()} for _ in range(ROUNDS)]
    rates = {what: round(median(one[what] for one in found), 1) for what in runs}
    pairs = {"answer": "peer's sums", "text to answer": "peer's, from texts"} if peer is not None else {}
    ratios = {ours: sorted(round(one[ours] / one[theirs], 2) for one in found) for ours, theirs in pairs.items()}
    return {"model": name, "tensors": len(header), "rates": rates, "ratios": ratios}


def _parse(text: bytes) -> Architecture:
    found = parse_config(text)
    assert isinstance(found, Architecture)
    return found


def _check_same(architecture: Architecture, theirs: tuple[int, int]) -> None:
    """Another answer would be another question."""
    weights = count_weights(architecture, None, tensor_parallel=1, stages=1, stage=0)
    constants = choose_constants(FACTS.engine_memory, "vllm", "0.19.0")
    assert constants is not None
    found = price(build_deployment(architecture), DEVICE, constants)
    assert not hasattr(found, "reason")
    kv = REQUESTS * found.cache.count_bytes(TOKENS)
    if (weights, kv) != theirs:
        raise SystemExit(f"the peer has other sums: {theirs} where ours are {(weights, kv)}")


def build_report(seconds: float) -> dict[str, Any]:
    """Everything that is printed."""
    return {
        "errors": [
            {"quantity": quantity, "logs": group, "n": one.count}
            | {"median": round(one.median, 3), "p90": round(one.p90, 2), "largest": round(one.largest, 2)}
            for quantity, group, one in list_errors()
        ],
        "largest": [
            {"logs": group, "log": log, "gib": round(difference, 2)} for group, log, difference in list_largest()
        ],
        "peer": f"{PEER} {PEER_VERSION}" if find_peer() is not None else None,
        "load": [round(one, 1) for one in os.getloadavg()],
        "speed": [measure(name, seconds) for name in MODELS],
    }


def _list_lines(report: dict[str, Any]) -> Iterator[str]:
    yield f"{'errors, percent':22}{'logs':14}{'n':>4}{'median':>9}{'p90':>8}{'largest':>10}"
    for one in report["errors"]:
        yield (
            f"{one['quantity']:22}{one['logs']:14}{one['n']:4}"
            f"{one['median']:9.3f}{one['p90']:8.2f}{one['largest']:10.2f}"
        )
    for one in report["largest"]:
        yield f"KV budget, {one['logs']}: at most {one['gib']:+.2f} GiB off, {one['log']}"
    yield f"load average {report['load']}; peer: {report['peer'] or 'none'}"
    for one in report["speed"]:
        rates = ", ".join(f"{what} {rate:,.1f}" for what, rate in one["rates"].items())
        yield f"{one['model']}, {one['tensors']} tensors; a second of CPU: {rates}"
        for what, ratios in one["ratios"].items():
            yield f"  {what} / peer: {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"


def main() -> int:
    """Print the errors, then the rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="of each run; there are seven")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    asked = parser.parse_args()
    report = build_report(asked.seconds)
    if report["peer"] is None:
        print(f"no ratios: {PEER} {PEER_VERSION} isn't installed", file=sys.stderr)
    print(json.dumps(report, indent=2) if asked.format == "json" else "\n".join(_list_lines(report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
