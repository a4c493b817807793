"""Where what stands in a pod's way is written: the lines of specs behind clauses, counts, constraints and zones.

What no spec says has no place here: objects of teams' own components, and what those changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from poolwright.allocation.node_taints import find_untolerated
from poolwright.allocation.reasons.reason import Part, Reason
from poolwright.allocation.subject import Subject
from poolwright.catalog.inventory import ZONE_LABEL, Node
from poolwright.specs.place import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSources:
    """Where specs say what the pods of a workload ask for."""

    zone: str | None = None  # that they are placed in
    zone_place: Place | None = None
    counts: Mapping[str, tuple[int, Place]] = field(default_factory=dict)  # by request: how many devices
    clauses: Mapping[tuple[str, str], Place] = field(default_factory=dict)  # by request, or alternative, and clause
    matches: Mapping[str, Place] = field(default_factory=dict)  # by attribute: who wants it to be the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the specs and captures of a cluster say what is judged."""

    classes: Mapping[tuple[str, str], Place] = field(default_factory=dict)  # by class and clause, in the normal form
    workloads: Mapping[str, WorkloadSources] = field(default_factory=dict)  # by namespace and name
    nodes: Mapping[str, Place] = field(default_factory=dict)  # the captures of those that are captured


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonSource:
    """Where a reason is written."""

    reason: str
    places: tuple[Place, ...]  # at least one, in the order in which the reason names what they say


def list_places(
    sources: Sources, title: str, pod: Subject, reason: Reason, nodes: Mapping[str, Node]
) -> tuple[Place, ...]:
    """The places behind a reason why a pod isn't served, each once; none where no spec says it.

    title: of its workload.
    nodes: of the cluster, by name.
    """
    own = sources.workloads.get(title, WorkloadSources())
    match reason.kind:
        case "devices":
            found = list(_list_devices(sources, own, reason))
        case "node":
            found = list(_list_bars(sources, own, pod, [nodes[name] for name in reason.nodes]))
        case "constraint":
            found = [place for name, place in own.matches.items() if reason.line.startswith(f"matchAttribute {name} ")]
        case "together":
            found = list(_list_counts(own, reason))
        case _:
            found = []
    return tuple(dict.fromkeys(found))


def _list_devices(sources: Sources, own: WorkloadSources, reason: Reason) -> Iterator[Place]:
    """Of the clauses that keep devices away; of the count, where some are left and not enough. As the line has them."""
    if reason.left and (reason.asked is None or (reason.most or 0) >= reason.asked):
        return  # of this request there are enough
    if reason.left:
        yield from _list_counts(own, reason)
    is_foreign = not reason.left and all(part.is_foreign for part in reason.parts)
    for part in reason.parts:
        if part.kind == "clause" and part.is_foreign == is_foreign:
            yield from _find_clause(sources, own, part)


def _find_clause(sources: Sources, own: WorkloadSources, part: Part) -> Iterator[Place]:
    kind, _, name = part.owner.partition(" ")
    place = (sources.classes if kind == "class" else own.clauses).get((name, part.what))
    if place is not None:
        yield place


def _list_counts(own: WorkloadSources, reason: Reason) -> Iterator[Place]:
    count, place = own.counts.get(reason.request.partition("/")[0], (None, None))
    if place is not None and count == reason.asked:
        yield place


def _list_bars(sources: Sources, own: WorkloadSources, pod: Subject, nodes: list[Node]) -> Iterator[Place]:
    """Of the zone, if all of the nodes are in another one; of the captures, if it is their taints."""
    zone = pod.node_selector.get(ZONE_LABEL)
    if zone is not None and all(node.zone != zone for node in nodes):
        if zone == own.zone and own.zone_place is not None:
            yield own.zone_place
    elif all(node.unschedulable or find_untolerated(node, pod.tolerations) for node in nodes):
        yield from (sources.nodes[node.name] for node in nodes if node.name in sources.nodes)
