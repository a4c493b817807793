"""Rollouts that a change starts and that may not complete."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from poolwright.changes.hardware import find_workload
from poolwright.changes.report import RolloutRisk
from poolwright.changes.side import ClusterPair
from poolwright.changes.verdicts import RULE
from poolwright.plan.what_if.rollout import judge_rollouts
from poolwright.specs.finding import Finding
from poolwright.specs.parse import PROJECT_FILE
from poolwright.specs.place import Place


def list_rollouts(pair: ClusterPair) -> Iterator[RolloutRisk]:
    """Of the workloads whose pods are replaced, those whose rollout can stick, or isn't known to complete.

    Judged with what the head asks for, as new replicas are; none of a change that restarts nothing.
    """
    if pair.after is None or not pair.restarted:
        return
    for one in judge_rollouts(pair.after.demand, pair.after.judgement, only=pair.restarted):
        if one.outcome != "completes":
            yield RolloutRisk(
                cluster=pair.name, workload=one.workload, outcome=one.outcome, why=one.why, fixes=one.fixes
            )


def check_rollouts(pair: ClusterPair, rollouts: Iterable[RolloutRisk]) -> Iterator[Finding]:
    """A warning for each."""
    for one in rollouts:
        workload = None if pair.after is None else find_workload(pair.after.demand, one.workload)
        origin = None if workload is None else workload.origin
        can = "can stick" if one.outcome == "can-stick" else "isn't known to complete"
        yield Finding(
            code="rollout-stuck",
            severity="warning",
            place=origin if isinstance(origin, Place) else Place(PROJECT_FILE),
            what=f"{pair.name}: this change replaces the pods of {one.workload}, and its rollout {can}: {one.why}",
            why="old replicas hold devices that new ones wait for, and neither goes on by itself",
            rule=RULE,
            fix="; or ".join(one.fixes) or "allow a replica to be away while it rolls, or merge when devices are free",
        )
