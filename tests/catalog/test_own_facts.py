"""Facts of a team's own: what a file may say, and what becomes of a table with its rows."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import msgspec
import pytest

from fleet import FACTS
from golden import Golden
from own_facts import OURS, Row, merge, read_rows, take, write
from poolwright.catalog.fact_forms import list_forms
from poolwright.catalog.facts import FACT_FILES, FACT_TABLES, Disagreement, Fact, Facts
from poolwright.catalog.own_facts import merge_facts
from poolwright.catalog.tables.keys import KEYS, row_key
from poolwright.specs.finding import SpecError, render_text

LINE = {"line": "26.7"}
DRIVER = {"line": "26.7", "release": None, "version": "580.200.01", **OURS}
PAGE = (
    "NVIDIA/cloud-native-docs gpu-operator/platform-support.rst; lifecycle and upgrades: NVIDIA/cloud-native-docs "
    "review build pr-512, GPU Operator life cycle page"
)


def tables_of(facts: Facts) -> dict[str, tuple[Fact, ...]]:
    return {name: facts.table(name) for name in FACT_TABLES}


def refuse(files: dict[str, bytes]) -> str:
    with pytest.raises(SpecError) as error:
        merge_facts(FACTS, files)
    return render_text(error.value.findings)


# --- merging ---


def test_merging_nothing_changes_nothing() -> None:
    assert merge_facts(FACTS, {}) is FACTS
    assert tables_of(merge(hardware=[])) == tables_of(FACTS)


@pytest.mark.parametrize("table", FACT_TABLES)
def test_a_row_equal_to_the_shipped_one_is_no_dispute(table: str) -> None:
    """It is ours from then on, with its source, and keeps what others say of it."""
    shipped = FACTS.table(table)
    rows = [{**msgspec.to_builtins(fact), **OURS} for fact in shipped]
    facts = merge(**{table: rows})
    assert [msgspec.structs.replace(fact, **OURS) for fact in shipped] == list(facts.table(table))
    assert facts.own_rows(table) == frozenset(range(len(shipped)))
    assert facts.list_own_sources() == {OURS["source"]}
    assert {name: rows for name, rows in tables_of(facts).items() if name != table} == {
        name: rows for name, rows in tables_of(FACTS).items() if name != table
    }


@pytest.mark.parametrize("table", FACT_TABLES)
def test_every_field_that_differs_is_kept_beside_the_teams(table: str) -> None:
    """Of texts and flags that are no key, each in a row of its own: the team's counts, the other is a disagreement."""
    row = msgspec.to_builtins(FACTS.table(table)[0])
    spelled = dict(zip(FACTS.table(table)[0].__struct_fields__, row, strict=False))
    keys = {spelled.get(field, field) for field in KEYS[table]}
    aside = {"source", "date", "verified", "note", "disagreements"}
    for name, value in row.items():
        if name in keys | aside or not isinstance(value, bool) or name.endswith("Verified"):
            continue
        (own,) = [
            fact
            for index, fact in enumerate(merge(**{table: [{**row, **OURS, name: not value}]}).table(table))
            if index == 0
        ]
        said = Disagreement(field=name, value="true" if value else "false", source=FACTS.table(table)[0].source)
        assert said in own.disagreements


def test_an_override_counts_and_both_values_stand() -> None:
    facts = merge(operator_lines=[take("operator-lines", by=LINE, kubernetesMaximum="1.37", crio=False)])
    line = facts.operator_line("26.7.0")
    assert line
    assert (line.kubernetes_maximum, line.crio, line.source) == ("1.37", False, OURS["source"])
    before = FACTS.operator_line("26.7.0")
    assert before
    assert line.disagreements == (
        Disagreement(field="kubernetesMaximum", value="1.36", source=PAGE),
        Disagreement(field="crio", value="true", source=PAGE),
        *before.disagreements,
    )
    assert facts.own_rows("operator-lines") == {3}


def test_a_dispute_ends_where_the_team_says_what_the_other_source_said() -> None:
    """Its value counts now; what disagrees is the row that shipped."""
    line = merge(operator_lines=[take("operator-lines", by=LINE, kubernetesMinimum="1.32")]).operator_line("26.7.0")
    assert line
    said = [one for one in line.disagreements if one.field == "kubernetesMinimum"]
    assert said == [Disagreement(field="kubernetesMinimum", value="1.33", source=PAGE)]


def test_what_it_rests_on_and_how_sure_it_is_is_no_dispute() -> None:
    own = take("hardware", by={"model": "a30"}, memoryVerified=True, memoryBasis="our node", note="measured")
    fact = merge(hardware=[own]).hardware_model("a30")
    assert fact
    assert (fact.memory_verified, fact.note, fact.disagreements) == (True, "measured", ())


ADDED = {
    "behind-the-last-of-its-kind": (
        "operator-releases",
        {"version": "26.7.9", "line": "26.7", "released": None, **OURS},
        [*(row["version"] for row in read_rows("operator-releases")), "26.7.9"],
    ),
    "between-by-version": (
        "operator-lines",
        take("operator-lines", by=LINE, line="26.5"),
        ["25.3", "25.10", "26.3", "26.5", "26.7"],
    ),
    # They were renumbered: 0.6 comes after 25.12.
    "by-the-order-of-the-drivers-releases": (
        "driver-releases",
        take("driver-releases", by={"version": "0.5.0"}, version="0.4.9"),
        ["25.3.2", "25.8.0", "25.8.1", "25.12.0", "0.4.0", "0.4.1", "0.4.9", "0.5.0", "0.5.1"],
    ),
    "newest-first-where-the-others-are": (
        "engines",
        take("engines", by={"version": "0.33.0"}, version="0.40.0"),
        ["0.40.0", *(row["version"] for row in read_rows("engines"))],
    ),
    "of-a-kind-of-its-own": (
        "compute-classes",
        take("compute-classes", by={"computeClass": "fp8"}, driver="gpu.example.com", minimum="1.0.0"),
        ["8.0.0", "8.9.0", "10.0.0", "1.0.0"],
    ),
}


@pytest.mark.parametrize("name", ADDED)
def test_where_an_added_row_stands(name: str) -> None:
    table, row, expected = ADDED[name]
    facts = merge(**{table: [row]})
    field = "minimum" if table == "compute-classes" else "line" if table == "operator-lines" else "version"
    assert [getattr(fact, field) for fact in facts.table(table)] == expected
    (place,) = facts.own_rows(table)
    assert facts.table(table)[place].source == OURS["source"]


def test_the_order_of_files_and_rows_does_not_matter() -> None:
    files = {
        "facts/operator-gpu-drivers.json": write([DRIVER, {**DRIVER, "version": "580.200.02"}]),
        "facts/operator-gpu-drivers.yaml": write([{**DRIVER, "version": "580.200.03"}]),
        "facts/operator-lines.yml": write([take("operator-lines", by=LINE, crio=False)]),
    }
    turned = {
        "facts/operator-gpu-drivers.json": write([{**DRIVER, "version": "580.200.02"}, DRIVER]),
        **{path: text for path, text in files.items() if not path.endswith(".json")},
    }
    found = [merge_facts(FACTS, dict(order)) for one in (files, turned) for order in permutations(one.items())]
    assert all(tables_of(facts) == tables_of(found[0]) for facts in found)
    assert all(facts.own_rows("operator-gpu-drivers") == found[0].own_rows("operator-gpu-drivers") for facts in found)


def test_merging_changes_neither_the_facts_nor_the_files() -> None:
    files = {"facts/operator-gpu-drivers.json": write([DRIVER])}
    before = dict(files), tables_of(FACTS)
    merge_facts(FACTS, files)
    assert (files, tables_of(FACTS)) == before
    assert FACTS.list_own_sources() == frozenset()


# --- what a file may not say ---

BAD = b"""\
facts:
  - line: "26.7"
    release: 26.7.0
    version: 580.x
    versoin: "580.1"
    source: ours
    date: 2026-13-01
    verified: yes
  - {line: "26.7", version: 580.200.01, date: "2026-11-20", verified: true}
"""
SAYS: dict[str, dict[str, bytes]] = {
    "unknown-table": {"facts/hardwear.yaml": b"facts: []\n"},
    "every-problem-of-every-row": {"facts/operator-gpu-drivers.yaml": BAD},
    "texts-that-are-compared": {
        "facts/operator-lines.yaml": write([take("operator-lines", by=LINE, kubernetesMaximum="latest")]),
        "facts/known-traps.yaml": write(
            [take("known-traps", by={"trap": "labels-twice"}, when="moon:full", versions=["new"])]
        ),
    },
    "key-twice-in-two-files": {
        "facts/operator-gpu-drivers.json": write([DRIVER]),
        "facts/operator-gpu-drivers.yaml": write([DRIVER]),
    },
    "no-rows": {"facts/hardware.yaml": b"# later\n"},
    "rows-without-their-key": {"facts/hardware.yaml": b"[]\n"},
    "disagreements-about-nothing": {
        "facts/operator-gpu-drivers.json": write(
            [
                {
                    **DRIVER,
                    "disagreements": [
                        {"field": "price", "value": "1", "source": "x"},
                        {"field": "versionMaximum", "value": "new", "source": "x"},
                    ],
                }
            ]
        )
    },
    "amount-that-is-none": {"facts/hardware.json": write([take("hardware", by={"model": "a30"}, multiprocessors=-1)])},
    "alias": {"facts/hardware.yaml": b"facts: &rows [*rows]\n"},
    "not-utf-8": {"facts/hardware.yaml": b"facts: [\xff]\n"},
    "nested-deep": {"facts/hardware.yaml": b"facts: " + b"[" * 100 + b"]" * 100 + b"\n"},
    "wrong-types-in-lists": {
        "facts/mig-profiles.json": write(
            [take("mig-profiles", by={"model": "a100-sxm4-40gb", "name": "7g.40gb"}, placements=[["0", 8], [1]])]
        )
    },
}


def test_what_is_said_of_a_bad_file(golden: Golden) -> None:
    texts = {f"{name}.txt": refuse(files).encode() for name, files in SAYS.items()}
    golden.compare(Path(__file__).parent / "data" / "own-facts", texts)


CONTRADICTIONS: dict[str, tuple[str, Row]] = {
    "release-of-no-line": ("operator-releases", {"version": "27.1.0", "line": "27.1", "released": None, **OURS}),
    "release-of-another-line": ("operator-releases", {"version": "26.7.9", "line": "26.3", "released": None, **OURS}),
    "driver-of-no-release": ("operator-gpu-drivers", {**DRIVER, "release": "26.7.9"}),
    "span-that-is-empty": ("operator-gpu-drivers", {**DRIVER, "versionMaximum": "580.1"}),
    "memory-in-two-amounts": ("hardware", take("hardware", by={"model": "l4"}, memoryMi=24000)),
    "attribute-that-is-two-things": (
        "device-attributes",
        take("device-attributes", by={"name": "uuid", "deviceType": "gpu"}, stable=True),
    ),
    "kind-served-by-two-rows": (
        "served-apis",
        take("served-apis", by={"apiVersion": "apps/v1", "kind": "Deployment"}, minors=["1.37", "1.38"]),
    ),
    "partition-outside-its-model": (
        "mig-profiles",
        take("mig-profiles", by={"model": "a100-sxm4-40gb", "name": "7g.40gb"}, placements=[[4, 8]]),
    ),
    "chart-that-is-nowhere": (
        "driver-releases",
        take("driver-releases", by={"version": "0.5.0"}, chartRegistries=["registry.example.com"]),
    ),
    "type-that-earlier-releases-had": ("device-types", take("device-types", by={"id": "gpu"}, since="0.5.0")),
    "type-named-by-nothing": ("device-types", take("device-types", by={"id": "gpu"}, namePattern="gpu-<profile>")),
    "setting-that-no-chart-has": (
        "driver-settings",
        take(
            "driver-settings",
            by={"install": "chart", "setting": "computeDomains", "word": "disabled"},
            helmKey="computeDomains",
        ),
    ),
    "pattern-of-names-that-earlier-releases-had": (
        "device-types",
        take("device-types", by={"id": "gpu"}, namePatternSince="0.5.0"),
    ),
}


def test_what_contradicts_the_tables(golden: Golden) -> None:
    texts = {
        f"{name}.txt": refuse({f"facts/{table}.json": write([row])}).encode()
        for name, (table, row) in CONTRADICTIONS.items()
    }
    golden.compare(Path(__file__).parent / "data" / "own-facts-contradictions", texts)


def test_a_name_that_another_file_adds_is_known() -> None:
    line = take("operator-lines", by=LINE, line="27.1")
    release = {"version": "27.1.0", "line": "27.1", "released": None, **OURS}
    assert merge(operator_lines=[line], operator_releases=[release]).operator_release("v27.1.0") is not None


# --- the tables that ship keep to what is asked of a team's ---


@pytest.mark.parametrize("table", FACT_TABLES)
def test_the_shipped_rows_are_of_the_forms(table: str) -> None:
    wrong = [
        (name, text)
        for row in read_rows(table)
        for name, form in list_forms(table).items()
        for value in (row.get(name),)
        for text in (value if isinstance(value, list) else [value])
        if text is not None and form.refuse(text)
    ]
    assert wrong == []


@pytest.mark.parametrize("table", FACT_TABLES)
def test_every_form_is_of_a_field(table: str) -> None:
    fields = set(FACTS.table(table)[0].__struct_encode_fields__)
    assert set(list_forms(table)) - fields == set()


def test_every_table_has_a_key() -> None:
    assert sorted(KEYS) == sorted(FACT_TABLES) == sorted(name.removesuffix(".json") for name in FACT_FILES)
    assert all(row_key(table, fact) for table in FACT_TABLES for fact in FACTS.table(table))
