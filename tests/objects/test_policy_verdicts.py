"""What Kubernetes itself says of requests under the rendered policies is what the policies are for.

The answers are recorded; policy_verdicts.py says how, and what they are of.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from policy_cases import CASES
from policy_verdicts import (
    COMMAND,
    KINDS,
    MODULE,
    ask_upstream,
    build_clusters,
    build_expected,
    build_question,
    build_rendered_cases,
    build_rows,
    digest,
    digest_policies,
    list_cases,
    read_module_version,
    read_recorded,
)

HEADER, TYPES, ROWS = read_recorded()
AGAIN = f"record what Kubernetes says now, with Go: {COMMAND}"


def test_the_recording_is_of_these_policies() -> None:
    assert HEADER["by"] == f"{MODULE} {read_module_version()}", AGAIN
    assert HEADER["policies"] == digest_policies(), (
        f"policies, bindings, classes or namespaces of the example aren't those that were recorded; {AGAIN}"
    )


def test_the_recording_is_of_these_cases() -> None:
    assert list(ROWS) == list(list_cases()), AGAIN
    digests = {name: digest(build_question(name, case)) for name, case in CASES.items()}
    assert {name: row["case"] for name, row in ROWS.items() if "case" in row} == digests, AGAIN


@pytest.mark.parametrize("name", CASES)
def test_kubernetes_says_what_the_policies_are_for(name: str) -> None:
    assert ROWS[name]["answer"] == build_expected(CASES[name])


def test_kubernetes_passes_what_is_rendered() -> None:
    """But for the one unit without a price, whose devices several pods share."""
    cases = build_rendered_cases()
    different = [name for name, case in cases.items() if ROWS[name]["answer"] != build_expected(case)]
    assert different == []
    warned = [name for name in cases if ROWS[name]["answer"] != {"decision": "allowed"}]
    assert warned == ["lab-alpha/guard-1b7/Deployment", "lab-alpha/guard-1b7/Deployment/update"]


def test_there_are_cases_of_every_outcome() -> None:
    def describe(name: str) -> str:
        answer = ROWS[name]["answer"]
        return "warned" if answer["decision"] == "allowed" and "warnings" in answer else answer["decision"]

    assert Counter(map(describe, CASES)) == {"allowed": 47, "warned": 46, "denied": 17}
    assert len(build_rendered_cases()) > 40


def test_the_type_checker_has_no_warning() -> None:
    """Of an expression, a message or a condition, for any kind that a policy matches."""
    policies = [(cluster, policy) for cluster, held in sorted(build_clusters().items()) for policy in held["policies"]]
    assert [(line["cluster"], line["policy"]) for line in TYPES] == [
        (cluster, policy["metadata"]["name"]) for cluster, policy in policies
    ]
    assert [line["warnings"] for line in TYPES] == [{}] * len(TYPES)
    seen = {kind for line in TYPES for kind in line["kinds"]}
    assert seen == {kind.replace(" ", "/") for kind in KINDS} | {"leaderworkerset.x-k8s.io/v1/LeaderWorkerSet"}


@pytest.mark.oracle
def test_upstream_still_answers_as_recorded(tmp_path: Path) -> None:
    types, answers = ask_upstream(tmp_path)
    assert types == TYPES
    assert build_rows(answers) == ROWS
