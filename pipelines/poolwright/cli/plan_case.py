"""A cluster of a project with everything that its plan is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.server_rules import drop_refused
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.published import check_devices
from poolwright.cli.built_objects import Workshop
from poolwright.cli.load import LoadedProject, load_project, read_inventories
from poolwright.files.project import find_project
from poolwright.plan.cluster import ClusterPlan, build_cluster_plan
from poolwright.plan.demand import Demand
from poolwright.plan.from_objects import build_demand
from poolwright.plan.pricing.cluster import PricedCluster, price_cluster
from poolwright.plan.what_if.additions import Target
from poolwright.plan.what_if.class_choices import ClassChoice, list_class_choices
from poolwright.plan.what_if.gates import Rollback, roll_back
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place
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

    def list_class_choices(self) -> dict[str, ClassChoice]:
        """Which classes placements may name beside those that they name."""
        return list_class_choices(self.loaded.specs, self.cluster.name, self.loaded.facts)

    def price(self) -> PricedCluster:
        """What placements cost on the devices that the cluster has."""
        return price_cluster(self.loaded.specs, self.on, self.inventory, self.loaded.named_files, self.loaded.facts)

    def roll_back(self) -> tuple[Rollback, Demand]:
        """The cluster without its alpha gates, and its demand then; what its server refuses then isn't there."""
        rollback = roll_back(self.on, self.cluster.minor, self.inventory, self.loaded.facts)
        cluster = build_cluster_plan(
            self.loaded.specs, rollback.on, rollback.inventory, self.loaded.facts, self.loaded.named_files
        )
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
            sources=cluster.sources,
        )
        return rollback, demand


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedForPlan:
    """A project and its clusters' captures, all well-formed."""

    project: LoadedProject
    inventories: Mapping[str, Inventory]  # by cluster

    @property
    def clusters(self) -> tuple[str, ...]:
        """Their names, in the Project's order."""
        return tuple(one.name for one in self.project.specs.project.value.spec.clusters)

    def list_class_choices(self, name: str) -> dict[str, ClassChoice]:
        """Which classes placements of a cluster may name beside those that they name."""
        return list_class_choices(self.project.specs, name, self.project.facts)

    def build_case(self, name: str, workshop: Workshop | None = None) -> PlanCase:
        """The case of a cluster.

        workshop: that builds its units; one of its own if there is none.
        Raises:   SpecError with every object that its API server refuses.
        """
        return _build_case(self.project, name, self.inventories.get(name), workshop or Workshop())


def load_for_plan(folder: str) -> LoadedForPlan:
    """The project that a folder is in.

    Raises: SpecError with everything that is wrong.
    """
    loaded = load_project(find_project(folder))
    inventories = read_inventories(loaded)
    errors = [one for one in check_devices(loaded.specs, inventories, loaded.facts) if one.severity == "error"]
    if errors:
        raise SpecError(errors)
    return LoadedForPlan(project=loaded, inventories=inventories)


def check_nodes(case: PlanCase) -> None:
    """Refuse a capture with devices and without the nodes that they are on; one that runs brings its own.

    Raises: SpecError if it has slices and no Node, unless the slices are of no node and others are planned.
    """
    inventory = case.inventory
    if inventory is None or inventory.nodes or not inventory.slices:
        return
    places = [one.placement for one in inventory.slices] + [device.placement for device in inventory.devices]
    if case.cluster.nodes and all(one is None or one.node_name is None for one in places):
        return
    finding = Finding(
        code="inventory-nodeless",
        severity="error",
        place=Place(inventory.file),
        what=f"there are ResourceSlices in it ({len(inventory.slices)}), and no Node",
        why="pods are placed on nodes: without them no pod would fit anywhere, whatever devices there are",
        rule="poolwright plan",
        fix="capture both: kubectl get nodes,resourceslices -o yaml",
    )
    raise SpecError([finding])


def _build_case(loaded: LoadedProject, name: str, inventory: Inventory | None, workshop: Workshop) -> PlanCase:
    on = resolve_cluster(loaded.specs, name)[0]
    if on is None:
        raise AssertionError(f"{name}: load_project says so")
    cluster = build_cluster_plan(loaded.specs, on, inventory, loaded.facts, loaded.named_files)
    units = [
        one for one in loaded.closures if isinstance(one, UnitClosure | PlatformClosure) and one.on.cluster == name
    ]
    built = workshop.read_objects(units, loaded.customs)
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
        sources=cluster.sources,
    )
    return PlanCase(
        loaded=loaded, on=on, inventory=inventory, cluster=cluster, built=built, objects=objects, demand=demand
    )
