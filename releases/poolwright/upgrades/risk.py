"""Which claims are at risk in each state of an upgrade, by the verdict engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge
from poolwright.plan.verdict import Judgement
from poolwright.plan.what_if.change import Change, list_changes
from poolwright.plan.what_if.loss import judge_losses
from poolwright.plan.what_if.rollout import judge_rollouts
from poolwright.specs.stack import StackSpec
from poolwright.upgrades.steps import Step

BuildDemand = Callable[[StackSpec], "Demand | str"]  # of a cluster with such a stack; a text: why it can't be judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """One node away, of those whose loss is alike."""

    names: tuple[str, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """What a step does to a cluster's claims."""

    cluster: str
    unjudged: str = ""  # why nothing is said
    after: tuple[Change, ...] = ()  # verdicts that differ once the step is done
    away: tuple[Away, ...] = ()  # while a node is drained: those that change a verdict
    stuck: tuple[str, ...] = ()  # workloads whose rollout can stick, of a step that replaces pods


def judge_steps(
    cluster: str, before: StackSpec, steps: Sequence[Step], build: BuildDemand, images: Mapping[str, str]
) -> tuple[Risk, ...]:
    """The risk of each step.

    images: the name of the serving image that a workload runs, by its title.
    build: the demand of the cluster at its peak, with the devices that the stack's drivers would publish.
    Cost:  a judgement for each state that publishes other devices, and one of every node's loss for each that drains.
    """
    start = build(before)
    if isinstance(start, str):
        return tuple(Risk(cluster=cluster, unjudged=start) for _ in steps)
    judge_state = _Judge()
    demand, judgement = start, judge_state(start)
    risks = []
    for step in steps:
        then = build(step.stack)
        if isinstance(then, str):
            risks.append(Risk(cluster=cluster, unjudged=then))
            continue
        later = judge_state(then)
        risks.append(
            Risk(
                cluster=cluster,
                after=list_changes(judgement.verdicts, later.verdicts),
                away=judge_state.lose_nodes(demand) if step.disturbance == "eachNode" else (),
                stuck=_list_stuck(then, later, images, step.move.name) if step.disturbance == "rollout" else (),
            )
        )
        demand, judgement = then, later
    return tuple(risks)


class _Judge:
    """Judges demands that differ in what devices publish; equal ones once."""

    def __init__(self) -> None:
        self._known: list[tuple[Demand, Judgement]] = []
        self._away: list[tuple[Demand, tuple[Away, ...]]] = []

    def __call__(self, demand: Demand) -> Judgement:
        for known, judgement in self._known:
            if _is_same(known, demand):
                return judgement
        judgement = judge(demand)
        self._known.append((demand, judgement))
        return judgement

    def lose_nodes(self, demand: Demand) -> tuple[Away, ...]:
        """Losses of a node that change a verdict."""
        for known, away in self._away:
            if _is_same(known, demand):
                return away
        losses = judge_losses(demand, "node", self(demand))
        found = tuple(Away(names=one.names, changes=one.changes) for one in losses if one.changes)
        self._away.append((demand, found))
        return found


def _is_same(one: Demand, other: Demand) -> bool:
    return (one.slices, one.features, one.workloads) == (other.slices, other.features, other.workloads)


def _list_stuck(demand: Demand, judgement: Judgement, images: Mapping[str, str], image: str) -> tuple[str, ...]:
    """Workloads with this image whose rollout may not complete."""
    rollouts = judge_rollouts(demand, judgement)
    return tuple(one.workload for one in rollouts if one.outcome != "completes" and images.get(one.workload) == image)
