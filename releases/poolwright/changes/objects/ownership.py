"""Who an object says that it belongs to, and what comes of it when that changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from poolwright.changes.objects.pairs import UnitObject
from poolwright.changes.objects.references import CLASS
from poolwright.objects.kubernetes import Object
from poolwright.rules.devices import CLASSES
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

_MANAGED_BY: Final = "app.kubernetes.io/managed-by"
_RELEASE: Final = "meta.helm.sh/release-name"
_RELEASE_NAMESPACE: Final = "meta.helm.sh/release-namespace"
_TRACKING: Final = "argocd.argoproj.io/tracking-id"
_INSTANCES: Final = ("argocd.argoproj.io/instance", "app.kubernetes.io/instance")
_FIGHT: Final = "both owners may write it, and the removal of the first one may delete it"


def check_owner(before: UnitObject, after: UnitObject, place: Place) -> Iterator[Finding]:
    """A warning if an object that somebody owns is another one's, or nobody's, afterwards."""
    old, new = list_owners(before.value), list_owners(after.value)
    if before.unit and after.unit and before.unit != after.unit:
        old, new = (f"unit {before.unit}", *old), (f"unit {after.unit}", *new)
    gone = [owner for owner in old if owner not in new]
    come = [owner for owner in new if owner not in old]
    if not gone:
        return
    is_class = after.identity.kind == CLASS and after.identity.name in CLASSES  # that NVIDIA's installers make
    yield Finding(
        code="owner-changed",
        severity="warning",
        place=place,
        what=f"{after.identity.title} goes from {' and '.join(gone)} to {' and '.join(come) or 'nobody'}",
        why=f"{_FIGHT}: claims of the class can't be allocated until it is back, and NVIDIA documents no way to move a "
        "running cluster to GPUCluster"
        if is_class
        else _FIGHT,
        rule="poolwright release design",
        fix="change the owner in one commit, or keep the class outside both releases"
        if is_class
        else "take it from the first owner without deleting it (Helm: helm.sh/resource-policy: keep; Argo CD: "
        "Prune=false), then give it to the second",
    )


def list_owners(obj: Object) -> tuple[str, ...]:
    """The owners that an object names, in words: labels and annotations of tools, and ownerReferences."""
    metadata = _map(obj.get("metadata"))
    labels, annotations = _map(metadata.get("labels")), _map(metadata.get("annotations"))
    return tuple(dict.fromkeys(_list(labels, annotations, metadata.get("ownerReferences"))))


def _list(labels: Mapping[str, Any], annotations: Mapping[str, Any], references: Any) -> Iterator[str]:
    release = annotations.get(_RELEASE)
    if release:
        namespace = annotations.get(_RELEASE_NAMESPACE)
        yield f"Helm release {namespace}/{release}" if namespace else f"Helm release {release}"
    elif labels.get(_MANAGED_BY):
        yield f"{_MANAGED_BY} {labels[_MANAGED_BY]}"
    if tracking := annotations.get(_TRACKING):
        yield f"Application {str(tracking).partition(':')[0]}"
    yield from (f"instance {labels[label]}" for label in _INSTANCES if labels.get(label))
    for reference in references if isinstance(references, list) else ():
        if isinstance(reference, dict):
            yield f"{reference.get('kind', 'an object')} {reference.get('name', '')}".rstrip()


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
