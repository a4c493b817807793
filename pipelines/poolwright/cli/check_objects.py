"""`poolwright check --objects`: plain manifests judged, without any spec."""

from __future__ import annotations

from collections.abc import Sequence

from poolwright.cli.object_files import build_empty, read_object_files
from poolwright.cli.output import say, tell
from poolwright.cli.version import package_version
from poolwright.files.facts import read_facts
from poolwright.rules.check import check_objects
from poolwright.rules.placed import PlacedObject, parse_objects
from poolwright.rules.served import KNOWN_MINORS
from poolwright.specs.finding import Finding, SpecError, escape_controls, render_text, sort_findings
from poolwright.specs.report import ReportFormat, render_findings
from poolwright.specs.version import parse_version


def run_check_objects(
    files: Sequence[str],
    report: ReportFormat,
    *,
    kubernetes: str | None = None,
    api_versions: Sequence[str] = (),
    driver_gates: str | None = None,
) -> int:
    """Print findings on the objects in files; 0: none but warnings and notes, 1: errors, 2: no answer.

    files:        paths as typed, `-` for standard input; what they hold is judged as one set.
    kubernetes:   the cluster's version; None: the newest that is known.
    api_versions: what the cluster serves beside the defaults of that version.
    driver_gates: names with commas, or `none`; None: not known.
    """
    minor = _find_minor(kubernetes)
    if minor is None:
        known = f"{KNOWN_MINORS[0]} to {KNOWN_MINORS[-1]}"
        say(f"poolwright: Kubernetes {kubernetes!r} is not known; name a version of {known}\n", error=True)
        return 2
    gates = None if driver_gates is None else _parse_gates(driver_gates)
    if gates and (unknown := sorted(gates - _list_gates())):
        known = ", ".join(sorted(_list_gates()))
        names = ", ".join(map(escape_controls, unknown))
        say(f"poolwright: the driver has no gate {names}; name some of {known}, or none\n", error=True)
        return 2
    objects: tuple[PlacedObject, ...] = ()
    try:
        objects = _read_objects(files)
        findings = sort_findings(
            check_objects(objects, kubernetes_minor=minor, also_served=api_versions, driver_gates=gates)
        )
        code = 1 if any(finding.severity == "error" for finding in findings) else 0
    except SpecError as error:
        findings, code = error.findings, 2
    if report == "text":
        say(render_text(findings))
    else:
        say(render_findings(findings, report, tool_version=package_version()))
    if report == "text" and code == 0:
        tell(f"ok: {len(objects)} object{'' if len(objects) == 1 else 's'}, Kubernetes {minor}")
    return code


def _parse_gates(text: str) -> frozenset[str]:
    names = (name.strip() for name in text.split(","))
    return frozenset(name for name in names if name and name != "none")


def _list_gates() -> frozenset[str]:
    return frozenset(fact.name for fact in read_facts().nvidia_gates)


def _find_minor(kubernetes: str | None) -> str | None:
    if kubernetes is None:
        return KNOWN_MINORS[-1]
    try:
        minor = parse_version(kubernetes).minor
    except ValueError:
        return None
    return minor if minor in KNOWN_MINORS else None


def _read_objects(files: Sequence[str]) -> tuple[PlacedObject, ...]:
    """The objects of all files, in order. Raises SpecError with what is wrong in any of them."""
    problems: list[Finding] = []
    objects: list[PlacedObject] = []
    for name, documents in read_object_files(files, problems):
        try:
            found = parse_objects(documents)
            if not found:
                problems.append(build_empty(name))
            objects += found
        except SpecError as error:
            problems += error.findings
    if problems:
        raise SpecError(problems)
    return tuple(objects)
