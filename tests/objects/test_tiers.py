"""What a tier promises, and how much of it shows in a unit's objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fleet import load_unit
from poolwright.catalog.closure import PlatformClosure
from poolwright.objects.built import list_leaves
from poolwright.objects.kubernetes import identify
from poolwright.objects.platform import build_platform
from unit_objects import FLEET, base_pods, change, envelope, objects_of, one, pods, workload

POOL = "specs/pools/h100-full.yaml"
PLACEMENTS = "specs/placements/east.yaml"
RAG = ("rag-8b", "1.1.0")
INTERACTIVE = "      tier: interactive\n      driver: gpu.nvidia.com\n"
RAG_PLACED = (
    "  envelope: {name: rag-8b, version: 1.1.0}\n  poolName: h100-full\n  deviceClassNames: [interactive-80g]\n"
)


def place_rag(said: str, files: Mapping[str, bytes] = FLEET) -> dict[str, bytes]:
    """The example with other lines after the classes of rag-8b's placement."""
    return change(files, PLACEMENTS, (RAG_PLACED + "  minReplicas: 1\n  surge: 1\n", RAG_PLACED + said))


def as_batch(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The pool's class of accelerators in the other tier."""
    return change(files, POOL, (INTERACTIVE, INTERACTIVE.replace("interactive", "batch")))


def test_one_envelope_under_both_tiers_differs_in_exactly_these_fields() -> None:
    """Surge aside: both are without, which a batch placement always is."""
    interactive = objects_of(place_rag("  minReplicas: 1\n  surge: 0\n"), "rag-8b")
    batch = objects_of(as_batch(place_rag("  minReplicas: 1\n")), "rag-8b")
    workloads = ("Deployment", "PodDisruptionBudget", "ResourceClaimTemplate", "Service", "ConfigMap")
    pairs = [
        (identify(one(interactive, kind))[0], list_leaves(one(interactive, kind)), list_leaves(one(batch, kind)))
        for kind in workloads
    ]
    different = {
        f"{kind}{pointer}": (before.get(pointer), after.get(pointer))
        for kind, before, after in pairs
        for pointer in sorted({*before, *after})
        if before.get(pointer) != after.get(pointer)
    }
    both = ("interactive", "batch")
    assert different == {
        "Deployment/metadata/labels/poolwright.dev~1tier": both,
        "Deployment/spec/template/metadata/labels/poolwright.dev~1tier": both,
        "Deployment/spec/template/spec/priorityClassName": ("poolwright-interactive", "poolwright-batch"),
        "PodDisruptionBudget/metadata/labels/poolwright.dev~1tier": both,
        "PodDisruptionBudget/spec/maxUnavailable": (1, "50%"),
    }


def test_the_priority_is_one_that_the_cluster_has() -> None:
    platform = load_unit(FLEET, "east", "platform")
    assert isinstance(platform, PlatformClosure)
    known = {o["metadata"]["name"] for o in build_platform(platform) if o["kind"] == "PriorityClass"}
    used = {
        pod["spec"]["priorityClassName"]
        for unit in ("chat-70b", "reason-671b", "summarise-20b")
        for pod in pods(workload(objects_of(FLEET, unit))).values()
    }
    assert used == {"poolwright-batch", "poolwright-interactive"} == known


# --- disruption budgets ---


def recovery(spare: int, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return envelope(*RAG, ("  engine:", f"  recovery: {{spareReplicas: {spare}}}\n  engine:"), files=files)


def behavior(word: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    return envelope(*RAG, ("replicaBehavior: relocatable", f"replicaBehavior: {word}"), files=files)


ONE_OF_TWO = place_rag("  minReplicas: 2\n  surge: 0\n")
BATCH = as_batch(place_rag("  minReplicas: 4\n"))
UNIT = {"poolwright.dev/unit": "rag-8b"}
LEADERS = {"poolwright.dev/unit": "reason-671b", "leaderworkerset.sigs.k8s.io/worker-index": "0"}


def groups(replicas: int, *, batch: bool) -> dict[str, bytes]:
    """reason-671b, whose replicas are groups of two pods."""
    placed = RAG_PLACED.replace("rag-8b, version: 1.1.0", "reason-671b, version: 0.4.0")
    files = change(
        FLEET,
        PLACEMENTS,
        (placed + "  minReplicas: 1\n", placed + f"  minReplicas: {replicas}\n"),
        ("  surge: 0   # an update means an outage: a visible choice\n", "" if batch else "  surge: 0\n"),
    )
    return as_batch(files) if batch else files


BUDGETS: dict[str, tuple[dict[str, bytes], str, object]] = {
    "interactive-one-at-least": (ONE_OF_TWO, "rag-8b", (1, UNIT)),
    # One replica: minAvailable, or 0, would keep its node from ever being drained.
    "interactive-with-one-replica": (dict(FLEET), "rag-8b", (1, UNIT)),
    "interactive-as-many-as-are-spare": (recovery(3, place_rag("  minReplicas: 5\n  surge: 0\n")), "rag-8b", (3, UNIT)),
    "interactive-spares-but-never-all": (recovery(3, ONE_OF_TWO), "rag-8b", (1, UNIT)),
    "interactive-stable": (behavior("stable", ONE_OF_TWO), "rag-8b", (1, UNIT)),
    "interactive-groups-by-their-leaders": (groups(1, batch=False), "reason-671b", (1, LEADERS)),
    "batch-half": (BATCH, "rag-8b", ("50%", UNIT)),
    "batch-half-whatever-is-spare": (recovery(3, BATCH), "rag-8b", ("50%", UNIT)),
    "batch-that-may-wait-none": (behavior("queueable", BATCH), "rag-8b", None),
    # A share of pods is no share of groups.
    "batch-groups-a-whole-number": (groups(5, batch=True), "reason-671b", (3, LEADERS)),
    "batch-one-group": (groups(1, batch=True), "reason-671b", (1, LEADERS)),
}


@pytest.mark.parametrize(("files", "unit", "expected"), BUDGETS.values(), ids=BUDGETS)
def test_disruption_budget(files: dict[str, bytes], unit: str, expected: object) -> None:
    found = [document for document in objects_of(files, unit) if document["kind"] == "PodDisruptionBudget"]
    if expected is None:
        assert found == []
        return
    (budget,) = found
    assert budget["spec"] == {
        "maxUnavailable": budget["spec"]["maxUnavailable"],
        "selector": {"matchLabels": budget["spec"]["selector"]["matchLabels"]},
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    assert (budget["spec"]["maxUnavailable"], budget["spec"]["selector"]["matchLabels"]) == expected


# --- replicas and updates ---

UPDATES: dict[str, tuple[str, bool, dict[str, Any]]] = {
    "a-spare-device-first": (
        "  minReplicas: 2\n  surge: 1\n",
        False,
        {"replicas": 2, "maxSurge": 1, "maxUnavailable": 0, "max": None},
    ),
    "an-old-one-first": (
        "  minReplicas: 2\n  surge: 0\n",
        False,
        {"replicas": 2, "maxSurge": 0, "maxUnavailable": 1, "max": None},
    ),
    "several-at-once": (
        "  minReplicas: 2\n  maxReplicas: 9\n  surge: 3\n",
        False,
        {"replicas": 2, "maxSurge": 3, "maxUnavailable": 0, "max": "9"},
    ),
    "a-bound-that-is-no-other": (
        "  minReplicas: 2\n  maxReplicas: 2\n  surge: 1\n",
        False,
        {"replicas": 2, "maxSurge": 1, "maxUnavailable": 0, "max": None},
    ),
    "batch": ("  minReplicas: 3\n", True, {"replicas": 3, "maxSurge": 0, "maxUnavailable": 1, "max": None}),
}


@pytest.mark.parametrize(("said", "batch", "expected"), UPDATES.values(), ids=UPDATES)
def test_replicas_and_updates(said: str, batch: bool, expected: dict[str, Any]) -> None:
    files = place_rag(said)
    deployment = one(objects_of(as_batch(files) if batch else files, "rag-8b"), "Deployment")
    assert deployment["spec"]["strategy"]["type"] == "RollingUpdate"
    assert {
        "replicas": deployment["spec"]["replicas"],
        **deployment["spec"]["strategy"]["rollingUpdate"],
        "max": deployment["metadata"]["annotations"].get("poolwright.dev/max-replicas"),
    } == expected


def test_groups_are_updated_as_a_whole() -> None:
    files = change(
        FLEET,
        PLACEMENTS,
        ("  surge: 0   # an update means an outage: a visible choice\n", "  maxReplicas: 2\n  surge: 1\n"),
    )
    group = one(objects_of(files, "reason-671b"), "LeaderWorkerSet")
    assert group["spec"]["rolloutStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdateConfiguration": {"maxSurge": 1, "maxUnavailable": 0, "partition": 0},
    }
    assert (group["spec"]["replicas"], group["metadata"]["annotations"]["poolwright.dev/max-replicas"]) == (1, "2")


# --- where pods run, and how they are found ---

TOLERATION = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


def test_pods_say_their_pool_and_zone() -> None:
    deployment = one(objects_of(FLEET, "tenants-8b-b"), "Deployment")
    pod = deployment["spec"]["template"]
    added = {
        key: value
        for key, value in pod["metadata"]["labels"].items()
        if value != base_pods(FLEET, "tenants-8b-b")["single"]["metadata"]["labels"].get(key)
    }
    assert added == {
        "poolwright.dev/pool": "h100-full",
        "poolwright.dev/router-pool": "tenants-8b",  # of the unit whose pool it joins
        "poolwright.dev/tier": "interactive",
        "poolwright.dev/unit": "tenants-8b-b",
    }
    assert (pod["spec"]["nodeSelector"], pod["spec"]["tolerations"]) == (
        {"topology.kubernetes.io/zone": "east-b"},
        TOLERATION,
    )
    # A pod without the router pool's label keeps its ReplicaSet.
    assert deployment["spec"]["selector"] == {"matchLabels": {"poolwright.dev/unit": "tenants-8b-b"}}


def test_without_a_zone_any_will_do() -> None:
    assert "nodeSelector" not in pods(workload(objects_of(FLEET, "chat-70b")))["single"]["spec"]


def test_every_pod_of_a_group_runs_where_the_claim_is_and_only_the_leader_is_routed_to() -> None:
    made = pods(workload(objects_of(FLEET, "reason-671b")))
    for pod in made.values():
        assert pod["spec"]["nodeSelector"] == {"topology.kubernetes.io/zone": "east-b"}
        assert pod["spec"]["tolerations"] == TOLERATION
        assert pod["spec"]["priorityClassName"] == "poolwright-interactive"
    leader, worker = made["leader"]["metadata"]["labels"], made["worker"]["metadata"]["labels"]
    assert leader == {**worker, "poolwright.dev/router-pool": "reason-671b"}
