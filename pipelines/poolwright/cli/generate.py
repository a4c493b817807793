"""`poolwright generate`: the finished objects of one unit on stdout, or one short reason and exit code 2."""

from __future__ import annotations

import getopt
import sys
from collections.abc import Mapping, Sequence

from poolwright.admission.claimed import admit_claim
from poolwright.catalog.closure import PLATFORM_UNIT, PlatformClosure, UnitClosure, base_closure, list_named_files
from poolwright.catalog.facts import Facts
from poolwright.catalog.locked import apply_lock
from poolwright.catalog.units import build_closure
from poolwright.cli.complete import complete_closures, render_workload
from poolwright.files.custom import read_custom
from poolwright.files.disk import DiskError
from poolwright.files.facts import read_facts
from poolwright.files.project import find_project, read_lock, read_named_files, read_specs
from poolwright.files.write_folder import FolderResult, check_folders, read_folder_state
from poolwright.objects.unit import build_objects
from poolwright.specs.finding import Finding, SpecError, escape_controls, render_text
from poolwright.specs.lock import Lock
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.place import Place
from poolwright.specs.unit_specs import parse_platform_specs, parse_unit_specs
from poolwright.trees.tree import build_folder
from poolwright.trees.yaml_text import render_objects

OPTIONS = ("project", "cluster", "unit")  # the last two are required; `commands` has the same with their help


def run_generate(arguments: Sequence[str]) -> int:
    """Print one unit's objects; the exit code is 0, or 2 with the reason on stderr and nothing on stdout."""
    options = _parse(arguments)
    if isinstance(options, str):
        line = f"poolwright generate: {options}; see `poolwright generate --help`"
        sys.stderr.write(escape_controls(line) + "\n")
        return 2
    cluster, unit = options["cluster"], options["unit"]
    try:
        root = find_project(options.get("project", "."))
        text = _render(root, f"{cluster}/{unit}", *_closure(root, cluster, unit))
    except SpecError as error:
        return _refuse(f"{cluster}/{unit}", error.findings)
    except DiskError as error:
        return _refuse(f"{cluster}/{unit}", [error.finding])
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    return 0


def _parse(arguments: Sequence[str]) -> dict[str, str] | str:
    """The options by name, or what is wrong with them. By getopt: larger parsers take as long to load as a unit."""
    known = [f"--{name}" for name in OPTIONS]
    for argument in arguments:
        if argument.startswith("--") and argument.partition("=")[0] not in known:  # getopt would take an abbreviation
            return f"option {argument.partition('=')[0]} not recognized"
    try:
        pairs, rest = getopt.gnu_getopt(list(arguments), "", [f"{name}=" for name in OPTIONS])
    except getopt.GetoptError as error:
        return error.msg
    options = {name.removeprefix("--"): value for name, value in pairs}
    if rest:
        return f'unexpected argument "{rest[0]}"'
    missing = [f"--{name}" for name in OPTIONS[1:] if not options.get(name)]
    return f"{' and '.join(missing)} missing" if missing else options


def _render(root: str, unit: str, closure: UnitClosure | PlatformClosure, files: Mapping[str, bytes]) -> bytes:
    """The objects' text; with a component of the team's own as real Kustomize prints it.

    files: those that the envelope names.
    """
    custom = read_custom(root, unit) if isinstance(closure, UnitClosure) else None
    (closure,) = complete_closures(
        [closure], lambda envelope: render_workload(envelope, files), lambda _: custom.digest if custom else None
    )
    if not isinstance(closure, UnitClosure | PlatformClosure):
        raise AssertionError(f"{unit}: completing made another kind of closure of it")
    _check_committed(root, closure)
    if custom is None or not isinstance(closure, UnitClosure):
        return render_objects(build_objects(closure))
    from poolwright.cli.custom import apply_custom  # here: nothing else starts a program

    return apply_custom(closure, custom)


_Found = tuple[UnitClosure | PlatformClosure, Mapping[str, bytes]]  # with the files that its envelope names


def _closure(root: str, cluster: str, unit: str) -> _Found:
    lock, facts = read_lock(root), read_facts(root)
    files = read_specs(root)
    parse = parse_platform_specs if unit == PLATFORM_UNIT else lambda f, c: parse_unit_specs(f, c, unit)
    try:
        found = _build(root, parse(files, cluster), cluster, unit, facts, lock)
    except SpecError as error:
        if all(finding.code != "dangling-reference" for finding in error.findings):
            raise
        found = None
    return found or _build_among_all(root, files, cluster, unit, facts, lock)


def _build(root: str, specs: Specs, cluster: str, unit: str, facts: Facts, lock: Lock | None) -> _Found | None:
    specs = apply_lock(specs, lock)
    named = read_named_files(root, (path for envelope in specs.envelopes for path in list_named_files(envelope.value)))
    closure = build_closure(specs, cluster, unit, named, facts)
    if isinstance(closure, UnitClosure):
        closure = admit_claim(specs, closure, named, facts, lock)
    return None if closure is None else (closure, named)


def _build_among_all(
    root: str, files: Mapping[str, bytes], cluster: str, unit: str, facts: Facts, lock: Lock | None
) -> _Found:
    """The same with every spec at hand, for the names that exist are part of a good refusal."""
    specs = parse_specs(files)
    found = _build(root, specs, cluster, unit, facts, lock)
    if found is not None:
        return found
    pools = {pool.value.identity for pool in specs.pools if pool.value.spec.cluster_name == cluster}
    known = [placement.value.identity for placement in specs.placements if placement.value.spec.pool_name in pools]
    units = sorted([*known, *([PLATFORM_UNIT] if pools else [])])
    raise SpecError(
        [
            Finding(
                code="unit-unknown",
                severity="error",
                place=Place("poolwright.yaml"),
                what=f'cluster "{cluster}" has no unit "{unit}"',
                why="a unit is a placement on one of the cluster's pools, or `platform`",
                rule="poolwright.dev/v1alpha1",
                fix=f"name one of: {', '.join(units)}" if units else "place an envelope on a pool of the cluster",
            )
        ]
    )


def _check_committed(root: str, closure: UnitClosure | PlatformClosure) -> None:
    """Where the unit is committed, its folder and its base's must be what the closure gives: that was reviewed."""
    unit = build_folder(closure)
    if read_folder_state(root, unit.path).kind == "absent":
        return
    base = [build_folder(base_closure(closure))] if isinstance(closure, UnitClosure) else []
    for folder in (unit, *base):  # the unit's own folder first: where it is wrong, its base often is as well
        (result,) = check_folders(root, [folder], [])
        if result.problems:
            raise SpecError([_stale(result)])


def _stale(result: FolderResult) -> Finding:
    state = result.before
    foreign = f"holds files that poolwright didn't write ({', '.join(state.foreign[:3])})"
    if "" in state.foreign:
        foreign = "is a link or a file, or stands behind one"
    what, fix = {
        "absent": ("isn't there", "run `poolwright render` and commit what it writes"),
        "interrupted": ("was left half-written", "run `poolwright render` and commit what it writes"),
        "edited": (
            f"was edited by hand ({', '.join(state.edited[:3])})",
            "restore the files, or run `poolwright render --discard-edits`, and commit",
        ),
        "foreign": (foreign, "remove what isn't ours, and commit"),
    }.get(state.kind, ("isn't what the specs give", "run `poolwright render` and commit what it writes"))
    return Finding(
        code="tree-stale",
        severity="error",
        place=Place(result.path),
        what=f"the committed folder {what}",
        why="it is what reviewers saw, and it isn't what the specs give now",
        rule="poolwright tree on disk",
        fix=fix,
    )


def _refuse(unit: str, findings: Sequence[Finding]) -> int:
    """Say everything, and last the one line that Argo CD shows."""
    sys.stderr.write(render_text(findings))
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    line = f"poolwright: {unit} refused: {findings[0].place}: {findings[0].what}{more}"
    sys.stderr.write(escape_controls(line)[:299] + "\n")
    return 2
