"""What is wrong with the feature ledger, and what it owes. Gaps are warnings: they stop a promotion, never a sync."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.feature_use import KUBERNETES
from poolwright.catalog.gates import build_driver_gates, is_nvidia_package
from poolwright.catalog.ledger import Entry, FeatureKey, LedgerRow, build_ledger, iterate_entries
from poolwright.catalog.ledger_answers import FIELDS, STAGES, Answer, is_settling, render_value
from poolwright.catalog.ledger_evidence import Records, check_recovery
from poolwright.catalog.rules import check_kubernetes
from poolwright.specs.entries import repeated
from poolwright.specs.finding import Finding, Severity
from poolwright.specs.ledger import LedgerFeature, SettledFact
from poolwright.specs.parse import Spec, Specs
from poolwright.specs.place import Place
from poolwright.specs.resolve import resolve_cluster
from poolwright.specs.stack import Stack

_RULE: Final = "poolwright.dev/v1alpha1"
_OWED: Final = "an empty field is a decision that nobody took: what rests on it can't be promoted"


def check_ledger(
    specs: Specs, facts: Facts, *, existing: Collection[str], records: Records | None = None
) -> list[Finding]:
    """Everything that the project's ledgers get wrong, and everything that is owed for a feature in use.

    specs:    of a whole project without errors.
    existing: those of the files named as evidence that are there.
    records:  what Rehearsal records say, by path; None: they weren't read, and the kinds of evidence count alone.
    """
    rows = build_ledger(specs, facts)
    problems = [*_check_repeated(specs), *_check_entries(specs, rows, existing, facts)]
    for row in rows:
        problems += _check_row(row)
        if row.entry is not None and row.maturity == "alpha":
            problems += check_recovery(row, row.entry, records, facts)
    return list(dict.fromkeys(problems))  # a row of several stacks owes some things once


def list_evidence(specs: Specs) -> tuple[str, ...]:
    """The files that ledgers name as evidence, sorted."""
    return tuple(sorted({one.path for entry in iterate_entries(specs) for one in entry.value.evidence}))


def _check_row(row: LedgerRow) -> Iterator[Finding]:
    entry, use = row.entry, row.use
    if entry is None:
        fields = ", ".join((*_EMPTY, "evidence"))
        stage = "of no known stage" if row.maturity == "unknown" else row.maturity
        what = f"{row.title} ({stage}) is in use, and no feature ledger has a row for it: {use.reasons[0]}"
        fix = f"add it to a FeatureLedger: component: {use.component}, feature: {use.feature}, with {fields}"
        yield _owed("ledger-incomplete", use.place, what, fix)
    else:
        yield from _check_empty(entry)
    place = use.place if entry is None else entry.place()
    if row.is_nvidia and row.gpu_driver is None:
        what = f'{row.title} is in use, and stack "{use.stack}" doesn\'t say which GPU driver it runs with: gpuDriver'
        yield _owed("ledger-incomplete", use.place, what, "add gpuDriver to the stack")
    for field in FIELDS:
        answer = row.answers[field]
        if answer.state == "unknown":
            what = f"no source says what {field} is of {row.title}, which is in use"
            fix = f"write it in the ledger's row: facts: [{{field: {field}, value: ..., source: ..., owner: ...}}]"
            yield _owed("ledger-incomplete", place, what, fix)
        elif answer.state == "disputed":
            yield _disputed(row, field, answer, place)


def _disputed(row: LedgerRow, field: str, answer: Answer, place: Place) -> Finding:
    value = "none" if answer.value is None else render_value(answer.value)
    sources = ", ".join(answer.sources) or "the facts"
    said = "; ".join(f"{render_value(other.value)} ({other.source})" for other in answer.others)
    return _finding(
        "ledger-disputed",
        "warning",
        place,
        f"sources disagree about {field} of {row.title}: {value} ({sources}), against {said}",
        "neither is preferred here: which one counts is a person's decision",
        f"settle it in the ledger's row: facts: [{{field: {field}, value: ..., source: ..., owner: ...}}]",
    )


_EMPTY: Final = {
    "testClusterName": "the cluster on which it is tried",
    "promotionOwner": "the team that decides when it leaves the experiment lane",
    "promotionCriteria": "what must be so by then",
    "rollback": "what happens when it is turned off",
}


def _check_empty(entry: Entry) -> Iterator[Finding]:
    feature = entry.value
    said = {
        "testClusterName": feature.test_cluster_name,
        "promotionOwner": feature.promotion_owner,
        "promotionCriteria": feature.promotion_criteria,
        "rollback": feature.rollback,
    }
    for field, meaning in _EMPTY.items():
        if said[field] is None:
            what = f"the row of {_title(feature)} has no {field}"
            yield _owed("ledger-incomplete", entry.place(), what, f"write {field}: {meaning}")
    if not feature.evidence:
        what = f"the row of {_title(feature)} has no evidence"
        yield _owed("ledger-incomplete", entry.place(), what, "write evidence: what was tried, by kind and path")


def _check_repeated(specs: Specs) -> Iterator[Finding]:
    first: dict[FeatureKey, Entry] = {}
    for entry in iterate_entries(specs):
        key = entry.value.component, entry.value.feature
        if key in first:
            yield repeated(entry.place("feature"), f"a row of {_title(entry.value)}", first[key].place("feature"))
        first.setdefault(key, entry)


def _check_entries(
    specs: Specs, rows: Sequence[LedgerRow], existing: Collection[str], facts: Facts
) -> Iterator[Finding]:
    clusters = [cluster.name for cluster in specs.project.value.spec.clusters]
    for entry in iterate_entries(specs):
        feature = entry.value
        unknown = _check_key(entry, specs, facts)
        mine = [row for row in rows if (row.use.component, row.use.feature) == (feature.component, feature.feature)]
        yield from unknown
        if not unknown and not mine:
            what = f"{_title(feature)} has a row, and nothing uses it or it is stable"
            why = "a row that no decision rests on goes stale unseen"
            yield _finding("ledger-unused", "note", entry.place(), what, why, "remove the row")
        if feature.test_cluster_name is not None and feature.test_cluster_name not in clusters:
            what = f'the row of {_title(feature)} names the cluster "{feature.test_cluster_name}", which doesn\'t exist'
            place = entry.place("testClusterName")
            fix = _name_known(feature.test_cluster_name, clusters, "name a cluster of the project")
            why = "what is tried nowhere gives no evidence"
            yield _finding("dangling-reference", "error", place, what, why, fix)
        elif mine and feature.test_cluster_name is not None:
            yield from _check_test_cluster(entry, feature.test_cluster_name, specs, facts)
        for number, one in enumerate(feature.evidence):
            if one.path not in existing:
                what = f'the row of {_title(feature)} names the evidence "{one.path}", which isn\'t in the project'
                place = entry.place("evidence", number, "path")
                why = "what can't be read proves nothing"
                yield _finding("ledger-evidence", "warning", place, what, why, "add the file, or correct the path")
        for number, fact in enumerate(feature.facts):
            yield from _check_fact(entry, number, fact, mine)


def _check_test_cluster(entry: Entry, name: str, specs: Specs, facts: Facts) -> Iterator[Finding]:
    """A test cluster on which the feature isn't on: there is nothing that could be tried."""
    clusters = (resolve_cluster(specs, one.name)[0] for one in specs.project.value.spec.clusters)
    stacks = {one.cluster.name: one.stack for one in clusters if one is not None}
    states = {cluster: _find_state(entry.value, stack, facts) for cluster, stack in stacks.items()}
    if name not in states or states[name]:
        return
    said = "has it off" if states[name] is False else "isn't known to have it on"
    stack = stacks[name].value.identity
    what = f'the row of {_title(entry.value)} names the test cluster "{name}", whose stack "{stack}" {said}'
    why = "a gate is a property of a whole cluster: where it is off nothing can be tried of it"
    having = ", ".join(sorted(cluster for cluster, is_on in states.items() if is_on))
    fix = f"name a cluster that has it on ({having}), or turn it on there" if having else "turn it on there"
    yield _finding("ledger-test-cluster", "warning", entry.place("testClusterName"), what, why, fix)


def _find_state(feature: LedgerFeature, stack: Spec[Stack], facts: Facts) -> bool | None:
    """Whether a stack has a gate on; None: its default isn't known."""
    if feature.component == KUBERNETES:
        api, _ = check_kubernetes(stack, facts)
        overrides = stack.value.spec.kubernetes.feature_gates
        return facts.effective_gates(api.minor, overrides).get(feature.feature) if api else None
    drivers = [one for one in stack.value.spec.dra_drivers if one.name == feature.component]
    return build_driver_gates(drivers[0], facts).get(feature.feature) if drivers else False


def _check_fact(entry: Entry, number: int, fact: SettledFact, rows: Sequence[LedgerRow]) -> Iterator[Finding]:
    if not is_settling(fact.field, fact.value):
        wanted = {"stage": f"one of: {', '.join(STAGES)}", "default": "true or false"}.get(
            fact.field, "a list of gates"
        )
        what = f"{fact.field} of {_title(entry.value)} can't be settled as {render_value(fact.value)}"
        why = "a value of another type answers nothing"
        place = entry.place("facts", number, "value")
        yield _finding("ledger-fact", "error", place, what, why, f"write {wanted}")
    elif rows and not any(row.answers[fact.field].settled == fact for row in rows):
        what = f"no source disagrees about {fact.field} of {_title(entry.value)}, and the ledger settles it"
        why = "where sources agree they speak alone: a ledger can't make a feature stable"
        place = entry.place("facts", number, "field")
        yield _finding("ledger-fact", "warning", place, what, why, "remove the fact")


def _check_key(entry: Entry, specs: Specs, facts: Facts) -> list[Finding]:
    """Whether there is such a component, and whether it has such a gate; of drivers without facts nobody knows."""
    feature = entry.value
    packages = {driver.name for stack in specs.stacks for driver in stack.value.spec.dra_drivers}
    components = sorted({KUBERNETES, *packages, *(fact.chart for fact in facts.driver_releases)})
    if feature.component not in components:
        what = f'no stack has a component "{feature.component}"'
        fix = _name_known(feature.component, components, "name a component")
        return [_unknown(entry.place("component"), what, fix)]
    if feature.component == KUBERNETES:
        gates = {fact.name for fact in facts.kubernetes_gates}
    elif is_nvidia_package(feature.component, facts):
        gates = {fact.name for fact in facts.nvidia_gates}
    else:
        return []
    if feature.feature in gates:
        return []
    what = f"{feature.component} has no feature gate {feature.feature}"
    return [_unknown(entry.place("feature"), what, _name_known(feature.feature, gates, "name a gate"))]


def _title(feature: LedgerFeature) -> str:
    return f"{feature.feature} of {feature.component}"


def _name_known(name: str, known: Iterable[str], verb: str) -> str:
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, 1, 0.6)
    return (f"did you mean {near[0]}? " if near else "") + f"{verb}: {', '.join(names)}"


def _unknown(place: Place, what: str, fix: str) -> Finding:
    why = "a decision about what doesn't exist is about something else"
    return _finding("ledger-unknown", "error", place, what, why, fix)


def _owed(code: str, place: Place, what: str, fix: str) -> Finding:
    return _finding(code, "warning", place, what, _OWED, fix)


def _finding(code: str, severity: Severity, place: Place, what: str, why: str, fix: str) -> Finding:
    return Finding(code=code, severity=severity, place=place, what=what, why=why, rule=_RULE, fix=fix)
