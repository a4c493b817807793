"""`poolwright check`: every spec read and judged."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from poolwright.catalog.closure import UnitClosure
from poolwright.catalog.inventory import Inventory
from poolwright.catalog.ledger_rules import check_ledger, list_evidence
from poolwright.catalog.published import check_devices
from poolwright.catalog.stack_rules import check_captured_operands, check_stacks
from poolwright.catalog.trap_rules import check_traps
from poolwright.cli import today
from poolwright.cli.load import LoadedProject, load_project, read_inventories
from poolwright.cli.matrix import check_rehearsals, list_proofs, list_rehearsed, read_records
from poolwright.cli.output import say, tell
from poolwright.cli.version import package_version
from poolwright.files.custom import find_unused
from poolwright.files.project import find_files, find_project
from poolwright.matrix.judge_record import JudgedRecord
from poolwright.rules.stack_images import check_images
from poolwright.specs.codes import WAIVABLE
from poolwright.specs.finding import Finding, SpecError, sort_findings
from poolwright.specs.report import ReportFormat, render_findings
from poolwright.specs.resolve import resolve_cluster
from poolwright.specs.risks import check_risks
from poolwright.specs.waiving import UsedWaiver, apply_waivers
from poolwright.trees.tree import unit_name

# What isn't there to read can't be judged.
_UNANSWERED = ("project-missing", "file-unreadable", "import-path", "project-too-large")

# What `plan`, `diff` and `release` find, and `check` doesn't: a waiver of it may well be used.
_BY_PLAN = frozenset(("headroom-short", "release-short", "release-unsatisfied", "surge-short", "verdict-short"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Problems:
    """What is found in a project, before any waiver."""

    findings: tuple[Finding, ...]
    records: tuple[JudgedRecord, ...]  # of rehearsals
    is_sound: bool  # whether clusters have the devices that it says, so that all that rests on them was judged


def run_check(project: str, report: ReportFormat, as_of: dt.date | None = None) -> int:
    """Print findings in the report's format; 0: none but warnings and notes, 1: errors, 2: nothing to judge.

    as_of: the day that rehearsals and waivers are judged on; None: today in UTC.
    """
    day = as_of or today.read_today()
    findings: tuple[Finding, ...] = ()
    used: tuple[UsedWaiver, ...] = ()
    loaded = None
    try:
        loaded = load_project(find_project(project))
        problems = list_problems(loaded, read_inventories(loaded), day)
        judged = WAIVABLE - _BY_PLAN if problems.is_sound else ()
        found = sort_findings((*problems.findings, *_check_delivered(loaded)))
        applied = apply_waivers(found, loaded.specs, day, judged=judged)
        findings, used = applied.findings, applied.used
        code = 1 if any(finding.severity == "error" for finding in findings) else 0
    except SpecError as error:
        findings = error.findings
        code = 2 if any(finding.code in _UNANSWERED for finding in findings) else 1
    if report != "text" or findings:
        say(render_findings(findings, report, tool_version=package_version()))
    if report == "text" and loaded is not None and code == 0:
        tell(_summary(loaded) + _say_used(used, day))
    return code


def list_problems(loaded: LoadedProject, inventories: Mapping[str, Inventory], day: dt.date) -> Problems:
    """Everything that is found in a project whose specs agree with each other; what `plan` finds isn't.

    day:    that rehearsals are judged on.
    Raises: SpecError if a record or its evidence can't be read.
    """
    found = [*check_stacks(loaded.specs, loaded.facts), *check_images(loaded.specs)]
    found += check_captured_operands(loaded.specs, inventories)
    found += check_risks(loaded.specs)
    found += check_traps(loaded.specs, inventories, loaded.facts)
    devices = check_devices(loaded.specs, inventories, loaded.facts)
    is_sound = all(one.severity != "error" for one in devices)  # else what clusters will have isn't known
    found += [*devices, *_check_prices(loaded, inventories, is_sound=is_sound)]
    records = read_records(loaded.root, loaded.specs, loaded.facts, as_of=day)
    found += [*_check_owed(loaded, inventories, records, day, is_sound=is_sound), *_check_customs(loaded)]
    return Problems(findings=tuple(found), records=records, is_sound=is_sound)


def _check_delivered(loaded: LoadedProject) -> list[Finding]:
    """Whether releases hold what is delivered from them. No release is stopped by it: the next one mends it."""
    if all(cluster.release is None for cluster in loaded.specs.project.value.spec.clusters):
        return []
    from poolwright.cli.check_packets import check_delivered  # here: few projects have one

    return check_delivered(loaded)


def _check_prices(loaded: LoadedProject, inventories: Mapping[str, Inventory], *, is_sound: bool) -> list[Finding]:
    """What envelopes and placements say of loads; if planned nodes are sound, what they cost and take too."""
    from poolwright.plan.pricing.check import check_loads, check_peaks, check_prices
    from poolwright.plan.pricing.cluster import price_cluster  # here: what reads selectors takes long to load
    from poolwright.plan.pricing.crowded import check_crowding
    from poolwright.plan.promises.promised import list_tolerances

    specs, facts = loaded.specs, loaded.facts
    found = [*check_loads(specs), *check_peaks(specs)]
    for cluster in specs.project.value.spec.clusters if is_sound else ():
        on = resolve_cluster(specs, cluster.name)[0]
        if on is None:
            continue
        priced = price_cluster(specs, on, inventories.get(cluster.name), loaded.named_files, facts)
        found += check_prices(priced.prices, priced.room)
        found += check_crowding(priced, list(list_tolerances(specs, cluster.name)))
    return found


def _check_owed(
    loaded: LoadedProject,
    inventories: Mapping[str, Inventory],
    records: Sequence[JudgedRecord],
    day: dt.date,
    *,
    is_sound: bool,
) -> list[Finding]:
    """What people owe: a lock, decisions about features, and rehearsals. It stops promotions, and nothing here."""
    from poolwright.pins.stale import check_stale  # here: most commands resolve nothing

    existing = find_files(loaded.root, list_evidence(loaded.specs))
    proofs = list_proofs(records, loaded.facts)
    found = check_ledger(loaded.specs, loaded.facts, existing=existing, records=proofs)
    if loaded.lock is not None:
        units = [closure for closure in loaded.closures if isinstance(closure, UnitClosure)]
        rehearsed = list_rehearsed(loaded.specs, records)
        found += check_stale(loaded.written, loaded.lock, units, loaded.facts, rehearsed)
    return [*found, *(check_rehearsals(loaded, inventories, records, as_of=day) if is_sound else ())]


def _check_customs(project: LoadedProject) -> list[Finding]:
    """What teams' own components do; Kustomize is started only if there is one."""
    units = [closure for closure in project.closures if isinstance(closure, UnitClosure)]
    unused = find_unused(project.root, {unit_name(closure) for closure in units})
    if not project.customs:
        return unused
    from poolwright.cli.custom import judge_customs  # here: it starts other programs

    return [*unused, *judge_customs(units, project.customs)]


def _summary(project: LoadedProject) -> str:
    specs = project.specs
    counts = [
        (len(specs.project.value.spec.clusters), "cluster"),
        (len(specs.stacks), "stack"),
        (len(specs.pools), "pool"),
        (len(specs.envelopes), "envelope version"),
        (len(specs.placements), "placement"),
    ]
    return "ok: " + ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in counts)


def _say_used(used: Sequence[UsedWaiver], day: dt.date) -> str:
    """Nothing where no waiver counts, so that nobody wonders which day was meant."""
    if not used:
        return ""
    return f", {len(used)} {'waiver' if len(used) == 1 else 'waivers'} used as of {day}"
