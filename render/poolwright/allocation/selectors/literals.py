"""List and map literals.

Source: cel-go v0.29 interpreter/interpretable.go; one made of constants alone is built once, free of charge.
"""

from __future__ import annotations

from poolwright.allocation.selectors.attributes import Frame, Run
from poolwright.allocation.selectors.costs import LIST_COST, MAP_COST
from poolwright.allocation.selectors.planned import Planned
from poolwright.allocation.selectors.values import CelMap, EvaluationAbortedError, Failure, Optional, Value


def build_list(elements: list[Planned], optional: frozenset[int]) -> Planned:
    """A list literal; at the optional places, an element that is none is left out."""
    runs = [(element.run, at in optional) for at, element in enumerate(elements)]

    def build(frame: Frame) -> Value:
        values = []
        for run, is_optional in runs:
            value = run(frame)
            if isinstance(value, Failure):
                return value
            if is_optional:
                if not isinstance(value, Optional):
                    return Failure("cannot initialize optional list element from non-optional value")
                if not value.has_value:
                    continue
                value = value.value
            values.append(value)
        return tuple(values)

    return _finish(build, LIST_COST, elements)


def build_map(entries: list[tuple[Planned, Planned, bool]]) -> Planned:
    """A map literal; of equal keys the last one counts."""
    runs = [(key.run, value.run, is_optional) for key, value, is_optional in entries]

    def build(frame: Frame) -> Value:
        result = CelMap()
        for run_key, run_value, is_optional in runs:
            key = run_key(frame)
            if isinstance(key, Failure):
                return key
            value = run_value(frame)
            if isinstance(value, Failure):
                return value
            if is_optional:
                if not isinstance(value, Optional):
                    return Failure("cannot initialize optional entry from non-optional value")
                if not value.has_value:
                    result.remove(key)
                    continue
                value = value.value
            result.insert(key, value)
        return result

    return _finish(build, MAP_COST, [part for key, value, _ in entries for part in (key, value)])


def _finish(build: Run, cost: int, parts: list[Planned]) -> Planned:
    def run(frame: Frame) -> Value:
        value = build(frame)
        frame.spend(cost)
        return value

    if all(part.is_constant for part in parts):
        try:
            return Planned.of_constant(build(None))
        except EvaluationAbortedError:
            return Planned(run)
    return Planned(run)
