"""What a plan says of a cluster that runs: what is held, what runs, and what couldn't be placed again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.demand import Workload
from poolwright.plan.report.words import count_of

MAX_DEVICES: Final = 3  # that are held and not published, of which lines are shown


def say_held(answer: ClusterAnswer) -> str:
    """The end of a cluster's first line."""
    if answer.live is None:
        return ""
    return f"; {count_of(len(answer.demand.held), 'claim')} held, {answer.live.live.strangers} of them by others"


def say_others(workload: Workload) -> str:
    """What demand it is that is counted and is no finding: planned, or of pods that were seen waiting."""
    return "waits" if workload.pods[0].kind == "Pod" else "reserved"


def list_observed(answer: ClusterAnswer, title: str) -> Iterator[str]:
    """Lines below a workload's verdict: what runs of it."""
    one = None if answer.live is None else answer.live.live.find(title)
    if one is None:
        return
    running, peak = len(one.running), one.workload.replicas
    if running > peak:
        yield f"{running} run, more than the peak of {peak}"
    else:
        yield f"{running} of {peak} {_verb(running, 'run')}, {one.to_place} to be placed"
    for begun in one.begun:
        yield f"{begun.name} has a part of its devices, and keeps it until the rest of it is placed"
    if one.older:
        yield f"{one.older} of {running} running {_verb(one.older, 'come')} from another template than the one judged"
    if one.leaving:
        be, hold = ("is", "it holds") if one.leaving == 1 else ("are", "they hold")
        yield f"{count_of(one.leaving, 'pod')} {be} being deleted: what {hold} still counts as held"
    if one.bypassed:
        yield f"{count_of(one.bypassed, 'pod')} got a node without devices, and will never have any there"


def list_restarts(answer: ClusterAnswer, title: str) -> Iterator[str]:
    """Lines below them: which of those that run couldn't be placed again."""
    one = None if answer.live is None else answer.live.live.find(title)
    restarts = None if answer.live is None else answer.live.find_restarts(title)
    if one is None or restarts is None:
        return
    running = len(one.running)
    if restarts.stuck:
        keep = "keeps its devices" if restarts.stuck == 1 else "keep their devices"
        yield f"{restarts.stuck} of {running} running {keep} but couldn't be placed again after a restart"
        yield from (f"  {line}" for line in restarts.reasons)
    if restarts.unknown:
        yield f"{restarts.unknown} of {running} running may not be placed again after a restart: it isn't known"


def _verb(count: int, verb: str) -> str:
    return f"{verb}s" if count == 1 else verb


def list_live_lines(answer: ClusterAnswer) -> Iterator[str]:
    """Lines below all verdicts of a cluster."""
    if answer.live is None:
        return
    found = answer.live.live.unpublished
    for device, claim in found[:MAX_DEVICES]:
        yield f"held device {'/'.join(device)} is not published any more (claim {claim})"
    if len(found) > MAX_DEVICES:
        yield f"and {count_of(len(found) - MAX_DEVICES, 'more held device')}"


def build_running(answer: ClusterAnswer, title: str) -> dict[str, object]:
    """What JSON has of it in a workload."""
    one = None if answer.live is None else answer.live.live.find(title)
    restarts = None if answer.live is None else answer.live.find_restarts(title)
    if one is None or restarts is None:
        return {"running": None, "live": None}
    return {
        "running": len(one.running),
        "live": {
            "toPlace": one.to_place,
            "begun": [begun.name for begun in one.begun],
            "olderTemplate": one.older,
            "leavingPods": one.leaving,
            "bypassedPods": one.bypassed,
            "stuckAfterRestart": restarts.stuck,
            "unknownAfterRestart": restarts.unknown,
            "stuckReasons": list(restarts.reasons),
        },
    }


def build_live_part(answer: ClusterAnswer) -> dict[str, object] | None:
    """What JSON has of it in a cluster; None: the cluster is judged as one that starts empty."""
    if answer.live is None:
        return None
    live = answer.live.live
    return {
        "heldClaims": len(answer.demand.held),
        "othersClaims": live.strangers,
        "unpublished": [{"device": "/".join(device), "claim": claim} for device, claim in live.unpublished],
        "nodesFrom": live.snapshot.nodes_from,
        "slicesFrom": live.snapshot.slices_from,
        "newestPod": live.snapshot.newest or None,
        "claimsOfUnknownUsers": live.orphans,
        "uncountedPods": live.uncounted,
    }
