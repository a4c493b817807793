"""What people ask about small clusters, as verdicts: what holds in every order, what depends, and what is left open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from case_clusters import (
    build_all_or_two,
    build_fabric,
    build_fragmented_asked,
    build_fragmented_two,
    build_incomplete,
    build_pairs,
    build_same_parent,
    build_shares,
    build_spread,
    build_tainted_half,
)
from given_cluster import Json, as_file
from plan_world import pod_of
from poolwright.allocation.features import build_features
from poolwright.allocation.parse_objects import parse_objects
from poolwright.catalog.inventory import Node
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.engine import judge
from poolwright.specs.document import parse_documents

GATES = (
    *("DRAPrioritizedList", "DRAPartitionableDevices", "DRADeviceTaints", "DRAConsumableCapacity", "DRAAdminAccess"),
    *("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
)


@dataclass(frozen=True)
class Situation:
    """A cluster, and the verdict of each claim that has no devices: by itself, or with all others about."""

    objects: Callable[[], list[Json]]
    said: dict[str, str]  # `word always/at best`
    together: bool = False
    lines: tuple[str, ...] = ()  # each is in a reason or a qualifier


SITUATIONS = {
    # Five of eight memory slices are free, and no 3g fits: nobody else is needed for that.
    "five-free-slices": Situation(
        build_fragmented_asked,
        {
            "want-3g": "unsatisfied 0/0",
            "want-4g": "unsatisfied 0/0",
            "want-2g": "always-fits 1/1",
            "want-1g": "always-fits 1/1",
            "want-whole": "unsatisfied 0/0",
        },
    ),
    # A small partition goes where a middle one would, or where it wouldn't: that depends.
    "a-small-one-before-a-middle-one": Situation(
        lambda: build_fragmented_two(same_pod=False),
        {"a-small": "always-fits 1/1", "b-mid": "order-dependent 0/1"},
        together=True,
    ),
    # One root has both: each of the three may be the one that gets it.
    "pairs-on-one-root": Situation(
        build_pairs,
        dict.fromkeys((f"vllm-rdma-{n}" for n in range(3)), "order-dependent 0/1"),
        together=True,
    ),
    "four-of-one-parent": Situation(build_same_parent, {"mig-set": "always-fits 1/1"}),
    "no-two-of-one-numa-node": Situation(build_spread, {"spread": "always-fits 1/1"}),
    "the-half-that-is-not-tainted": Situation(build_tainted_half, {"one-half": "always-fits 1/1"}),
    # Of all B200 one is held, so the two H100 it is.
    "all-or-two": Situation(build_all_or_two, {"all-or-two": "always-fits 1/1", "none-then-one": "always-fits 1/1"}),
    "all-or-two-together": Situation(
        build_all_or_two, {"all-or-two": "order-dependent 0/1", "none-then-one": "order-dependent 0/1"}, together=True
    ),
    # 6 of 80Gi are left, and steps of 2Gi round 3 up to 4.
    "shares-of-what-is-left": Situation(
        build_shares,
        {
            "want-3": "always-fits 1/1",
            "want-7": "unsatisfied 0/0",
            "want-1": "always-fits 1/1",
            "want-nothing": "always-fits 1/1",
            "want-81": "unsatisfied 0/0",
            "want-6": "always-fits 1/1",
        },
    ),
    "shares-together": Situation(
        build_shares,
        {
            "want-3": "order-dependent 0/1",
            "want-7": "unsatisfied 0/0",
            "want-1": "order-dependent 0/1",
            "want-nothing": "order-dependent 0/1",
            "want-81": "unsatisfied 0/0",
            "want-6": "order-dependent 0/1",
        },
        together=True,
    ),
    # All of a pool that isn't complete is no number: the attempt ends at node-a, whatever node-b has.
    "a-pool-that-lacks-a-slice": Situation(
        build_incomplete, {"exact-one": "always-fits 1/1", "every-gpu": "error 0/0 unknown"}
    ),
    # The scheduler gives all three their devices; the driver takes two of them for no partition.
    "fabric-partitions": Situation(
        build_fabric,
        {
            "aligned": "always-fits 1/1",
            "loose": "always-fits 1/1 prepare-risk",
            "wrong-size": "always-fits 1/1 prepare-risk",
        },
        lines=(
            "its 2 GPUs needn't be one fabric partition, which the driver refuses when the pod starts: "
            "matchAttribute gpu.nvidia.com/partition2 makes them one",
            "its 3 GPUs needn't be one fabric partition",
        ),
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_situations(name: str) -> None:
    situation = SITUATIONS[name]
    demand = build(situation.objects())
    asked = [demand] if situation.together else [replace(demand, workloads=(one,)) for one in demand.workloads]
    verdicts = [verdict for one in asked for verdict in judge(one).verdicts]
    said = {
        one.workload: " ".join(
            [f"{one.word} {one.always}/{one.at_best}", *dict.fromkeys(each.kind for each in one.qualifiers)]
        )
        for one in verdicts
    }
    assert said == situation.said
    found = [line for one in verdicts for line in (*one.reasons, *(each.reason for each in one.qualifiers))]
    assert [line for line in situation.lines if not any(line in one for one in found)] == []


def build(objects: list[Json]) -> Demand:
    """Each claim without devices is a workload of one replica."""
    given = parse_objects(parse_documents(as_file(objects), "objects.json"))
    nodes = sorted({placed.value.placement.node_name for placed in given.slices if placed.value.placement.node_name})
    claims = [placed.value for placed in given.claims]
    return Demand(
        workloads=tuple(
            Workload(title=claim.name, replicas=1, pods=(pod_of(claim.name, claim),))
            for claim in claims
            if claim.allocation is None
        ),
        nodes=tuple(Node(name=name) for name in nodes),
        slices=tuple(placed.value for placed in given.slices),
        classes={placed.value.name: placed.value for placed in given.classes},
        features=build_features("1.37", dict.fromkeys(GATES, True)),
        held=tuple(claim for claim in claims if claim.allocation is not None),
    )
