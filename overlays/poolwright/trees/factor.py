"""Factoring: what a cluster decided about a base object, as the one patch that real Kustomize applies.

The finished object is the truth and the patch is the difference, so no patch is ever applied by code of ours, and one
that Kustomize would apply differently shows up as a build that isn't the finished object.
"""

from __future__ import annotations

from typing import Any, Final

from poolwright.objects.kubernetes import Object

# Lists that Kustomize 5 merges by a key, and that decisions change.
# Source: the strategic merge keys of its built-in Kubernetes 1.21 schema.
_MERGE_KEYS: Final = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
}
_WITH_IMAGES: Final = ("containers", "initContainers")
# Kinds that it merges lists of; of others it would replace them as a whole.
_MERGED_KINDS: Final = frozenset(("ConfigMap", "Deployment", "Service"))
# Those that it merges too, some of them by two keys, and that no decision changes. Any list that stands in neither
# table replaces the base's as a whole.
_MERGED_OTHERWISE: Final = frozenset(
    (
        *("conditions", "ephemeralContainers", "finalizers", "hostAliases", "imagePullSecrets"),
        *("ownerReferences", "ports", "secrets", "topologySpreadConstraints", "volumeDevices"),
    )
)


def is_merged(document: Object) -> bool:
    """Whether Kustomize merges a patch into objects of this kind; for others there are JSON patches."""
    return document["kind"] in _MERGED_KINDS


def build_patch(base: Object, finished: Object) -> Object:
    """The strategic merge patch that makes `finished` of `base`; empty if they are equal.

    Holds apiVersion, kind and the finished name beside the changes. Another image of a container is left out: the
    overlay's `images` set it. A field of the base that the finished object lacks can't be expressed, and no decision
    takes one away.

    Raises: ValueError where a patch can't make the difference.
    """
    changes = _difference(base, finished, "")
    if not changes:
        return {}
    metadata = {"name": finished["metadata"]["name"], "namespace": finished["metadata"]["namespace"]}
    return {
        **changes,
        "apiVersion": finished["apiVersion"],
        "kind": finished["kind"],
        "metadata": {**changes.get("metadata", {}), **metadata},
    }


def _difference(base: Object, finished: Object, at: str) -> Object:
    if gone := sorted(set(base) - set(finished)):
        raise ValueError(f"{at}/{gone[0]}: a decision takes away what the base has")
    changes = {}
    for key, value in finished.items():
        if key not in base:
            changes[key] = value
        elif isinstance(value, dict) and isinstance(base[key], dict):
            if inner := _difference(base[key], value, f"{at}/{key}"):
                changes[key] = inner
        elif value != base[key] and isinstance(value, list) and key in _MERGED_OTHERWISE:
            raise ValueError(f"{at}/{key}: Kustomize merges this list, and no decision changes it")
        elif value != base[key] and isinstance(value, list) and key in _MERGE_KEYS:
            if items := _list_difference(base[key], value, key, f"{at}/{key}"):
                changes[key] = items
        elif value != base[key]:
            changes[key] = value
    return changes


def _list_difference(base: list[Any], finished: list[Any], name: str, at: str) -> list[Any]:
    """The items of a keyed list that differ.

    Kustomize puts a patch's items first, in the patch's order, and then the base's others in theirs.
    """
    key = _MERGE_KEYS[name]
    by_key = {item[key]: item for item in base}
    changed = []
    for item in finished:
        before = by_key.get(item[key])
        if before is None:
            changed.append(item)
        elif inner := _difference(before, item, f"{at}/{item[key]}"):
            if name in _WITH_IMAGES and "image" in before:
                inner.pop("image", None)
            if inner:
                changed.append({key: item[key], **inner})
    first = [item[key] for item in changed]
    built = first + [item[key] for item in base if item[key] not in first]
    if built != [item[key] for item in finished]:
        raise ValueError(f"{at}: Kustomize would build the order {built}")
    return changed
