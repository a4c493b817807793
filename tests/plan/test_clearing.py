"""What clears a shortfall: so many more nodes or devices like one that is there, and not one fewer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from oracles import try_packings

from plan_world import Want, World, demand_of, draw_mixed, draw_partitions, draw_singles
from poolwright.plan.engine import judge
from poolwright.plan.verdict import exactly
from poolwright.plan.what_if.clearing import Clearing, Option, judge_clearing


def clear(world: World) -> tuple[Clearing, ...]:
    demand = demand_of(world)
    return judge_clearing(demand, judge(demand))


def node(like: str, count: int, devices: int) -> Option:
    return Option(thing="node", like=like, count=exactly(count), devices=devices)


def device(like: str, count: int) -> Option:
    return Option(thing="device", like=f"x.dev/{like}", count=exactly(count), devices=count)


SIX = frozenset(range(6))
MAX_DEVICES = 7  # of a world of which every packing is tried
ROWS: dict[str, tuple[World, tuple[Clearing, ...]]] = {
    "nothing-is-short": (World((tuple(range(6)),), (Want(6, (SIX,)),)), ()),
    # Devices one by one are fewest; of nodes the one of three comes before two of two.
    "fewest-devices-first": (
        World(((0, 1), (2, 3, 4)), (Want(8, (frozenset(range(5)),)),)),
        (
            Clearing(
                workloads=("w0",),
                shortfall=exactly(3),
                options=(device("n0/d0", 3), node("n1", 1, 3), node("n0", 2, 4)),
            ),
        ),
    ),
    "pairs-take-nodes": (
        World(((0, 1), (2, 3, 4, 5)), (Want(4, (SIX,), 2),)),
        (Clearing(workloads=("w0",), shortfall=exactly(1), options=(node("n0", 1, 2), node("n1", 1, 4))),),
    ),
    # Nodes that are alike are one option, by the first name.
    "alike-nodes-are-one": (
        World(((0, 1), (2, 3)), (Want(3, (frozenset(range(4)),), 2),)),
        (Clearing(workloads=("w0",), shortfall=exactly(1), options=(node("n0", 1, 2),)),),
    ),
    "each-set-by-itself": (
        World(((0,), (1,)), (Want(2, (frozenset({0}),)), Want(3, (frozenset({1}),)))),
        (
            Clearing(workloads=("w0",), shortfall=exactly(1), options=(device("n0/d0", 1), node("n0", 1, 1))),
            Clearing(workloads=("w1",), shortfall=exactly(2), options=(device("n1/d1", 2), node("n1", 2, 2))),
        ),
    ),
    "no-selector-accepts-anything": (
        World(((0,),), (Want(1, (frozenset(),)),)),
        (
            Clearing(
                workloads=("w0",),
                shortfall=exactly(1),
                reasons=(
                    "w0: no node like one that is there can serve it: request r: 1 device on 1 node: "
                    "1 fails false; 0 left, 1 wanted",
                ),
            ),
        ),
    ),
    "no-node-is-large-enough": (
        World(((0, 1),), (Want(1, (frozenset({0, 1}),), 3),)),
        (
            Clearing(
                workloads=("w0",),
                shortfall=exactly(1),
                reasons=(
                    "w0: no node like one that is there can serve it: request r: 2 devices on 1 node; 2 left, 3 wanted",
                ),
            ),
        ),
    ),
    # Four devices are enough by number, and no node of three holds two pairs.
    "counting-devices-is-not-enough": (
        World(((0, 1, 2),), (Want(3, (frozenset({0, 1, 2}),), 2),)),
        (Clearing(workloads=("w0",), shortfall=exactly(2), options=(node("n0", 2, 6),)),),
    ),
    # The dearest, a node of five, isn't said.
    "three-are-said": (
        World(((0,), (1, 2), (3, 4, 5), tuple(range(6, 11))), (Want(12, (frozenset(range(11)),)),)),
        (
            Clearing(
                workloads=("w0",),
                shortfall=exactly(1),
                options=(device("n0/d0", 1), node("n0", 1, 1), node("n1", 1, 2)),
            ),
        ),
    ),
    # One kind of node doesn't serve both, and both compete for what a third takes.
    "several-sorts-are-needed": (
        World(
            ((0,), (1,)),
            (Want(2, (frozenset({0}),)), Want(2, (frozenset({1}),)), Want(1, (frozenset({0, 1}),))),
        ),
        (
            Clearing(
                workloads=("w0", "w1", "w2"),
                shortfall=exactly(3),
                reasons=("64 more like x.dev/n0/d0, x.dev/n1/d1, n0 or another of 4 weren't shown to do",),
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_what_clears_a_shortfall(name: str) -> None:
    world, expected = ROWS[name]
    assert clear(world) == expected


def test_beyond_the_most_that_are_tried() -> None:
    (found,) = clear(World(((0,),), (Want(66, (frozenset({0}),)),)))
    assert (found.options, found.reasons) == ((), ("64 more like x.dev/n0/d0, n0 weren't shown to do",))
    (found,) = clear(World(((0,),), (Want(65, (frozenset({0}),)),)))
    assert [one.count for one in found.options] == [exactly(64), exactly(64)]


def test_what_is_not_looked_at_is_not_cleared() -> None:
    demand = demand_of(World(((0,),), (Want(2, (frozenset({0}),)),)))
    demand = replace(demand, workloads=(replace(demand.workloads[0], unjudged=("pod affinity",)),))
    assert [(one.options, one.reasons) for one in judge_clearing(demand, judge(demand))] == [((), ("w0 isn't judged",))]


def grow(world: World, option: Option, count: int) -> World:
    """The world with copies under numbers of their own, which every pod takes as it takes what they are copies of."""
    copied: dict[int, list[int]] = {}
    nodes = [list(own) for own in world.nodes]
    free = 1 + max(one for own in world.nodes for one in own)
    name = option.like.rpartition("/")[2]
    for _ in range(count):
        at = int(option.like[1:]) if option.thing == "node" else -1
        originals = world.nodes[at] if option.thing == "node" else (int(name[1:]),)
        numbers = list(range(free, free + len(originals)))
        free += len(originals)
        for one, number in zip(originals, numbers, strict=True):
            copied.setdefault(one, []).append(number)
        if option.thing == "node":
            nodes.append(numbers)
        else:
            next(own for own in nodes if originals[0] in own).extend(numbers)
    pods = []
    for want in world.pods:
        accepts = tuple(one | {new for old in one for new in copied.get(old, ())} for one in want.accepts)
        open_to = want.nodes
        if open_to is not None and option.thing == "node" and int(option.like[1:]) in open_to:
            open_to = (*open_to, *range(len(world.nodes), len(nodes)))
        pods.append(replace(want, accepts=accepts, nodes=open_to))
    more = {new: old for old, found in copied.items() for new in found}
    return replace(
        world,
        nodes=tuple(map(tuple, nodes)),
        pods=tuple(pods),
        values={**world.values, **{new: world.values.get(old, {}) for new, old in more.items()}},
        charges={**world.charges, **{new: world.charges[old] for new, old in more.items() if old in world.charges}},
    )


@pytest.mark.parametrize("draw", [draw_singles, draw_mixed, draw_partitions])
def test_so_many_do_and_fewer_do_not(draw: Callable[[int], World]) -> None:
    """Against all packings of the grown world. Selectors go by an attribute that copies have too, and so match them."""
    checked = 0
    for seed in range(60):
        world = draw(seed)
        for found in clear(world):
            members = [int(title[1:]) for title in found.workloads]
            own = replace(world, pods=tuple(world.pods[at] for at in members))
            for option in found.options:
                demanded = sum(want.replicas for want in own.pods)
                grown = grow(own, option, option.count.most)
                if sum(map(len, grown.nodes)) <= MAX_DEVICES:
                    assert try_packings(grown).most == demanded, (seed, option)
                    short = demanded - try_packings(grow(own, option, option.count.least - 1)).most
                    assert short > 0, (seed, option)
                    checked += 1
    assert checked > 8
