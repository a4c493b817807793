"""Planned receipts: one packing that the allocator accepts, and nothing in it that nobody captured."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import jsonschema_rs
import pytest

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import AllocatedDevice, Allocation
from poolwright.allocation.held import Held
from poolwright.allocation.outcome import Allocated
from poolwright.plan.demand import Demand, build_replica
from poolwright.plan.engine import judge
from poolwright.receipts.document import Receipt, Receipts, parse_receipts, receipts_schema, render_receipts
from poolwright.receipts.losses import LossBook
from poolwright.receipts.planned import build_planned
from receipt_worlds import DRAWN, build_small_world

COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "60"))


def build(demand: Demand) -> Receipts:
    return build_planned(demand, judge(demand), cluster="c", units={}, prices=(), pins=())


@pytest.mark.parametrize("name", DRAWN)
def test_every_packing_is_one_that_the_allocator_makes(name: str) -> None:
    """Each device once; a uuid only of a captured device that publishes one; each claim can be given what it has."""
    valid = jsonschema_rs.validator_for(receipts_schema())
    for seed in range(COUNT):
        demand = build_small_world(name, seed)
        found = build(demand)
        data = render_receipts(found)
        assert parse_receipts(data) == found, seed
        valid.validate(json.loads(data))
        given = [one for row in found.receipts for one in row.devices]
        assert len({one.key for one in given}) == len(given), seed
        uuids = {
            (part.driver, part.pool, device.name): str(device.attributes[part.driver, "uuid"].value)
            for part in demand.slices
            for device in part.devices
            if not device.planned and (part.driver, "uuid") in device.attributes
        }
        assert {one.key: one.uuid for one in given if one.uuid} == {
            one.key: uuids[one.key] for one in given if one.key in uuids
        }
        assert all(one.interchangeable is not None and one.interchangeable >= 1 for one in given), seed
        assert {one.key for one in found.unassigned}.isdisjoint(one.key for one in given)
        _replay(demand, found, seed)


def _replay(demand: Demand, found: Receipts, seed: int) -> None:
    """In any order: each claim is given these devices where no others are free."""
    held = Held(demand.features)
    for row in found.receipts:
        held.add(_allocation(row))
    wanted = {one.key for row in found.receipts for one in row.devices}
    slices = [
        replace(part, devices=tuple(one for one in part.devices if (part.driver, part.pool, one.name) in wanted))
        for part in demand.slices
    ]
    allocator = Allocator(slices, demand.classes, demand.features)
    nodes = {node.name: node for node in demand.nodes}
    for row in found.receipts:
        if row.node is None:
            continue
        kind, _, name = (row.workload or "").partition("/")
        at, workload = next(
            entry for entry in enumerate(demand.workloads) if entry[1].owner == (kind, row.namespace, name)
        )
        pod = build_replica(workload, at, row.ordinal or 0).pods[row.pod or 0]
        claim = pod.claims[workload.pods[row.pod or 0].claim_names.index(row.pod_claim or "")]
        held.remove(_allocation(row))
        outcome = allocator.allocate(nodes[row.node], [claim], held)
        held.add(_allocation(row))
        assert isinstance(outcome, Allocated), seed
        assert [(one.driver, one.pool, one.device) for one in outcome.allocations[0].devices] == [
            one.key for one in row.devices
        ], seed


def _allocation(row: Receipt) -> Allocation:
    return Allocation(
        devices=tuple(
            AllocatedDevice(request=one.request, driver=one.driver, pool=one.pool, device=one.device)
            for one in row.devices
        )
    )


def test_same_input_same_bytes() -> None:
    for seed in range(5):
        first, second = (render_receipts(build(build_small_world("mixed", seed))) for _ in range(2))
        assert first == second


def test_counts_shrink_as_others_take_devices() -> None:
    """Of four devices the second claim could choose from three: those that nobody had when its turn came."""
    found = build(build_small_world("four", 0))
    left = [[one.candidates for one in row.requests] for row in found.receipts]
    assert [one.on_node.left for (one,) in left if one is not None] == [4, 3]
    assert [one.in_cluster.free for (one,) in left if one is not None] == [4, 3]
    assert [one.on_node.selected for (one,) in left if one is not None] == [4, 4]


def test_a_release_is_named_in_its_receipts() -> None:
    demand = build_small_world("four", 0)
    found = build_planned(
        demand, judge(demand), cluster="c", units={}, prices=(), pins=(), release="2026.11", losses=LossBook()
    )
    assert [(row.release, row.if_lost) for row in found.receipts] == [("2026.11", None)] * 2
