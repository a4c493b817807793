"""Clusters as pages show them, made from small demands, and one of ten thousand devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from plan_world import FEATURES, pod_of
from poolwright.allocation.claim import EXACT_COUNT, Claim, ClaimRequest, DeviceClass, Request
from poolwright.catalog.inventory import ZONE_LABEL, Node
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, Placement, ResourceSlice
from poolwright.changes.report import Revision
from poolwright.pages.build import build_fleet_report, build_side
from poolwright.pages.document import FleetReport
from poolwright.pages.view import ClusterView
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.engine import judge
from poolwright.plan.slots import pack_slots
from poolwright.plan.verdict import Judgement
from poolwright.receipts.document import LossClass
from poolwright.receipts.losses import ALL_THINGS, LossBook, judge_book

NVIDIA: Final = "gpu.nvidia.com"


def view_demand(
    demand: Demand, name: str = "lab", *, losses: LossBook | None = None, judgement: Judgement | None = None
) -> ClusterView:
    """The view of a demand, as `release` makes it; losses: judged already."""
    plan = ClusterPlan(
        name=name,
        minor=demand.features.minor,
        gates={},
        features=demand.features,
        nodes=demand.nodes,
        slices=demand.slices,
        peaks={},
    )
    answer = ClusterAnswer(cluster=plan, demand=demand, judgement=judgement or judge(demand))
    return ClusterView(
        answer=answer,
        packed=pack_slots(demand, name),
        losses=judge_book(demand, answer.judgement, things=ALL_THINGS) if losses is None else losses,
    )


def report_of(*views: ClusterView, before: Sequence[ClusterView] | None = None) -> FleetReport:
    """A report of these clusters alone."""
    return build_fleet_report(
        build_side(Revision(name="after", commit=None), views),
        before=None if before is None else build_side(Revision(name="before", commit=None), before),
        subject="plan" if before is None else "diff",
        title="a fleet",
        project="fleet",
        tool="1.0.0",
    )


def reserve_first(demand: Demand) -> Demand:
    """The same, its first workload being others' demand: it takes devices and has no slots."""
    first = replace(demand.workloads[0], owner=None, is_reservation=True)
    return replace(demand, workloads=(first, *demand.workloads[1:]))


def build_large_demand(nodes: int) -> Demand:
    """Nodes of eight devices, each fourth with seven partitions of one GPU and one whole one; everything is taken."""
    names = [f"gpu-node-{at:04}" for at in range(nodes)]
    parted = sum(at % 4 == 3 for at in range(nodes))
    pairs, parts = (nodes - parted) * 4, parted * 7
    wants = [(f"team-{at % 7}", f"model-{at:02}", 2, "full") for at in range(20)]
    return Demand(
        workloads=(
            *(
                _build_workload(namespace, name, count, class_name, pairs // 20)
                for namespace, name, count, class_name in wants
            ),
            *(_build_workload("small", f"part-{at:02}", 1, "part", parts // 20) for at in range(20)),
        ),
        nodes=tuple(Node(name=name, labels={ZONE_LABEL: f"zone-{at * 3 // nodes}"}) for at, name in enumerate(names)),
        slices=tuple(_build_slice(name, is_parted=at % 4 == 3) for at, name in enumerate(names)),
        classes={
            kind: DeviceClass(
                name=kind, selectors=(f"device.driver == '{NVIDIA}' && device.attributes['{NVIDIA}'].kind == '{kind}'",)
            )
            for kind in ("full", "part")
        },
        features=FEATURES,
    )


def book_of(demand: Demand) -> LossBook:
    """A loss class for everything of a sort, as if each loss came to the same; nothing is judged."""
    keys = [(one.driver, one.pool, device.name) for one in demand.slices for device in one.devices]
    nodes, zones = [one.name for one in demand.nodes], sorted({one.zone for one in demand.nodes if one.zone})
    return LossBook(
        classes=(
            _build_class("device-1", "device", tuple("/".join(key) for key in keys)),
            _build_class("node-1", "node", tuple(nodes)),
            _build_class("zone-1", "zone", tuple(zones)),
        ),
        of_device=dict.fromkeys(keys, ("device-1",)),
        of_place={
            **{("node", name): "node-1" for name in nodes},
            **{("zone", name): "zone-1" for name in zones},
        },
    )


def _build_class(name: str, thing: str, members: tuple[str, ...]) -> LossClass:
    return LossClass(
        id=name,
        thing=thing,  # type: ignore[arg-type]
        members=members,
        lost=1,
        unsatisfied=(),
        changes=(),
        shortfall="0",
        sentence=f"without this {thing} (1 device) every workload is served as before",
    )


def _build_workload(namespace: str, name: str, count: int, class_name: str, replicas: int) -> Workload:
    request = Request(name="gpu", class_name=class_name, mode=EXACT_COUNT, count=count)
    claim = Claim(namespace=namespace, name="c", requests=(ClaimRequest(name="gpu", exactly=request),))
    pod = replace(pod_of(name, claim), namespace=namespace, claim_names=("devices",))
    return Workload(title=f"{namespace}/{name}", replicas=replicas, pods=(pod,), owner=("Deployment", namespace, name))


def _build_slice(node: str, *, is_parted: bool) -> ResourceSlice:
    devices = [("gpu-0", "full")] if is_parted else [(f"gpu-{at}", "full") for at in range(8)]
    devices += [(f"gpu-1-mig-1g10gb-19-{at}", "part") for at in range(7)] if is_parted else []
    return ResourceSlice(
        name=f"{node}-{NVIDIA}",
        driver=NVIDIA,
        pool=node,
        generation=1,
        slice_count=1,
        placement=Placement(node_name=node),
        devices=tuple(_build_device(node, name, kind) for name, kind in devices),
    )


def _build_device(pool: str, name: str, kind: str) -> Device:
    said = {"productName": "NVIDIA H100 80GB HBM3", "type": "mig" if kind == "part" else "gpu", "kind": kind}
    said |= {"profile": "1g.10gb"} if kind == "part" else {}
    return Device(
        driver=NVIDIA,
        pool=pool,
        name=name,
        attributes={(NVIDIA, key): AttributeOnDevice(type="string", value=value) for key, value in said.items()},
    )
