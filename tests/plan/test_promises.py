"""What specs promise against what is true: verdicts by replicaBehavior, surge, and headroom for losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from plan_world import Want, World, demand_of
from poolwright.catalog.inventory import ZONE_LABEL
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge
from poolwright.plan.promises.check import check_promises
from poolwright.plan.promises.promised import LostThing, Promise, Tolerance
from poolwright.plan.what_if.joint import MAX_CASES
from poolwright.specs.envelope import ReplicaBehavior
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place

Said = list[tuple[str, str, str, str]]  # code, severity, field, what


def promise(at: int, behavior: ReplicaBehavior, least: int, most: int, surge: int = 0) -> Promise:
    return Promise(
        workload=f"w{at}",
        unit=f"w{at}",
        pool="p",
        envelope="e@1.0.0",
        behavior=behavior,
        least=least,
        most=most,
        surge=surge,
        least_place=Place("f", at + 1, 1, "least"),
        most_place=Place("f", at + 1, 2, "most"),
        surge_place=Place("f", at + 1, 3, "surge"),
    )


def find(demand: Demand, *promises: Promise, tolerances: tuple[Tolerance, ...] = ()) -> tuple[Finding, ...]:
    """The findings, each workload's replicas being its promise's peak, and its minimum too."""
    own = {one.workload: one for one in promises}
    workloads = tuple(
        replace(one, replicas=own[one.title].peak, minimum=own[one.title].least)
        if one.title in own
        else replace(one, minimum=one.replicas)
        for one in demand.workloads
    )
    demand = replace(demand, workloads=workloads)
    return check_promises(plan_of(demand, promises, tolerances), demand, judge(demand))


def plan_of(demand: Demand, promises: tuple[Promise, ...], tolerances: tuple[Tolerance, ...] = ()) -> ClusterPlan:
    return ClusterPlan(
        name="c",
        minor="1.37",
        gates={},
        features=demand.features,
        nodes=demand.nodes,
        slices=demand.slices,
        peaks={},
        promises=promises,
        tolerances=tolerances,
    )


def say(findings: tuple[Finding, ...]) -> Said:
    return [(one.code, one.severity, one.place.field, one.what) for one in findings]


def on(devices: int, *others: Want) -> World:
    """A node of so many devices, all of which the first workload takes, and others."""
    return World((tuple(range(devices)),), (Want(1, (frozenset(range(devices)),)), *others))


ONE_OTHER = Want(1, (frozenset(range(9)),))
AT_LEAST, AT_MOST = 'placement "w0" at minReplicas', 'placement "w0" at maxReplicas'


def left(count: int, total: int) -> str:
    return f"some order leaves it with {count} of {total} replica{'' if total == 1 else 's'}"


def never(count: int, total: int) -> str:
    if not count:
        return "no order serves any of its replicas"
    return f"at most {count} of {total} replicas {'finds' if count == 1 else 'find'} devices, in every order"


NOT_PROVEN = "it isn't proven that all of 2 replicas find devices in every order"
BEHAVIOR: dict[str, tuple[World, Promise, Said]] = {
    "stable-with-room-for-all": (on(4, ONE_OTHER), promise(0, "stable", 1, 2, 1), []),
    "stable-without-room-for-its-surge": (
        on(3, ONE_OTHER),
        promise(0, "stable", 1, 2, 1),
        [("surge-short", "error", "surge", f"{AT_MOST} and surge: {left(2, 3)}")],
    ),
    "stable-without-room-at-its-maximum": (
        on(3, ONE_OTHER),
        promise(0, "stable", 1, 3, 1),
        [("verdict-short", "error", "most", f"{AT_MOST}: {left(2, 3)}")],
    ),
    "stable-that-never-all-fit": (
        on(3),
        promise(0, "stable", 4, 4),
        [("verdict-short", "error", "least", f"{AT_LEAST}: {never(3, 4)}")],
    ),
    "relocatable-sure-of-its-minimum": (on(3, ONE_OTHER), promise(0, "relocatable", 2, 5), []),
    "relocatable-without-room-for-its-surge": (
        on(3, ONE_OTHER),
        promise(0, "relocatable", 2, 2, 1),
        [("surge-short", "warning", "surge", f"{AT_MOST} and surge: {left(2, 3)}")],
    ),
    "relocatable-whose-surge-never-fits": (
        on(3, ONE_OTHER),
        promise(0, "relocatable", 2, 3, 1),
        [("surge-short", "error", "surge", f"{AT_MOST} and surge: {never(3, 4)}")],
    ),
    "relocatable-that-others-can-keep-out": (
        on(3, ONE_OTHER),
        promise(0, "relocatable", 3, 3),
        [("verdict-short", "warning", "least", f"{AT_LEAST}: {left(2, 3)}")],
    ),
    "relocatable-that-never-all-fit": (
        on(2),
        promise(0, "relocatable", 3, 4),
        [("verdict-short", "error", "least", f"{AT_LEAST}: {never(2, 3)}")],
    ),
    "queueable-of-which-one-fits-in-some-order": (on(1, ONE_OTHER), promise(0, "queueable", 4, 8), []),
    "queueable-without-a-device": (
        on(0, ONE_OTHER),
        promise(0, "queueable", 1, 1),
        [("verdict-short", "error", "least", 'placement "w0": no order serves any of its replicas')],
    ),
}


@pytest.mark.parametrize(("world", "given", "said"), BEHAVIOR.values(), ids=BEHAVIOR)
def test_behavior(world: World, given: Promise, said: Said) -> None:
    assert say(find(demand_of(world), given)) == said


def test_fewer_replicas_are_judged_again_with_all_others_at_their_peak() -> None:
    """Two pairs on two nodes of two devices: one single pod keeps one pair out, two of them keep out both."""
    pairs = Want(2, (frozenset(range(4)),), count=2)
    for others, said in ((1, []), (2, [left(0, 1)])):
        demand = demand_of(World(((0, 1), (2, 3)), (pairs, Want(others, (frozenset(range(4)),)))))
        found = find(demand, promise(0, "relocatable", 1, 2))
        assert [one.what.rpartition(": ")[2] for one in found] == said


@pytest.mark.parametrize(
    ("behavior", "what"),
    [
        ("stable", f'placement "w0" at minReplicas: {NOT_PROVEN}'),
        ("relocatable", f'placement "w0" at minReplicas: {NOT_PROVEN}'),
        ("queueable", 'placement "w0": it isn\'t proven that any order serves a replica'),
    ],
)
def test_what_is_not_known_is_a_warning(behavior: ReplicaBehavior, what: str) -> None:
    demand = demand_of(on(4))
    demand = replace(demand, workloads=(replace(demand.workloads[0], unjudged=("a pod affinity",)),))
    (found,) = find(demand, promise(0, behavior, 2, 2))
    assert (found.code, found.severity, found.what) == ("verdict-short", "warning", what)


def test_an_attempt_that_ends_is_an_error() -> None:
    demand = demand_of(on(4))
    pod = replace(demand.workloads[0].pods[0], problem="no template")
    demand = replace(demand, workloads=(replace(demand.workloads[0], pods=(pod,)),))
    (found,) = find(demand, promise(0, "relocatable", 1, 1))
    assert (found.severity, found.what) == (
        "error",
        'placement "w0" at minReplicas: an attempt to place it ends with an error',
    )


def any_of(thing: LostThing, count: int = 1) -> Tolerance:
    return Tolerance(pool="p", thing=thing, count=count, place=Place("p", 1, 1, thing))


def alike(nodes: int, size: int, *wants: Want) -> World:
    return World(tuple(tuple(range(at * size, (at + 1) * size)) for at in range(nodes)), wants)


ALL = (frozenset(range(100)),)
SINGLE, PAIR = Want(1, ALL), Want(1, ALL, count=2)
HEADROOM: dict[str, tuple[World, tuple[Promise, ...], Tolerance, list[tuple[str, str]]]] = {
    "room-for-the-minimum": (alike(2, 2, SINGLE), (promise(0, "stable", 2, 3),), any_of("node"), []),
    "no-room-for-it": (
        alike(2, 2, SINGLE),
        (promise(0, "queueable", 3, 3),),
        any_of("node"),
        [("error", f"{AT_LEAST}, without node n0: {never(2, 3)}")],
    ),
    "others-count-at-their-minimum": (
        alike(2, 2, SINGLE, SINGLE),
        (promise(0, "stable", 1, 1), promise(1, "queueable", 1, 3)),
        any_of("node"),
        [],
    ),
    "a-stable-one-that-others-can-keep-out": (
        alike(2, 2, PAIR, SINGLE),
        (promise(0, "stable", 1, 1),),
        any_of("node"),
        [("error", f"{AT_LEAST}, without node n0: {left(0, 1)}")],
    ),
    "a-relocatable-one-is-warned-of": (
        alike(2, 2, PAIR, SINGLE),
        (promise(0, "relocatable", 1, 1),),
        any_of("node"),
        [("warning", f"{AT_LEAST}, without node n0: {left(0, 1)}")],
    ),
    "a-queueable-one-may-wait": (alike(2, 2, PAIR, SINGLE), (promise(0, "queueable", 1, 1),), any_of("node"), []),
    "two-nodes-of-three": (alike(3, 2, SINGLE), (promise(0, "stable", 2, 2),), any_of("node", 2), []),
    "two-nodes-of-three-are-too-many": (
        alike(3, 2, SINGLE),
        (promise(0, "stable", 3, 3),),
        any_of("node", 2),
        [("error", f"{AT_LEAST}, without nodes n0 and n1: {never(2, 3)}")],
    ),
    "more-than-there-are": (
        alike(1, 2, SINGLE),
        (promise(0, "stable", 1, 1),),
        any_of("node", 2),
        [("error", f"{AT_LEAST}, without node n0: {never(0, 1)}")],
    ),
    # Pairs on one node each: a device of each of two nodes ends both, two devices of one node only one.
    "devices-of-unlike-places": (
        alike(3, 2, PAIR),
        (promise(0, "stable", 2, 2),),
        any_of("device", 2),
        [("error", f"{AT_LEAST}, without devices x.dev/n0/d0 and x.dev/n1/d2: {never(1, 2)}")],
    ),
    # Each may wait for the other, and one of them waits for ever.
    "each-alone-and-not-together": (
        alike(2, 1, SINGLE, SINGLE),
        (promise(0, "queueable", 1, 1), promise(1, "queueable", 1, 1)),
        any_of("node"),
        [
            (
                "error",
                'pool "p", without node n0: at least 1 of the 2 replicas that are its minimum finds no devices, in '
                "every order",
            )
        ],
    ),
    "a-zone-that-is-not-said": (
        alike(2, 1, SINGLE),
        (promise(0, "stable", 1, 1),),
        any_of("zone"),
        [("warning", "that pool \"p\" keeps every minReplicas isn't proven: the zone of n0, n1 isn't known")],
    ),
}


@pytest.mark.parametrize(("world", "given", "tolerance", "said"), HEADROOM.values(), ids=HEADROOM)
def test_headroom(world: World, given: tuple[Promise, ...], tolerance: Tolerance, said: list[tuple[str, str]]) -> None:
    found = [one for one in find(demand_of(world), *given, tolerances=(tolerance,)) if one.code == "headroom-short"]
    assert [(one.severity, one.what) for one in found] == said
    assert {one.place for one in found} <= {tolerance.place}


def test_zones_are_lost_whole() -> None:
    demand = demand_of(alike(4, 1, SINGLE))
    nodes = tuple(replace(node, labels={ZONE_LABEL: f"z{at // 2}"}) for at, node in enumerate(demand.nodes))
    zoned = replace(demand, nodes=nodes)
    for least, severities in ((2, []), (3, ["error"])):
        found = find(zoned, promise(0, "queueable", least, least), tolerances=(any_of("zone"),))
        assert [one.severity for one in found] == severities


def test_reservations_count_whole_and_promise_nothing() -> None:
    demand = demand_of(alike(2, 2, SINGLE, Want(1, ALL)))
    reserved = replace(demand, workloads=(demand.workloads[0], replace(demand.workloads[1], is_reservation=True)))
    found = find(reserved, promise(0, "stable", 2, 2), tolerances=(any_of("node"),))
    assert [(one.code, one.severity, one.what.rpartition(": ")[2]) for one in found] == [
        ("headroom-short", "error", left(1, 2))
    ]


def test_other_pools_are_not_promised_anything() -> None:
    demand = demand_of(alike(2, 1, SINGLE, SINGLE))
    other = replace(promise(1, "stable", 1, 1), pool="other")
    found = find(demand, promise(0, "queueable", 1, 1), other, tolerances=(any_of("node"),))
    assert say(found) == []


def test_what_is_short_with_everything_there_is_said_once() -> None:
    """The node's loss leaves an order-dependent one as it is; where it then never fits, that is said too."""
    for nodes, codes in ((3, ["verdict-short"]), (1, ["verdict-short", "headroom-short"])):
        others = Want(nodes, ALL)
        demand = demand_of(alike(nodes, 2, PAIR, others))
        found = find(demand, promise(0, "relocatable", 1, 1), tolerances=(any_of("node"),))
        assert sorted(one.code for one in found) == sorted(codes)


def test_too_many_losses_are_not_taken_for_survived() -> None:
    numbers = iter(range(1000))
    nodes = tuple(tuple(next(numbers) for _ in range(size)) for size in range(1, 21))
    everything = frozenset(device for node in nodes for device in node)
    found = find(
        demand_of(World(nodes, (Want(1, (everything,)),))), promise(0, "stable", 1, 1), tolerances=(any_of("node", 2),)
    )
    assert [(one.severity, one.what) for one in found] == [
        (
            "warning",
            f'that pool "p" keeps every minReplicas isn\'t proven: there are more than {MAX_CASES} losses that differ',
        )
    ]


def test_a_cluster_that_is_not_empty_is_promised_nothing() -> None:
    demand = replace(demand_of(on(1)), scenario="live")
    assert find(demand, promise(0, "stable", 2, 2), tolerances=(any_of("node"),)) == ()


EXITS: Mapping[str, tuple[dict[str, Any], int]] = {
    "an-error-is-a-no": ({"severity": "error"}, 1),
    "a-warning-is-not": ({"severity": "warning"}, 0),
}


@pytest.mark.parametrize(("given", "code"), EXITS.values(), ids=EXITS)
def test_exit_code(given: dict[str, Any], code: int) -> None:
    demand = demand_of(on(3))
    found = Finding(code="surge-short", place=Place("f"), what="w", why="y", fix="x", **given)
    answer = ClusterAnswer(cluster=plan_of(demand, ()), demand=demand, judgement=judge(demand), findings=(found,))
    assert answer.exit_code == code
