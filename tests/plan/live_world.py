"""Small worlds that run: what their pods hold as the objects of a cluster, and what is judged there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from plan_world import FEATURES, World, demand_of
from poolwright.allocation.claim import AllocatedDevice, Allocation, Claim
from poolwright.allocation.cluster_objects import ClaimTemplate, ClusterObjects, Placed
from poolwright.allocation.held import DeviceId
from poolwright.allocation.pod import Pod, PodClaim, WorkloadPods
from poolwright.allocation.pod import Workload as GivenWorkload
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.demand import Demand
from poolwright.plan.from_objects import build_demand
from poolwright.plan.live.scenario import Live, build_live
from poolwright.plan.live.snapshot import build_snapshot, check_snapshot
from poolwright.specs.place import Place


@dataclass(frozen=True)
class Held:
    """A pod that has its devices: of a workload by number, or of nobody's."""

    workload: int | None
    node: str
    devices: tuple[DeviceId, ...]
    replica: int = 0
    place: int = 0  # in its group


def placed(values: Iterable[object]) -> tuple[Placed, ...]:  # type: ignore[type-arg]
    return tuple(Placed(value=value, locate=lambda _: Place("world")) for value in values)


def build_objects(world: World, *, group: int = 1) -> ClusterObjects:
    """What is applied: a workload per want, all of whose pods are made from one template.

    group: the pods of a replica; several are LeaderWorkerSets'.
    """
    demand = demand_of(world)
    workloads, templates = [], []
    for workload in demand.workloads:
        (subject,), (claim,) = workload.pods, workload.pods[0].claims
        asked = ClaimTemplate(
            namespace="t", name=workload.title, requests=claim.requests, constraints=claim.constraints
        )
        templates.append(asked)
        pod = Pod(
            namespace="t",
            name=workload.title,
            claims=(PodClaim(name="c", template_name=workload.title),),
            affinity=subject.node_affinity,
        )
        workloads.append(
            GivenWorkload(
                kind="Deployment" if group == 1 else "LeaderWorkerSet",
                namespace="t",
                name=workload.title,
                replicas=workload.replicas,
                pods=(WorkloadPods(count=group, template=pod),),
            )
        )
    return ClusterObjects(
        classes=placed(demand.classes.values()), templates=placed(templates), workloads=placed(workloads)
    )


def observe(world: World, held: Sequence[Held], *, group: int = 1) -> ClusterObjects:
    """What kubectl prints of the same cluster as it runs."""
    demand = demand_of(world)
    pods, claims = zip(*(_build_pod(demand, number, one, group) for number, one in enumerate(held)), strict=True)
    return ClusterObjects(
        nodes=placed(demand.nodes), slices=placed(demand.slices), pods=placed(pods), claims=placed(claims)
    )


def _build_pod(demand: Demand, number: int, one: Held, group: int) -> tuple[Pod, Claim]:
    results = tuple(AllocatedDevice(request="r", driver=d, pool=p, device=n) for d, p, n in one.devices)
    field = {"key": "metadata.name", "operator": "In", "values": [one.node]}
    allocation = Allocation(devices=results, node_selector={"nodeSelectorTerms": [{"matchFields": [field]}]})
    name, uid = f"p{number}", f"uid-{number}"
    claim = Claim(namespace="t", name=f"{name}-c", allocation=allocation, reserved_for=(uid,), owner=uid)
    pod = Pod(
        namespace="t",
        name=name,
        uid=uid,
        claims=(PodClaim(name="c", template_name="gone"),),
        claim_names={"c": claim.name},
        node_name=one.node,
        phase="Running",
    )
    if one.workload is None:
        return pod, claim
    title = f"w{one.workload}"
    (wanted,) = demand.workloads[one.workload].pods[0].claims
    pod = replace(
        pod,
        claims=(PodClaim(name="c", template_name=title),),
        controller=("ReplicaSet", f"{title}-hash"),
        labels={"pod-template-hash": "hash"},
    )
    if group > 1:
        of = "leaderworkerset.sigs.k8s.io"
        labels = {"name": title, "group-index": str(one.replica), "worker-index": str(one.place)}
        pod = replace(
            pod,
            controller=("StatefulSet", f"{title}-{one.replica}" if one.place else title),
            labels={f"{of}/{key}": value for key, value in labels.items()},
            group_size=group,
        )
    return pod, replace(claim, requests=wanted.requests, constraints=wanted.constraints)


def build_live_world(world: World, held: Sequence[Held], *, group: int = 1) -> Live:
    """The scenario of a world that runs; its demand has the title of each want with the namespace before it."""
    objects, observed = build_objects(world, group=group), observe(world, held, group=group)
    bare = ClusterPlan(name="w", minor="1.37", gates={}, features=FEATURES, nodes=(), slices=(), peaks={})
    snapshot = build_snapshot(observed, bare, None)
    assert check_snapshot(snapshot) == ""
    there = snapshot.cluster
    fresh = build_demand(objects, FEATURES, nodes=there.nodes, slices=there.slices, peaks={})
    return build_live(objects, fresh, snapshot)
