"""The arguments a serving engine is started with: what an envelope says, in the words of one version of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.catalog.dialect import ENGINE_PORT, Dialect
from poolwright.specs.envelope import Adapters, EnvelopeSpec

MODELS_MOUNT: Final = "/models"
_ALL_INTERFACES: Final = "0.0.0.0"  # noqa: S104 (the probes and the router come from outside the pod)
_AUTO: Final = "auto"  # the cache's dtype follows the model's: all engines and versions have the word
_GROUP_PORT: Final = 20000  # where the ranks of a SGLang group meet, in the leader's own network
# Set in every container of a LeaderWorkerSet's pods. Source: sigs.k8s.io/lws.
_LEADER, _GROUP_SIZE, _INDEX = "$(LWS_LEADER_ADDRESS)", "$(LWS_GROUP_SIZE)", "$(LWS_WORKER_INDEX)"


def build_args(spec: EnvelopeSpec, dialect: Dialect, *, worker: bool = False) -> list[str]:
    """The engine's arguments, then the envelope's own as they are.

    worker: of a pod that isn't the first of its group.
    """
    named = [*_list_arguments(spec, dialect), *_list_own(dialect)]
    if spec.topology.nodes > 1:
        named += _list_group(dialect, worker=worker)
    args = [_write(dialect, quantity, value) for quantity, value in named]
    return [*args, *(_list_adapters(spec.adapters, dialect) if spec.adapters else ()), *spec.engine.args]


def kv_cache_word(spec: EnvelopeSpec, dialect: Dialect) -> str | None:
    """The engine's word for the KV cache's dtype; None: it has none, and the model's own dtype is another."""
    word = dialect.spell("kvCacheDtype", spec.precision.kv_cache)
    return _AUTO if word is None and spec.precision.kv_cache == spec.precision.compute else word


def _list_arguments(spec: EnvelopeSpec, dialect: Dialect) -> Iterator[tuple[str, str]]:
    """Quantities and values that every engine is told; sizes of 1 are every engine's default."""
    topology, batch, source = spec.topology, spec.load.batch, spec.model.source
    yield "model", _literal(model_path(spec))
    yield "servedModelName", _literal(spec.model.name)
    yield "tensorParallel", str(topology.tensor_parallel)
    if topology.pipeline_parallel > 1:
        yield "pipelineParallel", str(topology.pipeline_parallel)
    if topology.data_parallel > 1:
        yield "dataParallel", str(topology.data_parallel)
    yield "dtype", dialect.spell("dtype", spec.precision.compute) or spec.precision.compute
    yield "kvCacheDtype", kv_cache_word(spec, dialect) or spec.precision.kv_cache
    yield "contextTokens", str(spec.load.context_tokens)
    yield "maxSequences", str(batch.max_sequences)
    yield "maxBatchedTokens", str(batch.max_tokens)
    yield "memoryFraction", f"{spec.engine.device_memory_percent / 100:.2f}"
    if source.hugging_face and not source.persistent_volume_claim:
        yield "revision", source.hugging_face.revision


def _list_own(dialect: Dialect) -> Iterator[tuple[str, str]]:
    """What an engine must be told to be reached as the others are."""
    if dialect.engine == "sglang":
        yield "host", _ALL_INTERFACES  # alone it listens to its own pod only
        yield "metrics", ""
    if dialect.port != ENGINE_PORT:
        yield "port", str(ENGINE_PORT)


def _list_group(dialect: Dialect, *, worker: bool) -> list[tuple[str, str]]:
    leader = f"{_LEADER}:{_GROUP_PORT}" if dialect.engine == "sglang" else _LEADER
    group = [("nodes", _GROUP_SIZE), ("nodeRank", _INDEX), ("leaderAddress", leader)]
    return [*group, ("headless", "")] if worker and "headless" in dialect.arguments else group


def _list_adapters(adapters: Adapters, dialect: Dialect) -> Iterator[str]:
    # SGLang counts requests without an adapter as one more.
    slots = adapters.slots + 1 if dialect.engine == "sglang" else adapters.slots
    yield _write(dialect, "lora", "")
    yield _write(dialect, "loraMaxAdapters", str(slots))
    yield _write(dialect, "loraMaxRank", str(adapters.max_rank))
    yield dialect.arguments["loraModules"]  # takes all words that follow, up to the next argument
    for item in sorted(adapters.items, key=lambda item: item.name):
        yield f"{item.name}={MODELS_MOUNT}/{item.path}"


def model_path(spec: EnvelopeSpec) -> str:
    """What the engine is to load: a folder in the pod, or a repository of a hub."""
    source = spec.model.source
    if source.persistent_volume_claim:
        return f"{MODELS_MOUNT}/{source.persistent_volume_claim.path}"
    return source.hugging_face.repository if source.hugging_face else ""


def _write(dialect: Dialect, quantity: str, value: str) -> str:
    """One argument; a quantity without a value is a flag, and an argument without a name is its value."""
    name = dialect.arguments.get(quantity, f"--{quantity}")  # `engine-unable` refuses a quantity without a name
    return f"{name}={value}" if name and value else name or value


def _literal(text: str) -> str:
    """A text that Kubernetes leaves as it is: it expands $(NAME) in arguments, and reads $$ as $."""
    return text.replace("$", "$$")
