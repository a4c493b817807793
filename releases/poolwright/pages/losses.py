"""What losses do, with the units that they change by number."""

from __future__ import annotations

from collections.abc import Mapping

from poolwright.pages.document import FleetLoss, FleetLossChange
from poolwright.receipts.document import LossClass


def build_loss(one: LossClass, units: Mapping[str, int]) -> FleetLoss:
    """A loss class. units: by workload of its cluster the number on its side."""
    return FleetLoss(
        id=one.id,
        thing=one.thing,
        members=len(one.members),
        lost=one.lost,
        unsatisfied=tuple(units[name] for name in one.unsatisfied),
        changes=tuple(
            FleetLossChange(
                unit=units[each.workload],
                verdict=each.after.verdict,
                counts=each.after.counts,
                sentence=each.sentence,
            )
            for each in one.changes
        ),
        shortfall=one.shortfall,
        sentence=one.sentence,
    )
