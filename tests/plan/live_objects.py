"""Clusters that run, as tests write them: pods of a Deployment, groups, their claims, and what is judged of them."""

from __future__ import annotations

from typing import Any

from given_cluster import WHOLE, Json, as_file, build, claim, exactly, gpu, holds, node, pod, slice_of, template
from poolwright.allocation.features import build_features
from poolwright.allocation.parse_objects import parse_objects
from poolwright.catalog.inventory import Node as KnownNode
from poolwright.plan.cluster import ClusterPlan
from poolwright.plan.from_objects import Peak, build_demand
from poolwright.plan.live.scenario import Live, build_live
from poolwright.plan.live.snapshot import Snapshot, build_snapshot, check_snapshot
from poolwright.specs.document import parse_documents

FEATURES = build_features("1.37", {})
EMPTY = ClusterPlan(
    name="lab",
    minor="1.37",
    gates={},
    features=FEATURES,
    nodes=(KnownNode(name="planned"),),
    slices=(),
    peaks={},
    planned_nodes=1,
)
TEMPLATE = template("one", exactly("gpu"), namespace="chat")
PEAK = {("chat", "a"): Peak(replicas=3, minimum=1)}
OWN = {"name": "gpu", "resourceClaimTemplateName": "one"}
LWS = "leaderworkerset.sigs.k8s.io"
HASH = {"pod-template-hash": "f00"}


def deployment(name: str = "a", *claims: Json, kind: str = "Deployment", **metadata: Any) -> Json:
    spec = {
        "replicas": 1,
        "template": {"spec": {"containers": [{"name": "m"}], "resourceClaims": list(claims or [OWN])}},
    }
    return build(kind, name, spec=spec, api="apps/v1", namespace="chat", **metadata)


def groups(name: str, size: int) -> Json:
    pods = {"spec": {"containers": [{"name": "m"}], "resourceClaims": [OWN]}}
    spec = {"replicas": 1, "leaderWorkerTemplate": {"size": size, "workerTemplate": pods}}
    return build("LeaderWorkerSet", name, spec=spec, api="leaderworkerset.x-k8s.io/v1", namespace="chat")


def owned(kind: str, name: str, uid: str = "", **labels: str) -> Json:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": uid or f"uid-{name}", "controller": True}
    return {"ownerReferences": [owner], "labels": labels}


def replica(number: int, *, owner: Json | None = None, **more: Any) -> list[Json]:
    """A pod of Deployment a, and its claim: it has gpu-NUMBER, unless `more` says otherwise."""
    made = owned("ReplicaSet", "a-f00", **HASH) if owner is None else owner
    return pod_with(f"p{number}", made, f"gpu-{number}", **more)


def pod_with(
    name: str,
    metadata: Json,
    device: str | None,
    *,
    node_name: str = "node-a",
    of: str = "one",
    request: Json | None = None,
    claim_metadata: Json | None = None,
) -> list[Json]:
    uid = f"uid-{name}"
    made = claim(
        f"{name}-gpu",
        request or exactly("gpu"),
        namespace="chat",
        held=[holds(device)] if device else [],
        node="node-a" if device else "",
        reserved=[uid] if device else [],
        uid=f"claim-{name}",
        annotations={"resource.kubernetes.io/pod-claim-name": "gpu"},
        ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": True}],
        **(claim_metadata or {}),
    )
    status = {"phase": "Running", "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}]}
    placed = {"nodeName": node_name} if node_name else {}
    return [
        made,
        pod(name, templates={"gpu": of}, namespace="chat", status=status, metadata={"uid": uid, **metadata}, **placed),
    ]


CLUSTER = [node("node-a"), slice_of("node-a", *(gpu(number) for number in range(4)))]


def observe(*objects: Json, cluster: list[Json] = CLUSTER) -> Snapshot:
    given = parse_objects(parse_documents(as_file([*objects, *cluster]), "live.json"))
    return build_snapshot(given, EMPTY, None)


def live(*objects: Json, applied: tuple[Json, ...] = (), peaks: Any = PEAK, **more: Any) -> Live:
    snapshot = observe(*objects)
    assert check_snapshot(snapshot) == ""
    built = parse_objects(parse_documents(as_file(applied or (WHOLE, TEMPLATE, deployment())), "applied.json"))
    there = snapshot.cluster
    fresh = build_demand(built, FEATURES, nodes=there.nodes, slices=there.slices, peaks=peaks, **more)
    return build_live(built, fresh, snapshot)


def list_rest(found: Live) -> list[tuple[str, int, int]]:
    return [(one.title, one.replicas, len(one.pods)) for one in found.demand.workloads]
