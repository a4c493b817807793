"""The ResourceClaimTemplate of a unit: which devices each of its pods claims."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import UnitClosure
from poolwright.catalog.device_class import version_selector
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
from poolwright.specs.digest import digest_value, short_hex

POD_CLAIM: Final = "devices"  # what the pod calls its claim
REQUEST: Final = "gpu"


def build_claim_template(closure: UnitClosure) -> Object:
    """The template that every pod of the unit gets its claim from.

    A template's spec can't be changed once it exists, so the name carries it: the first 10 hex digits of the digest of
    the whole `.spec`. A new spec is a new object, and the workload follows by name; the old one is pruned last, when
    the new pods are healthy. Defaults of the API server are written out, so that Argo CD sees no difference.
    """
    labels = {**MANAGED_BY, ENVELOPE: closure.envelope.name, UNIT: closure.unit}
    spec = {
        "metadata": {"labels": labels},
        "spec": {"devices": {"requests": [{"name": REQUEST, "exactly": _build_request(closure)}]}},
    }
    return {
        "apiVersion": f"resource.k8s.io/{closure.on.resource_api}",
        "kind": "ResourceClaimTemplate",
        "metadata": {
            "name": f"{closure.unit}-{POD_CLAIM}-{short_hex(digest_value(spec), 10)}",
            "namespace": closure.envelope.spec.namespace,
            "labels": {**labels, PART_OF: closure.on.project},
            "annotations": {SYNC_OPTIONS: "PruneLast=true", SYNC_WAVE: CLAIM_WAVE},
        },
        "spec": spec,
    }


def _build_request(closure: UnitClosure) -> Object:
    request: Object = {
        "deviceClassName": closure.device_class.name,
        "allocationMode": "ExactCount",
        "count": closure.envelope.spec.topology.tensor_parallel,
    }
    native = closure.compute_class
    if native is not None:
        expression = version_selector(closure.device_class.driver, native.attribute, native.minimum)
        request["selectors"] = [{"cel": {"expression": expression}}]
    return request
