"""Which finished objects are added, changed and removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from poolwright.changes.objects.exact import clean, shown_json
from poolwright.changes.objects.fields import list_field_changes
from poolwright.changes.objects.pairs import Pair, UnitObject
from poolwright.changes.report import FieldChange, ObjectChange

Change = Literal["added", "removed", "changed"]
UNIT_FIELD: Final = "(unit)"  # no field of an object: which unit's Application applies it


def list_object_changes(cluster: str, pairs: Iterable[Pair]) -> tuple[ObjectChange, ...]:
    """What becomes of the objects of a cluster, sorted by unit, kind, namespace and name.

    A claim template under a new hash is one changed object: its new name, `metadata.name` and what the claim asks for
    otherwise; the old one is pruned when the new pods are healthy. An object that only another unit applies now has
    the one field `(unit)`. One in which nothing but an order that means nothing differs isn't listed.

    pairs: of `pair_objects`.
    """
    changes = [change for pair in pairs for change in _list(cluster, pair)]
    return tuple(sorted(changes, key=_sort_key))


def _sort_key(change: ObjectChange) -> tuple[str, ...]:
    return change.unit, change.kind, change.namespace, change.name, change.api_version, change.change


def _list(cluster: str, pair: Pair) -> Iterator[ObjectChange]:
    if pair.after is None:
        yield _build(cluster, pair.last, "removed")
    elif pair.before is None:
        yield _build(cluster, pair.last, "added")
    elif fields := _list_fields(pair, pair.before, pair.after):
        yield _build(cluster, pair.last, "changed", fields)


def _list_fields(pair: Pair, before: UnitObject, after: UnitObject) -> tuple[FieldChange, ...]:
    fields = () if pair.is_equal else list_field_changes(before.value, after.value)
    if before.unit == after.unit:
        return fields
    moved = FieldChange(
        path=UNIT_FIELD,
        before=shown_json(before.unit),
        after=shown_json(after.unit),
        change="changed",
        is_hidden=False,
    )
    return (moved, *fields)


def _build(cluster: str, obj: UnitObject, change: Change, fields: tuple[FieldChange, ...] = ()) -> ObjectChange:
    identity = obj.identity
    return ObjectChange(
        cluster=cluster,
        unit=clean(obj.unit),
        change=change,
        api_version=clean(str(obj.value.get("apiVersion", ""))),
        kind=clean(identity.kind),
        namespace=clean(identity.namespace),
        name=clean(identity.name),
        fields=fields,
    )
