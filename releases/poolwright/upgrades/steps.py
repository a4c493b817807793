"""What each move of an upgrade takes: what is done, what it does to claims, what changes silently, and the way back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from poolwright.catalog.compatibility import Answer, judge_stack
from poolwright.catalog.facts import Facts
from poolwright.catalog.tables.driver_release import is_within
from poolwright.catalog.traps import list_move_traps, list_traps
from poolwright.specs.stack import StackSpec
from poolwright.upgrades.moves import Move, State, count_minors, plain_numbers
from poolwright.upgrades.silent import list_silent
from poolwright.upgrades.ways import Way, judge_step

if TYPE_CHECKING:
    from poolwright.catalog.tables.pins import TrapFact

# What claims feel meanwhile: nothing; those of pods that start wait; those of one node after the other lose it; those
# of a workload's pods are made anew.
Disturbance = Literal["nothing", "newClaims", "eachNode", "rollout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One move, and what goes with it."""

    move: Move
    stack: StackSpec  # after it
    actions: tuple[str, ...]  # in their order
    disturbance: Disturbance
    silent: tuple[str, ...]  # what may change allocations though no manifest does
    traps: tuple[TrapFact, ...]
    answers: tuple[Answer, ...]  # of the stack after it: those that aren't `supported`
    way: Way
    back: Way


def build_steps(before: StackSpec, states: Sequence[State], facts: Facts) -> tuple[Step, ...]:
    """A step for each state.

    states: what `plan_moves` gave for the stack before.
    """
    steps = []
    for state in states:
        steps.append(_build_step(before, state, facts))
        before = state.stack
    return tuple(steps)


def _build_step(before: StackSpec, state: State, facts: Facts) -> Step:
    move = state.move
    answers = tuple(one for one in judge_stack(state.stack, facts) if one.word != "supported")
    return Step(
        move=move,
        stack=state.stack,
        actions=tuple(_list_actions(before, move, facts)),
        disturbance=_find_disturbance(before, move),
        silent=tuple(list_silent(before, move, facts)),
        traps=tuple(_list_traps(before, state.stack, facts)),
        answers=answers,
        way=judge_step(before, state.stack, move, facts),
        back=judge_step(state.stack, before, move.reverse(), facts),
    )


def _find_disturbance(before: StackSpec, move: Move) -> Disturbance:
    match move.part:
        case "gpuOperator" if before.gpu_operator is None or before.gpu_operator.mode == "clusterPolicy":
            return "nothing"
        case "kubernetes" | "containerRuntime" | "containerToolkit" | "gpuDriver":
            return "eachNode"
        case "gpuOperator" | "draDriver":
            return "newClaims"
        case "servingImage":
            return "rollout"


def _list_actions(before: StackSpec, move: Move, facts: Facts) -> Iterator[str]:
    match move.part:
        case "kubernetes":
            yield from _list_kubernetes_actions(move)
        case "containerRuntime" | "containerToolkit":
            yield f"drain a node, install {move.after}, let it serve again; then the next one"
        case "gpuOperator":
            yield from _list_crd_actions("gpu-operator", move, facts)
            yield f"sync the Application of the chart gpu-operator v{move.after}"
            for name, old, new in move.carries:
                yield f"it takes {name} from {old} to {new}: the plugin restarts on all nodes at once"
        case "draDriver":
            yield from _list_driver_actions(before, move, facts)
        case "gpuDriver":
            by_host = before.gpu_driver is not None and before.gpu_driver.install == "host"
            how = "install it on a drained node" if by_host else "the operator drains a node, and installs it"
            yield f"{how}; then the next one"
            yield "restart the DRA plugin of the node after it: it keeps the NVML of the old driver"
        case "servingImage":
            yield f"sync the units that run {move.name}: their pods are replaced, surge permitting"


def _list_kubernetes_actions(move: Move) -> Iterator[str]:
    count = count_minors(move.before, move.after)
    if count not in (0, 1):
        yield f"nothing in place: make a cluster of {move.after} beside this one, and move workloads to it"
        return
    verb = "take the control plane back" if move.is_back else "upgrade the control plane"
    yield f"{verb} to {move.after}, then the nodes, each drained before"


def _list_crd_actions(chart: str, move: Move, facts: Facts) -> Iterator[str]:
    """CRDs that the chart's own upgrade leaves as they were, and new ones."""
    rows = [f for f in facts.chart_crds if f.chart == chart]
    old = {f.crd for f in rows if is_within(plain_numbers(move.before), f.since, f.until)}
    new = [f for f in rows if is_within(plain_numbers(move.after), f.since, f.until)]
    first = sorted(f.crd for f in new if not f.upgraded_by_hook or f.crd not in old)
    if first:
        why = "Helm leaves those that are there" if move.is_back else "its own upgrade leaves them"
        yield f"apply the CRDs {', '.join(first)} of {chart} {move.after} first: {why}"


def _list_driver_actions(before: StackSpec, move: Move, facts: Facts) -> Iterator[str]:
    driver = next(one for one in before.dra_drivers if one.name == move.name)
    old, new = facts.driver_release(move.before), facts.driver_release(move.after)
    if driver.install != "chart":
        yield f"whoever installs {move.name} moves it; its plugin restarts on all nodes"
        return
    chart = new.chart if new else move.name
    if old and new and old.chart != new.chart:
        remedy = f"set nameOverride: {old.chart}, or remove the old release first"
        yield f"the chart of {move.after} is called {new.chart}: {remedy}"
    yield from _list_crd_actions(chart, move, facts)
    yield f"sync the Application of the chart {chart} {move.after}: the plugin restarts on all nodes at once"


def _list_traps(before: StackSpec, after: StackSpec, facts: Facts) -> Iterator[TrapFact]:
    """What is known to go wrong on such a step, and with the stack after it if it didn't with the one before."""
    on_the_way = list_move_traps(before, after, facts)
    met = list_traps(before, (), facts)
    there = list_traps(after, (), facts)
    yield from (one for one in facts.known_traps if one in on_the_way or (one in there and one not in met))
