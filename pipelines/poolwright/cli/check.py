"""`poolwright check`: every spec read and judged."""

from __future__ import annotations

from poolwright.catalog.published import check_published
from poolwright.cli.load import LoadedProject, load_project, read_inventories
from poolwright.cli.output import say, tell
from poolwright.cli.version import package_version
from poolwright.files.project import find_project
from poolwright.specs.finding import Finding, SpecError, sort_findings
from poolwright.specs.report import ReportFormat, render_findings

_UNANSWERED = ("project-missing", "project-too-large", "file-unreadable")  # what isn't there to read can't be judged


def run_check(project: str, report: ReportFormat) -> int:
    """Print findings in the report's format; 0: none but warnings and notes, 1: errors, 2: nothing to judge."""
    findings: tuple[Finding, ...] = ()
    loaded = None
    try:
        loaded = load_project(find_project(project))
        inventories = read_inventories(loaded)
        findings = sort_findings(check_published(loaded.specs, inventories))
        code = 1 if any(finding.severity == "error" for finding in findings) else 0
    except SpecError as error:
        findings = error.findings
        code = 2 if any(finding.code in _UNANSWERED for finding in findings) else 1
    if report != "text" or findings:
        say(render_findings(findings, report, tool_version=package_version()))
    if report == "text" and loaded is not None and code == 0:
        tell(_summary(loaded))
    return code


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
