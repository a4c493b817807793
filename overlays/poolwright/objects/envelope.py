"""The objects that follow from an envelope version alone: they are the base of every unit that places it."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.catalog.dialect import ENGINE_PORT
from poolwright.objects.engine import PORT_NAME
from poolwright.objects.kubernetes import (
    ENVELOPE_DIGEST,
    ENVELOPE_VERSION,
    OWNER,
    SYNC_WAVE,
    UNIT,
    WORKLOAD_WAVE,
    Object,
)
from poolwright.objects.leader_worker_set import LEADER_ONLY, build_leader_worker_set
from poolwright.objects.pod import build_pod, unit_labels
from poolwright.specs.canonical import canonical_json

SERVICE_PORT: Final = ENGINE_PORT
_LEAST_PROGRESS_S: Final = 600  # Kubernetes' own default


def build_envelope(envelope: EnvelopeClosure) -> tuple[Object, ...]:
    """Service, envelope record and workload, in this order, as if the unit had the envelope's name.

    What a cluster decides is missing: replicas, strategy, the claim, the image, pool and tier, zone, tolerations.

    Raises: ValueError if the envelope has a template and the closure not what it gives.
    """
    if envelope.workload is None and envelope.spec.engine.template is not None:
        raise ValueError(f"{envelope.name}: the workload's template wasn't rendered")
    return _build_service(envelope), _build_record(envelope), envelope.workload or build_workload(envelope)


def record_name(unit: str) -> str:
    """Name of the ConfigMap that holds a unit's envelope record."""
    return f"{unit}-envelope"


def leader_selector(envelope: EnvelopeClosure) -> dict[str, str]:
    """What a selector needs beside the unit's label to find only pods that take requests."""
    return dict(LEADER_ONLY) if envelope.spec.topology.nodes > 1 else {}


def _build_service(envelope: EnvelopeClosure) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": _metadata(envelope, envelope.name),
        "spec": {
            "selector": {UNIT: envelope.name, **leader_selector(envelope)},
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


def build_workload(envelope: EnvelopeClosure) -> Object:
    """The workload that runs the envelope's pods and nothing else; a team's template adds to it."""
    metadata = _metadata(envelope, envelope.name)
    metadata["annotations"] = {
        SYNC_WAVE: WORKLOAD_WAVE,
        ENVELOPE_DIGEST: envelope.digest,
        ENVELOPE_VERSION: envelope.version,
    }
    if envelope.spec.topology.nodes > 1:
        return build_leader_worker_set(envelope, metadata)
    timeout_s = -(-envelope.spec.startup.timeout.milliseconds // 1000)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {
            # Twice the start-up: a pod may wait as long again for its devices to be given back.
            "progressDeadlineSeconds": max(_LEAST_PROGRESS_S, 2 * timeout_s),
            "selector": {"matchLabels": {UNIT: envelope.name}},
            "template": build_pod(envelope),
        },
    }


def _metadata(envelope: EnvelopeClosure, name: str) -> Object:
    labels = {**unit_labels(envelope), OWNER: envelope.spec.owner}
    return {"name": name, "namespace": envelope.spec.namespace, "labels": labels}
