"""The serving engine's container: arguments, probes, volumes."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.objects.kubernetes import Object
from poolwright.specs.envelope import Resources

CONTAINER: Final = "engine"
PORT_NAME: Final = "http"
_PORT: Final = 8000  # vLLM's default
_MODELS_MOUNT: Final = "/models"
_STARTUP_PERIOD_S: Final = 10
# The HTTP server can answer /health before the model does; listing models is the stricter sign that it serves.
_READY_PATH: Final = "/v1/models"
_ALIVE_PATH: Final = "/health"


def build_engine(envelope: EnvelopeClosure, pod_claim: str) -> Object:
    """The container of a vLLM engine that serves the envelope's model on the devices of the pod's claim.

    The image is the envelope's imageName: every overlay puts the stack's image in its place.
    Source: vLLM command line, `vllm serve`.
    """
    spec = envelope.spec
    timeout_s = -(-spec.startup.timeout.milliseconds // 1000)
    return {
        "name": CONTAINER,
        "image": spec.engine.image_name or spec.engine.type,
        "command": ["vllm", "serve"],
        "args": _build_args(envelope),
        "ports": [{"name": PORT_NAME, "containerPort": _PORT, "protocol": "TCP"}],
        "resources": {**_build_resources(spec.engine.resources), "claims": [{"name": pod_claim}]},
        "startupProbe": _probe(_READY_PATH, _STARTUP_PERIOD_S, max(1, -(-timeout_s // _STARTUP_PERIOD_S))),
        "readinessProbe": _probe(_READY_PATH, 5, 3),
        "livenessProbe": _probe(_ALIVE_PATH, 10, 6),
        "volumeMounts": [
            {"name": "models", "mountPath": _MODELS_MOUNT, "readOnly": True},
            {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 (shared memory between the engine's own processes)
        ],
    }


def build_volumes(envelope: EnvelopeClosure) -> list[Object]:
    """The volumes of the engine's pod: the model's files, and shared memory for tensor-parallel ranks."""
    claim_name = envelope.spec.model.source.persistent_volume_claim.claim_name
    return [
        {"name": "models", "persistentVolumeClaim": {"claimName": claim_name, "readOnly": True}},
        {"name": "shm", "emptyDir": {"medium": "Memory"}},
    ]


def _build_args(envelope: EnvelopeClosure) -> list[str]:
    spec = envelope.spec
    return [
        f"{_MODELS_MOUNT}/{spec.model.source.persistent_volume_claim.path}",
        # Kubernetes expands $(NAME) in arguments, and reads $$ as $.
        f"--served-model-name={spec.model.name.replace('$', '$$')}",
        f"--tensor-parallel-size={spec.topology.tensor_parallel}",
        f"--dtype={spec.precision.compute}",
        f"--kv-cache-dtype={spec.precision.kv_cache}",
        f"--max-model-len={spec.load.context_tokens}",
        f"--max-num-seqs={spec.load.batch.max_sequences}",
        f"--max-num-batched-tokens={spec.load.batch.max_tokens}",
        f"--gpu-memory-utilization={spec.engine.device_memory_percent / 100:.2f}",
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
    return {"httpGet": {"path": path, "port": PORT_NAME}, "periodSeconds": period_s, "failureThreshold": failures}
