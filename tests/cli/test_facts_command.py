"""`poolwright facts`: what it prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet import FLEET
from poolwright.catalog import facts as module
from poolwright.catalog.facts import FACT_TABLES
from poolwright.cli.facts import run_facts, run_ledger
from run_poolwright import run

COMPUTE_CLASSES = """\
driver          computeClass  attribute              minimum  verified  source
gpu.nvidia.com  bf16          cudaComputeCapability  8.0.0    no        1
gpu.nvidia.com  fp8           cudaComputeCapability  8.9.0    no        1
gpu.nvidia.com  fp4           cudaComputeCapability  10.0.0   no        1

source 1: NVIDIA CUDA C++ Programming Guide, compute capabilities: arithmetic types of tensor cores (2026-11-30)
"""


def test_a_table_with_its_sources(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_facts("compute-classes", "text") == 0
    assert capsys.readouterr() == (COMPUTE_CLASSES, "")


def test_the_tables_with_counts_and_the_newest_date(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_facts(None, "text") == 0
    out, err = capsys.readouterr()
    head, *lines = out.splitlines()
    assert head.split() == ["table", "rows", "unverified", "disputed", "newest"]
    assert [line.split()[0] for line in lines] == list(FACT_TABLES)
    assert ["compute-classes", "3", "3", "0", "2026-11-30"] in [line.split() for line in lines]
    assert err == ""


def test_a_disputed_row_shows_both_values(capsys: pytest.CaptureFixture[str]) -> None:
    run_facts("operator-components", "text")
    lines = capsys.readouterr().out.splitlines()
    row = next(n for n, line in enumerate(lines) if line.split()[:2] == ["26.7.0", "kubevirtPlugin"])
    assert lines[row].split()[2] == "v1.6.0"
    assert lines[row + 1] == (
        "    disputed: version v1.5.0 (NVIDIA/cloud-native-docs gpu-operator/life-cycle-policy.rst)"
    )


def test_a_value_that_is_not_verified_is_marked(capsys: pytest.CaptureFixture[str]) -> None:
    run_facts("hardware", "text")
    lines = capsys.readouterr().out.splitlines()
    a30 = next(line for line in lines if line.startswith("a30"))
    h100 = next(line for line in lines if line.startswith("h100-sxm5-80gb"))
    gh200 = next(line for line in lines if line.startswith("gh200"))
    assert "24Gi?" in a30.split()
    assert "?" not in h100
    assert "-" in gh200.split()  # not found, so nothing to doubt
    assert "?: this value isn't verified" in lines


@pytest.mark.parametrize("table", FACT_TABLES)
def test_json_has_the_rows_of_the_table(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_facts(table, "json") == 0
    file = Path(module.__file__).parent / "tables" / f"{table}.json"
    printed, held = json.loads(capsys.readouterr().out), json.loads(file.read_bytes())
    assert [without_empty(row) for row in printed["facts"]] == [without_empty(row) for row in held["facts"]]


def without_empty(row: dict[str, object]) -> dict[str, object]:
    """A row without what it says by leaving it out."""
    return {name: value for name, value in row.items() if value is not None and value is not False}


def test_json_of_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_facts(None, "json") == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    expected = {"table": "kubernetes", "rows": 4, "unverified": 0, "disputed": 0, "newest": "2026-11-30", "own": 0}
    assert expected in tables


def test_an_unknown_table_lists_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_facts("hardwear", "text") == 2
    known = ", ".join(FACT_TABLES)
    assert capsys.readouterr() == ("", f"poolwright facts: there is no table 'hardwear': {known}\n")


def test_the_ledger_of_a_project(capsys: pytest.CaptureFixture[str]) -> None:
    rows = Path(__file__).parent.parent / "catalog" / "data" / "ledger-rows"
    assert run_ledger(str(FLEET), "text") == 0
    assert capsys.readouterr() == ((rows / "example.txt").read_text(), "")
    assert run_ledger(str(FLEET), "json") == 0
    assert json.loads(capsys.readouterr().out) == {"rows": json.loads((rows / "example.json").read_text())}


def test_the_ledger_of_no_project(tmp_path: Path) -> None:
    ran = run("facts", "ledger", "--project", str(tmp_path), folder=tmp_path)
    assert (ran.code, ran.stdout) == (2, "")
    assert "[project-missing]" in ran.stderr
