"""What became of a plan's witnesses, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from poolwright.plan.recheck import End, Recheck, Rechecked
from poolwright.plan.recorded import RecordedWitness
from poolwright.plan.report.words import count_of
from poolwright.plan.verdict import Replays

_HOW: Final[dict[Replays, tuple[str, str, str]]] = {  # what it does, what it doesn't, and what it is made of
    "now": ("replays now", "doesn't replay", "move"),
    "after-reordering-or-restart": ("replays with devices in the order that it names", "doesn't replay", "move"),
    "not-replayed": ("holds as a packing", "doesn't hold", "pod"),
}


def render_replay_text(clusters: Sequence[Rechecked]) -> tuple[str, ...]:
    """The lines, not escaped; clusters as they are given."""
    return tuple(line for one in clusters for line in _render_cluster(one))


def _render_cluster(cluster: Rechecked) -> Iterator[str]:
    found = cluster.rechecks
    same = sum(not one.problem for one in found)
    said = f"witnesses that come to the same: {same} of {len(found)}" if found else "the plan has no witness"
    yield f"{cluster.name}: {said}"
    if cluster.made_for != cluster.judged_with:
        yield f"  made for Kubernetes {cluster.made_for}, judged with {cluster.judged_with}"
    for one in found:
        yield f"  {one.recorded.title}, {one.recorded.role}: {say_recheck(one)}"


def say_recheck(one: Recheck) -> str:
    """`replays now: 14 of 14 moves, 1 of 1 left out`, or what came otherwise."""
    does, doesnt, what = _HOW[one.recorded.witness.replays]
    if one.problem or one.end is None:
        return f"{doesnt}: {one.problem}"
    moves = count_of(len(one.recorded.witness.moves), what)
    return f"{does}: {one.done} of {moves}, {_say_end(one.recorded, one.end)}"


def _say_end(recorded: RecordedWitness, end: End) -> str:
    match recorded.role:
        case "best":
            return f"{end.served} of {recorded.replicas} served"
        case "worst":
            return f"{end.left_out} of {recorded.replicas} left out"
        case "rollout":
            return f"{end.served} of {recorded.replicas} in place, and no further one gets devices"
        case "deadlock":
            return f"{count_of(end.holding, 'replica')} with a part of their devices, and no missing pod gets any"
