"""`poolwright plan --live`: a cluster as it runs, from what kubectl printed of it."""

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


class SnapshotError(Exception):
    """What was captured isn't whole, so that nothing can be said; the text is a sentence."""


def judge_live_files(
    files: Sequence[str], objects: ClusterObjects, cluster: ClusterPlan, inventory: Inventory | None
) -> ClusterAnswer:
    """The verdicts of a cluster as it runs.

    files:   that hold it, as typed.
    objects: that are applied to it, as its API server stores them.
    Raises:  SpecError if a file can't be read or holds what the cluster's API server refuses; SnapshotError.
    """
    snapshot = build_snapshot(_read(files, cluster), cluster, inventory)
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


def _read(files: Sequence[str], cluster: ClusterPlan) -> ClusterObjects:
    """What the files hold, as the API server of the cluster's version and gates stores it."""
    stripped, _ = strip_gated(read_objects(files), cluster.gates)
    stored, _, found = drop_refused(stripped, minor=cluster.minor)
    errors = [one for one in found if one.severity == "error"]
    if errors:
        raise SpecError(errors)
    return apply_rules(stored, cluster.minor) if cluster.features.applies_taint_rules else stored
