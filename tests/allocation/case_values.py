"""A case of tests/oracle/allocator as the allocator's own values, and what it answers in the oracle's words."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import yaml

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import AllocatedConfig, AllocatedDevice, Allocation, Claim
from poolwright.allocation.features import Features
from poolwright.allocation.held import Held
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp, NotAllocated, Outcome
from poolwright.allocation.parse_objects import parse_objects
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Placement
from poolwright.specs.document import Document
from poolwright.specs.quantity import parse_quantity

Json = dict[str, Any]
_NOWHERE = yaml.compose("null", Loader=yaml.CSafeLoader)
_PLACEMENTS = {"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"}


def answer_case(case: Json, *, as_released: bool = True, max_looks: int = 100_000) -> Json:
    """What the allocator answers to a case, in the form of the oracle's answers; errors without their text."""
    features = Features(minor=case["minor"], as_released=as_released, **case["features"])
    allocator, node, claims, held = build_world(case, features)
    outcome = allocator.allocate(node, claims, held, max_looks=max_looks)
    return render_outcome(outcome)


def build_world(case: Json, features: Features) -> tuple[Allocator, Node, list[Claim], Held]:
    """What a case is made of."""
    node = {"apiVersion": "v1", "kind": "Node", **case["node"]}
    # Slices of a kind of placement that isn't known: the reader refuses them, the allocator passes them over.
    unplaced = {one["metadata"]["name"] for one in case["slices"] if not _PLACEMENTS & one["spec"].keys()}
    kinds = (
        ("DeviceClass", "classes"),
        ("ResourceSlice", "slices"),
        ("ResourceClaim", "claims"),
        ("ResourceClaim", "held"),
    )
    case = {**case, "slices": [_place(one) if one["metadata"]["name"] in unplaced else one for one in case["slices"]]}
    items = [
        {"apiVersion": "resource.k8s.io/v1", "kind": kind, **item}
        for kind, group in kinds
        for item in case.get(group) or ()
    ]
    # Without YAML, which would take most of the time; places are of no use here.
    listed = {"apiVersion": "v1", "kind": "List", "items": [node, *items]}
    objects = parse_objects([Document(file="case", value=listed, root=_NOWHERE)])
    parsed = [placed.value for placed in objects.claims]
    classes = {placed.value.name: placed.value for placed in objects.classes}
    slices = [
        replace(placed.value, placement=Placement()) if placed.value.name in unplaced else placed.value
        for placed in objects.slices
    ]
    allocator = Allocator(slices, classes, features)
    held = Held(features)
    for claim in parsed[len(case["claims"]) :]:
        if claim.allocation is not None:
            held.add(claim.allocation)
    return allocator, objects.nodes[0].value, parsed[: len(case["claims"])], held


def _place(one: Json) -> Json:
    return {**one, "spec": {**one["spec"], "allNodes": True}}


def render_outcome(outcome: Outcome) -> Json:
    """An outcome in the oracle's words."""
    match outcome:
        case Allocated(allocations=allocations, steps=steps):
            return {"outcome": "allocated", "allocations": [_allocation(one) for one in allocations], "steps": steps}
        case NotAllocated(steps=steps, invalid_pools=invalid):
            return {"outcome": "invalid-pools" if invalid else "none", "steps": steps}
        case AttemptError(message=message):
            return {"outcome": "error", "error": message}
        case GaveUp():
            return {"outcome": "timeout"}


def normalise(answer: Json) -> Json:
    """An oracle's answer as `render_outcome` gives it: amounts by value, defaults filled in."""
    kept = {key: answer[key] for key in ("outcome", "steps") if answer.get(key) is not None}
    if answer["outcome"] == "allocated":
        kept["allocations"] = [_normal_allocation(one) for one in answer.get("allocations") or ()]
    return kept


def _allocation(allocation: Allocation) -> Json:
    return {
        "results": [_result(result) for result in allocation.devices],
        "config": [_config(config) for config in allocation.config],
        "nodeSelector": _plain(allocation.node_selector),
    }


def _result(result: AllocatedDevice) -> Json:
    return {
        "request": result.request,
        "device": f"{result.driver}/{result.pool}/{result.device}",
        "adminAccess": bool(result.admin_access),
        "tolerations": [
            _toleration(one.key, one.operator, one.value, one.effect, one.seconds) for one in result.tolerations
        ],
        "bindingConditions": list(result.binding_conditions),
        "bindingFailureConditions": list(result.binding_failure_conditions),
        "shared": result.share_id is not None,
        "consumedCapacity": {name: amount.nano for name, amount in sorted((result.consumed_capacity or {}).items())},
        "skipNodeOperations": list(result.skip_node_operations),
    }


def _config(config: AllocatedConfig) -> Json:
    return {"source": config.source, "requests": list(config.requests), "opaque": _plain(config.content.get("opaque"))}


def _toleration(key: str, operator: str, value: str, effect: str, seconds: int | None) -> list[Any]:
    return [key, operator or "Equal", value, effect, seconds]


def _normal_allocation(allocation: Json) -> Json:
    return {
        "results": [_normal_result(result) for result in allocation.get("results") or ()],
        "config": [
            {"source": one["source"], "requests": one.get("requests") or [], "opaque": _plain(one.get("opaque"))}
            for one in allocation.get("config") or ()
        ],
        "nodeSelector": _plain(allocation.get("nodeSelector")),
    }


def _normal_result(result: Json) -> Json:
    return {
        "request": result["request"],
        "device": f"{result['driver']}/{result['pool']}/{result['device']}",
        "adminAccess": bool(result.get("adminAccess")),
        "tolerations": [
            _toleration(
                one.get("key", ""),
                one.get("operator", ""),
                one.get("value", ""),
                one.get("effect", ""),
                one.get("tolerationSeconds"),
            )
            for one in result.get("tolerations") or ()
        ],
        "bindingConditions": result.get("bindingConditions") or [],
        "bindingFailureConditions": result.get("bindingFailureConditions") or [],
        "shared": bool(result.get("shared")),
        "consumedCapacity": {
            name: parse_quantity(text).nano for name, text in sorted((result.get("consumedCapacity") or {}).items())
        },
        "skipNodeOperations": result.get("skipNodeOperations") or [],
    }


def _plain(value: object) -> Any:
    return json.loads(json.dumps(value))
