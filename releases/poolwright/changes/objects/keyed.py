"""Two versions of an object in one form to compare: lists are maps by their items' keys, leaves are JSON text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from poolwright.changes.objects.exact import exact_json
from poolwright.changes.objects.item_step import ORDER, Step, field_step
from poolwright.changes.objects.match_items import MISSING, Match, match_items


class Leaf(str):
    """A value that isn't looked into, as exact JSON text; `value` is what it was made from."""

    __slots__ = ("value",)

    value: Any


class Node(dict[Step, "Node | Leaf"]):
    """A map by its keys, or a list by its items' keys."""

    __slots__ = ()


class Keyed(NamedTuple):
    """Both sides without what is equal in them."""

    before: Node | Leaf
    after: Node | Leaf


_EQUAL: Final = Keyed(Node(), Node())


def build_keyed(before: Any, after: Any, *, every_order: bool) -> Keyed:
    """Both sides of a concealed object.

    every_order: whether the order of lists that are sets counts too, as it does for who compares bytes.
    """
    return _build(before, after, "", every_order)


def _build(before: Any, after: Any, name: str, every_order: bool) -> Keyed:
    if isinstance(before, dict) and isinstance(after, dict):
        keys = dict.fromkeys((*before, *after))
        matches = [Match(field_step(key), before.get(key, MISSING), after.get(key, MISSING)) for key in keys]
        return _build_nodes(matches, every_order)
    if isinstance(before, list) and isinstance(after, list):
        found = match_items(name, before, after, every_order=every_order)
        return _build_nodes(found.matches, every_order, found.orders)
    return _build_leaves(before, after)


def _build_leaves(before: Any, after: Any) -> Keyed:
    if type(before) is type(after) and isinstance(before, str | int) and before == after:
        return _EQUAL
    one, other = _leaf(before), _leaf(after)
    return _EQUAL if one == other else Keyed(one, other)


def _build_nodes(
    matches: Sequence[Match], every_order: bool, orders: tuple[Sequence[str | int], Sequence[str | int]] | None = None
) -> Keyed:
    before, after = Node(), Node()
    for step, old, new, is_guess in matches:
        if old is MISSING:
            after[step] = _leaf(new)
        elif new is MISSING:
            before[step] = _leaf(old)
        elif old is not new:
            found = _build_leaves(old, new) if is_guess else _build(old, new, step.text, every_order)
            if found is not _EQUAL:
                before[step], after[step] = found
    if orders is not None:
        before[ORDER], after[ORDER] = (_leaf(list(labels)) for labels in orders)
    return Keyed(before, after) if before or after else _EQUAL


def _leaf(value: Any) -> Leaf:
    leaf = Leaf(exact_json(value))
    leaf.value = value
    return leaf
