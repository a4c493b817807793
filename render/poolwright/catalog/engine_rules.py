"""What an envelope may not ask of its serving engine: what its own fields decide already, and what an engine can't."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from poolwright.catalog.dialect import (
    ENGINE_PORT,
    STATEMENT_CONTAINER,
    Dialect,
    build_base_dialect,
    build_dialect,
)
from poolwright.catalog.facts import Facts
from poolwright.specs.envelope import Envelope, EnvelopeSpec, Sidecar
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import FieldPath
from poolwright.specs.resolve import ResolvedPlacement
from poolwright.specs.stack import Stack

_RULE: Final = "poolwright.dev/v1alpha1"
_FACTS: Final = "poolwright facts, engine-arguments.json"
_TWICE: Final = (
    "the last of two equal arguments counts, so what runs would not be what the envelope says and what its claim is "
    "computed from"
)
_SECURED: Final = ("--api-key", "--ssl-keyfile", "--ssl-certfile", "--ssl-keyfile-password", "--ssl-ca-certs")
_PLAIN: Final = "the tool (plain HTTP, no key)"  # what decides those
_UNANSWERED: Final = "the probes, the metrics and the router ask without a key or TLS, and would get no answer"

# Which field decides a quantity; the other quantities of the facts no field decides.
DECIDED_BY: Final[dict[str, str]] = {
    "model": "model.source",
    "servedModelName": "model.name",
    "revision": "model.source.huggingFace.revision",
    "host": "the tool",
    "port": "the tool",
    "metrics": "the tool",
    "tensorParallel": "topology.tensorParallel",
    "pipelineParallel": "topology.pipelineParallel",
    "dataParallel": "topology.dataParallel",
    "nodes": "topology.nodes",
    "nodeRank": "topology.nodes",
    "leaderAddress": "topology.nodes",
    "headless": "topology.nodes",
    "dtype": "precision.compute",
    "kvCacheDtype": "precision.kvCache",
    "contextTokens": "load.contextTokens",
    "maxSequences": "load.batch.maxSequences",
    "maxBatchedTokens": "load.batch.maxTokens",
    "memoryFraction": "engine.deviceMemoryPercent",
    "kvCacheBytes": "engine.deviceMemoryPercent",
    "lora": "adapters",
    "loraMaxAdapters": "adapters.slots",
    "loraMaxRank": "adapters.maxRank",
    "loraModules": "adapters.items",
    "configFile": "any field",  # what the file says isn't seen here
}


def check_engine(envelope: Spec[Envelope], facts: Facts) -> list[Finding]:
    """What is wrong with an envelope's engine, wherever it is placed."""
    said = envelope.value.spec
    problems = list(_check_sidecars(envelope))
    if said.engine.type == "custom" and said.engine.template is None:
        problems.append(
            Finding(
                code="template-missing",
                severity="error",
                place=envelope.place("spec", "engine", "type"),
                what=f"envelope {envelope.value.identity} has a custom engine and no template",
                why="how an engine that isn't known is started, probed and reached is for its template to say",
                rule=_RULE,
                fix="name the team's workload in engine.template, or use a known engine: sglang, vllm",
            )
        )
    dialect = build_base_dialect(facts, said.engine.type)
    if dialect:
        problems += _check_args(envelope, facts)
        problems += _check_adapters(envelope)
        problems += _check_able(envelope, dialect)
    return problems


def check_engine_version(resolved: ResolvedPlacement, facts: Facts) -> list[Finding]:
    """What the engine version of the placement's stack can't do, and the one that bases are written for can."""
    image = resolved.image
    dialect, base = build_dialect(facts, image.engine, image.version), build_base_dialect(facts, image.engine)
    if dialect is None or base is None or dialect.is_like(base):
        return []
    said = {path for path, _, _ in _list_unable(resolved.envelope.value.spec, base)}
    return _check_able(resolved.envelope, dialect, f" on stack {resolved.on.stack.value.identity}", said)


def check_serving_images(stack: Spec[Stack], facts: Facts) -> list[Finding]:
    """Warnings where nobody has read the arguments of an engine's version."""
    problems = []
    for index, image in enumerate(stack.value.spec.serving_images):
        known = [fact.version for fact in facts.engines if fact.engine == image.engine]
        dialect = build_dialect(facts, image.engine, image.version)
        if dialect and image.version not in known:
            problems.append(
                Finding(
                    code="engine-unlisted",
                    severity="warning",
                    place=stack.place("spec", "servingImages", index, "version"),
                    what=f'image "{image.name}" has {image.engine} {image.version}, whose arguments nobody has read; '
                    f"those of {dialect.version} are rendered",
                    why="engines rename arguments and change what they take; an unknown one stops the engine's start",
                    rule=_FACTS,
                    fix=f"try the image before it is rolled out; versions that were read: {', '.join(known)}",
                )
            )
    return problems


def _check_args(envelope: Spec[Envelope], facts: Facts) -> Iterator[Finding]:
    """Arguments that repeat what a field decides, in any spelling that some version of the engine takes."""
    engine = envelope.value.spec.engine
    if not engine.args:
        return
    names = {
        name: DECIDED_BY[fact.quantity]
        for fact in facts.engine_arguments
        if fact.engine == engine.type and fact.quantity in DECIDED_BY
        for name in (fact.argument, *fact.aliases)
        if name
    }
    names |= dict.fromkeys(_SECURED, _PLAIN)
    for index, argument in enumerate(engine.args):
        written, decided = argument.partition("=")[0], _find_decided(argument, names)
        if decided:
            yield Finding(
                code="args-priced",
                severity="error",
                place=envelope.place("spec", "engine", "args", index),
                what=f'engine.args has "{written}", which {decided} decides',
                why=_UNANSWERED if decided == _PLAIN else _TWICE,
                rule=_FACTS,
                fix="remove the argument" + ("" if decided in ("the tool", _PLAIN) else f"; say it in {decided}"),
            )


def _find_decided(argument: str, names: dict[str, str]) -> str | None:
    """Which field decides what an argument says; None: no field does."""
    name = argument.partition("=")[0].partition(".")[0]
    if not name.startswith("-") or name in ("-", "--"):
        return None
    if not name.startswith("--"):
        return next((field for known, field in names.items() if known == name), None)
    # Engines take underscores for dashes, a `no` in front of a switch, and the start of a name that has no other end.
    name = "--" + name[2:].replace("_", "-").removeprefix("no-")
    exact = names.get(name)
    return exact or next((field for known, field in sorted(names.items()) if known.startswith(name)), None)


def _check_adapters(envelope: Spec[Envelope]) -> Iterator[Finding]:
    said = envelope.value.spec
    if said.adapters and said.model.source.persistent_volume_claim is None:
        yield Finding(
            code="adapters-volume",
            severity="error",
            place=envelope.place("spec", "adapters", "items"),
            what=f"envelope {envelope.value.identity} has adapters, and its model comes from a hub",
            why="an adapter's path is a folder of the model's volume, and there is none",
            rule=_RULE,
            fix="serve model and adapters from one PersistentVolumeClaim",
        )


def _check_able(
    envelope: Spec[Envelope], dialect: Dialect, where: str = "", said: Collection[FieldPath] = ()
) -> list[Finding]:
    """What a version can't do, but for fields that something was said of."""
    return [
        Finding(
            code="engine-unable",
            severity="error",
            place=envelope.place("spec", *path),
            what=f"{dialect.engine} {dialect.version} {what}, as envelope {envelope.value.identity} asks{where}",
            why="the engine would refuse its arguments and never start",
            rule=_FACTS,
            fix=fix,
        )
        for path, what, fix in _list_unable(envelope.value.spec, dialect)
        if path not in said
    ]


def _list_unable(spec: EnvelopeSpec, dialect: Dialect) -> Iterator[tuple[FieldPath, str, str]]:
    """What this version of the engine can't do: field, what is wrong, how to mend it."""
    cache, compute = spec.precision.kv_cache, spec.precision.compute
    if dialect.spell("kvCacheDtype", cache) is None and cache != compute:
        known = ", ".join(sorted(dialect.words["kvCacheDtype"]))
        mend = f"write one of {known}, or that of precision.compute"
        yield ("precision", "kvCache"), f"has no KV cache of {cache} beside a model of {compute}", mend
    if spec.adapters and dialect.spell("loraMaxRank", str(spec.adapters.max_rank)) is None:
        known = ", ".join(sorted(dialect.words["loraMaxRank"], key=int))
        yield ("adapters", "maxRank"), f"has no LoRA slots of rank {spec.adapters.max_rank}", f"write one of {known}"
    if spec.topology.nodes > 1 and not {"nodes", "nodeRank", "leaderAddress"} <= set(dialect.arguments):
        yield ("topology", "nodes"), "has no arguments for several nodes", "use one node, or a version that has them"
    if dialect.engine == "sglang" and ":" in spec.model.name:
        yield ("model", "name"), "serves no model with a colon in its name", "write the name without it"
    if spec.topology.nodes > 1 and spec.topology.data_parallel > 1 and dialect.engine == "sglang":
        what = "serves copies of a model on one node only, not on several"
        yield ("topology", "dataParallel"), what, "write dataParallel: 1, and more replicas instead"


def _check_sidecars(envelope: Spec[Envelope]) -> Iterator[Finding]:
    said = envelope.value.spec
    for index, sidecar in enumerate(said.sidecars):
        for field, what, fix in _list_clashes(said, sidecar):
            yield Finding(
                code="sidecar-clash",
                severity="error",
                place=envelope.place("spec", "sidecars", index, field),
                what=f'sidecar "{sidecar.name}" has {what}',
                why="both are in one pod, and would be taken for each other",
                rule=_RULE,
                fix=fix,
            )


def _list_clashes(spec: EnvelopeSpec, sidecar: Sidecar) -> Iterator[tuple[str, str, str]]:
    base = spec.engine.image_name or spec.engine.type
    repository = sidecar.image.partition("@")[0]
    name, colon, tag = repository.rpartition(":")
    if (name if colon and "/" not in tag else repository) == base:
        what = f'the image "{base}", which every overlay replaces by the stack\'s serving image'
        yield "image", what, "name the image with its registry"
    if sidecar.name == STATEMENT_CONTAINER:
        yield "name", "the name of the container that compares the devices' topology", "choose another name"
    if sidecar.port == ENGINE_PORT:
        yield "port", f"the port {ENGINE_PORT}, where the engine listens", "choose another port"
