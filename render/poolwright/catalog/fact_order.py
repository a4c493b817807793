"""Where rows that are added to a table stand: among those of their kind, in the order that these have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from poolwright.catalog.facts import Fact
from poolwright.catalog.tables.driver_release import release_key
from poolwright.catalog.tables.keys import Key, row_key, say_key
from poolwright.specs.version import parse_version

F = TypeVar("F", bound=Fact)
_Order = tuple[int, tuple[object, ...]]


def place_rows(table: str, shipped: Sequence[F], added: Sequence[F]) -> tuple[tuple[F, ...], tuple[int | None, ...]]:
    """The rows of a table with others, and of each its index among the shipped ones (None: it is added).

    Rows of a kind agree in all of their key but its last field. Where those that ship come newest first, so do all.
    The answer doesn't depend on the order of the added ones.
    """
    kinds: dict[Key, list[int]] = {}
    for index, fact in enumerate(shipped):
        kinds.setdefault(row_key(table, fact)[:-1], []).append(index)
    wanted = {row_key(table, fact)[:-1] for fact in added}
    orders = {kind: [(_order(table, shipped[at]), at) for at in kinds[kind]] for kind in wanted if kind in kinds}
    before: dict[int, list[F]] = {}
    for fact in sorted(added, key=lambda fact: (say_key(row_key(table, fact)[:-1]), _order(table, fact))):
        same = orders.get(row_key(table, fact)[:-1], [])
        place = _find_place(_order(table, fact), same) if same else len(shipped)
        before.setdefault(place, []).append(fact)
    rows: list[F] = []
    places: list[int | None] = []
    for index in range(len(shipped) + 1):
        new = before.get(index, [])
        rows += new
        places += [None] * len(new)
        if index < len(shipped):
            rows.append(shipped[index])
            places.append(index)
    return tuple(rows), tuple(places)


def _find_place(wanted: _Order, same: Sequence[tuple[_Order, int]]) -> int:
    """The index of the shipped row that an added one stands in front of, among rows of its kind with theirs."""
    is_falling = same[0][0] > same[-1][0]
    later = (index for at, index in same if (at < wanted if is_falling else at > wanted))
    return next(later, same[-1][1] + 1)


def _order(table: str, fact: Fact) -> _Order:
    """Versions by their order, in front of all other texts."""
    last = row_key(table, fact)[-1]
    text = say_key((last,))
    try:
        of_driver = table in ("driver-releases", "nvidia-gate-releases")
        return (0, release_key(text) if of_driver else parse_version(text).key)
    except ValueError:
        return (1, (text,))
