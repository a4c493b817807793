"""Whether nodes run out of CPU, memory or anything else before their devices do: proven not to, or said where.

On every node whose allocatable is known, the most that pods come to together is bounded by what ties them: each takes
its devices there, and there are so many of each. Where that is no more than the node has, the resource never decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from poolwright.plan.methods.context import Context
from poolwright.plan.methods.guests import Guest, build_mix, list_guests
from poolwright.plan.methods.most import Limit, Mix, Most, find_most
from poolwright.plan.verdict import NodeTotal, ResourceBound

Key = tuple[int, int]  # a workload, and one of its pods


@dataclass(frozen=True, slots=True)
class Tight:
    """A node that may have too little left for a pod although it has devices for it."""

    lacks: tuple[tuple[str, NodeTotal], ...]  # of what; by name
    fewest: int = 0  # of the same pods are there whenever it has too little for the next one, but not too few devices
    most: int | None = None  # of the same pods that its devices serve, however many there are; None: not bounded


@dataclass(frozen=True, slots=True)
class Discharge:
    """What is proven of nodes."""

    resources: tuple[ResourceBound, ...] = ()  # that some pod asks for, by name
    # By pod, the nodes that may have too little left for it, and of what; other nodes never do.
    tight: Mapping[Key, Mapping[str, Tight]] = field(default_factory=dict)


def discharge(context: Context) -> Discharge:
    """Bound every resource on every node.

    Cost: nothing where no allocatable is known; else the devices of each node for each workload, and one small search
          for each mix of pods and resource that differs.
    """
    guests = list_guests(context)
    asked = sorted({resource for guest in guests for resource in guest.requests})
    book = _Book(context, guests)
    if context.acceptance.supply.is_known:
        for node in context.acceptance.nodes:
            book.note(node.name)
    return Discharge(tuple(book.sum_up(resource) for resource in asked), book.tight)


class _Book:
    """Totals as they are found."""

    def __init__(self, context: Context, guests: Sequence[Guest]) -> None:
        self.tight: dict[Key, dict[str, Tight]] = {}
        self._context, self._guests = context, guests
        self._supply = context.acceptance.supply
        self._nodes = {node.name: node for node in context.acceptance.nodes}
        self._totals: dict[str, list[NodeTotal]] = {}  # by resource
        self._known: dict[tuple[Mix, tuple[int, ...]], Most] = {}

    def note(self, node: str) -> None:
        """Bound what pods come to on a node."""
        there = [guest for guest in self._guests if node in guest.nodes]
        needs = sorted({resource for guest in there for resource in guest.requests})
        amounts = {one: amount for one in needs if (amount := self._supply.find(node, one)) is not None}
        if not amounts:
            return
        mix = build_mix(self._context, there, self._nodes[node])
        short = []
        for resource, amount in amounts.items():
            values = _list_values(there, resource)
            found = self._find(mix, values)
            total = NodeTotal(node=node, most=found.total, there=amount, pods=_name(there, values, found))
            self._totals.setdefault(resource, []).append(total)
            short += [] if total.is_enough else [(resource, total)]
        for at, guest in enumerate(there if short else ()):
            tight = self._find_tight(there, mix, at, short)
            if guest.workload is not None and tight is not None:
                self.tight.setdefault((guest.workload, guest.pod), {})[node] = tight

    def _find_tight(
        self, there: Sequence[Guest], mix: Mix, at: int, short: Sequence[tuple[str, NodeTotal]]
    ) -> Tight | None:
        """Whom a node may have too little for: with so many of its pods there, others can fill it too much.

        None: of nothing that it asks for.
        """
        lacks, fewest = [], mix.caps[at]
        for resource, total in short:
            values = _list_values(there, resource)
            counts = (
                count
                for count in range(1, mix.caps[at] + 1)
                if values[at] and count * values[at] + self._find(_put(mix, at, count), values).total > total.there
            )
            first = next(counts, None)
            if first is not None:
                lacks.append((resource, total))
                fewest = min(fewest, first - 1)
        return Tight(tuple(lacks), fewest, self._count_served(there[at], short[0][1].node)) if lacks else None

    def _count_served(self, guest: Guest, node: str) -> int | None:
        """As many as its devices serve, each of which takes one for itself at least."""
        devices = len(guest.shape.on_node.get(node, ())) if guest.shape is not None else 0
        many = replace(guest, count=devices + 1, per_node=devices + 1)
        served = build_mix(self._context, [many], self._nodes[node]).caps[0]
        return served if served <= devices else None

    def sum_up(self, resource: str) -> ResourceBound:
        """What was found of a resource."""
        totals = self._totals.get(resource, [])
        nodes = {node for guest in self._guests if resource in guest.requests for node in guest.nodes}
        return ResourceBound(
            resource=resource,
            known=len(totals),
            unknown=len(nodes) - len(totals),
            fullest=min(totals, key=lambda one: (-_measure(one), one.node), default=None),
            short=tuple(one for one in totals if not one.is_enough),
        )

    def _find(self, mix: Mix, values: tuple[int, ...]) -> Most:
        key = mix, values
        if key not in self._known:
            self._known[key] = find_most(mix, values)
        return self._known[key]


def _list_values(there: Sequence[Guest], resource: str) -> tuple[int, ...]:
    return tuple(guest.requests.get(resource, 0) for guest in there)


def _put(mix: Mix, at: int, count: int) -> Mix:
    """What may be there beside so many pods of a kind and no more of it."""
    caps = tuple(0 if kind == at else cap for kind, cap in enumerate(mix.caps))
    return Mix(caps, tuple(Limit(one.weights, max(0, one.total - count * one.weights[at])) for one in mix.limits))


def _measure(total: NodeTotal) -> Fraction:
    """How full a node can be; one that has nothing is fuller than any other."""
    return Fraction(total.most, total.there) if total.there > 0 else Fraction(total.most + 1) * (1 << 80)


def _name(there: Sequence[Guest], values: Sequence[int], found: Most) -> tuple[tuple[str, int], ...]:
    return tuple(_sum_counts(there, values, found.counts)) if found.counts is not None else ()


def _sum_counts(there: Sequence[Guest], values: Sequence[int], counts: Sequence[int]) -> Iterator[tuple[str, int]]:
    """By workload, in the demand's order."""
    totals: dict[str, int] = {}
    for guest, value, count in zip(there, values, counts, strict=True):
        if value and count:
            totals[guest.title] = totals.get(guest.title, 0) + count
    yield from totals.items()
