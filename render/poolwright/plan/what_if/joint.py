"""What the loss of several things at once, whichever they are, leaves for some workloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Final

from poolwright.plan.methods.context import Context
from poolwright.plan.verdict import Count, Judgement, Verdict
from poolwright.plan.what_if.alike import LossSorter, Lost
from poolwright.plan.what_if.loss import LossJudge, goes_by_nodes

MAX_CASES: Final = 128  # losses that differ and are judged


@dataclass(frozen=True, slots=True, kw_only=True)
class JointLoss:
    """Some things are lost, or others that come to the same."""

    names: tuple[str, ...]  # sorted; none: nothing is lost
    lost: Lost
    verdicts: Mapping[int, Verdict]  # of the workloads that were asked for, on what is left
    shortfall: Count  # of everything


@dataclass(frozen=True, slots=True, kw_only=True)
class JointLosses:
    """The losses of up to so many things."""

    cases: tuple[JointLoss, ...]  # those of fewer things first; the first loses nothing
    is_complete: bool  # every other loss comes to the same as one of these; False: there were too many


def judge_joint_losses(
    context: Context, whole: Judgement, things: Mapping[str, Lost], most: int, workloads: Set[int]
) -> JointLosses:
    """Every loss of at most so many of the things, those that come to the same once.

    whole:     the judgement with everything there.
    workloads: that are asked for, by index; things that none of them may feel the loss of are never lost here.
    Fewer count too: with a device more, a pod of several devices may find room and take it from others.
    Cost:      a judgement of the workloads that are touched for each loss that differs; `MAX_CASES` at most.
    """
    judge_loss = LossJudge(context, whole)
    felt = {name: one for name, one in things.items() if judge_loss.touches(one, workloads)}
    near = _Near(context, felt, LossSorter(context, goes_by_nodes=goes_by_nodes(whole)))
    nothing = {at: whole.verdicts[at] for at in workloads}
    cases = [JointLoss(names=(), lost=Lost(set()), verdicts=nothing, shortfall=whole.shortfall)]
    level: dict[tuple[str, ...], Lost] = {(): cases[0].lost}
    for _ in range(most):
        level = near.extend(level, MAX_CASES + 1 - len(cases))
        if len(cases) + len(level) > MAX_CASES:
            return JointLosses(cases=tuple(cases), is_complete=False)
        for names, lost in level.items():
            changes, shortfall = judge_loss(lost)
            after = {change.after.workload: change.after for change in changes}
            verdicts = {at: after.get(one.workload, one) for at, one in nothing.items()}
            cases.append(JointLoss(names=names, lost=lost, verdicts=verdicts, shortfall=shortfall))
    return JointLosses(cases=tuple(cases), is_complete=True)


class _Near:
    """The things that matter, and which of them are alike."""

    def __init__(self, context: Context, things: Mapping[str, Lost], sort: LossSorter) -> None:
        self._things = dict(sorted(things.items()))
        self._sort = sort
        self._keys = {name: self._sort.build_key(one) for name, one in self._things.items()}
        nodes_of = context.acceptance.nodes_of
        self._nodes = {
            name: one.nodes.union(*(nodes_of[device] for device in one.devices)) for name, one in self._things.items()
        }

    def extend(self, level: Mapping[tuple[str, ...], Lost], most: int) -> dict[tuple[str, ...], Lost]:
        """The losses of one thing more than these, those that come to the same once; so many at most."""
        found: dict[object, tuple[tuple[str, ...], Lost]] = {}
        for names, lost in level.items():
            for name in self._list_next(names):
                one = self._things[name]
                both = Lost(lost.devices | one.devices, lost.nodes | one.nodes)
                found.setdefault(self._sort.build_key(both), (tuple(sorted((*names, name))), both))
                if len(found) >= most:
                    return dict(found.values())
        return dict(found.values())

    def _list_next(self, names: tuple[str, ...]) -> Iterator[str]:
        """Things to lose beside these: on nodes that are touched every one, elsewhere one of those that are alike."""
        touched = frozenset[str]().union(*(self._nodes[name] for name in names))
        seen: set[object] = set()
        for name, nodes in self._nodes.items():
            if name in names:
                continue
            if touched.isdisjoint(nodes):
                if self._keys[name] in seen:
                    continue
                seen.add(self._keys[name])
            yield name
