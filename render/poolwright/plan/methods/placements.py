"""Which devices the pods of a node's contents have: one way to come to it, device by device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from poolwright.allocation.held import DeviceId
from poolwright.plan.methods.cells import Budget, Cell, Cells, NodeState, NotSearchedError, State
from poolwright.plan.methods.contents import Contents, Counts, Picks

MAX_TRIES: Final = 20_000  # choices of devices for one node


def list_placements(
    contents: Contents, on_node: Sequence[Cell], counts: Counts, blocked: int
) -> list[tuple[int, tuple[DeviceId, ...]]]:
    """The pods of a choice that keeps one more of a group out, by group, each with devices.

    on_node: the node's cells.
    Returns: in the order in which they are placed; without devices where too many choices came to nothing.
    """
    end = next(
        state
        for state, held in contents.reached
        if held == counts and not any(contents.cells.place(state, picks) for picks in contents.room.picks[blocked])
    )
    path = [(-1, end)]
    state, left = end, counts
    while (back := contents.reached[state, left]) is not None:
        group, state = back
        left = (*left[:group], left[group] - 1, *left[group + 1 :])
        path.append((group, state))
    # Each entry names the group that comes after the state.
    forward = path[::-1]
    taken: list[State] = [cell.make.untouched for cell in on_node]
    budget, found = Budget(MAX_TRIES), []
    for (group, _), (_, then) in pairwise(forward):
        chosen = None
        try:
            for picks in contents.room.picks[group]:
                chosen = chosen or _choose(contents.cells, on_node, taken, picks, then, budget)
        except NotSearchedError:
            chosen = None
        if chosen is None:
            return [(one, ()) for one, _ in forward[:-1]]
        found.append((group, _name(on_node, taken, chosen[0])))
        taken = chosen[1]
    return found


# By move the cell and the sorts that it takes of it; and what is taken of every cell afterwards.
_Chosen = tuple[list[tuple[int, tuple[int, ...]]], list[State]]


def _choose(
    cells: Cells, on_node: Sequence[Cell], taken: list[State], picks: Picks, then: NodeState, budget: Budget
) -> _Chosen | None:
    """Devices for one pod that leave the node as it is meant to be."""
    if not picks:
        left = (cells.behave(cell.make, state) for cell, state in zip(on_node, taken, strict=True))
        return ([], taken) if tuple(sorted(one for one in left if one)) == then else None
    for at, sorts, state in _list_moves(cells, on_node, taken, picks[0]):
        budget.spend()
        rest = _choose(cells, on_node, [*taken[:at], state, *taken[at + 1 :]], picks[1:], then, budget)
        if rest is not None:
            return [(at, sorts), *rest[0]], rest[1]
    return None


def _list_moves(
    cells: Cells, on_node: Sequence[Cell], taken: Sequence[State], bundle: int
) -> Iterator[tuple[int, tuple[int, ...], State]]:
    """Ways to take a bundle of a node's cells; of cells that are as good as each other only of the first."""
    seen = set()
    for at, (cell, state) in enumerate(zip(on_node, taken, strict=True)):
        if (cell.make, state) not in seen:
            seen.add((cell.make, state))
            for number, sorts, then in cells.list_moves(cell.make, state):
                if number == bundle:
                    yield at, sorts, then


def _name(
    on_node: Sequence[Cell], taken: Sequence[State], moves: Sequence[tuple[int, tuple[int, ...]]]
) -> tuple[DeviceId, ...]:
    """The devices of moves: of each sort the next ones."""
    used = [list(state) for state in taken]
    devices = []
    for at, sorts in moves:
        for sort in sorts:
            devices.append(on_node[at].devices[sort][used[at][sort]])
            used[at][sort] += not on_node[at].make.sorts[sort][0].is_shared
    return tuple(sorted(devices))
