"""A cluster of a project with everything that its plan is made from."""

from __future__ import annotations

from dataclasses import dataclass

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.server_rules import drop_refused
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.catalog.inventory import Inventory
from poolwright.cli.built_objects import read_built_objects
from poolwright.cli.load import LoadedProject
from poolwright.plan.cluster import ClusterPlan, build_cluster_plan
from poolwright.plan.demand import Demand
from poolwright.plan.from_objects import build_demand
from poolwright.plan.what_if.additions import Target
from poolwright.plan.what_if.gates import Rollback, roll_back
from poolwright.specs.finding import SpecError
from poolwright.specs.resolve import ResolvedCluster, resolve_cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCase:
    """A cluster, as its specs have it."""

    loaded: LoadedProject
    on: ResolvedCluster
    inventory: Inventory | None
    cluster: ClusterPlan
    built: ClusterObjects  # as they are applied
    objects: ClusterObjects  # as its API server stores them
    demand: Demand

    def list_targets(self) -> list[Target]:
        """What more replicas can be asked of."""
        return [
            Target(cluster=self.cluster.name, title=one.title, envelope=self.cluster.envelopes.get(one.title, ""))
            for one in self.demand.workloads
            if not one.is_reservation and not one.is_per_node
        ]

    def roll_back(self) -> tuple[Rollback, Demand]:
        """The cluster without its alpha gates, and its demand then; what its server refuses then isn't there."""
        rollback = roll_back(self.on, self.cluster.minor, self.inventory, self.loaded.facts)
        cluster = build_cluster_plan(self.loaded.specs, rollback.on, rollback.inventory, self.loaded.facts)
        stripped, _ = strip_gated(self.built, cluster.gates)
        objects, refused, _ = drop_refused(stripped, minor=cluster.minor)
        demand = build_demand(
            objects,
            cluster.features,
            nodes=cluster.nodes,
            slices=cluster.slices,
            peaks=cluster.peaks,
            reservations=cluster.reservations,
            refused=refused,
        )
        return rollback, demand


def build_case(loaded: LoadedProject, name: str, inventory: Inventory | None) -> PlanCase:
    """The case of a cluster.

    Raises: SpecError with every object that its API server refuses.
    """
    on = resolve_cluster(loaded.specs, name)[0]
    if on is None:
        raise AssertionError(f"{name}: load_project says so")
    cluster = build_cluster_plan(loaded.specs, on, inventory, loaded.facts)
    units = [
        one for one in loaded.closures if isinstance(one, UnitClosure | PlatformClosure) and one.on.cluster == name
    ]
    built = read_built_objects(units, loaded.customs)
    stripped, _ = strip_gated(built, cluster.gates)
    objects, _, found = drop_refused(stripped, minor=cluster.minor)
    errors = [one for one in found if one.severity == "error"]
    if errors:
        raise SpecError(errors)
    demand = build_demand(
        objects,
        cluster.features,
        nodes=cluster.nodes,
        slices=cluster.slices,
        peaks=cluster.peaks,
        reservations=cluster.reservations,
    )
    return PlanCase(
        loaded=loaded, on=on, inventory=inventory, cluster=cluster, built=built, objects=objects, demand=demand
    )
