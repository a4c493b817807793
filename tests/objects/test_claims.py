"""Claims: what each pattern, topology and extra request turns into, and that one name stands for one spec."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from crd_schemas import object_errors
from fleet import CONFIG, ENVELOPE, POOL, STACK, Files, edit, load_placement, read_fleet, read_small_fleet
from kubernetes_schemas import MINORS, check_object
from poolwright.catalog.closure import UnitClosure
from poolwright.objects.claim import build_claims, claim_requests, pod_claim
from poolwright.objects.kubernetes import Object
from poolwright.objects.priced import priced_annotations
from poolwright.objects.unit import build_objects
from poolwright.specs.canonical import canonical_json
from poolwright.specs.claim_plan import ENGINE_CONTAINER
from poolwright.specs.envelope import Claim, Constraint, ExtraRequest, Topology

FLEET = read_fleet()
UNITS = (
    *(("east", unit) for unit in ("chat-70b", "guard-1b7", "prefill-8b", "rag-8b", "reason-671b", "rewrite-0b6")),
    *(("east", "summarise-20b"), ("east", "tenants-8b"), ("lab", "chat-70b"), ("lab-alpha", "guard-1b7")),
)
PREFILL = "specs/envelopes/prefill-8b/0.1.0.yaml"
PCIE = "resource.kubernetes.io/pcieRoot"


def wanted(version: str, memory: str) -> Object:
    """Native arithmetic, and what the envelope costs on each device."""
    read, size = 'device.attributes["gpu.nvidia.com"].cudaComputeCapability', 'device.capacity["gpu.nvidia.com"].memory'
    texts = (
        f'has({read}) && {read}.compareTo(semver("{version}")) >= 0',
        f'has({size}) && {size}.compareTo(quantity("{memory}")) >= 0',
    )
    return {"selectors": [{"cel": {"expression": text}} for text in texts]}


def ask(class_name: str, count: int, **more: Any) -> Object:
    return {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count, **more}


def gpu(name: str, count: int = 1, version: str = "8.0.0", *, memory: str) -> Object:
    return {"name": name, "exactly": ask("interactive-80g", count, **wanted(version, memory))}


def nic(name: str, count: int = 1) -> Object:
    return {"name": name, "exactly": ask("rdma-nic", count)}


def match(attribute: str, *requests: str) -> Object:
    return {"requests": list(requests), "matchAttribute": attribute}


def build(files: Files, cluster: str, unit: str) -> Object:
    (claim,) = build_claims(load_placement(files, cluster, unit))
    return claim


def devices(claim: Object) -> Any:
    return (claim["spec"] if claim["kind"] == "ResourceClaim" else claim["spec"]["spec"])["devices"]


DEVICES = {
    # Tensor parallel 4, native fp8.
    "chat-70b": {"requests": [gpu("gpu", 4, "8.9.0", memory="70Gi")]},
    # 8 x 2 over two pods.
    "reason-671b": {"requests": [gpu("gpu", 8, "8.9.0", memory="61Gi")]},
    "rag-8b": {"requests": [gpu("gpu", memory="60Gi")]},
    "summarise-20b": {
        "requests": [
            {
                "name": "gpu",
                "firstAvailable": [
                    {"name": "mig-40g", **ask("mig-40g", 1, **wanted("8.0.0", "32Gi"))},
                    {"name": "full-40g", **ask("full-40g", 1, **wanted("8.0.0", "32Gi"))},
                ],
            }
        ]
    },
    "prefill-8b": {"requests": [gpu("gpu", memory="56Gi"), nic("nic")], "constraints": [match(PCIE, "gpu", "nic")]},
}


@pytest.mark.parametrize("unit", DEVICES)
def test_devices_of_the_example(unit: str) -> None:
    assert devices(build(FLEET, "east", unit)) == DEVICES[unit]


def test_a_shared_device_is_claimed_like_a_whole_one() -> None:
    claim = build(FLEET, "lab-alpha", "guard-1b7")
    wish = ask("h200-share-alpha", 1, **wanted("8.0.0", "15Gi"))
    assert devices(claim) == {"requests": [{"name": "gpu", "exactly": wish}]}


HALF = "35Gi"  # of each of two accelerators that share the model and its load
EXTRA = """\
  claim:
    extraRequests:
      - name: nic
        deviceClassName: rdma-nic
        perDevice: 1
        matchAttribute: resource.kubernetes.io/pcieRoot
"""
# What stands in place of the envelope's claim, and the devices of two accelerators.
CLAIMS: dict[str, tuple[str, Any]] = {
    "one-beside-each-of-two-on-its-root": (
        EXTRA,
        {
            "requests": [gpu("gpu-0", memory=HALF), nic("nic-0"), gpu("gpu-1", memory=HALF), nic("nic-1")],
            "constraints": [match(PCIE, "gpu-0", "nic-0"), match(PCIE, "gpu-1", "nic-1")],
        },
    ),
    "two-beside-each": (
        EXTRA.replace("perDevice: 1", "perDevice: 2"),
        {
            "requests": [gpu("gpu-0", memory=HALF), nic("nic-0", 2), gpu("gpu-1", memory=HALF), nic("nic-1", 2)],
            "constraints": [match(PCIE, "gpu-0", "nic-0"), match(PCIE, "gpu-1", "nic-1")],
        },
    ),
    # Nothing ties one to its accelerator, so none needs a request of its own.
    "two-beside-each-anywhere": (
        EXTRA.replace("perDevice: 1", "perDevice: 2").replace(f"        matchAttribute: {PCIE}\n", ""),
        {"requests": [gpu("gpu", 2, memory=HALF), nic("nic", 4)]},
    ),
    "three-for-the-pod": (
        EXTRA.replace("perDevice: 1", "count: 3").replace(f"        matchAttribute: {PCIE}\n", ""),
        {"requests": [gpu("gpu", 2, memory=HALF), nic("nic", 3)]},
    ),
    "accelerators-that-have-something-in-common": (
        f"  claim:\n    constraints: [{{matchAttribute: gpu.nvidia.com/productName}}, {{matchAttribute: {PCIE}}}]\n",
        {
            "requests": [gpu("gpu", 2, memory=HALF)],
            "constraints": [match("gpu.nvidia.com/productName", "gpu"), match(PCIE, "gpu")],
        },
    ),
    # Those beside them needn't have it.
    "all-of-it": (
        EXTRA
        + "      - {name: disk, deviceClassName: rdma-nic, count: 1}\n"
        + f"    constraints: [{{matchAttribute: {PCIE}}}]\n",
        {
            "requests": [gpu("gpu-0", memory=HALF), nic("nic-0"), gpu("gpu-1", memory=HALF), nic("nic-1"), nic("disk")],
            "constraints": [
                match(PCIE, "gpu-0", "gpu-1"),
                match(PCIE, "gpu-0", "nic-0"),
                match(PCIE, "gpu-1", "nic-1"),
            ],
        },
    ),
}


@pytest.mark.parametrize(("written", "expected"), CLAIMS.values(), ids=CLAIMS)
def test_extra_requests_and_constraints(written: str, expected: Any) -> None:
    files = edit(FLEET, PREFILL, (EXTRA, "  topology: {tensorParallel: 2}\n" + written))
    claim = build(files, "east", "prefill-8b")
    assert devices(claim) == expected
    for minor in MINORS:
        assert check_object(claim, minor) == []


SMALL = read_small_fleet()
LOAD, PRECISION, MODEL = "    concurrency: 32\n", "  precision: {", f"    configPath: {CONFIG}\n"
PROFILE = {
    "weightsBytes": 18 << 30,
    "kvBudgetBytes": 50 << 30,
    "deviceBytes": 79 << 30,
    "deviceMemoryPercent": 92,
    "tensorParallel": 4,
}
# What an envelope says otherwise, and what its claim then asks of each device's memory.
MEMORY: dict[str, tuple[tuple[tuple[str, str], ...], str | None]] = {
    "as-it-is": ((), "68Gi"),
    "fewer-requests": (((LOAD, "    concurrency: 8\n"),), "44Gi"),
    "shorter-requests": ((("contextTokens: 16384", "contextTokens: 8192"),), "45Gi"),
    "a-common-beginning": (((LOAD, LOAD + "    sharedPrefixTokens: 8192\n"),), "46Gi"),
    "a-budget": (((LOAD, LOAD + "    kvBudget: 52Gi\n"),), "81Gi"),
    "a-smaller-cache": ((("kvCache: bfloat16", "kvCache: fp8"),), "45Gi"),
    "weights-that-are-not-quantised": (((PRECISION, PRECISION + "weights: bfloat16, "),), "85Gi"),
    "weights-of-a-known-size": (((MODEL, MODEL + "    weightsSize: 80Gi\n"),), "71Gi"),
    "fewer-devices": ((("tensorParallel: 4", "tensorParallel: 2"),), "131Gi"),
    "a-smaller-share": ((("deviceMemoryPercent: 92", "deviceMemoryPercent: 80"),), "78Gi"),
    "measured": (((MODEL, MODEL + "    measuredProfile: models/profile.json\n"),), "79Gi"),
    "measured-on-other-sizes": (
        (
            (MODEL, MODEL + "    measuredProfile: models/profile.json\n"),
            ("tensorParallel: 4", "tensorParallel: 2"),
        ),
        None,
    ),
    # `check` refuses it.
    "a-load-without-a-bound": (((LOAD, ""),), None),
}


@pytest.mark.parametrize(("changes", "memory"), MEMORY.values(), ids=MEMORY)
def test_a_claim_asks_for_the_memory_that_its_envelope_costs(
    changes: tuple[tuple[str, str], ...], memory: str | None
) -> None:
    files = {**edit(SMALL, ENVELOPE, *changes), "models/profile.json": canonical_json(PROFILE)}
    (request,) = devices(build(files, "east", "chat-70b"))["requests"]
    selectors = wanted("8.9.0", memory or "")["selectors"]
    assert request["exactly"]["selectors"] == (selectors if memory else selectors[:1])


@pytest.mark.parametrize("text", [b"", b"[]", b'{"architectures": ["Unknown"]}', b"\xff"])
def test_a_model_without_a_price_asks_for_none(text: bytes) -> None:
    (request,) = devices(build({**SMALL, CONFIG: text}, "east", "chat-70b"))["requests"]
    assert request["exactly"]["selectors"] == wanted("8.9.0", "")["selectors"][:1]


def test_an_engine_of_no_known_release_has_no_price() -> None:
    files = edit(SMALL, STACK, ("version: 0.33.0", "version: nightly"))
    (request,) = devices(build(files, "east", "chat-70b"))["requests"]
    assert request["exactly"]["selectors"] == wanted("8.9.0", "")["selectors"][:1]


def test_devices_of_a_driver_that_publishes_no_memory_are_not_asked_for_it() -> None:
    pool = edit(SMALL, POOL, ("driver: gpu.nvidia.com", "driver: gpu.example.com"))
    (request,) = devices(build(edit(pool, ENVELOPE, ("Class: fp8 ", "Class: any ")), "east", "chat-70b"))["requests"]
    assert request == {"name": "gpu", "exactly": ask("interactive-80g", 4)}


COUNTS = {
    "tensor": (Topology(tensor_parallel=8), 8),
    "all-three": (Topology(tensor_parallel=4, pipeline_parallel=2, data_parallel=2), 16),
    "over-nodes": (Topology(tensor_parallel=4, pipeline_parallel=2, data_parallel=2, nodes=4), 4),
}


@pytest.mark.parametrize(("topology", "count"), COUNTS.values(), ids=COUNTS)
def test_a_pod_claims_its_nodes_share_of_the_product(topology: Topology, count: int) -> None:
    (claim,) = build_claims(with_spec(load_placement(FLEET, "east", "chat-70b"), topology=topology))
    assert [request["exactly"]["count"] for request in devices(claim)["requests"]] == [count]


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize(("cluster", "unit"), UNITS)
def test_every_known_kubernetes_takes_them(cluster: str, unit: str, minor: str) -> None:
    claim = build(FLEET, cluster, unit)
    assert object_errors(claim, minor) == check_object(claim, minor) == []


def test_a_named_claim_has_its_own_name_and_is_pruned_last() -> None:
    claim = build(FLEET, "east", "rewrite-0b6")
    assert (claim["kind"], claim["metadata"]) == (
        "ResourceClaim",
        {
            "name": "rewrite-gpu",
            "namespace": "search",
            "labels": {
                "app.kubernetes.io/managed-by": "poolwright",
                "app.kubernetes.io/part-of": "inference-fleet",
                "poolwright.dev/envelope": "rewrite-0b6",
                "poolwright.dev/unit": "rewrite-0b6",
            },
            "annotations": {
                "argocd.argoproj.io/sync-options": "PruneLast=true",
                "argocd.argoproj.io/sync-wave": "-10",
                **priced_annotations(load_placement(FLEET, "east", "rewrite-0b6")),
            },
        },
    )
    assert devices(claim) == {"requests": [{"name": "gpu", "exactly": ask("mig-20g", 1, **wanted("8.0.0", "15Gi"))}]}


PODS = {
    "chat-70b": ("resourceClaimTemplateName", ("engine",)),
    # Exactly the listed containers.
    "rag-8b": ("resourceClaimTemplateName", ("engine", "reranker")),
    "rewrite-0b6": ("resourceClaimName", ("engine",)),
}


@pytest.mark.parametrize(("unit", "field", "users"), [(unit, *row) for unit, row in PODS.items()], ids=PODS)
def test_pod_and_containers_mention_the_claim(unit: str, field: str, users: tuple[str, ...]) -> None:
    closure = load_placement(FLEET, "east", unit)
    claims = build_claims(closure)
    entry = pod_claim(closure, claims)
    assert entry == {"name": "devices", field: claims[0]["metadata"]["name"]}
    asked = {name: claim_requests(closure.envelope, name) for name in (*users, "other")}
    assert asked == {**{name: [{"name": "devices"}] for name in users}, "other": []}
    workload = find(build_objects(closure), "Deployment")
    assert workload["spec"]["template"]["spec"]["resourceClaims"] == [entry]


def test_a_sidecar_that_is_not_listed_sees_no_device() -> None:
    path = "specs/envelopes/rag-8b/1.1.0.yaml"
    files = edit(FLEET, path, ("{pattern: perPodShared, containers: [engine, reranker]}", "{pattern: perPod}"))
    envelope = load_placement(files, "east", "rag-8b").envelope
    assert [claim_requests(envelope, name) for name in (ENGINE_CONTAINER, "reranker")] == [[{"name": "devices"}], []]


def test_the_name_is_ten_digits_of_the_digest_of_the_whole_spec() -> None:
    """By hand, for the name is an interface: changing how it is made renames every template of every fleet."""
    template = build(FLEET, "east", "chat-70b")
    digest = sha256(canonical_json(template["spec"])).hexdigest()
    assert template["metadata"]["name"] == f"chat-70b-devices-{digest[:10]}"
    assert template["spec"]["metadata"] == {
        "labels": {
            "app.kubernetes.io/managed-by": "poolwright",
            "poolwright.dev/envelope": "chat-70b",
            "poolwright.dev/unit": "chat-70b",
        }
    }


CHAT, PLACEMENTS, H100 = (
    "specs/envelopes/chat-70b/2.3.0.yaml",
    "specs/placements/east.yaml",
    "specs/pools/h100-full.yaml",
)
CHANGES: dict[str, tuple[str, tuple[str, str]]] = {
    "tensor-parallel": (CHAT, ("tensorParallel: 4", "tensorParallel: 8")),
    "compute-class": (CHAT, ("computeClass: fp8", "computeClass: bf16")),
    "no-compute-class": (CHAT, ("computeClass: fp8", "computeClass: any")),
    "another-class": (H100, ("    - name: interactive-80g\n", "    - name: another\n")),
    # A smaller share of each device leaves less beside what the engine takes anyway: a larger device has it.
    "the-engine's-share": (CHAT, ("deviceMemoryPercent: 92", "deviceMemoryPercent: 90")),
    "more-requests": (CHAT, ("kvBudget: 42Gi", "kvBudget: 44Gi")),
    "a-constraint": (CHAT, ("  slo:\n", "  claim: {constraints: [{matchAttribute: example.com/board}]}\n  slo:\n")),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_claim_is_a_new_template_and_the_workload_follows(name: str) -> None:
    path, change = CHANGES[name]
    changed = edit(FLEET, path, change)
    if name == "another-class":
        changed = edit(changed, PLACEMENTS, ("[interactive-80g]", "[another]"))
        changed = edit(changed, H100, ("interactive-80g:", "another:"))
    old, new = (build_objects(load_placement(files, "east", "chat-70b")) for files in (FLEET, changed))
    templates = [find(objects, "ResourceClaimTemplate") for objects in (old, new)]
    assert templates[0]["spec"] != templates[1]["spec"]
    assert templates[0]["metadata"]["name"] != templates[1]["metadata"]["name"]
    for template, objects in zip(templates, (old, new), strict=True):
        (entry,) = find(objects, "Deployment")["spec"]["template"]["spec"]["resourceClaims"]
        assert entry["resourceClaimTemplateName"] == template["metadata"]["name"]


KEPT: dict[str, tuple[str, tuple[str, str]]] = {
    "replicas": (PLACEMENTS, ("minReplicas: 2", "minReplicas: 1")),
    "the-class's-selectors": (H100, ("min: 79Gi", "min: 78Gi")),
    "the-engine": (CHAT, ("type: vllm\n", "type: vllm\n    args: [--seed=1]\n")),
    # The budget that is declared is what counts.
    "fewer-requests": (CHAT, ("concurrency: 32", "concurrency: 31")),
    "a-toleration": (H100, ("effect: NoSchedule", "effect: NoExecute")),
    "an-owner": (CHAT, ("owner: team-chat", "owner: team-other")),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_no_claim_keeps_the_template(name: str) -> None:
    path, change = KEPT[name]
    changed = edit(FLEET, path, change)
    assert load_placement(changed, "east", "chat-70b") != load_placement(FLEET, "east", "chat-70b")
    assert build(changed, "east", "chat-70b") == build(FLEET, "east", "chat-70b")


def find(objects: tuple[Object, ...], kind: str) -> Any:
    (found,) = (document for document in objects if document["kind"] == kind)
    return found


CLOSURE = load_placement(FLEET, "east", "prefill-8b")
SECOND = replace(CLOSURE.alternatives[0], device_class=replace(CLOSURE.alternatives[0].device_class, name="second"))


def with_spec(closure: UnitClosure, **changes: Any) -> UnitClosure:
    envelope = closure.envelope
    return replace(closure, envelope=replace(envelope, spec=replace(envelope.spec, **changes)))


def change(topology: Topology, extra: list[ExtraRequest], attributes: list[str], both: bool, zone: str) -> UnitClosure:
    """The example's closure with other values; the zone is one that no claim follows from."""
    constraints = tuple(Constraint(match_attribute=attribute) for attribute in attributes)
    changed = with_spec(CLOSURE, topology=topology, claim=Claim(extra_requests=tuple(extra), constraints=constraints))
    return replace(
        changed,
        alternatives=(*CLOSURE.alternatives, SECOND) if both else CLOSURE.alternatives,
        extra_classes=tuple(CLOSURE.extra_classes[0] for _ in extra),
        placement=replace(CLOSURE.placement, zone=zone),
    )


REQUESTS = (
    ExtraRequest(name="nic", device_class_name="rdma-nic", per_device=1, match_attribute=PCIE),
    ExtraRequest(name="disk", device_class_name="rdma-nic", per_device=1),
    ExtraRequest(name="link", device_class_name="rdma-nic", count=2),
)
# Few values for each, so that equal specs are common.
closures = st.builds(
    change,
    st.sampled_from([Topology(), Topology(tensor_parallel=2), Topology(tensor_parallel=4, nodes=2)]),
    st.lists(st.sampled_from(REQUESTS), max_size=2, unique=True),
    st.lists(st.sampled_from(["example.com/a", "example.com/b"]), max_size=2),
    st.booleans(),
    st.sampled_from(["x", "y"]),
)


@given(closures, closures)
def test_equal_names_are_equal_specs(one: UnitClosure, other: UnitClosure) -> None:
    (first,), (second,) = build_claims(one), build_claims(other)
    assert (first["metadata"]["name"] == second["metadata"]["name"]) == (first["spec"] == second["spec"])


@given(closures)
def test_order_means_nothing_where_names_do(closure: UnitClosure) -> None:
    claim = closure.envelope.spec.claim
    turned = with_spec(
        closure,
        claim=Claim(extra_requests=claim.extra_requests[::-1], constraints=claim.constraints[::-1]),
    )
    assert build_claims(turned) == build_claims(closure)


@given(closures)
def test_any_claim_is_valid_and_has_the_devices_that_it_says(closure: UnitClosure) -> None:
    (claim,) = build_claims(closure)
    assert check_object(claim, "1.36") == []
    topology, wanted = closure.envelope.spec.topology, closure.envelope.spec.claim
    own = topology.tensor_parallel // topology.nodes
    beside = sum(request.count or own for request in wanted.extra_requests)
    counts = [
        request.get("exactly", request.get("firstAvailable", [None])[0])["count"]
        for request in (devices(claim)["requests"])
    ]
    assert sum(counts) == own + beside


def test_random_closures_give_equal_specs_often_enough() -> None:
    """Else the property above would hold of names that never agree."""
    names = [build_claims(change(Topology(), [], [], False, zone))[0]["metadata"]["name"] for zone in "xy"]
    assert len(set(names)) == 1
