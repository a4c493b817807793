"""The allocator answers as Kubernetes' own does: recorded vectors without Go, and live on as many cases as are asked.

From 1.36 on, with a fixed order, whole answers are compared: devices, amounts, config, node selector, and the number of
steps of the search. Where upstream's order is chance, whether there is an answer.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from case_values import answer_case, normalise
from random_cases import build_case
from random_draw import Json
from upstream_allocator import ask_upstream, build_upstream
from upstream_deviations import has_overflow, list_deviations

DATA = Path(__file__).parent / "data"
EXACT = ("1.36", "1.37")
LOOSE = ("1.34", "1.35")
MAX_LOOKS = 100_000
TIMEOUT = "-timeout=500ms"  # for a case; some of them take for ever
LONG = 500  # steps of upstream after which giving up is no disagreement
# `make oracle` compares 20,000 cases of each minor; elsewhere a few, where Go is at hand.
COUNT = 20_000 if "go" in os.environ.get("POOLWRIGHT_REQUIRE", "").split(",") else 100


@pytest.mark.parametrize("minor", EXACT)
def test_recorded_answers_are_given_exactly(minor: str) -> None:
    compared: Counter[str] = Counter()
    wrong = []
    for row in _read(minor):
        case = build_case(row["seed"], minor)
        if "outcomes" in row["answer"]:
            compared["by outcome"] += 1
            if answer_case(case, max_looks=MAX_LOOKS)["outcome"] not in row["answer"]["outcomes"]:
                wrong.append(row["seed"])
        elif not (minor == "1.36" and has_overflow(case)):
            compared["exactly"] += 1
            if _differs(case, row["answer"]):
                wrong.append(row["seed"])
    assert wrong == []
    assert compared["exactly"] >= 1_000
    assert compared["by outcome"] >= 50


@pytest.mark.parametrize("minor", LOOSE)
def test_recorded_outcomes_are_given(minor: str) -> None:
    """All but those that a known mistake of the release explains, and those are few."""
    rows = _read(minor)
    different = []
    for row in rows:
        case = build_case(row["seed"], minor)
        outcome = answer_case(case, max_looks=MAX_LOOKS)["outcome"]
        if outcome not in row["answer"].get("outcomes", [row["answer"].get("outcome")]):
            different.append((row["seed"], list_deviations(case)))
    assert [seed for seed, deviations in different if not deviations] == []
    assert len(different) * 100 <= 12 * len(rows)


@pytest.mark.oracle
@pytest.mark.parametrize("minor", EXACT)
def test_upstream_answers_exactly_so(minor: str, tmp_path: Path) -> None:
    program = build_upstream(minor, tmp_path)
    wrong, compared = [], Counter[str]()
    for start in range(0, COUNT, 500):
        cases = [build_case(seed, minor) for seed in range(start, min(start + 500, COUNT))]
        for case, answer in zip(cases, ask_upstream(program, cases, TIMEOUT), strict=True):
            if minor == "1.36" and has_overflow(case):
                compared["left out: overflow"] += 1
            elif answer["channel"] == "stable":
                compared["by outcome"] += 1
                if _differs_in_chance(case, answer, program):
                    wrong.append(case["id"])
            else:
                compared["exactly"] += 1
                if _differs(case, answer):
                    wrong.append(case["id"])
    print(f"{minor}: {dict(compared)}; different: {wrong}")
    assert wrong == []
    assert compared["exactly"] > COUNT / 2


@pytest.mark.oracle
@pytest.mark.parametrize("minor", LOOSE)
def test_upstream_agrees_on_outcomes(minor: str, tmp_path: Path) -> None:
    program = build_upstream(minor, tmp_path)
    different = 0
    for start in range(0, COUNT, 500):
        cases = [_order_slices(build_case(seed, minor)) for seed in range(start, min(start + 500, COUNT))]
        for case, answer in zip(cases, ask_upstream(program, cases, "-repeat=5", TIMEOUT), strict=True):
            outcomes = {run["outcome"] for run in answer["runs"]}
            ours = answer_case(case, max_looks=MAX_LOOKS)["outcome"]
            if ours not in outcomes and not outcomes & {"timeout", "panic"} and ours != "timeout":
                assert list_deviations(case), case["id"]
                different += 1
    assert different * 100 <= 5 * COUNT
    print(
        f"{minor}: {different} of {COUNT} differ, all of them where the release is known to be wrong or chance decides"
    )


def _differs(case: Json, answer: Json) -> bool:
    ours = answer_case(case, max_looks=MAX_LOOKS)
    theirs = normalise(answer)
    if answer["outcome"] == "timeout":
        return False
    if ours["outcome"] == "timeout":
        return (answer.get("steps") or 0) < LONG
    if ours["outcome"] == theirs["outcome"] == "error":
        return False
    return ours != theirs


def _differs_in_chance(case: Json, answer: Json, program: Path) -> bool:
    """Whether upstream never answers as we do, in so many runs that no order of pools is likely to be missing.

    That implementation takes a pool's slices as they come, which in a cluster is in any order: here as we take them.
    It doesn't know what came with shares of devices, and with its gates no server stores that: here it is gone.
    """
    case = {**case, "slices": [_drop_shares(one) for one in case["slices"]]}
    ours = answer_case(case, max_looks=MAX_LOOKS)["outcome"]
    if ours in (answer["outcome"], "timeout") or answer["outcome"] == "timeout":
        return False
    (answer,) = ask_upstream(program, [case], TIMEOUT)
    if ours == answer["outcome"]:
        return False
    (again,) = ask_upstream(program, [_order_slices(case)], "-repeat=60", TIMEOUT)
    return ours not in {run["outcome"] for run in again["runs"]}


def _order_slices(case: Json) -> Json:
    """A case with its slices as we take them. These releases take them as they come, in a cluster in any order."""
    return {**case, "slices": sorted(case["slices"], key=lambda one: one["metadata"]["name"])}


def _drop_shares(one: Json) -> Json:
    later = ("allowMultipleAllocations", "bindsToNode")
    devices = [
        {key: value for key, value in device.items() if key not in later} for device in one["spec"].get("devices", [])
    ]
    return {**one, "spec": {**one["spec"], **({"devices": devices} if devices else {})}}


def _read(minor: str) -> list[Json]:
    return [
        json.loads(line) for line in (DATA / f"allocator-vectors-{minor}.jsonl").read_text("utf-8").splitlines()[1:]
    ]
