"""Plain manifests as a side: what a cluster holds if it holds these objects and nothing else, without any spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from poolwright.allocation.claim import Claim, Toleration
from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.features import build_features
from poolwright.allocation.gated_fields import strip_gated
from poolwright.allocation.nodes import list_nodes
from poolwright.allocation.server_rules import drop_refused
from poolwright.allocation.subject import Subject, claim_key
from poolwright.allocation.taint_rules import apply_rules
from poolwright.changes.side import ClusterSide
from poolwright.objects.kubernetes import Object
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.engine import judge
from poolwright.plan.from_objects import build_demand
from poolwright.plan.verdict import Count, Judgement

CLUSTER: Final = "objects"  # what the one cluster is called
_NODES_UNKNOWN: Final = "nodes, none of which was given"
_DEVICES_UNKNOWN: Final = "devices, none of which was given"


def build_plain_cluster(
    objects: ClusterObjects, documents: Sequence[Object], *, minor: str, effective: Mapping[str, bool]
) -> ClusterSide:
    """The side of a folder of manifests.

    objects:   as they were written.
    documents: the same as plain values.
    minor:     of Kubernetes, one of MINORS; effective: its gates.
    Claims that no pod names are judged as the one claim of a pod would be. Without Node objects a pod's verdict is
    undecided: what keeps it from a node isn't known. Without ResourceSlice objects every verdict is, but for an error,
    and nothing is said of rollouts: that a workload finds no device then says nothing about any cluster.
    """
    stripped, _ = strip_gated(objects, effective)
    stored, refused, _ = drop_refused(stripped, minor=minor)
    features = build_features(minor, effective)
    if features.applies_taint_rules:
        stored = apply_rules(stored, minor)
    nodes = list_nodes(stored)
    slices = tuple(one.value for one in stored.slices)
    held = [one.value for one in stored.claims if one.value.allocation is not None]
    demand = build_demand(
        stored,
        features,
        nodes=[replace(node, is_known=True) for node in nodes],
        slices=slices,
        peaks={},
        held=held,
        refused=refused,
    )
    workloads = tuple(_doubt(one) for one in demand.workloads) if not stored.nodes else demand.workloads
    demand = replace(demand, workloads=(*workloads, *_list_lone(stored, demand)))
    if not slices:
        demand = replace(demand, workloads=tuple(_forgo(one) for one in demand.workloads))
    judgement = judge(demand)
    return ClusterSide(
        plan=ClusterPlan(
            name=CLUSTER, minor=minor, gates=effective, features=features, nodes=nodes, slices=slices, peaks={}
        ),
        demand=demand,
        judgement=judgement if slices else _leave_open(judgement),
        objects={"": tuple(documents)},
        asked_by="poolwright allocate",
    )


def _doubt(workload: Workload) -> Workload:
    return replace(workload, unjudged=(*workload.unjudged, _NODES_UNKNOWN))


def _forgo(workload: Workload) -> Workload:
    """A workload of whose devices nothing is known: nor is it known whether its rollouts find any."""
    return replace(workload, unjudged=(*workload.unjudged, _DEVICES_UNKNOWN), turnover=None)


def _leave_open(judgement: Judgement) -> Judgement:
    """What is judged without any device: only an error is one on every cluster."""
    verdicts = tuple(
        replace(
            one,
            word="undecided",
            always=Count(0, one.replicas),
            at_best=Count(0, one.replicas),
            method="not judged",
            reasons=(_DEVICES_UNKNOWN,),
        )
        if one.word == "unsatisfied"
        else one
        for one in judgement.verdicts
    )
    certain = sum(one.replicas for one in verdicts if one.word == "error")
    shortfall = Count(min(certain, judgement.shortfall.least), judgement.shortfall.most)
    return replace(judgement, verdicts=verdicts, shortfall=shortfall, over_demanded=(), hall_sets=())


def _list_lone(objects: ClusterObjects, demand: Demand) -> Iterator[Workload]:
    """Claims without an allocation that no workload's pods name."""
    named = {key for one in demand.workloads for pod in one.pods for key in map(claim_key, pod.claims)}
    for placed in objects.claims:
        claim = placed.value
        if claim.allocation is None and claim_key(claim) not in named:
            yield _build_lone(claim, placed.place)


def _build_lone(claim: Claim, origin: object) -> Workload:
    pod = Subject(
        kind="ResourceClaim",
        namespace=claim.namespace,
        name=claim.name,
        claims=(claim,),
        tolerations=(Toleration(operator="Exists"),),
    )
    return Workload(
        title=f"{claim.title} (ResourceClaim)",
        replicas=1,
        minimum=1,
        pods=(pod,),
        shared=frozenset([claim_key(claim)]),
        origin=origin,
    )
