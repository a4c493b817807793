"""What each move of an upgrade takes: what is done, what it does to claims, what changes silently, and the way back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from poolwright.catalog.compatibility import Answer, Word, judge_stack
from poolwright.catalog.facts import Facts
from poolwright.catalog.tables.driver_release import is_within
from poolwright.specs.stack import StackSpec
from poolwright.specs.version import parse_version, parse_version_range
from poolwright.upgrades.moves import Move, State
from poolwright.upgrades.silent import list_silent

if TYPE_CHECKING:
    from poolwright.catalog.tables.pins import TrapFact

# What claims feel meanwhile: nothing; those of pods that start wait; those of one node after the other lose it; those
# of a workload's pods are made anew.
Disturbance = Literal["nothing", "newClaims", "eachNode", "rollout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """Whether a step can be undone."""

    word: Word
    why: str
    source: str = ""


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
    back: WayBack


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
        traps=tuple(_list_traps(before, state.stack, move, facts)),
        answers=answers,
        back=_find_way_back(before, move, facts),
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
            yield f"upgrade the control plane to {move.after}, then the nodes, each drained before"
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


def _list_crd_actions(chart: str, move: Move, facts: Facts) -> Iterator[str]:
    """CRDs that the chart's own upgrade leaves as they were, and new ones."""
    old = {f.crd for f in facts.chart_crds if f.chart == chart and is_within(move.before, f.since, f.until)}
    new = [f for f in facts.chart_crds if f.chart == chart and is_within(move.after, f.since, f.until)]
    first = sorted(f.crd for f in new if not f.upgraded_by_hook or f.crd not in old)
    if first:
        yield f"apply the CRDs {', '.join(first)} of {chart} {move.after} first: its own upgrade leaves them"


def _list_driver_actions(before: StackSpec, move: Move, facts: Facts) -> Iterator[str]:
    driver = next(one for one in before.dra_drivers if one.name == move.name)
    old, new = facts.driver_release(move.before), facts.driver_release(move.after)
    if driver.install != "chart":
        yield f"whoever installs {move.name} moves it; its plugin restarts on all nodes"
        return
    chart = new.chart if new else move.name
    if old and new and old.chart != new.chart:
        yield f"the chart is called {new.chart} now: set nameOverride: {old.chart}, or remove the old release first"
    yield from _list_crd_actions(chart, move, facts)
    yield f"sync the Application of the chart {chart} {move.after}: the plugin restarts on all nodes at once"


def _list_traps(before: StackSpec, after: StackSpec, move: Move, facts: Facts) -> Iterator[TrapFact]:
    """What is known to go wrong on such a step."""
    drivers = move.carries if move.part == "gpuOperator" else ()
    if move.part == "draDriver":
        drivers = ((move.name, move.before, move.after),)
    for trap in facts.known_traps:
        kind, _, value = trap.when.partition(":")
        match trap.component, kind:
            case "draDriver", "upgrade":
                if any(_is_in(new, trap.versions) and _is_in(old, (value,)) for _, old, new in drivers):
                    yield trap
            case "draDriver", "rollback":
                if any(_is_in(old, trap.versions) and _is_in(new, (value,)) for _, old, new in drivers):
                    yield trap
            case "gpuDriver", "upgrade":
                if move.part == "gpuDriver":
                    yield trap
            case "gpuOperator", "mode":
                is_new = move.part == "gpuOperator" and not _is_in(move.before, trap.versions)
                if (
                    is_new
                    and _is_in(move.after, trap.versions)
                    and after.gpu_operator
                    and after.gpu_operator.mode == value
                ):
                    yield trap
            case "gpuOperator" | "gpuDriver" | "draDriver", "gate":
                is_on = any(one.feature_gates.get(value) for one in before.dra_drivers)
                if is_on and move.part == trap.component and _is_in(move.after, trap.versions):
                    yield trap


def _is_in(version: str, ranges: Sequence[str]) -> bool:
    wanted = parse_version(version)
    return any(one == "any" or parse_version_range(one).contains(wanted) for one in ranges)


def _find_way_back(before: StackSpec, move: Move, facts: Facts) -> WayBack:
    match move.part:
        case "kubernetes":
            if parse_version(move.before).minor != parse_version(move.after).minor:
                source = "Kubernetes documentation, version skew policy and upgrades"
                return WayBack(
                    word="unsupported", why="a control plane isn't taken back a minor release", source=source
                )
            return WayBack(word="unlisted", why="a patch can be taken back as it came; nobody promises it")
        case "gpuOperator":
            return _find_operator_back(move, facts)
        case "draDriver":
            return _find_driver_back(move.before, move.after, facts)
        case "gpuDriver":
            return _find_gpu_driver_back(before, move, facts)
        case "servingImage":
            return WayBack(word="supported", why="a Git revert brings the image back, and another rollout with it")
        case _:
            return WayBack(word="unlisted", why="as it came, a drained node after the other; nobody promises it")


def _find_operator_back(move: Move, facts: Facts) -> WayBack:
    for _, old, new in move.carries:
        driver = _find_driver_back(old, new, facts)
        if driver.word == "unsupported":
            return driver
    line, was = facts.operator_line(move.after), facts.operator_line(move.before)
    if line is None or was is None:
        return WayBack(word="unlisted", why="one of the two releases isn't known here")
    if line.line == was.line:
        why = f"inside the line {line.line}; upgrades are documented, ways back aren't"
        return WayBack(word="unlisted", why=why, source=line.source)
    why = f"from line {line.line} to {was.line} no step is listed: steps lead inside a line or to the next one"
    return WayBack(word="unsupported", why=why, source=line.source)


def _find_driver_back(before: str, after: str, facts: Facts) -> WayBack:
    for trap in facts.known_traps:
        kind, _, value = trap.when.partition(":")
        if (
            trap.component == "draDriver"
            and kind == "rollback"
            and _is_in(after, trap.versions)
            and _is_in(before, (value,))
        ):
            return WayBack(word="unsupported", why=trap.effect, source=trap.source)
    return WayBack(word="unlisted", why="nothing says that its checkpoint is read by the release before")


def _find_gpu_driver_back(before: StackSpec, move: Move, facts: Facts) -> WayBack:
    subject = f" with GPU driver {move.before}"
    for answer in judge_stack(before, facts):
        if answer.subject.startswith("GPU Operator") and answer.subject.endswith(subject):
            why = f"with drained nodes, as it came: {answer.why}"
            return WayBack(word=answer.word, why=why, source=answer.source)
    return WayBack(word="unlisted", why="with drained nodes, as it came")
