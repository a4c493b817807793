"""The claim of a unit: which devices each of its pods has, or which ones all its pods and their consumers share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from poolwright.catalog.closure import ClaimedClass, EnvelopeClosure, UnitClosure
from poolwright.catalog.device_class import MEMORY, capacity_selector, version_selector
from poolwright.objects.kubernetes import (
    CLAIM_WAVE,
    ENVELOPE,
    MANAGED_BY,
    PART_OF,
    SYNC_OPTIONS,
    SYNC_WAVE,
    UNIT,
    Object,
)
from poolwright.objects.priced import priced_annotations
from poolwright.specs.claim_plan import ENGINE_CONTAINER, PlannedRequest, plan_constraints, plan_requests
from poolwright.specs.digest import digest_value, short_hex
from poolwright.specs.pool import CapacityRange

POD_CLAIM: Final = "devices"  # what the pod calls its claim
_CLAIM: Final = "ResourceClaim"
_TEMPLATE: Final = "ResourceClaimTemplate"


def build_claims(closure: UnitClosure) -> tuple[Object, ...]:
    """The unit's one claim object: a template that every pod gets its own claim from, or a named claim.

    Neither's spec can be changed once it exists. A template's name therefore carries it: the first 10 hex digits of the
    digest of the whole `.spec`. A new spec is a new object, and the workload follows by name; the old one is pruned
    last, when the new pods are healthy. A named claim has the envelope's name for it, and a new spec takes a new one.
    Defaults of the API server are written out, so that Argo CD sees no difference.

    Raises: ValueError if the pattern is `named` and there is no name: `check_envelope` refuses that.
    """
    labels = {**MANAGED_BY, ENVELOPE: closure.envelope.name, UNIT: closure.unit}
    claim, devices = closure.envelope.spec.claim, {"devices": _build_devices(closure)}
    if claim.pattern == "named":
        if claim.name is None:
            raise ValueError(f"{closure.unit}: a named claim without a name")
        named = _build_object(closure, _CLAIM, claim.name, labels, devices)
        named["metadata"]["annotations"] |= priced_annotations(closure)
        return (named,)
    spec = {"metadata": {"labels": labels}, "spec": devices}
    name = f"{closure.unit}-{POD_CLAIM}-{short_hex(digest_value(spec), 10)}"
    return (_build_object(closure, _TEMPLATE, name, labels, spec),)


def pod_claim(closure: UnitClosure, claims: Sequence[Object]) -> Object:
    """The entry of a pod's resourceClaims, for each of the unit's own pods.

    claims: what `build_claims` gave for the closure.
    """
    (claim,) = claims
    field = "resourceClaimName" if closure.envelope.spec.claim.pattern == "named" else "resourceClaimTemplateName"
    return {"name": POD_CLAIM, field: claim["metadata"]["name"]}


def claim_requests(envelope: EnvelopeClosure, container: str) -> list[Object]:
    """What a container of the pod has in resources.claims: all of the pod's devices, or nothing.

    Who uses the devices follows from the envelope alone, so it stands in the base.
    """
    claim = envelope.spec.claim
    users = claim.containers if claim.pattern == "perPodShared" else (ENGINE_CONTAINER,)
    return [{"name": POD_CLAIM}] if container in users else []


def _build_object(closure: UnitClosure, kind: str, name: str, labels: dict[str, str], spec: Object) -> Object:
    return {
        "apiVersion": f"resource.k8s.io/{closure.on.resource_api}",
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": closure.envelope.spec.namespace,
            "labels": {**labels, PART_OF: closure.on.project},
            "annotations": {SYNC_OPTIONS: "PruneLast=true", SYNC_WAVE: CLAIM_WAVE},
        },
        "spec": spec,
    }


def _build_devices(closure: UnitClosure) -> Object:
    spec = closure.envelope.spec
    devices: Object = {"requests": [_build_request(closure, request) for request in plan_requests(spec)]}
    if constraints := plan_constraints(spec):
        devices["constraints"] = [
            {"requests": list(requests), "matchAttribute": attribute} for requests, attribute in constraints
        ]
    return devices


def _build_request(closure: UnitClosure, request: PlannedRequest) -> Object:
    if request.extra is not None:
        wanted = _build_devices_of(closure.extra_classes[request.extra].name, request.count)
        return {"name": request.name, "exactly": wanted}
    ways = [
        {**_build_devices_of(way.device_class.name, request.count), **_build_selectors(way)}
        for way in closure.alternatives
    ]
    if len(ways) == 1:
        return {"name": request.name, "exactly": ways[0]}
    return {"name": request.name, "firstAvailable": [{"name": way["deviceClassName"], **way} for way in ways]}


def _build_devices_of(class_name: str, count: int) -> Object:
    return {"deviceClassName": class_name, "allocationMode": "ExactCount", "count": count}


def _build_selectors(way: ClaimedClass) -> Object:
    """What the envelope asks for, as the devices of this class's driver show it: native arithmetic, and memory."""
    driver, expressions = way.device_class.driver, []
    if way.native is not None:
        expressions.append(version_selector(driver, way.native.attribute, way.native.minimum))
    if way.memory is not None:
        expressions.append(capacity_selector(driver, MEMORY, CapacityRange(min=way.memory)))
    return {"selectors": [{"cel": {"expression": one}} for one in expressions]} if expressions else {}
