"""`poolwright pin`: what stacks leave open, decided and written down."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from poolwright.admission.claimed import bound_claim
from poolwright.catalog.closure import UnitClosure, list_named_files
from poolwright.catalog.compatibility import Answer, judge_stack, list_unspoken
from poolwright.catalog.facts import Facts
from poolwright.catalog.locked import apply_lock, pin_stack
from poolwright.catalog.units import build_closures
from poolwright.cli import today
from poolwright.cli.load import load_project, read_inventories
from poolwright.cli.matrix import list_rehearsed, load_matrix, read_records
from poolwright.cli.output import say, tell
from poolwright.files.facts import read_facts
from poolwright.files.lock_file import write_lock
from poolwright.files.project import (
    find_project,
    read_lock_file,
    read_named_files,
    read_specs,
)
from poolwright.matrix.judge_record import JudgedRecord
from poolwright.matrix.matrix_json import render_matrix_json
from poolwright.matrix.matrix_text import render_matrix_text
from poolwright.pins.build import PinRequest, build_lock, list_upgradable, resolve_stacks
from poolwright.pins.changes import Change, list_changes
from poolwright.pins.questions import build_digests, list_questions
from poolwright.pins.report import render_answers, render_changes, render_report_json
from poolwright.specs.finding import Finding, SpecError, escape_controls
from poolwright.specs.lock import LOCK_FILE, Lock, StackLock, render_lock
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class PinOptions:
    """What the command line says."""

    project: str
    check: bool = False
    online: bool = False  # ask registries
    upgrades: Sequence[str] = ()
    form: Literal["text", "json"] = "text"
    matrix: bool = False  # print what is owed in rehearsals, and write nothing
    plan: bool = False  # print the way from the earlier lock to this one, and write nothing
    since: str | None = None  # the file of the earlier lock; None: the project's own


def run_pin(options: PinOptions, as_of: dt.date | None = None) -> int:
    """Write the lock, or with `check` say what it would change; 0: it is, or was, as it should be, 1: it isn't.

    as_of:  the day that rehearsals are judged on; None: today in UTC.
    Raises: SpecError if the project can't be read, a version isn't known, or a registry doesn't give a digest.
    """
    root = find_project(options.project)
    before = read_lock_file(root)
    previous = before.value if before else None
    facts, specs = read_facts(root), parse_specs(read_specs(root))
    unknown = [name for name in options.upgrades if name not in list_upgradable(specs)]
    if unknown:
        known = ", ".join(list_upgradable(specs))
        say(f"poolwright pin: nothing is called {escape_controls(unknown[0])}; known: {known}\n", error=True)
        return 2
    day = as_of or today.read_today()
    rehearsed = list_rehearsed(specs, records := read_records(root, specs, facts, as_of=day))
    request = PinRequest(facts=facts, previous=previous, upgraded=frozenset(options.upgrades), rehearsed=rehearsed)
    stacks = resolve_stacks(specs, request)
    if options.online:
        request = replace(request, digests=_ask_digests(specs, stacks))
        stacks = resolve_stacks(specs, request)
    lock = build_lock(stacks, _bound_units(root, specs, stacks, request), request)
    changes = list_changes(previous, lock)
    is_same = before is not None and before.text == render_lock(lock)
    if options.plan:
        if not _report_plan(root, options, previous, lock):
            return 1
    elif options.matrix:
        _report_matrix(root, options, lock, records, day)
    else:
        judged = _judge(specs, stacks, facts)  # before anything is written
        if not (options.check or is_same):
            write_lock(root, render_lock(lock))
        _report(options, lock, changes, *judged, is_same=is_same)
    return 1 if options.check and not is_same else 0


def _report_plan(root: str, options: PinOptions, previous: Lock | None, lock: Lock) -> bool:
    """The way from the earlier lock: of a project that has none there is none. Whether no step is unsupported."""
    from poolwright.cli.earlier_lock import read_earlier
    from poolwright.cli.upgrade import print_upgrade  # here: it judges verdicts

    before = previous if options.since is None else read_earlier(options.since)
    if before is None:
        raise SpecError([_no_lock()])
    return print_upgrade(root, before, lock, options.form)


def _no_lock() -> Finding:
    return Finding(
        code="lock-unreadable",
        severity="error",
        place=Place(LOCK_FILE),
        what="there is no earlier lock to start from",
        why="an upgrade plan goes from the versions of one lock to those of another",
        rule="poolwright.dev/v1alpha1",
        fix="name its file: git show main:poolwright.lock > old.lock; poolwright pin --plan --from old.lock",
    )


def _report_matrix(root: str, options: PinOptions, lock: Lock, records: Sequence[JudgedRecord], as_of: dt.date) -> None:
    """What the combinations in use owe, with the versions of this lock."""
    loaded = load_project(root)
    matrix = load_matrix(loaded, read_inventories(loaded), lock, records, as_of=as_of)
    if options.form == "json":
        say(render_matrix_json(matrix))
        return
    for line in render_matrix_text(matrix):
        say(line + "\n")


def _ask_digests(specs: Specs, stacks: Mapping[str, StackLock]) -> dict[str, str]:
    """What registries have, by reference. Raises: SpecError with each that doesn't say."""
    from poolwright.registry.ask import ask_registries  # here: nothing that reaches a network is loaded without need

    return build_digests(ask_registries(list_questions(specs, stacks)))


def _bound_units(root: str, specs: Specs, stacks: Mapping[str, StackLock], request: PinRequest) -> list[UnitClosure]:
    """Every unit as it is with these versions, its claim bounded by today's prices."""
    versions = build_lock(stacks, (), request)
    pinned = apply_lock(specs, versions)
    named = [path for envelope in specs.envelopes for path in list_named_files(envelope.value)]
    files = read_named_files(root, named)
    closures = build_closures(pinned, files, request.facts)
    return [bound_claim(one, files, request.facts) for one in closures if isinstance(one, UnitClosure)]


def _judge(
    specs: Specs, stacks: Mapping[str, StackLock], facts: Facts
) -> tuple[dict[str, tuple[Answer, ...]], dict[str, tuple[str, ...]]]:
    """What is said of each stack's versions, and the components that nobody speaks of."""
    spec_of = {stack.value.identity: stack.value.spec for stack in specs.stacks}
    pinned = {name: pin_stack(spec_of[name], lock) for name, lock in sorted(stacks.items())}
    answers = {name: judge_stack(stack, facts) for name, stack in pinned.items()}
    return answers, {name: list_unspoken(stack, facts) for name, stack in pinned.items()}


def _report(
    options: PinOptions,
    lock: Lock,
    changes: Sequence[Change],
    answers: Mapping[str, Sequence[Answer]],
    unspoken: Mapping[str, Sequence[str]],
    *,
    is_same: bool,
) -> None:
    if options.form == "json":
        say(render_report_json(lock, changes, answers, unspoken, written=not options.check and not is_same))
        return
    if is_same:
        tell(f"{LOCK_FILE} is up to date")
    else:
        kind = "" if changes else ", in its layout or reasons alone"
        tell(f"{LOCK_FILE} {'would change' if options.check else 'written'}{kind}")
    for line in (*render_changes(changes), *render_answers(answers, unspoken)):
        tell(line)
