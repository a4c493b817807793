"""Teams' own components judged: each unit that has one is built with it by real Kustomize, and compared."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor

from poolwright.catalog.closure import UnitClosure
from poolwright.files.custom import Custom
from poolwright.kustomize.custom import build_custom
from poolwright.kustomize.find import Kustomize, KustomizeError, find_kustomize
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place
from poolwright.trees.custom import check_custom
from poolwright.trees.tree import KUSTOMIZATION, custom_path, unit_name
from poolwright.trees.yaml_text import render_objects

_MAX_BYTES = 32 << 20
_RULE = "poolwright custom components"


def apply_custom(closure: UnitClosure, custom: Custom) -> bytes:
    """A unit's objects with its component, as Kustomize prints them.

    Raises: SpecError if there is no Kustomize, if it can't build them, or with what the component may not do.
    """
    kustomize = find_kustomize(None, os.environ)
    if isinstance(kustomize, KustomizeError):
        raise SpecError([_cannot_build(custom, kustomize)])
    objects, problems = _judge(kustomize, closure, custom)
    if problems:
        raise SpecError(problems)
    return objects


def judge_customs(closures: Iterable[UnitClosure], customs: Mapping[str, Custom]) -> list[Finding]:
    """Everything that components do and may not; without a Kustomize, one note that says so.

    customs: by the name of their unit's folder; closures without one are passed over.
    Cost:    a start of Kustomize for each component.
    """
    judged = [(closure, customs[unit_name(closure)]) for closure in closures if unit_name(closure) in customs]
    if not judged:
        return []
    kustomize = find_kustomize(None, os.environ)
    if isinstance(kustomize, KustomizeError):
        return [_unchecked([custom for _, custom in judged], kustomize)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda pair: _judge(kustomize, *pair)[1], judged)
        return [finding for findings in found for finding in findings]


def _judge(kustomize: Kustomize, closure: UnitClosure, custom: Custom) -> tuple[bytes, list[Finding]]:
    """What is built, and what is wrong with it."""
    built = build_custom(kustomize, closure, custom)
    if isinstance(built, KustomizeError):
        return b"", [_cannot_build(custom, built)]
    try:
        # The finished objects are what Kustomize builds without the component: `render --verify` proves it.
        before, after = (
            parse_built(render_objects(build_objects(closure)), closure),
            parse_built(built.objects, closure),
        )
    except SpecError as error:
        return b"", [_unreadable(custom, finding) for finding in error.findings]
    return built.objects, check_custom(before, after, closure)


def parse_built(text: bytes, closure: UnitClosure) -> list[Object]:
    """The objects that Kustomize printed for a unit.

    Raises: SpecError with what in them isn't read.
    """
    documents = parse_documents(text, f"{custom_path(unit_name(closure))}/{KUSTOMIZATION}", max_bytes=_MAX_BYTES)
    return [document.value for document in documents if isinstance(document.value, dict)]


def _cannot_build(custom: Custom, error: KustomizeError) -> Finding:
    return Finding(
        code="custom-build",
        severity="error",
        place=Place(f"{custom.path}/{KUSTOMIZATION}"),
        what=error.reason,
        why="the unit is its own objects with the team's component applied by real Kustomize, and never without",
        rule=_RULE,
        fix=error.fix or "correct the component",
    )


def _unreadable(custom: Custom, finding: Finding) -> Finding:
    """A finding on what Kustomize printed: its lines are no file's."""
    place = Place(f"{custom.path}/{KUSTOMIZATION}", field=finding.place.field)
    return Finding(
        code=finding.code,
        severity="error",
        place=place,
        what=f"built with the component: {finding.what}",
        why=finding.why,
        rule=finding.rule,
        fix=finding.fix,
    )


def _unchecked(customs: list[Custom], error: KustomizeError) -> Finding:
    paths = ", ".join(custom.path for custom in customs)
    return Finding(
        code="custom-unchecked",
        severity="note",
        place=Place(f"{customs[0].path}/{KUSTOMIZATION}"),
        what=f"what teams' own components do wasn't judged ({paths}): {error.reason}",
        why="only real Kustomize says what a component makes of a unit",
        rule=_RULE,
        fix=f"install one: {error.fix}",
    )
