"""ResourceClaims, their templates and DeviceClasses from captured objects. Every API version gives the same values.

What can't be read is noted by the fields' reader. Rules of the API server that look at values are checked later
(`server_rules.py`), after fields whose gate is off are gone.
"""

from __future__ import annotations

from typing import Final

from poolwright.allocation.claim import (
    AllocatedConfig,
    AllocatedDevice,
    Allocation,
    Claim,
    ClaimRequest,
    Constraint,
    DeviceClass,
    DeviceConfig,
    Request,
    Toleration,
)
from poolwright.allocation.cluster_objects import ClaimTemplate
from poolwright.allocation.defaults import NAMESPACE, default_count, default_mode, default_operator
from poolwright.catalog.captured import CapturedField
from poolwright.specs.place import render_field

FLAT_API: Final = "resource.k8s.io/v1beta1"  # a request's fields stand beside its name, not under `exactly`
CLAIM_APIS: Final = ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", FLAT_API)
_FLAT: Final = (
    *("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity"),
    "derivedAttributes",
)


def parse_claim(root: CapturedField) -> Claim:
    """A ResourceClaim, with its status if it has one."""
    devices, metadata = root.get("spec", "devices"), root.get("metadata")
    is_flat = root.get("apiVersion").text() == FLAT_API
    return Claim(
        namespace=metadata.get("namespace").text() or NAMESPACE,
        name=metadata.get("name").name(),
        uid=metadata.get("uid").text(),
        requests=tuple(_parse_entry(entry, is_flat=is_flat) for entry in devices.get("requests").items()),
        constraints=parse_constraints(devices.get("constraints")),
        config=tuple(_parse_config(entry) for entry in devices.get("config").items()),
        allocation=_parse_allocation(root.get("status", "allocation")),
        reserved_for=tuple(entry.get("uid").name() for entry in root.get("status", "reservedFor").items()),
        owner=_find_pod_owner(metadata),
        is_deleted=metadata.get("deletionTimestamp").is_set,
    )


def parse_template(root: CapturedField) -> ClaimTemplate:
    """A ResourceClaimTemplate."""
    devices, metadata = root.get("spec", "spec", "devices"), root.get("metadata")
    is_flat = root.get("apiVersion").text() == FLAT_API
    return ClaimTemplate(
        namespace=metadata.get("namespace").text() or NAMESPACE,
        name=metadata.get("name").name(),
        requests=tuple(_parse_entry(entry, is_flat=is_flat) for entry in devices.get("requests").items()),
        constraints=parse_constraints(devices.get("constraints")),
        config=tuple(_parse_config(entry) for entry in devices.get("config").items()),
    )


def parse_class(root: CapturedField) -> DeviceClass:
    """A DeviceClass."""
    spec, metadata = root.get("spec"), root.get("metadata")
    return DeviceClass(
        name=metadata.get("name").name(),
        selectors=_parse_selectors(spec.get("selectors")),
        config=tuple(_parse_config(entry) for entry in spec.get("config").items()),
        extended_resource_name=spec.get("extendedResourceName").optional_text(),
        created=metadata.get("creationTimestamp").text(),
    )


def parse_tolerations(listed: CapturedField) -> tuple[Toleration, ...]:
    """Tolerations of device taints, or of a pod: they have the same fields."""
    return tuple(
        Toleration(
            key=entry.get("key").text(),
            operator=default_operator(entry.get("operator").optional_text()),
            value=entry.get("value").text(),
            effect=entry.get("effect").text(),
            seconds=entry.get("tolerationSeconds").number(),
        )
        for entry in listed.items()
    )


def parse_constraints(listed: CapturedField) -> tuple[Constraint, ...]:
    """Constraints of a claim."""
    return tuple(
        Constraint(
            match_attribute=entry.get("matchAttribute").optional_text(),
            distinct_attribute=entry.get("distinctAttribute").optional_text(),
            requests=entry.get("requests").texts(),
        )
        for entry in listed.items()
    )


def _parse_entry(entry: CapturedField, *, is_flat: bool) -> ClaimRequest:
    name = entry.get("name").name()
    flat = [key for key in entry.keys() if key in _FLAT]  # noqa: SIM118 (not a dict: those that are set)
    exactly = entry.get("exactly")
    if is_flat and exactly.is_set:
        exactly.note("stands in a request of v1beta1", "there the fields of a request stand beside its name")
    elif not is_flat and flat:
        entry.note(
            f"has {', '.join(flat)} beside its name",
            "that is how v1beta1 has it; in this API version the server drops them, and the request asks for nothing",
            f"move {'it' if len(flat) == 1 else 'them'} under {render_field((*entry.path, 'exactly'))}",
        )
    asked = entry if is_flat else exactly
    return ClaimRequest(
        name=name,
        exactly=_parse_request(asked, name) if (flat if is_flat else exactly.is_set) else None,
        first_available=tuple(
            _parse_request(alternative, alternative.get("name").name())
            for alternative in entry.get("firstAvailable").items()
        ),
    )


def _parse_request(asked: CapturedField, name: str) -> Request:
    mode = default_mode(asked.get("allocationMode").optional_text())
    capacity = asked.get("capacity")
    return Request(
        name=name,
        class_name=asked.get("deviceClassName").text(),
        mode=mode,
        count=default_count(mode, asked.get("count").number()),
        selectors=_parse_selectors(asked.get("selectors")),
        tolerations=parse_tolerations(asked.get("tolerations")),
        capacity=capacity.get("requests").quantities("capacity request") if capacity.is_set else None,
        admin_access=asked.get("adminAccess").flag(),
        derived_attributes={
            entry.get("name").name(): entry.get("expression").name() for entry in asked.get("derivedAttributes").items()
        },
    )


def _parse_selectors(listed: CapturedField) -> tuple[str | None, ...]:
    selectors: list[str | None] = []
    for entry in listed.items():
        cel = entry.get("cel")
        selectors.append(cel.get("expression").name() if cel.is_set else None)
    return tuple(selectors)


def _parse_config(entry: CapturedField) -> DeviceConfig:
    content = {key: value for key, value in entry.plain().items() if key != "requests"}
    return DeviceConfig(content=content, requests=entry.get("requests").texts())


def _parse_allocation(field: CapturedField) -> Allocation | None:
    if not field.is_set:
        return None
    selector = field.get("nodeSelector")
    return Allocation(
        devices=tuple(_parse_result(entry) for entry in field.get("devices", "results").items()),
        config=tuple(
            AllocatedConfig(
                source=entry.get("source").name(),
                requests=entry.get("requests").texts(),
                content={key: value for key, value in entry.plain().items() if key not in ("source", "requests")},
            )
            for entry in field.get("devices", "config").items()
        ),
        node_selector=selector.plain() if selector.is_set else None,
    )


def _parse_result(entry: CapturedField) -> AllocatedDevice:
    consumed = entry.get("consumedCapacity")
    return AllocatedDevice(
        request=entry.get("request").name(),
        driver=entry.get("driver").name(),
        pool=entry.get("pool").name(),
        device=entry.get("device").name(),
        admin_access=entry.get("adminAccess").flag(),
        tolerations=parse_tolerations(entry.get("tolerations")),
        binding_conditions=entry.get("bindingConditions").texts(),
        binding_failure_conditions=entry.get("bindingFailureConditions").texts(),
        share_id=entry.get("shareID").optional_text(),
        consumed_capacity=consumed.quantities("consumed capacity") if consumed.is_set else None,
        skip_node_operations=entry.get("skipNodeOperations").texts(),
    )


def _find_pod_owner(metadata: CapturedField) -> str | None:
    """The uid of the pod that controls a claim; None: nobody made it from a template."""
    for owner in metadata.get("ownerReferences").items():
        if owner.get("kind").text() == "Pod" and owner.get("controller").flag():
            return owner.get("uid").name()
    return None
