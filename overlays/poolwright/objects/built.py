"""A finished object together with where each of its fields comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from poolwright.objects.kubernetes import Object
from poolwright.specs.place import Place


@dataclass(frozen=True, kw_only=True)
class Built:
    """A finished object; its origins are found when they are first asked for."""

    document: Object
    find_origins: Callable[[], Mapping[str, Sequence[Place]]]

    @cached_property
    def origins(self) -> Mapping[str, Sequence[Place]]:
        """The places in specs that each field follows from, by JSON pointer (RFC 6901) to a leaf.

        A pointer without places kept its value whichever one spec value was changed to those that are tried: the
        renderer writes it, or values that say the same hide each other.
        """
        return self.find_origins()


def list_leaves(document: Any) -> dict[str, Any]:
    """Every leaf of an object, or of a part of one, by JSON pointer, in document order with keys sorted.

    Empty maps and lists are leaves.
    """
    leaves: dict[str, Any] = {}

    def walk(value: Any, pointer: str) -> None:
        if isinstance(value, dict) and value:
            for key in sorted(value):
                walk(value[key], f"{pointer}/{_escape(key)}")
        elif isinstance(value, list) and value:
            for index, item in enumerate(value):
                walk(item, f"{pointer}/{index}")
        else:
            leaves[pointer] = value

    walk(document, "")
    return leaves


def list_changes(before: Object, after: Object) -> Iterator[str]:
    """The leaves of `before`, as pointers into it, that are gone or have another value in `after`.

    Items of a list are told by what they hold, not by where they stand: one that only moves has not changed.
    """

    def walk(old: Any, new: Any, pointer: str) -> Iterator[str]:
        if old == new:
            return
        if isinstance(old, dict) and isinstance(new, dict) and old:
            for key, item in old.items():
                yield from walk(item, new.get(key, _GONE), f"{pointer}/{_escape(key)}")
        elif isinstance(old, list) and isinstance(new, list) and old:
            for index, (item, partner) in enumerate(zip(old, _pair_items(old, new), strict=True)):
                yield from walk(item, partner, f"{pointer}/{index}")
        else:
            yield from (f"{pointer}{below}" for below in list_leaves(old))

    return walk(before, after, "")


_GONE: Final = object()  # stands for what isn't there: equal to nothing


def _pair_items(old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    """For each old item the new one it is: an equal one, or else the next that equals none."""
    rest = list(new)
    equal = []
    for item in old:
        equal.append(item in rest)
        if equal[-1]:
            rest.remove(item)
    others = iter(rest)
    return [item if is_equal else next(others, _GONE) for item, is_equal in zip(old, equal, strict=True)]


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
