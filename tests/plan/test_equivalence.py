"""Demands that come to the same, and those that may not be taken for it: one verdict is given for both."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from plan_draws import DRAWS

from plan_world import DRIVER, FEATURES, Group, Need, Option, Part, Want, World, demand_of
from poolwright.allocation.claim import Claim, ClaimRequest, Constraint, DeviceClass, DeviceConfig, Request, Toleration
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.engine import judge
from poolwright.plan.equivalence import is_equivalent

COUNT = 12  # catalogs of each kind
ID = f"device.attributes['{DRIVER}'].id"
X = f"device.attributes['{DRIVER}'].x"


def answers(demand: Demand) -> tuple[object, ...]:
    """What of a judgement a report compares: words, counts, hardware and what is short of it."""
    found = judge(demand)
    rows = [(one.workload, one.word, one.replicas, one.always, one.at_best, one.lands_on) for one in found.verdicts]
    return rows, found.demanded, found.shortfall


def edit_requests(demand: Demand, change: Callable[[Request], Request]) -> Demand:
    """Every request of every claim changed."""

    def entry(one: ClaimRequest) -> ClaimRequest:
        return replace(
            one,
            exactly=one.exactly and change(one.exactly),
            first_available=tuple(map(change, one.first_available)),
        )

    return edit_claims(demand, lambda one: replace(one, requests=tuple(map(entry, one.requests))))


def edit_claims(demand: Demand, change: Callable[[Claim], Claim]) -> Demand:
    return replace(demand, workloads=tuple(_edit_workload(one, change) for one in demand.workloads))


def _edit_workload(workload: Workload, change: Callable[[Claim], Claim]) -> Workload:
    pods = tuple(replace(pod, claims=tuple(map(change, pod.claims))) for pod in workload.pods)
    return replace(workload, pods=pods)


# --- what comes to the same


def rename_class(demand: Demand) -> Demand:
    (device_class,) = demand.classes.values()
    renamed = {"another": replace(device_class, name="another")}
    return edit_requests(replace(demand, classes=renamed), lambda one: replace(one, class_name="another"))


def reword(demand: Demand) -> Demand:
    """Every list of numbers as comparisons, the other way round."""

    def say(text: str | None) -> str:
        if text is None or text == "false":
            return "1 > 2"
        numbers = text.partition("[")[2].partition("[")[2].removesuffix("]").split(", ")
        return " || ".join(f"{ID} == {number}" for number in reversed(numbers))

    return edit_requests(demand, lambda one: replace(one, selectors=tuple(map(say, one.selectors))))


def move_to_claims(demand: Demand) -> Demand:
    """What the class asks for is asked by each request, and the class lets all through."""
    (device_class,) = demand.classes.values()
    bare = {"any": replace(device_class, selectors=())}
    return edit_requests(
        replace(demand, classes=bare), lambda one: replace(one, selectors=(*device_class.selectors, *one.selectors))
    )


def need_less(demand: Demand) -> Demand:
    return replace(demand, workloads=tuple(replace(one, minimum=1, origin=object()) for one in demand.workloads))


def rename_claims(demand: Demand) -> Demand:
    """New claims are called after their pods anyway."""
    shared = {key for one in demand.workloads for key in one.shared}
    return edit_claims(demand, lambda one: one if ("t", one.name) in shared else replace(one, name="devices"))


def configure(demand: Demand) -> Demand:
    """What a claim tells the driver is no matter of the scheduler's."""
    config = (DeviceConfig(content={"opaque": {"driver": DRIVER}}),)
    return edit_claims(demand, lambda one: replace(one, config=config))


SAME = {
    "class-renamed": rename_class,
    "selectors-reworded": reword,
    "selectors-moved-to-the-claims": move_to_claims,
    "minimum-and-place": need_less,
    "claims-renamed": rename_claims,
    "claims-configured": configure,
}


@pytest.mark.parametrize("change", SAME)
def test_other_words_come_to_the_same_and_are_judged_alike(change: str) -> None:
    differ = 0
    for name, draw in DRAWS.items():
        for seed in range(COUNT):
            demand = demand_of(draw(seed))
            other = SAME[change](demand)
            differ += other != demand
            assert is_equivalent(demand, other), (name, seed)
            assert answers(demand) == answers(other), (name, seed)
    assert differ > COUNT


# --- what may differ

Change = Callable[[random.Random, World], World]


def edit_option(world: World, at: int, change: Callable[[Option], Option]) -> World:
    """The world with one of its options changed, of whatever workload or claim."""
    counter = iter(range(10**6))

    def option(one: Option) -> Option:
        return change(one) if next(counter) == at else one

    def need(one: Need | None) -> Need | None:
        return one and replace(one, requests=tuple(tuple(map(option, options)) for options in one.requests))

    pods = tuple(
        Group(pod.replicas, tuple(replace(part, need=need(part.need)) for part in pod.parts)) for pod in world.pods
    )
    claims = tuple(found for one in world.claims if (found := need(one)) is not None)
    return replace(world, pods=pods, claims=claims)


def count_options(world: World) -> int:
    needs = [part.need for pod in world.pods for part in pod.parts if part.need] + list(world.claims)
    return sum(len(options) for one in needs for options in one.requests)


def toggle_device(rng: random.Random, world: World) -> World:
    device = rng.choice([one for node in world.nodes for one in node] or [0])
    return edit_option(
        world, rng.randrange(count_options(world)), lambda one: replace(one, accepts=one.accepts ^ {device})
    )


def toggle_toleration(rng: random.Random, world: World) -> World:
    return edit_option(
        world, rng.randrange(count_options(world)), lambda one: replace(one, tolerates=not one.tolerates)
    )


def ask_for_another_amount(rng: random.Random, world: World) -> World:
    return edit_option(
        world,
        rng.randrange(count_options(world)),
        lambda one: replace(one, amount=one.amount + 1 if world.capacity else 0),
    )


def ask_for_another_count(rng: random.Random, world: World) -> World:
    return edit_option(world, rng.randrange(count_options(world)), lambda one: replace(one, count=one.count + 1))


def tie(rng: random.Random, world: World) -> World:
    at = rng.randrange(len(world.pods))
    pods = [
        Group(
            pod.replicas,
            tuple(
                replace(part, need=replace(part.need, match="" if part.need.match else "id")) if part.need else part
                for part in pod.parts
            ),
        )
        if number == at
        else pod
        for number, pod in enumerate(world.pods)
    ]
    return replace(world, pods=tuple(pods))


def use_another_claim(rng: random.Random, world: World) -> World:
    """A second claim with the words of the first: pods that used one together now have one each."""
    if not world.claims:
        return world
    at, new = rng.randrange(len(world.pods)), len(world.claims)
    pods = [
        Group(
            pod.replicas,
            tuple(replace(part, uses=tuple(new if use == 0 else use for use in part.uses)) for part in pod.parts),
        )
        if number == at
        else pod
        for number, pod in enumerate(world.pods)
    ]
    return replace(world, pods=tuple(pods), claims=(*world.claims, world.claims[0]))


CHANGES: dict[str, Change] = {
    "a-device-more-or-less": toggle_device,
    "a-toleration": toggle_toleration,
    "an-amount": ask_for_another_amount,
    "a-count": ask_for_another_count,
    "a-constraint": tie,
    "another-claim-of-the-same-words": use_another_claim,
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_judged_otherwise_is_never_taken_for_the_same(change: str) -> None:
    seen: Counter[bool] = Counter()
    for name, draw in DRAWS.items():
        for seed in range(COUNT):
            world = draw(seed)
            one, other = demand_of(world), demand_of(CHANGES[change](random.Random(seed), world))
            if one == other or answers(one) == answers(other):
                continue
            seen[is_equivalent(one, other)] += 1
            assert not is_equivalent(one, other), (name, seed)
    assert seen[False]


def pair(one: World, other: World) -> tuple[Demand, Demand]:
    return demand_of(one), demand_of(other)


ONE = frozenset((0,))
TWO = frozenset((0, 1))


def single(*, replicas: int = 2, **options: object) -> World:
    """Two devices on one node, and two replicas that take one each."""
    return World(nodes=((0, 1),), pods=(Group(replicas, (Part(Need(((Option(TWO, **options),),))),)),))  # type: ignore[arg-type]


def with_selectors(*texts: str) -> Demand:
    """The same; x is published of the second device alone, so that reading it of the first one fails."""
    demand = demand_of(replace(single(), values={1: {"x": 1}}))
    return edit_requests(demand, lambda one: replace(one, selectors=texts))


def with_class(device_class: DeviceClass | None) -> Demand:
    return replace(demand_of(single()), classes={} if device_class is None else {"any": device_class})


def with_entry(**parts: object) -> Demand:
    return edit_requests(demand_of(single()), lambda one: replace(one, **parts))  # type: ignore[arg-type]


SHARED = Need(((Option(ONE),),))
USES = tuple(Group(1, (Part(uses=(use,)),)) for use in (0, 1))
# Pairs that read alike, and of which something else becomes.
OTHER: dict[str, tuple[Demand, Demand]] = {
    "one-claim-of-two-workloads-or-two": pair(
        World(nodes=((0,),), pods=(USES[0], USES[0]), claims=(SHARED, SHARED)),
        World(nodes=((0,),), pods=(USES[0], USES[1]), claims=(SHARED, SHARED)),
    ),
    "a-claim-that-replicas-share-or-one-for-each": pair(
        World(nodes=((0,),), pods=(Group(2, (Part(uses=(0,)),)),), claims=(SHARED,)),
        World(nodes=((0,),), pods=(Group(2, (Part(SHARED),)),)),
    ),
    # Of the first device the first selector fails before the second one says no.
    "an-error-before-a-no-or-after-it": (
        with_selectors(f"{X} == 1", f"{ID} == 1"),
        with_selectors(f"{ID} == 1", f"{X} == 1"),
    ),
    "an-error-or-a-check": (with_selectors(f"{X} == 1"), with_selectors(f"has({X}) && {X} == 1")),
    "administration-or-use": pair(single(replicas=3), single(replicas=3, is_admin=True)),
    "a-class-that-isn't-there": (with_class(DeviceClass(name="any")), with_class(None)),
    "a-class-of-nothing": (
        with_class(DeviceClass(name="any")),
        with_class(DeviceClass(name="any", selectors=("false",))),
    ),
    "a-gate": (demand_of(single(tolerates=True)), demand_of(single(), features=replace(FEATURES, device_taints=False))),
    "a-wish-or-all": (with_entry(), with_entry(mode="All")),
    "a-mode-that-isn't-known": (with_entry(), with_entry(mode="Half")),
    "a-tie-that-can't-hold": (
        demand_of(World(nodes=((0, 1),), pods=(Want(1, (TWO,), 2),))),
        demand_of(World(nodes=((0, 1),), pods=(Want(1, (TWO,), 2, "id"),))),
    ),
    "a-tie-by-an-attribute-that-isn't-there": (
        demand_of(single()),
        edit_claims(
            demand_of(single()), lambda one: replace(one, constraints=(Constraint(match_attribute=f"{DRIVER}/gone"),))
        ),
    ),
    "a-pod-that-isn't-let-in": (
        demand_of(single()),
        replace(
            demand_of(single()),
            workloads=tuple(
                replace(one, pods=tuple(replace(pod, node_selector={"n": "9"}) for pod in one.pods))
                for one in demand_of(single()).workloads
            ),
        ),
    ),
    "a-workload-that-isn't-judged": (
        demand_of(single()),
        replace(
            demand_of(single()), workloads=tuple(replace(w, unjudged=("no",)) for w in demand_of(single()).workloads)
        ),
    ),
}


@pytest.mark.parametrize("case", OTHER)
def test_what_reads_alike_and_is_something_else(case: str) -> None:
    one, other = OTHER[case]
    if case != "a-gate":  # of which no verdict here comes
        assert answers(one) != answers(other)
    assert not is_equivalent(one, other)
    assert not is_equivalent(other, one)


# No verdict of these differs: they are told apart because a later verdict might, or a driver goes by them.
CAUTIOUS: dict[str, tuple[Demand, Demand]] = {
    "a-class-with-configuration": (
        with_class(DeviceClass(name="any")),
        with_class(DeviceClass(name="any", config=(DeviceConfig(content={"opaque": {}}),))),
    ),
    "a-toleration-of-nothing": (with_entry(), with_entry(tolerations=(Toleration(operator="Exists"),))),
    "a-derived-attribute": (with_entry(), with_entry(derived_attributes={"a.dev/b": "1"})),
    "one-more-reservation": (
        demand_of(single()),
        replace(demand_of(single()), workloads=(*demand_of(single()).workloads, Workload(title="r", replicas=0))),
    ),
}


@pytest.mark.parametrize("case", CAUTIOUS)
def test_what_a_no_may_be_said_to(case: str) -> None:
    assert not is_equivalent(*CAUTIOUS[case])


def test_the_same_errors_of_the_same_selectors_are_the_same() -> None:
    assert is_equivalent(with_selectors(f"{X} == 1"), with_selectors(f"{X} == 1"))


def test_a_second_device_of_a_name_counts_for_itself() -> None:
    """Such a pool is invalid, and which of the two a selector lets through is no less its answer."""
    demand = demand_of(single())
    (one,) = demand.slices
    twice = replace(one, devices=(one.devices[0], replace(one.devices[1], name=one.devices[0].name)))
    given = replace(demand, slices=(twice,))
    first, both = (
        edit_requests(given, lambda asked, text=text: replace(asked, selectors=(text,)))  # type: ignore[misc]
        for text in (f"{ID} == 1", f"{ID} in [0, 1]")
    )
    assert not is_equivalent(first, both)
