"""Verdicts of small clusters that run, against everything that can still happen there."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from lies import find_lies
from live_world import Held, build_live_world
from oracles import Truth, try_packings

from plan_world import World, demand_of, draw_mixed, draw_partitions, draw_singles
from poolwright.allocation.placing import Placer
from poolwright.plan.demand import build_subjects
from poolwright.plan.live import whole
from poolwright.plan.live.restart import judge_restarts
from poolwright.plan.live.scenario import Live
from poolwright.plan.live.whole import judge_live
from poolwright.plan.replay import Replay
from poolwright.plan.verdict import Judgement, Verdict

COUNT = int(os.environ.get("POOLWRIGHT_PLAN_CATALOGS", "150"))
DRAWS: dict[str, Callable[[int], World]] = {"singles": draw_singles, "mixed": draw_mixed, "partitions": draw_partitions}


def hold_some(world: World, seed: int) -> list[Held]:
    """What the allocator gave to some of the pods, and to somebody else the devices of one more."""
    rng, demand = random.Random(seed), demand_of(world)
    replay = Replay(demand, demand.build_allocator())
    replicas = [(at, number) for at, one in enumerate(demand.workloads) for number in range(one.replicas)]
    rng.shuffle(replicas)
    held = []
    for at, number in replicas[: rng.randint(1, len(replicas) // 2 + 1)]:
        for node in rng.sample(sorted(replay.nodes), len(replay.nodes)):
            move = replay.place(at, number, 0, node)
            if move is not None:
                held.append(Held(None if rng.random() < 0.2 else at, node, move.devices))
                break
    return held


def try_live(world: World, held: list[Held]) -> Truth:
    """All packings that what is held is part of, without its strangers in the count."""
    return try_packings(world, running=[(one.workload, [int(name[1:]) for _, _, name in one.devices]) for one in held])


@pytest.mark.parametrize("kind", DRAWS)
def test_verdicts_of_what_runs_hold_the_truth(kind: str) -> None:
    words: Counter[str] = Counter()
    wrong, judged = [], 0
    for seed in range(COUNT):
        world = DRAWS[kind](seed)
        held = hold_some(world, seed)
        if not held:
            continue
        judged += 1
        live = build_live_world(world, held)
        found, truth = judge_live(live), try_live(world, held)
        words.update(one.word for one in found.verdicts)
        running = Counter(one.workload for one in held)
        assert [len(one.running) for one in live.workloads] == [running[at] for at in range(len(world.pods))]
        if find_lies(found, truth, is_exact=kind == "singles") or check_witnesses(live, found):
            wrong.append(seed)
    assert wrong == []
    assert judged > COUNT // 2
    assert min(words[word] for word in ("always-fits", "order-dependent", "unsatisfied")) > COUNT // 20


def check_witnesses(live: Live, found: Judgement) -> list[str]:
    """Whether orders can be carried out beside what is held, and leave out as many as is said."""
    wrong = []
    for one in found.verdicts:
        for witness in (one.worst, one.best):
            if witness is None or witness.replays != "now":
                continue
            running = {rest.workload: rest.first for rest in live.rests}
            titles = [rest.workload for rest in live.rests]
            replay = Replay(live.demand, live.demand.build_allocator())
            for move in witness.moves:
                number = move.replica - running[move.workload]
                done = replay.place(titles.index(move.workload), number, move.pod, move.node)
                if done is None or done.devices != move.devices:
                    wrong.append(f"{one.workload}: doesn't replay")
            placed = running[one.workload] + sum(move.workload == one.workload for move in witness.moves)
            if placed != witness.placed:
                wrong.append(f"{one.workload}: {placed} are placed, not {witness.placed}")
    return wrong


@pytest.mark.parametrize("error", ["one more runs", "those that run are forgotten"])
def test_planted_errors_are_caught(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    by = {"one more runs": 1, "those that run are forgotten": -10}[error]
    true = whole._add

    def add(rests: list[Verdict], has: int) -> object:
        return true(rests, max(0, has + by))

    monkeypatch.setattr(whole, "_add", add)
    caught = 0
    for seed in range(40):
        world = draw_singles(seed)
        held = hold_some(world, seed)
        if held:
            caught += bool(find_lies(judge_live(build_live_world(world, held)), try_live(world, held), is_exact=True))
    assert caught > 0


def test_groups_that_are_begun() -> None:
    """Groups of two pods, some of which hold a half: no order leaves out more, or serves more, than is said."""
    begun, wrong = 0, []
    for seed in range(COUNT):
        world = draw_mixed(seed) if seed % 2 else draw_singles(seed)
        rng = random.Random(seed)
        held = _hold_pods(world, rng)
        if not held:
            continue
        live = build_live_world(world, held, group=2)
        begun += sum(len(one.begun) for one in live.workloads)
        found = judge_live(live)
        for _ in range(10):
            counts = _run_to_the_end(live, rng)
            for one in found.verdicts:
                if not one.always.least <= counts[one.workload] <= one.at_best.most:
                    wrong.append((seed, one.workload, str(one.always), str(one.at_best), counts[one.workload]))
    assert wrong == []
    assert begun > COUNT // 5


def _hold_pods(world: World, rng: random.Random) -> list[Held]:
    """Pods of groups that the allocator gave devices to, whole groups or not."""
    demand = demand_of(world)
    demand = replace(demand, workloads=tuple(replace(one, pods=one.pods * 2) for one in demand.workloads))
    replay = Replay(demand, demand.build_allocator())
    pods = [
        (at, number, place)
        for at, one in enumerate(demand.workloads)
        for number in range(one.replicas)
        for place in (0, 1)
    ]
    rng.shuffle(pods)
    held = []
    for at, number, place in pods[: rng.randint(1, len(pods))]:
        node = rng.choice(sorted(replay.nodes))
        move = replay.place(at, number, place, node)
        if move is not None:
            held.append(Held(at, node, move.devices, replica=number, place=place))
    return held


def _run_to_the_end(live: Live, rng: random.Random) -> Counter[str]:
    """Complete replicas by workload, after pods came in some order until none could be placed any more."""
    demand = live.demand
    replay = Replay(demand, demand.build_allocator())
    waiting = [(one.workload, one.number, pod) for one in build_subjects(demand) for pod in range(len(one.pods))]
    rng.shuffle(waiting)
    left = Counter((at, number) for at, number, _ in waiting)
    for at, number, pod in waiting:
        # More that is held never makes room, so once round is enough.
        nodes = rng.sample(sorted(replay.nodes), len(replay.nodes))
        if any(replay.place(at, number, pod, node) is not None for node in nodes):
            left[at, number] -= 1
    counts = Counter({one.workload.title: min(len(one.running), one.workload.replicas) for one in live.workloads})
    for (at, _), count in left.items():
        counts[live.rests[at].workload] += not count
    return counts


def test_restarts_are_what_the_allocator_does() -> None:
    """Each replica that runs is taken out of the cluster, which is then asked for a place for it."""
    outcomes: Counter[bool] = Counter()
    for seed in range(COUNT):
        world = draw_mixed(seed) if seed % 2 else draw_singles(seed)
        held = hold_some(world, seed)
        if not held or not any(world.nodes[1:]):
            continue
        # Nobody gets the devices of the first node any more: what runs there couldn't come back, unless elsewhere.
        live = build_live_world(replace(world, nodes=((), *world.nodes[1:])), held)
        for at, found in enumerate(judge_restarts(live)):
            stuck = 0
            for number, one in enumerate(held):
                if one.workload == at:
                    others = [claim for claim in live.demand.held if claim.name != f"p{number}-c"]
                    placer = Placer(live.demand.build_allocator(), live.demand.nodes, others)
                    is_stuck = not placer.try_place(demand_of(world).workloads[at].pods[0]).is_placed
                    outcomes[is_stuck] += 1
                    stuck += is_stuck
            assert (found.stuck, found.unknown) == (stuck, 0), seed
            assert bool(found.reasons) == bool(stuck), seed
    assert min(outcomes[True], outcomes[False]) > 10
