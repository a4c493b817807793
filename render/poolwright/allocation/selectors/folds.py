"""Comprehensions: what all(), exists(), map(), filter(), cel.bind() and their like expand to.

Source: cel-go v0.29 interpreter/interpretable.go.
"""

from __future__ import annotations

from collections.abc import Iterable

from poolwright.allocation.selectors.attributes import Frame, Run
from poolwright.allocation.selectors.values import (
    LISTS,
    MISSING,
    CelMap,
    Failure,
    SharedList,
    Value,
    type_name,
)


def build_fold(*, slot: int, has_two: bool, values: Run, condition: Run, step: Run, result: Run) -> Run:
    """A fold over a list or map, itself free of charge.

    slot:    the accumulator's; the iteration's variable has the next one, and a second variable the one after.
    has_two: there is a second variable: index and value, or key and value.
    """

    def run(frame: Frame) -> Value:
        found = values(frame)
        if isinstance(found, Failure):
            return found
        pairs = _find_pairs(found, has_two)
        if isinstance(pairs, Failure):
            return pairs
        slots = frame.slots
        slots[slot] = MISSING  # not worked out yet
        for slots[slot + 1], slots[slot + 2] in pairs:
            if condition(frame) is False:
                break
            slots[slot] = step(frame)
        return _own(result(frame))

    return run


def _find_pairs(found: Value, has_two: bool) -> Iterable[tuple[Value, Value]] | Failure:
    if isinstance(found, LISTS):
        return list(enumerate(found)) if has_two else [(value, None) for value in found]
    if isinstance(found, CelMap):
        return found.pairs()
    return Failure(f"got '{type_name(found)}', expected iterable type")


def _own(value: Value) -> Value:
    """The result as a value that nobody adds to any more."""
    if isinstance(value, SharedList):
        return tuple(value)
    if type(value) is CelMap and value.is_shared:
        return CelMap(value.pairs())
    return value
