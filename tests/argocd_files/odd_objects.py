"""The objects of the health scripts' cases, and each again with one value that doesn't belong there."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from health_cases import CASES

Json = Any

# What may stand anywhere in an object instead of what belongs there.
ODD: tuple[Json, ...] = (None, True, False, 0, -1, 2.5, 10**30, "", "False", [], {}, [None], [[]], [{}], {"1": {}})


def list_odd_objects() -> Iterator[tuple[str, Json]]:
    """Every case, and each again with one value of its status or metadata replaced by an odd one; with its kind."""
    for kind, cases in CASES.items():
        for obj, _ in cases.values():
            yield kind, obj
            for number, path in enumerate(_list_paths(obj, ())):
                if path[0] in ("status", "metadata"):
                    for odd in (ODD[number % len(ODD)], ODD[(7 * number + 5) % len(ODD)]):
                        yield kind, _replace(obj, path, odd)


def _list_paths(value: Json, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in steps:
        yield from _list_paths(below, (*path, step))


def _replace(obj: Json, path: tuple[Any, ...], odd: Json) -> Json:
    changed = copy.deepcopy(obj)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = odd
    return changed
