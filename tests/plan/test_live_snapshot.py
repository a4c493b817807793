"""Whose pods are in a capture, and whether it is whole."""

from __future__ import annotations

import pytest
from live_objects import CLUSTER, EMPTY, HASH, LWS, deployment, groups, observe, owned, replica

from given_cluster import Json, as_file, node, pod
from poolwright.allocation.parse_objects import parse_objects
from poolwright.catalog.inventory import Inventory
from poolwright.plan.live.owners import Owners, find_seat
from poolwright.plan.live.snapshot import build_snapshot, check_snapshot
from poolwright.specs.document import parse_documents

DEPLOYMENT, SET, LEADERS = ("Deployment", "chat", "a"), ("StatefulSet", "chat", "s"), ("LeaderWorkerSet", "chat", "g")
OWNERS = {
    "replica-set-of-a-deployment": (owned("ReplicaSet", "a-f00", **HASH), DEPLOYMENT),
    "replica-set-of-another-one": (owned("ReplicaSet", "a-b-f00", **HASH), None),
    "replica-set-without-the-hash": (owned("ReplicaSet", "a-f00"), None),
    "stateful-set": (owned("StatefulSet", "s"), SET),
    "leader": (owned("StatefulSet", "g", **{f"{LWS}/name": "g", f"{LWS}/group-index": "0"}), LEADERS),
    "worker": (owned("StatefulSet", "g-0", **{f"{LWS}/name": "g", f"{LWS}/group-index": "0"}), LEADERS),
    "group-label-under-another-set": (owned("StatefulSet", "x", **{f"{LWS}/name": "g"}), None),
    "labels-without-an-owner": ({"labels": {"poolwright.dev/unit": "a", **HASH}}, None),
    "another-kind-of-that-name": (owned("Job", "a", "uid-job"), None),
    "replica-set-that-is-there-decides": (owned("ReplicaSet", "odd", "uid-known"), DEPLOYMENT),
    "deployment-that-is-there-is-another": (owned("ReplicaSet", "a-f00", "uid-other", **HASH), None),
}


@pytest.mark.parametrize("name", OWNERS)
def test_owners_decide(name: str) -> None:
    metadata, expected = OWNERS[name]
    judged = parse_objects(
        parse_documents(as_file([deployment(), deployment("s", kind="StatefulSet"), groups("g", 2)]), "applied.json")
    )
    observed = parse_objects(
        parse_documents(
            as_file(
                [
                    deployment("a", uid="uid-a"),
                    deployment("z", uid="uid-z"),
                    deployment(
                        "odd",
                        kind="ReplicaSet",
                        uid="uid-known",
                        ownerReferences=[{"kind": "Deployment", "name": "a", "uid": "uid-a"}],
                    ),
                    deployment(
                        "a-f00",
                        kind="ReplicaSet",
                        uid="uid-other",
                        ownerReferences=[{"kind": "Deployment", "name": "z", "uid": "uid-z"}],
                    ),
                    pod("p", namespace="chat", metadata=metadata),
                ]
            ),
            "live.json",
        )
    )
    owners = Owners([one.value for one in judged.workloads], [one.value for one in observed.workloads])
    assert owners.find(observed.pods[0].value) == expected


def test_a_place_in_a_group_is_a_number() -> None:
    for place, expected in (("1", ("g-3", 1)), ("x", None), ("", None), ("-1", None)):
        labels = {f"{LWS}/name": "g", f"{LWS}/group-index": "3", f"{LWS}/worker-index": place}
        given = parse_objects(parse_documents(as_file([pod("g-3-1", metadata={"labels": labels})]), "live.json"))
        assert find_seat(given.pods[0].value, "LeaderWorkerSet") == expected


def test_what_isnt_captured_is_taken_from_the_inventory() -> None:
    """Planned nodes aren't there."""
    captured = parse_objects(parse_documents(as_file(CLUSTER), "lab.yaml"))
    inventory = Inventory(
        file="lab.yaml",
        nodes=tuple(one.value for one in captured.nodes),
        slices=tuple(one.value for one in captured.slices),
    )
    given = parse_objects(parse_documents(as_file([*replica(0), node("node-b")]), "live.json"))
    snapshot = build_snapshot(given, EMPTY, inventory)
    assert (snapshot.nodes_from, snapshot.slices_from, snapshot.planned_nodes) == ("files", "inventory", 1)
    assert ([one.name for one in snapshot.cluster.nodes], len(snapshot.cluster.slices)) == (["node-b"], 1)
    assert snapshot.cluster.planned_nodes == 0


ALL = "capture all of it: kubectl get resourceclaims,pods,resourceslices,nodes -A -o yaml"
NOT_KNOWN = f"in the files, so what runs and what is held isn't known; {ALL}"
NO_INVENTORY = f"in the files, and the project has no inventory of lab; {ALL}"
OF_POD = f"so what the pod holds isn't known; {ALL}"
UNNAMED = replica(0)
UNNAMED[1] = {**UNNAMED[1], "status": {"phase": "Running"}}
LACKING: dict[str, tuple[list[Json], list[Json], str]] = {
    "no-claims": (
        [replica(0)[1]],
        CLUSTER,
        f"there is no ResourceClaim {NOT_KNOWN}",
    ),
    "no-pods": (
        [replica(0)[0]],
        CLUSTER,
        f"there is no Pod {NOT_KNOWN}",
    ),
    "no-nodes": (
        replica(0),
        CLUSTER[1:],
        f"there is no Node {NO_INVENTORY}",
    ),
    "no-slices": (
        replica(0),
        CLUSTER[:1],
        f"there is no ResourceSlice {NO_INVENTORY}",
    ),
    "a-claim-is-missing": (
        [*replica(0), replica(1)[1]],
        CLUSTER,
        f"Pod chat/p1 is on node-a, and its claim chat/p1-gpu isn't in the files, {OF_POD}",
    ),
    "a-status-is-missing": (
        UNNAMED,
        CLUSTER,
        f'Pod chat/p0 is on node-a, and its status doesn\'t name the claim that was made for "gpu", {OF_POD}',
    ),
}


@pytest.mark.parametrize("name", LACKING)
def test_a_capture_that_is_not_whole(name: str) -> None:
    objects, cluster, said = LACKING[name]
    assert check_snapshot(observe(*objects, cluster=cluster)) == said
