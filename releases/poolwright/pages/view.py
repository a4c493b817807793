"""A cluster as it is shown: what a plan says of it, who has which device, and what each loss does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from poolwright.objects.kubernetes import Object
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.slots import Packed
from poolwright.receipts.losses import LossBook
from poolwright.receipts.units import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterView:
    """One cluster, judged; nothing of it is judged again."""

    answer: ClusterAnswer  # of a cluster that starts empty
    packed: Packed  # of its demand
    losses: LossBook = field(default_factory=LossBook)  # of its demand; an empty one: losses weren't judged
    units: Mapping[str, Unit] = field(default_factory=dict)  # placements by the title of their workload
    objects: Mapping[str, tuple[Object, ...]] = field(default_factory=dict)  # finished, by unit

    @property
    def name(self) -> str:
        """The cluster."""
        return self.answer.cluster.name
