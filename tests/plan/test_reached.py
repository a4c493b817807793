"""Claims that pods share, on nodes that couldn't give them: what comes from elsewhere, and what doesn't."""

from __future__ import annotations

from dataclasses import replace

from test_small_traps import ask, reach_both, words

from plan_world import DRIVER, EVERY, Group, Need, Option, Part, Want, World, demand_of
from poolwright.allocation.claim import AllocatedDevice, Allocation, Claim, ClaimRequest
from poolwright.plan.engine import judge
from poolwright.plan.what_if.loss import judge_losses
from poolwright.specs.quantity import parse_quantity


def need(*accepts: int, count: int = 1, is_admin: bool = False) -> Need:
    return Need(((Option(frozenset(accepts), count, is_admin=is_admin),),))


def users(*parts: Part, replicas: int = 1) -> Group:
    return Group(replicas, parts)


SHARES = Part(uses=(0,))


def test_a_device_of_several_nodes_that_nobody_asks_for_changes_nothing() -> None:
    for accepts, said in (((1,), ("always-fits", "1", "1")), ((), ("unsatisfied", "0", "0"))):
        world = World(((0, 1), (2,)), (users(SHARES), users(SHARES)), claims=(need(*accepts),))
        plain = demand_of(world)
        assert words(plain) == words(reach_both(plain)) == [said] * 2


def test_a_node_that_opens_later_is_gone_back_to() -> None:
    """n0 can't give all of d0 and the tainted d1; n1 can give d0, and then n0 serves a second replica."""
    world = World(
        ((0, 1, 2), (3,)),
        (users(Part(need(2, 3), (0,)), replicas=2),),
        tainted=frozenset({1}),
        claims=(need(0, 1, count=EVERY),),
    )
    (found,) = judge(reach_both(demand_of(world))).verdicts
    assert (found.always.most, str(found.at_best), found.worst) == (2, "2", None)


def test_who_has_devices_to_look_after_leaves_them_to_others() -> None:
    """Both at once can't be given on n0; but once the claim is there, d0 is free for the second workload."""
    world = World(((0,),), (users(SHARES), users(Part(need(0), (0,)))), claims=(need(0, is_admin=True),))
    demand = demand_of(world)
    assert words(demand)[1][0] != "unsatisfied"
    assert judge(demand).shortfall.least == 0


def test_one_pod_of_a_replica_brings_the_claim_of_another() -> None:
    world = World(
        ((0,), (1, 2)),
        (users(SHARES, Part(need(2), (0,))),),
        tainted=frozenset({1}),
        claims=(need(0, 1, count=EVERY),),
    )
    (found,) = judge(reach_both(demand_of(world))).verdicts
    assert (found.word, found.always.most) != ("order-dependent", 0)
    assert found.at_best.most == 1


def test_who_looks_after_held_devices_is_kept_by_nobody() -> None:
    """The node's one device is held; a replica takes none of it, and nothing is searched for its pods."""
    group = users(SHARES, Part(need(1, 2, count=2)))
    demand = demand_of(World(((0,), (1, 2)), (group, users(Part(need(1)))), claims=(need(0, is_admin=True),)))
    device = AllocatedDevice(request="r", driver=DRIVER, pool="n0", device="d0")
    request = ClaimRequest(name="r", exactly=ask("r", 0))
    held = Claim(namespace="t", name="h", requests=(request,), allocation=Allocation(devices=(device,)))
    first, second = judge(replace(demand, held=(held,))).verdicts
    assert (first.word, first.at_best.most, second.word) == ("order-dependent", 1, "order-dependent")


def test_a_plugin_serves_only_where_the_rest_is() -> None:
    """n1 has no device for the pod's own claim, so it stays on n0 whatever is served there."""
    demand = demand_of(World(((0, 1), (2,)), (Want(1, (frozenset({0}),)),)))
    (workload,) = demand.workloads
    (pod,) = workload.pods
    (first,) = pod.claims
    (other,) = demand_of(World(((0, 1), (2,)), (Want(1, (frozenset({1}),)),))).workloads[0].pods[0].claims
    both = replace(
        pod, claims=(first, replace(other, name="own")), claim_names=("", "own"), plugin_resources=("example.com/gpu",)
    )
    old = replace(demand.nodes[1], allocatable={"example.com/gpu": parse_quantity("2")})
    demand = replace(demand, workloads=(replace(workload, pods=(both,)),), nodes=(demand.nodes[0], old))
    assert words(demand) == [("always-fits", "1", "1")]
    assert [[one.after.word for one in loss.changes] for loss in judge_losses(demand, "node")] == [["unsatisfied"], []]
