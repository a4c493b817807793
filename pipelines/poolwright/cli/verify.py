"""`poolwright render --verify`: every folder built by real Kustomize and compared with the finished objects."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from poolwright.catalog.closure import Closure, UnitClosure
from poolwright.cli.custom import parse_built
from poolwright.cli.output import tell
from poolwright.kustomize.build import build
from poolwright.kustomize.custom import build_alone
from poolwright.kustomize.find import Kustomize, KustomizeError, find_kustomize
from poolwright.objects.unit import build_objects
from poolwright.specs.finding import Finding, SpecError
from poolwright.specs.place import Place
from poolwright.trees.custom import check_custom
from poolwright.trees.tree import custom_path, unit_name
from poolwright.trees.yaml_text import render_objects


def run_verify(root: str, closures: Sequence[Closure]) -> int:
    """Build the folder of each closure below root and say what it holds; 0, or 1 if one isn't the finished objects.

    Raises: SpecError if there is no Kustomize to build with.
    """
    kustomize = find_kustomize(None, os.environ)
    if isinstance(kustomize, KustomizeError):
        raise SpecError([_no_kustomize(kustomize)])
    tell(f"building with Kustomize {kustomize.version} ({kustomize.source})")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(lambda closure: _verify(kustomize, Path(root), closure), closures))
    for _, line in answers:
        tell(line)
    return 0 if all(good for good, _ in answers) else 1


def _verify(kustomize: Kustomize, root: Path, closure: Closure) -> tuple[bool, str]:
    """Whether Kustomize builds the finished objects, and the line that says so."""
    folder = f"overlays/{unit_name(closure)}"
    objects = build_objects(closure)
    if isinstance(closure, UnitClosure) and closure.custom is not None:
        return _verify_custom(kustomize, root, folder, closure)
    built = build(kustomize, root, folder)
    if isinstance(built, KustomizeError):
        return False, f"failed     {built.reason}"
    if built.objects != render_objects(objects):
        return False, f"differs    {folder}: Kustomize builds other objects than `generate` prints"
    kinds = Counter(document["kind"] for document in objects)
    return True, f"verified   {folder}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def _verify_custom(kustomize: Kustomize, root: Path, folder: str, closure: UnitClosure) -> tuple[bool, str]:
    """The same of a unit with its team's own component: without it as finished, with it only what is allowed."""
    without, built = build_alone(kustomize, closure), build(kustomize, root, folder)
    if isinstance(without, KustomizeError) or isinstance(built, KustomizeError):
        failed = without if isinstance(without, KustomizeError) else built
        return False, f"failed     {failed.reason if isinstance(failed, KustomizeError) else folder}"
    if without.objects != render_objects(build_objects(closure)):
        return False, f"differs    {folder}: without its component Kustomize builds other objects than are finished"
    before, after = parse_built(without.objects, closure), parse_built(built.objects, closure)
    if problems := check_custom(before, after, closure):
        return False, f"forbidden  {folder}: {problems[0].what} [{problems[0].code}]"
    kinds = Counter(document["kind"] for document in after)
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
    return True, f"verified   {folder}: {counted}, with {custom_path(unit_name(closure))}"


def _no_kustomize(error: KustomizeError) -> Finding:
    return Finding(
        code="kustomize-missing",
        severity="error",
        place=Place("overlays"),
        what=error.reason,
        why="--verify compares with what real Kustomize builds",
        rule="poolwright render --verify",
        fix=error.fix,
    )
