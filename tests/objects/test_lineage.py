"""Lineage: the resource attributes that a pod's spans carry, and what they are made of."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from poolwright.objects.lineage import LINEAGE_VERSION, RESOURCE_ATTRIBUTES, encode_value
from unit_objects import FLEET, change, engine, environment, objects_of, one, pods, workload

# Fixed within a render format: a change here restarts every model, and takes a new version.
NAMES = (
    "service.name",
    "service.version",
    "k8s.cluster.name",
    "k8s.namespace.name",
    "k8s.pod.name",
    "k8s.pod.uid",
    "k8s.node.name",
    "poolwright.envelope.name",
    "poolwright.model.digest",
    "poolwright.router.pool",
    "dra.claim.template",
)
POD = {
    "metadata.name": "chat-70b-6d9f-x2x4",
    "metadata.uid": "5bd9cd0c-5f2c-4b52-9d3a-8ed1ce6c8ec1",
    "spec.nodeName": "gpu-node.example.com",
    "hf-token/token": "secret",
}
LLAMA_8B = "sha256:b4e6a3ef2fd468b9e826dbb03d18926a31ff3c30adf3593c13da06b3bec74c1e"


def attributes(files: dict[str, bytes], unit: str, role: str = "single") -> dict[str, str]:
    """What an OpenTelemetry SDK reads in the engine's container."""
    objects = objects_of(files, unit)
    text = environment(engine(pods(workload(objects))[role]), POD)[RESOURCE_ATTRIBUTES]
    pairs = [pair.partition("=") for pair in text.split(",")]
    assert tuple(name for name, _, _ in pairs) == NAMES
    return {name: unquote(value) for name, _, value in pairs}


def test_the_names_are_of_version_1() -> None:
    assert LINEAGE_VERSION == 1


def test_a_pod_says_what_it_is() -> None:
    template = one(objects_of(FLEET, "tenants-8b-b"), "ResourceClaimTemplate")["metadata"]["name"]
    # The unit joins another's router pool, and isn't called like its envelope.
    assert attributes(FLEET, "tenants-8b-b") == {
        "service.name": "tenants-8b-b",
        "service.version": "1.5.2",
        "k8s.cluster.name": "east",
        "k8s.namespace.name": "chat",
        "k8s.pod.name": POD["metadata.name"],
        "k8s.pod.uid": POD["metadata.uid"],
        "k8s.node.name": POD["spec.nodeName"],
        "poolwright.envelope.name": "tenants-8b",
        "poolwright.model.digest": LLAMA_8B,
        "poolwright.router.pool": "tenants-8b",
        "dra.claim.template": template,
    }


def test_a_version_comes_back_as_it_was() -> None:
    version = "2.3.0-rc.1+build.7"
    files = {
        **FLEET,
        "specs/envelopes/next.yaml": FLEET["specs/envelopes/rag-8b/1.1.0.yaml"].replace(b"1.1.0", version.encode()),
    }
    placed = change(
        files, "specs/placements/east.yaml", ("name: rag-8b, version: 1.1.0", f"name: rag-8b, version: {version}")
    )
    assert attributes(placed, "rag-8b")["service.version"] == version


def test_a_named_claim_has_no_template() -> None:
    assert attributes(FLEET, "rewrite-0b6")["dra.claim.template"] == ""


@pytest.mark.parametrize("role", ["leader", "worker"])
def test_every_pod_of_a_group_says_it(role: str) -> None:
    said = attributes(FLEET, "reason-671b", role)
    assert (said["service.name"], said["poolwright.router.pool"]) == ("reason-671b", "reason-671b")


def test_the_cluster_part_stands_in_front_sorted() -> None:
    env = engine(pods(workload(objects_of(FLEET, "guard-1b7")))["single"])["env"]
    assert [entry["name"] for entry in env] == [
        "POOLWRIGHT_CLAIM_TEMPLATE",
        "POOLWRIGHT_CLUSTER",
        "POOLWRIGHT_ROUTER_POOL",
        "POOLWRIGHT_UNIT",
        "POD_NAME",
        "POD_UID",
        "NODE_NAME",
        "OTEL_RESOURCE_ATTRIBUTES",
        "HF_ENDPOINT",
        "HF_TOKEN",
    ]


ENCODED = {
    "plain-text-as-it-is": ("2.3.0-rc.1", "2.3.0-rc.1"),
    "what-baggage-takes": ("sha256:ab+=/@!*()", "sha256:ab+=/@!*()"),
    "separators": ("a,b;c", "a%2Cb%3Bc"),
    "space-quote-backslash": ('a "b" \\', "a%20%22b%22%20%5C"),
    "percent": ("100%", "100%25"),
    # `$(NAME)` would be filled in by the kubelet.
    "dollar": ("$(HOME)", "%24(HOME)"),
    "beyond-ascii-as-utf-8": ("é", "%C3%A9"),
    "controls": ("\n\x7f", "%0A%7F"),
}


@pytest.mark.parametrize(("text", "encoded"), ENCODED.values(), ids=ENCODED)
def test_encoding(text: str, encoded: str) -> None:
    assert encode_value(text) == encoded
    assert unquote(encoded) == text
