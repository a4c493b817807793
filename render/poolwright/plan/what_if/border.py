"""Where numbers stop to hold: found by doubling and halving."""

from __future__ import annotations

from collections.abc import Callable


def find_last(holds: Callable[[int], bool], low: int, end: int) -> int:
    """The largest number below `end` that holds, if those that do come before those that don't.

    low:     one that is taken to hold, without asking.
    Returns: where they don't come so, a number that holds (or low) whose next one doesn't (or is end).
    Cost:    two questions for each doubling of the distance.
    """
    step, high = 1, end
    while high - low > 1:
        number = low + step if high == end and low + step < end else (low + high) // 2
        if holds(number):
            low, step = number, step * 2
        else:
            high = number
    return low
