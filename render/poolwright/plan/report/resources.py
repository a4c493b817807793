"""What is said of nodes' CPU, memory and so on: proven not to run out, where it may, or not known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.plan.demand import Demand
from poolwright.plan.report.words import count_of
from poolwright.plan.supply import MAX_SHORT, PODS, name_resource, say_total
from poolwright.plan.verdict import ResourceBound

_PODS: Final = name_resource(PODS)
_USUAL: Final = ("cpu", "memory", "ephemeral-storage")  # that are named where no pod asks for them


def list_discharged(resources: Sequence[ResourceBound], demand: Demand) -> Iterator[str]:
    """What is proven not to decide, with figures."""
    yield from () if _list_doubts(demand) else _list_figures(resources)
    asked = {one.resource for one in resources}
    unasked = [name_resource(one) for one in _USUAL if one not in asked]
    if not any(one.startswith("hugepages-") for one in asked):
        unasked.append("huge pages")
    if unasked:
        yield f"no pod asks for {_join(unasked, 'or')}"


def _list_figures(resources: Sequence[ResourceBound]) -> Iterator[str]:
    for one in resources:
        if one.fullest is not None and not one.short:
            yield f"{name_resource(one.resource)}: at most {say_total(one.resource, one.fullest)} {_say_where(one)}"


def _list_doubts(demand: Demand) -> list[str]:
    """What else takes of nodes, so that figures prove nothing."""
    doubts = []
    if demand.held or demand.scenario == "live":
        doubts.append("the pods that run")
    if demand.features.node_allocatable:
        doubts.append("devices (DRANodeAllocatableResources)")
    return doubts


def list_short(resources: Sequence[ResourceBound]) -> Iterator[str]:
    """What nodes may run out of, which verdicts go by."""
    for one in resources:
        if one.short:
            nodes = ", ".join(total.node for total in one.short[:MAX_SHORT])
            more = f" and {len(one.short) - MAX_SHORT} more" if len(one.short) > MAX_SHORT else ""
            yield f"{name_resource(one.resource)} of nodes, which may run out on {nodes}{more}"


def list_counted(demand: Demand) -> Iterator[str]:
    """What else was counted."""
    titles = dict.fromkeys(one.title for one in demand.bystanders)
    if titles:
        yield f"what {count_of(len(titles), 'workload')} without devices may take of nodes at their peak"


def list_unknown(resources: Sequence[ResourceBound]) -> Iterator[str]:
    """What nodes are taken to have enough of, because they don't say how much they have."""
    groups: dict[int, list[str]] = {}
    for one in resources:
        if one.unknown:
            groups.setdefault(one.unknown if one.known else 0, []).append(name_resource(one.resource))
    for count, names in groups.items():
        suffice = f"{_join(names, 'and')} {'suffice' if len(names) > 1 or names[0] == _PODS else 'suffices'}"
        if count:
            yield f"{suffice} on {count_of(count, 'node')} whose allocatable is not known"
        else:
            yield f"{suffice} on the nodes that pods may go to: their allocatable is not known"


def list_beside(demand: Demand) -> Iterator[str]:
    """What else takes of nodes and isn't known, or is known in part."""
    doubts = _list_doubts(demand)
    if doubts:
        yield f"what {_join(doubts, 'and')} take of nodes, which is not looked at, leaves room for the pods"
    reserved = [one.title for one in demand.workloads if one.is_reservation]
    if reserved:
        yield f"the pods that use what is reserved ({', '.join(reserved)}) ask for devices alone"
    beside = f": daemons, system pods, {', '.join(demand.unread)}" if demand.unread else ": daemons, system pods"
    yield f"pods that are not among these objects take no more than what is left of nodes{beside}"


def _say_where(one: ResourceBound) -> str:
    if one.fullest is None:
        raise AssertionError(f"{one.resource}: asked for a bound that there is")
    if one.unknown:
        return f"on {count_of(one.known, 'node')} whose allocatable is known ({one.fullest.node})"
    return f"on any node ({one.fullest.node})"


def _join(names: Sequence[str], last: str) -> str:
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]
