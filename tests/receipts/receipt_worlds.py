"""Small clusters that receipts are made of."""

from __future__ import annotations

from dataclasses import replace

from plan_world import Want, World, demand_of, draw_mixed, draw_partitions, draw_singles
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, ResourceSlice
from poolwright.plan.demand import Demand, Workload

DRAWN = {"singles": draw_singles, "mixed": draw_mixed, "partitions": draw_partitions}
FOUR = World(((0, 1, 2, 3),), (Want(2, (frozenset(range(4)),)),))


def build_small_world(name: str, seed: int) -> Demand:
    """A cluster whose workloads are Deployments; every second device has a uuid, every fifth is planned."""
    world = FOUR if name == "four" else DRAWN[name](seed)
    demand = demand_of(world)
    return replace(
        demand,
        workloads=tuple(_own(one, f"{at}") for at, one in enumerate(demand.workloads)),
        slices=tuple(_identify(one) for one in demand.slices),
    )


def _own(one: Workload, name: str) -> Workload:
    pods = tuple(replace(pod, claim_names=tuple(f"c{at}" for at in range(len(pod.claims)))) for pod in one.pods)
    return replace(one, owner=("Deployment", "t", name), pods=pods)


def _identify(one: ResourceSlice) -> ResourceSlice:
    return replace(one, devices=tuple(_name(one, device, at) for at, device in enumerate(one.devices)))


def _name(one: ResourceSlice, device: Device, at: int) -> Device:
    uuid = AttributeOnDevice(type="string", value=f"GPU-{one.pool}-{device.name}")
    known = {**device.attributes, (one.driver, "uuid"): uuid} if at % 2 == 0 else device.attributes
    return replace(device, attributes=known, planned=at % 5 == 4)
