"""What a node may hold: every choice of pods that goes on it together, each group of equal pods counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from poolwright.plan.methods.cells import Budget, Cells, NodeState

Counts = tuple[int, ...]  # pods by group
Picks = tuple[int, ...]  # bundles that a pod takes, by number, sorted


@dataclass(frozen=True, slots=True)
class Room:
    """A node as far as searches look at it; equal ones are as good as each other."""

    start: NodeState
    picks: tuple[tuple[Picks, ...], ...]  # by group the alternatives of its pods; none: the node isn't open to them


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything that a node may hold."""

    # By what it may still give and what it holds: the group that came last and what it was before.
    reached: Mapping[tuple[NodeState, Counts], tuple[int, NodeState] | None]
    cells: Cells
    room: Room

    def list_blocking(self, group: int, budget: Budget) -> tuple[Counts, ...]:
        """The smallest choices of pods that keep one more of a group out. Raises: NotSearchedError."""
        blocked = {
            counts
            for state, counts in self.reached
            if not any(self.cells.place(state, picks) for picks in self.room.picks[group])
        }
        return keep_least(blocked, budget)

    def list_full(self, budget: Budget) -> tuple[Counts, ...]:
        """The largest choices of pods. Raises: NotSearchedError."""
        return keep_most({counts for _, counts in self.reached}, budget)

    def count_most(self) -> int:
        """The most pods of all groups together."""
        return max(sum(counts) for _, counts in self.reached)


def list_contents(cells: Cells, room: Room, most: Counts, budget: Budget) -> Contents:
    """What a node may hold.

    most: of each group there are so many pods.
    Raises: NotSearchedError when there is more than the budget has.
    """
    start = room.start, (0,) * len(most)
    reached: dict[tuple[NodeState, Counts], tuple[int, NodeState] | None] = {start: None}
    for group, alternatives in enumerate(room.picks):
        todo = list(reached) if alternatives else []
        while todo:
            state, counts = todo.pop()
            if counts[group] >= most[group]:
                continue
            then_counts = (*counts[:group], counts[group] + 1, *counts[group + 1 :])
            for then in sorted({one for picks in alternatives for one in cells.place(state, picks)}):
                key = then, then_counts
                if key not in reached:
                    budget.spend()
                    reached[key] = group, state
                    todo.append(key)
    return Contents(reached, cells, room)


def keep_least(choices: Iterable[Counts], budget: Budget) -> tuple[Counts, ...]:
    """Those that no other one is below, in order.

    Raises: NotSearchedError when that takes more comparisons than the budget has.
    """
    kept: list[Counts] = []
    for one in sorted(choices, key=lambda counts: (sum(counts), counts)):
        budget.spend(len(kept))
        if not any(all(map(int.__le__, other, one)) for other in kept):
            kept.append(one)
    return tuple(kept)


def keep_most(choices: Iterable[Counts], budget: Budget) -> tuple[Counts, ...]:
    """Those that no other one is above. Raises: NotSearchedError."""
    negated = keep_least({tuple(-count for count in counts) for counts in choices}, budget)
    return tuple(tuple(-count for count in counts) for counts in negated)
