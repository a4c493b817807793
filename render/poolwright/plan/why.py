"""Why no node serves a workload even with nobody else there: the allocator's own reasons, in clause terms."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from poolwright.allocation.placing import Placer
from poolwright.allocation.reasons.explain import explain
from poolwright.allocation.reasons.reason import Reason
from poolwright.allocation.subject import Subject
from poolwright.plan.demand import Demand, Workload, build_replica
from poolwright.plan.sources import ReasonSource, list_places
from poolwright.plan.verdict import Verdict

MAX_LINES: Final = 4  # of a workload; `allocate` lists all of them


def explain_nowhere(demand: Demand, verdict: Verdict) -> Verdict:
    """A verdict with the reasons why not a single replica fits, if none does.

    demand: that it is about. Of a replica group the first pod is looked at that no node can serve.
    """
    if verdict.word != "unsatisfied" or verdict.at_best.most:
        return verdict
    workload = next(one for one in demand.workloads if one.title == verdict.workload)
    pod, reasons = _list_reasons(demand, workload)
    nodes = {node.name: node for node in demand.nodes}
    found = [(one.line, list_places(demand.sources, workload.title, pod, one, nodes)) for one in reasons]
    sources = [ReasonSource(reason=line, places=places) for line, places in found if places]
    return replace(
        verdict,
        reasons=(*verdict.reasons, *(line for line, _ in found)),
        sources=(*verdict.sources, *sources),
    )


def _list_reasons(demand: Demand, workload: Workload) -> tuple[Subject, tuple[Reason, ...]]:
    """The first pod that no node serves, and why."""
    placer = Placer(demand.build_allocator(), demand.nodes, demand.held)
    for pod in build_replica(workload, demand.workloads.index(workload), 0).pods:
        placement = placer.try_place(pod)
        if not placement.is_placed:
            return pod, explain(placer, placement)[:MAX_LINES]
    return workload.pods[0], ()
