"""Losses by sort say the same as losing each thing on its own."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

from plan_world import EVERY, Group, Need, Option, Part, Want, World, demand_of, draw_mixed, draw_singles, pod_of
from poolwright.allocation.claim import Claim, ClaimRequest, DeviceClass, Request
from poolwright.catalog.inventory import ZONE_LABEL
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.engine import judge
from poolwright.plan.verdict import Count, Verdict
from poolwright.plan.what_if.loss import Loss, judge_losses


def count_names(losses: Iterable[Loss]) -> dict[str, Loss]:
    return {name: loss for loss in losses for name in loss.names}


def without_node(demand: Demand, name: str) -> Demand:
    return replace(
        demand,
        nodes=tuple(node for node in demand.nodes if node.name != name),
        slices=tuple(one for one in demand.slices if one.pool != name),
    )


def counts(verdicts: tuple[Verdict, ...]) -> list[object]:
    return [(one.workload, one.word, one.always, one.at_best) for one in verdicts]


def test_each_node_is_lost_as_if_alone() -> None:
    for seed in range(60):
        for world in (draw_singles(seed), draw_mixed(seed)):
            demand = demand_of(world)
            whole = judge(demand)
            losses = count_names(judge_losses(demand, "node"))
            assert sorted(losses) == [node.name for node in demand.nodes]
            for name, loss in losses.items():
                alone = judge(without_node(demand, name))
                changed = {change.after.workload: change.after for change in loss.changes}
                merged = tuple(changed.get(one.workload, one) for one in whole.verdicts)
                assert counts(merged) == counts(alone.verdicts), (seed, name)
                assert loss.shortfall == alone.shortfall, (seed, name)


def test_each_device_is_lost_as_if_alone() -> None:
    for seed in range(60):
        for world in (draw_singles(seed), draw_mixed(seed)):
            demand = demand_of(world)
            whole = judge(demand)
            for name, loss in count_names(judge_losses(demand, "device")).items():
                left = tuple(
                    replace(
                        one, devices=tuple(device for device in one.devices if not name.endswith(f"/{device.name}"))
                    )
                    for one in demand.slices
                )
                alone = judge(replace(demand, slices=left))
                changed = {change.after.workload: change.after for change in loss.changes}
                merged = tuple(changed.get(one.workload, one) for one in whole.verdicts)
                assert counts(merged) == counts(alone.verdicts), (seed, name)
                assert loss.shortfall == alone.shortfall, (seed, name)


def test_nodes_that_are_alike_are_judged_once() -> None:
    world = World(((0, 1), (2, 3), (4,)), (Want(3, (frozenset(range(4)),)),))
    demand = demand_of(world)
    said = [
        (one.names, one.devices, [(change.after.word, str(change.after.always)) for change in one.changes])
        for one in judge_losses(demand, "node")
    ]
    assert said == [(("n0", "n1"), 2, [("unsatisfied", "2")]), (("n2",), 1, [])]
    zoned = replace(
        demand, nodes=tuple(replace(node, labels={**node.labels, ZONE_LABEL: "a"}) for node in demand.nodes[:2])
    )
    assert [(one.names, one.devices, str(one.shortfall)) for one in judge_losses(zoned, "zone")] == [(("a",), 4, "3")]
    assert [(len(one.names), one.devices) for one in judge_losses(demand, "device")] == [(4, 1), (1, 1)]
    assert [(one.names, str(one.shortfall)) for one in judge_losses(demand, "family")] == [(("x.dev",), "3")]


def test_a_gpu_is_lost_with_its_partitions() -> None:
    """Found by NVIDIA's names, and elsewhere by the counters that they draw on."""
    world = World(((0, 1), (2, 3)), (Want(2, (frozenset(range(4)),)),), charges=dict.fromkeys(range(4), 1), counter=2)
    demand = demand_of(world)
    assert [(one.names, one.devices) for one in judge_losses(demand, "device")] == [
        (("x.dev/n0/c",), 2),
        (("x.dev/n1/c",), 2),
    ]
    names = ("gpu-0-mig-1g-19-0", "gpu-0-mig-1g-19-1", "gpu-1-mig-1g-19-0", "gpu-1")
    devices = tuple(
        replace(one, driver="gpu.nvidia.com", consumes=(), name=name)
        for one, name in zip(demand.slices[0].devices * 2, names, strict=True)
    )
    nvidia = replace(demand.slices[0], driver="gpu.nvidia.com", slice_count=1, devices=devices)
    request = ClaimRequest(name="r", exactly=Request(name="r", class_name="any"))
    claim = Claim(namespace="t", name="c", requests=(request,))
    takes = replace(
        demand,
        workloads=(Workload(title="w", replicas=2, pods=(pod_of("w", claim),)),),
        slices=(nvidia,),
        classes={"any": DeviceClass(name="any", selectors=("true",))},
    )
    found = count_names(judge_losses(takes, "device"))
    assert {name: (one.devices, str(one.shortfall)) for name, one in found.items()} == {
        "gpu.nvidia.com/n0/gpu-0": (2, "0"),
        "gpu.nvidia.com/n0/gpu-1": (2, "0"),
    }


def test_values_that_differ_in_the_same_places_are_alike() -> None:
    """Pairs must have a root in common: what it is called is each node's own, that two devices have one is not."""
    rows = {0: 7, 1: 7, 2: 8, 3: 8, 4: 9, 5: 6, 6: 3, 7: 3, 8: 7}
    world = World(
        ((0, 1), (2, 3), (4, 5), (6, 7, 8)),
        (Want(2, (frozenset(range(9)),), 2, "x"),),
        {number: {"x": value} for number, value in rows.items()},
    )
    said = [
        (one.names, [change.after.word for change in one.changes]) for one in judge_losses(demand_of(world), "node")
    ]
    assert said == [(("n0", "n1"), []), (("n2",), []), (("n3",), [])]
    short = replace(world, pods=(Want(3, world.pods[0].accepts, 2, "x"),))
    said = [
        (one.names, [str(change.after.at_best) for change in one.changes])
        for one in judge_losses(demand_of(short), "node")
    ]
    assert said == [(("n0", "n1"), ["2"]), (("n2",), []), (("n3",), ["2"])]


def test_of_values_that_as_many_devices_have_each_stands_for_each() -> None:
    """A GPU and a card on each root: which root loses one makes no difference; one that has two cards is another."""
    roots = {0: 0, 1: 1, 2: 2, 10: 0, 11: 1, 12: 2, 13: 2}
    gpus, cards = frozenset(range(3)), frozenset(range(10, 14))
    pair = Group(3, (Part(Need(((Option(gpus),), (Option(cards),)), "x")),))
    world = World((tuple(roots),), (pair,), {number: {"x": value} for number, value in roots.items()})
    found = [(one.names, [str(change.after.at_best) for change in one.changes]) for one in lose_devices(world)]
    assert found == [
        (("x.dev/n0/d0", "x.dev/n0/d1"), ["2"]),
        (("x.dev/n0/d10", "x.dev/n0/d11"), ["2"]),
        (("x.dev/n0/d12", "x.dev/n0/d13"), []),
        (("x.dev/n0/d2",), ["2"]),
    ]
    other = replace(world, values={number: {"x": value, "y": number} for number, value in roots.items()})
    both = replace(other, pods=(pair, Want(1, (gpus,), 2, "y")))
    assert len(lose_devices(both)) > len(found)  # with two attributes that are compared nothing is turned


def lose_devices(world: World) -> tuple[Loss, ...]:
    return judge_losses(demand_of(world), "device")


def draw_cells(seed: int) -> World:
    """Nodes whose devices share the values of one attribute in small groups, many of them alike."""
    rng = random.Random(seed)
    nodes: list[tuple[int, ...]] = []
    values: dict[int, dict[str, int]] = {}
    kinds: tuple[set[int], set[int]] = (set(), set())
    number = 0
    for _ in range(rng.randint(1, 2)):
        own = []
        for value in range(rng.randint(2, 3)):
            for kind, count in enumerate(rng.choice(((1, 1), (1, 1), (2, 0), (1, 0), (1, 2)))):
                for _ in range(count):
                    own.append(number)
                    values[number] = {"x": value}
                    kinds[kind].add(number)
                    number += 1
        nodes.append(tuple(own))
    sorts = tuple(frozenset(one) for one in kinds)
    pods: list[Want | Group] = []
    for _ in range(rng.randint(1, 3)):
        if rng.random() < 0.5 and sorts[1]:
            need = Need(((Option(sorts[0]),), (Option(sorts[1]),)), "x")
            pods.append(Group(rng.randint(1, 3), (Part(need),)))
        else:
            accepts = rng.choice((sorts[0], sorts[0] | sorts[1]))
            count = rng.choice((1, 2))
            pods.append(Want(rng.randint(1, 3), (accepts,), count, "x" if count > 1 and rng.random() < 0.6 else ""))
    return World(tuple(nodes), tuple(pods), values)


def agree(one: Count, other: Count) -> bool:
    """Whether both can be true: how much is proven may depend on what devices are called."""
    return one.least <= other.most and other.least <= one.most


def test_each_device_of_cells_is_lost_as_if_alone() -> None:
    merged = exact = 0
    for seed in range(60):
        demand = demand_of(draw_cells(seed))
        whole = judge(demand)
        for loss in judge_losses(demand, "device"):
            changed = {change.after.workload: change.after for change in loss.changes}
            said = [changed.get(one.workload, one) for one in whole.verdicts]
            merged += len(loss.names) - 1
            for name in loss.names:
                gone = name.rpartition("/")[2]
                left = tuple(
                    replace(one, devices=tuple(device for device in one.devices if device.name != gone))
                    for one in demand.slices
                )
                alone = judge(replace(demand, slices=left))
                assert agree(alone.shortfall, loss.shortfall), (seed, name)
                for one, other in zip(said, alone.verdicts, strict=True):
                    assert agree(one.always, other.always), (seed, name)
                    assert agree(one.at_best, other.at_best), (seed, name)
                exact += counts(alone.verdicts) == counts(tuple(said)) and alone.shortfall == loss.shortfall
    assert merged > 150
    assert exact > 380


def test_each_step_is_told() -> None:
    demand = demand_of(World(((0, 1), (2,), (3,)), (Want(2, (frozenset(range(4)),)),)))
    steps: list[tuple[int, int]] = []
    losses = judge_losses(demand, "node", on_step=lambda done, of: steps.append((done, of)))
    assert steps == [(0, 2), (1, 2)]
    assert losses == judge_losses(demand, "node")


def said_of_devices(world: World) -> list[tuple[str, list[tuple[str, str, str]]]]:
    return [
        (
            " ".join(name.removeprefix("x.dev/") for name in one.names),
            [(change.after.workload, change.after.word, str(change.after.always)) for change in one.changes],
        )
        for one in judge_losses(demand_of(world), "device")
    ]


def takes(replicas: int, *options: Option) -> Group:
    return Group(replicas, (Part(Need((options,))),))


def test_devices_of_other_alternatives_are_not_alike() -> None:
    """Without the first node, each of two pods gets a device of the other; there are never three for one of them."""
    three, one = Option(frozenset({0, 1, 2, 3, 4}), 3), Option(frozenset(range(6)))
    losses = judge_losses(demand_of(World(((0, 1, 2), (3, 4, 5)), (takes(2, three, one),))), "node")
    assert [(loss.names, [str(change.after.always) for change in loss.changes]) for loss in losses] == [
        (("n0",), []),
        (("n1",), ["1"]),
    ]


def test_a_device_that_is_only_looked_after_is_missed() -> None:
    world = World(((0, 1),), (takes(1, Option(frozenset({0}), is_admin=True)),))
    assert said_of_devices(world) == [("n0/d0", [("w0", "unsatisfied", "0")]), ("n0/d1", [])]


def test_a_device_out_of_reach_is_in_the_way_of_all() -> None:
    """Without it there is something to compete for."""
    world = World(
        ((0, 1, 2),),
        (takes(2, Option(frozenset({0, 1, 2}))), takes(1, Option(frozenset({1, 2}), EVERY))),
        tainted=frozenset({1}),
    )
    assert said_of_devices(world) == [
        ("n0/d0", [("w0", "unsatisfied", "1")]),
        ("n0/d1", [("w0", "order-dependent", "1"), ("w1", "order-dependent", "0")]),
        ("n0/d2", [("w0", "unsatisfied", "1")]),
    ]
    # To look at, it is as the first one, which nobody takes either.
    world = World(((0, 1, 2),), (takes(1, Option(frozenset({1, 2}), EVERY)),), tainted=frozenset({1}))
    assert said_of_devices(world) == [("n0/d0", []), ("n0/d1", [("w0", "always-fits", "1")]), ("n0/d2", [])]


def test_what_two_requests_for_all_both_want_is_in_the_way() -> None:
    """d0 is in both, so that neither claim is ever given; without it each has one of its own."""
    every = tuple((Option(frozenset({0, other}), EVERY),) for other in (1, 2))
    assert said_of_devices(World(((0, 1, 2),), (Group(1, (Part(Need(every)),)),))) == [
        ("n0/d0", [("w0", "always-fits", "1")]),
        ("n0/d1", []),
        ("n0/d2", []),
    ]
