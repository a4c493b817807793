"""What a team's facts may not say beside the tables: names that no table has, and values that contradict others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from poolwright.catalog.facts import AttributeFact, Fact, Facts
from poolwright.catalog.tables.driver_release import release_key
from poolwright.specs.finding import Finding
from poolwright.specs.place import Place
from poolwright.specs.quantity import parse_quantity
from poolwright.specs.version import parse_version

if TYPE_CHECKING:  # as in `facts`
    from poolwright.catalog.tables.driver_settings import DriverSettingFact
    from poolwright.catalog.tables.hardware import HardwareFact, MigProfileFact
    from poolwright.catalog.tables.kubernetes import ServedApiFact
    from poolwright.catalog.tables.operator import DriverReleaseFact, OperatorReleaseFact
    from poolwright.catalog.tables.published import DeviceTypeFact


class PlacedRow(Protocol):
    """A row and where it was written."""

    @property
    def fact(self) -> Fact:
        """The row."""

    def place(self, field: str | None = None) -> Place:
        """Where it stands, or a field of it."""


# Table and field, and the table and field that have the names which it may say.
_NAMES: Final = {
    ("operator-releases", "line"): ("operator-lines", "line"),
    ("operator-lines", "upgrades_from"): ("operator-lines", "line"),
    ("operator-gpu-drivers", "line"): ("operator-lines", "line"),
    ("operator-gpu-drivers", "release"): ("operator-releases", "version"),
    ("operator-components", "release"): ("operator-releases", "version"),
    ("nvidia-gate-releases", "name"): ("nvidia-gates", "name"),
    ("nvidia-gate-rules", "gate"): ("nvidia-gates", "name"),
    ("nvidia-gate-rules", "other_gate"): ("nvidia-gates", "name"),
    ("nvidia-gate-needs", "name"): ("nvidia-gates", "name"),
    ("nvidia-gate-needs", "kubernetes_gate"): ("kubernetes-gates", "name"),
    ("driver-settings", "needs_gate"): ("nvidia-gates", "name"),
    ("device-types", "gate"): ("nvidia-gates", "name"),
    ("device-attributes", "gate"): ("nvidia-gates", "name"),
    ("device-attributes", "list_gate"): ("nvidia-gates", "name"),
    ("device-attributes", "device_type"): ("device-types", "id"),
    ("device-capacities", "gate"): ("nvidia-gates", "name"),
    ("device-capacities", "device_type"): ("device-types", "id"),
    ("served-apis", "gate"): ("kubernetes-gates", "name"),
    ("mig-profiles", "model"): ("hardware", "model"),
    ("hardware", "profiles_of"): ("hardware", "model"),
    ("engine-arguments", "engine"): ("engines", "engine"),
    ("engine-memory", "engine"): ("engines", "engine"),
}
# Pairs of fields of which the first is none above the second.
_SPANS: Final = (
    ("kubernetes_minimum", "kubernetes_maximum"),
    ("containerd_minimum", "containerd_maximum"),
    ("version", "version_maximum"),
    ("since", "until"),
)

Rows = Mapping[str, Sequence[PlacedRow]]  # a team's, by table


def check_facts(facts: Facts, own: Rows) -> Iterator[Finding]:
    """What the rows of a team contradict: the merged tables, or themselves.

    facts: with the rows merged.
    """
    for table, rows in own.items():
        check = _CHECKS.get(table)
        for row in rows:
            yield from _check_names(table, row, facts)
            yield from _check_spans(row)
            if check:
                yield from check(row, facts)


def _check_names(table: str, row: PlacedRow, facts: Facts) -> Iterator[Finding]:
    spelled = dict(zip(row.fact.__struct_fields__, row.fact.__struct_encode_fields__, strict=True))
    for (of_table, field), (where, name) in _NAMES.items():
        if of_table != table:
            continue
        known = {getattr(fact, name) for fact in facts.table(where)} | ({"*"} if field == "device_type" else set())
        value = getattr(row.fact, field)
        for said in value if isinstance(value, tuple) else (value,):
            if said is not None and said not in known:
                what = f'{spelled[field]} is "{said[:60]}", which no row of {where} has'
                why = "the row would never be looked at"
                fix = f"add the row to facts/{where}.yaml, or name one of: {_list(known)}"
                yield _finding(row.place(spelled[field]), what, why, fix)


def _check_spans(row: PlacedRow) -> Iterator[Finding]:
    spelled = dict(zip(row.fact.__struct_fields__, row.fact.__struct_encode_fields__, strict=True))
    for low, high in _SPANS:
        least, most = getattr(row.fact, low, None), getattr(row.fact, high, None)
        key = release_key if low == "since" else parse_version
        if least and most and _is_above(least, most, key):
            what = f"{spelled[low]} {least} is above {spelled[high]} {most}"
            yield _finding(row.place(spelled[high]), what, "nothing is between the two", "exchange them, or mend one")


def _is_above(least: str, most: str, key: Callable[[str], Any]) -> bool:
    above: bool = key(least) > key(most)
    return above


def _check_release(row: PlacedRow, _facts: Facts) -> Iterator[Finding]:
    fact: OperatorReleaseFact = row.fact  # type: ignore[assignment]  # the table's own type
    if parse_version(fact.version).minor != parse_version(fact.line).minor:
        why = "the line of a release is its first two numbers"
        what = f"release {fact.version} isn't of the line {fact.line}"
        yield _finding(row.place("line"), what, why, f"write line: {'.'.join(fact.version.split('.')[:2])}")


def _check_attribute(row: PlacedRow, facts: Facts) -> Iterator[Finding]:
    """Whether what an attribute is, is the same on all types of devices: it is asked by its name alone."""
    fact: AttributeFact = row.fact  # type: ignore[assignment]
    same = [one for one in facts.device_attributes if (one.domain, one.name) == (fact.domain, fact.name)]
    for one in same:
        if (one.type, one.stable) != (fact.type, fact.stable):
            what = f"{fact.domain}/{fact.name} is another thing on {fact.device_type} than on {one.device_type}"
            why = "the type of an attribute, and whether it names a single device, is one for all types of devices"
            fix = f"write the same type and stable in all rows of the attribute; the others have {one.type} and "
            yield _finding(row.place("name"), what, why, f"{fix}{'true' if one.stable else 'false'}")
            return


def _check_served(row: PlacedRow, facts: Facts) -> Iterator[Finding]:
    """Whether a kind has one row for each release."""
    fact: ServedApiFact = row.fact  # type: ignore[assignment]
    for one in facts.served_apis:
        both = set(one.minors) & set(fact.minors)
        if (one.api_version, one.kind) == (fact.api_version, fact.kind) and one.minors != fact.minors and both:
            what = f"two rows say how {fact.kind} of {fact.api_version} is served in {_list(both)}"
            why = "one of them would have no effect"
            fix = f"override the row whose minors are {', '.join(one.minors)}, or name only others"
            yield _finding(row.place("minors"), what, why, fix)


def _check_memory(row: PlacedRow, _facts: Facts) -> Iterator[Finding]:
    """Whether memory says the same in both of its fields."""
    fact: HardwareFact | MigProfileFact = row.fact  # type: ignore[assignment]
    wanted = None if fact.memory_mi is None else parse_quantity(f"{fact.memory_mi}Mi").normal_text
    if fact.memory != wanted:
        what, why = f"memory is {fact.memory}, and memoryMi {fact.memory_mi}", "they are one amount, in two spellings"
        yield _finding(row.place("memory"), what, why, f"write memory: {wanted or 'null'}")


def _check_profile(row: PlacedRow, facts: Facts) -> Iterator[Finding]:
    """Whether instances of a partition lie in its model."""
    yield from _check_memory(row, facts)
    fact: MigProfileFact = row.fact  # type: ignore[assignment]
    hardware = facts.hardware_model(fact.model)
    slices = (hardware.mig_memory_slices if hardware else None) or 0
    ends = [place.start + place.size for place in fact.placements]
    if not ends or max(ends) > slices or not 0 < fact.max_instances <= len(ends):
        what = f"partition {fact.name} doesn't lie in {fact.model}, which has {slices} memory slices"
        why = "each placement is [start, size] in those, and there are no more instances than placements"
        yield _finding(row.place("placements"), what, why, "correct placements, maxInstances, or the model's slices")


def _check_chart(row: PlacedRow, _facts: Facts) -> Iterator[Finding]:
    """Whether an Application can be told where a driver's chart is."""
    fact: DriverReleaseFact = row.fact  # type: ignore[assignment]
    first = next(iter(fact.chart_registries), None)
    if first is not None and not (first.startswith("oci://") and first.endswith(f"/{fact.chart}")):
        what = f'the first of chartRegistries is "{first[:60]}", and the chart {fact.chart}'
        why = "the first one is what an Application is given: a registry, and behind its last `/` the chart"
        yield _finding(
            row.place("chartRegistries"), what, why, f"write it as in oci://registry.example.com/{fact.chart}"
        )


def _check_type(row: PlacedRow, facts: Facts) -> Iterator[Finding]:
    """Whether devices of a type can still be planned: with names of what is known, and for no fewer releases."""
    fact: DeviceTypeFact = row.fact  # type: ignore[assignment]
    merged = next(one for one in facts.device_types if one.id == fact.id)
    for other in merged.disagreements:  # the shipped row's among them
        known = set(re.findall("<(.*?)>", other.value))
        unknown = sorted(set(re.findall("<(.*?)>", fact.name_pattern)) - known)
        if other.field == "namePattern" and unknown:
            what = f"namePattern of {fact.id} has <{unknown[0][:60]}>"
            why, fix = "devices that are planned get their names from it", f"name only <{'>, <'.join(sorted(known))}>"
            yield _finding(row.place("namePattern"), what, why, fix)
        since = {"since": fact.since, "namePatternSince": fact.name_pattern_since}.get(other.field)
        if since and release_key(since) > release_key(other.value):
            what = f"{other.field} of {fact.id} is {since}, and {other.value} by {other.source}"
            why, fix = (
                "releases of the driver in between couldn't be planned for",
                f"write {other.field}: {other.value}",
            )
            yield _finding(row.place(other.field), what, why, f"{fix}, and what you found in a note")


def _check_setting(row: PlacedRow, facts: Facts) -> Iterator[Finding]:
    """Whether what a setting turns into is a value of a chart, and of its type."""
    fact: DriverSettingFact = row.fact  # type: ignore[assignment]
    charts = {"gpu-operator"} if fact.install == "gpuOperator" else {one.chart for one in facts.driver_releases}
    known = [one for one in facts.helm_values if one.chart in charts and not one.removed]
    wanted = "list" if fact.variable else "bool" if isinstance(fact.value, bool) else "string"
    if not any((one.key, one.type) == (fact.helm_key, wanted) for one in known):
        what = f"helmKey {fact.helm_key} isn't known as a {wanted} of {' or '.join(sorted(charts))}"
        why = "Helm ignores a value that a chart doesn't have"
        yield _finding(row.place("helmKey"), what, why, "add it to facts/helm-values.yaml, or correct it")


_CHECKS: Final[dict[str, Callable[[PlacedRow, Facts], Iterator[Finding]]]] = {
    "operator-releases": _check_release,
    "driver-releases": _check_chart,
    "driver-settings": _check_setting,
    "device-types": _check_type,
    "device-attributes": _check_attribute,
    "served-apis": _check_served,
    "hardware": _check_memory,
    "mig-profiles": _check_profile,
}


def _list(names: Collection[str]) -> str:
    return ", ".join(sorted(names))


def _finding(place: Place, what: str, why: str, fix: str) -> Finding:
    rule = "poolwright facts of a project"
    return Finding(code="fact-inconsistent", severity="error", place=place, what=what, why=why, rule=rule, fix=fix)
