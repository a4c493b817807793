"""What the page of a fleet is made from: each cluster packed, and its losses judged, once."""

from __future__ import annotations

from collections.abc import Mapping

from poolwright.objects.kubernetes import Object
from poolwright.pages.document import StackPins
from poolwright.pages.view import ClusterView
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.slots import pack_slots
from poolwright.receipts.losses import ALL_THINGS, LossBook, judge_book
from poolwright.receipts.pins import list_pins
from poolwright.receipts.units import list_units
from poolwright.specs.lock import Lock
from poolwright.specs.parse import Specs
from poolwright.specs.resolve import resolve_cluster


def build_view(
    answer: ClusterAnswer,
    specs: Specs,
    objects: Mapping[str, tuple[Object, ...]],
    *,
    losses: bool = True,
    counts: bool = False,
) -> ClusterView:
    """A cluster that starts empty, as it is shown.

    losses: whether they are judged.
    counts: whether slots say what each request could choose from, for receipts.
    """
    demand, name = answer.demand, answer.cluster.name
    return ClusterView(
        answer=answer,
        packed=pack_slots(demand, name, counts=counts),
        losses=judge_book(demand, answer.judgement, things=ALL_THINGS) if losses else LossBook(),
        units=list_units(specs, name),
        objects=objects,
    )


def list_stack_pins(specs: Specs, lock: Lock | None) -> tuple[StackPins, ...]:
    """What the lock pins, by stack."""
    clusters: dict[str, list[str]] = {}
    for one in specs.project.value.spec.clusters:
        on = resolve_cluster(specs, one.name)[0]
        if on is not None:
            clusters.setdefault(on.stack.value.identity, []).append(one.name)
    return tuple(
        StackPins(stack=stack, clusters=tuple(clusters[stack]), pins=list_pins(lock, stack))
        for stack in sorted(clusters)
    )
