"""Everything that a cluster's specs promise, against what is true of it: findings, in their one order."""

from __future__ import annotations

from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.demand import Demand
from poolwright.plan.promises.behavior import BehaviorJudge
from poolwright.plan.promises.headroom import check_headroom
from poolwright.plan.verdict import Judgement
from poolwright.specs.finding import Finding, sort_findings


def check_promises(
    cluster: ClusterPlan, demand: Demand, judgement: Judgement, *, with_headroom: bool = True
) -> tuple[Finding, ...]:
    """What is less than promised: verdicts, surge, headroom.

    demand:        of the cluster, every workload at its peak.
    judgement:     of it.
    with_headroom: whether losses are judged too, which takes longer than all the rest.
    Promises are about a cluster that starts empty; of another scenario nothing is said.
    """
    if demand.scenario != "fresh":
        return ()
    judge = BehaviorJudge(demand)
    numbers = {one.title: at for at, one in enumerate(demand.workloads)}
    findings: list[Finding] = []
    short: set[str] = set()
    for promise in cluster.promises:
        at = numbers.get(promise.workload)  # None: it claims no devices
        found = None if at is None else judge.check(promise, judgement.verdicts[at], at)
        if found is not None:
            findings.append(found)
            short |= {promise.unit} if found.code == "verdict-short" else set()
    if with_headroom:
        findings += check_headroom(demand, cluster.promises, cluster.tolerances, short)
    return sort_findings(findings)
