"""Whether a liveness probe lets a model finish loading."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.rules.engine_args import read_engine
from poolwright.rules.object_set import ObjectSet
from poolwright.rules.placed import Field
from poolwright.rules.pod import Container, Pod
from poolwright.specs.finding import Finding

# Large models were seen to load for longer than any usual liveness budget; whoever waits an hour has thought of it.
PATIENT_S: Final = 3600


def check_probes(objects: ObjectSet, pod: Pod) -> Iterator[Finding]:
    """A warning for each container that may load a model, has a liveness probe and no start-up probe."""
    for container in pod.containers:
        liveness = container.field.get("livenessProbe")
        if not liveness.is_set or container.field.get("startupProbe").is_set or not container.is_main:
            continue
        budget_s = _budget_s(liveness)
        if budget_s < PATIENT_S and _may_load_model(objects, pod, container):
            yield Finding(
                code="startup-probe-missing",
                severity="warning",
                place=liveness.key_place,
                what=f'container "{container.name}" has a liveness probe and no start-up probe',
                why=f"the kubelet restarts it if it doesn't answer after {budget_s} s, and loading and compiling a "
                "large model take longer: it never starts",
                rule="Kubernetes container probes",
                fix="add a startupProbe whose periodSeconds x failureThreshold is longer than the slowest start",
            )


def _may_load_model(objects: ObjectSet, pod: Pod, container: Container) -> bool:
    if read_engine(container) is not None:
        return True
    for wanted, claim in objects.find_used_claims(pod, container):
        if claim is None:
            return True
        requests = [request for request in claim.requests if wanted in ("", request.name)]
        ways = [way for request in requests for way in request.alternatives if not way.is_admin]
        if any(objects.is_accelerator(way.class_name) for way in ways):
            return True
    return False


def _budget_s(probe: Field) -> int:
    """How long a container that never answers lives; defaults are the API server's."""
    delay, period, failures = (
        _or(probe.get(key).number, default)
        for key, default in (("initialDelaySeconds", 0), ("periodSeconds", 10), ("failureThreshold", 3))
    )
    return delay + period * failures


def _or(number: int | None, default: int) -> int:
    return default if number is None else number
