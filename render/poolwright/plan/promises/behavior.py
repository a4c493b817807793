"""Verdicts against what placements promise: replicas that may neither move nor wait, and surge that has its devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from poolwright.plan.demand import Demand
from poolwright.plan.engine import judge_context, split
from poolwright.plan.methods.context import Context, build_context
from poolwright.plan.promises.promised import RULE, Promise
from poolwright.plan.promises.sureness import MAY, say_sureness, weigh
from poolwright.plan.verdict import Verdict
from poolwright.specs.finding import Finding, Severity


class BehaviorJudge:
    """Judges what placements promise of their replicas, of a demand where every workload is at its peak.

    A verdict at fewer replicas of one workload counts all others at their peak. Only one that isn't `always-fits` at
    its own peak is judged again: fewer replicas of it are no less sure.
    """

    def __init__(self, demand: Demand) -> None:
        self._demand = demand
        self._context: Context | None = None

    def check(self, promise: Promise, verdict: Verdict, at: int) -> Finding | None:
        """What is short: the verdict that the envelope demands, else the devices of a rollout.

        verdict: at maxReplicas and surge.
        at:      index of the workload in the demand.
        """
        if verdict.word == "always-fits":
            return None
        if promise.behavior == "queueable":
            return None if verdict.at_best.least else _queue_short(promise, verdict)
        own = self._judge_fewer(at, verdict, promise.most if promise.behavior == "stable" else promise.least)
        severity = weigh(promise.behavior, own)
        if severity is not None:
            return _verdict_short(promise, own, severity)
        return _surge_short(promise, verdict) if promise.surge else None

    def _judge_fewer(self, at: int, verdict: Verdict, replicas: int) -> Verdict:
        if replicas == verdict.replicas:
            return verdict
        if verdict.always.least >= replicas:  # a packing that keeps the next one out has as many, of fewer too
            return replace(verdict, word="always-fits", replicas=replicas)
        if self._context is None:
            self._context = build_context(self._demand, shows=False)
        part = next(members for members in split(self._context) if at in members)
        if self._context.acceptance.supply.is_known:
            part = list(range(len(self._demand.workloads)))  # nodes may be shared where no device is
        return judge_context(_narrow(self._context, part, at, replicas)).verdicts[part.index(at)]


def _narrow(context: Context, members: Sequence[int], at: int, replicas: int) -> Context:
    """The context of some workloads alone, one of them at so many replicas."""
    workloads = [context.demand.workloads[member] for member in members]
    workloads[members.index(at)] = replace(context.demand.workloads[at], replicas=replicas)
    return context.narrow(replace(context.demand, workloads=tuple(workloads)), members)


def _verdict_short(promise: Promise, verdict: Verdict, severity: Severity) -> Finding:
    is_most = promise.behavior == "stable" and promise.most != promise.least
    return Finding(
        code="verdict-short",
        severity=severity,
        place=promise.most_place if is_most else promise.least_place,
        what=f'placement "{promise.unit}" at {"maxReplicas" if is_most else "minReplicas"}: {say_sureness(verdict)}',
        why=f"envelope {promise.envelope} is {promise.behavior}: {MAY[promise.behavior]}; all others are counted at "
        "their peak",
        rule=RULE,
        fix="make room: more devices that it takes, or fewer replicas of it or of those it competes with",
    )


def _queue_short(promise: Promise, verdict: Verdict) -> Finding:
    is_certain = verdict.at_best.most == 0
    said = "no order serves any of its replicas" if is_certain else "it isn't proven that any order serves a replica"
    return Finding(
        code="verdict-short",
        severity="error" if is_certain else "warning",
        place=promise.least_place,
        what=f'placement "{promise.unit}": {said}',
        why=f"envelope {promise.envelope} is queueable: {MAY['queueable']}, and that must come",
        rule=RULE,
        fix="name a class of which there are devices, or add devices that it takes",
    )


def _surge_short(promise: Promise, verdict: Verdict) -> Finding:
    return Finding(
        code="surge-short",
        severity=weigh(promise.behavior, verdict) or "warning",
        place=promise.surge_place,
        what=f'placement "{promise.unit}" at maxReplicas and surge: {say_sureness(verdict)}',
        why="a rollout starts new replicas beside the old ones: if one finds no device, the rollout waits",
        rule=RULE,
        fix="make room for the surge, or write surge: 0, so that an update takes a replica down first",
    )
