"""Why no node serves a workload even with nobody else there: the allocator's own reasons, in clause terms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from poolwright.allocation.placing import Placer, find_bar
from poolwright.allocation.reasons.explain import explain
from poolwright.allocation.reasons.reason import Reason
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import Node
from poolwright.plan.demand import Demand, build_replica
from poolwright.plan.report.words import verb_of
from poolwright.plan.sources import ReasonSource, list_places
from poolwright.plan.supply import Supply, count_requests, name_resource, say_amount
from poolwright.plan.verdict import Verdict

MAX_LINES: Final = 4  # of a workload; `allocate` lists all of them


def explain_nowhere(demand: Demand, verdict: Verdict) -> Verdict:
    """A verdict with the reasons why not a single replica fits, if none does.

    demand: that it is about. Of a replica group the first pod is looked at that no node can serve.
    """
    if verdict.word != "unsatisfied" or verdict.at_best.most:
        return verdict
    workload = next(one for one in demand.workloads if one.title == verdict.workload)
    for pod in build_replica(workload, demand.workloads.index(workload), 0).pods:
        small, large = _split_nodes(demand, pod)
        if small and not any(find_bar(pod, node) is None for node in large):
            said = tuple(_say_small(demand, pod, small, "no node that is open to it has more"))
            return replace(verdict, reasons=said)
        reasons = _list_reasons(demand, pod, large)
        if reasons:
            few = f"{len(small)} of the nodes that are open to it {verb_of(len(small), 'have')} no more"
            said = tuple(_say_small(demand, pod, small, few))
            return _add_reasons(demand, pod, replace(verdict, reasons=(*verdict.reasons, *said)), reasons)
    return verdict


def _add_reasons(demand: Demand, pod: Subject, verdict: Verdict, reasons: Sequence[Reason]) -> Verdict:
    nodes = {node.name: node for node in demand.nodes}
    found = [(one.line, list_places(demand.sources, verdict.workload, pod, one, nodes)) for one in reasons]
    sources = [ReasonSource(reason=line, places=places) for line, places in found if places]
    return replace(
        verdict,
        reasons=(*verdict.reasons, *(line for line, _ in found)),
        sources=(*verdict.sources, *sources),
    )


def _list_reasons(demand: Demand, pod: Subject, nodes: Sequence[Node]) -> tuple[Reason, ...]:
    """The allocator's reasons on nodes that are large enough; none: one of them can serve the pod."""
    placer = Placer(demand.build_allocator(), nodes, demand.held)
    placement = placer.try_place(pod)
    return () if placement.is_placed else explain(placer, placement)[:MAX_LINES]


def _split_nodes(demand: Demand, pod: Subject) -> tuple[dict[str, str], list[Node]]:
    """The nodes that are open to a pod but too small for it, by what they have too little of; and all others."""
    supply, requests = Supply(demand.nodes), count_requests(pod)
    lacks = {node.name: supply.find_lack(node.name, requests, {}) for node in demand.nodes if not find_bar(pod, node)}
    small = {name: lack for name, lack in lacks.items() if lack is not None}
    return small, [node for node in demand.nodes if node.name not in small]


def _say_small(demand: Demand, pod: Subject, small: Mapping[str, str], who: str) -> Iterator[str]:
    """What a pod asks for, and what the nodes that are too small for it have at most."""
    supply, requests = Supply(demand.nodes), count_requests(pod)
    for resource in sorted(set(small.values())):
        most = max(supply.find(name, resource) or 0 for name, lack in small.items() if lack == resource)
        asked, there = (say_amount(resource, count) for count in (requests[resource], most))
        yield f"{name_resource(resource)}: it asks for {asked}, and {who} than {there}"
