"""The objects that follow from an envelope version alone: they are the base of every unit that places it."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.objects.claim import POD_CLAIM
from poolwright.objects.engine import PORT_NAME, build_engine, build_volumes
from poolwright.objects.kubernetes import (
    ENVELOPE,
    ENVELOPE_DIGEST,
    ENVELOPE_VERSION,
    MANAGED_BY,
    MODEL_DIGEST,
    OWNER,
    SYNC_WAVE,
    UNIT,
    WORKLOAD_WAVE,
    Object,
)
from poolwright.specs.canonical import canonical_json

SERVICE_PORT: Final = 8000
_LEAST_PROGRESS_S: Final = 600  # Kubernetes' own default


def build_envelope(envelope: EnvelopeClosure) -> tuple[Object, ...]:
    """Service, envelope record and Deployment, in this order, as if the unit had the envelope's name.

    What a cluster decides is missing: replicas, strategy, the claim, the image, pool and tier, zone, tolerations.
    """
    return _build_service(envelope), _build_record(envelope), _build_deployment(envelope)


def record_name(unit: str) -> str:
    """Name of the ConfigMap that holds a unit's envelope record."""
    return f"{unit}-envelope"


def _build_service(envelope: EnvelopeClosure) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(envelope, envelope.name),
        "spec": {
            "selector": {UNIT: envelope.name},
            "ports": [{"name": PORT_NAME, "port": SERVICE_PORT, "targetPort": PORT_NAME}],
        },
    }


def _build_record(envelope: EnvelopeClosure) -> Object:
    """The decision record beside what was decided; `sha256sum` of envelope.json is the envelope's digest."""
    metadata = _metadata(envelope, record_name(envelope.name))
    metadata["annotations"] = {ENVELOPE_DIGEST: envelope.digest, ENVELOPE_VERSION: envelope.version}
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata,
        "data": {"envelope.json": canonical_json(envelope.record).decode()},
    }


def _build_deployment(envelope: EnvelopeClosure) -> Object:
    timeout_s = -(-envelope.spec.startup.timeout.milliseconds // 1000)
    metadata = _metadata(envelope, envelope.name)
    metadata["annotations"] = {
        SYNC_WAVE: WORKLOAD_WAVE,
        ENVELOPE_DIGEST: envelope.digest,
        ENVELOPE_VERSION: envelope.version,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            # Twice the start-up: a pod may wait as long again for its devices to be given back.
            "progressDeadlineSeconds": max(_LEAST_PROGRESS_S, 2 * timeout_s),
            "selector": {"matchLabels": {UNIT: envelope.name}},
            "template": {
                "metadata": {
                    "labels": {**_labels(envelope), ENVELOPE_VERSION: _label_value(envelope.version)},
                    # On the pod: new weights behind one path must restart it.
                    "annotations": {MODEL_DIGEST: envelope.spec.model.digest},
                },
                "spec": {
                    "automountServiceAccountToken": False,
                    "containers": [build_engine(envelope, POD_CLAIM)],
                    "volumes": build_volumes(envelope),
                },
            },
        },
    }


def _label_value(version: str) -> str:
    """A semantic version as a label's value, which has no `+` and no `-` at the end; it is for people to select by."""
    return version.replace("+", "_").rstrip("_-")


def _labels(envelope: EnvelopeClosure) -> dict[str, str]:
    return {**MANAGED_BY, ENVELOPE: envelope.name, UNIT: envelope.name}


def _metadata(envelope: EnvelopeClosure, name: str) -> Object:
    labels = {**_labels(envelope), OWNER: envelope.spec.owner}
    return {"name": name, "namespace": envelope.spec.namespace, "labels": labels}
