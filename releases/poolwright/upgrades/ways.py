"""Whether a step is supported: forward and back by the same judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from poolwright.catalog.compatibility import WORDS, Word, judge_stack
from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.catalog.readings import list_disputes
from poolwright.catalog.traps import list_step_traps
from poolwright.specs.stack import StackSpec
from poolwright.upgrades.moves import Move, count_minors, operator_line, plain_numbers

if TYPE_CHECKING:
    from poolwright.catalog.tables.operator import OperatorLineFact

_SKEW: Final = "Kubernetes documentation, version skew policy and upgrades"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """What is said of a step, or of the way back from it."""

    word: Word
    why: str
    source: str = ""


def judge_step(before: StackSpec, after: StackSpec, move: Move, facts: Facts) -> Way:
    """Whether a move is supported; of the way back, ask with the two stacks exchanged and the move reversed."""
    match move.part:
        case "kubernetes":
            return _judge_kubernetes(move)
        case "gpuOperator":
            return _judge_operator(before, move, facts)
        case "draDriver":
            return _judge_driver(move, facts)
        case "gpuDriver":
            return _judge_gpu_driver(after, move, facts)
        case "servingImage":
            return Way(word="supported", why="a commit, or its revert, brings the image, and a rollout with it")
        case _:
            return Way(word="unlisted", why="a drained node after the other; nobody promises it")


def _judge_kubernetes(move: Move) -> Way:
    count = count_minors(move.before, move.after)
    if count is None:
        return Way(word="unsupported", why=f"no way from {move.before} to {move.after} is known: their majors differ")
    if count < 0:
        return Way(word="unsupported", why="a control plane isn't taken back a minor release", source=_SKEW)
    if count > 1:
        why = f"a control plane goes one minor release at a time, and it is {count} of them"
        return Way(word="unsupported", why=why, source=_SKEW)
    if count == 1:
        return Way(word="supported", why="a control plane goes one minor release at a time", source=_SKEW)
    if move.is_back:
        return Way(word="unlisted", why="a patch can be taken back as it came; nobody promises it")
    return Way(word="supported", why="a patch inside a minor release", source=_SKEW)


def _judge_operator(before: StackSpec, move: Move, facts: Facts) -> Way:
    for name, old, new in move.carries:
        driver = _judge_driver(Move(part="draDriver", name=name, before=old, after=new), facts)
        if driver.word == "unsupported":
            return driver
    was, line = facts.operator_line(move.before), facts.operator_line(move.after)
    rows = tuple(one for one in (was, line) if one is not None)

    def judge(rows: Sequence[OperatorLineFact]) -> Way:
        return _judge_lines(before, move, {one.line: one for one in rows})

    own = judge(rows)
    against = list_disputes("operator-lines", rows, judge, lambda way: way.word)
    if not against:
        return own
    said = "; ".join(f"{one.answer.word} by {one.said} ({one.source})" for one in against)
    return replace(own, word="disputed", why=f"{own.why}: {own.word} by {against[0].counted}; {said}")


def _judge_lines(before: StackSpec, move: Move, lines: Mapping[str, OperatorLineFact]) -> Way:
    start, end = operator_line(move.before), operator_line(move.after)
    was, line = lines.get(start), lines.get(end)
    if start == end:
        if line is None:
            return Way(word="unlisted", why=f"the line {end} isn't known here")
        if move.is_back:
            why = f"inside the line {end}; upgrades are documented, ways back aren't"
            return Way(word="unlisted", why=why, source=line.source)
    if line is None or start not in line.upgrades_from:
        known = line or was
        why = f"no way from line {start} to {end} is listed: steps lead inside a line or to the next one"
        return Way(word="unsupported", why=why, source=known.source if known else "")
    by_claims = before.gpu_operator is not None and before.gpu_operator.mode == "gpuCluster"
    if by_claims and line.manages_dra_driver and was is not None and not was.manages_dra_driver:
        why = f"line {start} manages no DRA driver: a GPUCluster of {end} isn't reached from it in place"
        return Way(word="unsupported", why=why, source=line.source)
    why = f"inside the line {end}" if start == end else f"from line {start} to {end}, as it is listed"
    return Way(word="supported", why=why, source=line.source)


def _judge_driver(move: Move, facts: Facts) -> Way:
    if not is_nvidia_package(move.name, facts):
        return Way(word="unlisted", why="nothing is known here of its releases")
    if not move.is_back:
        return Way(word="unlisted", why="nobody lists from which releases it may come")
    for trap in list_step_traps("draDriver", plain_numbers(move.before), plain_numbers(move.after), facts):
        return Way(word="unsupported", why=trap.effect, source=trap.source)
    return Way(word="unlisted", why="nothing says that its checkpoint is read by the release before")


def _judge_gpu_driver(after: StackSpec, move: Move, facts: Facts) -> Way:
    """The worst that anything in the stack says of the driver: a claim needs all of them."""
    subject = f" with GPU driver {move.after}"
    answers = [one for one in judge_stack(after, facts) if one.subject.endswith(subject)]
    if not answers:
        return Way(word="unlisted", why="with drained nodes; no list names it")
    worst = min(answers, key=lambda one: WORDS.index(one.word))
    about = "" if worst.subject.startswith("GPU Operator ") else f"{worst.subject}: "
    return Way(word=worst.word, why=f"with drained nodes: {about}{worst.why}", source=worst.source)
