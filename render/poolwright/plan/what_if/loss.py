"""What the loss of a node, a device, a zone or a family of hardware changes, for all of them.

Things whose loss takes as many of each sort of device are lost alike, so one of them is judged for all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from poolwright.allocation.held import DeviceId
from poolwright.catalog.resource_slice import ResourceSlice
from poolwright.plan.demand import Demand, Workload, find_pinned
from poolwright.plan.engine import judge_context, split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.verdict import Count, Judgement, exactly
from poolwright.plan.what_if.alike import Lost, Thing, group_alike
from poolwright.plan.what_if.change import Change, list_changes
from poolwright.plan.why import explain_nowhere

OnStep = Callable[[int, int], None]
LossOf = Literal[Thing, "gates"]  # gates: all that are alpha, together


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What happens when one of some things that are alike is lost."""

    thing: LossOf
    names: tuple[str, ...]  # sorted
    devices: int  # that are lost with each
    changes: tuple[Change, ...]  # of words and counts, in the demand's order
    shortfall: Count  # of everything, after it
    notes: tuple[str, ...] = ()  # what it rests on, of gates


def judge_losses(
    demand: Demand, thing: Thing, before: Judgement | None = None, *, on_step: OnStep | None = None
) -> tuple[Loss, ...]:
    """The loss of every node, device, zone or family, those that are alike together, by the first name.

    Everyone's peak demand is judged on what is left: where survivors run at the moment doesn't matter.

    on_step: told before each judgement how many are done, and of how many.
    Cost: one judgement for all of it, and for each sort of loss one of the workloads that it touches.
    """
    context = build_context(demand, shows=False)
    return judge_losses_of(context, thing, before or judge_context(context), on_step=on_step)


def judge_losses_of(
    context: Context, thing: Thing, whole: Judgement, *, on_step: OnStep | None = None
) -> tuple[Loss, ...]:
    """As judge_losses, for shapes that are known; whole: the judgement of the context's demand."""
    judge_loss = LossJudge(context, whole)
    found = []
    groups = group_alike(context, thing, goes_by_nodes=goes_by_nodes(whole))
    for done, one in enumerate(groups):
        if on_step is not None:
            on_step(done, len(groups))
        changes, shortfall = judge_loss(one.lost)
        found.append(
            Loss(thing=thing, names=one.names, devices=len(one.lost.devices), changes=changes, shortfall=shortfall)
        )
    return tuple(found)


def goes_by_nodes(judgement: Judgement) -> bool:
    """Whether some node may run out of something beside devices. If none may, none does with fewer pods or devices."""
    return any(one.short for one in judgement.resources)


class LossJudge:
    """Judges what is left, of the parts of the demand that a loss touches."""

    def __init__(self, context: Context, whole: Judgement) -> None:
        self._context = context
        self._whole = whole
        # Where nodes may run out of something else, workloads stand in each other's way without any device in common.
        coupled = goes_by_nodes(whole)
        self._parts = [tuple(range(len(context.shapes)))] if coupled else [tuple(part) for part in split(context)]
        self._nodes_of: dict[tuple[str, str], set[str]] = {}  # by pool
        for device, nodes in context.acceptance.nodes_of.items():
            self._nodes_of.setdefault(device[:2], set()).update(nodes)
        self._intact: dict[tuple[int, ...], Count] = {}  # by touched workloads their shortfall before
        options = [[one for shape in own for several in shape.options for one in several] for own in context.shapes]
        # By workload what its requests take, those for administration too.
        self._reached = [frozenset[DeviceId]().union(*(one.accepted for one in own)) for own in options]
        # Who wants all devices of a node, or ends with an error there, may be better off without some of them.
        fails = any(shape.error or shape.risk for own in context.shapes for shape in own)
        self._may_help = fails or any(one.count is None for own in options for one in own)

    def __call__(self, lost: Lost) -> tuple[tuple[Change, ...], Count]:
        """What changes, and the shortfall of everything."""
        touched = tuple(sorted(at for part in self._parts if self._is_touched(part, lost) for at in part))
        if not touched:
            return (), self._whole.shortfall
        demand = self._context.demand
        own = replace(demand, workloads=tuple(demand.workloads[at] for at in touched))
        if touched not in self._intact:
            is_whole = self._whole.shortfall == exactly(0)  # then no part of it is short
            intact = self._whole if is_whole else judge_context(build_context(own, shows=False, like=self._context))
            self._intact[touched] = intact.shortfall
        left = lose(own, lost)
        after = judge_context(
            build_context(left, shows=False, like=self._context, touched=lost.nodes.union(self._list_nodes(lost)))
        )
        whole, before = self._whole.shortfall, self._intact[touched]
        # Parts that aren't touched keep theirs.
        shortfall = Count(
            whole.least - before.least + after.shortfall.least, whole.most - before.most + after.shortfall.most
        )
        changes = list_changes((self._whole.verdicts[at] for at in touched), after.verdicts)
        return tuple(replace(one, after=explain_nowhere(left, one.after)) for one in changes), shortfall

    def _list_nodes(self, lost: Lost) -> Iterator[str]:
        """The nodes of pools of which devices are lost."""
        for pool in {device[:2] for device in lost.devices}:
            yield from self._nodes_of[pool]

    def touches(self, lost: Lost, workloads: Set[int]) -> bool:
        """Whether one of the workloads, or somebody they compete with, may feel a loss."""
        return any(not workloads.isdisjoint(part) and self._is_touched(part, lost) for part in self._parts)

    def _is_touched(self, part: Sequence[int], lost: Lost) -> bool:
        shapes = [shape for at in part for shape in self._context.shapes[at]]
        if self._may_help:
            return True
        nodes = any(not lost.nodes.isdisjoint(shape.on_node) for shape in shapes)
        return nodes or any(not lost.devices.isdisjoint(self._reached[at]) for at in part)


def lose(demand: Demand, lost: Lost) -> Demand:
    """The same demand on what is left; of a DaemonSet there are no pods on nodes that are lost."""
    return replace(
        demand,
        workloads=tuple(_lose_pods(one, lost) if one.is_per_node else one for one in demand.workloads),
        nodes=tuple(node for node in demand.nodes if node.name not in lost.nodes),
        slices=tuple(_drop(one, lost.devices) for one in demand.slices),
    )


def _lose_pods(workload: Workload, lost: Lost) -> Workload:
    pods = tuple(pod for pod in workload.pods if find_pinned(pod) not in lost.nodes)
    return replace(workload, pods=pods) if pods else replace(workload, replicas=0)


def _drop(one: ResourceSlice, lost: Set[DeviceId]) -> ResourceSlice:
    left = tuple(device for device in one.devices if (device.driver, device.pool, device.name) not in lost)
    return one if len(left) == len(one.devices) else replace(one, devices=left)
