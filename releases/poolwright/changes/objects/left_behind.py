"""Names that lead nowhere after a change: of what it removes, and of what neither side has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from poolwright.changes.objects.pairs import Identity, Pair, UnitObject
from poolwright.changes.objects.references import CLASS, NAMESPACE, Reference, list_references, may_hold_pods
from poolwright.rules.claim import CLAIM, TEMPLATE
from poolwright.rules.object_set import build_set, is_same_namespace
from poolwright.rules.placed import PlacedObject
from poolwright.rules.pod_claims import check_claim_context, check_pod_claims
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

PlaceOf = Callable[[str, str, str, str], Place]  # unit, kind, namespace and name of an object -> where to mend it
MAX_USERS: Final = 3  # that a sentence names
_CODES: Final = ("dangling-claim", "dangling-class")
_REFUSED: Final = "the API server refuses new pods that name it"
_WAIT: Final = "new pods wait for one of that name and don't start; those that run stay until something ends them"
# What comes of it when an object of a kind is gone, and the API group of the kind.
_KINDS: Final[Mapping[str, tuple[str, str]]] = {
    CLASS: ("resource.k8s.io", "without its class, a claim ends every scheduling attempt of its pods with an error"),
    CLAIM: ("resource.k8s.io", _WAIT),
    TEMPLATE: ("resource.k8s.io", _WAIT),
    NAMESPACE: ("", "everything in it is deleted with it, and nothing can be made there while that goes on"),
    "PriorityClass": ("scheduling.k8s.io", _REFUSED),
    "ServiceAccount": ("", _REFUSED),
    "ConfigMap": ("", _WAIT),
    "Secret": ("", _WAIT),
    "PersistentVolumeClaim": ("", f"{_WAIT}, and what it holds may be deleted"),
}


def list_removed(pairs: Iterable[Pair]) -> tuple[UnitObject, ...]:
    """Objects of the base that the head has not, those of old hashes too."""
    return tuple(
        pair.before
        for pair in pairs
        if pair.before and (pair.after is None or pair.before.identity != pair.after.identity)
    )


def check_removed(pairs: Sequence[Pair], place_of: PlaceOf) -> Iterator[Finding]:
    """An error for each removed object that something on the head still names, at the first that does."""
    present = {pair.after.identity for pair in pairs if pair.after}
    removed = [obj for obj in list_removed(pairs) if _is_named_kind(obj.identity) and obj.identity not in present]
    if not removed:
        return
    users: dict[tuple[str, str], list[tuple[Reference, UnitObject]]] = {}
    for pair in pairs:
        if pair.after:
            for reference in list_references(pair.after):
                users.setdefault((reference.kind, reference.name), []).append((reference, pair.after))
    for obj in removed:
        found = [
            user
            for reference, user in users.get((obj.identity.kind, obj.identity.name), ())
            if is_same_namespace(reference.namespace, obj.identity.namespace)
        ]
        if found:
            yield _in_use(obj, sorted(found, key=lambda user: user.identity), place_of)


def check_dangling(pairs: Sequence[Pair], place_of: PlaceOf) -> Iterator[Finding]:
    """What `check --objects` says of claims and classes that neither side has, where it didn't say so of the base.

    A name that led somewhere on the base is told by `check_removed`.
    """
    touched = [
        (pair.before, pair.after)
        for pair in pairs
        if pair.after and not pair.is_equal and (may_hold_pods(pair.after.identity) or _is_claimed(pair.after.identity))
    ]
    known = [pair.after for pair in pairs if pair.after and _is_claimed(pair.after.identity)]
    known += [obj for obj in list_removed(pairs) if _is_claimed(obj.identity)]
    found = list(_judge([new for _, new in touched], known)) if touched else []
    if not found:
        return
    before = {_sign(one) for one in _judge([old for old, _ in touched if old], known)}
    units = {str(new.identity): new for _, new in touched}
    for finding in found:
        if _sign(finding) not in before:
            yield replace(finding, place=_place(units[finding.place.file], place_of))


def _judge(objects: Sequence[UnitObject], known: Iterable[UnitObject]) -> Iterator[Finding]:
    """Of these objects among all that are known; the file of a finding's place is the identity of its object."""
    judged = {obj.identity for obj in objects}
    others = [obj for obj in known if obj.identity not in judged]
    found = build_set([_place_by_identity(obj) for obj in (*objects, *others)])
    findings = list(check_pod_claims(found))
    for claims in found.claims.values():
        for claim in claims:
            findings += check_claim_context(found, claim)
    files = {str(identity) for identity in judged}
    yield from (one for one in findings if one.code in _CODES and one.place.file in files)


def _sign(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.place.file, finding.what


def _place_by_identity(obj: UnitObject) -> PlacedObject:
    place = Place(str(obj.identity))
    return PlacedObject(value=obj.value, locate=lambda _: place, locate_key=lambda _: place)


def _place(obj: UnitObject, place_of: PlaceOf) -> Place:
    identity = obj.identity
    return place_of(obj.unit, identity.kind, identity.namespace, identity.name)


def _is_named_kind(identity: Identity) -> bool:
    return identity.kind in _KINDS and _KINDS[identity.kind][0] == identity.group


def _is_claimed(identity: Identity) -> bool:
    return identity.kind in (CLASS, CLAIM, TEMPLATE) and _is_named_kind(identity)


def _in_use(obj: UnitObject, users: Sequence[UnitObject], place_of: PlaceOf) -> Finding:
    titles = list(dict.fromkeys(user.identity.title for user in users))
    more = f" and {len(titles) - MAX_USERS} more" if len(titles) > MAX_USERS else ""
    is_one = len(titles) == 1
    still = f"still {'names' if is_one else 'name'} it"
    if obj.identity.kind == NAMESPACE:
        still = f"{'is' if is_one else 'are'} still in it"
    return Finding(
        code="removed-in-use",
        severity="error",
        place=_place(users[0], place_of),
        what=f"{obj.identity.title} is removed, and {', '.join(titles[:MAX_USERS])}{more} {still}",
        why=_KINDS[obj.identity.kind][1],
        rule=f"Kubernetes, {obj.identity.kind}",
        fix="keep it until nothing names it, or change what names it together with it",
    )
