"""`poolwright plan --live` and `diff --live`: a cluster as it runs, from what kubectl printed of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.server_rules import drop_refused
from poolwright.allocation.taint_rules import apply_rules
from poolwright.catalog.inventory import Inventory
from poolwright.cli.object_files import read_objects
from poolwright.plan.answer import ClusterAnswer
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.from_objects import build_demand
from poolwright.plan.live.answer import LiveAnswer
from poolwright.plan.live.restart import judge_restarts
from poolwright.plan.live.scenario import build_live
from poolwright.plan.live.snapshot import build_snapshot, check_snapshot
from poolwright.plan.live.whole import judge_live
from poolwright.specs.finding import SpecError


class OptionError(Exception):
    """An option asks for what isn't there; the text is a sentence."""

    def __init__(self, option: str, why: str) -> None:
        super().__init__(why)
        self.option = option


class SnapshotError(Exception):
    """What was captured isn't whole, so that nothing can be said; the text is a sentence."""


def choose_cluster(asked: str | None, known: Sequence[str]) -> str:
    """The cluster that files are of.

    asked:  by --cluster.
    Raises: OptionError if there is no such cluster, or it isn't said which of several it is.
    """
    if asked is not None and asked not in known:
        raise OptionError("--cluster", f"there is no such cluster; known: {', '.join(sorted(known))}")
    if asked is None and len(known) > 1:
        raise OptionError("--live", f"whose objects these are isn't said; add --cluster: {', '.join(known)}")
    return known[0] if asked is None else asked


def judge_live_files(
    files: Sequence[str], objects: ClusterObjects, cluster: ClusterPlan, inventory: Inventory | None
) -> ClusterAnswer:
    """The verdicts of a cluster as it runs, from files that hold it; otherwise as judge_captured."""
    return judge_captured(read_objects(files), objects, cluster, inventory)


def judge_captured(
    captured: ClusterObjects, objects: ClusterObjects, cluster: ClusterPlan, inventory: Inventory | None
) -> ClusterAnswer:
    """The verdicts of a cluster as it runs.

    captured: that run and are held there, as kubectl printed them.
    objects:  that are applied to it, as its API server stores them.
    Raises:   SpecError if something was captured that the cluster's API server refuses; SnapshotError.
    """
    snapshot = build_snapshot(_store(captured, cluster), cluster, inventory)
    problem = check_snapshot(snapshot)
    if problem:
        raise SnapshotError(problem)
    there = snapshot.cluster
    fresh = build_demand(
        objects,
        there.features,
        nodes=there.nodes,
        slices=there.slices,
        peaks=there.peaks,
        reservations=there.reservations,
        sources=replace(there.sources, nodes={}),  # the nodes are those of the files, whichever it was
    )
    live = build_live(objects, fresh, snapshot)
    answer = LiveAnswer(live=live, restarts=judge_restarts(live))
    return ClusterAnswer(cluster=there, demand=live.demand, judgement=judge_live(live), live=answer)


def _store(captured: ClusterObjects, cluster: ClusterPlan) -> ClusterObjects:
    """What was captured, as the API server of the cluster's version and gates stores it."""
    stripped, _ = strip_gated(captured, cluster.gates)
    stored, _, found = drop_refused(stripped, minor=cluster.minor)
    errors = [one for one in found if one.severity == "error"]
    if errors:
        raise SpecError(errors)
    return apply_rules(stored, cluster.minor) if cluster.features.applies_taint_rules else stored
