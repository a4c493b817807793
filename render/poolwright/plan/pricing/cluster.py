"""A cluster with what its placements cost and take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory
from poolwright.plan.cluster import DeviceKinds, build_device_kinds
from poolwright.plan.pricing.market import Market
from poolwright.plan.pricing.priced import PricedClass, price_placements
from poolwright.plan.pricing.takers import Room, Taker, list_takers
from poolwright.specs.parse import Specs
from poolwright.specs.resolve import ResolvedCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedCluster:
    """What there is, who takes it, and what each placement costs on each of its classes."""

    kinds: DeviceKinds
    market: Market  # of the kinds
    takers: tuple[Taker, ...]
    prices: tuple[PricedClass, ...]

    @property
    def room(self) -> Room:
        """What is left for whom."""
        return Room(self.takers, self.kinds, self.market)


def price_cluster(
    specs: Specs, on: ResolvedCluster, inventory: Inventory | None, files: Mapping[str, bytes], facts: Facts
) -> PricedCluster:
    """The placements on a cluster's pools, priced on the devices that are captured and planned.

    specs: of a whole project, whose references all lead somewhere and whose planned nodes are sound.
    files: those that envelopes name, by path; check_model_files finds nothing wrong with them.
    """
    kinds = build_device_kinds(specs, on, inventory, facts)
    market = Market(kinds.slices, kinds.features)
    return PricedCluster(
        kinds=kinds,
        market=market,
        takers=list_takers(specs, on.cluster.name, kinds, market),
        prices=price_placements(specs, on.cluster.name, market, files, facts),
    )
