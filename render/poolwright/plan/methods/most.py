"""The most that pods can ask of a node together, where limits tie how many of each kind are there at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

MAX_STEPS: Final = 2_000  # counts of kinds that a search tries


@dataclass(frozen=True, slots=True)
class Limit:
    """So much there is of something, of which each pod of a kind takes so much at least."""

    weights: tuple[int, ...]  # by kind
    total: int


@dataclass(frozen=True, slots=True)
class Mix:
    """Kinds of pods that may be on a node at once."""

    caps: tuple[int, ...]  # by kind, how many of it at most
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True)
class Most:
    """No mix comes to more than the total."""

    total: int
    counts: tuple[int, ...] | None  # by kind, pods that come to it; None: the total is a bound, and may be too high


def find_most(mix: Mix, values: Sequence[int]) -> Most:
    """The most that pods come to together.

    values: by kind, what one pod counts for; 0 or more.
    Cost:   bounded by MAX_STEPS, after which the bound of a relaxation is given.
    """
    groups = _group(mix, values)
    search = _Search(
        [groups[key][0][1] for key in groups],
        [sum(cap for cap, _, _ in groups[key]) for key in groups],
        [[limit.weights[groups[key][0][2]] for key in groups] for limit in mix.limits],
    )
    best, counts = search.run([limit.total for limit in mix.limits])
    if counts is None:
        return Most(best, None)
    found = [0] * len(values)
    for key, count in zip(groups, counts, strict=True):
        rest = count
        for cap, _, kind in groups[key]:
            found[kind] = min(cap, rest)
            rest -= found[kind]
    return Most(best, tuple(found))


def _group(mix: Mix, values: Sequence[int]) -> dict[object, list[tuple[int, int, int]]]:
    """Kinds that count and take alike are as good as one: cap, value and number of each, the most valued first."""
    groups: dict[object, list[tuple[int, int, int]]] = {}
    for kind in sorted(range(len(values)), key=lambda kind: -values[kind]):
        if values[kind] and mix.caps[kind]:
            key = values[kind], tuple(limit.weights[kind] for limit in mix.limits)
            groups.setdefault(key, []).append((mix.caps[kind], values[kind], kind))
    return groups


class _Search:
    """Depth first over counts, the most valued kind first, cut off by what a relaxation leaves to be had."""

    def __init__(self, values: list[int], caps: list[int], weights: list[list[int]]) -> None:
        self._values, self._caps, self._weights = values, caps, weights  # weights: by limit and kind
        # By limit, what takes nothing first, then by value for what it takes; exact, because a bound rests on it.
        self._orders = [
            sorted(
                range(len(values)),
                key=lambda kind: (of[kind] > 0, -Fraction(values[kind], of[kind]) if of[kind] else 0),
            )
            for of in weights
        ]
        self._best = -1
        self._counts: list[int] = []
        self._steps = 0

    def run(self, left: list[int]) -> tuple[int, list[int] | None]:
        """The most, and counts that come to it; None: the search was cut short.

        left: by limit.
        """
        bound = self._relax(0, left)
        self._extend(0, 0, left, [])
        return (bound, None) if self._steps > MAX_STEPS and bound > self._best else (self._best, self._counts)

    def _extend(self, kind: int, total: int, left: list[int], counts: list[int]) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            return
        if total > self._best:
            self._best, self._counts = total, counts + [0] * (len(self._values) - kind)
        if kind == len(self._values) or total + self._relax(kind, left) <= self._best:
            return
        taken = [(weights[kind], there) for weights, there in zip(self._weights, left, strict=True)]
        most = min([self._caps[kind], *(there // weight for weight, there in taken if weight)])
        for count in range(most, -1, -1):
            rest = [there - count * weight for weight, there in taken]
            self._extend(kind + 1, total + count * self._values[kind], rest, [*counts, count])

    def _relax(self, first: int, left: list[int]) -> int:
        """What kinds from `first` on come to at most if only one limit holds, and pods could be cut up."""
        bounds = [sum(value * cap for value, cap in zip(self._values[first:], self._caps[first:], strict=True))]
        for weights, order, there in zip(self._weights, self._orders, left, strict=True):
            total, rest = 0, there
            for kind in order:
                if kind < first:
                    continue
                wanted = self._caps[kind] * weights[kind]
                if wanted > rest:
                    total += self._values[kind] * rest // weights[kind]
                    break
                total += self._values[kind] * self._caps[kind]
                rest -= wanted
            bounds.append(total)
        return min(bounds)
