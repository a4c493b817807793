"""What a judgement says that isn't so, by the oracles' truth and by carrying out what it shows."""

from __future__ import annotations

from collections import Counter

from oracles import Truth
from witness_oracle import publish

from plan_world import World, demand_of
from poolwright.plan.replay import Replay
from poolwright.plan.verdict import Judgement, Witness


def find_lies(found: Judgement, truth: Truth, *, is_exact: bool) -> list[str]:
    """What isn't true of all packings. is_exact: every number must be known."""
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


def find_empty_promises(found: Judgement, real: Truth) -> list[str]:
    """What no order of pods comes to with the allocator itself. real: with devices as they are published."""
    broken = [
        f"{one.workload}: {one.at_best} is {best}"
        for one, best in zip(found.verdicts, real.at_best, strict=True)
        if one.at_best.least > best
    ]
    short = found.demanded - real.most
    return broken if found.shortfall.most >= short else [*broken, f"shortfall {found.shortfall} is {short}"]


def check_witnesses(world: World, found: Judgement) -> list[str]:
    """What is wrong with the orders that are shown."""
    wrong = []
    for at, one in enumerate(found.verdicts):
        if one.word == "order-dependent" and one.worst is None:
            wrong.append(f"{one.workload}: no witness")
        if one.worst is not None and not one.always.least <= one.worst.placed < one.replicas:
            wrong.append(f"{one.workload}: leaves none out")
        if one.worst is not None and one.worst.replays != "not-replayed" and not _is_stuck(world, at, one.worst):
            wrong.append(f"{one.workload}: isn't left out")
        if one.best is not None and one.best.replays != "not-replayed" and not _is_complete(world, at, one.best):
            wrong.append(f"{one.workload}: isn't placed")
    return wrong


def carry_out(world: World, witness: Witness) -> Replay | None:
    """The cluster after the moves; None: they don't happen as they are told, with devices in the order that is said."""
    demand = demand_of(publish(world, witness))
    replay = Replay(demand, demand.build_allocator())
    titles = [one.title for one in demand.workloads]
    for move in witness.moves:
        if replay.place(titles.index(move.workload), move.replica, move.pod, move.node) != move:
            return None
    return replay


def _is_stuck(world: World, at: int, witness: Witness) -> bool:
    """Whether of one place in the replicas so many pods run as is said, and no node takes another one."""
    replay = carry_out(world, witness)
    if replay is None:
        return False
    workload, nodes = replay.demand.workloads[at], [node.name for node in replay.demand.nodes]
    for pod in range(len(workload.pods)):
        placed = sum((move.workload, move.pod) == (workload.title, pod) for move in witness.moves)
        if placed == witness.placed < workload.replicas and not replay.can_place(at, placed, pod, nodes):
            return True
    return False


def _is_complete(world: World, at: int, witness: Witness) -> bool:
    """Whether so many replicas have all their pods as is said."""
    replay = carry_out(world, witness)
    if replay is None:
        return False
    workload = replay.demand.workloads[at]
    by_replica = Counter(move.replica for move in witness.moves if move.workload == workload.title)
    return sum(count == len(workload.pods) for count in by_replica.values()) == witness.placed
