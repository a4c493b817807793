"""What the rules know of devices and of Kubernetes agrees with the fact tables."""

from collections import defaultdict

from fleet import FACTS
from poolwright.rules.devices import (
    CAPACITIES,
    CLASSES,
    IDENTITIES,
    PARTS,
    TYPES,
    VALUES,
    is_always_published,
    is_ever_published,
    list_types,
)
from poolwright.rules.served import GROUP, KNOWN_MINORS, SINCE

# Static and dynamic partitions look alike to a selector.
TYPE_IDS = {"mig-static": "mig", "mig-dynamic": "mig"}
DRIVERS = sorted({driver for driver, _ in CLASSES.values()})


def test_types_are_those_of_the_fact_table() -> None:
    assert {(fact.domain, fact.name): fact.type for fact in FACTS.device_attributes} == TYPES


def test_identities_are_those_of_the_fact_table() -> None:
    assert {(fact.domain, fact.name) for fact in FACTS.device_attributes if not fact.stable} == IDENTITIES


def test_always_published_is_what_every_type_of_device_has_always_had() -> None:
    rows: dict[tuple[str, str, str, str, str], dict[str, bool]] = defaultdict(dict)
    ids: dict[tuple[str, str], set[str]] = defaultdict(set)
    facts = [(fact, "attribute", fact.domain) for fact in FACTS.device_attributes if fact.driver != "*"]
    for fact, kind, domain in [*facts, *((f, "capacity", f.driver) for f in FACTS.device_capacities)]:
        device_type = TYPE_IDS.get(fact.device_type, fact.device_type)
        is_always = fact.presence == "always" and fact.until is None
        rows[fact.driver, device_type, kind, domain, fact.name][fact.device_type] = is_always
        ids[fact.driver, device_type].add(fact.device_type)
    wanted = {row: found.keys() == ids[row[:2]] and all(found.values()) for row, found in rows.items()}
    known = {
        row: is_always_published(row[0], frozenset({row[1]}), kind=row[2], domain=row[3], name=row[4]) for row in rows
    }
    assert known == wanted
    # The table's `memorySlice` stands for memorySlice0 and so on.
    named = {row for row in rows if row[4] != "memorySlice"}
    assert {row for row in named if not is_ever_published(row[0], *row[2:])} == set()
    capacities = {row[3:] for row in named if row[2] == "capacity"}
    assert capacities == {pair for pair in CAPACITIES if not pair[1].startswith("memorySlice")}


def test_values_are_of_attributes_that_are_strings_and_types_are_all_types() -> None:
    assert {TYPES[name] for name in VALUES} == {"string"}
    assert {driver: frozenset(VALUES[driver, "type"]) for driver in DRIVERS} == {d: list_types(d) for d in DRIVERS}


def test_parts_have_less_than_their_name_in_gi() -> None:
    for sold_gb, _, memory_mi in PARTS:
        assert sold_gb * 10**9 < memory_mi << 20 < sold_gb << 30


def test_apis_are_those_of_the_fact_table() -> None:
    first: dict[tuple[str, str], str] = {}
    for fact in FACTS.served_apis:
        group, _, version = fact.api_version.rpartition("/")
        if group == GROUP:
            first[fact.kind, version] = min(first.get((fact.kind, version), fact.minors[0]), *fact.minors)
    # The table starts one release later than what is checked.
    assert {
        (kind, version): max(SINCE[kind][version], min(min(f.minors) for f in FACTS.served_apis))
        for kind, version in first
    } == first
    assert KNOWN_MINORS[-1] == FACTS.kubernetes[-1].minor
