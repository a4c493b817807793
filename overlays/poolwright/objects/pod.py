"""The pod of a replica as the envelope alone gives it: what a cluster decides about it is missing."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.objects.engine import Role, build_engine, build_sidecars, build_volumes, engine_image
from poolwright.objects.kubernetes import ENVELOPE, ENVELOPE_VERSION, MANAGED_BY, MODEL_DIGEST, UNIT, Object
from poolwright.objects.topology import build_statement

ADAPTER_DIGESTS: Final = "poolwright.dev/adapter-digests"


def build_pod(envelope: EnvelopeClosure, role: Role = "single") -> Object:
    """Metadata and spec of a replica's pod, or of a leader or worker of its group.

    Sidecars stand beside the engine that takes requests, so workers have none.
    """
    statement = build_statement(envelope, engine_image(envelope))
    return {
        "metadata": {"labels": pod_labels(envelope), "annotations": pod_annotations(envelope)},
        "spec": {
            "automountServiceAccountToken": False,
            # A Service called vllm would otherwise set VLLM_PORT to a URL, which vLLM refuses to start with.
            "enableServiceLinks": False,
            **({"initContainers": statement} if statement else {}),
            "containers": [build_engine(envelope, role), *(build_sidecars(envelope) if role != "worker" else ())],
            "volumes": build_volumes(envelope),
        },
    }


def pod_labels(envelope: EnvelopeClosure) -> dict[str, str]:
    """The labels of the envelope's pods."""
    return {**unit_labels(envelope), ENVELOPE_VERSION: _label_value(envelope.version)}


def unit_labels(envelope: EnvelopeClosure) -> dict[str, str]:
    """The labels of all the envelope's objects, as if the unit had its name."""
    return {**MANAGED_BY, ENVELOPE: envelope.name, UNIT: envelope.name}


def pod_annotations(envelope: EnvelopeClosure) -> dict[str, str]:
    """On the pod, for new weights behind one path must restart it."""
    adapters = envelope.spec.adapters
    items = sorted(adapters.items, key=lambda item: item.name) if adapters else ()
    digests = ",".join(f"{item.name}={item.digest}" for item in items)
    return {MODEL_DIGEST: envelope.spec.model.digest, **({ADAPTER_DIGESTS: digests} if digests else {})}


def _label_value(version: str) -> str:
    """A semantic version as a label's value, which has no `+` and no `-` at the end; it is for people to select by."""
    return version.replace("+", "_").rstrip("_-")
