"""A plan as it is printed, and its JSON by the published schema."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

from fleet import FLEET, ROOT
from poolwright.plan.answer import say_counts
from poolwright.plan.plan_schema import plan_schema
from poolwright.plan.verdict import Count, Verdict, Word, exactly
from run_poolwright import run

COUNTS: dict[str, tuple[Word, Count, Count, str]] = {
    "always": ("always-fits", exactly(6), exactly(6), "6/6"),
    "depends": ("order-dependent", exactly(3), exactly(6), "3-6/6"),
    "none": ("unsatisfied", exactly(0), exactly(0), "at most 0/6"),
    "some": ("unsatisfied", Count(1, 2), Count(3, 4), "at most 4/6"),
    "unknown": ("undecided", Count(2, 6), Count(4, 6), "2-?/6"),
    "unknown-but-placed-once": ("undecided", Count(2, 6), exactly(6), "2-6/6"),
    "error": ("error", Count(0, 6), Count(0, 6), "?/6"),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name: str) -> None:
    word, always, best, said = COUNTS[name]
    verdict = Verdict(
        workload="chat/a", word=word, replicas=6, always=always, at_best=best, method="single-device flow"
    )
    assert say_counts(verdict) == said


def test_json_is_what_the_schema_says() -> None:
    ran = run("plan", "--project", str(FLEET), "--format", "json", folder=ROOT)
    assert ran.stderr == ""
    document = json.loads(ran.stdout)
    jsonschema_rs.validate(plan_schema(), document)
    assert [one["name"] for one in document["clusters"]] == ["east", "lab", "lab-alpha"]


def test_an_unknown_cluster() -> None:
    ran = run("plan", "--project", str(FLEET), "--cluster", "west", folder=ROOT)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr == "poolwright: --cluster: there is no such cluster; known: east, lab, lab-alpha\n"
