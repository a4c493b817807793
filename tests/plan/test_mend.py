"""What would mend a verdict: said where it does, not said where it doesn't; and true by trying everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from oracles import try_packings

from plan_world import Want, World, _select, demand_of, draw_mixed, draw_singles, node_name
from poolwright.allocation.claim import ClaimRequest, DeviceClass
from poolwright.catalog.inventory import ZONE_LABEL
from poolwright.plan.demand import Demand, Workload, pin_to
from poolwright.plan.engine import judge
from poolwright.plan.report.mends import say_edit
from poolwright.plan.report.words import say_counts
from poolwright.plan.what_if.class_choices import ClassChoice
from poolwright.plan.what_if.edits import Edit
from poolwright.plan.what_if.mend import Mends, find_mends

Zones = tuple[str, ...]  # of the nodes
NO_ZONES: Zones = ()


def place_in_zones(demand: Demand, zones: Zones, selects: Mapping[int, str]) -> Demand:
    """The demand with zones of its nodes, and of those that some workloads' pods select."""
    nodes = tuple(
        replace(node, labels={**node.labels, ZONE_LABEL: zones[at]}) if at < len(zones) else node
        for at, node in enumerate(demand.nodes)
    )
    workloads = [
        replace(one, pods=tuple(replace(pod, node_selector={ZONE_LABEL: selects[at]}) for pod in one.pods))
        if at in selects
        else one
        for at, one in enumerate(demand.workloads)
    ]
    return replace(demand, nodes=nodes, workloads=tuple(workloads))


def ask_by_class(demand: Demand, world: World, more: Mapping[str, frozenset[int]]) -> Demand:
    """The demand with a class of its own for each workload, `k0` and so on, in place of its selector, and some more."""
    accepts = {f"k{at}": want.accepts[0] for at, want in enumerate(world.pods)} | dict(more)
    classes = {name: DeviceClass(name=name, selectors=(_select(taken),)) for name, taken in accepts.items()}
    workloads = tuple(_ask_for(one, f"k{at}") for at, one in enumerate(demand.workloads))
    return replace(demand, workloads=workloads, classes=classes)


def _ask_for(workload: Workload, name: str) -> Workload:
    (pod,) = workload.pods
    (claim,) = pod.claims
    exactly = claim.requests[0].exactly
    assert exactly is not None
    request = ClaimRequest(name="r", exactly=replace(exactly, class_name=name, selectors=()))
    return replace(workload, pods=(replace(pod, claims=(replace(claim, requests=(request,)),)),))


ONE, BOTH, FOUR = frozenset({0}), frozenset({0, 1}), frozenset(range(4))
# A world, its zones and who selects one; and for the first workload what is said to mend it, and what not to.
MENDS: dict[str, tuple[World, Zones, dict[int, str], list[str], list[str]]] = {
    "one-more-device-serves-the-one-left-out": (
        World(((0,),), (Want(1, (ONE,)), Want(1, (ONE,)))),
        NO_ZONES,
        {},
        ["one more device like d0 on node n0 -> 1/1", "one more node like n0 -> 1/1"],
        [],
    ),
    "one-more-is-not-enough-for-two": (
        World(((0,),), (Want(1, (ONE,)), Want(2, (ONE,)))),
        NO_ZONES,
        {},
        ["2 more nodes like n0 -> 1/1"],
        ["one more device like d0 on node n0", "one more node like n0"],
    ),
    # A node has two of them.
    "a-node-is-more-than-a-device": (
        World(((0, 1),), (Want(1, (BOTH,)), Want(3, (BOTH,)))),
        NO_ZONES,
        {},
        ["one more node like n0 -> 1/1"],
        ["one more device like d0 on node n0"],
    ),
    "devices-that-others-take-less-come-first": (
        World(((0, 1),), (Want(1, (BOTH,)), Want(2, (ONE,)), Want(1, (BOTH,)))),
        NO_ZONES,
        {},
        [
            "one more device like d1 on node n0 -> 1/1",
            # The two that take d0 take the new one too; then the third alone takes d1.
            "one more node like n0 -> 1/1",
        ],
        ["one more device like d0 on node n0"],
    ),
    "a-whole-node-for-a-gang": (
        World(((0, 1),), (Want(1, (BOTH,), 2), Want(1, (BOTH,)))),
        NO_ZONES,
        {},
        ["one more node like n0 -> 1/1"],
        [],
    ),
    # One single blocks each of two nodes.
    "a-node-more-that-is-blocked-too": (
        World(((0, 1),), (Want(1, (BOTH,), 2), Want(2, (BOTH,)))),
        NO_ZONES,
        {},
        ["2 more nodes like n0 -> 1/1"],
        ["one more node like n0"],
    ),
    "any-zone": (
        World(((0,), (1,)), (Want(1, (BOTH,)), Want(1, (ONE,)))),
        ("a", "b"),
        {0: "a"},
        [
            "one more device like d0 on node n0 -> 1/1",
            "one more node like n0 -> 1/1",
            "without zone a -> 1/1",
            "zone b instead of a -> 1/1",
        ],
        [],
    ),
    "another-zone-is-as-full": (
        World(((0,), (1,)), (Want(1, (BOTH,)), Want(3, (BOTH,)))),
        ("a", "b"),
        {0: "a"},
        ["3 more nodes like n0 -> 1/1"],
        [
            "one more device like d0 on node n0",
            "without zone a",
            "zone b instead of a",
            "2 more nodes like n0",
        ],
    ),
    "fewer-replicas-as-many-as-may-be-left-out": (
        World(((0, 1, 2),), (Want(3, (frozenset({0, 1, 2}),)), Want(2, (frozenset({0, 1}),)))),
        NO_ZONES,
        {},
        ["one more node like n0 -> 3/3", "2 replicas less at the peak -> 1/1"],
        ["one more device like d2 on node n0", "one more device like d0 on node n0"],
    ),
    # A blocker for each of them, and then some.
    "as-many-nodes-as-do": (
        World(((0, 1),), (Want(1, (BOTH,), 2), Want(11, (BOTH,)))),
        NO_ZONES,
        {},
        ["11 more nodes like n0 -> 1/1"],
        ["10 more nodes like n0"],
    ),
    "more-nodes-than-are-tried": (
        World(((0, 1),), (Want(1, (BOTH,), 2), Want(17, (BOTH,)))),
        NO_ZONES,
        {},
        [],
        ["16 more nodes like n0"],
    ),
    # Nothing makes it fit always: in some order is better than in none.
    "an-unsatisfied-one-is-helped": (
        World(((0,), (1,)), (Want(3, (BOTH,)), Want(40, (BOTH,)))),
        NO_ZONES,
        {},
        [
            "one more device like d0 on node n0 -> 0-3/3",
            "one more node like n0 -> 0-3/3",
            "one replica less at the peak -> 0-2/2",
        ],
        [],
    ),
    "no-hardware-is-like-what-is-wanted": (World(((0,),), (Want(2, (frozenset(),)),)), NO_ZONES, {}, [], []),
}


@pytest.mark.parametrize("name", MENDS)
def test_mends(name: str) -> None:
    world, zones, selects, mended, vain = MENDS[name]
    demand = place_in_zones(demand_of(world), zones, selects)
    assert say(find_mends(demand, judge(demand))) == (mended, vain)


def say(found: Mends) -> tuple[list[str], list[str]]:
    """Of the first workload."""
    mending = next((one for one in found.workloads if one.before.workload == "w0"), None)
    if mending is None:
        return [], []
    mended = [f"{say_edit(one.edit)} -> {say_counts(one.after)}" for one in mending.mends]
    return mended, [say_edit(one.edit) for one in mending.vain]


EDITS = {
    "node": (Edit(kind="node", name="n0"), "one more node like n0"),
    "nodes": (Edit(kind="node", name="n0", count=2), "2 more nodes like n0"),
    "device": (Edit(kind="device", name="n0", device=("x", "p", "d")), "one more device like d on node n0"),
    # Several nodes reach it.
    "device-of-no-one-node": (Edit(kind="device", device=("x", "p", "d")), "one more device like x/p/d"),
    "any-zone": (Edit(kind="zone", was="a"), "without zone a"),
    "zone": (Edit(kind="zone", was="a", name="b"), "zone b instead of a"),
    "class": (Edit(kind="class", name="k", named=("j",)), "class k as a further alternative"),
    "replica": (Edit(kind="replicas"), "one replica less at the peak"),
    "replicas": (Edit(kind="replicas", count=3), "3 replicas less at the peak"),
}


@pytest.mark.parametrize("name", EDITS)
def test_changes_in_words(name: str) -> None:
    edit, said = EDITS[name]
    assert say_edit(edit) == said


def test_those_that_fare_worse_are_named() -> None:
    """The first workload is safe with two devices in zone b, of which the second one had one for itself."""
    takes = (Want(1, (frozenset({0, 1, 2}),)), Want(1, (frozenset({1}),)), Want(1, (ONE,)))
    demand = place_in_zones(demand_of(World(((0,), (1, 2)), takes)), ("a", "b"), {0: "a"})
    mending = find_mends(demand, judge(demand)).workloads[0]
    moved = next(one for one in mending.mends if one.edit.name == "b")
    assert [(one.workload, say_counts(one)) for one in moved.worse] == [("w1", "0-1/1")]
    assert all(not one.worse for one in mending.mends if one.edit.kind == "node")


def test_a_device_that_lets_a_gang_in() -> None:
    """The gang had no node: with one more device it takes three, and one that is safe by now isn't any more."""
    takes = (
        Want(2, (frozenset({0, 2}),)),
        Want(1, (frozenset({1, 2}),), 3),
        Want(1, (ONE,)),
        Want(1, (frozenset({1}),)),
    )
    demand = demand_of(World(((0,), (1, 2)), takes))
    mending = find_mends(demand, judge(demand)).workloads[0]
    grown = next(one for one in mending.trials if one.edit.device is not None and one.edit.device[2] == "d2")
    assert (say_counts(mending.before), say_counts(grown.after)) == ("1-2/2", "0-2/2")
    assert [(one.workload, say_counts(one)) for one in grown.worse] == [("w3", "0-1/1")]


TWO_CLASSES = World(((0,), (1,)), (Want(1, (ONE,)), Want(1, (ONE,))))
CHOICES: dict[str, tuple[dict[str, frozenset[int]], dict[str, ClassChoice], list[str]]] = {
    "another-class-has-a-device": ({"other": frozenset({1})}, {}, ["other"]),
    "another-class-has-the-same-ones": ({"same": ONE}, {}, []),
    "specs-say-which-classes-may-be-named": (
        {"first": frozenset({1}), "second": frozenset({1})},
        {"w0": ClassChoice(named=("k0",), further=("second", "gone"))},
        ["second"],
    ),
    "specs-say-none": ({"other": frozenset({1})}, {"w0": ClassChoice(named=("k0",), further=())}, []),
    # What a placement names isn't what the pods ask for: the team's own component changed it.
    "requests-of-another-class-stay": (
        {"other": frozenset({1})},
        {"w0": ClassChoice(named=("x",), further=("other",))},
        [],
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_further_classes(name: str) -> None:
    more, choices, said = CHOICES[name]
    demand = ask_by_class(demand_of(TWO_CLASSES), TWO_CLASSES, more)
    mending = find_mends(demand, judge(demand), choices).workloads[0]
    offers = [one for one in mending.mends if one.edit.kind == "class"]
    assert [one.edit.name for one in offers] == said
    assumed = "whether a model fits the memory of a further class's devices isn't looked at"
    found = find_mends(demand, judge(demand), choices)
    is_offered = any(one.edit.kind == "class" for each in found.workloads for one in each.mends)
    assert (assumed in found.assumed) == is_offered
    off = replace(demand, features=replace(demand.features, prioritized_list=False))
    assert "class" not in {one.edit.kind for one in find_mends(off, judge(off), choices).workloads[0].trials}


def test_a_class_of_another_driver_is_not_offered() -> None:
    demand = ask_by_class(demand_of(TWO_CLASSES), TWO_CLASSES, {"nic": frozenset({1})})
    other = replace(
        demand.slices[1],
        driver="nic.dev",
        devices=tuple(replace(device, driver="nic.dev") for device in demand.slices[1].devices),
    )
    demand = replace(demand, slices=(demand.slices[0], other))
    demand = replace(
        demand, classes={**demand.classes, "nic": DeviceClass(name="nic", selectors=("device.driver == 'nic.dev'",))}
    )
    mending = find_mends(demand, judge(demand)).workloads[0]
    assert "nic" not in {one.edit.name for one in mending.trials}


def bind(workload: Workload, *nodes: int) -> Workload:
    """As a DaemonSet's: a pod for each node."""
    (pod,) = workload.pods
    pods = tuple(replace(pod, node_affinity=pin_to(node_name(at))) for at in nodes)
    return replace(workload, pods=pods, is_per_node=True)


def test_a_node_brings_a_pod_of_a_daemon_set_with_it() -> None:
    """The daemon takes the one device of each node like the first."""
    world = World(((0,), (1,)), (Want(1, (BOTH,)), Want(1, (BOTH,)), Want(1, (frozenset({1}),))))
    demand = demand_of(world)
    demand = replace(demand, workloads=(demand.workloads[0], bind(demand.workloads[1], 0), demand.workloads[2]))
    mending = find_mends(demand, judge(demand)).workloads[0]
    nodes = {one.edit.name: one.after.word for one in mending.trials if one.edit.kind == "node"}
    assert nodes == {"n0": "order-dependent", "n1": "always-fits"}


def test_a_daemon_set_is_not_moved() -> None:
    demand = place_in_zones(demand_of(World(((0,), (1,)), (Want(1, (BOTH,)), Want(1, (ONE,))))), ("a", "b"), {0: "a"})
    demand = replace(demand, workloads=(bind(demand.workloads[0], 0), demand.workloads[1]))
    kinds = {one.edit.kind for one in find_mends(demand, judge(demand)).workloads[0].trials}
    assert kinds == {"node", "device"}


def test_nothing_is_tried_where_all_fit() -> None:
    demand = demand_of(World(((0, 1),), (Want(2, (BOTH,)),)))
    assert find_mends(demand, judge(demand)) == Mends()


def test_nothing_is_tried_for_what_is_not_judged() -> None:
    demand = demand_of(World(((0,),), (Want(1, (ONE,)), Want(1, (ONE,)))))
    first, second = demand.workloads
    demand = replace(demand, workloads=(replace(first, unjudged=("pod affinity",)), second))
    assert [one.before.workload for one in find_mends(demand, judge(demand)).workloads] == ["w1"]
    reserved = replace(demand, workloads=(replace(first, is_reservation=True), second))
    assert [one.before.workload for one in find_mends(reserved, judge(reserved)).workloads] == ["w1"]


def test_what_may_be_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond that nothing is said; the verdicts stay."""
    demand = demand_of(World(((0, 1),), (Want(1, (BOTH,), 2), Want(1, (BOTH,)))))
    before = judge(demand)
    assert len(find_mends(demand, before).workloads) == 2
    monkeypatch.setattr("poolwright.plan.what_if.mend.MAX_COST", 3)
    assert find_mends(demand, before).workloads == ()
    monkeypatch.setattr("poolwright.plan.what_if.mend.MAX_COST", 1)
    assert find_mends(demand, before) == Mends()


def test_where_the_search_for_fewer_nodes_ends_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eleven do; with enough to spend for sixteen and no more, that fewer may do is left open."""
    demand = demand_of(World(((0, 1),), (Want(1, (BOTH,), 2), Want(11, (BOTH,)))))
    found = []
    for cost in (1000, 36):
        monkeypatch.setattr("poolwright.plan.what_if.mend.MAX_COST", cost)
        mending = find_mends(demand, judge(demand)).workloads[0]
        found.append([(one.edit.count, one.is_least) for one in mending.mends])
    assert found == [[(11, True)], [(16, False)]]


# What follows makes each change in the world, where nobody asks the code that makes it in the demand.


def change_world(world: World, at: int, edit: Edit, zones: Sequence[str]) -> World:
    if edit.kind == "node":
        for _ in range(edit.count):
            world = _add(world, int(edit.name[1:]), world.nodes[int(edit.name[1:])], is_node=True)
        return world
    if edit.device is not None:
        device = int(edit.device[2][1:])
        node = next(number for number, own in enumerate(world.nodes) if device in own)
        return _add(world, node, (device,), is_node=False)
    want = world.pods[at]
    if edit.kind == "replicas":
        want = replace(want, replicas=want.replicas - edit.count)
    elif edit.kind == "class":
        want = replace(want, accepts=(*want.accepts, world.pods[int(edit.name[1:])].accepts[0]))
    else:
        nodes = range(len(world.nodes))
        want = replace(want, nodes=tuple(node for node in nodes if edit.name in ("", zones[node])))
    return replace(world, pods=(*world.pods[:at], want, *world.pods[at + 1 :]))


def _add(world: World, node: int, like: Sequence[int], *, is_node: bool) -> World:
    """The world with devices like these on the node, or on a new one like it."""
    start = max((device for own in world.nodes for device in own), default=-1) + 1
    twins = dict(zip(like, range(start, start + len(like)), strict=True))
    new = tuple(twins.values())
    nodes = (
        (*world.nodes, new) if is_node else (*world.nodes[:node], (*world.nodes[node], *new), *world.nodes[node + 1 :])
    )
    pods = tuple(
        replace(
            want,
            accepts=tuple(one | {twins[device] for device in one if device in twins} for one in want.accepts),
            nodes=(*want.nodes, len(world.nodes)) if is_node and want.nodes and node in want.nodes else want.nodes,
        )
        for want in world.pods
    )
    values = {**world.values, **{twins[one]: world.values[one] for one in like if one in world.values}}
    return replace(world, nodes=nodes, pods=pods, values=values)


def list_lies(world: World, demand: Demand, zones: Sequence[str], choices: Mapping[str, ClassChoice]) -> list[str]:
    """What is said to mend a verdict and doesn't, or not to and does."""
    lies = []
    for mending in find_mends(demand, judge(demand), choices).workloads:
        at = [one.title for one in demand.workloads].index(mending.before.workload)
        for trial in mending.trials:
            changed = change_world(world, at, trial.edit, zones)
            if sum(map(len, changed.nodes)) > MAX_DEVICES:
                continue
            truth, alone = try_packings(changed), replace(mending, trials=(trial,))
            replicas = trial.after.replicas
            always, best = truth.always[at] == replicas, truth.at_best[at] == replicas
            if alone.mends and not (always or (trial.after.word == "order-dependent" and best)):
                lies.append(f"{mending.before.workload}: {say_edit(trial.edit)} doesn't mend it")
            if alone.vain and (always or (best and mending.before.word == "unsatisfied")):
                lies.append(f"{mending.before.workload}: {say_edit(trial.edit)} does mend it")
    return lies


SEEDS = 60
MAX_DEVICES = 10  # of a world of which every packing is tried


def test_mends_are_true_of_single_devices() -> None:
    kinds: Counter[str] = Counter()
    for seed in range(SEEDS):
        world = draw_singles(seed, alternatives=False)
        demand = ask_by_class(demand_of(world), world, {})
        names = [f"k{at}" for at in range(len(world.pods))]
        choices = {f"w{at}": ClassChoice(named=(own,), further=tuple(names)) for at, own in enumerate(names)}
        kinds.update(
            one.edit.kind for mending in find_mends(demand, judge(demand), choices).workloads for one in mending.mends
        )
        assert list_lies(world, demand, (), choices) == [], seed
    assert min(kinds[kind] for kind in ("node", "device", "class", "replicas")) > 3


def test_mends_are_true_of_zones() -> None:
    count = 0
    for seed in range(SEEDS):
        drawn = draw_singles(seed) if seed % 2 else draw_mixed(seed)
        zones = tuple("ab"[at % 2] for at in range(len(drawn.nodes)))
        selects = {at: "ab"[(seed + at) % 2] for at in range(len(drawn.pods)) if (seed + at) % 3}
        pods = [
            replace(want, nodes=tuple(node for node, zone in enumerate(zones) if selects.get(at, zone) == zone))
            for at, want in enumerate(drawn.pods)
        ]
        world = replace(drawn, pods=tuple(pods))
        plain = demand_of(replace(drawn, pods=tuple(replace(want, nodes=None) for want in drawn.pods)))
        demand = place_in_zones(plain, zones, selects)
        found = find_mends(demand, judge(demand)).workloads
        count += sum(one.edit.kind == "zone" for mending in found for one in mending.mends)
        assert list_lies(world, demand, zones, {}) == [], seed
    assert count > 10


def test_mends_are_true_of_several_devices() -> None:
    count = 0
    for seed in range(SEEDS * 2):
        world = draw_mixed(seed)
        demand = demand_of(world)
        count += sum(len(one.mends) for one in find_mends(demand, judge(demand)).workloads)
        assert list_lies(world, demand, (), {}) == [], seed
    assert count > 20


def test_the_world_of_a_change_is_the_demand_of_it() -> None:
    """What the truth is asked of has as many devices as what is judged."""
    world = World(((0, 1), (2,)), (Want(1, (BOTH,)),))
    grown = change_world(world, 0, Edit(kind="node", name=node_name(0), count=2), ())
    assert grown.nodes == ((0, 1), (2,), (3, 4), (5, 6))
    assert grown.pods[0].accepts == (frozenset({0, 1, 3, 4, 5, 6}),)
