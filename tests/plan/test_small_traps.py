"""Small clusters in which a wrong yes, or a wrong no, lies near."""

from __future__ import annotations

from dataclasses import replace

from plan_world import DRIVER, EVERY, Group, Need, Option, Part, Want, World, demand_of, pod_of
from poolwright.allocation.claim import ALL, AllocatedDevice, Allocation, Claim, ClaimRequest, Request
from poolwright.catalog.resource_slice import Placement
from poolwright.plan.demand import Demand, Workload, pin_to
from poolwright.plan.engine import judge
from poolwright.plan.what_if.gang import find_gang_deadlocks
from poolwright.plan.what_if.loss import judge_losses
from poolwright.specs.quantity import parse_quantity


def ask(name: str, *ids: int, count: int = 1, mode: str = "ExactCount") -> Request:
    accepts = f"device.attributes['{DRIVER}'].id in {list(ids)}"
    return Request(name=name, class_name="any", count=count, mode=mode, selectors=(accepts,))


def workload(replicas: int, *alternatives: Request) -> Workload:
    request = ClaimRequest(name="r", first_available=alternatives)
    return Workload(
        title="w", replicas=replicas, pods=(pod_of("w", Claim(namespace="t", name="c", requests=(request,))),)
    )


def words(demand: Demand) -> list[tuple[str, str, str]]:
    return [(one.word, str(one.always), str(one.at_best)) for one in judge(demand).verdicts]


def test_all_of_nothing_is_not_free() -> None:
    """On n1 there is none of the first alternative: a second replica needs d1, which somebody else may have."""
    demand = demand_of(World(((0,), (1,)), (Want(1, (frozenset({1}),)),)))
    found = words(replace(demand, workloads=(workload(2, ask("a", 0, mode=ALL), ask("b", 1)), *demand.workloads)))
    assert found[0] == ("order-dependent", "1", "2")


def test_a_pod_takes_devices_of_another_node_too() -> None:
    """d0 is at n0 and reaches n1: two pods of two take d0 with d3, and d1 with d2."""
    demand = reach_both(demand_of(World(((0, 1, 2), (3,)), (Want(1, (frozenset({0, 1, 2}),)),))))
    two = Want(2, (frozenset(range(4)),), 2)
    others = demand_of(World(((0, 1, 2), (3,)), (two,))).workloads
    found = words(replace(demand, workloads=(*demand.workloads, replace(others[0], title="k"))))
    assert found[0][0] != "always-fits"


def reach_both(demand: Demand) -> Demand:
    """The same, where the first device of n0 is for n1 too."""
    first, *rest = demand.slices
    names = {"key": "n", "operator": "In", "values": ["0", "1"]}
    everywhere = Placement(node_selector={"nodeSelectorTerms": [{"matchExpressions": [names]}]})
    shared = replace(
        first, name="far", pool="far", placement=everywhere, devices=(replace(first.devices[0], pool="far"),)
    )
    return replace(demand, slices=(shared, replace(first, devices=first.devices[1:]), *rest))


def test_a_shared_claim_may_come_from_where_another_got_it() -> None:
    """n1 can't give all of d0 and the tainted d1. But once w0 has d0 at n0, w1 can use it from n1."""
    every, w0, w1 = (
        Need(((Option(frozenset(accepts), count),),)) for accepts, count in (((0, 1), EVERY), ((2,), 1), ((3,), 1))
    )
    users = Group(1, (Part(w0, (0,), (0,)),)), Group(1, (Part(w1, (0,), (1,)),))
    world = World(((0, 2), (1, 3)), users, tainted=frozenset({1}), claims=(every,))
    demand = reach_both(demand_of(world))
    assert words(demand)[1] == ("order-dependent", "0", "1")


def test_who_shares_a_claim_comes_to_its_node_or_not() -> None:
    """Each may come first, and then the other one is not on its node."""
    pods = tuple(Group(1, (Part(uses=(0,), nodes=(at,)),)) for at in (0, 1))
    demand = demand_of(World(((0,), (1,)), pods, claims=(Need(((Option(frozenset({0, 1})),),)),)))
    assert words(demand) == [("order-dependent", "0", "1")] * 2


def test_who_is_not_judged_is_not_counted_for_placed() -> None:
    """Though the claim that it shares has its device: whether pod affinity lets it come there isn't known."""
    demand = demand_of(
        World(((0,),), (Group(2, (Part(uses=(0,)),)),) * 2, claims=(Need(((Option(frozenset({0})),),)),))
    )
    one, other = demand.workloads
    judgement = judge(replace(demand, workloads=(one, replace(other, unjudged=("pod affinity",)))))
    assert (judgement.verdicts[0].word, str(judgement.shortfall)) == ("always-fits", "0-2")


def test_what_a_device_plugin_serves_needs_no_device() -> None:
    """And how much of it is free isn't known. Nor is it known that others have the devices to themselves."""
    demand = demand_of(World(((0,), (1,)), (Want(3, (frozenset({0, 1}),)), Want(1, (frozenset({0}),)))))
    first, second = demand.workloads
    (pod,) = first.pods
    migrated = replace(pod, claim_names=("",), plugin_resources=("example.com/gpu",))
    old = replace(demand.nodes[1], allocatable={"example.com/gpu": parse_quantity("2")})
    demand = replace(demand, workloads=(replace(first, pods=(migrated,)), second), nodes=(demand.nodes[0], old))
    judgement = judge(demand)
    assert words(demand) == [("undecided", "0-3", "0-3"), ("undecided", "0-1", "1")]
    assert (str(judgement.shortfall), judgement.over_demanded) == ("0-3", ())
    said = "node n1: the node's device plugin serves example.com/gpu there; what is free of it isn't known"
    assert said in judgement.verdicts[0].reasons


def test_nodes_with_other_alternatives_are_not_lost_alike() -> None:
    """Without n0 the two devices of n1 serve two, without n1 those of n0 serve one."""
    demand = demand_of(World(((0, 1), (2, 3)), ()))
    demand = replace(demand, workloads=(workload(3, ask("a", 0, 1, count=2), ask("b", 2, 3)),))
    lost = {loss.names: [str(change.after.at_best) for change in loss.changes] for loss in judge_losses(demand, "node")}
    assert lost == {("n0",): ["2"], ("n1",): ["1"]}


def test_a_daemon_set_loses_its_pod_with_the_node() -> None:
    demand = demand_of(World(((0,), (1,)), (Want(1, (frozenset({0, 1}),)),)))
    (one,) = demand.workloads
    pods = tuple(replace(one.pods[0], node_affinity=pin_to(node.name)) for node in demand.nodes)
    daemons = replace(one, pods=pods, is_per_node=True)
    demand = replace(demand, workloads=(daemons,))
    assert [loss.changes for loss in judge_losses(demand, "node")] == [(), ()]
    both = replace(demand, workloads=(daemons, replace(one, title="rival")))
    assert find_gang_deadlocks(both, judge(both)) == ()


def test_a_claim_that_has_devices_takes_no_more_than_its_users() -> None:
    held = AllocatedDevice(request="r", driver=DRIVER, pool="n0", device="d0")
    users = tuple(f"u{number}" for number in range(250))
    request = ClaimRequest(name="r", exactly=ask("r", 0))
    claim = Claim(
        namespace="t", name="c", requests=(request,), allocation=Allocation(devices=(held,)), reserved_for=users
    )
    demand = demand_of(World(((0,),), ()))
    ten = Workload(title="w", replicas=10, pods=(pod_of("w", claim),), shared=frozenset({("t", "c")}))
    assert words(replace(demand, workloads=(ten,), held=(claim,))) == [("unsatisfied", "0-6", "6")]
