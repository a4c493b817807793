"""What a closure takes from the repository beside specs: the workload a template gives, and the team's component."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from poolwright.catalog.closure import BaseClosure, Closure, EnvelopeClosure, UnitClosure
from poolwright.objects.kubernetes import Object
from poolwright.specs.digest import Digest
from poolwright.specs.finding import Finding, SpecError
from poolwright.trees.tree import unit_name

C = TypeVar("C", bound=Closure)


def complete_closures(
    closures: Iterable[C],
    render: Callable[[EnvelopeClosure], Object],
    find_custom: Callable[[str], Digest | None],
) -> tuple[C, ...]:
    """Closures of the specs with what else their bytes follow from.

    render:      the workload that an envelope's template gives: `render_workload`. Asked once for each version.
    find_custom: the digest of a unit's own component by its folder's name (CLUSTER/UNIT); None: it has none.
    Raises:      SpecError with everything that is wrong with any template.
    """
    closures = tuple(closures)
    whole: dict[tuple[str, str], EnvelopeClosure] = {}  # one value for all units of a version, as before
    problems: list[Finding] = []
    for envelope in {(e.name, e.version): e for e in map(_envelope, closures) if e and e.spec.engine.template}.values():
        try:
            whole[envelope.name, envelope.version] = msgspec.structs.replace(envelope, workload=render(envelope))
        except SpecError as error:
            problems += error.findings
    if problems:
        raise SpecError(problems)
    return tuple(_complete(closure, whole, find_custom) for closure in closures)


def render_workload(envelope: EnvelopeClosure, files: Mapping[str, bytes]) -> Object:
    """The workload that an envelope's template gives.

    files:  those that the envelope names, by path.
    Raises: SpecError with everything that is wrong with it.
    Cost:   a child process.
    """
    # Here: most units have no template, and what starts a program takes long to load.
    from poolwright.sandbox.run import render_template
    from poolwright.templates.variables import build_variables
    from poolwright.templates.workload import parse_workload

    file = envelope.spec.engine.template
    if file is None:
        raise ValueError(f"{envelope.name} has no template")
    rendered = render_template(files[file], file, build_variables(envelope), environ=os.environ)
    return parse_workload(rendered.text, rendered.lines, file, envelope)


def _envelope(closure: Closure) -> EnvelopeClosure | None:
    return closure.envelope if isinstance(closure, BaseClosure | UnitClosure) else None


def _complete(
    closure: C, whole: Mapping[tuple[str, str], EnvelopeClosure], find_custom: Callable[[str], Digest | None]
) -> C:
    envelope = _envelope(closure)
    if envelope is not None and (envelope.name, envelope.version) in whole:
        closure = msgspec.structs.replace(closure, envelope=whole[envelope.name, envelope.version])
    if isinstance(closure, UnitClosure):
        custom = find_custom(unit_name(closure))
        if custom is not None:
            return msgspec.structs.replace(closure, custom=custom)
    return closure
