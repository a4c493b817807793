"""What the facts say against a stack's DRA drivers: their releases, settings, and what they need at least."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import is_nvidia_package
from poolwright.catalog.operator_rules import check_carried
from poolwright.catalog.readings import settle
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.parse import Spec
from poolwright.specs.place import FieldPath, Place
from poolwright.specs.stack import DraDriver, Stack
from poolwright.specs.version import Version, VersionRange, parse_version

if TYPE_CHECKING:  # as in `facts`: the types of rows are large
    from poolwright.catalog.tables.operator import MinimumFact

_RULE: Final = "poolwright.dev/v1alpha1"
INSTALLERS: Final = {"chart": "its own chart", "external": "somebody else", "gpuOperator": "the GPU Operator"}


def check_driver(stack: Spec[Stack], index: int, driver: DraDriver, facts: Facts) -> list[Finding]:
    """What is wrong with one DRA driver of the stack, gates and minimums aside."""
    path: FieldPath = ("spec", "draDrivers", index)
    if not is_nvidia_package(driver.name, facts):
        return _check_other_driver(stack, index, driver, facts)
    release = facts.driver_release(driver.version)
    if release is None:
        known = ", ".join(fact.version for fact in facts.driver_releases)
        what = f"{driver.name} {driver.version} is not known to this release"
        why = "what it publishes, and which gates and settings it has, is never guessed"
        rule, place = "poolwright facts, driver-releases.json", stack.place(*path, "version")
        return [_finding("driver-release-unknown", place, what, why, rule, f"name one of: {known}")]
    problems = [*_check_settings(stack, index, driver, facts), *check_carried(stack, index, driver, facts)]
    if driver.install == "chart" and not release.chart_registries:
        charted = ", ".join(fact.version for fact in facts.driver_releases if fact.chart_registries)
        what = f"where the chart of {driver.name} {driver.version} is published isn't known"
        why, fix = "an Application needs the chart's repository", f"write install: external, or one of: {charted}"
        rule = "poolwright facts, driver-releases.json"
        problems.append(_finding("chart-unknown", stack.place(*path, "install"), what, why, rule, fix))
    return problems


def _check_other_driver(stack: Spec[Stack], index: int, driver: DraDriver, facts: Facts) -> list[Finding]:
    """A package that the facts don't have: only somebody else can install it, and the stack says what it publishes."""
    path: FieldPath = ("spec", "draDrivers", index)
    known = ", ".join(sorted({fact.chart for fact in facts.driver_releases}))
    problems = []
    if not driver.driver_names:
        what = f'what the driver "{driver.name}" is called in ResourceSlices isn\'t known'
        why = "classes select devices by that name"
        fix = f"write driverNames; known without them: {known}"
        problems.append(_finding("driver-names-missing", stack.place(*path), what, why, _RULE, fix))
    if driver.install != "external":
        what = f'"{driver.name}" is to be installed by {INSTALLERS[driver.install]}, which isn\'t known'
        why, fix = "nothing says where its chart is, or what it takes", f"write install: external; known: {known}"
        rule = "poolwright facts, driver-releases.json"
        problems.append(_finding("chart-unknown", stack.place(*path, "install"), what, why, rule, fix))
    return problems + _refuse_settings(stack, index, driver) if driver.install == "external" else problems


def _check_settings(stack: Spec[Stack], index: int, driver: DraDriver, facts: Facts) -> list[Finding]:
    if driver.install == "external":
        return _refuse_settings(stack, index, driver)
    from poolwright.catalog.tables.driver_release import is_within

    facts_here = [
        f for f in facts.driver_settings if f.install == driver.install and is_within(driver.version, f.since, None)
    ]
    names = sorted({fact.setting for fact in facts_here})
    refused = {(rule.setting, rule.word) for rule in facts.nvidia_gate_rules if rule.relation == "refused"}
    problems = []
    for name, value in driver.settings.items():
        fact = facts.driver_setting(driver.install, name, str(value)) if name in names else None
        if fact in facts_here or ((name, str(value)) in refused and name in names):
            continue
        path: FieldPath = ("spec", "draDrivers", index, "settings", name)
        who = f"{driver.name} {driver.version} installed by {INSTALLERS[driver.install]}"
        if name in names:
            words = [_word(fact.word) for fact in facts_here if fact.setting == name]
            place, what = stack.place(*path), f"{who} can't be told {name}: {value}"
            fix = f"write one of: {', '.join(words)}"
        else:
            place, what = stack.document.key_place(path), f"{who} has no setting {name}"
            fix = f"remove it, or name one of: {', '.join(names) or 'none'}"
        why = "only settings whose value in the chart is known are rendered"
        rule = "poolwright facts, driver-settings.json"
        problems.append(_finding("driver-setting-unknown", place, what, why, rule, fix))
    return problems


def _refuse_settings(stack: Spec[Stack], index: int, driver: DraDriver) -> list[Finding]:
    """Settings that nobody renders."""
    return [
        _finding(
            "driver-setting-unknown",
            stack.document.key_place(("spec", "draDrivers", index, "settings", name)),
            f"{driver.name} is installed by somebody else, and the stack sets {name}",
            "nothing is rendered for it, so the setting would have no effect",
            _RULE,
            "remove the setting, or let the operator or a chart install the driver",
        )
        for name in driver.settings
    ]


def _word(word: str) -> str:
    return "a number from 1" if word == "N" else word


def check_minimums(stack: Spec[Stack], driver: DraDriver, facts: Facts) -> list[Finding]:
    """The least versions that the NVIDIA DRA driver asks of what the stack names."""
    said = stack.value.spec
    uses = {"gpus", "all", driver.install} | ({"computeDomains"} if _has_compute_domains(driver) else set())
    parts: dict[str, tuple[FieldPath, VersionRange | Version | None]] = {
        "kubernetes": (("spec", "kubernetes", "version"), said.kubernetes.version.range),
        "gpuDriver": (("spec", "gpuDriver", "version"), _version_of(said.gpu_driver)),
        "containerToolkit": (("spec", "containerToolkit", "version"), _version_of(said.container_toolkit)),
    }
    problems = []
    for part, (path, found) in parts.items():
        asked = [
            fact
            for fact in facts.driver_minimums
            if fact.part == part and fact.use in uses and fact.install in ("any", driver.install)
        ]
        if asked and found:
            judge = partial(_check_minimum, stack.place(*path), driver, found)
            problems += settle("driver-minimums", asked, judge)
    return problems


def _check_minimum(
    place: Place, driver: DraDriver, found: VersionRange | Version, asked: Sequence[MinimumFact]
) -> Finding | None:
    """Whether what the stack has of a part reaches the strictest of several minimums; of equal ones the first."""
    fact = max(asked, key=lambda one: parse_version(one.minimum))
    answer = _reaches(found, parse_version(fact.minimum))
    if answer == "all":
        return None
    why = f"the driver documents {fact.minimum} as the least ({fact.use})"
    needs = f"{driver.name} {driver.version} needs {_PARTS[fact.part]} {fact.minimum} or later"
    what = f"{needs}; the stack has {found.text}" + (", which allows earlier ones" if answer == "some" else "")
    fix = f"choose {fact.minimum} or later" + (", each release written out" if answer == "some" else "")
    severity: Severity = "warning" if answer == "some" else "error"
    return _finding("driver-minimum", place, what, why, "poolwright facts, driver-minimums.json", fix, severity)


_PARTS: Final = {
    "kubernetes": "Kubernetes",
    "gpuDriver": "the GPU driver",
    "containerToolkit": "the container toolkit",
}


def _has_compute_domains(driver: DraDriver) -> bool:
    return driver.settings.get("computeDomains") != "disabled"


def _version_of(part: object) -> Version | None:
    text = getattr(part, "version", None)
    return parse_version(text) if isinstance(text, str) else None


def _reaches(found: VersionRange | Version, minimum: Version) -> str:
    """How much of a version or range is at least the minimum: all, some or none of it."""
    if isinstance(found, Version):
        return "all" if found >= minimum else "none"
    answers = {"all" if version >= minimum else "none" for version in found.exact}
    for line in found.lines:
        start = (*line, 0, 0)[:3]
        least = (*minimum.key[0], 0, 0, 0)[:3]
        answers.add("all" if start >= least else "some" if line == least[: len(line)] else "none")
    return answers.pop() if len(answers) == 1 else "some"


def _finding(
    code: str, place: Place, what: str, why: str, rule: str, fix: str, severity: Severity = "error"
) -> Finding:
    return Finding(code=code, severity=severity, place=place, what=what, why=why, rule=rule, fix=fix)
