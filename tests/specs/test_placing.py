"""What an envelope may not ask for on a pool: every refusal with the whole text that says so, and the units it stops.

The cases are in placing/cases.yaml: each edits the valid fleet in placing/fleet, where every `old` stands once. `says`
is what `check` shows of the whole project. `stops` are the units that `generate` refuses, each with findings that
`check` shows too; every other unit builds from its own specs as before, but for what the edit itself changed.
`--update-golden` rewrites both.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet import FACTS
from folders import read_files
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.catalog.units import build_closure, build_closures
from poolwright.specs.finding import Finding, SpecError, render_text, sort_findings
from poolwright.specs.parse import parse_specs
from poolwright.specs.risks import check_risks
from poolwright.specs.unit_specs import parse_platform_specs, parse_unit_specs
from poolwright.trees.tree import unit_name

FOLDER = Path(__file__).parent / "placing"
VALID = read_files(FOLDER / "fleet")
NAMED = {"models/config.json": b"{}"}  # the file that every envelope names
CASES: dict[str, dict[str, Any]] = yaml.safe_load((FOLDER / "cases.yaml").read_text("utf-8"))
UNITS = tuple(
    unit_name(closure)
    for closure in build_closures(parse_specs(VALID), NAMED, FACTS)
    if isinstance(closure, PlatformClosure | UnitClosure)
)


def test_the_fleet_that_the_cases_edit_is_valid_and_its_units_build() -> None:
    assert judge(VALID) == ()
    assert [unit for unit in UNITS if judge_unit(VALID, unit)] == []
    assert len(UNITS) == 8


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str, request: pytest.FixtureRequest) -> None:
    files = apply_edits(CASES[name]["edits"])
    found = judge(files)
    by_unit = {unit: judge_unit(files, unit) for unit in UNITS}
    assert {finding for findings in by_unit.values() for finding in findings} <= set(found)
    says, stops = render_text(found), [unit for unit in UNITS if by_unit[unit]]
    if says and request.config.getoption("--update-golden"):
        rewrite_case(name, says, stops)
    else:
        assert (says, stops) == (CASES[name]["says"], CASES[name]["stops"])


def judge(files: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """What `check` finds."""
    try:
        specs = parse_specs(files)
        build_closures(specs, NAMED, FACTS)
    except SpecError as error:
        return error.findings
    return sort_findings(check_risks(specs))


def judge_unit(files: Mapping[str, bytes], unit: str) -> tuple[Finding, ...]:
    """What `generate` finds in the unit's own specs."""
    cluster, _, name = unit.partition("/")
    try:
        is_platform = name == "platform"
        specs = parse_platform_specs(files, cluster) if is_platform else parse_unit_specs(files, cluster, name)
        assert build_closure(specs, cluster, name, NAMED, FACTS) is not None
    except SpecError as error:
        return error.findings
    return ()


def apply_edits(edits: list[dict[str, str]]) -> dict[str, bytes]:
    files = dict(VALID)
    for change in edits:
        text = files[change["file"]].decode()
        assert text.count(change["old"]) == 1, f"{change['file']} must have {change['old']!r} once"
        files[change["file"]] = text.replace(change["old"], change["new"]).encode()
    return files


class _Block(str):
    """A text that is written line by line."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(_Block, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|"))


def rewrite_case(name: str, says: str, stops: list[str]) -> None:
    """Put other answers into one case; all else in the file stays."""
    path = FOLDER / "cases.yaml"
    cases = yaml.safe_load(path.read_text("utf-8"))
    cases[name] |= {"stops": stops, "says": says}
    path.write_text(render_cases(cases), "utf-8")


def render_cases(cases: Mapping[str, Any]) -> str:
    """The file of the cases, in their order."""
    parts = ["# What placements and envelopes may not say. Read by test_placing.py.\n"]
    for name, case in cases.items():
        edits = [
            {key: _Block(text) if "\n" in text else text for key, text in change.items()} for change in case["edits"]
        ]
        whole = {name: {"edits": edits, "stops": case["stops"], "says": _Block(case["says"])}}
        parts.append(yaml.dump(whole, Dumper=_Dumper, sort_keys=False, width=10_000, allow_unicode=True))
    return "\n".join(parts)
