"""Which versions of resource.k8s.io a cluster serves, and whether an object is of one of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from poolwright.rules.placed import PlacedObject
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.version import parse_version

GROUP: Final = "resource.k8s.io"
KNOWN_MINORS: Final = ("1.32", "1.33", "1.34", "1.35", "1.36", "1.37")

# Since which minor release a version has a kind. Source: kubernetes/api, resource/*/types.go.
_CORE: Final = {"v1beta1": "1.32", "v1beta2": "1.33", "v1": "1.34"}
SINCE: Final = {
    "DeviceClass": _CORE,
    "ResourceClaim": _CORE,
    "ResourceClaimTemplate": _CORE,
    "ResourceSlice": _CORE,
    "DeviceTaintRule": {"v1alpha3": "1.33", "v1beta2": "1.36", "v1": "1.37"},
    "ResourcePoolStatusRequest": {"v1alpha3": "1.36"},
}
_CLAIMS: Final = ("ResourceClaim", "ResourceClaimTemplate")
_RULE: Final = "Kubernetes API versions of resource.k8s.io"


def check_served(obj: PlacedObject, minor: str, also_served: Collection[str]) -> list[Finding]:
    """Whether a cluster of the minor release takes the object's apiVersion.

    A version that is not yet stable is off by default once a stable one exists. Before that, DRA is only there where
    somebody switched it on, so an object of the newest or any earlier version of the time is taken.
    also_served: versions that the cluster was told to serve beside its defaults, such as `resource.k8s.io/v1beta1`.
    """
    group, _, version = obj.api_version.rpartition("/")
    if group != GROUP:
        return []
    since = SINCE.get(obj.kind)
    if since is None:
        return [_unknown_kind(obj, minor)]
    current = [name for name, first in since.items() if not _is_before(minor, first)]
    if version not in current:
        return [_not_there(obj, version, since, current, minor)]
    if current[-1] != "v1" or version == "v1":
        return []
    if obj.api_version in also_served:
        return [_outdated(obj, "warning", minor)]
    return [_outdated(obj, "error", minor)]


def _is_before(minor: str, other: str) -> bool:
    return parse_version(minor).key < parse_version(other).key


def _unknown_kind(obj: PlacedObject, minor: str) -> Finding:
    return Finding(
        code="api-not-served",
        severity="error",
        place=obj.locate(("kind",)),
        what=f"resource.k8s.io of Kubernetes {minor} has no kind {obj.kind} that is known here",
        why="the API server refuses an object of a kind that it doesn't serve",
        rule=_RULE,
        fix=f"known kinds: {', '.join(sorted(SINCE))}",
    )


def _not_there(obj: PlacedObject, version: str, since: dict[str, str], current: list[str], minor: str) -> Finding:
    first = since.get(version)
    what = f"{obj.title} is of {obj.api_version}, "
    what += f"which has this kind only from Kubernetes {first} on" if first else "a version that is not known of it"
    fix = (
        f"write apiVersion: {GROUP}/{current[-1]}" if current else f"Kubernetes {minor} has no such kind: leave it out"
    )
    return Finding(
        code="api-not-served",
        severity="error",
        place=obj.locate(("apiVersion",)),
        what=what,
        why=f"a cluster of Kubernetes {minor} refuses the object",
        rule=_RULE,
        fix=fix,
    )


def _outdated(obj: PlacedObject, severity: Severity, minor: str) -> Finding:
    move = "; the fields of each request then stand under `exactly`" if obj.kind in _CLAIMS else ""
    layout = move if obj.api_version.endswith("/v1beta1") else ""
    if severity == "error":
        what = f"{obj.title} is of {obj.api_version}, which Kubernetes {minor} doesn't serve by default"
        why = "the API server refuses the object unless that version was switched on"
        fix = f"write apiVersion: {GROUP}/v1{layout}; if the cluster serves it, say --api-versions {obj.api_version}"
    else:
        what = f"{obj.title} is of {obj.api_version}, and Kubernetes {minor} has {GROUP}/v1"
        why = "a version that isn't stable is switched on by hand, and a later release drops it"
        fix = f"write apiVersion: {GROUP}/v1{layout}"
    return Finding(
        code="api-not-served",
        severity=severity,
        place=obj.locate(("apiVersion",)),
        what=what,
        why=why,
        rule=_RULE,
        fix=fix,
    )
