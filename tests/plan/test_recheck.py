"""What became of a plan's witnesses: everything that comes otherwise is found, and nothing else is."""

from __future__ import annotations

import os
import random
from collections import Counter
from dataclasses import replace

import pytest
from witness_oracle import find_problem

from plan_world import FEATURES, Want, World, demand_of, draw_mixed, draw_partitions, draw_singles, pod_of, workload
from poolwright.allocation.subject import Subject, claim_key
from poolwright.catalog.resource_slice import CapacityOnDevice
from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge
from poolwright.plan.recheck import End, Recheck, recheck
from poolwright.plan.recorded import RecordedCluster, RecordedWitness
from poolwright.plan.verdict import Move, Replays, Witness
from poolwright.specs.quantity import parse_quantity

COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "150"))
DRAWN = {"singles": draw_singles, "mixed": draw_mixed, "partitions": draw_partitions}


def record(demand: Demand, *witnesses: RecordedWitness) -> RecordedCluster:
    titles = tuple(one.title for one in demand.workloads)
    return RecordedCluster(name="c", kubernetes="1.36", scenario="fresh", workloads=titles, witnesses=witnesses)


def list_recorded(demand: Demand) -> list[RecordedWitness]:
    found = []
    for verdict in judge(demand).verdicts:
        for role, witness in (("best", verdict.best), ("worst", verdict.worst)):
            if witness is not None:
                found.append(
                    RecordedWitness(
                        workloads=(verdict.workload,),
                        role=role,  # type: ignore[arg-type]
                        replicas=verdict.replicas,
                        witness=witness,
                    )
                )
    return found


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_as_it_was_comes_to_the_same(name: str) -> None:
    for seed in range(COUNT):
        demand = demand_of(DRAWN[name](seed))
        recorded = list_recorded(demand)
        for one in recheck(demand, record(demand, *recorded)):
            assert (one.problem, one.done) == ("", len(one.recorded.witness.moves)), seed
            assert one.end is not None
            reached = one.end.served if one.recorded.role == "best" else one.recorded.replicas - one.end.left_out
            assert reached == one.recorded.witness.placed, seed


@pytest.mark.parametrize("name", DRAWN)
def test_groups_and_shared_claims_come_to_the_same(name: str) -> None:
    kinds: Counter[str] = Counter()
    for seed in range(COUNT):
        demand = join(random.Random(seed), demand_of(DRAWN[name](seed)))
        for one in recheck(demand, record(demand, *list_recorded(demand))):
            assert one.problem == "", seed
            about = next(each for each in demand.workloads if each.title == one.recorded.title)
            kinds["group" if about.is_group else "shared" if about.shared else "plain"] += 1
    assert set(kinds) == {"group", "shared", "plain"}


def join(rng: random.Random, demand: Demand) -> Demand:
    """Some workloads of a demand share their claims, and some get another one's pod beside their own."""
    workloads = []
    for one in demand.workloads:
        pods = (rename(one.pods[0], f"{one.title}-0"),)
        if rng.random() < 0.4:
            pods = (*pods, rename(rng.choice(demand.workloads).pods[0], f"{one.title}-1"))
        keys = frozenset(claim_key(claim) for claim in pods[0].claims)
        is_shared = len(pods) == 1 and rng.random() < 0.5
        workloads.append(replace(one, pods=pods, shared=keys if is_shared else frozenset()))
    return replace(demand, workloads=tuple(workloads))


def rename(pod: Subject, name: str) -> Subject:
    """A pod whose claims are called by this name."""
    return replace(pod, name=name, claims=tuple(replace(claim, name=f"{name}-{claim.name}") for claim in pod.claims))


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_otherwise_is_found_out(name: str) -> None:
    """Witnesses that somebody changed, against what the worlds say of them by themselves."""
    seen: Counter[tuple[Replays, bool]] = Counter()
    for seed in range(COUNT):
        world, rng = DRAWN[name](seed), random.Random(seed)
        demand = demand_of(world)
        for one in list_recorded(demand):
            changed = replace(one, witness=change(rng, world, one.witness))
            (found,) = recheck(demand, record(demand, changed))
            at = int(one.title.removeprefix("w"))
            truth = find_problem(world, at, changed.witness, is_worst=one.role == "worst")
            assert (found.problem == "") == (truth == ""), (seed, changed, found, truth)
            seen[changed.witness.replays, truth == ""] += 1
    assert {is_same for _, is_same in seen} == {True, False}
    assert {replays for replays, _ in seen} >= {"now", "after-reordering-or-restart", "not-replayed"}


def change(rng: random.Random, world: World, witness: Witness) -> Witness:
    """One thing of a witness changed; now and then how it is said to come true too."""
    moves = list(witness.moves)
    at = rng.randrange(len(moves)) if moves else 0
    match rng.randrange(8) if moves else 8:
        case 0:
            del moves[at]
        case 1:
            rng.shuffle(moves)
        case 2:
            moves[at] = replace(moves[at], node=f"n{rng.randrange(len(world.nodes))}")
        case 3:
            numbers = rng.sample(range(6), len(moves[at].devices))
            devices = {(*moves[at].devices[0][:2], f"d{number}") for number in numbers}
            moves[at] = replace(moves[at], devices=tuple(sorted(devices)))
        case 4:
            moves[at] = replace(moves[at], replica=rng.randrange(4))
        case 5:
            moves[at] = replace(moves[at], pod=1)
        case 6:
            moves.insert(at, moves[at])
        case 7:
            moves[at] = replace(moves[at], workload=f"w{rng.randrange(len(world.pods))}")
    placed = max(0, witness.placed + rng.choice((-1, 0, 0, 0, 1)))
    match rng.randrange(4):
        case 0:
            return Witness(moves=tuple(moves), placed=placed, replays="not-replayed")
        case 1:
            order = rng.choice(("reversed", tuple(device for move in moves for device in move.devices)))
            return Witness(moves=tuple(moves), placed=placed, replays="after-reordering-or-restart", device_order=order)
        case _:
            return replace(witness, moves=tuple(moves), placed=placed)


# Two nodes of two devices. w0 takes any one, w1 both of a node, w2 only d0.
ANY = frozenset(range(4))
THEN = World(((0, 1), (2, 3)), (Want(2, (ANY,)), Want(1, (ANY,), 2), Want(1, (frozenset({0}),))))


def move(title: str, replica: int, node: int, *devices: int, pod: int = 0) -> Move:
    gets = tuple(("x.dev", f"n{node}", f"d{one}") for one in devices)
    return Move(workload=title, replica=replica, pod=pod, node=f"n{node}", devices=gets)


# Each node has one of w0, so that w1 is left out.
BLOCKED = (move("w0", 0, 0, 0), move("w0", 1, 1, 2))
# d1 and not d0, which no allocator gives first.
ODD = (move("w0", 0, 0, 1), move("w0", 1, 1, 3))
NOW: dict[str, tuple[World, tuple[Move, ...], Replays, int | None, str]] = {
    "as-it-was": (THEN, BLOCKED, "now", 2, ""),
    "another-order-of-devices": (
        replace(THEN, nodes=((0, 1), (3, 2))),
        BLOCKED,
        "now",
        1,
        "move 2 (w0#1 on n1): gets other devices: x.dev/n1/d3",
    ),
    "in-the-order-that-it-names": (THEN, ODD, "after-reordering-or-restart", 2, ""),
    "a-packing": (THEN, ODD, "not-replayed", 2, ""),
    "a-node-without-devices": (
        replace(THEN, nodes=((0, 1), ())),
        BLOCKED,
        "now",
        1,
        "move 2 (w0#1 on n1): the node can't serve it any more",
    ),
    "a-node-closed-to-it": (
        replace(THEN, pods=(replace(THEN.pods[0], nodes=(0,)), *THEN.pods[1:])),
        ODD,
        "not-replayed",
        1,
        "move 2 (w0#1 on n1): the node isn't open to it any more",
    ),
    "another-node": (
        replace(THEN, nodes=((0, 1), (2, 3), (4, 5)), pods=(THEN.pods[0], Want(1, (frozenset(range(6)),), 2))),
        BLOCKED,
        "now",
        2,
        "another replica gets devices: w1#0 on n2",
    ),
    "fewer-replicas": (
        replace(THEN, pods=(replace(THEN.pods[0], replicas=1), *THEN.pods[1:])),
        BLOCKED,
        "now",
        1,
        "move 2 (w0#1 on n1): the workload has 1 replica at its peak now",
    ),
    "more-replicas-of-its-own": (
        replace(THEN, pods=(THEN.pods[0], replace(THEN.pods[1], replicas=2), THEN.pods[2])),
        BLOCKED,
        "now",
        2,
        "the workload has 2 replicas at its peak now, and had 1",
    ),
    "a-pod-that-is-not-there": (
        THEN,
        (move("w0", 0, 0, 0, pod=1),),
        "now",
        0,
        "move 1 (w0#0, pod 1 on n0): a replica has 1 pod now",
    ),
    "a-pod-twice": (
        THEN,
        (BLOCKED[0], BLOCKED[0]),
        "now",
        1,
        "move 2 (w0#0 on n0): the pod has been placed before",
    ),
    "a-device-twice": (
        THEN,
        (move("w0", 0, 0, 1), move("w0", 1, 0, 1)),
        "not-replayed",
        1,
        "move 2 (w0#1 on n0): x.dev/n0/d1 is taken already",
    ),
    "a-device-that-is-not-there": (
        THEN,
        (move("w0", 0, 0, 7),),
        "not-replayed",
        0,
        "move 1 (w0#0 on n0): x.dev/n0/d7 isn't among the node's devices any more",
    ),
    "a-device-that-it-does-not-take": (
        THEN,
        (move("w2", 0, 0, 1),),
        "not-replayed",
        0,
        "move 1 (w2#0 on n0): the allocator doesn't give it these devices, even with no others free",
    ),
    "more-devices-than-it-takes": (
        THEN,
        (move("w0", 0, 0, 0, 1),),
        "not-replayed",
        0,
        "move 1 (w0#0 on n0): the allocator gives it only some of these devices, with no others free",
    ),
    "a-packing-that-is-not-told": (
        THEN,
        (move("w0", 0, 0),),
        "not-replayed",
        0,
        "move 1 (w0#0 on n0): the plan doesn't say which devices it gets, so it can't be checked",
    ),
    "more-than-the-counter-has": (
        replace(THEN, charges={0: 2, 2: 2, 3: 2}, counter=3),
        (move("w0", 0, 1, 2), move("w0", 1, 1, 3)),
        "not-replayed",
        2,
        "the counters of pool x.dev/n1 don't suffice for all of it",
    ),
}


@pytest.mark.parametrize("name", NOW)
def test_what_came_of_it(name: str) -> None:
    world, moves, replays, done, problem = NOW[name]
    demand = demand_of(world)
    order = ODD[0].devices + ODD[1].devices if replays == "after-reordering-or-restart" else None
    witness = Witness(moves=moves, placed=0, replays=replays, device_order=order)
    recorded = RecordedWitness(workloads=("w1",), role="worst", replicas=1, witness=witness)
    (found,) = recheck(demand, record(demand, recorded))
    assert (found.done, found.problem) == (done, problem)
    assert found == Recheck(recorded=recorded, done=found.done, end=found.end, problem=found.problem)
    if not problem:
        assert found.end == End(served=0, left_out=1)


def group(*, free: bool) -> Demand:
    """A replica of two pods, the first of which takes d0 and the second d1; and another workload for d1 and d2."""
    first, second = (workload("g", Want(1, (frozenset({one}),))).pods[0].claims[0] for one in (0, 1))
    other = workload("w", Want(1, (frozenset({1, 2}),)))
    devices = ((0, 2, 1) if free else (0, 1, 2),)
    demand = demand_of(World(devices, ()), features=FEATURES)
    both = replace(other, title="g", pods=(pod_of("g", first), pod_of("g", replace(second, name="e"))))
    return replace(demand, workloads=(both, other))


def test_a_group_is_left_out_when_one_of_its_pods_is() -> None:
    witness = Witness(moves=(move("w", 0, 0, 1),), placed=0, replays="now")
    recorded = RecordedWitness(workloads=("g",), role="worst", replicas=1, witness=witness)
    demand = group(free=False)
    (found,) = recheck(demand, record(demand, recorded))
    assert (found.problem, found.end) == ("", End(served=0, left_out=1))
    demand = group(free=True)
    (found,) = recheck(demand, record(demand, replace(recorded, witness=replace(witness, moves=(move("w", 0, 0, 2),)))))
    assert (found.problem, found.end) == (
        "a pod of another replica gets devices: g#0 on n0",
        End(served=0, left_out=0, open_to="g#0 on n0"),
    )


def test_a_group_is_served_when_all_its_pods_are() -> None:
    demand = group(free=True)
    moves = (move("g", 0, 0, 0), move("g", 0, 0, 1, pod=1))
    for moves_done, problem in ((moves, ""), (moves[:1], "0 of its replicas are served, and the plan says 1")):
        witness = Witness(moves=moves_done, placed=1, replays="now")
        recorded = RecordedWitness(workloads=("g",), role="best", replicas=1, witness=witness)
        (found,) = recheck(demand, record(demand, recorded))
        assert found.problem == problem


def test_shares_of_a_device_add_up() -> None:
    """Two claims of four fit on ten, as a packing too; a third one doesn't."""
    features = replace(FEATURES, consumable_capacity=True)
    base = demand_of(World(((0,),), (Want(3, (frozenset({0}),)),)), features=features)
    ten = CapacityOnDevice(name="memory", value=parse_quantity("10"))
    (device,) = base.slices[0].devices
    shared = replace(device, allow_multiple_allocations=True, capacity={("x.dev", "memory"): ten})
    pod = base.workloads[0].pods[0]
    (claim,) = pod.claims
    asked = replace(claim.requests[0].exactly, capacity={"memory": parse_quantity("4")})  # type: ignore[type-var]
    claim = replace(claim, requests=(replace(claim.requests[0], exactly=asked),))
    demand = replace(
        base,
        slices=(replace(base.slices[0], devices=(shared,)),),
        workloads=(replace(base.workloads[0], pods=(replace(pod, claims=(claim,)),)),),
    )
    moves = tuple(move("w0", number, 0, 0) for number in range(3))
    for count, problem in (
        (2, ""),
        (3, "move 3 (w0#2 on n0): the allocator doesn't give it these devices, even with no others free"),
    ):
        witness = Witness(moves=moves[:count], placed=count, replays="not-replayed")
        recorded = RecordedWitness(workloads=("w0",), role="worst", replicas=3, witness=witness)
        (found,) = recheck(demand, record(demand, recorded))
        assert (found.problem, found.done) == (problem, 2)
