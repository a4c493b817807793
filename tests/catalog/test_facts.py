"""The fact tables: what ships, what is looked up in them, and that a broken one is refused."""

from __future__ import annotations

import re
from datetime import date
from typing import get_args

import msgspec
import pytest

from fleet import FACTS, ROOT
from poolwright.catalog.facts import FACT_FILES, AttributeFact, ComputeClassFact, Fact, parse_facts
from poolwright.specs.envelope import ComputeClass

TABLES = {name: (ROOT / "render/poolwright/catalog/tables" / name).read_bytes() for name in FACT_FILES}


def list_facts() -> list[Fact]:
    return [*FACTS.kubernetes, *FACTS.compute_classes, *FACTS.device_attributes]


def test_every_table_that_ships_is_read() -> None:
    assert sorted(path.name for path in (ROOT / "render/poolwright/catalog/tables").glob("*.json")) == sorted(
        FACT_FILES
    )
    assert parse_facts(TABLES).device_attributes == FACTS.device_attributes


def test_every_fact_names_its_source_and_a_day() -> None:
    for fact in list_facts():
        assert fact.source.strip() == fact.source != ""
        assert date.fromisoformat(fact.date).isoformat() == fact.date


def test_no_two_facts_answer_one_question() -> None:
    assert len({fact.minor for fact in FACTS.kubernetes}) == len(FACTS.kubernetes)
    assert len({(f.driver, f.compute_class) for f in FACTS.compute_classes}) == len(FACTS.compute_classes)
    # Whether an attribute is an identity is asked by its name alone.
    stable = {(fact.driver, fact.domain, fact.name): fact.stable for fact in FACTS.device_attributes}
    assert all(stable[fact.driver, fact.domain, fact.name] == fact.stable for fact in FACTS.device_attributes)


def test_values_are_such_as_the_code_compares() -> None:
    assert {fact.type for fact in FACTS.device_attributes} <= {"string", "int", "bool", "version"}
    assert {fact.compute_class for fact in FACTS.compute_classes} | {"any"} == set(get_args(ComputeClass))
    for fact in FACTS.compute_classes:
        assert re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+", fact.minimum)
        attribute = FACTS.attribute(fact.driver, fact.driver, fact.attribute)
        assert attribute is not None
        assert (attribute.type, attribute.stable) == ("version", True)
    assert all(re.fullmatch(r"1\.[0-9]+", fact.minor) for fact in FACTS.kubernetes)


FOUND = {
    "attribute-of-the-driver": (FACTS.attribute("gpu.nvidia.com", "gpu.nvidia.com", "uuid"), ("uuid", False)),
    "standard-attribute-of-any-driver": (
        FACTS.attribute("gpu.example.com", "resource.kubernetes.io", "pciBusID"),
        ("pciBusID", False),
    ),
    "no-standard-attribute-in-another-domain": (
        FACTS.attribute("gpu.example.com", "gpu.example.com", "pciBusID"),
        None,
    ),
    "no-attribute-of-another-driver": (FACTS.attribute("gpu.example.com", "gpu.nvidia.com", "uuid"), None),
    "compute-class": (FACTS.compute_class("gpu.nvidia.com", "fp8"), ("cudaComputeCapability", "8.9.0")),
    "no-compute-class-of-another-driver": (FACTS.compute_class("gpu.example.com", "fp8"), None),
    "any-is-no-compute-class": (FACTS.compute_class("gpu.nvidia.com", "any"), None),
}


@pytest.mark.parametrize(("fact", "expected"), FOUND.values(), ids=FOUND)
def test_look_up(fact: AttributeFact | ComputeClassFact | None, expected: tuple[object, ...] | None) -> None:
    match fact:
        case AttributeFact(name=name, stable=stable):
            assert (name, stable) == expected
        case ComputeClassFact(attribute=attribute, minimum=minimum):
            assert (attribute, minimum) == expected
        case None:
            assert expected is None


def test_minor_releases() -> None:
    minors = [fact.minor for fact in FACTS.kubernetes]
    assert [fact and fact.minor for fact in map(FACTS.kubernetes_minor, (*minors, "1.0"))] == [*minors, None]


BROKEN = {
    "not-json": (b"{", "truncated"),
    "unknown-field": (b'{"facts": [], "more": 1}', "unknown field `more`"),
    "fact-without-a-source": (
        b'{"facts": [{"minor": "1.36", "resourceApi": "v1", "date": "2026-11-30", "verified": true}]}',
        "missing required field `source`",
    ),
}


@pytest.mark.parametrize(("table", "says"), BROKEN.values(), ids=BROKEN)
def test_a_broken_table_is_our_own_fault(table: bytes, says: str) -> None:
    with pytest.raises(msgspec.DecodeError, match=says):
        _ = parse_facts({**TABLES, "kubernetes.json": table}).kubernetes
