"""Fields that the API server lets nobody change once an object exists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from poolwright.changes.objects.fields import list_changed_paths
from poolwright.changes.objects.pairs import UnitObject, is_same
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

MAX_PATHS: Final = 3  # that a sentence names
_NEW_NAME: Final = "give the object a new name, and let whatever names it follow in the same change"
_REPLACE: Final = "or delete it first, or let Argo CD do so for once with the sync options Replace=true,Force=true"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """Which parts of an object hold still."""

    under: str = "spec"  # the map that they stand in; empty: the object itself
    fields: tuple[str, ...] = ()  # these; empty: all but the mutable ones
    mutable: tuple[str, ...] = ()
    defaults: tuple[tuple[str, Any], ...] = ()  # what a missing field is
    is_once: bool = False  # only a value that is changed for another one is refused, none at all is filled in
    fix: str = f"{_NEW_NAME}; {_REPLACE}"


_SELECTOR: Final = _Rule(fields=("selector",))
_ROLE: Final = _Rule(under="", fields=("roleRef",))
_STATEFUL: Final = _Rule(
    mutable=(
        *("replicas", "template", "updateStrategy", "ordinals", "persistentVolumeClaimRetentionPolicy"),
        *("minReadySeconds", "revisionHistoryLimit"),
    ),
    fix="delete it first with --cascade=orphan, which keeps its pods and volumes; or give it a new name",
)
# Source: the update validation of Kubernetes 1.37, by API group.
RULES: Final[Mapping[tuple[str, str], _Rule]] = {
    ("apps", "Deployment"): _SELECTOR,
    ("apps", "DaemonSet"): _SELECTOR,
    ("apps", "ReplicaSet"): _SELECTOR,
    ("apps", "StatefulSet"): _STATEFUL,
    ("batch", "Job"): _Rule(
        fields=("template", "selector", "completionMode"), defaults=(("completionMode", "NonIndexed"),)
    ),
    ("resource.k8s.io", "ResourceClaim"): _Rule(fix=_NEW_NAME),
    ("resource.k8s.io", "ResourceClaimTemplate"): _Rule(fix=_NEW_NAME),
    ("", "Service"): _Rule(fields=("clusterIP",), is_once=True),
    ("", "Secret"): _Rule(under="", fields=("type",), defaults=(("type", "Opaque"),)),
    ("", "PersistentVolumeClaim"): _Rule(
        mutable=("resources", "volumeAttributesClassName"), fix=f"{_NEW_NAME}; its data stay with the old one"
    ),
    ("storage.k8s.io", "StorageClass"): _Rule(
        under="",
        fields=("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"),
        defaults=(("reclaimPolicy", "Delete"), ("volumeBindingMode", "Immediate")),
    ),
    ("scheduling.k8s.io", "PriorityClass"): _Rule(
        under="",
        fields=("value", "preemptionPolicy"),
        defaults=(("preemptionPolicy", "PreemptLowerPriority"),),
        fix=_NEW_NAME,
    ),
    ("rbac.authorization.k8s.io", "RoleBinding"): _ROLE,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _ROLE,
}
_SEALED: Final = _Rule(
    under="", fields=("data", "binaryData", "stringData", "immutable"), fix=f"{_NEW_NAME}; or recreate it by hand"
)


def check_immutable(before: UnitObject, after: UnitObject, place: Place) -> Iterator[Finding]:
    """An error if one object's second version can't be applied over its first."""
    identity = after.identity
    if identity != before.identity:  # another object, whatever they have in common
        return
    rule = RULES.get((identity.group, identity.kind))
    if identity.group == "" and identity.kind in ("ConfigMap", "Secret") and before.value.get("immutable") is True:
        rule = _SEALED
    if rule is None:
        return
    old, new = (_select(side.value, rule) for side in (before, after))
    if rule.is_once:
        old, new = _keep_both(old, new, rule)
    if is_same(old, new):
        return
    paths = list_changed_paths(old, new, every_order=True)
    if not paths:
        return
    more = f" and {len(paths) - MAX_PATHS} more" if len(paths) > MAX_PATHS else ""
    yield Finding(
        code="immutable-field",
        severity="error",
        place=place,
        what=f"{identity.title} changes {', '.join(paths[:MAX_PATHS])}{more}, which nobody can once it exists",
        why="the API server refuses the update: Argo CD's sync fails on it, and what comes after it isn't applied",
        rule=f"Kubernetes, {identity.kind}",
        fix=rule.fix,
    )


def _select(obj: Mapping[str, Any], rule: _Rule) -> dict[str, Any]:
    """The parts of an object that hold still, where they stand, with the kind that says what is secret."""
    part = obj.get(rule.under) if rule.under else obj
    values = {**dict(rule.defaults), **part} if isinstance(part, dict) else dict(rule.defaults)
    held = {
        key: value
        for key, value in values.items()
        if value is not None and (key in rule.fields if rule.fields else key not in rule.mutable)
    }
    return {rule.under: held} if rule.under else {"kind": obj.get("kind"), **held}


def _keep_both(old: dict[str, Any], new: dict[str, Any], rule: _Rule) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both without what only one of them says."""
    one, other = old[rule.under], new[rule.under]
    keys = [key for key in one if one[key] and other.get(key)]
    return {rule.under: {key: one[key] for key in keys}}, {rule.under: {key: other[key] for key in keys}}
