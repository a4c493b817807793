"""How sure the replicas of a verdict are, against what a replicaBehavior asks for."""

from __future__ import annotations

from typing import Final

from poolwright.plan.report.words import count_of, verb_of
from poolwright.plan.verdict import Verdict
from poolwright.specs.envelope import ReplicaBehavior
from poolwright.specs.finding import Severity

_RANKS: Final[dict[Severity | None, int]] = {None: 0, "note": 0, "warning": 1, "error": 2}
_LEFT_OUT: Final[dict[ReplicaBehavior, Severity | None]] = {
    "stable": "error",
    "relocatable": "warning",
    "queueable": None,
}
# What it is that such replicas may, in the words of the specs.
MAY: Final[dict[ReplicaBehavior, str]] = {
    "stable": "a stable replica may neither move nor wait",
    "relocatable": "a relocatable replica may move, and not wait",
    "queueable": "a queueable replica may wait its turn",
}


def weigh(behavior: ReplicaBehavior, verdict: Verdict) -> Severity | None:
    """How bad it is that a workload's replicas are no surer than this; None: they may be so.

    Where an order leaves some out, others have to be moved to let them in: relocatable ones are warned of it, and
    queueable ones wait. What isn't proven is never silent.
    """
    match verdict.word:
        case "always-fits":
            return None
        case "order-dependent":
            return _LEFT_OUT[behavior]
        case "undecided":
            return None if behavior == "queueable" and verdict.at_best.least >= verdict.replicas else "warning"
        case "unsatisfied" | "error":
            return "error"


def rank(severity: Severity | None) -> int:
    """Larger is worse."""
    return _RANKS[severity]


def say_sureness(verdict: Verdict) -> str:
    """What befalls a workload's replicas, to stand behind a number or a loss; not of one that always fits."""
    match verdict.word:
        case "order-dependent":
            return f"some order leaves it with {verdict.always.most} of {count_of(verdict.replicas, 'replica')}"
        case "unsatisfied":
            most = verdict.at_best.most
            if not most:
                return "no order serves any of its replicas"
            return f"at most {most} of {verdict.replicas} replicas {verb_of(most, 'find')} devices, in every order"
        case "error":
            return "an attempt to place it ends with an error"
    if verdict.replicas == 1:
        return "it isn't proven that its replica finds devices in every order"
    return f"it isn't proven that all of {verdict.replicas} replicas find devices in every order"
