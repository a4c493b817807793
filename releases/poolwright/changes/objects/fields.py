"""Which fields of an object differ: items of lists by their keys, secrets hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from poolwright.changes.objects.exact import shorten, shown_json
from poolwright.changes.objects.item_step import Step, render_path
from poolwright.changes.objects.keyed import Keyed, Leaf, build_keyed
from poolwright.changes.objects.secrets import SECRET_KEYS, Concealed, conceal, is_secret
from poolwright.changes.report import FieldChange
from poolwright.objects.kubernetes import Object
from poolwright.specs.finding import escape_controls


def list_field_changes(before: Object, after: Object, *, every_order: bool = False) -> tuple[FieldChange, ...]:
    """What differs between two versions of one object, fields sorted; empty if they mean the same.

    A map or list that is on one side only is one change. A list whose order changed is one more,
    `containers[name=engine].env (order)`, with the keys of what is on both sides; that of tolerations and other sets
    means nothing.

    every_order: whether the order of sets counts too, as it does for the pods of a template.
    Cost:        linear in the objects' JSON; about a millisecond where they differ, and DeepDiff is imported then.
    """
    one, other = (conceal(side) for side in _complete(before, after))
    keyed = build_keyed(one, other, every_order=every_order)
    return tuple(_build(*found) for found in sorted(_find(keyed), key=lambda found: found[0]))


def list_changed_paths(before: Object, after: Object, *, every_order: bool = False) -> tuple[str, ...]:
    """The paths alone."""
    return tuple(change.path for change in list_field_changes(before, after, every_order=every_order))


def _complete(before: Object, after: Object) -> tuple[Object, Object]:
    """A Secret whose data are on one side only has empty ones on the other: which keys it has is told one by one."""
    if not (is_secret(before) and is_secret(after)):
        return before, after
    keys = [
        key
        for key in SECRET_KEYS
        if (key in before) != (key in after) and (part := before.get(key, after.get(key))) and isinstance(part, dict)
    ]
    empty: Object = {key: {} for key in keys}
    return {**empty, **before}, {**empty, **after}


def _find(keyed: Keyed) -> Iterator[tuple[tuple[Step, ...], Leaf | None, Leaf | None]]:
    """The steps to each difference, and both of its sides; None where it isn't there."""
    if not keyed.before and not keyed.after:
        return
    from deepdiff import DeepDiff  # here: its import takes longer than most comparisons
    from deepdiff.helper import NotPresent

    # By default it leaves out keys with two underscores, and says of maps with few common keys only that they differ.
    tree = DeepDiff(keyed.before, keyed.after, view="tree", threshold_to_diff_deeper=0, ignore_private_variables=False)
    for levels in tree.values():
        for level in levels:
            before, after = (None if isinstance(side, NotPresent) else side for side in (level.t1, level.t2))
            yield tuple(level.path(output_format="list")), before, after


def _build(steps: Sequence[Step], before: Leaf | None, after: Leaf | None) -> FieldChange:
    texts = [None if side is None else shown_json(side.value) for side in (before, after)]
    values = [side.value for side in (before, after) if side is not None]
    is_whole = any(isinstance(value, Concealed) and value.shown is None for value in values)
    is_hidden = is_whole or texts[0] == texts[1]  # all that differs is hidden
    one, other = (None, None) if is_hidden else shorten(texts[0], texts[1])
    return FieldChange(
        path=escape_controls(render_path(steps)),
        before=one,
        after=other,
        change="added" if before is None else "removed" if after is None else "changed",
        is_hidden=is_hidden,
    )
