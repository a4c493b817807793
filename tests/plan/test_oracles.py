"""Verdicts against everything that can happen in small random catalogs, by all packings and by the real allocator."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace
from operator import ge, le

import pytest
from lies import check_witnesses, find_empty_promises, find_lies
from oracles import count_orders, try_allocator, try_packings, walk_packings
from plan_draws import DRAWS

from plan_world import DRIVER, World, demand_of, draw_singles, node_name
from poolwright.plan.engine import judge
from poolwright.plan.methods import general
from poolwright.plan.verdict import exactly
from poolwright.plan.what_if.loss import judge_losses

# Catalogs of each kind; POOLWRIGHT_PLAN_CATALOGS=6000 is what a change of the engine is judged by (-s: figures).
COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "50"))
MAX_ORDERS = 24 if COUNT > 1000 else 8  # of devices, in which a catalog is published
# In the first one the one witness is an order of devices that neither the driver's own nor its reverse is; in the
# second one a device that serves several pods stands in such an order.
MORE = {"mixed": [4108], "shares": [320]}
# How many words in a hundred may be left open: with all methods; and by bounds and carried out orders alone, as in
# parts that are too large for a search.
OPEN = {
    "singles": (0, 0),
    "mixed": (0, 5),
    "partitions": (3, 18),
    "groups": (18, 18),
    "shared claims": (24, 24),
    "every device": (0, 32),
    "pairs": (0, 16),
    "shares": (12, 38),
    "alternatives": (5, 24),
    "taints": (0, 14),
    "administration": (20, 20),
    "anything": (22, 28),
}
# Here each part is searched, so that how much always fits is known.
SEARCHED = ("singles", "mixed", "every device", "pairs", "taints")


@pytest.mark.parametrize("family", DRAWS)
def test_judgements_are_true(family: str) -> None:
    """Nothing is said that isn't so of all packings, promised that the allocator can't do, or shown that it doesn't."""
    words, known = find_wrong(family)
    assert words["undecided"] <= words.total() * OPEN[family][0] / 100
    assert known == words.total() or family not in SEARCHED
    assert min(words[word] for word in ("always-fits", "order-dependent", "unsatisfied")) > words.total() / 50


@pytest.mark.parametrize("family", DRAWS)
def test_bounds_are_true(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(general, "build_node_search", lambda field: None)
    words, _ = find_wrong(family)
    assert words["undecided"] <= words.total() * OPEN[family][1] / 100


def find_wrong(family: str) -> tuple[Counter[str], int]:
    """The words of a family's catalogs, none of which is wrong, and of how many it's known how much always fits."""
    wrong, words, known = [], Counter[str](), 0
    for seed in (*range(COUNT), *MORE.get(family, ())):
        world = DRAWS[family](seed)
        found = judge(demand_of(world))
        lies = [
            *find_lies(found, try_packings(world), is_exact=family == "singles"),
            *find_empty_promises(found, try_allocator(world, reorders=False)),
            *check_witnesses(world, found),
        ]
        words.update(one.word for one in found.verdicts)
        known += sum(one.always.is_exact for one in found.verdicts)
        wrong += [(seed, lies)] if lies else []
    shares = (f"{word} {100 * count / words.total():.1f}%" for word, count in sorted(words.items()))
    print(f"\n{family}: {COUNT} judged, {len(wrong)} wrong, {known} of {words.total()} known,", *shares)
    assert wrong == []
    return words, known


@pytest.mark.parametrize("family", DRAWS)
def test_allocator_stays_within_packings(family: str) -> None:
    """The real allocator is as bad as the worst packing at most, and as good as the best: see also `oracles.Desk`."""
    looser = 0
    for seed in range(COUNT):
        world = DRAWS[family](seed)
        now, any_order = (try_allocator(world, reorders=one, max_orders=MAX_ORDERS) for one in (False, True))
        packed = try_packings(world)
        assert all(map(le, packed.always, any_order.always)), seed
        assert all(map(le, any_order.always, now.always)), seed
        assert all(map(ge, packed.at_best, any_order.at_best)), seed
        assert all(map(ge, any_order.at_best, now.at_best)), seed
        assert packed.most >= any_order.most >= now.most, seed
        if family == "singles":
            assert (now.at_best, now.most) == (packed.at_best, packed.most), seed
        looser += packed != now
    print(f"\n{family}: {COUNT} tried with up to {MAX_ORDERS} orders of devices, {looser} part from the published one")


def test_single_devices_are_exact_over_orders_of_devices() -> None:
    """Where a pod has no alternatives the worst packing comes true in some order."""
    compared = 0
    for seed in range(COUNT):
        world = draw_singles(seed, alternatives=False)
        if count_orders(world) <= 5 * MAX_ORDERS:
            truth = try_allocator(world, reorders=True, max_orders=5 * MAX_ORDERS)
            found = judge(demand_of(world))
            assert [one.always for one in found.verdicts] == list(map(exactly, truth.always)), seed
            assert [one.at_best for one in found.verdicts] == list(map(exactly, truth.at_best)), seed
            assert found.shortfall == exactly(found.demanded - truth.most), seed
            compared += 1
    print(f"\nsingles without alternatives: {compared} compared")
    assert compared > COUNT // 2


@pytest.mark.parametrize("family", DRAWS)
def test_departures_change_nothing(family: str) -> None:
    for seed in range(COUNT if COUNT > 1000 else COUNT // 3):
        world = DRAWS[family](seed)
        assert walk_packings(world, departures=True) == walk_packings(world, departures=False), seed


@pytest.mark.parametrize("family", DRAWS)
def test_orders_of_nodes_and_slices_change_nothing(family: str) -> None:
    for seed in range(COUNT // 4):
        demand = demand_of(DRAWS[family](seed))
        turned = replace(demand, nodes=demand.nodes[::-1], slices=demand.slices[::-1])
        assert judge(turned) == judge(demand), seed


@pytest.mark.parametrize("family", DRAWS)
def test_losses_are_true(family: str) -> None:
    """Of nodes and devices, one of those that are alike judged for all, against catalogs that never had them."""
    for seed in range(COUNT // 6):
        world = DRAWS[family](seed)
        demand = demand_of(world)
        whole = judge(demand)
        # Devices that draw on one counter are one GPU, which is lost as a whole.
        for thing in ("node", "device") if not world.counter else ("node",):
            for loss in judge_losses(demand, thing):
                changed = {change.after.workload: change.after for change in loss.changes}
                verdicts = tuple(changed.get(one.workload, one) for one in whole.verdicts)
                found = replace(whole, verdicts=verdicts, shortfall=loss.shortfall)
                for name in loss.names:
                    truth = try_packings(without(world, name))
                    assert find_lies(found, truth, is_exact=family == "singles") == [], (seed, name)


def without(world: World, name: str) -> World:
    """The world without a node, or without a device (`driver/pool/device`)."""
    nodes = (
        tuple(one for one in own if name not in (node_name(at), f"{DRIVER}/{node_name(at)}/d{one}"))
        for at, own in enumerate(world.nodes)
    )
    return replace(world, nodes=tuple(nodes))
