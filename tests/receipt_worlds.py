"""Small clusters that receipts are made of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from given_cluster import Json, as_file, claim, exactly, holds, pod
from plan_world import Want, World, demand_of, draw_mixed, draw_partitions, draw_singles
from poolwright.allocation.features import build_features
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.parse_objects import parse_objects
from poolwright.catalog.resource_slice import AttributeOnDevice, Device, ResourceSlice
from poolwright.files.facts import read_facts
from poolwright.plan.demand import Demand, Workload
from poolwright.receipts.document import Receipts
from poolwright.receipts.observed import Beside, build_observed
from poolwright.specs.document import parse_documents

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


def observe(*objects: Json, minor: str = "1.36", **beside: Any) -> Receipts:
    """The receipts of a cluster of these objects, called `lab`."""
    given = parse_objects(parse_documents(as_file(objects), "cluster.json"))
    gates = read_facts().effective_gates(minor, {})
    stored, _ = strip_gated(given, gates)
    features = build_features(minor, gates)
    return build_observed(stored, features, cluster="lab", beside=Beside(**beside))


def replica(name: str, *, uid: str, of: str = "chat", app: str = "Deployment", node: str = "node-a") -> Json:
    """A pod of a workload, with the claim `NAME-gpu` made from its template, which it calls `gpu`."""
    suffix = "-5d4f" if app == "Deployment" else ""
    kind = "ReplicaSet" if app == "Deployment" else app
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": f"{of}{suffix}", "uid": f"of-{of}", "controller": True}
    return pod(
        name,
        templates={"gpu": "one"},
        metadata={"uid": uid, "labels": {"pod-template-hash": "5d4f"}, "ownerReferences": [owner]},
        status={"phase": "Running", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}]},
        nodeName=node,
    )


def given(name: str, device: str, *, uid: str = "", of: str = "", pool: str = "node-a", **more: Any) -> Json:
    """The claim NAME with a device, reserved for the pod of this uid."""
    metadata = {"uid": uid} if uid else {}
    reserved = (of,) if of else ()
    held = (holds(device, pool=pool, **more),)
    return claim(name, exactly("gpu"), held=held, reserved=reserved, node=pool, **metadata)
