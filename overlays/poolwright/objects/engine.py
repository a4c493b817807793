"""The serving engine's container, what stands beside it in the pod, and the volumes they share."""

from __future__ import annotations

from typing import Final, Literal

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.catalog.dialect import ENGINE_PORT, Dialect
from poolwright.objects.claim import claim_requests
from poolwright.objects.engine_args import MODELS_MOUNT, build_args
from poolwright.objects.kubernetes import Object
from poolwright.objects.lineage import build_lineage_env
from poolwright.specs.claim_plan import ENGINE_CONTAINER
from poolwright.specs.envelope import HuggingFaceSource, Resources, Sidecar

# A replica is one pod, or a group of pods of which the leader alone takes requests.
Role = Literal["single", "leader", "worker"]

PORT_NAME: Final = "http"
TOKEN_KEY: Final = "token"  # noqa: S105 (the key in the Secret, not a token)
_STARTUP_PERIOD_S: Final = 10
_ANSWER_S: Final = 5  # SGLang 0.5.23's /health sleeps for a second first, and an engine under load answers late


def build_engine(envelope: EnvelopeClosure, role: Role = "single") -> Object:
    """The container of the engine that serves the envelope's model on the devices of the pod's claim.

    The image is the envelope's imageName: every overlay puts the stack's image in its place. An engine of the team's
    own has neither arguments but the envelope's, nor a port, nor probes: its template gives them.
    """
    spec, dialect = envelope.spec, envelope.dialect
    engine: Object = {
        "name": ENGINE_CONTAINER,
        "image": engine_image(envelope),
        **(build_command(envelope, dialect, role) if dialect else {"args": list(spec.engine.args)}),
        "env": [*build_lineage_env(envelope), *_build_hub_env(envelope)],
        "resources": {
            **_build_resources(spec.engine.resources),
            "claims": claim_requests(envelope, ENGINE_CONTAINER),
        },
        "volumeMounts": [
            *([_MODELS] if spec.model.source.persistent_volume_claim else []),
            {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 (shared memory between the engine's own processes)
        ],
    }
    if dialect and role != "worker":
        engine["ports"] = [{"name": PORT_NAME, "containerPort": ENGINE_PORT, "protocol": "TCP"}]
        engine |= build_probes(envelope, dialect)
    return engine


def build_command(envelope: EnvelopeClosure, dialect: Dialect, role: Role) -> Object:
    """Command and arguments in the dialect of a version of the engine."""
    return {
        "command": list(dialect.command),
        "args": build_args(envelope.spec, dialect, worker=role == "worker"),
    }


def build_probes(envelope: EnvelopeClosure, dialect: Dialect) -> Object:
    """The probes: until the start-up's has succeeded, which may take as long as the envelope says, the others wait."""
    timeout_s = -(-envelope.spec.startup.timeout.milliseconds // 1000)
    return {
        "startupProbe": _probe(dialect.startup_path, _STARTUP_PERIOD_S, max(1, -(-timeout_s // _STARTUP_PERIOD_S))),
        "readinessProbe": _probe(dialect.readiness_path, 5, 3),
        "livenessProbe": _probe(dialect.liveness_path, 10, 6),
    }


def build_sidecars(envelope: EnvelopeClosure) -> list[Object]:
    """The containers beside the engine's, by name; those that share the claim mention it."""
    return [_build_sidecar(envelope, sidecar) for sidecar in sorted(envelope.spec.sidecars, key=lambda s: s.name)]


def build_volumes(envelope: EnvelopeClosure) -> list[Object]:
    """The volumes of the pod: the model's files if they are in one, and shared memory for the engine's ranks."""
    volume = envelope.spec.model.source.persistent_volume_claim
    models = {"claimName": volume.claim_name, "readOnly": True} if volume else None
    return [
        *([{"name": "models", "persistentVolumeClaim": models}] if models else []),
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
    ]


def engine_image(envelope: EnvelopeClosure) -> str:
    """What the base calls the serving image."""
    return envelope.spec.engine.image_name or envelope.spec.engine.type


_MODELS: Final[Object] = {"name": "models", "mountPath": MODELS_MOUNT, "readOnly": True}


def _build_sidecar(envelope: EnvelopeClosure, sidecar: Sidecar) -> Object:
    claims = claim_requests(envelope, sidecar.name)
    resources = {**_build_resources(sidecar.resources), **({"claims": claims} if claims else {})}
    return {
        "name": sidecar.name,
        "image": sidecar.image,
        **({"ports": [{"containerPort": sidecar.port, "protocol": "TCP"}]} if sidecar.port else {}),
        **({"resources": resources} if resources else {}),
    }


def _build_hub_env(envelope: EnvelopeClosure) -> list[Object]:
    hub = envelope.spec.model.source.hugging_face
    return _build_hub(hub) if hub and not envelope.spec.model.source.persistent_volume_claim else []


def _build_hub(hub: HuggingFaceSource) -> list[Object]:
    token = {"secretKeyRef": {"name": hub.token_secret_name, "key": TOKEN_KEY}}
    return [
        {"name": "HF_ENDPOINT", "value": hub.endpoint},
        *([{"name": "HF_TOKEN", "valueFrom": token}] if hub.token_secret_name else []),
    ]


def _build_resources(resources: Resources) -> Object:
    requests = {"cpu": resources.requests.cpu, "memory": resources.requests.memory}
    limits = {"memory": resources.limits.memory}
    written = {
        name: {key: str(value) for key, value in values.items() if value is not None}
        for name, values in (("requests", requests), ("limits", limits))
    }
    return {name: values for name, values in written.items() if values}


def _probe(path: str, period_s: int, failures: int) -> Object:
    return {
        "httpGet": {"path": path, "port": PORT_NAME},
        "periodSeconds": period_s,
        "timeoutSeconds": _ANSWER_S,
        "failureThreshold": failures,
    }
