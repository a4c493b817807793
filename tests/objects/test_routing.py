"""Routing: which units render pool, objective and route, what stands in them, and what is refused."""

from __future__ import annotations

import pytest

from crd_schemas import object_errors
from fleet import PROJECT, Files, edit, list_specs, load_placement, load_unit, read_fleet
from poolwright.objects.kubernetes import Object
from poolwright.objects.routing import ROUTER_POOL, build_routing
from poolwright.objects.unit import build_objects
from poolwright.specs.finding import SpecError, render_text
from poolwright.specs.parse import parse_specs
from poolwright.specs.resolve import resolve_placement

FLEET = read_fleet()
EAST = "specs/placements/east.yaml"
CHAT = "specs/envelopes/chat-70b/2.3.0.yaml"
TENANTS = "specs/envelopes/tenants-8b/1.5.2.yaml"
PICKER = "  router: {endpointPicker: {serviceName: tenants-8b-epp, port: 9002}}\n"
JOINS = "  router: {poolName: tenants-8b} "
GATEWAY = "      gateway: {name: inference, namespace: gateway-system}\n"


def route(files: Files, unit: str, cluster: str = "east") -> tuple[Object, ...]:
    return build_routing(load_placement(files, cluster, unit))


def about(name: str, namespace: str, owner: str, tier: str = "interactive") -> Object:
    return {
        "name": name,
        "namespace": namespace,
        "labels": {
            "app.kubernetes.io/managed-by": "poolwright",
            "app.kubernetes.io/part-of": "inference-fleet",
            "poolwright.dev/envelope": name,
            "poolwright.dev/owner": owner,
            "poolwright.dev/tier": tier,
            "poolwright.dev/unit": name,
        },
        "annotations": {"argocd.argoproj.io/sync-wave": "10"},
    }


def test_a_unit_with_picker_hostnames_and_a_gateway_has_all_three() -> None:
    pool = {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "metadata": about("chat-70b", "chat", "team-chat"),
        "spec": {
            "selector": {"matchLabels": {"poolwright.dev/router-pool": "chat-70b"}},
            "targetPorts": [{"number": 8000}],
            "endpointPickerRef": {
                "group": "",
                "kind": "Service",
                "name": "chat-70b-epp",
                "port": {"number": 9002},
                "failureMode": "FailClose",
            },
        },
    }
    objective = {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha2",
        "kind": "InferenceObjective",
        "metadata": about("chat-70b", "chat", "team-chat"),
        "spec": {
            "priority": 10,
            "poolRef": {"group": "inference.networking.k8s.io", "kind": "InferencePool", "name": "chat-70b"},
        },
    }
    gateway = {
        "group": "gateway.networking.k8s.io",
        "kind": "Gateway",
        "name": "inference",
        "namespace": "gateway-system",
    }
    backend = {
        "group": "inference.networking.k8s.io",
        "kind": "InferencePool",
        "name": "chat-70b",
        "port": 8000,
        "weight": 1,
    }
    http_route = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": about("chat-70b", "chat", "team-chat"),
        "spec": {
            "parentRefs": [gateway],
            "hostnames": ["chat.example.com"],
            "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}], "backendRefs": [backend]}],
        },
    }
    assert route(FLEET, "chat-70b") == (pool, objective, http_route)


UNJOINED = edit(FLEET, EAST, (JOINS, "  # "))
# Cluster, unit, and the kinds that are rendered.
KINDS: dict[str, tuple[Files, str, str, list[str]]] = {
    "picker-and-hostnames": (FLEET, "east", "tenants-8b", ["InferencePool", "InferenceObjective", "HTTPRoute"]),
    "picker-without-hostnames": (FLEET, "lab", "chat-70b", ["InferencePool", "InferenceObjective"]),
    "joins-another's-pool": (FLEET, "east", "tenants-8b-b", []),
    "names-its-own-pool": (
        edit(FLEET, EAST, (JOINS, "  router: {poolName: tenants-8b-b} ")),
        "east",
        "tenants-8b-b",
        ["InferencePool", "InferenceObjective"],
    ),
    "hostnames-without-picker": (edit(UNJOINED, TENANTS, (PICKER, "")), "east", "tenants-8b", ["HTTPRoute"]),
    "neither": (FLEET, "east", "rag-8b", []),
    "a-group-without-picker": (FLEET, "east", "reason-671b", []),
}


@pytest.mark.parametrize(("files", "cluster", "unit", "kinds"), KINDS.values(), ids=KINDS)
def test_kinds(files: Files, cluster: str, unit: str, kinds: list[str]) -> None:
    objects = route(files, unit, cluster)
    assert [document["kind"] for document in objects] == kinds
    assert [error for document in objects for error in object_errors(document, "1.36")] == []


def test_without_a_picker_the_route_leads_to_the_service() -> None:
    files = edit(UNJOINED, TENANTS, (PICKER, ""))
    (http_route,) = route(files, "tenants-8b")
    (rule,) = http_route["spec"]["rules"]
    assert rule["backendRefs"] == [{"group": "", "kind": "Service", "name": "tenants-8b", "port": 8000, "weight": 1}]
    (service,) = (d for d in build_objects(load_unit(files, "east", "tenants-8b")) if d["kind"] == "Service")
    assert service["metadata"]["name"] == "tenants-8b"
    assert [port["port"] for port in service["spec"]["ports"]] == [8000]


def test_hostnames_are_in_order_and_each_once() -> None:
    files = edit(FLEET, EAST, ("[chat.example.com]", "[z.example.com, a.example.com, z.example.com]"))
    assert route(files, "chat-70b")[-1]["spec"]["hostnames"] == ["a.example.com", "z.example.com"]


SUMMARISE = "specs/envelopes/summarise-20b/0.9.0.yaml"
BATCH = {
    **FLEET,
    SUMMARISE: FLEET[SUMMARISE] + b"  router: {endpointPicker: {serviceName: summarise-epp, port: 9002}}\n",
}


def test_batch_is_shed_first_and_served_without_its_picker() -> None:
    pool, objective = route(BATCH, "summarise-20b")
    assert pool["spec"]["endpointPickerRef"]["failureMode"] == "FailOpen"
    assert objective["spec"]["priority"] == -10
    assert pool["metadata"]["labels"]["poolwright.dev/tier"] == "batch"


REASON = "specs/envelopes/reason-671b/0.4.0.yaml"
POOLED = {
    **FLEET,
    REASON: FLEET[REASON] + b"  router: {endpointPicker: {serviceName: reason-epp, port: 9002}}\n",
}


@pytest.mark.parametrize(
    ("files", "unit", "owner"),
    [
        pytest.param(FLEET, "chat-70b", "chat-70b", id="own-pods"),
        pytest.param(FLEET, "tenants-8b-b", "tenants-8b", id="pods-of-a-unit-that-joins"),
        pytest.param(POOLED, "reason-671b", "reason-671b", id="leaders-of-groups"),
    ],
)
def test_the_owner_s_pool_selects_the_pods_on_the_port_they_have(files: Files, unit: str, owner: str) -> None:
    pool = route(files, owner)[0]
    (workload,) = (
        d for d in build_objects(load_unit(files, "east", unit)) if d["kind"] in ("Deployment", "LeaderWorkerSet")
    )
    spec = workload["spec"]
    pod = spec["template"] if workload["kind"] == "Deployment" else spec["leaderWorkerTemplate"]["leaderTemplate"]
    selector = pool["spec"]["selector"]["matchLabels"]
    assert selector == {ROUTER_POOL: owner}
    assert selector.items() <= pod["metadata"]["labels"].items()
    ports = [port["containerPort"] for port in pod["spec"]["containers"][0]["ports"] if port["name"] == "http"]
    assert [port["number"] for port in pool["spec"]["targetPorts"]] == ports
    if workload["kind"] == "LeaderWorkerSet":
        workers = spec["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["labels"]
        assert ROUTER_POOL not in workers


# What is edited, the unit, and the whole finding.
REFUSED: dict[str, tuple[Files, str, str]] = {
    "hostnames-without-a-gateway": (
        edit(FLEET, PROJECT, (GATEWAY, "")),
        "chat-70b",
        'specs/placements/east.yaml:12:23: placement "chat-70b" has hostnames, and cluster "east" has no gateway'
        "  [route-gateway]\n"
        "  at   spec.router.hostnames\n"
        "  why  a route is attached to a Gateway; without one the names would lead nowhere, and nobody would see it"
        " (poolwright.dev/v1alpha1)\n"
        "  fix  add the cluster's gateway to the Project, or remove the hostnames\n",
    ),
    "hostnames-of-a-unit-that-joins": (
        edit(FLEET, EAST, (JOINS, "  router: {poolName: tenants-8b, hostnames: [b.example.com]} ")),
        "tenants-8b-b",
        'specs/placements/east.yaml:35:45: placement "tenants-8b-b" has hostnames and joins the router pool of'
        ' "tenants-8b"  [route-joined]\n'
        "  at   spec.router.hostnames\n"
        "  why  a pool has one route, its owner's; a second one would lead to a pool that doesn't exist"
        " (poolwright.dev/v1alpha1)\n"
        '  fix  move the hostnames to "tenants-8b", or remove router.poolName\n',
    ),
    "joins-a-unit-that-joins": (
        edit(FLEET, EAST, ("{hostnames: [tenants.example.com], peakConcurrency: 70}", "{poolName: chat-70b}")),
        "tenants-8b-b",
        'specs/placements/east.yaml:35:22: placement "tenants-8b-b" joins the router pool of "tenants-8b", which joins'
        ' that of "chat-70b"  [router-pool-chain]\n'
        "  at   spec.router.poolName\n"
        "  why  a unit that joins another's pool has none of its own (poolwright.dev/v1alpha1)\n"
        '  fix  write poolName: chat-70b, or remove it from "tenants-8b"\n',
    ),
    # Of two units of one envelope neither has a picker.
    "joins-a-unit-without-picker": (
        edit(FLEET, TENANTS, (PICKER, "")),
        "tenants-8b-b",
        'specs/placements/east.yaml:35:22: placement "tenants-8b-b" joins the router pool of "tenants-8b", whose'
        " envelope tenants-8b@1.5.2 has no endpoint picker  [router-pool-picker]\n"
        "  at   spec.router.poolName\n"
        "  why  without a picker there is no pool, only the owner's Service, which knows the owner's replicas alone"
        " (poolwright.dev/v1alpha1)\n"
        "  fix  add router.endpointPicker to the owner's envelope, in a new version, or remove router.poolName\n",
    ),
    "joins-a-pool-of-another-namespace": (
        edit(
            FLEET,
            EAST,
            ("{name: rag-8b, version: 1.1.0}\n", "{name: rag-8b, version: 1.1.0}\n  router: {poolName: tenants-8b}\n"),
        ),
        "rag-8b",
        'specs/placements/east.yaml:42:22: placement "rag-8b" is in namespace "search" and joins the router pool of'
        ' "tenants-8b" in "chat"  [router-pool-namespace]\n'
        "  at   spec.router.poolName\n"
        "  why  a pool selects pods of its own namespace (inference.networking.k8s.io/v1 InferencePool)\n"
        "  fix  join a pool of the same namespace, or remove router.poolName\n",
    ),
    "latencies-of-a-custom-engine": (
        edit(
            edit(
                FLEET,
                SUMMARISE,
                ("    type: vllm\n", "    type: custom\n    imageName: own\n"),
                ("  startup:", "  slo: {timeToFirstToken: {p95: 1s}}\n  startup:"),
            ),
            "specs/stacks/operator-26-7.yaml",
            (
                "  servingImages:\n",
                '  servingImages:\n    - {name: own, engine: custom, version: "1", image: example.com/own:1}\n',
            ),
        ),
        "summarise-20b",
        "specs/envelopes/summarise-20b/0.9.0.yaml:21:8: envelope summarise-20b@0.9.0 promises latencies of a custom"
        " engine  [slo-unmeasured]\n"
        "  at   spec.slo\n"
        "  why  in which series an engine reports latencies is known of vllm and sglang only: no alert can be made"
        " (poolwright facts, metrics.json)\n"
        "  fix  remove slo, and add the alerts in custom/\n",
    ),
}


@pytest.mark.parametrize(("files", "unit", "says"), REFUSED.values(), ids=REFUSED)
def test_refused(files: Files, unit: str, says: str) -> None:
    """By `check`, which reads every spec, and by `generate`, which reads the unit's and those of the pool's owner."""
    specs = parse_specs(list_specs(files))
    (placement,) = (p for p in specs.placements if p.value.identity == unit and p.document.file == EAST)
    resolved, problems = resolve_placement(specs, placement)
    assert (resolved, render_text(problems)) == (None, says)
    with pytest.raises(SpecError) as refused:
        load_unit(files, "east", unit)
    assert render_text(refused.value.findings) == says
