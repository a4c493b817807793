"""How workloads replace their replicas, defaults filled in, and how many replicas that comes to."""

from __future__ import annotations

import pytest

from given_objects import read, refusal
from poolwright.allocation.rolling import ALL, NONE, Rolling, Share

QUARTER = Share(25, is_percent=True)
POD = "template: {spec: {containers: [{name: a}]}}"
CASES: dict[str, tuple[str, str, Rolling | None]] = {
    "by-default-a-quarter": ("Deployment", POD, Rolling(surge=QUARTER, unavailable=QUARTER)),
    "as-said": (
        *("Deployment", f"strategy: {{rollingUpdate: {{maxSurge: 2, maxUnavailable: 10%}}}}, {POD}"),
        Rolling(surge=Share(2), unavailable=Share(10, is_percent=True)),
    ),
    "recreated": ("Deployment", f"strategy: {{type: Recreate}}, {POD}", Rolling(surge=NONE, unavailable=ALL)),
    "one-after-the-other": ("StatefulSet", POD, Rolling(surge=NONE, unavailable=Share(1))),
    # How many its gate lets go at once makes no difference to where it stops.
    "one-whatever-it-says": (
        *("StatefulSet", f"updateStrategy: {{rollingUpdate: {{maxUnavailable: 3}}}}, {POD}"),
        Rolling(surge=NONE, unavailable=Share(1)),
    ),
    "on-delete": ("StatefulSet", f"updateStrategy: {{type: OnDelete}}, {POD}", None),
    "groups-as-said": (
        "LeaderWorkerSet",
        "rolloutStrategy: {rollingUpdateConfiguration: {maxSurge: 50%, maxUnavailable: 0}}, "
        "leaderWorkerTemplate: {size: 1, workerTemplate: {spec: {containers: [{name: a}]}}}",
        Rolling(surge=Share(50, is_percent=True), unavailable=NONE, waits_for_all=True),
    ),
    "a-daemon-set-goes-by-nodes": ("DaemonSet", POD, None),
    "a-job-does-not-roll": ("Job", POD, None),
    "a-replica-set-replaces-no-pods": ("ReplicaSet", POD, None),
}
APIS = {"LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1", "Job": "batch/v1"}


@pytest.mark.parametrize(("kind", "spec", "rolling"), CASES.values(), ids=CASES)
def test_rolling(kind: str, spec: str, rolling: Rolling | None) -> None:
    assert read(write(kind, spec)).workloads[0].value.rolling == rolling


def write(kind: str, spec: str) -> str:
    return f"apiVersion: {APIS.get(kind, 'apps/v1')}\nkind: {kind}\nmetadata: {{name: w}}\nspec: {{{spec}}}\n"


COUNTS: dict[str, tuple[Rolling, int, tuple[int, int]]] = {
    "up-and-down": (Rolling(surge=QUARTER, unavailable=QUARTER), 5, (2, 1)),
    "nothing-away-beside-a-surge": (Rolling(surge=QUARTER, unavailable=QUARTER), 3, (1, 0)),
    "one-away-where-both-are-zero": (Rolling(surge=NONE, unavailable=QUARTER), 3, (0, 1)),
    "no-more-than-there-are": (Rolling(surge=Share(9), unavailable=Share(9)), 2, (2, 2)),
    "no-replicas": (Rolling(surge=Share(1), unavailable=Share(1)), 0, (0, 0)),
    "all": (Rolling(surge=NONE, unavailable=ALL), 3, (0, 3)),
}


@pytest.mark.parametrize(("rolling", "replicas", "counts"), COUNTS.values(), ids=COUNTS)
def test_counts(rolling: Rolling, replicas: int, counts: tuple[int, int]) -> None:
    assert rolling.count(replicas) == counts


@pytest.mark.parametrize("value", ["-1", "true", "1.5", "'2'", "'-5%'", "'%'", "[1]", f"'{'9' * 30}%'", str(2**31)])
def test_what_is_neither_a_number_nor_a_percentage(value: str) -> None:
    said = refusal(write("Deployment", f"strategy: {{rollingUpdate: {{maxSurge: {value}}}}}, {POD}"))
    assert "spec.strategy.rollingUpdate.maxSurge is neither a whole number of at least 0 nor a percentage" in said
