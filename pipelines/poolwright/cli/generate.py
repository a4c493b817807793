"""`poolwright generate`: the finished objects of one unit on stdout, or one short reason and exit code 2."""

from __future__ import annotations

import getopt
import sys
from collections.abc import Mapping, Sequence

import msgspec

from poolwright.catalog.closure import PLATFORM_UNIT, PlatformClosure, UnitClosure, base_closure, list_named_files
from poolwright.catalog.facts import Facts
from poolwright.catalog.locked import apply_lock
from poolwright.catalog.units import build_closure
from poolwright.cli.complete import complete_closures, render_workload
from poolwright.cli.refusal import render_refusal
from poolwright.files.custom import read_custom
from poolwright.files.disk import DiskError
from poolwright.files.facts import read_facts
from poolwright.files.project import find_project, read_lock, read_named_files, read_specs
from poolwright.files.write_folder import FolderResult, check_folders, read_folder_state
from poolwright.objects.kubernetes import Object
from poolwright.objects.unit import build_objects
from poolwright.specs.finding import Finding, SpecError, escape_controls
from poolwright.specs.lock import Lock
from poolwright.specs.parse import Specs, parse_specs
from poolwright.specs.place import Place
from poolwright.specs.project import Delivery
from poolwright.specs.unit_specs import find_cluster, parse_platform_specs, parse_unit_specs
from poolwright.trees.tree import build_folder
from poolwright.trees.yaml_text import render_objects

OPTIONS = ("project", "cluster", "unit")  # the last two are required; `commands` has the same with their help
ARGOCD = "--argocd"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A unit as the specs give it."""

    closure: UnitClosure | PlatformClosure
    files: Mapping[str, bytes]  # those that its envelope names
    delivery: Delivery  # of its cluster
    release: str | None  # that its cluster is delivered from


def run_generate(arguments: Sequence[str]) -> int:
    """Print one unit's objects; the exit code is 0, or 2 with the reason on stderr and nothing on stdout."""
    if list(arguments) == [ARGOCD]:
        from poolwright.cli.generate_argocd import run_plugin  # the plugin's checks are nobody else's

        return run_plugin()
    options = _parse(arguments)
    if isinstance(options, str):
        line = f"poolwright generate: {options}; see `poolwright generate --help`"
        sys.stderr.write(escape_controls(line) + "\n")
        return 2
    cluster, unit = options["cluster"], options["unit"]
    try:
        root = find_project(options.get("project", "."))
        _, text = render_unit(root, f"{cluster}/{unit}", find_unit(root, cluster, unit))
    except (SpecError, DiskError) as error:
        findings = error.findings if isinstance(error, SpecError) else [error.finding]
        sys.stderr.write(render_refusal(f"{cluster}/{unit}", findings))
        return 2
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
    return 0


def _parse(arguments: Sequence[str]) -> dict[str, str] | str:
    """The options by name, or what is wrong with them. By getopt: larger parsers take as long to load as a unit."""
    if ARGOCD in arguments:
        return f"{ARGOCD} takes no other option: cluster and unit are the Application's"
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


def find_unit(root: str, cluster: str, unit: str) -> Found:
    """A unit of the project at root, from its own specs.

    Raises: SpecError with what is wrong with them, or with the names that are known.
    """
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


def render_unit(root: str, unit: str, found: Found, *, reviewed: bool = False) -> tuple[tuple[Object, ...], bytes]:
    """The unit's objects, without a component of the team's own, and their text; with one as real Kustomize prints it.

    reviewed: refuse where nothing is committed.
    Raises:   SpecError, DiskError.
    """
    closure = found.closure
    custom = read_custom(root, unit) if isinstance(closure, UnitClosure) else None
    (closure,) = complete_closures(
        [closure], lambda envelope: render_workload(envelope, found.files), lambda _: custom.digest if custom else None
    )
    if not isinstance(closure, UnitClosure | PlatformClosure):
        raise AssertionError(f"{unit}: completing made another kind of closure of it")
    _check_committed(root, closure, must_be=reviewed)
    objects = build_objects(closure)
    if custom is None or not isinstance(closure, UnitClosure):
        return objects, render_objects(objects)
    from poolwright.cli.custom import apply_custom  # here: nothing else starts a program

    return objects, apply_custom(closure, custom)


def _build(root: str, specs: Specs, cluster: str, unit: str, facts: Facts, lock: Lock | None) -> Found | None:
    specs = apply_lock(specs, lock)
    named = read_named_files(root, (path for envelope in specs.envelopes for path in list_named_files(envelope.value)))
    closure = build_closure(specs, cluster, unit, named, facts)
    if isinstance(closure, UnitClosure):
        from poolwright.admission.claimed import admit_claim  # here: a platform claims nothing

        closure = admit_claim(specs, closure, named, facts, lock)
    if closure is None:
        return None
    on = find_cluster(specs.project, cluster)
    return Found(closure=closure, files=named, delivery=on.delivery, release=on.release)


def _build_among_all(
    root: str, files: Mapping[str, bytes], cluster: str, unit: str, facts: Facts, lock: Lock | None
) -> Found:
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


def _check_committed(root: str, closure: UnitClosure | PlatformClosure, *, must_be: bool) -> None:
    """Where the unit is committed, its folder and its base's must be what the closure gives: that was reviewed."""
    unit = build_folder(closure)
    if not must_be and read_folder_state(root, unit.path).kind == "absent":
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
