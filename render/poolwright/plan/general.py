"""Verdicts where pods take several devices, shares or partitions: proofs from both sides, never a guess."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from poolwright.plan.context import Context
from poolwright.plan.exact import Part
from poolwright.plan.verdict import Count, Verdict

MAX_STEPS: Final = 200_000  # states that an exact search visits


def judge_mixed(context: Context, members: Sequence[int]) -> Part:
    """What can be proven of workloads that compete with no other ones."""
    verdicts = {}
    for at in members:
        workload = context.demand.workloads[at]
        verdicts[at] = Verdict(
            workload=workload.title,
            word="undecided",
            replicas=workload.replicas,
            always=Count(0, workload.replicas),
            at_best=Count(0, workload.replicas),
            method="bounds and witnesses",
            lands_on=context.list_landings(at),
            reasons=("not yet decided by any method here",),
        )
    return Part(verdicts=verdicts, shortfall=Count(0, sum(context.demand.workloads[at].replicas for at in members)))
