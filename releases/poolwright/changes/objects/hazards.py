"""What the API server, Argo CD and running pods will make of a change of objects, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from poolwright.changes.objects.immutable import check_immutable
from poolwright.changes.objects.left_behind import PlaceOf, check_dangling, check_removed, list_removed
from poolwright.changes.objects.ownership import check_owner
from poolwright.changes.objects.pairs import Pair, UnitObject
from poolwright.changes.objects.references import NAMESPACE, may_hold_pods
from poolwright.changes.objects.secrets import WORD_LISTS, find_credentials
from poolwright.rules.placed import place_object
from poolwright.rules.pod import Container, Pod, find_pods
from poolwright.specs.finding import Finding, sort_findings
from poolwright.specs.place import Place

_BUDGET: Final = "PodDisruptionBudget"


def list_hazards(pairs: Sequence[Pair], place_of: PlaceOf) -> tuple[Finding, ...]:
    """Everything that is dangerous about a change of one cluster's objects, in the one order of findings.

    pairs:    of `pair_objects`.
    place_of: unit, kind, namespace and name of an object -> where people mend it. It is asked of the head's objects,
              and of removed ones where nothing on the head is to be mended.
    """
    found: list[Finding] = [*check_removed(pairs, place_of), *check_dangling(pairs, place_of)]
    for pair in pairs:
        if pair.after and not pair.is_equal:
            found += _check_credentials(pair.after, _place(pair.after, place_of))
        if pair.before and pair.after and (not pair.is_equal or pair.before.unit != pair.after.unit):
            place = _place(pair.after, place_of)
            found += check_immutable(pair.before, pair.after, place)
            found += check_owner(pair.before, pair.after, place)
    gone = [obj for obj in list_removed(pairs) if obj.identity.kind in (NAMESPACE, _BUDGET)]
    if gone:
        left = [pair.after for pair in pairs if pair.after]
        found += [finding for obj in gone for finding in _check_gone(obj, left, place_of)]
    return sort_findings(found)


def _check_gone(obj: UnitObject, left: Sequence[UnitObject], place_of: PlaceOf) -> Iterator[Finding]:
    if obj.identity.kind == _BUDGET:
        yield from _check_budget(obj, left, place_of)
    elif not any(other.identity.namespace == obj.identity.name for other in left):  # else it is removed in use
        yield Finding(
            code="namespace-removed",
            severity="warning",
            place=_place(obj, place_of),
            what=f"{obj.identity.title} is removed",
            why="Kubernetes deletes everything in it: pods, volumes' claims and what others keep there as well",
            rule="Kubernetes, Namespace",
            fix="make sure that nothing in it is needed, or keep it with the annotation "
            "argocd.argoproj.io/sync-options: Prune=false",
        )


def _check_budget(obj: UnitObject, left: Sequence[UnitObject], place_of: PlaceOf) -> Iterator[Finding]:
    """A warning if pods that the budget was for are still there and no other one is for them."""
    namespace, wanted = obj.identity.namespace, _labels_of(obj)
    near = [other for other in left if other.identity.namespace == namespace]
    budgets = [_labels_of(other) for other in near if other.identity.kind == _BUDGET]
    for other in near:
        for labels in _list_pod_labels(other):
            if _selects(wanted, labels) and not any(_selects(budget, labels) for budget in budgets):
                yield Finding(
                    code="budget-removed",
                    severity="warning",
                    place=_place(other, place_of),
                    what=f"{obj.identity.title} is removed, and {other.identity.title} has no other one",
                    why="draining nodes may then evict all of its pods at once",
                    rule="Kubernetes, PodDisruptionBudget",
                    fix="keep the budget, or add another one for these pods",
                )
                return


def _check_credentials(obj: UnitObject, place: Place) -> Iterator[Finding]:
    """A warning for each container of a new or changed object that has a credential among its arguments."""
    for pod in _find_pods(obj):
        for container in pod.containers:
            if words := _find_words(container):
                yield Finding(
                    code="credential-in-arguments",
                    severity="warning",
                    place=place,
                    what=f'container "{container.name}" of {obj.identity.title} has a credential in its plain '
                    f"arguments: {', '.join(words)}",
                    why="it can be read in the repository, in the object and in the node's list of processes; only "
                    "this report hides it",
                    rule="poolwright safety design",
                    fix="keep it in a Secret, take a variable from there with valueFrom.secretKeyRef, and write "
                    "$(VARIABLE) among the arguments; then change the credential, for Git keeps the old one",
                )


def _find_pods(obj: UnitObject) -> tuple[Pod, ...]:
    return find_pods(place_object(obj.value, "")) if may_hold_pods(obj.identity) else ()


def _find_words(container: Container) -> list[str]:
    fields = {key: container.field.get(key).value for key in WORD_LISTS}
    return [
        f"{key}[{index}]"
        for key, words in fields.items()
        if isinstance(words, list)
        for index in find_credentials(words)
    ]


def _labels_of(obj: UnitObject) -> Mapping[str, Any] | None:
    """The labels that a budget selects; None: by expressions, which aren't looked into here."""
    selector = _map(_map(obj.value.get("spec")).get("selector"))
    return None if selector.get("matchExpressions") else _map(selector.get("matchLabels"))


def _list_pod_labels(obj: UnitObject) -> Iterator[Mapping[str, Any]]:
    for pod in _find_pods(obj):
        template: Any = obj.value
        for step in pod.spec.path[:-1]:
            template = template[step]
        yield _map(_map(_map(template).get("metadata")).get("labels"))


def _selects(wanted: Mapping[str, Any] | None, labels: Mapping[str, Any]) -> bool:
    return bool(wanted) and all(labels.get(key) == value for key, value in (wanted or {}).items())


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _place(obj: UnitObject, place_of: PlaceOf) -> Place:
    identity = obj.identity
    return place_of(obj.unit, identity.kind, identity.namespace, identity.name)
