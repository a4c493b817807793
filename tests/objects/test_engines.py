"""Serving engines: arguments, environment, probes and volumes, by engine and by its version; and what is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from fleet import FACTS, list_specs, load_closures, load_placement
from poolwright.catalog.dialect import BASE_VERSIONS, build_base_dialect, build_dialect
from poolwright.catalog.engine_rules import DECIDED_BY, check_serving_images
from poolwright.objects.engine import build_engine
from poolwright.specs.finding import Finding, SpecError, render_text
from poolwright.specs.parse import parse_specs
from poolwright.specs.schema import build_schema, field_schema
from poolwright.specs.stack import EngineType
from poolwright.trees.tree import build_folder
from unit_objects import FLEET, base_pods, change, engine, envelope, objects_of, one, pods, workload

STACK = "specs/stacks/operator-26-7.yaml"
CHAT, RAG, REASON, TENANTS = (
    ("chat-70b", "2.3.0"),
    ("rag-8b", "1.1.0"),
    ("reason-671b", "0.4.0"),
    ("tenants-8b", "1.5.2"),
)
TO_SGLANG = ("engine: {type: vllm, deviceMemoryPercent: 75}", "engine: {type: sglang, deviceMemoryPercent: 75}")
TENANTS_TO_SGLANG = ("  engine: {type: vllm}", "  engine: {type: sglang}")
REASON_TO_VLLM = ("    type: sglang\n", "    type: vllm\n")

# --- arguments ---

CHAT_ARGS = [
    "/models/llama-3.3-70b-fp8",
    "--served-model-name=example.com/llama-3.3-70b-fp8",
    "--tensor-parallel-size=4",
    "--dtype=bfloat16",
    "--kv-cache-dtype=bfloat16",
    "--max-model-len=16384",
    "--max-num-seqs=64",
    "--max-num-batched-tokens=8192",
    "--gpu-memory-utilization=0.92",
]
RAG_ARGS = [
    "--model-path=/models/qwen3-8b",
    "--served-model-name=example.com/qwen3-8b",
    "--tensor-parallel-size=1",
    "--dtype=bfloat16",
    "--kv-cache-dtype=bfloat16",
    "--context-length=8192",
    "--max-running-requests=32",
    "--chunked-prefill-size=8192",
    "--mem-fraction-static=0.75",
    "--host=0.0.0.0",
    "--enable-metrics",
    "--port=8000",
]
TENANTS_ARGS = [
    "/models/llama-3.1-8b",
    "--served-model-name=example.com/llama-3.1-8b",
    "--tensor-parallel-size=1",
    "--dtype=bfloat16",
    "--kv-cache-dtype=bfloat16",
    "--max-model-len=8192",
    "--max-num-seqs=64",
    "--max-num-batched-tokens=8192",
    "--gpu-memory-utilization=0.90",
]
REASON_ARGS = [
    "--model-path=/models/deepseek-r1",
    "--served-model-name=example.com/deepseek-r1",
    "--tensor-parallel-size=8",
    "--pipeline-parallel-size=2",
    "--dtype=bfloat16",
    "--kv-cache-dtype=bfloat16",
    "--context-length=32768",
    "--max-running-requests=16",
    "--chunked-prefill-size=8192",
    "--mem-fraction-static=0.85",
    "--host=0.0.0.0",
    "--enable-metrics",
    "--port=8000",
    "--nnodes=$(LWS_GROUP_SIZE)",
    "--node-rank=$(LWS_WORKER_INDEX)",
    "--dist-init-addr=$(LWS_LEADER_ADDRESS):20000",
]
REASON_ON_VLLM = [
    "/models/deepseek-r1",
    "--served-model-name=example.com/deepseek-r1",
    "--tensor-parallel-size=8",
    "--pipeline-parallel-size=2",
    "--dtype=bfloat16",
    "--kv-cache-dtype=bfloat16",
    "--max-model-len=32768",
    "--max-num-seqs=16",
    "--max-num-batched-tokens=8192",
    "--gpu-memory-utilization=0.85",
    "--nnodes=$(LWS_GROUP_SIZE)",
    "--node-rank=$(LWS_WORKER_INDEX)",
    "--master-addr=$(LWS_LEADER_ADDRESS)",
]


def with_args(args: list[str], **changed: str) -> list[str]:
    """The arguments with other values of some, by a part of their name."""
    for part, value in changed.items():
        name = f"--{part.replace('_', '-')}="
        assert sum(arg.startswith(name) for arg in args) == 1
        args = [name + value if arg.startswith(name) else arg for arg in args]
    return args


ARGS: dict[str, tuple[tuple[str, str], tuple[tuple[str, str], ...], str, list[str]]] = {
    "vllm": (CHAT, (), "single", CHAT_ARGS),
    "sglang": (RAG, (TO_SGLANG,), "single", RAG_ARGS),
    "compute": (
        CHAT,
        (("compute: bfloat16, kvCache: bfloat16", "compute: float16, kvCache: fp8"),),
        "single",
        with_args(CHAT_ARGS, dtype="float16", kv_cache_dtype="fp8"),
    ),
    "sglang's-word-for-fp8": (
        RAG,
        (TO_SGLANG, ("  load:", "  precision: {kvCache: fp8}\n  load:")),
        "single",
        with_args(RAG_ARGS, kv_cache_dtype="fp8_e4m3"),
    ),
    # No word of its own: then the cache has the model's dtype, which is the same.
    "sglang-has-no-float16-cache": (
        RAG,
        (TO_SGLANG, ("  load:", "  precision: {compute: float16, kvCache: float16}\n  load:")),
        "single",
        with_args(RAG_ARGS, dtype="float16", kv_cache_dtype="auto"),
    ),
    "load-and-memory": (
        CHAT,
        (
            ("contextTokens: 16384", "contextTokens: 4096"),
            ("maxSequences: 64, maxTokens: 8192", "maxSequences: 7, maxTokens: 512"),
            ("deviceMemoryPercent: 92", "deviceMemoryPercent: 5"),
        ),
        "single",
        with_args(
            CHAT_ARGS,
            max_model_len="4096",
            max_num_seqs="7",
            max_num_batched_tokens="512",
            gpu_memory_utilization="0.05",
        ),
    ),
    "all-memory": (
        CHAT,
        (("deviceMemoryPercent: 92", "deviceMemoryPercent: 100"),),
        "single",
        with_args(CHAT_ARGS, gpu_memory_utilization="1.00"),
    ),
    "parallel-within-a-node": (
        CHAT,
        (("{tensorParallel: 4}", "{tensorParallel: 2, pipelineParallel: 3, dataParallel: 4}"),),
        "single",
        [
            *CHAT_ARGS[:2],
            "--tensor-parallel-size=2",
            "--pipeline-parallel-size=3",
            "--data-parallel-size=4",
            *CHAT_ARGS[3:],
        ],
    ),
    "adapters-by-name": (
        TENANTS,
        (("name: tenant-a", "name: tenant-c"),),
        "single",
        [
            *TENANTS_ARGS,
            "--enable-lora",
            "--max-loras=8",
            "--max-lora-rank=16",
            "--lora-modules",
            "tenant-b=/models/adapters/tenant-b",
            "tenant-c=/models/adapters/tenant-a",
        ],
    ),
    # There, requests without an adapter take a slot too.
    "adapters-of-sglang": (
        TENANTS,
        (TENANTS_TO_SGLANG, ("maxRank: 16", "maxRank: 24")),
        "single",
        [
            "--model-path=/models/llama-3.1-8b",
            "--served-model-name=example.com/llama-3.1-8b",
            *RAG_ARGS[2:6],
            "--max-running-requests=64",
            "--chunked-prefill-size=8192",
            "--mem-fraction-static=0.90",
            *RAG_ARGS[9:],
            "--enable-lora",
            "--max-loras-per-batch=9",
            "--max-lora-rank=24",
            "--lora-paths",
            "tenant-a=/models/adapters/tenant-a",
            "tenant-b=/models/adapters/tenant-b",
        ],
    ),
    "model-of-a-hub": (
        ("guard-1b7", "1.0.0"),
        (),
        "single",
        [
            "safety/qwen3-1.7b",
            "--served-model-name=example.com/qwen3-1.7b",
            *TENANTS_ARGS[2:5],
            "--max-model-len=4096",
            "--max-num-seqs=16",
            "--max-num-batched-tokens=2048",
            "--gpu-memory-utilization=0.86",
            "--revision=5019bb5489f0285588160f1e43f49b23454aa1bd",
        ],
    ),
    "the-envelope's-own-last": (
        CHAT,
        (("    type: vllm\n", '    type: vllm\n    args: [--seed, "7", --enable-prefix-caching]\n'),),
        "single",
        [*CHAT_ARGS, "--seed", "7", "--enable-prefix-caching"],
    ),
    # Kubernetes makes one dollar sign of two, and fills in nothing.
    "a-name-like-a-variable": (
        CHAT,
        (("name: example.com/llama-3.3-70b-fp8", "name: $(HOSTNAME)"),),
        "single",
        with_args(CHAT_ARGS, served_model_name="$$(HOSTNAME)"),
    ),
    "sglang-leader": (REASON, (), "leader", REASON_ARGS),
    "sglang-worker": (REASON, (), "worker", REASON_ARGS),
    "vllm-leader": (REASON, (REASON_TO_VLLM,), "leader", REASON_ON_VLLM),
    "vllm-worker": (REASON, (REASON_TO_VLLM,), "worker", [*REASON_ON_VLLM, "--headless"]),
}


@pytest.mark.parametrize(("name", "changes", "role", "expected"), ARGS.values(), ids=ARGS)
def test_args(name: tuple[str, str], changes: tuple[tuple[str, str], ...], role: str, expected: list[str]) -> None:
    pod = base_pods(envelope(*name, *changes), name[0])[role]
    assert engine(pod)["args"] == expected


# --- probes, ports, environment, volumes ---


def probe(path: str, period: int, failures: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": "http"},
        "periodSeconds": period,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


PORTS = [{"name": "http", "containerPort": 8000, "protocol": "TCP"}]
REACHED = {
    "vllm": (
        RAG,
        (),
        ["vllm", "serve"],
        {
            "startupProbe": probe("/v1/models", 10, 60),
            "readinessProbe": probe("/v1/models", 5, 3),
            "livenessProbe": probe("/health", 10, 6),
        },
    ),
    "sglang": (
        RAG,
        (TO_SGLANG,),
        ["python3", "-m", "sglang.launch_server"],
        {
            "startupProbe": probe("/health_generate", 10, 60),
            "readinessProbe": probe("/ready", 5, 3),
            "livenessProbe": probe("/health", 10, 6),
        },
    ),
    "the-startup-is-rounded-up": (
        RAG,
        (("timeout: 10m", "timeout: 20001ms"),),
        ["vllm", "serve"],
        {
            "startupProbe": probe("/v1/models", 10, 3),
            "readinessProbe": probe("/v1/models", 5, 3),
            "livenessProbe": probe("/health", 10, 6),
        },
    ),
}


@pytest.mark.parametrize(("name", "changes", "command", "probes"), REACHED.values(), ids=REACHED)
def test_how_it_is_reached(
    name: tuple[str, str], changes: tuple[tuple[str, str], ...], command: list[str], probes: dict[str, Any]
) -> None:
    container = engine(base_pods(envelope(*name, *changes), name[0])["single"])
    assert {key: value for key, value in container.items() if key.endswith("Probe")} == probes
    assert (container["command"], container["ports"]) == (command, PORTS)


def test_a_hub_is_reached_by_the_environment_and_needs_no_volume() -> None:
    pod = base_pods(FLEET, "guard-1b7")["single"]["spec"]
    assert engine({"spec": pod})["env"][4:] == [
        {"name": "HF_ENDPOINT", "value": "https://hub.example.com"},
        {"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf-token", "key": "token"}}},
    ]
    assert pod["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory"}}]
    assert engine({"spec": pod})["volumeMounts"] == [{"name": "shm", "mountPath": "/dev/shm"}]


def test_an_open_hub_needs_no_token() -> None:
    files = envelope("guard-1b7", "1.0.0", ("        tokenSecretName: hf-token\n", ""))
    container = engine(base_pods(files, "guard-1b7")["single"])
    assert [entry["name"] for entry in container["env"][4:]] == ["HF_ENDPOINT"]


def test_a_volume_is_mounted_read_only() -> None:
    pod = base_pods(FLEET, "rag-8b")["single"]["spec"]
    assert pod["volumes"][0] == {"name": "models", "persistentVolumeClaim": {"claimName": "models", "readOnly": True}}
    assert engine({"spec": pod})["volumeMounts"][0] == {"name": "models", "mountPath": "/models", "readOnly": True}
    assert all(not entry["name"].startswith("HF_") for entry in engine({"spec": pod})["env"])


def test_of_an_engine_that_isn_t_known_only_what_is_ours_is_written() -> None:
    known = load_placement(FLEET, "east", "rag-8b").envelope
    container = build_engine(msgspec.structs.replace(known, dialect=None))
    assert set(container) == {"name", "image", "args", "env", "resources", "volumeMounts"}
    assert container["args"] == []


# --- versions of an engine ---


def on_version(engine_name: EngineType, version: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with another version of an engine on east's stack."""
    known = BASE_VERSIONS[engine_name]
    return change(files, STACK, (f"      version: {known}\n", f"      version: {version}\n"))


def decisions(files: Mapping[str, bytes], unit: str) -> str:
    """All of them; a price is of one version, so its digest is left out."""
    folder = build_folder(load_placement(files, "east", unit))
    text = b"".join(data for name, data in folder.files.items() if name.startswith("decisions/")).decode()
    return re.sub(r" *poolwright.dev/priced-digest: .*\n", "", text)


def test_a_version_with_other_words_has_its_own_arguments() -> None:
    files = on_version("sglang", "0.5.3", FLEET)
    (leader, worker) = pods(workload(objects_of(files, "reason-671b"))).values()
    assert engine(leader)["args"] == engine(worker)["args"] == with_args(REASON_ARGS, kv_cache_dtype="auto")
    assert engine(leader)["readinessProbe"] == probe("/health", 5, 3)
    assert not any(key.endswith("Probe") for key in engine(worker))
    assert base_pods(files, "reason-671b") == base_pods(FLEET, "reason-671b")
    patched = decisions(files, "reason-671b")
    assert patched.count("containers/0/args\n") == 2
    assert "containers/0/readinessProbe/httpGet/path\n" in patched


def test_a_version_with_the_same_words_changes_only_the_image() -> None:
    files = on_version("vllm", "0.21.0", FLEET)
    assert load_placement(files, "east", "chat-70b").dialect is not None  # it takes fewer words, none of them used here
    assert decisions(files, "chat-70b") == decisions(FLEET, "chat-70b")


def test_a_version_that_takes_other_memory_has_another_claim_and_the_same_arguments() -> None:
    before, after = (objects_of(files, "chat-70b") for files in (FLEET, on_version("vllm", "0.11.0", FLEET)))
    names = [one(objects, "ResourceClaimTemplate")["metadata"]["name"] for objects in (before, after)]
    assert names[0] != names[1]
    assert decisions(on_version("vllm", "0.11.0", FLEET), "chat-70b").replace(names[1], names[0]) == decisions(
        FLEET, "chat-70b"
    )


CHOSEN = {
    "read": ("vllm", "0.11.0", "0.11.0"),
    "between-two-that-were-read": ("vllm", "0.20.1", "0.11.0"),
    "newer-than-all": ("vllm", "1.2.3", "0.33.0"),
    "older-than-all": ("sglang", "0.4.9.post1", "0.5.3"),
    "by-number-not-by-text": ("sglang", "0.5.10", "0.5.3"),
    "with-a-v": ("sglang", "v0.5.23", "0.5.23"),
    "no-version": ("sglang", "nightly", "0.5.23"),
}


@pytest.mark.parametrize(("name", "version", "chosen"), CHOSEN.values(), ids=CHOSEN)
def test_which_dialect_a_version_speaks(name: Any, version: str, chosen: str) -> None:
    dialect = build_dialect(FACTS, name, version)
    assert dialect is not None
    assert dialect.version == chosen


def test_the_dialects_of_the_render_format_are_read_ones() -> None:
    listed = {(fact.engine, fact.version) for fact in FACTS.engines}
    assert set(BASE_VERSIONS.items()) <= listed
    assert build_base_dialect(FACTS, "custom") is None


def test_every_quantity_is_decided_by_a_field_or_by_nothing_here() -> None:
    quantities = {fact.quantity for fact in FACTS.engine_arguments}
    assert quantities - set(DECIDED_BY) == {"expertParallel", "eager"}
    assert set(DECIDED_BY) <= quantities
    schema = build_schema("Envelope")
    fields = set(DECIDED_BY.values()) - {"the tool", "any field"}
    assert all(field_schema(schema, ("spec", *field.split("."))) for field in fields)


# --- findings ---


def findings(files: Mapping[str, bytes], unit: str) -> tuple[Finding, ...]:
    with pytest.raises(SpecError) as refused:
        load_placement(files, "east", unit)
    return refused.value.findings


PRICED = {
    "long": ("vllm", "--tensor-parallel-size=8", "topology.tensorParallel"),
    "value-apart": ("vllm", "--max-model-len", "load.contextTokens"),
    "underscores": ("vllm", "--max_num_seqs=1", "load.batch.maxSequences"),
    "short": ("vllm", "-tp=8", "topology.tensorParallel"),
    "abbreviated": ("vllm", "--tensor-parallel=8", "topology.tensorParallel"),
    "abbreviated-and-ambiguous": ("vllm", "--max-lora=8", "adapters.maxRank"),
    "negated": ("vllm", "--no-enable-lora", "adapters"),
    "other-name": ("vllm", "--model=other", "model.source"),
    "another-way-to-the-same-memory": ("vllm", "--kv-cache-memory-bytes=1", "engine.deviceMemoryPercent"),
    "hidden-in-a-file": ("vllm", "--config=/models/engine.yaml", "any field"),
    "port": ("vllm", "--port=9000", "the tool"),
    # The probes speak plain HTTP, without a key.
    "api-key": ("vllm", "--api-key=x", "the tool (plain HTTP, no key)"),
    "sglang-tls": ("sglang", "--ssl-keyfile=/k", "the tool (plain HTTP, no key)"),
    "sglang-alias": ("sglang", "--tp-size=8", "topology.tensorParallel"),
    "sglang-abbreviation-of-an-alias": ("sglang", "--tp=8", "topology.tensorParallel"),
    "sglang-old-alias": ("sglang", "--nccl-init-addr=a:1", "topology.nodes"),
    "sglang-memory": ("sglang", "--mem-fraction-static=0.5", "engine.deviceMemoryPercent"),
    "sglang-host": ("sglang", "--host=::", "the tool"),
    "of-several-nodes-on-one": ("vllm", "-r=1", "topology.nodes"),
}


def rag_with(engine_type: str, *args: str) -> dict[str, bytes]:
    written = ", ".join(f"'{arg}'" for arg in args)
    new = f"engine: {{type: {engine_type}, args: [{written}]}}"
    return envelope(*RAG, ("engine: {type: vllm, deviceMemoryPercent: 75}", new))


@pytest.mark.parametrize(("engine_type", "argument", "field"), PRICED.values(), ids=PRICED)
def test_args_that_a_field_decides(engine_type: str, argument: str, field: str) -> None:
    (found,) = findings(rag_with(engine_type, "--seed=1", argument), "rag-8b")
    assert (found.code, found.place.field) == ("args-priced", "spec.engine.args[1]")
    assert found.what == f'engine.args has "{argument.partition("=")[0]}", which {field} decides'


NOT_PRICED = {
    "vllm": (
        "vllm",
        ("--kv-transfer-config={}", "--enforce-eager", "--max-cpu-loras=9", "-O3", "--seed", "7", "-q", "fp8"),
    ),
    "vllm-longer-names": ("vllm", ("--tensor-parallel-size-of-mine=1", "--model-impl=auto", "--dtype-of=x")),
    "sglang": ("sglang", ("--attention-backend=fa3", "--max-loaded-loras=9", "--tp-of=1")),
    "a-value-like-a-name": ("vllm", ("--chat-template", "model", "-", "--")),
}


@pytest.mark.parametrize(("engine_type", "args"), NOT_PRICED.values(), ids=NOT_PRICED)
def test_args_that_no_field_decides(engine_type: str, args: tuple[str, ...]) -> None:
    container = engine(base_pods(rag_with(engine_type, *args), "rag-8b")["single"])
    assert tuple(container["args"][-len(args) :]) == args


REFUSED = {
    "args-priced": (
        rag_with("vllm", "-tp=2"),
        "rag-8b",
        """\
specs/envelopes/rag-8b/1.1.0.yaml:22:31: engine.args has "-tp", which topology.tensorParallel decides  \
[args-priced]
  at   spec.engine.args[0]
  why  the last of two equal arguments counts, so what runs would not be what the envelope says and what its \
claim is computed from (poolwright facts, engine-arguments.json)
  fix  remove the argument; say it in topology.tensorParallel
""",
    ),
    "args-unanswered": (
        rag_with("vllm", "--api-key=x"),
        "rag-8b",
        """\
specs/envelopes/rag-8b/1.1.0.yaml:22:31: engine.args has "--api-key", which the tool (plain HTTP, no key) decides  \
[args-priced]
  at   spec.engine.args[0]
  why  the probes, the metrics and the router ask without a key or TLS, and would get no answer (poolwright facts, \
engine-arguments.json)
  fix  remove the argument
""",
    ),
    "custom-without-a-template": (
        change(
            envelope(*RAG, ("engine: {type: vllm, deviceMemoryPercent: 75}", "engine: {type: custom}")),
            STACK,
            ("    - name: vllm\n      engine: vllm\n", "    - name: custom\n      engine: custom\n"),
        ),
        "rag-8b",
        """\
specs/envelopes/rag-8b/1.1.0.yaml:22:18: envelope rag-8b@1.1.0 has a custom engine and no template  \
[template-missing]
  at   spec.engine.type
  why  how an engine that isn't known is started, probed and reached is for its template to say \
(poolwright.dev/v1alpha1)
  fix  name the team's workload in engine.template, or use a known engine: sglang, vllm
""",
    ),
    "adapters-without-a-volume": (
        envelope(
            "guard-1b7",
            "1.0.0",
            (
                "  isolation: partition\n",
                "  isolation: partition\n  adapters: {slots: 1, maxRank: 8, items: "
                f"[{{name: a, path: a, rank: 8, digest: 'sha256:{'0' * 64}'}}]}}\n",
            ),
        ),
        "guard-1b7",
        """\
specs/envelopes/guard-1b7/1.0.0.yaml:25:43: envelope guard-1b7@1.0.0 has adapters, and its model comes from a \
hub  [adapters-volume]
  at   spec.adapters.items
  why  an adapter's path is a folder of the model's volume, and there is none (poolwright.dev/v1alpha1)
  fix  serve model and adapters from one PersistentVolumeClaim
""",
    ),
    "cache-that-sglang-doesn't-have": (
        envelope(*RAG, TO_SGLANG, ("  load:", "  precision: {kvCache: float16}\n  load:")),
        "rag-8b",
        """\
specs/envelopes/rag-8b/1.1.0.yaml:16:24: sglang 0.5.23 has no KV cache of float16 beside a model of bfloat16, \
as envelope rag-8b@1.1.0 asks  [engine-unable]
  at   spec.precision.kvCache
  why  the engine would refuse its arguments and never start (poolwright facts, engine-arguments.json)
  fix  write one of bfloat16, fp8, or that of precision.compute
""",
    ),
    "rank-that-vllm-doesn't-have": (
        envelope(*TENANTS, ("maxRank: 16", "maxRank: 24")),
        "tenants-8b",
        """\
specs/envelopes/tenants-8b/1.5.2.yaml:22:14: vllm 0.33.0 has no LoRA slots of rank 24, as envelope \
tenants-8b@1.5.2 asks  [engine-unable]
  at   spec.adapters.maxRank
  why  the engine would refuse its arguments and never start (poolwright facts, engine-arguments.json)
  fix  write one of 1, 8, 16, 32, 64, 128, 256, 320, 512
""",
    ),
    "copies-over-nodes-on-sglang": (
        envelope(*REASON, ("pipelineParallel: 2, nodes: 2", "dataParallel: 2, nodes: 2")),
        "reason-671b",
        """\
specs/envelopes/reason-671b/0.4.0.yaml:20:47: sglang 0.5.23 serves copies of a model on one node only, not on \
several, as envelope reason-671b@0.4.0 asks  [engine-unable]
  at   spec.topology.dataParallel
  why  the engine would refuse its arguments and never start (poolwright facts, engine-arguments.json)
  fix  write dataParallel: 1, and more replicas instead
""",
    ),
    "nodes-on-an-older-vllm": (
        on_version("vllm", "0.11.0", envelope(*REASON, REASON_TO_VLLM)),
        "reason-671b",
        """\
specs/envelopes/reason-671b/0.4.0.yaml:20:61: vllm 0.11.0 has no arguments for several nodes, as envelope \
reason-671b@0.4.0 asks on stack operator-26-7  [engine-unable]
  at   spec.topology.nodes
  why  the engine would refuse its arguments and never start (poolwright facts, engine-arguments.json)
  fix  use one node, or a version that has them
""",
    ),
    "sidecar-with-the-engine's-image": (
        envelope(*RAG, ("image: registry.example.com/search/reranker:2.4.1", "image: vllm:1.0")),
        "rag-8b",
        """\
specs/envelopes/rag-8b/1.1.0.yaml:25:14: sidecar "reranker" has the image "vllm", which every overlay replaces \
by the stack's serving image  [sidecar-clash]
  at   spec.sidecars[0].image
  why  both are in one pod, and would be taken for each other (poolwright.dev/v1alpha1)
  fix  name the image with its registry
""",
    ),
    "sidecar-with-the-engine's-port": (
        envelope(*RAG, ("port: 9000", "port: 8000")),
        "rag-8b",
        """\
specs/envelopes/rag-8b/1.1.0.yaml:27:13: sidecar "reranker" has the port 8000, where the engine listens  \
[sidecar-clash]
  at   spec.sidecars[0].port
  why  both are in one pod, and would be taken for each other (poolwright.dev/v1alpha1)
  fix  choose another port
""",
    ),
    "sidecar-named-like-the-statement": (
        envelope(*RAG, ("[engine, reranker]", "[engine, topology]"), ("name: reranker", "name: topology")),
        "rag-8b",
        """\
specs/envelopes/rag-8b/1.1.0.yaml:24:13: sidecar "topology" has the name of the container that compares the \
devices' topology  [sidecar-clash]
  at   spec.sidecars[0].name
  why  both are in one pod, and would be taken for each other (poolwright.dev/v1alpha1)
  fix  choose another name
""",
    ),
}


@pytest.mark.parametrize(("files", "unit", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(files: Mapping[str, bytes], unit: str, text: str) -> None:
    assert render_text(findings(files, unit)) == text


COLON = ("name: example.com/qwen3-8b", "name: qwen3:8b")


def test_a_colon_in_a_name_parts_it_from_an_adapter_on_sglang() -> None:
    (found,) = findings(envelope(*RAG, TO_SGLANG, COLON), "rag-8b")
    assert (found.code, found.place.field, found.what) == (
        "engine-unable",
        "spec.model.name",
        "sglang 0.5.23 serves no model with a colon in its name, as envelope rag-8b@1.1.0 asks",
    )
    assert "--served-model-name=qwen3:8b" in engine(base_pods(envelope(*RAG, COLON), "rag-8b")["single"])["args"]


def test_copies_over_nodes_are_vllm_s_to_spread() -> None:
    files = envelope(*REASON, REASON_TO_VLLM, ("pipelineParallel: 2, nodes: 2", "dataParallel: 2, nodes: 2"))
    assert "--data-parallel-size=2" in engine(base_pods(files, "reason-671b")["leader"])["args"]


def test_what_the_base_can_t_say_is_said_once() -> None:
    files = on_version("vllm", "0.11.0", envelope(*TENANTS, ("maxRank: 16", "maxRank: 24")))
    assert [finding.what for finding in findings(files, "tenants-8b")] == [
        "vllm 0.33.0 has no LoRA slots of rank 24, as envelope tenants-8b@1.5.2 asks"
    ]


def test_a_version_that_nobody_has_read_is_a_warning() -> None:
    files = on_version("sglang", "0.5.24", FLEET)
    specs = parse_specs(list_specs(files))
    (stack,) = (stack for stack in specs.stacks if stack.value.identity == "operator-26-7")
    (found,) = check_serving_images(stack, FACTS)
    assert (
        render_text([found])
        == """\
specs/stacks/operator-26-7.yaml:32:16: warning: image "sglang" has sglang 0.5.24, whose arguments nobody has read; \
those of 0.5.23 are rendered  [engine-unlisted]
  at   spec.servingImages[1].version
  why  engines rename arguments and change what they take; an unknown one stops the engine's start (poolwright facts, \
engine-arguments.json)
  fix  try the image before it is rolled out; versions that were read: 0.5.23, 0.5.3
"""
    )
    assert load_closures(files)  # and it keeps nothing from being rendered
