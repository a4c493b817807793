"""Planned slices as people read ResourceSlices: YAML that Kubernetes' schemas take, marked as planned throughout."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import yaml

from poolwright.catalog.resource_slice import CapacityOnDevice, Counters, Device, RequestPolicy, ResourceSlice
from poolwright.specs.document import Plain
from poolwright.specs.quantity import Quantity

_HEADER: Final = "# Planned, not captured: no driver has published any of this.\n"


class _Dumper(yaml.CSafeDumper):
    """Writes a value as often as it stands: no aliases."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - a method that PyYAML calls
        return True


def render_planned_slices(slices: Iterable[ResourceSlice]) -> str:
    """Slices as resource.k8s.io/v1 objects, one document each; empty if there is none."""
    texts = [
        yaml.dump(build_slice_object(one), Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)
        for one in slices
    ]
    return _HEADER + "---\n".join(texts) if texts else ""


def build_slice_object(planned: ResourceSlice) -> dict[str, Plain]:
    """A planned slice as an object. What can't be known of a device before it exists stands only in an annotation."""
    spec: dict[str, Plain] = {
        "driver": planned.driver,
        "nodeName": planned.placement.node_name,
        "pool": {
            "name": planned.pool,
            "generation": planned.generation,
            "resourceSliceCount": planned.slice_count,
        },
    }
    if planned.shared_counters:
        spec["sharedCounters"] = [_build_counters(counters, "name") for counters in planned.shared_counters]
    if planned.devices:
        spec["devices"] = [_build_device(device) for device in planned.devices]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": planned.name, "annotations": dict(_annotate(planned))},
        "spec": spec,
    }


def _annotate(planned: ResourceSlice) -> dict[str, str]:
    annotations = {"poolwright.dev/planned": "true"}
    devices = planned.devices
    unknown = {key for device in devices for key, on in device.attributes.items() if on.value is None}
    unknown |= {key for device in devices for key, on in device.capacity.items() if on.value is None}
    if unknown:
        annotations["poolwright.dev/planned-unknown"] = ", ".join(
            sorted(_name(planned.driver, *key) for key in unknown)
        )
    unverified = sorted({doubt for device in devices for doubt in device.unverified})
    if unverified:
        annotations["poolwright.dev/planned-unverified"] = ", ".join(unverified)
    return annotations


def _build_device(device: Device) -> dict[str, Plain]:
    plain: dict[str, Plain] = {"name": device.name}
    if device.allow_multiple_allocations:
        plain["allowMultipleAllocations"] = True
    attributes: dict[str, Plain] = {
        _name(device.driver, *key): {on.type: list(on.value) if isinstance(on.value, tuple) else on.value}
        for key, on in device.attributes.items()
        if on.value is not None
    }
    if attributes:
        plain["attributes"] = dict(sorted(attributes.items()))
    capacity: dict[str, Plain] = {
        _name(device.driver, *key): _build_capacity(on) for key, on in device.capacity.items() if on.value is not None
    }
    if capacity:
        plain["capacity"] = dict(sorted(capacity.items()))
    if device.consumes:
        plain["consumesCounters"] = [_build_counters(counters, "counterSet") for counters in device.consumes]
    return plain


def _build_capacity(capacity: CapacityOnDevice) -> dict[str, Plain]:
    plain: dict[str, Plain] = {"value": capacity.value.normal_text if capacity.value else None}
    if capacity.request_policy:
        plain["requestPolicy"] = _build_policy(capacity.request_policy)
    return plain


def _build_policy(policy: RequestPolicy) -> dict[str, Plain]:
    plain: dict[str, Plain] = {"default": _text(policy.default)}
    if policy.valid_values:
        plain["validValues"] = [_text(value) for value in policy.valid_values]
    if policy.valid_range:
        bounds = policy.valid_range
        plain["validRange"] = {"min": _text(bounds.min), "max": _text(bounds.max), "step": _text(bounds.step)}
    return {name: value for name, value in plain.items() if value is not None}


def _text(amount: Quantity | None) -> str | None:
    return amount.normal_text if amount else None


def _build_counters(counters: Counters, key: str) -> dict[str, Plain]:
    amounts: dict[str, Plain] = {name: {"value": value.normal_text} for name, value in counters.counters.items()}
    return {key: counters.counter_set, "counters": amounts}


def _name(driver: str, domain: str, identifier: str) -> str:
    return identifier if domain == driver else f"{domain}/{identifier}"
