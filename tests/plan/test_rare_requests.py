"""What is said of requests for all devices of a node, and of those for administration."""

from __future__ import annotations

from dataclasses import replace

from plan_world import EVERY, Group, Need, Option, Part, Want, World, demand_of
from poolwright.plan.engine import judge
from poolwright.plan.verdict import Judgement


def say(found: Judgement) -> list[tuple[str, str, str, str]]:
    return [(one.word, str(one.always), str(one.at_best), one.method) for one in found.verdicts]


def takes_one_of(replicas: int, *options: Option) -> Group:
    return Group(replicas, (Part(Need((options,))),))


def test_all_devices_of_an_alternative_are_some() -> None:
    """And none of them is out of reach: else the alternative takes nothing because it isn't given, not for free."""
    every, one = Option(frozenset({0}), EVERY), Option(frozenset({1}))
    here = World(((0, 1),), (takes_one_of(3, every, one),))
    assert say(judge(demand_of(here))) == [("unsatisfied", "2", "2", "node search")]
    elsewhere = World(((1,),), (takes_one_of(2, every, one),))
    assert say(judge(demand_of(elsewhere))) == [("unsatisfied", "1", "1", "node search")]
    tainted = World(
        ((0, 1),), (takes_one_of(2, replace(every, accepts=frozenset({0, 1})), one),), tainted=frozenset({0})
    )
    assert say(judge(demand_of(tainted))) == [("unsatisfied", "1", "1", "node search")]


def looks_after(replicas: int, *devices: int, count: int = 1) -> Group:
    return Group(replicas, (Part(Need(((Option(frozenset(devices), count, is_admin=True),),))),))


def test_who_looks_after_devices_needs_no_free_one() -> None:
    """And takes none from others, however many it is for."""
    taker = Want(2, (frozenset({0, 1}),))
    for count in (1, 2, EVERY):
        found = judge(demand_of(World(((0, 1),), (taker, looks_after(5, 0, 1, count=count)))))
        assert say(found) == [("always-fits", "2", "2", "single-device flow"), ("always-fits", "5", "5", "alone")]
    found = judge(demand_of(World(((0, 1),), (taker, looks_after(5, 0, 1, count=3)))))
    assert say(found)[1] == ("unsatisfied", "0", "0", "alone")


def test_who_looks_after_a_partition_needs_room_on_its_counters() -> None:
    """For as long as its attempt takes. A pod that has the other partition leaves too little, though none is taken."""
    world = World(((0, 1),), (looks_after(1, 0), Want(1, (frozenset({1}),))), charges={0: 2, 1: 1}, counter=2)
    assert [(one.word, str(one.always)) for one in judge(demand_of(world)).verdicts] == [
        ("order-dependent", "0"),
        ("always-fits", "1"),
    ]
    both = Need(((Option(frozenset({0, 1}), 2, is_admin=True),), (Option(frozenset({0, 1, 2})),)))
    world = World(((0, 1, 2),), (Group(2, (Part(both),)),), charges=dict.fromkeys(range(3), 1), counter=3)
    assert say(judge(demand_of(world))) == [("undecided", "1", "1-2", "bounds and witnesses")]
