"""How pods and claims hang together: names that lead somewhere, claims that somebody uses, classes that exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Final

from poolwright.rules.claim import CLAIM, TEMPLATE, Claim
from poolwright.rules.devices import CLASSES
from poolwright.rules.object_set import ObjectSet, is_same_namespace
from poolwright.rules.placed import Field
from poolwright.rules.pod import Container, Pod, PodClaim
from poolwright.rules.shape import check_names
from poolwright.specs.finding import Finding

ADMIN_LABEL: Final = "resource.kubernetes.io/admin-access"
_POD: Final = "k8s.io/api core/v1"
_DRA: Final = "Kubernetes DRA"


def check_pod_claims(objects: ObjectSet) -> Iterator[Finding]:
    """Everything about claims in pods, then about claims of several pods."""
    for pod in objects.pods:
        yield from check_names(pod.spec.get("resourceClaims"), "claim of a pod")
        for entry in pod.claims:
            yield from _check_entry(objects, pod, entry)
        for container in pod.containers:
            yield from _check_container(objects, pod, container)
    yield from _check_shared(objects)


def check_claim_context(objects: ObjectSet, claim: Claim) -> Iterator[Finding]:
    """What a claim rests on beside itself: its classes, and its namespace's consent to adminAccess.

    A class is missed only where others are given, and not if a driver's installer makes it.
    """
    for request in claim.requests:
        for way in request.alternatives:
            if objects.classes and way.class_name not in objects.classes and way.class_name not in CLASSES:
                yield _no_class(way.field.get("deviceClassName"), objects)
            if way.is_admin:
                yield from _check_admin(objects, claim, way.field.get("adminAccess"))


def _check_entry(objects: ObjectSet, pod: Pod, entry: PodClaim) -> Iterator[Finding]:
    written = [field for field in (entry.claim_name, entry.template_name) if field.is_set]
    if len(written) != 1:
        yield _no_source(entry, len(written))
    elif not objects.find_claim(pod, entry):
        yield _dangling(objects, pod, written[0])
    used = {reference.get("name").text for container in pod.containers for reference in container.claims}
    if entry.name and entry.name not in used:
        yield _unused(pod, entry)


def _check_container(objects: ObjectSet, pod: Pod, container: Container) -> Iterator[Finding]:
    for reference in container.claims:
        name, wanted = reference.get("name"), reference.get("request")
        entry = pod.claim(name.text)
        if entry is None:
            yield _no_entry(pod, container, name)
            continue
        claim = objects.find_claim(pod, entry)
        if claim and wanted.is_set and claim.request(wanted.text) is None:
            yield _no_request(claim, container, wanted)


def _check_shared(objects: ObjectSet) -> Iterator[Finding]:
    """One finding for each workload, after the first, that names a claim; and for several replicas of one."""
    users: dict[str, list[tuple[Pod, PodClaim]]] = {}
    for pod in objects.pods:
        for entry in pod.claims:
            name = entry.claim_name.text
            if not name:
                continue
            earlier = [
                other
                for other, _ in users.get(name, ())
                if other.owner is not pod.owner and is_same_namespace(other.owner.namespace, pod.owner.namespace)
            ]
            users.setdefault(name, []).append((pod, entry))
            if earlier:
                yield _shared(entry, f"{pod.owner.title} and {earlier[0].owner.title} both use claim")
            elif pod.replicas > 1:
                yield _shared(entry, f"{pod.replicas} replicas of {pod.owner.title} use claim")


def _check_admin(objects: ObjectSet, claim: Claim, field: Field) -> Iterator[Finding]:
    namespace = objects.namespaces.get(claim.owner.namespace)
    if namespace is None or namespace.root.get("metadata", "labels", ADMIN_LABEL).value == "true":
        return
    yield Finding(
        code="admin-access",
        severity="error",
        place=field.place,
        what=f'{claim.owner.title} asks for adminAccess, and namespace "{namespace.name}" doesn\'t allow it',
        why="the API server refuses adminAccess outside of namespaces that are labelled for it",
        rule=_DRA,
        fix=f'label the Namespace {ADMIN_LABEL}: "true", or remove adminAccess',
    )


def _no_source(entry: PodClaim, written: int) -> Finding:
    both = "resourceClaimName and resourceClaimTemplateName"
    return Finding(
        code="claim-source",
        severity="error",
        place=entry.field.place,
        what=f'claim "{entry.name}" of the pod has {f"{both} together" if written else f"neither of {both}"}',
        why="a pod's claim is one that exists, or one that is made for the pod from a template",
        rule=_POD,
        fix="keep one of the two" if written else "write resourceClaimTemplateName: or resourceClaimName:",
    )


def _dangling(objects: ObjectSet, pod: Pod, field: Field) -> Finding:
    kind = TEMPLATE if field.path[-1] == "resourceClaimTemplateName" else CLAIM
    known = sorted(
        name
        for (found_kind, name), claims in objects.claims.items()
        if found_kind == kind and any(is_same_namespace(c.owner.namespace, pod.owner.namespace) for c in claims)
    )
    affixed = [name for name in known if name.startswith(f"{field.text}-") or name.endswith(f"-{field.text}")]
    fix = f"add the {kind}, or correct the name"
    if affixed:
        fix = f'write "{affixed[0]}" (Kustomize\'s namePrefix and nameSuffix rename a {kind} but not what names it)'
    elif near := difflib.get_close_matches(field.text, known, 1, 0.6):
        fix = f'did you mean "{near[0]}"? otherwise {fix}'
    return Finding(
        code="dangling-claim",
        severity="error",
        place=field.place,
        what=f'{pod.owner.title} names {kind} "{field.text}", which is not among these objects',
        why=f"unless the cluster has a {kind} of that name in the namespace, the pods wait for it and don't start",
        rule=_POD,
        fix=fix,
    )


def _unused(pod: Pod, entry: PodClaim) -> Finding:
    return Finding(
        code="claim-unused",
        severity="warning",
        place=entry.field.place,
        what=f'no container of {pod.owner.title} uses the pod\'s claim "{entry.name}"',
        why="the scheduler allocates its devices all the same, and no container sees them",
        rule=_DRA,
        fix=f"add resources.claims: [{{name: {entry.name}}}] to the container that needs it, or remove the claim",
    )


def _no_entry(pod: Pod, container: Container, name: Field) -> Finding:
    return Finding(
        code="claim-unknown",
        severity="error",
        place=name.place,
        what=f'container "{container.name}" uses claim "{name.text}", which its pod doesn\'t have',
        why="the API server refuses a pod whose containers use a claim that isn't in its resourceClaims",
        rule=_POD,
        fix=_suggest("a claim of the pod", (entry.name for entry in pod.claims), "add it to resourceClaims"),
    )


def _no_request(claim: Claim, container: Container, wanted: Field) -> Finding:
    return Finding(
        code="claim-unknown",
        severity="error",
        place=wanted.place,
        what=f'container "{container.name}" uses request "{wanted.text}", which {claim.owner.title} doesn\'t have',
        why="the kubelet finds no device for a request that isn't in the claim, and the container doesn't start",
        rule=_POD,
        fix=_suggest("a request of the claim", (request.name for request in claim.requests), "add it to the claim"),
    )


def _suggest(what: str, names: Iterable[str], otherwise: str) -> str:
    known = ", ".join(sorted(names))
    return f"name {what}: {known}" if known else otherwise


def _no_class(field: Field, objects: ObjectSet) -> Finding:
    near = difflib.get_close_matches(field.text, sorted(objects.classes), 1, 0.6)
    return Finding(
        code="dangling-class",
        severity="note",
        place=field.place,
        what=f'DeviceClass "{field.text}" is not among these objects, although others are',
        why="a claim on a class that the cluster doesn't have ends every scheduling attempt of its pods",
        rule=_DRA,
        fix=(f'did you mean "{near[0]}"? ' if near else "") + "make sure that the cluster has the class",
    )


def _shared(entry: PodClaim, who: str) -> Finding:
    return Finding(
        code="claim-shared",
        severity="warning",
        place=entry.claim_name.place,
        what=f'{who} "{entry.claim_name.text}"',
        why="all of them run on the same devices, and only where those are; no one takes turns",
        rule=_DRA,
        fix="give each pod its own with resourceClaimTemplateName, unless sharing is meant",
    )
