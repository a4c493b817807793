"""A unit's workload: its kind, its containers, who of them has the claim; and that the base knows no cluster."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from crd_schemas import object_errors
from fleet import load_closures, load_placement, load_unit
from kubernetes_schemas import MINORS
from poolwright.catalog.closure import BaseClosure, UnitClosure
from poolwright.objects.kubernetes import identify
from poolwright.objects.unit import build_objects, build_unit
from poolwright.trees.tree import build_folder, unit_name
from unit_objects import FLEET, base_pods, change, engine, envelope, objects_of, one, pods, workload

REASON = ("reason-671b", "0.4.0")
RAG = ("rag-8b", "1.1.0")
# The example, and what it doesn't show.
VARIANTS = {
    "as-committed": FLEET,
    "a-group-on-vllm-with-a-statement-and-a-sidecar": envelope(
        *REASON,
        ("    type: sglang\n", "    type: vllm\n"),
        (
            "  engine:\n",
            "  claim: {constraints: [{matchAttribute: resource.kubernetes.io/pcieRoot}]}\n"
            "  sidecars: [{name: queue, image: 'registry.example.com/queue:1', port: 9000}]\n  engine:\n",
        ),
    ),
    "other-resources": envelope(
        *RAG,
        (
            "      port: 9000\n",
            "      port: 9000\n      resources: {requests: {cpu: 500m}, limits: {memory: 1Gi}}\n"
            "    - {name: cache, image: registry.example.com/cache}\n",
        ),
    ),
}


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_every_object_has_the_shape_that_its_api_asks_for(variant: str, minor: str) -> None:
    wrong = {
        (unit_name(closure), *identify(document)): problems
        for closure in load_closures(VARIANTS[variant])
        if isinstance(closure, UnitClosure)
        for document in build_objects(closure)
        if (problems := object_errors(document, minor))
    }
    assert wrong == {}


# --- who has the claim ---

NIC = (
    "  claim:\n    extraRequests:\n",
    "  sidecars: [{name: queue, image: registry.example.com/queue:1}]\n  claim:\n    extraRequests:\n",
)
CLAIMING: dict[str, tuple[Mapping[str, bytes], str, dict[str, set[str]]]] = {
    "per-pod-the-engine-alone": (FLEET, "chat-70b", {"single": {"engine"}}),
    "per-pod-shared-the-listed-ones": (FLEET, "rag-8b", {"single": {"engine", "reranker"}}),
    "not-a-sidecar-that-isn't-listed": (VARIANTS["other-resources"], "rag-8b", {"single": {"engine", "reranker"}}),
    "named": (FLEET, "rewrite-0b6", {"single": {"engine"}}),
    "and-the-statement": (envelope("prefill-8b", "0.1.0", NIC), "prefill-8b", {"single": {"engine", "topology"}}),
    "of-a-group-every-pod": (
        VARIANTS["a-group-on-vllm-with-a-statement-and-a-sidecar"],
        "reason-671b",
        {"leader": {"engine", "topology"}, "worker": {"engine", "topology"}},
    ),
}


@pytest.mark.parametrize(("files", "unit", "expected"), CLAIMING.values(), ids=CLAIMING)
def test_who_has_the_claim(files: Mapping[str, bytes], unit: str, expected: dict[str, set[str]]) -> None:
    objects = objects_of(files, unit)
    (claim,) = (document for document in objects if document["kind"].startswith("ResourceClaim"))
    key = "resourceClaimName" if claim["kind"] == "ResourceClaim" else "resourceClaimTemplateName"
    made = pods(workload(objects))
    entry = {"name": "devices", key: claim["metadata"]["name"]}
    assert {role: pod["spec"]["resourceClaims"] for role, pod in made.items()} == {role: [entry] for role in expected}
    assert {
        role: {
            container["name"]
            for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
            if container.get("resources", {}).get("claims") == [{"name": "devices"}]
        }
        for role, pod in made.items()
    } == expected


# --- groups ---


def test_a_group_is_one_replica() -> None:
    document = one(objects_of(FLEET, "reason-671b"), "LeaderWorkerSet")
    group = document["spec"].pop("leaderWorkerTemplate")
    assert {key: value for key, value in group.items() if not key.endswith("Template")} == {
        "size": 2,
        "restartPolicy": "RecreateGroupOnPodRestart",
    }
    assert document["spec"] == {
        "replicas": 1,
        "startupPolicy": "LeaderCreated",
        "rolloutStrategy": {
            "type": "RollingUpdate",
            "rollingUpdateConfiguration": {"maxSurge": 0, "maxUnavailable": 1, "partition": 0},
        },
    }


def test_only_the_leader_is_reached() -> None:
    objects = objects_of(FLEET, "reason-671b")
    leader, worker = (engine(pod) for pod in pods(workload(objects)).values())
    only = {"ports", "startupProbe", "readinessProbe", "livenessProbe"}
    assert set(leader) - set(worker) == only
    assert {key: value for key, value in leader.items() if key not in only} == worker
    assert one(objects, "Service")["spec"]["selector"] == {
        "poolwright.dev/unit": "reason-671b",
        "leaderworkerset.sigs.k8s.io/worker-index": "0",
    }


def test_sidecars_stand_beside_the_leader() -> None:
    made = pods(workload(objects_of(VARIANTS["a-group-on-vllm-with-a-statement-and-a-sidecar"], "reason-671b")))
    assert {role: [c["name"] for c in pod["spec"]["containers"]] for role, pod in made.items()} == {
        "leader": ["engine", "queue"],
        "worker": ["engine"],
    }


def test_one_pod_is_no_group() -> None:
    files = envelope(*REASON, ("pipelineParallel: 2, nodes: 2", "nodes: 1"))
    objects = objects_of(files, "reason-671b")
    assert workload(objects)["kind"] == "Deployment"
    assert one(objects, "Service")["spec"]["selector"] == {"poolwright.dev/unit": "reason-671b"}
    assert not any("LWS_" in arg for arg in engine(pods(workload(objects))["single"])["args"])


# --- containers ---


def test_sidecars_are_written_by_name_and_as_little_as_is_said() -> None:
    files = envelope(
        *RAG,
        ("[engine, reranker]", "[engine]"),
        ("    - name: reranker\n", "    - {name: z, image: registry.example.com/z}\n    - name: reranker\n"),
        ("      port: 9000\n", "      port: 9000\n      resources: {requests: {cpu: 500m}, limits: {memory: 1Gi}}\n"),
    )
    assert base_pods(files, "rag-8b")["single"]["spec"]["containers"][1:] == [
        {
            "name": "reranker",
            "image": "registry.example.com/search/reranker:2.4.1",
            "ports": [{"containerPort": 9000, "protocol": "TCP"}],
            "resources": {"requests": {"cpu": "500m"}, "limits": {"memory": "1Gi"}},
        },
        {"name": "z", "image": "registry.example.com/z"},
    ]


def test_new_weights_restart_the_pods() -> None:
    assert base_pods(FLEET, "tenants-8b")["single"]["metadata"]["annotations"] == {
        "poolwright.dev/model-digest": "sha256:b4e6a3ef2fd468b9e826dbb03d18926a31ff3c30adf3593c13da06b3bec74c1e",
        "poolwright.dev/adapter-digests": "tenant-a="
        "sha256:397ec4008bb6db3b6f6aae6a9a8c9da9621b7a36ddacd2e74486d996e0b9ff10,tenant-b="
        "sha256:6bb58ce421101d069bb2fc19073c4fa48ec85acce4fe8ed544fd6df83a0ffc7c",
    }
    assert list(base_pods(FLEET, "rag-8b")["single"]["metadata"]["annotations"]) == ["poolwright.dev/model-digest"]


# --- base and cluster ---

ELSEWHERE = {
    "another-pool-text": change(FLEET, "specs/pools/h100-full.yaml", ("owner: platform-gpu", "owner: somebody-else")),
    "another-image": change(
        FLEET, "specs/stacks/operator-26-7.yaml", ("serving/sglang:v0.5.23", "serving/sglang:v0.5.23-patched")
    ),
    "another-engine-version": change(
        FLEET, "specs/stacks/operator-26-7.yaml", ("      version: 0.5.23\n", "      version: 0.5.3\n")
    ),
    "another-zone": change(
        FLEET,
        "specs/placements/east.yaml",
        (
            "  minReplicas: 1\n  zone: east-b\n  surge: 0   # an update means an outage: a visible choice\n",
            "  minReplicas: 1\n  zone: east-a\n  surge: 0\n",
        ),
    ),
    "another-kubernetes": change(FLEET, "specs/stacks/operator-26-7.yaml", ("version: 1.36.x", "version: 1.35.x")),
}


@pytest.mark.parametrize("files", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_base_knows_nothing_of_clusters(files: dict[str, bytes]) -> None:
    def bases(of: Mapping[str, bytes]) -> dict[str, dict[str, bytes]]:
        return {
            unit_name(closure): dict(build_folder(closure).files)
            for closure in load_closures(of)
            if isinstance(closure, BaseClosure)
        }

    assert bases(files) == bases(FLEET)


@pytest.mark.parametrize("unit", ["chat-70b", "reason-671b", "rewrite-0b6", "prefill-8b"])
def test_a_unit_stands_on_its_envelope_s_base(unit: str) -> None:
    closure = load_placement(FLEET, "east", unit)
    bases = {unit_name(c): build_objects(c) for c in load_closures(FLEET) if isinstance(c, BaseClosure)}
    assert build_unit(closure).base == bases[f"base/{closure.envelope.name}/{closure.envelope.version}"]


def test_generate_sees_the_same_unit_as_render() -> None:
    whole = {unit_name(c): c for c in load_closures(FLEET) if isinstance(c, UnitClosure)}
    assert {name: load_unit(FLEET, c.on.cluster, c.unit) for name, c in whole.items()} == whole
