"""What a cluster decides about the base's objects: each one again, with the decisions taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from poolwright.catalog.closure import UnitClosure
from poolwright.catalog.dialect import STATEMENT_CONTAINER
from poolwright.objects.engine import Role, build_command, build_probes
from poolwright.objects.envelope import record_name
from poolwright.objects.kubernetes import PART_OF, POOL, TIER, UNIT, ZONE_LABEL, Object
from poolwright.objects.leader_worker_set import KIND, decide_rollout
from poolwright.objects.lineage import decide_lineage_env
from poolwright.objects.platform import priority_class_name
from poolwright.objects.priced import priced_annotations
from poolwright.objects.routing import ROUTER_POOL
from poolwright.specs.claim_plan import ENGINE_CONTAINER

MAX_REPLICAS: Final = "poolwright.dev/max-replicas"


def decide_service(base: Object, closure: UnitClosure) -> Object:
    """The unit's own pods are behind it."""
    spec = {**base["spec"], "selector": {**base["spec"]["selector"], UNIT: closure.unit}}
    return {**base, "metadata": _metadata(base, closure, closure.unit), "spec": spec}


def decide_record(base: Object, closure: UnitClosure) -> Object:
    """Names and labels only."""
    return {**base, "metadata": _metadata(base, closure, record_name(closure.unit))}


def decide_workload(base: Object, closure: UnitClosure, claim: Object) -> Object:
    """Replicas and roll-out, the claim, image, tier, zone, tolerations, lineage, names and labels.

    claim: the entry of the pods' resourceClaims.
    """
    decided = {**base, "metadata": _workload_metadata(base, closure)}
    if base["kind"] == KIND:
        group = base["spec"]["leaderWorkerTemplate"]
        pods = {
            "leaderTemplate": _decide_pod(group["leaderTemplate"], closure, claim, "leader"),
            "workerTemplate": _decide_pod(group["workerTemplate"], closure, claim, "worker"),
        }
        decided["spec"] = {
            **base["spec"],
            "replicas": closure.placement.min_replicas,
            "rolloutStrategy": decide_rollout(closure),
            "leaderWorkerTemplate": {**group, **pods},
        }
        return decided
    decided["spec"] = {
        **base["spec"],
        "replicas": closure.placement.min_replicas,
        "strategy": {
            "type": "RollingUpdate",
            # Without a spare device a new pod waits for an old one's: then one must go first.
            "rollingUpdate": {"maxSurge": closure.surge, "maxUnavailable": 0 if closure.surge else 1},
        },
        "selector": {"matchLabels": {UNIT: closure.unit}},
        "template": _decide_pod(base["spec"]["template"], closure, claim, "single"),
    }
    return decided


def _decide_pod(base: Object, closure: UnitClosure, claim: Object, role: Role) -> Object:
    """One pod template. Removing the router pool's label takes a pod out of routing, and its owner keeps it."""
    labels = {**base["metadata"]["labels"], **_pool_labels(closure), UNIT: closure.unit}
    if role != "worker":
        labels[ROUTER_POOL] = closure.router_pool
    spec = {
        **base["spec"],
        "containers": _decide_containers(base["spec"]["containers"], closure, claim, role),
        "priorityClassName": priority_class_name(closure.tier),
        "resourceClaims": [claim],
    }
    if "initContainers" in spec:
        spec["initContainers"] = [
            {**container, "image": closure.image.image} if container["name"] == STATEMENT_CONTAINER else container
            for container in spec["initContainers"]
        ]
    if closure.placement.zone is not None:
        spec["nodeSelector"] = {ZONE_LABEL: closure.placement.zone}
    if closure.pool.tolerations:
        spec["tolerations"] = [_build_toleration(closure, index) for index in range(len(closure.pool.tolerations))]
    return {**base, "metadata": {**base["metadata"], "labels": labels}, "spec": spec}


def _decide_containers(base: Sequence[Object], closure: UnitClosure, claim: Object, role: Role) -> list[Object]:
    """The engine first, wherever a template has it; with the stack's image, and its lineage in front of its variables.

    So the base's values may refer to the lineage, and Kustomize puts a patched container first too.
    """
    env = decide_lineage_env(
        cluster=closure.on.cluster,
        unit=closure.unit,
        router_pool=closure.router_pool,
        claim_template=claim.get("resourceClaimTemplateName"),
    )
    dialect = closure.dialect
    own: Mapping[str, object] = {}
    if dialect:
        probes = build_probes(closure.envelope, dialect) if role != "worker" else {}
        own = {**build_command(closure.envelope, dialect, role), **probes}
    engine = next(container for container in base if container["name"] == ENGINE_CONTAINER)
    decided = {**engine, "image": closure.image.image, "env": [*env, *engine.get("env", ())], **own}
    return [decided, *(container for container in base if container["name"] != ENGINE_CONTAINER)]


def _build_toleration(closure: UnitClosure, index: int) -> Object:
    toleration = closure.pool.tolerations[index]
    fields = {name: getattr(toleration, name) for name in ("key", "operator", "value", "effect")}
    return {name: value for name, value in fields.items() if value is not None}


def _workload_metadata(base: Object, closure: UnitClosure) -> Object:
    """An autoscaler, or who reads what the unit may grow to, finds the upper bound here."""
    metadata = _metadata(base, closure, closure.unit)
    metadata["labels"] |= _pool_labels(closure)
    metadata["annotations"] = {**metadata["annotations"], **priced_annotations(closure)}
    if closure.max_replicas > closure.placement.min_replicas:
        metadata["annotations"] = {**metadata["annotations"], MAX_REPLICAS: str(closure.max_replicas)}
    return metadata


def _pool_labels(closure: UnitClosure) -> dict[str, str]:
    return {POOL: closure.pool.name, TIER: closure.tier}


def _metadata(base: Object, closure: UnitClosure, name: str) -> Object:
    metadata = base["metadata"]
    labels = {**metadata["labels"], PART_OF: closure.on.project, UNIT: closure.unit}
    return {**metadata, "name": name, "labels": labels}
