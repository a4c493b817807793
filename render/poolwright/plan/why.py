"""Why no node serves a workload even with nobody else there: the allocator's own reasons, in clause terms."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from poolwright.allocation.placing import Placer
from poolwright.allocation.reasons.explain import explain
from poolwright.plan.demand import Demand, Workload, build_replica
from poolwright.plan.verdict import Verdict

MAX_LINES: Final = 4  # of a workload; `allocate` lists all of them


def explain_nowhere(demand: Demand, verdict: Verdict) -> Verdict:
    """A verdict with the reasons why not a single replica fits, if none does.

    demand: that it is about. Of a replica group the first pod is looked at that no node can serve.
    """
    if verdict.word != "unsatisfied" or verdict.at_best.most:
        return verdict
    workload = next(one for one in demand.workloads if one.title == verdict.workload)
    return replace(verdict, reasons=(*verdict.reasons, *_list_lines(demand, workload)))


def _list_lines(demand: Demand, workload: Workload) -> tuple[str, ...]:
    placer = Placer(demand.build_allocator(), demand.nodes, demand.held)
    for pod in build_replica(workload, demand.workloads.index(workload), 0).pods:
        placement = placer.try_place(pod)
        if not placement.is_placed:
            return tuple(reason.line for reason in explain(placer, placement)[:MAX_LINES])
    return ()
