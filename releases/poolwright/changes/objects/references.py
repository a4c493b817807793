"""What objects name: the claims, classes, accounts and other objects that their pods can't start without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from poolwright.changes.objects.pairs import Identity, UnitObject
from poolwright.rules.claim import CLAIM, TEMPLATE, parse_claim
from poolwright.rules.placed import Field, place_object
from poolwright.rules.pod import Pod, find_pods

CLASS: Final = "DeviceClass"
NAMESPACE: Final = "Namespace"
_OF_A_CLASS: Final = "deviceclass.resource.kubernetes.io/"  # the extended resource that every class stands for
# Kinds without pods in them of which a fleet has many, so that nobody looks for pods there.
_NO_PODS: Final = frozenset(
    (
        *("AppProject", "Application", "ConfigMap", "HTTPRoute", "InferenceObjective", "InferencePool", "Namespace"),
        *("PodDisruptionBudget", "PodMonitor", "PriorityClass", "PrometheusRule", "ResourceQuota", "Secret", "Service"),
        *("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", CLASS, CLAIM, TEMPLATE),
    )
)


class Reference(NamedTuple):
    """A name in an object that another one must have."""

    kind: str
    namespace: str  # empty: cluster-scoped, or wherever the object that names it is put
    name: str


def may_hold_pods(identity: Identity) -> bool:
    """Whether it is worth looking for pods in an object of the kind."""
    return identity.kind not in _NO_PODS


def list_references(obj: UnitObject) -> frozenset[Reference]:
    """Everything that must be there for an object, and for the pods it makes: what is optional is left out."""
    identity = obj.identity
    return frozenset(one for one in _list(obj, identity) if one.name)


def _list(obj: UnitObject, identity: Identity) -> Iterator[Reference]:
    if identity.namespace:
        yield Reference(NAMESPACE, "", identity.namespace)
    if identity.kind in (CLAIM, TEMPLATE):
        claim = parse_claim(place_object(obj.value, ""))
        ways = [way for request in claim.requests for way in request.alternatives] if claim else []
        yield from (Reference(CLASS, "", way.class_name) for way in ways)
    if may_hold_pods(identity):
        for pod in find_pods(place_object(obj.value, "")):
            yield from _list_of_pod(pod, identity.namespace)


def _list_of_pod(pod: Pod, namespace: str) -> Iterator[Reference]:
    spec = pod.spec
    yield Reference("PriorityClass", "", spec.get("priorityClassName").text)
    yield Reference("ServiceAccount", namespace, spec.get("serviceAccountName").text)
    for entry in pod.claims:
        yield Reference(CLAIM, namespace, entry.claim_name.text)
        yield Reference(TEMPLATE, namespace, entry.template_name.text)
    for secret in spec.get("imagePullSecrets").list_items():
        yield Reference("Secret", namespace, secret.get("name").text)
    for volume in spec.get("volumes").list_items():
        yield Reference("PersistentVolumeClaim", namespace, volume.get("persistentVolumeClaim", "claimName").text)
        sources = (volume, *volume.get("projected", "sources").list_items())
        yield from _list_sources(sources, "configMap", "secret", namespace)
    for container in pod.containers:
        variables = [entry.get("valueFrom") for entry in container.field.get("env").list_items()]
        yield from _list_sources(variables, "configMapKeyRef", "secretKeyRef", namespace)
        yield from _list_sources(container.field.get("envFrom").list_items(), "configMapRef", "secretRef", namespace)
        for name, _ in container.resources():
            if name.startswith(_OF_A_CLASS):
                yield Reference(CLASS, "", name.removeprefix(_OF_A_CLASS))


def _list_sources(fields: Iterable[Field], config_map: str, secret: str, namespace: str) -> Iterator[Reference]:
    """What volumes and variables are filled from, by the keys that such a source stands under."""
    for field in fields:
        for key, kind in ((config_map, "ConfigMap"), (secret, "Secret")):
            source = field.get(key)
            if source.get("optional").value is not True:
                yield Reference(kind, namespace, source.get("name").text or source.get("secretName").text)
