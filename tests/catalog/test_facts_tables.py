"""The fact tables: strict, each row with its source, and consistent with each other and with upstream."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import kubernetes_validate
import msgspec
import pytest

from poolwright.catalog import facts as module
from poolwright.catalog.facts import FACT_FILES, FACT_TABLES, AttributeFact, parse_facts
from poolwright.catalog.tables.keys import KEYS
from poolwright.files.facts import read_facts
from poolwright.specs.quantity import parse_quantity

FOLDER = Path(module.__file__).parent / "tables"
FACTS = read_facts()
SCHEMAS = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema"


def read_files() -> dict[str, bytes]:
    return {name: (FOLDER / name).read_bytes() for name in FACT_FILES}


def test_every_file_is_a_table_and_every_table_has_a_key() -> None:
    assert sorted(path.name for path in FOLDER.glob("*.json")) == sorted(FACT_FILES)
    assert sorted(KEYS) == sorted(FACT_TABLES)


@pytest.mark.parametrize("name", FACT_TABLES)
def test_rows_say_what_they_rest_on_and_stand_once(name: str) -> None:
    rows = FACTS.table(name)
    assert [row.source for row in rows if not row.source.strip()] == []
    assert [row.date for row in rows if not re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", row.date)] == []
    keys = [tuple(getattr(row, field) for field in KEYS[name]) for row in rows]
    assert [key for key in keys if keys.count(key) > 1] == []
    fields = {field for row in rows for field in row.__struct_encode_fields__}
    aside = {"maturity of GPUCluster"}  # a word about a whole feature, which no field holds
    assert [other for row in rows for other in row.disagreements if other.field not in fields | aside] == []


@pytest.mark.parametrize("name", FACT_TABLES)
@pytest.mark.parametrize("edit", [{"unknownField": 1}, {"verified": "yes"}, {"source": None}])
def test_a_row_is_decoded_strictly(name: str, edit: dict[str, object]) -> None:
    table = json.loads((FOLDER / f"{name}.json").read_bytes())
    table["facts"][-1] |= edit
    facts = parse_facts({**read_files(), f"{name}.json": json.dumps(table).encode()})
    with pytest.raises(msgspec.ValidationError):
        facts.table(name)


def test_a_table_is_decoded_when_it_is_asked_for_and_once() -> None:
    facts = parse_facts({**read_files(), "hardware.json": b"{"})
    assert facts.kubernetes == FACTS.kubernetes
    assert facts.engines is facts.engines
    with pytest.raises(msgspec.DecodeError):
        facts.hardware_model("l4")


def test_an_attribute_is_the_same_on_every_type_of_device() -> None:
    seen: dict[tuple[str, str], set[tuple[str, bool]]] = {}
    for fact in FACTS.device_attributes:
        seen.setdefault((fact.domain, fact.name), set()).add((fact.type, fact.stable))
    assert {key: values for key, values in seen.items() if len(values) > 1} == {}


def test_every_gate_has_a_row_in_every_minor_and_only_absent_or_unverified_ones_have_no_default() -> None:
    names = {fact.name for fact in FACTS.kubernetes_gates}
    minors = {fact.minor for fact in FACTS.kubernetes_gates}
    assert minors == {"1.33", "1.34", "1.35", "1.36", "1.37"}
    assert len(FACTS.kubernetes_gates) == len(names) * len(minors)
    assert [f for f in FACTS.kubernetes_gates if f.default is None and f.stage != "absent" and f.verified] == []
    assert [f for f in FACTS.kubernetes_gates if f.stage == "absent" and f.default is not None] == []


@pytest.mark.parametrize("minor", ["1.33", "1.34", "1.35", "1.36", "1.37"])
def test_apis_are_those_of_the_releases_own_definitions(minor: str) -> None:
    folder = SCHEMAS / f"v{minor}.0-local"
    wrong = []
    for api_version, kind in sorted({(fact.api_version, fact.kind) for fact in FACTS.served_apis}):
        group, _, version = api_version.rpartition("/")
        name = "-".join([kind.lower(), *([group.split(".")[0]] if group else []), version])
        if (folder / f"{name}.json").exists() != (FACTS.served_api(minor, api_version, kind) is not None):
            wrong.append((api_version, kind))
    assert wrong == []


def test_what_is_rendered_for_a_minor_is_what_it_serves() -> None:
    wanted = {fact.minor: f"resource.k8s.io/{fact.resource_api}" for fact in FACTS.kubernetes}
    assert {minor: FACTS.api_version(minor, "DeviceClass") for minor in wanted} == wanted


def test_names_in_one_table_exist_in_the_other() -> None:
    gates = {fact.name for fact in FACTS.nvidia_gates}
    named: set[str | None] = {fact.name for fact in FACTS.nvidia_gate_releases} | {
        f.name for f in FACTS.nvidia_gate_needs
    }
    for rule in FACTS.nvidia_gate_rules:
        named |= {rule.gate, rule.other_gate}
    for row in (*FACTS.device_types, *FACTS.device_attributes, *FACTS.device_capacities):
        named |= {row.gate, row.list_gate if isinstance(row, AttributeFact) else None}
    named |= {fact.needs_gate for fact in FACTS.driver_settings}
    assert named - gates == {None}
    assert {f.kubernetes_gate for f in FACTS.nvidia_gate_needs} <= {f.name for f in FACTS.kubernetes_gates}
    assert {f.gate for f in FACTS.served_apis if f.gate} <= {f.name for f in FACTS.kubernetes_gates}
    types = {fact.id for fact in FACTS.device_types}
    assert {f.device_type for f in FACTS.device_attributes} - {"*"} == types
    assert {f.device_type for f in FACTS.device_capacities} <= types
    lines, releases = {f.line for f in FACTS.operator_lines}, {f.version for f in FACTS.operator_releases}
    assert {f.line for f in FACTS.operator_releases} | {f.line for f in FACTS.operator_gpu_drivers} <= lines
    assert {f.release for f in FACTS.operator_components} == releases - {"26.7.1"}
    assert {line for fact in FACTS.operator_lines for line in fact.upgrades_from} <= lines
    assert {f.engine for f in FACTS.engine_arguments} == {f.engine for f in FACTS.engines}


def test_memory_is_the_canonical_quantity_of_its_mebibytes() -> None:
    for row in (*FACTS.hardware, *FACTS.mig_profiles):
        wanted = None if row.memory_mi is None else parse_quantity(f"{row.memory_mi}Mi").normal_text
        assert row.memory == wanted, row


def test_a_model_is_verified_only_if_each_of_its_values_is() -> None:
    for fact in FACTS.hardware:
        flags = [getattr(fact, field) for field in fact.__struct_fields__ if field.endswith("_verified")]
        assert fact.verified == all(flags), fact.model
        assert fact.memory_mi is not None or not fact.memory_verified


def test_placements_lie_in_the_model_and_no_more_instances_than_placements() -> None:
    for fact in FACTS.hardware:
        for profile in FACTS.model_profiles(fact.model):
            ends = [place.start + place.size for place in profile.placements]
            assert max(ends) <= (fact.mig_memory_slices or 0), profile
            assert profile.max_instances <= len(profile.placements), profile
            assert profile.engines is not None or not profile.engines_verified, profile
            assert fact.memory_mi is None or (profile.memory_mi or 0) <= fact.memory_mi, profile


def test_a_setting_turns_into_a_value_that_its_chart_knows() -> None:
    charts = {"gpuOperator": ("gpu-operator", "26.7.0"), "chart": ("dra-driver-nvidia-gpu", "0.5.0")}
    known = {(fact.chart, fact.version, fact.key): fact.type for fact in FACTS.helm_values if not fact.removed}
    for fact in FACTS.driver_settings:
        wanted = "list" if fact.variable else "bool" if isinstance(fact.value, bool) else "string"
        assert known[(*charts[fact.install], fact.helm_key)] == wanted, fact


def test_facts_are_one_value_of_their_files() -> None:
    assert {name: parse_facts(read_files()).table(name) for name in FACT_TABLES} == {
        name: FACTS.table(name) for name in FACT_TABLES
    }


def test_what_the_cuda_runtime_has_is_a_little_less_than_what_is_published() -> None:
    """And it is said where it was seen."""
    known = [fact for fact in FACTS.hardware if fact.cuda_total_mi is not None or fact.cuda_total_basis is not None]
    assert {fact.model for fact in known} == {
        *("a100-sxm4-40gb", "a100-pcie-40gb", "h100-sxm5-80gb", "b200-180gb", "l4"),
    }
    off = [Fraction(fact.cuda_total_mi or 0, fact.memory_mi or 1) for fact in known]
    assert [fact.model for fact, share in zip(known, off, strict=True) if not Fraction(97, 100) < share < 1] == []
    assert [fact.model for fact in known if not fact.cuda_total_basis] == []
