"""Objects that a team's component adds to a unit: harmless ones in the unit's namespace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.catalog.closure import UnitClosure
from poolwright.objects.argocd import UNIT_KINDS
from poolwright.rules.device_access import check_device_access
from poolwright.rules.node_contract import check_node_contract
from poolwright.rules.placed import Field, PlacedObject
from poolwright.rules.pod import Pod, PodClaim, find_pods
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place
from poolwright.trees.custom_revert import OURS

_RULE: Final = "poolwright custom components"
# Kinds that decide for others, and the spec field to use instead; "" where there is none.
_INSTEAD: Final = {
    "Namespace": "Pool.spec.namespaces",
    "ResourceQuota": "Pool.spec.namespaces[].quota",
    "LimitRange": "Envelope.spec.engine.resources",
    "PodDisruptionBudget": "Envelope.spec.recovery.spareReplicas",  # of two on one pod, neither allows an eviction
    "PriorityClass": "Project.spec.tiers",
    "DeviceClass": "Pool.spec.deviceClasses",
    "ResourceClaim": "Envelope.spec.claim",
    "ResourceClaimTemplate": "Envelope.spec.claim",
}
_GROUPS: Final = {
    "admissionregistration.k8s.io": "",
    "apiextensions.k8s.io": "",
    "apiregistration.k8s.io": "",
    "argoproj.io": "Project.spec.argocd and clusters",
    "nvidia.com": "Stack.spec.gpuOperator and gpuDriver",
    "resource.k8s.io": "Envelope.spec.claim and Pool.spec.deviceClasses",
    "resource.nvidia.com": "Stack.spec.draDrivers",
}


def check_addition(added: PlacedObject, closure: UnitClosure) -> Iterator[Finding]:
    """Everything that is wrong with an object that the unit wouldn't have without the component."""
    group = added.api_version.rpartition("/")[0]
    namespace = closure.envelope.spec.namespace
    if added.kind in _INSTEAD or group in _GROUPS:
        instead = _INSTEAD.get(added.kind) or _GROUPS.get(group, "")
        yield forbidden(added.root.place, f"the component adds the {added.title}", instead)
        return
    if (group, added.kind) not in UNIT_KINDS:
        known = ", ".join(sorted(kind for group, kind in UNIT_KINDS if group not in _GROUPS and kind not in _INSTEAD))
        what = f"the component adds the {added.title}, which isn't a kind that units have"
        yield forbidden(added.root.place, what, f"one that they have: {known}")
        return
    if added.namespace != namespace:
        where = f"in namespace {added.namespace}" if added.namespace else "without a namespace"
        yield forbidden(
            added.root.get("metadata").place,
            f"the component adds the {added.title} {where}",
            f"the unit's namespace, {namespace}; what belongs to a whole cluster isn't a unit's",
        )
    yield from _check_labels(added.root)
    yield from _check_scaling(added, closure)
    for pod in find_pods(added):
        yield from check_device_access(pod)
        yield from _check_claims(pod, closure)
    yield from check_node_contract([added])


def _check_labels(field: Field) -> Iterator[Finding]:
    """Labels by which the unit's own selectors would find the object's pods."""
    for key, below in field.list_entries():
        if key == "labels":
            for name, label in below.list_entries():
                if name.startswith(OURS):
                    what = f"the component adds the {field.owner.title} with the label {name}"
                    yield forbidden(label.place, what, "labels of your own")
        elif isinstance(below.value, dict):
            yield from _check_labels(below)


def _check_scaling(added: PlacedObject, closure: UnitClosure) -> Iterator[Finding]:
    """An autoscaler of the unit's workload moves between the bounds that verdicts and quotas count with."""
    target = added.root.get("spec", "scaleTargetRef")
    if not target.is_set:
        return
    if target.get("name").text != closure.unit:
        what = f"the {added.title} scales something else than the unit"
        yield forbidden(target.place, what, "a target that is the unit's own workload")
        return
    spec = added.root.get("spec")
    least, most = closure.placement.min_replicas, closure.max_replicas
    for names, default in ((("minReplicas", "minReplicaCount"), 1), (("maxReplicas", "maxReplicaCount"), 100)):
        field = next((spec.get(name) for name in names if spec.get(name).is_set), spec.get(names[0]))
        count = default if field.number is None else field.number
        if not least <= count <= most:
            yield forbidden(
                field.place,
                f"the {added.title} scales the unit to {count}, and the placement is for {least} to {most} replicas",
                "numbers within them, or Placement.spec.minReplicas and maxReplicas",
            )


def _check_claims(pod: Pod, closure: UnitClosure) -> Iterator[Finding]:
    claim = closure.envelope.spec.claim
    listed = {(consumer.kind, consumer.name) for consumer in claim.consumers}
    for entry in pod.claims:
        if claim.pattern == "named" and entry.claim_name.text == claim.name and not entry.template_name.is_set:
            if (pod.owner.kind, pod.owner.name) not in listed:
                yield _consumer(pod.owner, entry)
        else:
            yield forbidden(
                entry.field.place,
                f"the {pod.owner.title} has a claim of its own, and its devices are in no spec",
                "Envelope.spec.claim of pattern named with consumers, or an Envelope and a Placement for it",
            )


def _consumer(owner: PlacedObject, entry: PodClaim) -> Finding:
    return Finding(
        code="claim-consumer",
        severity="error",
        place=entry.claim_name.place,
        what=f'the {owner.title} uses the claim "{entry.claim_name.text}" and isn\'t one of its consumers',
        why="whoever uses the claim computes on the same devices, whose memory is shared out among those listed",
        rule="poolwright.dev/v1alpha1",
        fix=f"add {{kind: {owner.kind}, name: {owner.name}}} to claim.consumers of the envelope, in a new version",
    )


def forbidden(place: Place, what: str, instead: str) -> Finding:
    """The finding of what a component may not do; instead: a spec field, or "" where none does the same."""
    return Finding(
        code="custom-forbidden",
        severity="error",
        place=place,
        what=what,
        why="what fits, what it costs and who may change it is worked out from the specs, and this isn't in them",
        rule=_RULE,
        fix=f"take it out of the component and use {instead}"
        if instead
        else "take it out of the component, which may add objects to the unit's namespace, labels, annotations, "
        "variables, volumes, sidecars and tolerations",
    )
