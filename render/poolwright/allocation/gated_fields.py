"""Fields whose feature gate is off, taken out of objects as the API server does when they are created.

A server keeps such a field on update where the stored object has it already. An object doesn't say whether it was
stored before its gate went off, so every field that goes is said. The status of claims stays: the server empties it
on create, so what stands there was stored by a scheduler that knew it.

Source: kubernetes/kubernetes pkg/registry/resource/{resourceclaim,resourceclaimtemplate,resourceclaimspec,
resourceslice,deviceclass}/strategy.go. Of what is alpha in 1.37 alone, the field's mark in k8s.io/api resource/v1: a
release before it doesn't have the field, which comes to the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeVar

from poolwright.allocation.claim import Claim, ClaimRequest, Constraint, DeviceClass, Request
from poolwright.allocation.cluster_objects import ClaimTemplate, ClusterObjects, Placed
from poolwright.allocation.refusals import Refusal
from poolwright.catalog.resource_slice import UNSUPPORTED, AttributeOnDevice, Counters, Device, Placement, ResourceSlice
from poolwright.specs.finding import Finding, sort_findings
from poolwright.specs.place import FieldPath, render_field

_ADMIN: Final = ("DRAAdminAccess",)
_BINDING: Final = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
_CAPACITY: Final = ("DRAConsumableCapacity",)
_DERIVED: Final = ("DRADerivedAttributes",)
_EXTENDED: Final = ("DRAExtendedResource",)
_GROUPS: Final = ("DRADeviceCompatibilityGroups",)
_LISTS: Final = ("DRAListTypeAttributes",)
_OPERATIONS: Final = ("DRAOptionalNodeOperations",)
_PARTITIONS: Final = ("DRAPartitionableDevices",)
_PRIORITIES: Final = ("DRAPrioritizedList",)
_TAINTS: Final = ("DRADeviceTaints",)
_RULE: Final = "kubernetes/kubernetes pkg/registry/resource"

Spec = TypeVar("Spec", Claim, ClaimTemplate)


def strip_gated(objects: ClusterObjects, gates: Mapping[str, bool]) -> tuple[ClusterObjects, tuple[Finding, ...]]:
    """The objects as a server with these gates would store them, and what is said of it, sorted by place.

    gates:   every gate of the judged version as it is set, defaults included; one that isn't named is off.
    Returns: notes of what was dropped, one per object and kind of field, and errors on objects that are refused
             without it. A request that loses its firstAvailable is left with nothing; `server_rules` refuses it.
    """
    strip = _Strip(gates)
    stripped = replace(
        objects,
        slices=tuple(strip.slice(one) for one in objects.slices),
        classes=tuple(strip.device_class(one) for one in objects.classes),
        claims=tuple(strip.claim(one, ("spec",)) for one in objects.claims),
        templates=tuple(strip.claim(one, ("spec", "spec")) for one in objects.templates),
    )
    return stripped, sort_findings(strip.findings)


class _Strip:
    """Values without fields whose gates are off, noting each kind of field once per object."""

    def __init__(self, gates: Mapping[str, bool]) -> None:
        self.findings: list[Finding] = []
        self._gates = gates
        self._placed: Placed[Any] | None = None
        self._dropped: set[str] = set()

    def device_class(self, placed: Placed[DeviceClass]) -> Placed[DeviceClass]:
        self._begin(placed)
        if placed.value.extended_resource_name is None:
            return placed
        if not self._drops(("spec", "extendedResourceName"), _EXTENDED):
            return placed
        return placed.having(replace(placed.value, extended_resource_name=None))

    def claim(self, placed: Placed[Spec], at: FieldPath) -> Placed[Spec]:
        self._begin(placed)
        spec = placed.value
        devices: FieldPath = (*at, "devices")
        requests = tuple(self._entry(entry, (*devices, "requests", index)) for index, entry in enumerate(spec.requests))
        constraints = tuple(
            self._constraint(one, (*devices, "constraints", index)) for index, one in enumerate(spec.constraints)
        )
        return placed.having(replace(spec, requests=requests, constraints=constraints))

    def slice(self, placed: Placed[ResourceSlice]) -> Placed[ResourceSlice]:
        self._begin(placed)
        one = placed.value
        if one.shared_counters and self._drops(("spec", "sharedCounters"), _PARTITIONS):
            one = replace(one, shared_counters=())
        if one.skip_node_operations and self._drops(("spec", "skipNodeOperations"), _OPERATIONS):
            one = replace(one, skip_node_operations=())
        if one.placement.per_device and self._drops(("spec", "perDeviceNodeSelection"), _PARTITIONS):
            one = replace(one, placement=Placement())
            self._refuse(
                ("spec",),
                f'slice "{one.name}" says nothing of the nodes it is for once perDeviceNodeSelection is dropped',
                "the API server refuses the slice, and none of its devices can be claimed",
                f"turn on {_PARTITIONS[0]}, or publish a slice for each node",
            )
        devices = tuple(self._device(device, ("spec", "devices", index)) for index, device in enumerate(one.devices))
        return placed.having(replace(one, devices=devices))

    def _begin(self, placed: Placed[Any]) -> None:
        self._placed = placed
        self._dropped = set()

    def _drops(self, path: FieldPath, gates: Iterable[str]) -> bool:
        """Whether the field at path goes because one of its gates is off; notes it if so."""
        off = [gate for gate in gates if not self._gates.get(gate, False)]
        name = str(path[-1])
        if off and name not in self._dropped and self._placed:
            self._dropped.add(name)
            is_plural = len(off) > 1
            self.findings.append(
                Finding(
                    code="field-dropped",
                    severity="note",
                    place=self._placed.locate(path),
                    what=f"{render_field(path)} is dropped",
                    why=f"{' and '.join(off)} {'are' if is_plural else 'is'} off, and the API server drops the field "
                    "when the object is created; one that was stored before keeps it",
                    rule=_RULE,
                    fix=f"turn {'the gates' if is_plural else 'the gate'} on, or leave the field out",
                )
            )
        return bool(off)

    def _refuse(self, path: FieldPath, what: str, why: str, fix: str) -> None:
        if self._placed:
            self.findings.append(Refusal(self._placed, path, _RULE).finding(what, why, fix))

    def _entry(self, entry: ClaimRequest, at: FieldPath) -> ClaimRequest:
        alternatives = entry.first_available
        if alternatives and self._drops((*at, "firstAvailable"), _PRIORITIES):
            alternatives = ()
        exactly = entry.exactly and self._request(entry.exactly, (*at, "exactly"))
        if exactly and exactly.admin_access is not None and self._drops((*at, "exactly", "adminAccess"), _ADMIN):
            exactly = replace(exactly, admin_access=None)
        return replace(
            entry,
            exactly=exactly,
            first_available=tuple(
                self._request(one, (*at, "firstAvailable", index)) for index, one in enumerate(alternatives)
            ),
        )

    def _request(self, request: Request, at: FieldPath) -> Request:
        if request.tolerations and self._drops((*at, "tolerations"), _TAINTS):
            request = replace(request, tolerations=())
        if request.capacity is not None and self._drops((*at, "capacity"), _CAPACITY):
            request = replace(request, capacity=None)
        if request.derived_attributes and self._drops((*at, "derivedAttributes"), _DERIVED):
            request = replace(request, derived_attributes={})
        return request

    def _constraint(self, constraint: Constraint, at: FieldPath) -> Constraint:
        if constraint.distinct_attribute is None or not self._drops((*at, "distinctAttribute"), _CAPACITY):
            return constraint
        if constraint.match_attribute is None:
            self._refuse(
                at,
                "a constraint has no attribute once distinctAttribute is dropped",
                "the API server refuses the claim: a constraint names an attribute",
                f"turn on {_CAPACITY[0]}, or drop the constraint",
            )
        return replace(constraint, distinct_attribute=None)

    def _device(self, device: Device, at: FieldPath) -> Device:
        if device.taints and self._drops((*at, "taints"), _TAINTS):
            device = replace(device, taints=())
        if device.placement and self._drops((*at, _say_placement(device.placement)), _PARTITIONS):
            device = replace(device, placement=None)
        if device.consumes and self._drops((*at, "consumesCounters"), _PARTITIONS):
            device = replace(device, consumes=())
        consumes = tuple(
            self._counters(one, (*at, "consumesCounters", index)) for index, one in enumerate(device.consumes)
        )
        device = replace(device, consumes=consumes)
        return self._attributes(self._shares(self._binding(device, at), at), at)

    def _counters(self, counters: Counters, at: FieldPath) -> Counters:
        if counters.compatibility_groups and self._drops((*at, "compatibilityGroups"), _GROUPS):
            return replace(counters, compatibility_groups=())
        return counters

    def _binding(self, device: Device, at: FieldPath) -> Device:
        if device.binding_conditions is not None and self._drops((*at, "bindingConditions"), _BINDING):
            device = replace(device, binding_conditions=None)
        if device.binding_failure_conditions is not None and self._drops((*at, "bindingFailureConditions"), _BINDING):
            device = replace(device, binding_failure_conditions=None)
        if device.binds_to_node and self._drops((*at, "bindsToNode"), _BINDING):
            device = replace(device, binds_to_node=False)
        return device

    def _shares(self, device: Device, at: FieldPath) -> Device:
        if device.allow_multiple_allocations and self._drops((*at, "allowMultipleAllocations"), _CAPACITY):
            device = replace(device, allow_multiple_allocations=False)
        capacity = dict(device.capacity)
        for key, one in device.capacity.items():
            if one.request_policy and self._drops((*at, "capacity", one.name, "requestPolicy"), _CAPACITY):
                capacity[key] = replace(one, request_policy=None)
        return replace(device, capacity=capacity)

    def _attributes(self, device: Device, at: FieldPath) -> Device:
        """A list goes and leaves an attribute without a value: a scheduler fails on it as on one it doesn't know."""
        attributes = dict(device.attributes)
        for (domain, name), one in device.attributes.items():
            if isinstance(one.value, tuple):
                written = name if domain == device.driver else f"{domain}/{name}"
                if self._drops((*at, "attributes", written, one.type), _LISTS):
                    attributes[domain, name] = AttributeOnDevice(type=UNSUPPORTED, value=None)
        return replace(device, attributes=attributes)


def _say_placement(placement: Placement) -> str:
    if placement.node_name:
        return "nodeName"
    return "nodeSelector" if placement.node_selector else "allNodes"
