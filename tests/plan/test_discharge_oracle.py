"""Verdicts against everything that can happen in small random catalogs whose nodes may run out of CPU first."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import pytest
from oracles import Truth, list_placements
from oracles import fits as devices_fit
from test_loss import counts, without_node
from test_oracles import find_lies

from plan_world import World, demand_of, draw_mixed, draw_partitions, draw_singles, pod_of
from poolwright.plan import discharge, engine
from poolwright.plan.demand import Bystander, Demand
from poolwright.plan.engine import judge
from poolwright.plan.methods import supplied
from poolwright.plan.methods.most import Limit, Mix, Most, find_most
from poolwright.plan.replay import Replay
from poolwright.plan.supply import Supply
from poolwright.plan.verdict import Judgement, Verdict, Witness
from poolwright.plan.what_if.loss import judge_losses
from poolwright.plan.what_if.room import judge_room
from poolwright.specs.quantity import parse_quantity

# Catalogs of each kind; POOLWRIGHT_PLAN_CATALOGS=6000 is what a change of the engine is judged by.
COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "150"))


@dataclass(frozen=True)
class Supplied:
    """A world whose nodes have CPU, of which its pods take some."""

    world: World
    there: tuple[int | None, ...]  # by node; None: it isn't known, and for the oracle enough
    asked: tuple[int, ...]  # by workload
    others: tuple[int, ...] = ()  # what pods without claims ask for, one of each


# Pods that have a place, sorted: workload (those without claims count on), node and devices.
State = tuple[tuple[int, int, frozenset[int]], ...]


def draw(seed: int, world: World) -> Supplied:
    rng = random.Random(seed)
    return Supplied(
        world,
        tuple(None if rng.random() < 0.15 else rng.randint(1, 6) for _ in world.nodes),
        tuple(rng.choice((0, 1, 1, 2, 3)) for _ in world.pods),
        tuple(rng.choice((1, 2)) for _ in range(rng.choice((0, 0, 0, 1, 2)))),
    )


def demand_with(given: Supplied) -> Demand:
    demand = demand_of(given.world)
    nodes = tuple(
        node if amount is None else replace(node, allocatable={"cpu": parse_quantity(str(amount))})
        for node, amount in zip(demand.nodes, given.there, strict=True)
    )
    workloads = tuple(
        replace(one, pods=tuple(replace(pod, requests={"cpu": parse_quantity(str(asked))}) for pod in one.pods))
        for one, asked in zip(demand.workloads, given.asked, strict=True)
    )
    others = tuple(
        Bystander(title=f"b{at}", count=1, pod=replace(pod_of(f"b{at}"), requests={"cpu": parse_quantity(str(asked))}))
        for at, asked in enumerate(given.others)
    )
    return replace(demand, nodes=nodes, workloads=workloads, bystanders=others)


def try_all(given: Supplied) -> Truth:
    """Every packing in which devices and CPU are there for each pod."""
    places = list_places(given)
    seen: set[State] = {()}
    todo: list[State] = [()]
    pods = given.world.pods
    always, at_best, most = [one.replicas for one in pods], [0] * len(pods), 0
    while todo:
        state = todo.pop()
        counts = Counter(at for at, _, _ in state)
        most = max(most, sum(counts[at] for at in range(len(pods))))
        for at, wanted in enumerate([*(one.replicas for one in pods), *(1 for _ in given.others)]):
            if at < len(pods):
                at_best[at] = max(at_best[at], counts[at])
            if counts[at] == wanted:
                continue
            after = [as_state((*state, (at, *place))) for place in places[at] if has_room(given, state, at, place)]
            if not after and at < len(pods):
                always[at] = min(always[at], counts[at])
            todo += [one for one in after if one not in seen]
            seen.update(after)
    return Truth(tuple(always), tuple(at_best), most)


def list_places(given: Supplied) -> list[list[tuple[int, frozenset[int]]]]:
    """By workload, nodes with devices."""
    nodes = given.world.nodes
    own = [
        [(next(at for at, node in enumerate(nodes) if devices <= set(node)), devices) for devices in found]
        for found in (list_placements(given.world, at) for at in range(len(given.world.pods)))
    ]
    return [*own, *([(node, frozenset[int]()) for node in range(len(nodes))] for _ in given.others)]


def has_room(given: Supplied, state: State, at: int, place: tuple[int, frozenset[int]]) -> bool:
    node, devices = place
    asked = (*given.asked, *given.others)
    there, used = given.there[node], sum(asked[one] for one, where, _ in state if where == node)
    if asked[at] and there is not None and used + asked[at] > there:
        return False
    taken = frozenset[int]().union(*(held for _, _, held in state))
    return not devices or devices_fit(given.world, devices, taken)


def as_state(pods: State) -> State:
    return tuple(sorted(pods, key=lambda one: (one[0], one[1], sorted(one[2]))))


def list_worlds(count: int) -> Iterator[tuple[int, Supplied]]:
    for seed in range(count):
        for make in (draw_singles, draw_mixed, draw_partitions):
            yield seed, draw(seed, make(seed))


def check_witnesses(given: Supplied, found: Judgement) -> list[str]:
    """What is shown as an order happens on nodes that have enough."""
    demand = demand_with(given)
    return [
        one.workload
        for one in found.verdicts
        for witness in (one.best, one.worst)
        if witness is not None and not (is_carried(given, witness) and can_happen(demand, one, witness))
    ]


def is_carried(given: Supplied, witness: Witness) -> bool:
    used = Counter[str]()
    for move in witness.moves:
        used[move.node] += given.asked[int(move.workload[1:])]
    return all(there is None or used[f"n{at}"] <= there for at, there in enumerate(given.there))


def can_happen(demand: Demand, verdict: Verdict, witness: Witness) -> bool:
    if witness.replays != "now":
        return True
    replay = Replay(demand, demand.build_allocator(), Supply(demand.nodes))
    titles = [one.title for one in demand.workloads]
    for move in witness.moves:
        if replay.place(titles.index(move.workload), move.replica, move.pod, move.node) != move:
            return False
    at, nodes = titles.index(verdict.workload), [node.name for node in demand.nodes]
    return witness.placed == verdict.replicas or not replay.can_place(at, witness.placed, 0, nodes)


def test_what_is_said_is_so() -> None:
    wrong, words = [], Counter[str]()
    for seed, given in list_worlds(COUNT):
        found = judge(demand_with(given))
        words.update(one.word for one in found.verdicts)
        if find_lies(found, try_all(given), is_exact=False) or check_witnesses(given, found):
            wrong.append((seed, given))
    assert wrong == []
    assert min(words[word] for word in ("always-fits", "order-dependent", "unsatisfied")) > COUNT // 5
    assert words["undecided"] * 5 < sum(words.values())


def test_enough_everywhere_changes_nothing() -> None:
    for seed, given in list_worlds(COUNT // 3):
        ample = replace(given, there=tuple(100 for _ in given.there))
        found, plain = judge(demand_with(ample)), judge(demand_of(given.world))
        assert found.verdicts == plain.verdicts, seed
        assert (found.shortfall, found.hall_sets) == (plain.shortfall, plain.hall_sets), seed
        assert not any(one.short for one in found.resources), seed


def test_orders_of_nodes_change_nothing() -> None:
    for seed, given in list_worlds(COUNT // 5):
        demand = demand_with(given)
        assert judge(replace(demand, nodes=demand.nodes[::-1])) == judge(demand), seed


def test_room_is_there() -> None:
    """What is said to fit beyond a workload's replicas does, and what is said not to doesn't."""
    claimed = 0
    for seed, given in list_worlds(COUNT // 5):
        demand = demand_with(given)
        for at, room in enumerate(judge_room(demand, judge(demand))):
            if room.always is None or room.best is None:
                continue
            if room.always.least:
                assert fits(grow(given, at, room.always.least), at, "always"), (seed, at)
            if room.best.least:
                assert fits(grow(given, at, room.best.least), at, "at_best"), (seed, at)
            if room.always.most is not None and room.always.most < 3:
                assert not fits(grow(given, at, room.always.most + 1), at, "always"), (seed, at)
            claimed += room.always.least + room.best.least
    assert claimed > 0


def fits(given: Supplied, at: int, word: Literal["always", "at_best"]) -> bool:
    """Whether all replicas of a workload are served, in every order or in some."""
    truth = try_all(given)
    return (truth.always if word == "always" else truth.at_best)[at] == given.world.pods[at].replicas


def grow(given: Supplied, at: int, further: int) -> Supplied:
    pods = list(given.world.pods)
    pods[at] = replace(pods[at], replicas=pods[at].replicas + further)
    return replace(given, world=replace(given.world, pods=tuple(pods)))


ERRORS = ("bound too low", "nobody is kept out", "closed nodes stay open", "orders of devices alone")


@pytest.mark.parametrize("error", ERRORS)
def test_planted_errors_are_caught(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if error == "bound too low":

        def low(mix: Mix, values: tuple[int, ...]) -> Most:
            found = find_most(mix, values)
            return Most(max(0, found.total - 1000), found.counts)

        monkeypatch.setattr(discharge, "find_most", low)
    elif error == "nobody is kept out":
        monkeypatch.setattr(engine, "weaken", lambda context, found, parts: parts)
    elif error == "closed nodes stay open":
        monkeypatch.setattr(supplied, "_close", lambda context, at, nodes: context)
    else:
        monkeypatch.setattr(supplied, "_is_carried", lambda context, witness: True)
    caught = 0
    for _, given in list_worlds(40):
        found = judge(demand_with(given))
        caught += bool(find_lies(found, try_all(given), is_exact=False) or check_witnesses(given, found))
    assert caught > 0


def test_the_most_of_mixes() -> None:
    """Against all counts of a few kinds; where the search is cut short, a bound."""
    for seed in range(COUNT * 2):
        mix, values = draw_mix(seed)
        found = find_most(mix, values)
        truth = max(sum(map(int.__mul__, values, counts)) for counts in list_counts(mix))
        assert found.total == truth, seed
        assert found.counts is not None
        assert sum(map(int.__mul__, values, found.counts)) == truth
        assert found.counts in set(list_counts(mix))


def draw_mix(seed: int) -> tuple[Mix, tuple[int, ...]]:
    rng = random.Random(seed)
    kinds = rng.randint(0, 4)
    limits = tuple(
        Limit(tuple(rng.randint(0, 3) for _ in range(kinds)), rng.randint(0, 8)) for _ in range(rng.randint(0, 3))
    )
    return Mix(tuple(rng.randint(0, 4) for _ in range(kinds)), limits), tuple(rng.randint(0, 5) for _ in range(kinds))


def list_counts(mix: Mix) -> Iterator[tuple[int, ...]]:
    for chosen in product(*(range(cap + 1) for cap in mix.caps)):
        if all(sum(map(int.__mul__, limit.weights, chosen)) <= limit.total for limit in mix.limits):
            yield chosen


def test_a_search_that_is_cut_short_gives_a_bound() -> None:
    rng = random.Random(0)
    kinds = 12
    limits = tuple(Limit(tuple(rng.randint(5, 40) for _ in range(kinds)), 400) for _ in range(4))
    mix, values = Mix((9,) * kinds, limits), tuple(rng.randint(50, 99) for _ in range(kinds))
    found = find_most(mix, values)
    assert found.counts is None
    some = find_most(Mix((1,) * kinds, limits), values)
    assert found.total >= some.total


def test_each_node_is_lost_as_if_alone() -> None:
    for seed, given in list_worlds(COUNT // 5):
        demand = demand_with(given)
        whole = judge(demand)
        lost = {name: loss for loss in judge_losses(demand, "node", whole) for name in loss.names}
        assert sorted(lost) == [node.name for node in demand.nodes]
        for name, loss in lost.items():
            alone = judge(without_node(demand, name))
            changed = {change.after.workload: change.after for change in loss.changes}
            merged = tuple(changed.get(one.workload, one) for one in whole.verdicts)
            assert counts(merged) == counts(alone.verdicts), (seed, name)
            assert loss.shortfall == alone.shortfall, (seed, name)
