"""The node contract: workloads say which devices they need, never which nodes or which single device.

Refused are node names, node labels other than the zone, the device plugin's GPU resources, and selectors on what names
one device. Placement by any of these ties a workload to hardware that the next repair replaces, and hides its demand
from whoever works out what fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from poolwright.rules.claim import list_selectors, parse_claim
from poolwright.rules.devices import IDENTITIES
from poolwright.rules.placed import Field, PlacedObject
from poolwright.rules.pod import RAW_GPU, Pod, find_pods
from poolwright.rules.served import GROUP
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

ZONE_LABEL: Final = "topology.kubernetes.io/zone"
_RULE: Final = "poolwright node contract"


def check_node_contract(objects: Iterable[PlacedObject]) -> list[Finding]:
    """Every breach of the contract, object by object.

    A DaemonSet that claims no device may choose nodes: it serves nodes, and no model runs in it. A pod that was read
    from a cluster stands on a node because the scheduler put it there.
    """
    problems: list[Finding] = []
    for obj in objects:
        for pod in find_pods(obj):
            problems += _check_pod(pod)
        for expression in _find_expressions(obj):
            problems += _check_identities(expression)
    return problems


def _check_pod(pod: Pod) -> Iterator[Finding]:
    if not _serves_nodes(pod):
        if pod.spec.get("nodeName").is_set and not _is_live(pod):
            yield _node_name(pod.spec.get("nodeName"))
        for label, field in pod.spec.get("nodeSelector").list_entries():
            if label != ZONE_LABEL:
                yield _label(field.key_place, f'nodeSelector on the node label "{label}"')
        yield from _check_affinity(pod.spec.get("affinity", "nodeAffinity"))
    for container in pod.containers:
        for name, amount in container.resources():
            if re.fullmatch(RAW_GPU, name):
                yield _raw(amount, container.name, name)


def _serves_nodes(pod: Pod) -> bool:
    owners = pod.owner.root.get("metadata", "ownerReferences").list_items()
    is_daemon = pod.owner.kind == "DaemonSet" or any(owner.get("kind").value == "DaemonSet" for owner in owners)
    return is_daemon and not pod.claims


def _is_live(pod: Pod) -> bool:
    return pod.owner.kind == "Pod" and pod.owner.root.get("metadata", "uid").is_set


def _check_affinity(affinity: Field) -> Iterator[Finding]:
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").list_items()
    preferred = affinity.get("preferredDuringSchedulingIgnoredDuringExecution").list_items()
    for term in (*required, *(entry.get("preference") for entry in preferred)):
        for expression in term.get("matchExpressions").list_items():
            label = expression.get("key")
            if label.value != ZONE_LABEL:
                yield _label(label.place, f'node affinity on the node label "{label.text}"')
        for expression in term.get("matchFields").list_items():
            name = expression.get("key")
            yield _label(name.place, f'node affinity on the node field "{name.text}"')


def _find_expressions(obj: PlacedObject) -> tuple[Field, ...]:
    if obj.is_of(GROUP, "DeviceClass"):
        return list_selectors(obj.root.get("spec"))
    claim = parse_claim(obj)
    if claim is None:
        return ()
    return tuple(s for request in claim.requests for way in request.alternatives for s in way.selectors)


def _check_identities(expression: Field) -> Iterator[Finding]:
    suspects = [name for _, name in IDENTITIES if name in expression.text]
    if not suspects:  # the CEL parser is a large shared object, and hardly any selector gets here
        return
    from poolwright.catalog.cel import CelError, find_reads, parse_cel

    try:
        reads = find_reads(parse_cel(expression.text))
    except CelError:
        return  # reported where selectors are judged
    for domain, name in sorted({(read.domain, read.name) for read in reads if read.domain and read.name}):
        if (domain, name) in IDENTITIES:
            yield Finding(
                code="node-contract",
                severity="error",
                place=expression.place,
                what=f'the selector reads "{domain}/{name}", which names one device and not a kind of device',
                why="an identity changes with the next repair or restart, and then nothing matches any more",
                rule=_RULE,
                fix="select on what the device is: productName, architecture, profile, memory",
            )


def _node_name(field: Field) -> Finding:
    return Finding(
        code="node-contract",
        severity="error",
        place=field.place,
        what=f'the pod names its node, "{field.text}"',
        why="a pod with a node passes by the scheduler, and nobody allocates the devices of its claims",
        rule=_RULE,
        fix="remove nodeName; devices and their nodes are chosen by claim",
    )


def _label(place: Place, what: str) -> Finding:
    return Finding(
        code="node-contract",
        severity="error",
        place=place,
        what=f"the pod has a {what}",
        why="the claim says what is needed; a label beside it ties the workload to nodes that can be replaced",
        rule=_RULE,
        fix=f"remove it and select devices by class; of node labels only {ZONE_LABEL} is allowed",
    )


def _raw(amount: Field, container: str, name: str) -> Finding:
    return Finding(
        code="node-contract",
        severity="error",
        place=amount.place,
        what=f'container "{container}" asks for {name}: {amount.value} and not by claim',
        why="the device plugin and DRA don't know of each other, and a count says nothing about the device",
        rule=_RULE,
        fix="use a ResourceClaimTemplate and name it in resources.claims",
    )
