"""A running cluster as it was captured: whether that is whole, and where its nodes and devices are taken from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from poolwright.allocation.cluster_objects import ClusterObjects
from poolwright.allocation.pod import Pod
from poolwright.allocation.subject import ClaimKey, claim_key
from poolwright.catalog.inventory import Inventory
from poolwright.plan.cluster import ClusterPlan

Source = Literal["files", "inventory"]  # those that were given; the project's capture of the cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Objects of a running cluster, and where its nodes and devices are taken from."""

    objects: ClusterObjects  # as its API server stores them, with every taint in its slice
    cluster: ClusterPlan  # with the nodes and slices that are there
    nodes_from: Source
    slices_from: Source
    planned_nodes: int  # that specs plan, and that aren't there yet

    @property
    def newest(self) -> str:
        """When the newest of its pods was made, RFC 3339, which was before the capture; "": none says."""
        return max((placed.value.created for placed in self.objects.pods), default="")


def build_snapshot(objects: ClusterObjects, cluster: ClusterPlan, inventory: Inventory | None) -> Snapshot:
    """What was captured, instead of what the project plans.

    Nodes and slices are those among the objects; of a kind that isn't among them, those of the project's inventory.
    Planned nodes are left out: nobody's devices are on them.
    """
    nodes = tuple(placed.value for placed in objects.nodes)
    slices = tuple(placed.value for placed in objects.slices)
    known = inventory or Inventory(file="")
    return Snapshot(
        objects=objects,
        cluster=replace(cluster, nodes=nodes or known.nodes, slices=slices or known.slices, planned_nodes=0),
        nodes_from="files" if nodes else "inventory",
        slices_from="files" if slices else "inventory",
        planned_nodes=cluster.planned_nodes,
    )


def check_snapshot(snapshot: Snapshot) -> str:
    """Why nothing can be said of a capture, in a sentence; "" if it is whole.

    What isn't there would be taken for free devices, and for replicas that don't run.
    """
    objects, cluster = snapshot.objects, snapshot.cluster
    capture = "capture all of it: kubectl get resourceclaims,pods,resourceslices,nodes -A -o yaml"
    for kind, found in (("ResourceClaim", objects.claims), ("Pod", objects.pods)):
        if not found:
            return f"there is no {kind} in the files, so what runs and what is held isn't known; {capture}"
    for kind, known in (("Node", cluster.nodes), ("ResourceSlice", cluster.slices)):
        if not known:
            return f"there is no {kind} in the files, and the project has no inventory of {cluster.name}; {capture}"
    lacking = next(_list_lacking(snapshot), None)
    return "" if lacking is None else f"{lacking}, so what the pod holds isn't known; {capture}"


def _list_lacking(snapshot: Snapshot) -> Iterator[str]:
    """Claims of pods that have a node, of which nothing was captured."""
    known = {claim_key(placed.value) for placed in snapshot.objects.claims}
    for placed in snapshot.objects.pods:
        pod = placed.value
        if pod.node_name and not pod.is_finished:
            yield from _list_lacking_of(pod, known)


def _list_lacking_of(pod: Pod, known: set[ClaimKey]) -> Iterator[str]:
    where = f"Pod {pod.title} is on {pod.node_name}"
    for entry in pod.claims:
        if entry.claim_name is None and entry.name not in pod.claim_names:
            yield f'{where}, and its status doesn\'t name the claim that was made for "{entry.name}"'
    named = (entry.claim_name for entry in pod.claims)
    for name in (*named, *pod.claim_names.values(), pod.extended_claim):
        if name is not None and (pod.namespace, name) not in known:
            yield f"{where}, and its claim {pod.namespace}/{name} isn't in the files"
