"""What a plan says of each cluster, and what that rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from poolwright.allocation.answer import Assumptions
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.demand import Demand
from poolwright.plan.live.answer import LiveAnswer, list_assumed_live, list_modelled_live
from poolwright.plan.pricing.priced import PricedClass
from poolwright.plan.report.resources import list_beside, list_counted, list_discharged, list_short, list_unknown
from poolwright.plan.report.words import count_of, verb_of
from poolwright.plan.slots import ORDER, Slot
from poolwright.plan.verdict import Judgement, Verdict
from poolwright.plan.what_if.additions import Growth, list_added
from poolwright.plan.what_if.clearing import Clearing
from poolwright.plan.what_if.gang import GangDeadlock
from poolwright.plan.what_if.loss import Loss, LossOf
from poolwright.plan.what_if.mend import Mends
from poolwright.plan.what_if.rollout import Rollout
from poolwright.plan.what_if.room import Room
from poolwright.specs.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAnswer:
    """The verdicts of one cluster."""

    cluster: ClusterPlan
    demand: Demand
    judgement: Judgement
    asked: tuple[LossOf, ...] = ()  # of which the loss was asked for
    losses: tuple[Loss, ...] = ()
    live: LiveAnswer | None = None  # what runs, in the scenario `live`; its demand is what is still to be placed
    rollouts: tuple[Rollout, ...] = ()
    deadlocks: tuple[GangDeadlock, ...] = ()
    growth: Growth | None = None  # what was added to the demand, and what that changes
    clearings: tuple[Clearing, ...] = ()  # what would clear each shortfall
    room: tuple[Room, ...] = ()  # for more replicas, if it was asked for
    prices: tuple[PricedClass, ...] | None = None  # of each placement on each of its classes; None: not of what runs
    findings: tuple[Finding, ...] = ()  # what is less than specs promise, sorted
    slots: tuple[Slot, ...] = ()
    mends: Mends = field(default_factory=Mends)

    @property
    def assumptions(self) -> Assumptions:
        """What the verdicts rest on."""
        resources = self.judgement.resources
        return Assumptions(
            modelled=(
                *_list_modelled(self.cluster, self.demand),
                *list_added(self.growth),
                *list_counted(self.demand),
                *list_short(resources),
                *list_modelled_live(self.live),
            ),
            discharged=tuple(list_discharged(resources, self.demand)),
            assumed=(
                *list_unknown(resources),
                *list_beside(self.demand),
                *_list_assumed(self.cluster, self.demand, self.asked),
                *list_assumed_live(self.live),
                *([ORDER] if self.slots else ()),
                *self.mends.assumed,
            ),
        )

    @property
    def exit_code(self) -> int:
        """0: nothing is certain to be left out; 1: something is, or a promise isn't kept; 2: something isn't known.

        A workload that may be left out in some order is a warning: others have to be there first. What a loss would
        change is for the reader to weigh, and so is a rollout that can stick.
        """
        verdicts = [one for one in self.judgement.verdicts if not _is_reserved(self.demand, one)]
        if any(one.severity == "error" for one in self.findings):
            return 1
        if self.judgement.shortfall.least > 0 or any(one.word in ("unsatisfied", "error") for one in verdicts):
            return 1
        return 2 if any(one.word == "undecided" and one.at_best.least < one.replicas for one in verdicts) else 0


def _is_reserved(demand: Demand, verdict: Verdict) -> bool:
    return any(one.title == verdict.workload and one.is_reservation for one in demand.workloads)


def _list_modelled(cluster: ClusterPlan, demand: Demand) -> Iterator[str]:
    yield f"Kubernetes {cluster.minor} with its {cluster.features.channel} allocator"
    yield f"nodes: {len(cluster.nodes) - cluster.planned_nodes} captured, {cluster.planned_nodes} planned"
    yield "each workload at its peak: its most replicas and its surge"
    if cluster.reservations:
        count = sum(one.count for one in cluster.reservations)
        rest = "" if demand.scenario == "fresh" else ", less what others have of them"
        yield f"{_say_reserved(count)} on any node and device of their class{rest}"
    yield "node selectors, required node affinity, node taints, cordoned nodes, device taints"
    if cluster.tolerances and demand.scenario == "fresh":
        yield "headroom: each workload at its minimum"
    if demand.held:
        held = len(demand.held)
        yield f"what {count_of(held, 'claim')} {verb_of(held, 'hold')}, none of which departs"


def _say_reserved(count: int) -> str:
    return (
        "1 reserved device, as a claim of its own" if count == 1 else f"{count} reserved devices, as claims of one each"
    )


def _list_assumed(cluster: ClusterPlan, demand: Demand, asked: Sequence[LossOf]) -> Iterator[str]:
    yield "volumes and ports of nodes leave room for the pods"
    others = ", what holds devices and what waits for them" if demand.scenario == "live" else ""
    yield f"nothing but these workloads{others} uses the devices; drivers are healthy and slices current"
    yield "nothing is preempted, nodes are not added, admission and resource quotas let the pods in and add no requests"
    if cluster.planned_nodes:
        yield "planned nodes publish what the facts say of such hardware"
    zoneless = sum(node.zone is None for node in cluster.nodes)
    if "zone" in asked and zoneless:
        yield f"no loss of a zone takes the nodes without a zone label: {zoneless} of {len(cluster.nodes)}"
    if "device" in asked or (demand.scenario == "fresh" and any(one.thing == "device" for one in cluster.tolerances)):
        yield (
            "a GPU is lost with its partitions, as addresses, names or counters tell them; the other devices of its "
            "node stay"
        )
    if demand.overlapping:
        yield f"one job at a time, though concurrencyPolicy Allow lets more run: {', '.join(demand.overlapping)}"
    for one in demand.workloads:
        if one.unjudged:
            yield f"{one.title} has {', '.join(one.unjudged)}, which are not looked at"
