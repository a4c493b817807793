"""The allocation of a claim from the devices that a search took.

Source: k8s.io/dynamic-resource-allocation structured, allocator_incubating.go of v0.36 and v0.37.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from poolwright.allocation.claim import AllocatedConfig, AllocatedDevice, Allocation, Claim, DeviceClass
from poolwright.allocation.features import Features
from poolwright.allocation.need import Need
from poolwright.allocation.trial import Taken
from poolwright.catalog.inventory import Node
from poolwright.specs.document import Plain


def build_allocation(
    claim: Claim, taken: Sequence[Taken], chosen: Sequence[Need], node: Node, features: Features
) -> Allocation:
    """What would stand in the claim's status.

    taken:  in the order they were taken.
    chosen: of each request the need that was served, in the claim's order.
    Upstream makes up a random share id; here it follows from the claim and the place in it.
    """
    return Allocation(
        devices=tuple(_build_device(claim, index, one, features) for index, one in enumerate(taken)),
        config=_build_config(claim, chosen, features),
        node_selector=_build_node_selector(taken, node),
    )


def _build_device(claim: Claim, index: int, one: Taken, features: Features) -> AllocatedDevice:
    need, device = one.need, one.candidate.device
    driver, pool, name = one.candidate.id
    binding = features.binding_conditions
    return AllocatedDevice(
        request=need.name,
        driver=driver,
        pool=pool,
        device=name,
        admin_access=True if need.admin else None,
        tolerations=need.request.tolerations,
        binding_conditions=(device.binding_conditions or ()) if binding else (),
        binding_failure_conditions=(device.binding_failure_conditions or ()) if binding else (),
        share_id=None if one.consumed is None else _build_share_id(claim, index),
        consumed_capacity=one.consumed or None,
        skip_node_operations=one.candidate.slice.skip_node_operations if features.channel == "experimental" else (),
    )


def _build_share_id(claim: Claim, index: int) -> str:
    digest = hashlib.sha256(f"{claim.uid} {claim.title} {index}".encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"  # version 8: a digest


def _build_config(claim: Claim, chosen: Sequence[Need], features: Features) -> tuple[AllocatedConfig, ...]:
    names: dict[str, list[str]] = {}  # by class, in the order of its first request
    classes: dict[str, DeviceClass] = {}
    for need in chosen:
        names.setdefault(need.device_class.name, []).append(need.name)
        classes[need.device_class.name] = need.device_class
    found = [
        AllocatedConfig(source="FromClass", requests=tuple(requests), content=config.content)
        for name, requests in names.items()
        for config in classes[name].config
    ]
    for config in claim.config:
        times = 1 if not config.requests else sum(_names_need(config.requests, need) for need in chosen)
        if features.key >= 37:
            times = min(times, 1)  # until 1.36 it stands once for every request that it names
        found += [AllocatedConfig(source="FromClaim", requests=config.requests, content=config.content)] * times
    if features.key >= 37:
        found = [_shorten(config, chosen) for config in found]
    return tuple(found)


def _names_need(requests: Sequence[str], need: Need) -> bool:
    return need.base in requests or (need.alternative != "" and need.name in requests)


def _shorten(config: AllocatedConfig, chosen: Sequence[Need]) -> AllocatedConfig:
    """None named means all of them."""
    if not config.requests or not all(_names_need(config.requests, need) for need in chosen):
        return config
    return AllocatedConfig(source=config.source, requests=(), content=config.content)


def _build_node_selector(taken: Sequence[Taken], node: Node) -> Mapping[str, Plain] | None:
    """The nodes that can use all devices; None: every node.

    Source: createNodeSelector. Of a selector with several terms, which the API refuses, the node itself is said.
    """
    fields: list[Plain] = []
    expressions: list[Plain] = []
    for one in taken:
        placement = one.candidate.slice.placement
        if placement.per_device:
            placement = one.candidate.device.placement or placement
        if placement.node_name or one.candidate.device.binds_to_node:
            return _select_node(node)
        for term in _list(placement.node_selector or {}, "nodeSelectorTerms"):
            _add_new(fields, _list(term, "matchFields"))
            _add_new(expressions, _list(term, "matchExpressions"))
    term = {name: found for name, found in (("matchExpressions", expressions), ("matchFields", fields)) if found}
    return {"nodeSelectorTerms": [dict(term)]} if term else None


def _select_node(node: Node) -> Mapping[str, Plain]:
    requirement: Plain = {"key": "metadata.name", "operator": "In", "values": [node.name]}
    return {"nodeSelectorTerms": [{"matchFields": [requirement]}]}


def _list(value: object, name: str) -> list[Plain]:
    found = value.get(name) if isinstance(value, Mapping) else None
    return found if isinstance(found, list) else []


def _add_new(known: list[Plain], requirements: Sequence[Plain]) -> None:
    for requirement in requirements:
        if all(_key(requirement) != _key(other) for other in known):
            known.append(requirement)


def _key(requirement: Plain) -> tuple[object, ...]:
    if not isinstance(requirement, dict):
        return (requirement,)
    values = requirement.get("values")
    return (
        requirement.get("key"),
        requirement.get("operator"),
        frozenset(map(str, values if isinstance(values, list) else ())),
    )
