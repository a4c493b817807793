"""The cases that show where any-device and first-fit part, by their names in the theory of verdicts."""

from __future__ import annotations

from oracles import try_allocator, try_packings

from plan_world import Want, World, demand_of
from poolwright.plan.engine import judge
from poolwright.plan.verdict import Count, exactly


def test_a_and_c_on_one_node() -> None:
    """`a` gets d1 as long as that is first, so `c` is safe until the driver lists d2 first."""
    a, c = Want(1, (frozenset({1, 2}),)), Want(1, (frozenset({2}),))
    world = World(((1, 2),), (a, c))
    verdict = judge(demand_of(world)).verdicts[1]
    assert (verdict.word, verdict.always, verdict.at_best) == ("order-dependent", exactly(0), exactly(1))
    assert verdict.worst is not None
    assert verdict.worst.replays == "after-reordering-or-restart"
    assert (try_allocator(world, reorders=False).always, try_allocator(world, reorders=True).always) == ((1, 1), (1, 0))
    turned = judge(demand_of(World(((2, 1),), (a, c)))).verdicts[1]
    assert turned.worst is not None
    assert turned.worst.replays == "now"
    assert [(move.workload, move.devices[0][2]) for move in turned.worst.moves] == [("w0", "d2")]


X = {1: 1, 2: 1, 3: 3, 4: 3, 5: 5}
Y = {1: 1, 3: 1, 2: 2, 5: 2, 4: 4}


def test_p_and_q_take_two_devices_each() -> None:
    """A packing holds both; the allocator never places both, in either order, so that isn't promised."""
    five = frozenset({1, 2, 3, 4, 5})
    values = {device: {"x": X[device], "y": Y[device]} for device in five}
    world = World(((1, 2, 3, 4, 5),), (Want(1, (five,), 2, "x"), Want(1, (five,), 2, "y")), values)
    assert (try_packings(world).most, try_allocator(world, reorders=False).most) == (2, 1)
    found = judge(demand_of(world))
    assert found.shortfall == Count(0, 1)
    assert [(one.word, one.always, one.at_best) for one in found.verdicts] == [
        ("order-dependent", exactly(0), exactly(1)),
        ("order-dependent", exactly(0), exactly(1)),
    ]


def matching_world(triples: list[tuple[int, int, int]], size: int) -> World:
    """One node per triple with d1, d2, d3; x takes d1, y takes d2, z any; fillers and the victim take every d3."""
    first, second, third = ({number: 3 * number + at for number in range(len(triples))} for at in range(3))
    pods = []
    for element in range(size):
        own = [number for number, triple in enumerate(triples) if triple[0] == element]
        pods.append(Want(1, (frozenset(first[number] for number in own),)))
        own = [number for number, triple in enumerate(triples) if triple[1] == element]
        pods.append(Want(1, (frozenset(second[number] for number in own),)))
        own = [number for number, triple in enumerate(triples) if triple[2] == element]
        pods.append(Want(1, (frozenset(3 * number + at for number in own for at in range(3)),)))
    last = frozenset(third.values())
    fillers = [Want(len(triples) - size, (last,))] if len(triples) > size else []
    nodes = tuple((first[number], second[number], third[number]) for number in range(len(triples)))
    return World(nodes, (*pods, *fillers, Want(1, (last,))))


def test_three_dimensional_matching() -> None:
    """The victim can be left out first-fit iff there is a perfect matching: the word doesn't wait for that."""
    matched = matching_world([(0, 0, 0), (1, 1, 1)], 2)
    verdict = judge(demand_of(matched)).verdicts[-1]
    assert (verdict.word, verdict.always) == ("order-dependent", exactly(0))
    assert try_allocator(matched, reorders=False).always[-1] == 0
    # y = 1 stands in no triple.
    unmatched = matching_world([(0, 0, 0), (1, 0, 1)], 2)
    verdict = judge(demand_of(unmatched)).verdicts[-1]
    assert (verdict.word, verdict.always) == ("order-dependent", exactly(0))
    assert verdict.worst is not None
    assert verdict.worst.replays == "after-reordering-or-restart"
    assert try_allocator(unmatched, reorders=False).always[-1] == 1
