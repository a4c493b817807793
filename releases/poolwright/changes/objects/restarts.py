"""Which workloads have their pods replaced by a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from poolwright.changes.objects.exact import clean
from poolwright.changes.objects.fields import list_changed_paths
from poolwright.changes.objects.pairs import Pair, UnitObject, is_same
from poolwright.changes.report import Restart

_APPS: Final = "apps"
_GROUPS: Final = ("leaderworkerset.x-k8s.io", "LeaderWorkerSet")
# What of a spec a controller's revision is made from.
_TEMPLATES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    (_APPS, "Deployment"): ("template",),
    (_APPS, "StatefulSet"): ("template",),
    (_APPS, "DaemonSet"): ("template",),
    _GROUPS: ("leaderWorkerTemplate", "networkConfig"),
}
# A group's budget for recovery, which is no part of its revision (lws, pkg/utils/revision).
_NO_PART: Final = ("maxGroupRestarts", "restartBackoff")


def list_restarts(cluster: str, pairs: Iterable[Pair]) -> tuple[Restart, ...]:
    """Workloads of both sides whose pod templates differ, sorted by unit, kind and name.

    Labels and annotations of the template count, and every order, even that of tolerations: controllers compare the
    template as it is written. A group's size counts too. Left out are workloads whose selector differs, for which the
    update fails (a hazard), that are paused, and that replace a pod only once somebody deletes it (OnDelete).

    pairs:   of `pair_objects`.
    Returns: with the replicas that are written before the change; 0 of a DaemonSet, whose nodes decide.
    """
    found = [restart for pair in pairs if pair.changed for restart in _list(cluster, *pair.changed)]
    return tuple(sorted(found, key=lambda one: (one.unit, one.kind, one.name)))


def _list(cluster: str, before: UnitObject, after: UnitObject) -> Iterator[Restart]:
    identity = after.identity
    keys = _TEMPLATES.get((identity.group, identity.kind))
    old, new = _map(before.value.get("spec")), _map(after.value.get("spec"))
    if keys is None or _waits(new) or not is_same(old.get("selector"), new.get("selector")):
        return
    one, other = ({"spec": {key: _strip(spec[key]) for key in keys if key in spec}} for spec in (old, new))
    if is_same(one, other):
        return
    yield Restart(
        cluster=cluster,
        unit=clean(after.unit),
        kind=identity.kind,
        name=clean(f"{identity.namespace}/{identity.name}" if identity.namespace else identity.name),
        replicas=_count(identity.kind, old),
        fields=list_changed_paths(one, other, every_order=True),
    )


def _waits(spec: Mapping[str, Any]) -> bool:
    """Whether a new template alone replaces no pod."""
    return spec.get("paused") is True or _map(spec.get("updateStrategy")).get("type") == "OnDelete"


def _strip(template: Any) -> Any:
    if not isinstance(template, dict):
        return template
    return {key: part for key, part in template.items() if key not in _NO_PART}


def _count(kind: str, spec: Mapping[str, Any]) -> int:
    replicas = spec.get("replicas", 1)
    if kind == "DaemonSet" or isinstance(replicas, bool) or not isinstance(replicas, int):
        return 0
    return max(0, replicas)


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
