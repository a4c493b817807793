"""What a cluster's `argocd` folder follows from: its units by name, its charts, and where Argo CD finds both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal

from poolwright.catalog.charts import OPERATOR_CHART, Chart, build_charts
from poolwright.catalog.closure import PLATFORM_UNIT
from poolwright.catalog.facts import Facts
from poolwright.specs.finding import Finding
from poolwright.specs.lock import RENDER_FORMAT
from poolwright.specs.model import Model
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.pool import Pool
from poolwright.specs.project import Argocd, Delivery, Destination
from poolwright.specs.resolve import ResolvedCluster, ResolvedPlacement

ARGOCD_UNIT: Final = "argocd"
Workload = Literal["Deployment", "LeaderWorkerSet"]


class ArgocdCluster(Model, frozen=True, kw_only=True):
    """The cluster, by name."""

    project: str
    cluster: str


class ArgocdUnit(Model, frozen=True, kw_only=True):
    """What an Application takes from a placement."""

    name: str
    namespace: str
    scaled: Workload | None = None  # the workload whose replicas somebody else sets; None: nobody does


class ArgocdClosure(Model, frozen=True, kw_only=True):
    """What a cluster's Argo CD objects follow from."""

    render_format: int
    on: ArgocdCluster
    argocd: Argocd
    destination: Destination
    delivery: Delivery
    release: str | None = None  # that is delivered, by packet
    namespaces: tuple[str, ...]  # of the cluster's pools; empty: there is no platform unit
    units: tuple[ArgocdUnit, ...]  # by name
    charts: tuple[Chart, ...]  # by name


def build_argocd_closure(
    on: ResolvedCluster,
    pools: Sequence[Spec[Pool]],
    placements: Iterable[ResolvedPlacement],
    *,
    resource_api: str,
    facts: Facts,
) -> ArgocdClosure:
    """The closure of a cluster's Argo CD objects; pools and placements are the cluster's, in any order."""
    units = [_build_unit(placement) for placement in placements]
    return ArgocdClosure(
        render_format=RENDER_FORMAT,
        on=ArgocdCluster(project=on.project.value.metadata.name, cluster=on.cluster.name),
        argocd=on.project.value.spec.argocd,
        destination=on.cluster.destination,
        delivery=on.cluster.delivery,
        release=on.cluster.release,
        namespaces=tuple(sorted({namespace.name for pool in pools for namespace in pool.value.spec.namespaces})),
        units=tuple(sorted(units, key=lambda unit: unit.name)),
        charts=build_charts(on.stack.value.spec, resource_api, facts),
    )


def check_applications(specs: Specs, placements: Iterable[ResolvedPlacement]) -> list[Finding]:
    """Placements whose Application would have the name of another: all of a project's stand in one namespace."""
    stacks = {stack.value.identity: stack.value.spec for stack in specs.stacks}
    taken: dict[str, str] = {}
    for cluster in specs.project.value.spec.clusters:
        stack = stacks.get(cluster.stack_name)
        charts = [driver.name for driver in stack.dra_drivers if driver.install == "chart"] if stack else []
        charts += [OPERATOR_CHART] if stack and stack.gpu_operator else []
        taken[application_name(cluster.name, PLATFORM_UNIT)] = f"the platform of {cluster.name}"
        taken |= {application_name(cluster.name, chart): f"the chart {chart} of {cluster.name}" for chart in charts}
    problems = []
    for placement in sorted(placements, key=lambda p: (p.on.cluster.name, p.placement.value.identity)):
        cluster_name, unit = placement.on.cluster.name, placement.placement.value.identity
        name, identity = application_name(cluster_name, unit), f"{cluster_name}/{unit}"
        other = taken.setdefault(name, identity)
        if other != identity:
            problems.append(_clash(placement, name, identity, other))
    return problems


def _clash(placement: ResolvedPlacement, name: str, identity: str, other: str) -> Finding:
    return Finding(
        code="application-clash",
        severity="error",
        place=placement.placement.place("metadata", "name"),
        what=f'the Application of {identity} would be called "{name}", as that of {other}',
        why="Applications stand in one namespace of Argo CD: the second would overwrite the first",
        rule="poolwright.dev/v1alpha1",
        fix="rename the placement",
    )


def application_name(cluster: str, unit: str) -> str:
    """What the Application of a unit or chart is called."""
    return f"{cluster}-{unit}"


def _build_unit(resolved: ResolvedPlacement) -> ArgocdUnit:
    placement, envelope = resolved.placement.value, resolved.envelope.value
    workload: Workload = "LeaderWorkerSet" if envelope.spec.topology.nodes > 1 else "Deployment"
    scaled = (placement.spec.max_replicas or placement.spec.min_replicas) > placement.spec.min_replicas
    return ArgocdUnit(
        name=placement.metadata.name, namespace=envelope.spec.namespace, scaled=workload if scaled else None
    )
