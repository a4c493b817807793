"""Objects that admission policies judge, as an API server gets them: whole enough for its strict decoder."""

from __future__ import annotations

from poolwright.objects.kubernetes import Object
from poolwright.objects.priced import PRICED_DIGEST

TEMPLATE = [{"name": "devices", "resourceClaimTemplateName": "x"}]  # a pod's own claim, of its `resourceClaims`
SHARED = [{"name": "devices", "resourceClaimName": "x"}]  # one that is there
OWNERS = {
    "Pod": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "RayCluster": "ray.io/v1",
}  # API versions
DIGEST = "sha256:" + "0" * 64


def claim(*requests: Object, namespace: str, version: str = "v1") -> Object:
    return _resource("ResourceClaim", namespace, {"devices": {"requests": list(requests)}}, version)


def template(*requests: Object, namespace: str, version: str = "v1") -> Object:
    spec = {"spec": {"devices": {"requests": list(requests)}}}
    return _resource("ResourceClaimTemplate", namespace, spec, version)


def exactly(name: str, **more: object) -> Object:
    return {"name": "gpu", "exactly": {"deviceClassName": name, **more}}


def flat(name: str, **more: object) -> Object:
    """A request as v1beta1 has it."""
    return {"name": "gpu", "deviceClassName": name, **more}


def first_of(*names: str) -> Object:
    ways = [{"name": f"way-{at}", "deviceClassName": name} for at, name in enumerate(names)]
    return {"name": "gpu", "firstAvailable": ways}


def pod(*, namespace: str = "chat", **spec: object) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": _metadata(namespace), "spec": pod_spec(**spec)}


def deployment(*, namespace: str = "chat", **spec: object) -> Object:
    return apps("Deployment", namespace=namespace, **spec)


def apps(kind: str, *, namespace: str = "chat", **spec: object) -> Object:
    """A Deployment, StatefulSet, DaemonSet or ReplicaSet of such pods."""
    labels = {"matchLabels": {"app": "x"}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": _metadata(namespace),
        "spec": {"selector": labels, "template": _template(**spec)},
    }


def replication_controller(**spec: object) -> Object:
    controller = {"selector": {"app": "x"}, "template": _template(**spec)}
    return {"apiVersion": "v1", "kind": "ReplicationController", "metadata": _metadata("chat"), "spec": controller}


def job(**spec: object) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata("chat"),
        "spec": {"template": _template(**spec)},
    }


def cron_job(**spec: object) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": _metadata("chat"),
        "spec": {"schedule": "0 3 * * *", "jobTemplate": {"spec": {"template": _template(**spec)}}},
    }


def groups(*, leader: Object | None = None, **spec: object) -> Object:
    """A LeaderWorkerSet. leader: what its pod template has beside what is usual; None: the leader is a worker too."""
    leaders = {"leaderTemplate": _template(**leader)} if leader is not None else {}
    return {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": _metadata("chat"),
        "spec": {"leaderWorkerTemplate": {"size": 2, **leaders, "workerTemplate": _template(**spec)}},
    }


def scale() -> Object:
    """What is written when a Deployment is scaled."""
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": _metadata("chat"), "spec": {"replicas": 2}}


def limits(name: str) -> list[Object]:
    """Containers of which one asks for an extended resource."""
    return [{"name": "a", "image": "a"}, {"name": "b", "image": "b", "resources": {"limits": {"cpu": "1", name: "1"}}}]


def affinity(*, required: Object | None = None, preferred: Object | None = None) -> Object:
    """Node affinity with one term of each kind that is given."""
    found: Object = {}
    if required is not None:
        found["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [required]}
    if preferred is not None:
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [{"weight": 1, "preference": preferred}]
    return {"nodeAffinity": found}


def on_label(key: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": "Exists"}]}


def on_field(value: str) -> Object:
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [value]}]}


def priced(judged: Object, digest: str = DIGEST) -> Object:
    return annotated(judged, {PRICED_DIGEST: digest})


def annotated(judged: Object, annotations: dict[str, str]) -> Object:
    return {**judged, "metadata": {**judged["metadata"], "annotations": annotations}}


def owned(judged: Object, kind: str) -> Object:
    """The object as a controller makes it for an owner of some kind."""
    version = OWNERS.get(kind, "apps/v1")
    owner = {"apiVersion": version, "kind": kind, "name": "x", "uid": "u", "controller": True}
    return {**judged, "metadata": {**judged["metadata"], "ownerReferences": [owner]}}


def pod_spec(**spec: object) -> Object:
    return {"containers": [{"name": "a", "image": "a"}], **spec}


def _template(**spec: object) -> Object:
    return {"metadata": {"labels": {"app": "x"}}, "spec": pod_spec(**spec)}


def _resource(kind: str, namespace: str, spec: Object, version: str) -> Object:
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": _metadata(namespace), "spec": spec}


def _metadata(namespace: str) -> Object:
    return {"name": "x", "namespace": namespace}
