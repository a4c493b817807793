"""Node selectors and tolerations against upstream's own code, on many that a generator makes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from needs import needs_go_program
from poolwright.allocation.claim import Toleration
from poolwright.allocation.node_selector import NodeSelectorError, matches_affinity, matches_node_selector
from poolwright.allocation.node_taints import find_untolerated
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import Taint

ORACLE = Path(__file__).parents[1] / "oracle" / "nodes"
KEYS = ("zone", "gpus", "example.com/rack", "Example.com/x", "a b", "", "x" * 64, "a/b/c", "-a", "metadata.name")
VALUES = ("east", "8", "-3", "+8", "08", "", "a b", "x" * 63, "x" * 64, "9223372036854775807", "9223372036854775808")
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", "")
EFFECTS = ("NoSchedule", "NoExecute")
COUNT = 20_000


def test_the_cases_have_every_answer() -> None:
    """Without Go too it is known that they do, and that none of them is a traceback."""
    answers = [answer(case) for case in build_cases(200)]
    assert {one["selector"] for one in answers} == {"true", "false", "error"}
    assert {one["tolerates"] for one in answers} == {True, False}


@pytest.mark.oracle
def test_upstream_gives_the_same_answers(tmp_path: Path) -> None:
    program = needs_go_program(ORACLE, tmp_path / "oracle")
    cases = list(build_cases(COUNT))
    asked = "".join(json.dumps(case) + "\n" for case in cases)
    told = subprocess.run([program], input=asked, check=True, capture_output=True, text=True).stdout
    wrong = [
        (case, json.loads(line), answer(case))
        for case, line in zip(cases, told.splitlines(), strict=True)
        if json.loads(line) != answer(case)
    ]
    assert wrong[:5] == []


def build_cases(count: int) -> Iterator[dict[str, Any]]:
    random = Random(20261130)
    for _ in range(count):
        taint = {"key": random.choice("ab"), "value": random.choice(VALUES), "effect": random.choice(EFFECTS)}
        toleration = {
            "key": random.choice(("a", "b", "")),
            "operator": random.choice(("", "Equal", "Exists", "Lt", "Gt", "Near")),
            "value": random.choice((*VALUES, taint["value"])),
            "effect": random.choice(("", *EFFECTS)),
        }
        yield {
            "labels": {key: random.choice(VALUES) for key in random.sample(KEYS[:4], random.randrange(4))},
            "selector": {"nodeSelectorTerms": [build_term(random) for _ in range(random.randrange(4))]},
            "taint": taint,
            "toleration": toleration,
            "comparisons": random.random() < 0.5,
        }


def build_term(random: Random) -> dict[str, Any]:
    term: dict[str, Any] = {}
    if random.random() < 0.8:
        term["matchExpressions"] = [build_requirement(random) for _ in range(random.randrange(3))]
    if random.random() < 0.3:
        term["matchFields"] = [
            {
                "key": random.choice(("metadata.name", "metadata.name", "metadata.uid")),
                "operator": random.choice(("In", "NotIn", "In", "NotIn", "Exists")),
                "values": random.sample(("a", "b", ""), random.choice((1, 1, 1, 0, 2))),
            }
        ]
    return term


def build_requirement(random: Random) -> dict[str, Any]:
    """One that can be read more often than not: two of them in a term would else hide each other."""
    is_right = random.random() < 0.7
    operator = random.choice(OPERATORS[:6] if is_right else OPERATORS)
    most = {"Exists": 0, "DoesNotExist": 0, "Gt": 1, "Lt": 1}.get(operator)
    count = most if is_right and most is not None else random.choice((1, 2) if is_right else (0, 1, 2))
    values = ("8", "-3", "9", "7") if is_right and operator in ("Gt", "Lt") else VALUES[:6] if is_right else VALUES
    return {
        "key": random.choice(KEYS[:3] if is_right else KEYS),
        "operator": operator,
        "values": random.sample(values, count),
    }


def answer(case: dict[str, Any]) -> dict[str, Any]:
    node = Node(name="a", labels=case["labels"])
    tainted = Node(name="a", taints=(Taint(**case["taint"]),))
    untolerated = find_untolerated(tainted, [Toleration(**case["toleration"])], comparisons=case["comparisons"])
    answers: dict[str, Any] = {"tolerates": untolerated is None}
    for name in ("selector", "affinity"):
        try:
            matches = (
                matches_node_selector(case["selector"], node)
                if name == "selector"
                else matches_affinity({}, case["selector"], node)
            )
            answers[name] = str(matches).lower()
        except NodeSelectorError:
            answers[name] = "error"
    return answers
