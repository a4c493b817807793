"""What a team's template is given: the parts that its workload must have, finished, and the names around them."""

from __future__ import annotations

from poolwright.catalog.closure import EnvelopeClosure
from poolwright.catalog.dialect import ENGINE_PORT
from poolwright.objects.claim import POD_CLAIM
from poolwright.objects.engine import PORT_NAME, engine_image
from poolwright.objects.engine_args import MODELS_MOUNT
from poolwright.objects.envelope import build_workload
from poolwright.objects.kubernetes import Object


def build_variables(envelope: EnvelopeClosure) -> Object:
    """The variables of an envelope's template, JSON-like: a function of the envelope version alone.

    Of an engine on one node `pod` has the pod's parts, and `selectorLabels` what selects it. Of a group of pods
    `leader` and `worker` have them, and `group` its size.
    """
    workload = build_workload(envelope)
    metadata, spec = workload["metadata"], workload["spec"]
    variables: Object = {
        "envelope": {
            "name": envelope.name,
            "version": envelope.version,
            "namespace": envelope.spec.namespace,
            "owner": envelope.spec.owner,
        },
        "model": {"name": envelope.spec.model.name, "digest": envelope.spec.model.digest, "mount": MODELS_MOUNT},
        "engine": {
            "type": envelope.spec.engine.type,
            "image": engine_image(envelope),
            "port": ENGINE_PORT,
            "portName": PORT_NAME,
        },
        "labels": metadata["labels"],
        "annotations": metadata["annotations"],
    }
    if "leaderWorkerTemplate" in spec:
        group = spec["leaderWorkerTemplate"]
        leader, worker = _list_parts(group["leaderTemplate"]), _list_parts(group["workerTemplate"])
        return {**variables, "group": {"size": group["size"]}, "leader": leader, "worker": worker}
    return {**variables, "selectorLabels": spec["selector"]["matchLabels"], "pod": _list_parts(spec["template"])}


def _list_parts(pod: Object) -> Object:
    engine, *sidecars = pod["spec"]["containers"]
    return {
        "labels": pod["metadata"]["labels"],
        "annotations": pod["metadata"]["annotations"],
        "initContainers": pod["spec"].get("initContainers", []),
        "engineContainer": engine,
        "sidecars": sidecars,
        "volumes": pod["spec"]["volumes"],
        "containerClaims": [{"name": POD_CLAIM}],  # resources.claims of a container that shares the devices
    }
