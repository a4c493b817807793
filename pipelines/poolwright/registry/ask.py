"""All questions, a few at a time, and an end to it however slow anybody is."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator

from poolwright.pins.questions import ChartName, Question, Unanswered
from poolwright.registry.helm_index import HelmRepository
from poolwright.registry.limits import LIMITS, Limits
from poolwright.registry.manifest import ask_manifest
from poolwright.registry.refusal import CHECK_NETWORK, RefusalError
from poolwright.registry.transport import Transport

_Answer = str | Unanswered
_Job = tuple[Question, ...]  # what one connection after the other is enough for
_Done = tuple[Question, _Answer] | BaseException


def ask_registries(questions: Iterable[Question], limits: Limits = LIMITS) -> dict[Question, _Answer]:
    """A digest for each question, or why there is none; in the questions' order.

    Cost: at most limits.total_s, and what a system call takes to be given up.
    """
    asked = list(questions)
    deadline = time.monotonic() + limits.total_s
    transport = Transport(limits, deadline)
    todo: queue.SimpleQueue[_Job] = queue.SimpleQueue()
    for job in _group(asked):
        todo.put(job)
    done: queue.SimpleQueue[_Done] = queue.SimpleQueue()
    # Daemons: nothing ends a look-up of a name, and a process must not wait for one.
    for _ in range(min(limits.parallel, todo.qsize())):
        threading.Thread(target=_work, args=(todo, done, transport, deadline), daemon=True).start()
    late = Unanswered(
        code="registry-silent", what=f"there was no answer within {limits.total_s:g} s in all", fix=CHECK_NETWORK
    )
    answers: dict[Question, _Answer] = dict.fromkeys(asked, late)
    for question, answer in _collect(done, len(answers), deadline):
        answers[question] = answer
    return answers


def _collect(done: queue.SimpleQueue[_Done], count: int, deadline: float) -> Iterator[tuple[Question, _Answer]]:
    for _ in range(count):
        try:
            one = done.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return
        if isinstance(one, BaseException):
            raise one
        yield one


def _group(questions: Iterable[Question]) -> Iterator[_Job]:
    """A classic repository's charts together, since one index has them all; everything else by itself."""
    charts: dict[str, list[Question]] = {}
    for question in questions:
        if question.chart is not None and _is_classic(question.chart):
            charts.setdefault(question.chart.repo_url, []).append(question)
        else:
            yield (question,)
    yield from map(tuple, charts.values())


def _is_classic(chart: ChartName) -> bool:
    return "://" in chart.repo_url and not chart.repo_url.startswith("oci://")


def _work(todo: queue.SimpleQueue[_Job], done: queue.SimpleQueue[_Done], transport: Transport, deadline: float) -> None:
    """Answer jobs until none is left. What is wrong with us goes to whoever collects."""
    while time.monotonic() < deadline:
        try:
            job = todo.get_nowait()
        except queue.Empty:
            return
        try:
            for one in _answer(job, transport):
                done.put(one)
        except BaseException as error:
            done.put(error)


def _answer(job: _Job, transport: Transport) -> Iterator[tuple[Question, _Answer]]:
    try:
        ask = _open(job[0], transport)
    except RefusalError as error:
        yield from ((question, error.answer) for question in job)
        return
    for question in job:
        try:
            yield question, ask(question)
        except RefusalError as error:
            yield question, error.answer


def _open(question: Question, transport: Transport) -> Callable[[Question], str]:
    """Who answers a question, and others of the same job."""
    if question.chart is not None and _is_classic(question.chart):
        return HelmRepository(question.chart.repo_url, transport).ask
    return lambda one: ask_manifest(one, transport)
