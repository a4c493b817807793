"""What holds of every allocation, tried on random cases."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import pytest
from case_values import Json, build_world, render_outcome
from catalogue_run import allocate, shuffle
from catalogue_world import claim, device, devices, distinct, pool, request, world
from random_cases import build_case

from poolwright.allocation.allocator import Allocator
from poolwright.allocation.claim import AllocatedDevice, Allocation, Claim, Toleration
from poolwright.allocation.features import MINORS, Features
from poolwright.allocation.held import Held
from poolwright.allocation.outcome import Allocated, AttemptError, GaveUp, NotAllocated, Outcome
from poolwright.allocation.placing import Barred, Placement, Placer
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Taint
from poolwright.specs.quantity import parse_quantity

FEW_LOOKS = 20_000


def features_of(case: Json) -> Features:
    return Features(minor=case["minor"], **case["features"])


@pytest.mark.parametrize("minor", MINORS)
def test_order_of_what_is_given_does_not_matter(minor: str) -> None:
    for seed in range(60):
        case = build_case(seed, minor)
        assert ask(case) == ask(shuffle(case)), case["id"]


def ask(case: Json) -> Outcome:
    allocator, node, claims, held = build_world(case, features_of(case))
    return allocator.allocate(node, claims, held, max_looks=FEW_LOOKS)


# What is held


def random_allocation(rng: random.Random) -> Allocation:
    """Whole devices and shares, of few devices, so that they meet; amounts that add up to nothing are among them."""
    results = []
    for _ in range(rng.randint(1, 3)):
        result = AllocatedDevice(request="r", driver="d", pool=rng.choice("pq"), device=rng.choice("xy"))
        if rng.random() < 0.7:
            names = ("a", "b")[: rng.randint(0, 2)]
            taken = {name: parse_quantity(rng.choice(("0", "1", "-1", "500m"))) for name in names}
            share = f"0000000{rng.randrange(4)}-0000-4000-8000-000000000000"
            result = replace(result, share_id=share, consumed_capacity=taken or None)
        results.append(replace(result, admin_access=rng.random() < 0.1 or None))
    return Allocation(devices=tuple(results))


def test_held_is_undone() -> None:
    for seed in range(400):
        rng = random.Random(seed)
        held = Held(Features(minor="1.37", consumable_capacity=rng.random() < 0.9))
        kept = [random_allocation(rng) for _ in range(rng.randint(0, 3))]
        passing = [random_allocation(rng) for _ in range(rng.randint(1, 3))]
        for one in kept:
            held.add(one)
        before = view(held)
        for one in passing:
            held.add(one)
        rng.shuffle(passing)
        for one in passing:
            held.remove(one)
        assert view(held) == before, seed


def view(held: Held) -> Json:
    """Everything that can be asked of what is held, but versions, which only grow."""
    ids = [("d", pool_name, name) for pool_name in "pq" for name in "xy"]
    return {
        "/".join(one): (held.is_dedicated(one), held.is_shared(one), held.is_held(one), amounts(held.consumed(one)))
        for one in ids
    }


def amounts(consumed: Mapping[str, int] | None) -> Mapping[str, int] | None:
    return None if consumed is None else {name: amount for name, amount in consumed.items() if amount}


@cache
def other_claims(minor: str) -> list[list[Claim]]:
    """The claims of other cases."""
    cases = [build_case(10_000 + seed, minor) for seed in range(12)]
    return [build_world(case, features_of(case))[2] for case in cases]


def hold_more(case: Json, allocator: Allocator, node: Node, held: Held) -> int:
    """Let claims of other cases take what they can get here; how many did."""
    served = 0
    for claims in other_claims(case["minor"]):
        outcome = allocator.allocate(node, claims, held, max_looks=1000)
        if isinstance(outcome, Allocated):
            served += 1
            for one in outcome.allocations:
                held.add(one)
    return served


def whole_devices(case: Json, rng: random.Random) -> Allocation:
    """One to three of the devices there are, whoever has them."""
    specs = [one["spec"] for one in case["slices"]]
    ids = [(spec["driver"], spec["pool"]["name"], one["name"]) for spec in specs for one in spec.get("devices", ())]
    chosen = rng.sample(ids, min(len(ids), rng.randint(1, 3)))
    return Allocation(
        devices=tuple(
            AllocatedDevice(request="r", driver=driver, pool=name, device=one) for driver, name, one in chosen
        )
    )


# Placer rests on it when it remembers who was told no.
@pytest.mark.parametrize("minor", MINORS)
def test_a_no_stays_a_no_when_more_is_held(minor: str) -> None:
    asked = 0
    for seed in range(240):
        case = build_case(seed, minor)
        allocator, node, claims, held = build_world(case, features_of(case))
        if not isinstance(allocator.allocate(node, claims, held, max_looks=FEW_LOOKS), NotAllocated):
            continue
        for how in ("whole", "claims"):
            if how == "whole":
                held.add(whole_devices(case, random.Random(seed)))
            elif not hold_more(case, allocator, node, held):
                continue
            asked += 1
            later = allocator.allocate(node, claims, held, max_looks=FEW_LOOKS)
            assert isinstance(later, NotAllocated), (case["id"], how, render_outcome(later))
    assert asked > 80


# Placing one after the other


def build_nodes(node: Node) -> list[Node]:
    """The node of a case, and others: one that is like it, one whose labels differ, one that pods must tolerate."""
    taint = Taint(key="kept", value="", effect="NoSchedule")
    return [
        node,
        replace(node, name="n2"),
        replace(node, name="n3", labels={**node.labels, "zone": "b"}),
        replace(node, name="n4", taints=(taint,)),
    ]


def build_subjects(rng: random.Random, claims: Sequence[Sequence[Claim]], count: int) -> Iterator[Subject]:
    """Pods, many of which ask for the same; some bring a claim that another pod has already."""
    for number in range(count):
        shared = rng.random() < 0.2
        asked = tuple(
            replace(one, name=one.name if shared else f"{one.name}-{number}", uid=f"{one.name}-{number}")
            for one in rng.choice(claims)
        )
        kept = Toleration(key="kept", operator="Exists")
        yield Subject(
            kind="Pod",
            namespace="ns",
            name=f"pod-{number}",
            uid=f"pod-{number}",
            claims=asked,
            tolerations=(kept,) if rng.random() < 0.3 else (),
        )


def tell(placement: Placement) -> tuple[object, ...]:
    """A placement, without how many steps it took."""
    answers = {name: tell_answer(one) for name, one in placement.answers.items()}
    return placement.node, placement.allocations, placement.found, placement.problem, answers


def tell_answer(answer: Outcome | Barred) -> object:
    match answer:
        case Allocated(allocations=given):
            return [(one.request, one.driver, one.pool, one.device) for each in given for one in each.devices]
        case NotAllocated(invalid_pools=invalid):
            return "no", invalid
        case AttemptError(message=message):
            return "error", message
        case GaveUp():
            return "gave up"
        case Barred(reason=reason):
            return "barred", reason


@pytest.mark.parametrize("minor", MINORS)
def test_placer_remembers_only_what_is_still_true(minor: str) -> None:
    placed = repeated = 0
    for seed in range(25):
        case = build_case(20_000 + seed, minor)
        rng = random.Random(case["id"])
        allocator, node, claims, _ = build_world(case, features_of(case))
        nodes = build_nodes(node)
        placer = Placer(allocator, nodes, ())
        anew = build_world(case, allocator.features)[0]
        for subject in build_subjects(rng, [claims, *other_claims(minor)[:2]], 12):
            naive = Placer(anew, nodes, ())
            for key, allocation in placer.allocations.items():
                naive.hold(key, allocation)
            expected = naive.try_place(subject)
            placement = placer.place(subject)
            assert tell(placement) == tell(expected), (case["id"], subject.title)
            placed += placement.is_placed
            repeated += bool(placement.found)
            if placer.allocations and rng.random() < 0.25:
                placer.release(rng.choice(sorted(placer.allocations)))
    assert placed > 30
    assert repeated > 2


# The bounds of a search


# Twelve requests for devices that all differ, of eleven devices: every order of them is tried, unless somebody stops.
def test_gave_up_at_the_bound() -> None:
    pigeons = [request(f"req-{at}") for at in range(12)]
    holes = [device(f"d{at}", {"hole": at}) for at in range(11)]
    claims = [claim("claim-0", *pigeons, constraints=[distinct("hole")])]
    case = world([pool("p1", *holes)], claims).build_case("1.37")
    for bound in (1, 12, 5000):
        outcome = allocate(case, max_looks=bound)
        assert isinstance(outcome, GaveUp)
        assert outcome.looked_at == bound


# Upstream's search calls itself for every device; ours must not, or Python would end it.
def test_more_devices_than_python_has_frames() -> None:
    slices = [pool(f"p{at}", *devices("d", 128)) for at in range(10)]
    claims = [claim(f"claim-{at}", request("req-0", count=32)) for at in range(40)]
    outcome = allocate(world(slices, claims).build_case("1.37"), max_looks=2_000_000)
    assert isinstance(outcome, Allocated)
    given = [(one.pool, one.device) for each in outcome.allocations for one in each.devices]
    assert len(set(given)) == len(given) == 1280
    assert outcome.steps == 1 + 40 * 34  # the end, and of each claim its start, its devices and its end
