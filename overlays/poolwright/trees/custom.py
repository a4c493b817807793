"""What of a team's own component is allowed, judged by what it changes in the finished objects.

A component may add: harmless objects in the unit's namespace, labels, annotations, variables, volumes and mounts,
containers without devices, tolerations of taints that aren't the devices', and another grace period. All else has a
field in the specs, where it is checked, counted and reviewed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from poolwright.catalog.closure import UnitClosure
from poolwright.objects.kubernetes import Object
from poolwright.rules.device_access import check_device_access
from poolwright.rules.node_contract import check_node_contract
from poolwright.rules.placed import PlacedObject
from poolwright.rules.pod import find_pods
from poolwright.specs.finding import Finding, sort_findings
from poolwright.specs.place import FieldPath, Place, render_field
from poolwright.trees.custom_additions import check_addition, forbidden
from poolwright.trees.custom_revert import revert_allowed
from poolwright.trees.tree import KUSTOMIZATION, custom_path, unit_name

_KEYS: Final = ("mountPath", "name", "containerPort", "key")  # what tells a list's items apart, the first they all have


def check_custom(before: Sequence[Object], after: Sequence[Object], closure: UnitClosure) -> list[Finding]:
    """Everything that a unit's component does and may not, in the one order of findings.

    before: the unit's objects without it.
    after:  what Kustomize builds with it.
    """
    file = f"{custom_path(unit_name(closure))}/{KUSTOMIZATION}"
    ours, built = {_key(o): o for o in before}, {_key(o): o for o in after}
    problems = [_removed(file, document, closure) for key, document in ours.items() if key not in built]
    for key, document in built.items():
        placed = _place(document, file)
        if key in ours:
            problems += _check_change(ours[key], placed, closure)
        else:
            problems += check_addition(placed, closure)
    return list(sort_findings(problems))


def _key(document: Object) -> tuple[str, str, str, str]:
    metadata = document.get("metadata") or {}
    group = str(document.get("apiVersion", "")).rpartition("/")[0]
    return group, str(document.get("kind", "")), str(metadata.get("namespace", "")), str(metadata.get("name", ""))


def _place(document: Object, file: str) -> PlacedObject:
    """What is built has no lines: its places name the object and the field."""
    _, kind, _, name = _key(document)

    def locate(path: FieldPath) -> Place:
        return Place(file, field=f"{kind}/{name}: {render_field(path)}")

    return PlacedObject(value=document, locate=locate, locate_key=locate)


def _check_change(before: Object, placed: PlacedObject, closure: UnitClosure) -> Iterator[Finding]:
    """The differences that stay when all that is allowed has been taken back."""
    reverted = revert_allowed(before, placed.value, closure)
    for verb, path in _list_differences(before, reverted, ""):
        yield forbidden(
            Place(placed.locate(()).file, field=f"{placed.kind}/{placed.name}: {path}"),
            f"the component {verb} {path} of the unit's {placed.title}",
            _find_instead(placed.kind, path),
        )
    for pod in find_pods(placed):
        yield from check_device_access(pod)
    for finding in check_node_contract([placed]):
        if "ontainers[" in finding.place.field:  # what else it looks at is a difference, which was said
            yield finding


def _list_differences(before: Any, after: Any, path: str) -> Iterator[tuple[str, str]]:
    """The uppermost fields that differ: what was done to each, and how people write it."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted({*before, *after}):
            below = path + _step(name, path)
            if name not in after:
                yield "removes", below
            elif name not in before:
                yield "adds", below
            else:
                yield from _list_differences(before[name], after[name], below)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _list_items(before, after, path)
    elif isinstance(before, bool) is not isinstance(after, bool) or before != after:
        yield "changes", path


def _list_items(before: list[Any], after: list[Any], path: str) -> Iterator[tuple[str, str]]:
    key = next((k for k in _KEYS if all(isinstance(item, dict) and k in item for item in (*before, *after))), None)
    ours, theirs = ({str(item[key]) if key else str(i): item for i, item in enumerate(x)} for x in (before, after))
    if key is None or len(theirs) < len(after):  # items that can't be told apart stand and fall together
        same = len(before) == len(after) and not any(
            difference
            for old, new in zip(before, after, strict=True)
            for difference in _list_differences(old, new, path)
        )
        if not same:
            yield "changes", path
        return
    found: list[tuple[str, str]] = []
    for name in {**ours, **theirs}:
        below = f"{path}[{name}]"
        if name in theirs and name in ours:
            found += _list_differences(ours[name], theirs[name], below)
        else:
            found.append(("adds" if name in theirs else "removes", below))
    if not found and [*ours] != [*theirs]:
        found.append(("changes the order of", path))
    yield from found


def _step(name: str, path: str) -> str:
    text = render_field((name,))
    return text if text.startswith("[") or not path else f".{text}"


def _removed(file: str, document: Object, closure: UnitClosure) -> Finding:
    _, kind, _, name = _key(document)
    place = Place(file, field=f"{kind}/{name}")
    what = f'the component removes or renames the unit\'s {kind} "{name}"'
    return forbidden(place, what, _find_instead(kind, "") or f"the Placement {closure.unit}: remove that")


# By what a path holds, the first that it does: the spec field to use instead.
_INSTEAD: Final = (
    ("spec.replicas", "Placement.spec.minReplicas and maxReplicas"),
    ("strategy", "Placement.spec.surge"),
    ("Strategy", "Placement.spec.surge"),
    ("claims", "Envelope.spec.claim"),
    ("resourceClaims", "Envelope.spec.claim"),
    ("nodeSelector", "Placement.spec.zone"),
    ("affinity", "Placement.spec.zone and deviceClassNames"),
    ("nodeName", "Placement.spec.zone and deviceClassNames"),
    ("schedulerName", "Placement.spec.poolName"),
    ("topologySpread", "Placement.spec.zone"),
    ("tolerations", "Pool.spec.tolerations"),
    ("priority", "Placement.spec.deviceClassNames: a class of another tier"),
    ("preemption", "Placement.spec.deviceClassNames: a class of another tier"),
    ("[engine].image", "Stack.spec.servingImages and Envelope.spec.engine.imageName"),
    ("[engine].args", "Envelope.spec.load, precision, topology and engine.args"),
    ("[engine].command", "Envelope.spec.engine.type or template"),
    ("[engine].resources", "Envelope.spec.engine.resources"),
    ("Probe", "Envelope.spec.startup.timeout"),
    (".env", "variables of your own, each once and none called POOLWRIGHT_"),
    (".volumeMounts", "mounts of your own, none over or below those of the unit"),
    ("ontainers[", "Envelope.spec.sidecars, claim.containers or engine.template"),
    ("volumes[models]", "Envelope.spec.model.source"),
    (".labels", "labels of your own, not under poolwright.dev/"),
    (".annotations", "annotations of your own, not under poolwright.dev/"),
    ("spec.template.spec", "Envelope.spec.engine.template"),
    ("emplate.spec", "Envelope.spec.engine.template"),
)
_INSTEAD_OF_KIND: Final = {
    "ResourceClaim": "Envelope.spec.claim and Placement.spec.deviceClassNames",
    "ResourceClaimTemplate": "Envelope.spec.claim and Placement.spec.deviceClassNames",
    "Service": "Envelope.spec.router and Placement.spec.router",
    "ConfigMap": "the Envelope, whose record it is",
    "PodDisruptionBudget": "Envelope.spec.replicaBehavior and recovery.spareReplicas",
    "InferencePool": "Envelope.spec.router and Placement.spec.router",
    "InferenceObjective": "Placement.spec.deviceClassNames: a class of another tier",
    "HTTPRoute": "Placement.spec.router",
    "PodMonitor": "an object of your own",
    "PrometheusRule": "Envelope.spec.slo and startup.timeout, or a PrometheusRule of your own",
}


def _find_instead(kind: str, path: str) -> str:
    if path.startswith("metadata.") or kind not in _INSTEAD_OF_KIND:
        return next((field for part, field in _INSTEAD if part in path), "")
    return _INSTEAD_OF_KIND[kind]
