"""Which running replicas couldn't be placed again: each is taken away, and the allocator asked to place it anew.

Everybody else stays where they are. What is placed is what the workload would make now, so a replica of an older
template may keep devices that it could never get again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from poolwright.allocation.outcome import Allocated
from poolwright.allocation.placing import Placement, Placer, find_bar, is_usable
from poolwright.allocation.reasons.explain import explain
from poolwright.allocation.subject import ClaimKey, Subject, claim_key
from poolwright.catalog.inventory import Node
from poolwright.plan.demand import build_replica
from poolwright.plan.live.replicas import Observed, RunningReplica
from poolwright.plan.live.scenario import Live

MAX_LINES: Final = 2  # of the reasons of a workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarts:
    """What would come of a workload's running replicas if each restarted alone."""

    workload: str
    stuck: int = 0  # that the allocator can't place on any node
    unknown: int = 0  # that may be placed or not: a search gave up, or the pods of a group in another way
    reasons: tuple[str, ...] = ()  # why the first of the stuck ones can't be placed


def judge_restarts(live: Live) -> tuple[Restarts, ...]:
    """The restart of every running replica, by workload in their order; that of several at once isn't looked at.

    Cost: for each replica its node is asked again; all nodes if that can't serve it, and its reasons once per workload.
    """
    placer = Placer(live.demand.build_allocator(), live.demand.nodes, live.demand.held)
    return tuple(_judge(placer, one) for one in live.workloads)


def _judge(placer: Placer, one: Observed) -> Restarts:
    pods, nodes = build_replica(one.workload, 0, 0).pods, {node.name: node for node in placer.nodes}
    is_calm = bool(one.running) and all(placer.try_place(pod).error is None for pod in pods)
    outcomes: list[str] = []
    reasons: tuple[str, ...] = ()
    for replica in one.running:
        keys = [key for key in _list_own(replica) if key in placer.allocations]
        kept = {key: placer.allocations[key] for key in keys}
        for key in keys:
            placer.release(key)
        at_home = is_calm and _fits_at_home(placer, pods, nodes.get(replica.pods[0].pod.node_name))
        outcome, failed = ("placed", None) if at_home else _place_again(placer, pods)
        if outcome == "stuck" and failed is not None and not reasons:
            reasons = tuple(reason.line for reason in explain(placer, failed)[:MAX_LINES])
        outcomes.append(outcome)
        for key, allocation in kept.items():
            placer.hold(key, allocation)
    return Restarts(
        workload=one.workload.title,
        stuck=outcomes.count("stuck"),
        unknown=outcomes.count("unknown"),
        reasons=reasons,
    )


def _list_own(replica: RunningReplica) -> list[ClaimKey]:
    """The claims that are given back with a replica: those made for its pods, and those that nobody else uses."""
    uids = {one.pod.uid for one in replica.pods}
    claims = {claim_key(claim): claim for one in replica.pods for claim in one.subject.claims}
    return [
        key
        for key, claim in claims.items()
        if claim.owner in uids or (claim.reserved_for and uids.issuperset(claim.reserved_for))
    ]


def _fits_at_home(placer: Placer, pods: Sequence[Subject], node: Node | None) -> bool:
    """Whether a replica of one pod goes back to where it was; then nobody else need be asked.

    Needs: an attempt that no other node ends.
    """
    if len(pods) > 1 or node is None or pods[0].problem or find_bar(pods[0], node) is not None:
        return False
    known = [placer.allocations.get(claim_key(claim)) for claim in pods[0].claims]
    new = [claim for claim, one in zip(pods[0].claims, known, strict=True) if one is None]
    is_open = all(one is None or is_usable(one, node) for one in known)
    return is_open and isinstance(placer.allocator.allocate(node, new, placer.held), Allocated)


def _place_again(
    placer: Placer, pods: Sequence[Subject]
) -> tuple[Literal["placed", "stuck", "unknown"], Placement | None]:
    """Whether a replica's pods can be placed, and the one that can't be even before its siblings are."""
    for pod in pods:
        placement = placer.try_place(pod)
        if not placement.is_placed:
            return ("unknown" if placement.is_unknown else "stuck"), placement
    if len(pods) == 1:
        return "placed", None
    placed: list[ClaimKey] = []
    outcome: Literal["placed", "unknown"] = "placed"
    for pod in pods:
        placement = placer.try_place(pod)
        if not placement.is_placed:
            outcome = "unknown"
            break
        for key, allocation in placement.allocations.items():
            if key not in placement.found:
                placer.hold(key, allocation)
                placed.append(key)
    for key in placed:
        placer.release(key)
    return outcome, None
