"""An object with all that a team's component may add to it taken back: what then still differs is forbidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from poolwright.catalog.closure import UnitClosure
from poolwright.objects.kubernetes import Object

OURS: Final = "poolwright.dev/"
OUR_VARIABLES: Final = "POOLWRIGHT_"
# Where pod templates stand in the workloads of a unit.
_PODS: Final = (
    ("spec", "template"),
    ("spec", "leaderWorkerTemplate", "leaderTemplate"),
    ("spec", "leaderWorkerTemplate", "workerTemplate"),
)


def revert_allowed(before: Object, after: Object, closure: UnitClosure) -> Object:
    """`after` without what may be added to `before`; neither is changed."""
    reverted = {**after, "metadata": _revert_metadata(before.get("metadata"), after.get("metadata"))}
    if before.get("kind") not in ("Deployment", "LeaderWorkerSet"):
        return reverted
    for path in _PODS:
        pods = _value_at(before, path), _value_at(reverted, path)
        if all(isinstance(pod, dict) for pod in pods):
            reverted = _replace_at(reverted, path, _revert_pod(*pods, closure))
    return reverted


def is_device_taint(key: object, closure: UnitClosure) -> bool:
    """Whether a toleration of this key may be of a taint by which devices or their nodes are set apart.

    Those are of the domain of a driver (gpu.nvidia.com) or of its vendor (nvidia.com), of Kubernetes DRA, or of
    poolwright; and a toleration without a key tolerates all taints.
    """
    if not isinstance(key, str) or not key:
        return True
    domain = key.partition("/")[0]
    drivers = {way.device_class.driver for way in closure.alternatives}
    drivers |= {extra.driver for extra in closure.extra_classes}
    domains = {*drivers, *(".".join(driver.split(".")[-2:]) for driver in drivers), "resource.kubernetes.io"}
    return domain.endswith("poolwright.dev") or any(domain == d or domain.endswith(f".{d}") for d in domains)


def _revert_metadata(before: Any, after: Any) -> Any:
    """Without added labels and annotations, but for those that look like ours."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    reverted = dict(after)
    for name in ("labels", "annotations"):
        ours, theirs = before.get(name, {}), after.get(name)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            kept = {key: value for key, value in theirs.items() if key in ours or key.startswith(OURS)}
            _put(reverted, before, name, kept)
    return reverted


def _put(reverted: Object, before: Object, name: str, kept: Any) -> None:
    """What is kept of a field; nothing where nothing is kept and there was nothing."""
    if kept or name in before:
        reverted[name] = kept
    else:
        reverted.pop(name, None)


def _revert_pod(before: Object, after: Object, closure: UnitClosure) -> Object:
    reverted = {**after, "metadata": _revert_metadata(before.get("metadata"), after.get("metadata"))}
    ours, theirs = before.get("spec"), after.get("spec")
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return reverted
    spec = dict(theirs)
    _revert_list(spec, ours, "volumes", "name", lambda _: True)
    _revert_list(spec, ours, "containers", "name", _is_sidecar, _revert_container)
    _revert_list(spec, ours, "initContainers", "name", _is_sidecar, _revert_container, is_ordered=True)
    _revert_tolerations(spec, ours, closure)
    grace = spec.get("terminationGracePeriodSeconds")
    if isinstance(grace, int) and not isinstance(grace, bool) and grace >= 0:
        spec.pop("terminationGracePeriodSeconds")
        if "terminationGracePeriodSeconds" in ours:
            spec["terminationGracePeriodSeconds"] = ours["terminationGracePeriodSeconds"]
    return {**reverted, "spec": spec}


def _revert_list(
    spec: Object,
    before: Object,
    name: str,
    key: str,
    is_allowed: Callable[[Object], bool],
    revert: Callable[[Object, Object], Object] = lambda _, after: after,
    *,
    is_ordered: bool = False,
) -> None:
    """A list whose items have a key: ours reverted, allowed ones taken out. A patch moves what it changes to the front,
    so ours get their order back, unless it means something."""
    ours, theirs = before.get(name, []), spec.get(name)
    if not isinstance(theirs, list) or not all(isinstance(item, dict) and key in item for item in theirs):
        return
    by_key = {str(item[key]): item for item in ours}
    names = [str(item[key]) for item in theirs]
    if len(set(names)) < len(names):
        return  # two of one key: which of them counts is nobody's to say
    kept = [
        revert(by_key[called], item) if called in by_key else item
        for called, item in zip(names, theirs, strict=True)
        if called in by_key or not is_allowed(item)
    ]
    if not is_ordered:
        order = list(by_key)
        kept.sort(key=lambda item: order.index(called) if (called := str(item[key])) in by_key else len(order))
    _put(spec, before, name, kept)


def _revert_container(before: Object, after: Object) -> Object:
    reverted = dict(after)
    mounts = [str(mount["mountPath"]) for mount in before.get("volumeMounts", [])]

    def is_beside(mount: Object) -> bool:
        """Below one of ours it would hide what the engine reads there."""
        return not any(str(mount["mountPath"]).startswith(f"{ours.rstrip('/')}/") for ours in mounts)

    _revert_list(reverted, before, "env", "name", _is_variable, is_ordered=True)
    _revert_list(reverted, before, "volumeMounts", "mountPath", is_beside)
    return reverted


def _is_variable(entry: Object) -> bool:
    return not str(entry["name"]).startswith(OUR_VARIABLES)


def _is_sidecar(container: Object) -> bool:
    """Whether a container has no device and speaks for nobody else."""
    resources = container.get("resources") or {}
    claims = resources.get("claims") if isinstance(resources, dict) else resources
    names = [str(entry.get("name", "")) for entry in container.get("env") or [] if isinstance(entry, dict)]
    return not claims and not any(name.startswith(OUR_VARIABLES) for name in names)


def _revert_tolerations(spec: Object, before: Object, closure: UnitClosure) -> None:
    ours, theirs = before.get("tolerations", []), spec.get("tolerations")
    if not isinstance(theirs, list) or not all(isinstance(item, dict) for item in theirs):
        return
    kept = [item for item in ours if item in theirs]
    kept += [item for item in theirs if item not in ours and is_device_taint(item.get("key"), closure)]
    _put(spec, before, "tolerations", kept)


def _value_at(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _replace_at(value: Object, path: tuple[str, ...], new: Any) -> Object:
    first, *rest = path
    return {**value, first: _replace_at(value[first], tuple(rest), new) if rest else new}
