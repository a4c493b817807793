"""A unit's finished objects: the base with a cluster's decisions taken, and the objects that only a cluster has."""

from __future__ import annotations

from poolwright.catalog.closure import BaseClosure, Closure, PlatformClosure, UnitClosure
from poolwright.objects.claim import POD_CLAIM, build_claim_template
from poolwright.objects.envelope import build_envelope, record_name
from poolwright.objects.kubernetes import PART_OF, POOL, TIER, UNIT, Object
from poolwright.objects.platform import build_platform

ZONE_LABEL = "topology.kubernetes.io/zone"


def build_objects(closure: Closure) -> tuple[Object, ...]:
    """The finished objects of a base, platform unit or placement, in the order they are listed and applied.

    These are the truth: the tree on disk is a factoring of them that real Kustomize must build back.
    """
    match closure:
        case BaseClosure():
            return build_envelope(closure.envelope)
        case PlatformClosure():
            return build_platform(closure)
        case UnitClosure():
            return build_unit(closure)


def build_unit(closure: UnitClosure) -> tuple[Object, ...]:
    """The claim template, then the base's objects with the decisions taken."""
    template = build_claim_template(closure)
    service, record, deployment = build_envelope(closure.envelope)
    return (
        template,
        _decide_service(service, closure),
        _decide_record(record, closure),
        _decide_deployment(deployment, closure, template["metadata"]["name"]),
    )


def _decide_service(base: Object, closure: UnitClosure) -> Object:
    spec = {**base["spec"], "selector": {UNIT: closure.unit}}
    return {**base, "metadata": _metadata(base, closure, closure.unit), "spec": spec}


def _decide_record(base: Object, closure: UnitClosure) -> Object:
    return {**base, "metadata": _metadata(base, closure, record_name(closure.unit))}


def _decide_deployment(base: Object, closure: UnitClosure, claim_template: str) -> Object:
    """Replicas and roll-out, the claim, image, zone, tolerations, names and labels: all that a cluster decides."""
    placement, template = closure.placement, base["spec"]["template"]
    labels = {POOL: closure.pool.name, TIER: closure.device_class.tier}
    metadata = _metadata(base, closure, closure.unit)
    (engine,) = template["spec"]["containers"]
    pod = {
        **template["spec"],
        "containers": [{**engine, "image": closure.image}],
        "resourceClaims": [{"name": POD_CLAIM, "resourceClaimTemplateName": claim_template}],
    }
    if placement.zone is not None:
        pod["nodeSelector"] = {ZONE_LABEL: placement.zone}
    if closure.pool.tolerations:
        pod["tolerations"] = [
            {
                name: value
                for name, value in (("key", t.key), ("operator", t.operator), ("value", t.value), ("effect", t.effect))
                if value is not None
            }
            for t in closure.pool.tolerations
        ]
    pod_labels = {**template["metadata"]["labels"], **labels, UNIT: closure.unit}
    return {
        **base,
        "metadata": {**metadata, "labels": {**metadata["labels"], **labels}},
        "spec": {
            **base["spec"],
            "replicas": placement.min_replicas,
            "strategy": {
                "type": "RollingUpdate",
                # Without a spare device a new pod waits for an old one's: then one must go first.
                "rollingUpdate": {"maxSurge": placement.surge, "maxUnavailable": 0 if placement.surge else 1},
            },
            "selector": {"matchLabels": {UNIT: closure.unit}},
            "template": {
                **template,
                "metadata": {**template["metadata"], "labels": pod_labels},
                "spec": pod,
            },
        },
    }


def _metadata(base: Object, closure: UnitClosure, name: str) -> Object:
    metadata = base["metadata"]
    labels = {**metadata["labels"], PART_OF: closure.on.project, UNIT: closure.unit}
    return {**metadata, "name": name, "labels": labels}
