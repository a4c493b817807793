"""Feature gates of a stack: which are known, which go together, and which make a cluster an experiment."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import msgspec

from poolwright.catalog.facts import Facts
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.place import Place
from poolwright.specs.stack import DraDriver, Stack

if TYPE_CHECKING:  # defining row types takes longer than `generate` spends on a stack without gates
    from poolwright.catalog.tables.nvidia import GateRuleFact


# By component and gate: the gates that a ledger says it excludes, and whose word that is.
Settled = Mapping[tuple[str, str], tuple[Collection[str], str]]
_NOTHING: Final[Settled] = MappingProxyType({})


class Experiment(msgspec.Struct, frozen=True, kw_only=True):
    """A gate that is on and makes a cluster an experiment."""

    gate: str
    driver: int | None  # the place of its driver in the stack; None: it is one of Kubernetes
    said: str  # in words
    place: Place


def build_driver_gates(driver: DraDriver, facts: Facts) -> Mapping[str, bool]:
    """Gates of the driver that are on or off, by name, sorted: the release's defaults, and what the stack says."""
    return build_package_gates(driver.name, driver.version, driver.feature_gates, facts)


def build_package_gates(name: str, version: str, overrides: Mapping[str, bool], facts: Facts) -> Mapping[str, bool]:
    """As build_driver_gates, of a driver's package in a version."""
    from poolwright.catalog.tables.driver_release import is_release

    states = {
        fact.name: fact.default
        for fact in facts.nvidia_gate_releases
        if fact.default is not None and is_nvidia_package(name, facts) and is_release(version, fact.release)
    }
    return dict(sorted({**states, **overrides}.items()))


def is_nvidia_package(name: str, facts: Facts) -> bool:
    """Whether the facts are about this driver package: NVIDIA's, under either of its names."""
    return any(fact.chart == name for fact in facts.driver_releases)


def check_kubernetes_gates(stack: Spec[Stack], minor: str, facts: Facts) -> list[Finding]:
    """Kubernetes gates of the stack that aren't known, or that its release refuses to be set so."""
    problems = []
    known = sorted(fact.name for fact in facts.kubernetes_gates if fact.minor == minor and fact.stage != "absent")
    for name, value in stack.value.spec.kubernetes.feature_gates.items():
        fact = facts.kubernetes_gate(minor, name)
        place = stack.document.key_place(("spec", "kubernetes", "featureGates", name))
        if fact is None:
            what, fix = f'"{name}" is no Kubernetes feature gate that is known here', _name_known(name, known)
        elif fact.stage == "absent":
            what, fix = f"Kubernetes {minor} has no feature gate {name}", "remove it, or choose another Kubernetes"
        elif not fact.takes(value):
            what, fix = f"Kubernetes {minor} has {name} locked: it can't be set to {_word(value)}", "remove it"
        else:
            continue
        why = (
            "a component refuses to start with a gate that it doesn't take, and one not known here would have no effect"
        )
        problems.append(_finding("gate-unknown", place, what, why, "kubernetes-gates.json", fix))
    return problems


def check_driver_gates(
    stack: Spec[Stack], index: int, minor: str | None, facts: Facts, settled: Settled = _NOTHING
) -> list[Finding]:
    """What is wrong with the gates of one NVIDIA driver of the stack, whose release is known.

    index:   the driver's place in the stack.
    minor:   the stack's Kubernetes; None if that isn't known.
    settled: which gates exclude each other though the code doesn't check it, where a ledger says so.
    """
    driver = stack.value.spec.dra_drivers[index]
    read = {fact.release for fact in facts.nvidia_gate_releases if facts.nvidia_gate(driver.version, fact.name)}
    problems = []
    for name in driver.feature_gates:
        fact = facts.nvidia_gate(driver.version, name)
        if fact is None or fact.stage == "absent":
            problems.append(_check_gate_name(stack, index, name, bool(read), facts))
    if read:
        problems += _check_rules(stack, index, facts, settled)
        problems += _check_needs(stack, index, minor, facts) if minor else []
    return problems


def list_driver_names(driver: DraDriver, facts: Facts) -> tuple[str, ...]:
    """What a driver of a stack is called in ResourceSlices: what the stack says, or else the facts; none: not known."""
    if driver.driver_names:
        return driver.driver_names
    if not is_nvidia_package(driver.name, facts):
        return ()
    names = {fact.driver for fact in facts.device_types}
    if driver.settings.get("computeDomains") == "disabled":
        names.discard("compute-domain.nvidia.com")
    return tuple(sorted(names))


def list_publishers(name: str, stack: Spec[Stack], facts: Facts) -> list[DraDriver]:
    """The drivers of the stack that publish devices under a name."""
    return [driver for driver in stack.value.spec.dra_drivers if name in list_driver_names(driver, facts)]


def list_experiments(stack: Spec[Stack], minor: str, facts: Facts) -> Iterator[Experiment]:
    """Gates that are on and alpha, and those of a driver that are off unless somebody says so."""
    for name, value in stack.value.spec.kubernetes.feature_gates.items():
        known = facts.kubernetes_gate(minor, name)
        if value and known and known.stage == "alpha":
            place = stack.document.key_place(("spec", "kubernetes", "featureGates", name))
            yield Experiment(gate=name, driver=None, said=f"the alpha gate {name} of Kubernetes {minor}", place=place)
    for index, driver in enumerate(stack.value.spec.dra_drivers):
        for name, value in driver.feature_gates.items():
            stage = find_experimental_stage(driver, name, facts) if value else None
            if stage:
                said = f"the gate {name} ({stage}) of {driver.name} {driver.version}"
                place = stack.document.key_place(("spec", "draDrivers", index, "featureGates", name))
                yield Experiment(gate=name, driver=index, said=said, place=place)


def find_experimental_stage(driver: DraDriver, gate: str, facts: Facts) -> str | None:
    """The stage of a driver's gate that no baseline may rest on, in words; None: one may.

    Such are alpha gates, those that are off unless somebody turns them on, and those of which nothing is known.
    """
    fact = facts.nvidia_gate(driver.version, gate) if is_nvidia_package(driver.name, facts) else None
    if fact is None:
        return "not known to be stable"
    return fact.stage if fact.stage == "alpha" or not fact.default else None


def _check_gate_name(stack: Spec[Stack], index: int, name: str, read: bool, facts: Facts) -> Finding:
    driver = stack.value.spec.dra_drivers[index]
    place = stack.document.key_place(("spec", "draDrivers", index, "featureGates", name))
    release = f"{driver.name} {driver.version}"
    known = [
        fact.name
        for fact in facts.nvidia_gates
        if (gate := facts.nvidia_gate(driver.version, fact.name)) and gate.stage != "absent"
    ]
    if not read:
        releases = sorted({fact.release for fact in facts.nvidia_gate_releases if fact.release[0].isdigit()})
        what = f"which gates {release} has isn't known here, and the stack sets {name}"
        fix = f"remove the gate, or choose a release whose gates are known: {', '.join(releases)}"
        why = "whether the plugin starts with it, and what it excludes, isn't guessed"
        return _finding("gate-unknown", place, what, why, "nvidia-gate-releases.json", fix)
    since = next((fact.since for fact in facts.nvidia_gates if fact.name == name), None)
    later = f" (it came with {since})" if since else ""
    why = "the plugin exits when a gate is set that it doesn't know: no device is published"
    what = f"{release} has no feature gate {name}{later}"
    return _finding("gate-unknown", place, what, why, "nvidia-gate-releases.json", _name_known(name, known))


def _check_rules(stack: Spec[Stack], index: int, facts: Facts, settled: Settled) -> list[Finding]:
    driver = stack.value.spec.dra_drivers[index]
    enabled = [name for name, value in build_driver_gates(driver, facts).items() if value]
    defaults = {fact.setting: fact.word for fact in facts.driver_settings if fact.is_default}
    settings = {name: str(word) for name, word in driver.settings.items() if str(word) != defaults.get(name)}
    problems = []
    for rule in facts.broken_gate_rules(driver.version, enabled, settings):
        if rule.by == "forcedOff" and rule.gate not in driver.feature_gates:
            continue  # on by default, and nobody asked for it
        decided = _find_settled(driver.name, rule, settled) if rule.by == "documented" else None
        if decided and rule.other_gate not in decided[0] and rule.gate not in decided[0]:
            continue  # the documentation is taken to be wrong
        path = _rule_path(driver, rule)
        place = stack.document.key_place(("spec", "draDrivers", index, *path)) if path else None
        problems.append(
            Finding(
                code="gate-conflict",
                severity="error" if rule.by == "enforced" or decided else "warning",
                place=place or stack.place("spec", "draDrivers", index, "version"),
                what=f"{driver.name} {driver.version} {_say_rule(rule, settings)}",
                why=f"sources disagree, and {decided[1]}" if decided else _WHY[_find_why(rule)],
                rule=f"poolwright facts, nvidia-gate-rules.json: {rule.by}",
                fix=_mend_rule(rule),
            )
        )
    return problems


_WHY: Final = {
    "start": "the plugin exits at its start: no device is published, and none that is claimed can be prepared",
    "render": "the chart refuses to render",
    "claim": "the driver refuses to prepare such a claim, on the node, after it was scheduled",
    "documented": "it is written down, and the code doesn't check it: which of the two holds isn't known",
    "forcedOff": "the gate is turned off without a word: what needs it is missing, though the stack has it on",
}


def _find_why(rule: GateRuleFact) -> str:
    return rule.at if rule.by == "enforced" else rule.by


def _find_settled(component: str, rule: GateRuleFact, settled: Settled) -> tuple[Collection[str], str] | None:
    """What a ledger says of either gate of a rule."""
    return settled.get((component, rule.gate or "")) or settled.get((component, rule.other_gate or ""))


def _rule_path(driver: DraDriver, rule: GateRuleFact) -> tuple[str, str] | None:
    """The line of the driver that breaks a rule; None: all that does is on by default."""
    for gate in (rule.gate, rule.other_gate):
        if gate in driver.feature_gates:
            return "featureGates", str(gate)
    return ("settings", rule.setting) if rule.setting in driver.settings else None


def _say_rule(rule: GateRuleFact, settings: Mapping[str, str]) -> str:
    setting = f"{rule.setting}: {settings.get(rule.setting, '')}" if rule.setting else ""
    if rule.relation == "refused":
        return f"has {setting}, which is refused whatever else is set"
    one = rule.gate or setting
    other = rule.other_gate or setting
    if rule.relation == "needs":
        return f"has {one} on without {other}, which it needs" if rule.gate else f"has {one} without the gate {other}"
    return f"has {one} on together with {other}, which exclude each other"


def _mend_rule(rule: GateRuleFact) -> str:
    if rule.relation == "refused":
        return f"remove the setting {rule.setting}"
    if rule.relation == "needs":
        return f"set {rule.other_gate}: true, or turn {rule.gate} off" if rule.gate else f"set {rule.other_gate}: true"
    return f"turn {rule.gate} or {rule.other_gate} off" if rule.other_gate else f"set {rule.gate}: false"


def _check_needs(stack: Spec[Stack], index: int, minor: str, facts: Facts) -> list[Finding]:
    driver = stack.value.spec.dra_drivers[index]
    absent = {fact.name for fact in facts.nvidia_gates if _is_absent(driver.version, fact.name, facts)}
    on = {name for name, value in build_driver_gates(driver, facts).items() if value} - absent  # those are said
    kubernetes = facts.effective_gates(minor, stack.value.spec.kubernetes.feature_gates)
    problems, found = [], set()
    for need in facts.nvidia_gate_needs:
        if need.name in on and not kubernetes.get(need.kubernetes_gate):
            where = ", ".join(need.components)
            what = f"has {need.name} on, which needs the Kubernetes gate {need.kubernetes_gate}, off in {minor}"
            fact = facts.kubernetes_gate(minor, need.kubernetes_gate)
            known = fact is not None and fact.stage != "absent"
            fix = f"set {need.kubernetes_gate}: true in the stack's kubernetes.featureGates ({where}), or turn"
            fix = f"{fix if known else 'choose a later Kubernetes, or turn'} {need.name} off"
            problems.append(_need(stack, index, need.name, what, "nvidia-gate-needs.json", fix))
            found.add(need.name)
    for gate in facts.nvidia_gates:
        if gate.name in on - found and gate.kubernetes_minimum and _key(minor) < _key(gate.kubernetes_minimum):
            what = f"has {gate.name} on, which needs Kubernetes {gate.kubernetes_minimum}; the stack runs {minor}"
            fix = f"turn {gate.name} off, or choose a later Kubernetes"
            problems.append(_need(stack, index, gate.name, what, "nvidia-gates.json", fix))
    return problems


def _is_absent(release: str, gate: str, facts: Facts) -> bool:
    fact = facts.nvidia_gate(release, gate)
    return fact is None or fact.stage == "absent"


def _need(stack: Spec[Stack], index: int, gate: str, what: str, table: str, fix: str) -> Finding:
    driver = stack.value.spec.dra_drivers[index]
    path = ("spec", "draDrivers", index, "featureGates", gate)
    place = stack.document.key_place(path) if gate in driver.feature_gates else stack.place(*path)
    why = "the API server drops what the driver publishes with the gate, or the plugin can't publish at all"
    return _finding("gate-kubernetes", place, f"{driver.name} {driver.version} {what}", why, table, fix)


def _key(minor: str) -> tuple[int, ...]:
    return tuple(int(part) for part in minor.split("."))


def _word(value: bool) -> str:
    return "true" if value else "false"


def _name_known(name: str, known: Collection[str]) -> str:
    import difflib  # here: nothing but this message needs it

    near = difflib.get_close_matches(name, known, 1, 0.6)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"{hint}remove it, or name one of: {', '.join(sorted(known))}"


def _finding(code: str, place: Place, what: str, why: str, table: str, fix: str) -> Finding:
    rule = f"poolwright facts, {table}"
    return Finding(code=code, severity="error", place=place, what=what, why=why, rule=rule, fix=fix)
