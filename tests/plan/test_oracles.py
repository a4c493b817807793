"""Verdicts against everything that can happen in small random catalogs."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from oracles import MAX_ORDERS, Truth, all_packings, count_orders, try_allocator, try_packings, walk_with_departures
from plan_world import World, demand_of, draw_mixed, draw_partitions, draw_singles

from poolwright.plan.engine import judge
from poolwright.plan.methods import general, market, single
from poolwright.plan.methods.context import Step
from poolwright.plan.methods.kinds import Field
from poolwright.plan.methods.node_search import NodeSearch
from poolwright.plan.replay import Replay
from poolwright.plan.verdict import Judgement, Witness

# Catalogs of each kind; POOLWRIGHT_PLAN_CATALOGS=6000 is what a change of the engine is judged by.
COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "150"))


def test_single_devices_are_exact() -> None:
    words: Counter[str] = Counter()
    wrong = []
    for seed in range(COUNT * 2):
        world = draw_singles(seed)
        found, truth = judge(demand_of(world)), try_packings(world)
        words.update(one.word for one in found.verdicts)
        if find_lies(found, truth, is_exact=True) or check_witnesses(world, found):
            wrong.append(seed)
    assert wrong == []
    assert min(words[word] for word in ("always-fits", "order-dependent", "unsatisfied")) > COUNT // 5


def test_allocator_stays_within_packings() -> None:
    """Over all orders of devices the real allocator is as bad as any packing, where a pod has no alternatives."""
    for seed in range(COUNT // 4):
        world = draw_singles(seed, alternatives=False)
        a, now, any_order = try_packings(world), *(try_allocator(world, reorders=one) for one in (False, True))
        assert now.at_best == any_order.at_best == a.at_best, seed
        assert (now.most, any_order.most) == (a.most, a.most), seed
        assert all(x <= y <= z for x, y, z in zip(a.always, any_order.always, now.always, strict=True)), seed
        if count_orders(world) <= MAX_ORDERS:
            assert a.always == any_order.always, seed


def test_alternatives_are_private() -> None:
    for seed in range(COUNT // 2):
        world = draw_singles(seed)
        a, b = try_packings(world), try_allocator(world, reorders=False)
        assert (a.at_best, a.most) == (b.at_best, b.most), seed
        assert all(x <= y for x, y in zip(a.always, b.always, strict=True)), seed


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts by bounds and carried out orders alone, as in parts that are too large for a search."""
    monkeypatch.setattr(general, "build_node_search", lambda field: None)


def test_search_is_exact() -> None:
    """Where all that nodes may hold is listed, what is always served is known, and most of what is best."""
    wrong = []
    words: Counter[str] = Counter()
    for seed in range(COUNT):
        world = draw_partitions(seed) if seed % 3 == 0 else draw_mixed(seed)
        found, truth = judge(demand_of(world)), try_packings(world)
        words.update(one.word for one in found.verdicts)
        exact = [str(one.always) == str(true) for one, true in zip(found.verdicts, truth.always, strict=True)]
        if find_lies(found, truth, is_exact=False) or check_witnesses(world, found) or not all(exact):
            wrong.append(seed)
    assert wrong == []
    assert words["undecided"] * 50 < sum(words.values())


@pytest.mark.usefixtures("no_search")
def test_brackets_hold_the_truth() -> None:
    wrong = []
    words: Counter[str] = Counter()
    # Of 4108 the one witness is an order of devices that neither the driver's own nor its reverse is.
    for seed in (*range(COUNT), 4108):
        world = draw_mixed(seed)
        found = judge(demand_of(world))
        words.update(one.word for one in found.verdicts)
        a = try_packings(world)
        if find_lies(found, a, is_exact=False) or check_witnesses(world, found):
            wrong.append(seed)
    assert wrong == []
    assert words["undecided"] * 20 < sum(words.values())


@pytest.mark.usefixtures("no_search")
def test_brackets_hold_the_truth_of_partitions() -> None:
    wrong = []
    for seed in range(COUNT):
        world = draw_partitions(seed)
        found = judge(demand_of(world))
        if find_lies(found, try_packings(world), is_exact=False) or check_witnesses(world, found):
            wrong.append(seed)
    assert wrong == []


def test_allocator_stays_within_packings_of_several_devices() -> None:
    for seed in range(COUNT // 2):
        world = draw_mixed(seed) if seed % 2 else draw_partitions(seed)
        a, b = try_packings(world), try_allocator(world, reorders=False)
        assert all(x <= y for x, y in zip(a.always, b.always, strict=True)), seed
        assert all(x >= y for x, y in zip(a.at_best, b.at_best, strict=True)), seed


def test_departures_change_nothing() -> None:
    for seed in range(COUNT):
        for world in (draw_singles(seed), draw_mixed(seed)):
            assert walk_with_departures(world) == all_packings(world)


def test_orders_of_nodes_and_slices_change_nothing() -> None:
    for seed in range(COUNT // 3):
        for world in (draw_singles(seed), draw_mixed(seed)):
            demand = demand_of(world)
            turned = replace(demand, nodes=demand.nodes[::-1], slices=demand.slices[::-1])
            assert judge(turned) == judge(demand)


@pytest.mark.parametrize("error", ["one too many", "one too few", "siblings forgotten", "at best"])
def test_planted_errors_are_caught(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    true_others, true_count = single.match_others, single.count_entry
    if error == "at best":

        def count(of: market.Market, entry: market.Entry) -> single.Numbers:
            numbers = true_count(of, entry)
            return replace(numbers, at_best=numbers.always)

        monkeypatch.setattr("poolwright.plan.methods.exact.count_entry", count)
    else:

        def others(of: market.Market, entry: market.Entry) -> int:
            found = true_others(of, entry)
            accepted = of.count_devices(of.groups[of.find_group(entry)].classes)
            if error == "one too many":
                return min(accepted, found + 1)
            if error == "one too few":
                return max(0, found - 1)
            at = of.find_group(entry)
            return of.match(of.count_others(at, of.groups[at].count), set(of.groups[at].classes)).size

        monkeypatch.setattr(single, "match_others", others)
    caught = 0
    for seed in range(60):
        world = draw_singles(seed)
        caught += bool(find_lies(judge(demand_of(world)), try_packings(world), is_exact=True))
    assert caught > 0


@pytest.mark.parametrize("error", ["proof one too high", "bound one too low", "search one too high", "shortfall"])
def test_planted_errors_in_bounds_are_caught(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if error == "proof one too high":
        prove = general.prove_always

        def proven(field: Field, at: int) -> tuple[int, int, int]:
            least, total, others = prove(field, at)
            return min(field.kinds[at].count, least + 1), total, others

        monkeypatch.setattr(general, "prove_always", proven)
    elif error == "bound one too low":
        bound = general.bound_alone
        monkeypatch.setattr(general, "bound_alone", lambda field, kind: max(0, bound(field, kind) - 1))
    elif error == "search one too high":
        find = NodeSearch.find_fewest

        def found(search: NodeSearch, kind: int) -> tuple[int, list[Step]]:
            fewest, steps = find(search, kind)
            return min(search.field.kinds[kind].count, fewest + 1), steps

        monkeypatch.setattr(NodeSearch, "find_fewest", found)
    else:
        short = general.bound_shortfall
        monkeypatch.setattr(general, "bound_shortfall", lambda field, most: short(field, most) + 1)
    if error != "search one too high":
        monkeypatch.setattr(general, "build_node_search", lambda field: None)
    caught = 0
    for seed in range(80):
        world = draw_mixed(seed)
        caught += bool(find_lies(judge(demand_of(world)), try_packings(world), is_exact=False))
    assert caught > 0


def find_lies(found: Judgement, truth: Truth, *, is_exact: bool) -> list[str]:
    """What a judgement says that isn't so."""
    lies = []
    for at, one in enumerate(found.verdicts):
        always, best = truth.always[at], truth.at_best[at]
        # What can't be had isn't missed in each order either.
        if not one.always.least <= always <= one.always.most or not one.at_best.least <= best <= one.at_best.most:
            lies.append(f"{one.workload}: {one.always} {one.at_best} is {always} {best}")
        if is_exact and not (one.always.is_exact and one.at_best.is_exact):
            lies.append(f"{one.workload}: not exact")
        word = "always-fits" if always == one.replicas else "order-dependent" if best == one.replicas else "unsatisfied"
        if one.word not in (word, *(() if is_exact else ("undecided",))):
            lies.append(f"{one.workload}: {one.word} is {word}")
    short = found.demanded - truth.most
    if not found.shortfall.least <= short <= found.shortfall.most or (is_exact and not found.shortfall.is_exact):
        lies.append(f"shortfall {found.shortfall} is {short}")
    return lies


def check_witnesses(world: World, found: Judgement) -> list[str]:
    wrong = []
    for at, one in enumerate(found.verdicts):
        if one.word == "order-dependent" and one.worst is None:
            wrong.append(f"{one.workload}: no witness")
        for witness in (one.worst, one.best):
            if witness is not None and witness.replays == "now" and not replays(world, at, witness):
                wrong.append(f"{one.workload}: doesn't replay")
        if one.worst is not None and not one.always.least <= one.worst.placed < one.replicas:
            wrong.append(f"{one.workload}: leaves none out")
    return wrong


def replays(world: World, at: int, witness: Witness) -> bool:
    """Whether the moves happen as they are told, and leave no room for another replica."""
    demand = demand_of(world)
    replay = Replay(demand, demand.build_allocator())
    titles = [one.title for one in demand.workloads]
    for move in witness.moves:
        done = replay.place(titles.index(move.workload), move.replica, move.pod, move.node)
        if done != move:
            return False
    placed = sum(move.workload == titles[at] for move in witness.moves)
    if placed != witness.placed:
        return False
    nodes = [node.name for node in demand.nodes]
    return placed == demand.workloads[at].replicas or not replay.can_place(at, placed, 0, nodes)
