"""What the facts say against a stack's GPU operator: its release, its chart, and what it is listed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from poolwright.catalog.charts import OPERATOR_CHART, find_read_version, list_installed, list_unknown_values
from poolwright.catalog.facts import Facts
from poolwright.catalog.readings import settle
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.parse import Spec
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.stack import DraDriver, GpuDriver, Stack
from poolwright.specs.version import parse_version

if TYPE_CHECKING:  # as in `facts`: the types of rows are large
    from poolwright.catalog.tables.operator import ComponentFact, GpuDriverFact, OperatorLineFact

_LINES: Final = "operator-lines"


def check_operator(stack: Spec[Stack], minor: str | None, facts: Facts) -> list[Finding]:
    """Whether the operator's release is known, and lists the stack's Kubernetes (None: not known) and GPU driver."""
    operator = stack.value.spec.gpu_operator
    if operator is None:
        return []
    release, line = facts.operator_release(operator.version), facts.operator_line(operator.version)
    if release is None or line is None:
        known = ", ".join(fact.version for fact in facts.operator_releases)
        what = f"GPU Operator {operator.version} is not known to this release"
        why = "what it carries and runs on decides what is rendered for it; it is never guessed"
        place = stack.place("spec", "gpuOperator", "version")
        rule = "poolwright facts, operator-releases.json"
        return [_finding("operator-release-unknown", place, what, why, rule, f"name one of: {known}")]
    version = operator.version
    lines = settle(_LINES, [line], lambda rows: _check_range(stack, version, minor, rows[0], facts)) if minor else []
    return [
        *lines,
        *_check_gpu_driver(stack, version, line, facts),
        *settle(_LINES, [line], lambda rows: _check_runtime(stack, version, rows[0])),
    ]


def _check_range(stack: Spec[Stack], version: str, minor: str, line: OperatorLineFact, facts: Facts) -> Finding | None:
    """Whether the operator's support page lists the Kubernetes; above its end only if a later line lists it."""
    place = stack.place("spec", "kubernetes", "version")
    low, high, at = map(_minor_key, (line.kubernetes_minimum, line.kubernetes_maximum, minor))
    listed = f"{line.kubernetes_minimum} to {line.kubernetes_maximum}"
    what = f"GPU Operator {version} lists Kubernetes {listed}, and the stack runs {minor}"
    why = "NVIDIA tests no other combination, and its chart takes any: nothing else would stop it"
    lines = [
        f for f in facts.operator_lines if _minor_key(f.kubernetes_maximum) >= at >= _minor_key(f.kubernetes_minimum)
    ]
    since = line.kubernetes_maximum_since
    severity: Severity = "error"
    if at == high and since and parse_version(version) < parse_version(since):
        what = f"GPU Operator {version} doesn't list Kubernetes {minor}, which {since} does"
        fix = f"choose {since} or later of the line"
    elif low <= at <= high:
        return None
    elif not lines:
        severity, fix = "warning", "try it on a cluster that nobody needs, or choose a Kubernetes that is listed"
        why = "the matrix ends there: neither that it works nor that it doesn't is known"
    else:
        fix = f"choose a Kubernetes that is listed, or a line that lists {minor}: {', '.join(f.line for f in lines)}"
    return _finding("operator-kubernetes", place, what, why, f"poolwright facts, {_LINES}.json", fix, severity)


def _check_runtime(stack: Spec[Stack], version: str, line: OperatorLineFact) -> Finding | None:
    """Whether the operator's support page lists the container runtime; of a range, all of it."""
    runtime = stack.value.spec.container_runtime
    if runtime is None:
        return None
    what = f"GPU Operator {version} doesn't list {runtime.name}"
    if runtime.name == "crio":
        listed = line.crio
    else:
        low, high = parse_version(line.containerd_minimum), parse_version(line.containerd_maximum)
        found = runtime.version.range
        minors = [parse_version(one.minor) for one in found.exact]
        minors += [parse_version(".".join(map(str, (*one, 0)[:2]))) for one in found.lines]
        listed = all(low <= one <= high for one in minors)
        what = f"GPU Operator {version} lists containerd {low} to {high}, and the stack runs {runtime.version}"
    if listed:
        return None
    why = "NVIDIA tests no other combination, and its chart takes any: nothing else would stop it"
    place, rule = stack.place("spec", "containerRuntime", "version"), f"poolwright facts, {_LINES}.json"
    return _finding("operator-runtime", place, what, why, rule, "choose a runtime that is listed", "warning")


def check_charts(stack: Spec[Stack], facts: Facts) -> list[Finding]:
    """Charts whose values nobody read; those of another release of the line are only likely the same."""
    problems = []
    for chart, version in list_installed(stack.value.spec, facts):
        index = next((i for i, d in enumerate(stack.value.spec.dra_drivers) if d.install == "chart"), 0)
        path: FieldPath = ("gpuOperator",) if chart == OPERATOR_CHART else ("draDrivers", index)
        text = version.removeprefix("v")
        read = find_read_version(chart, text, facts)
        if read == text or (chart == OPERATOR_CHART and facts.operator_release(version) is None):
            continue
        known = ", ".join(sorted({fact.version for fact in facts.helm_values if fact.chart == chart}))
        if not known:
            continue  # where the chart is isn't known either, and that is said
        what = f"which values the chart {chart} {text} takes isn't known"
        why = "Helm ignores a value that a chart doesn't have: a setting would be lost without a word"
        fix = f"name a release whose values are known: {known}"
        severity: Severity = "error"
        if read:
            severity, what = "warning", f"{what}; those of {read} are used"
        place, rule = stack.place("spec", *path, "version"), "poolwright facts, helm-values.json"
        problems.append(_finding("chart-values", place, what, why, rule, fix, severity))
    return problems


def check_chart_values(stack: Spec[Stack], facts: Facts) -> list[Finding]:
    """Values that would be set and that the facts, with a team's own, don't know; the stack has no other error."""
    problems = []
    for chart, key in list_unknown_values(stack.value.spec, facts):
        what = f"the chart {chart} isn't known to have {key}, which the stack decides"
        why = "Helm ignores a value that a chart doesn't have: the setting would be lost without a word"
        fix = f"add {key} to facts/helm-values.yaml, which says of a version what it has, or remove that version there"
        rule = "poolwright facts, helm-values.json"
        problems.append(_finding("chart-values", stack.place("spec"), what, why, rule, fix))
    return problems


def _check_gpu_driver(stack: Spec[Stack], version: str, line: OperatorLineFact, facts: Facts) -> list[Finding]:
    """Whether the operator lists the GPU driver; another patch of a listed branch is only a warning."""
    driver = stack.value.spec.gpu_driver
    release = version.removeprefix("v")
    rows = [f for f in facts.operator_gpu_drivers if f.line == line.line and f.release in (None, release)]
    if driver is None or not rows:
        return []
    return settle("operator-gpu-drivers", rows, lambda rows: _check_listed(stack, version, driver, rows))


def _check_listed(stack: Spec[Stack], version: str, driver: GpuDriver, rows: Sequence[GpuDriverFact]) -> Finding | None:
    wanted = parse_version(driver.version)
    if any(parse_version(f.version) <= wanted <= parse_version(f.version_maximum or f.version) for f in rows):
        return None
    known = ", ".join(f"{f.version} to {f.version_maximum}" if f.version_maximum else f.version for f in rows)
    branch = wanted.key[0][:1]
    if any(parse_version(f.version).key[0][:1] == branch for f in rows):
        severity: Severity = "warning"
        what = f"GPU driver {driver.version} isn't listed for GPU Operator {version}; other patches of its branch are"
    else:
        severity = "error"
        what = f"GPU driver {driver.version} is of a branch that isn't listed for GPU Operator {version}"
    why = "NVIDIA tests the operator with the drivers that it lists"
    place, rule = stack.place("spec", "gpuDriver", "version"), "poolwright facts, operator-gpu-drivers.json"
    return _finding("operator-gpu-driver", place, what, why, rule, f"listed: {known}", severity)


def check_carried(stack: Spec[Stack], index: int, driver: DraDriver, facts: Facts) -> list[Finding]:
    """Whether the operator's release carries this release of the driver, or goes with its chart."""
    operator = stack.value.spec.gpu_operator
    line = facts.operator_line(operator.version) if operator else None
    if operator is None or line is None:
        return []
    place = stack.place("spec", "draDrivers", index, "version")
    if driver.install == "chart":
        return settle(_LINES, [line], lambda rows: _check_standalone(place, operator.version, driver, rows[0]))
    if driver.install != "gpuOperator":
        return []
    carried = facts.operator_component(operator.version, "draDriver")
    if carried and carried.version:
        return settle("operator-components", [carried], lambda rows: _check_same(place, driver, rows[0]))
    if not line.manages_dra_driver:
        return []
    what = f"which release of the DRA driver GPU Operator {operator.version} carries isn't known"
    why = "whether the stack says what runs can't be judged"
    fix = "compare draDriver.version in the values of its chart"
    rule = "poolwright facts, operator-components.json"
    return [_finding("operator-driver", place, what, why, rule, fix, "warning")]


def _check_same(place: Place, driver: DraDriver, carried: ComponentFact) -> Finding | None:
    """Whether a release of the operator carries this release of the driver."""
    version = carried.version
    if version is None or parse_version(version) == parse_version(driver.version):
        return None
    what = f"the stack has {driver.name} {driver.version}, and GPU Operator {carried.release} carries {version}"
    why = "the operator deploys what its chart pins, tested together; the stack says what runs"
    unverified = "" if carried.verified else ", which wasn't verified"
    rule = f"poolwright facts, operator-components.json{unverified}"
    fix = f"write version: {version.removeprefix('v')}, or choose another release of the operator"
    return _finding("operator-driver", place, what, why, rule, fix)


def _check_standalone(place: Place, operator: str, driver: DraDriver, line: OperatorLineFact) -> Finding | None:
    """Whether the driver's own chart is one that goes with the operator's line."""
    pairs = line.standalone_dra_drivers
    if not pairs or any(_is_of(driver.version, pair) for pair in pairs):
        return None
    what = f"GPU Operator {operator} goes with the DRA driver's chart {', '.join(pairs)}, not with {driver.version}"
    why = "NVIDIA lists the two together; another pair is nobody's test"
    rule, fix = f"poolwright facts, {_LINES}.json", f"choose a listed one: {', '.join(pairs)}"
    return _finding("operator-driver", place, what, why, rule, fix, "warning")


def _is_of(version: str, pair: str) -> bool:
    return version == pair or (pair.endswith(".x") and version.startswith(pair.removesuffix("x")))


def _minor_key(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split("."))


def _finding(
    code: str, place: Place, what: str, why: str, rule: str, fix: str, severity: Severity = "error"
) -> Finding:
    return Finding(code=code, severity=severity, place=place, what=what, why=why, rule=rule, fix=fix)
