"""The names by which traces, receipts and dashboards follow a request down to its device: one table, versioned.

They are fixed within a render format: another name, or another order, restarts every model. `k8s.*`, `service.*` and
`hw.*` are OpenTelemetry's; no convention exists for claims and devices, so `dra.*` and `poolwright.*` are ours.
"""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.objects.kubernetes import Object

LINEAGE_VERSION: Final = 1
RESOURCE_ATTRIBUTES: Final = "OTEL_RESOURCE_ATTRIBUTES"  # what OpenTelemetry's SDKs read them from

# Known only once a claim has its devices: in receipts and the join table, never in a pod's environment.
AFTER_SCHEDULING: Final = (
    "dra.claim.name",
    "dra.claim.uid",
    "dra.request",
    "dra.driver",
    "dra.pool",
    "dra.pool.generation",
    "dra.device",
    "dra.slice",
    "hw.id",
    "hw.parent",
    "dra.mig.profile",
    "dra.numa.node",
    "dra.pci.bus_id",
    "dra.cdi.device",
    "poolwright.receipt",
    "poolwright.release",
)

# Variables of the engine's container that the attributes are filled from.
POD_NAME: Final = "POD_NAME"
POD_UID: Final = "POD_UID"
NODE_NAME: Final = "NODE_NAME"
CLUSTER: Final = "POOLWRIGHT_CLUSTER"
UNIT_NAME: Final = "POOLWRIGHT_UNIT"
ROUTER_POOL_NAME: Final = "POOLWRIGHT_ROUTER_POOL"
CLAIM_TEMPLATE: Final = "POOLWRIGHT_CLAIM_TEMPLATE"

# What the kubelet fills in.
_POD_FIELDS: Final = {POD_NAME: "metadata.name", POD_UID: "metadata.uid", NODE_NAME: "spec.nodeName"}

# W3C Baggage takes these in a value as they are; `%` starts an escape, and `$` would start a variable.
_PLAIN: Final = frozenset(range(0x21, 0x7F)) - frozenset(b'",;\\%$')


def list_attributes(envelope: EnvelopeClosure) -> tuple[tuple[str, str], ...]:
    """The resource attributes of a pod in their order, with values as they stand in the container's environment."""
    spec = envelope.spec
    return (
        ("service.name", f"$({UNIT_NAME})"),
        ("service.version", encode_value(envelope.version)),
        ("k8s.cluster.name", f"$({CLUSTER})"),
        ("k8s.namespace.name", encode_value(spec.namespace)),
        ("k8s.pod.name", f"$({POD_NAME})"),
        ("k8s.pod.uid", f"$({POD_UID})"),
        ("k8s.node.name", f"$({NODE_NAME})"),
        ("poolwright.envelope.name", encode_value(envelope.name)),
        ("poolwright.model.digest", encode_value(spec.model.digest)),
        ("poolwright.router.pool", f"$({ROUTER_POOL_NAME})"),
        ("dra.claim.template", f"$({CLAIM_TEMPLATE})"),
    )


def build_lineage_env(envelope: EnvelopeClosure) -> list[Object]:
    """The base's part of the environment; it refers to variables that the overlay puts in front of it."""
    text = ",".join(f"{name}={value}" for name, value in list_attributes(envelope))
    fields: list[Object] = [
        {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in _POD_FIELDS.items()
    ]
    return [*fields, {"name": RESOURCE_ATTRIBUTES, "value": text}]


def decide_lineage_env(*, cluster: str, unit: str, router_pool: str, claim_template: str | None) -> list[Object]:
    """The cluster's part, sorted; all values are DNS names, which need no encoding.

    claim_template: None where the unit has a named claim: then the attribute is empty.
    """
    values = {CLAIM_TEMPLATE: claim_template, CLUSTER: cluster, ROUTER_POOL_NAME: router_pool, UNIT_NAME: unit}
    return [{"name": name, **({"value": value} if value else {})} for name, value in sorted(values.items())]


def encode_value(text: str) -> str:
    """A text as an attribute's value: percent-encoded but for what W3C Baggage takes as it is."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in text.encode())
