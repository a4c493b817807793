"""Pods and workloads from captured objects. What can't be read is noted by the fields' reader."""

from __future__ import annotations

from typing import Final

from poolwright.allocation.defaults import (
    NAMESPACE,
    PRIORITIES,
    SCHEDULER,
    default_daemon_tolerations,
    default_pod_tolerations,
    default_replicas,
)
from poolwright.allocation.parse_claim import parse_tolerations
from poolwright.allocation.parse_requests import parse_container_requests, parse_requests
from poolwright.allocation.pod import (
    CLASS_RESOURCE,
    Container,
    Pod,
    PodClaim,
    Workload,
    WorkloadPods,
)
from poolwright.allocation.rolling import parse_rolling
from poolwright.catalog.captured import CapturedField
from poolwright.specs.quantity import Quantity

WORKLOAD_APIS: Final = {
    "CronJob": "batch/v1",
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
    "Job": "batch/v1",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
}
_ENDED: Final = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")  # conditions of a Job
_ONE_AT_A_TIME: Final = ("Forbid", "Replace")  # concurrencyPolicy of a CronJob; Allow, the default, is all else
MAX_DIGITS: Final = 6  # of a number that a controller wrote into an annotation
SIZE_ANNOTATION: Final = "leaderworkerset.sigs.k8s.io/size"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"


def parse_pod(root: CapturedField) -> Pod:
    """A Pod, with its status if it has one."""
    return _parse_pod(root, namespace=root.get("metadata", "namespace").text() or NAMESPACE, name=None)


def parse_workload(root: CapturedField) -> Workload:
    """A workload of one of the kinds in WORKLOAD_APIS, with its replicas as it asks for them."""
    metadata, kind = root.get("metadata"), root.get("kind").text()
    namespace, name = metadata.get("namespace").text() or NAMESPACE, metadata.get("name").name()
    return Workload(
        kind=kind,
        namespace=namespace,
        name=name,
        uid=metadata.get("uid").text(),
        owners=_parse_owners(metadata),
        replicas=None if kind == "DaemonSet" else _parse_replicas(root, kind),
        pods=_parse_group(root.get("spec"), namespace, name)
        if kind == "LeaderWorkerSet"
        else (WorkloadPods(template=_parse_template(_find_made(root, kind).get("template"), kind, namespace, name)),),
        rolling=parse_rolling(root),
        may_overlap=kind == "CronJob" and root.get("spec", "concurrencyPolicy").text() not in _ONE_AT_A_TIME,
        is_suspended=kind == "CronJob" and bool(root.get("spec", "suspend").flag()),
    )


def _find_made(root: CapturedField, kind: str) -> CapturedField:
    """The spec that pods are made by: of a CronJob, that of each of its jobs."""
    return root.get("spec", "jobTemplate", "spec") if kind == "CronJob" else root.get("spec")


def _parse_replicas(root: CapturedField, kind: str) -> int:
    """The pods that a workload wants to run at once, or the groups of a LeaderWorkerSet; of a CronJob, one job's."""
    spec = _find_made(root, kind)
    if kind == "CronJob":
        return _count_most(spec)
    return _parse_parallel(spec, root.get("status")) if kind == "Job" else _count(spec.get("replicas"))


def _parse_parallel(spec: CapturedField, status: CapturedField) -> int:
    """The pods that a Job wants to run at once.

    Source: kubernetes/kubernetes pkg/controller/job, wantActivePods.
    """
    ended = [one for one in status.get("conditions").items() if one.get("type").text() in _ENDED]
    if spec.get("suspend").flag() or any(one.get("status").text() == "True" for one in ended):
        return 0
    parallel, completions = _count(spec.get("parallelism")), spec.get("completions")
    succeeded = status.get("succeeded").number() or 0
    if completions.is_set:
        return min(parallel, max(0, _count(completions) - succeeded))
    return (status.get("active").number() or 0) if succeeded else parallel  # once one is done, no more are made


def _count_most(spec: CapturedField) -> int:
    """The most pods of a job that is to be made, which may be suspended and go on later."""
    parallel, completions = _count(spec.get("parallelism")), spec.get("completions")
    return min(parallel, _count(completions)) if completions.is_set else parallel


def _count(field: CapturedField) -> int:
    count = default_replicas(field.number())
    if count < 0:
        field.note("is negative", "a workload can't have fewer than no pods")
    return max(0, count)


def _parse_group(spec: CapturedField, namespace: str, name: str) -> tuple[WorkloadPods, ...]:
    """The pods of each group of a LeaderWorkerSet: its leader, which counts in the size, and its workers."""
    group = spec.get("leaderWorkerTemplate")
    size = _count(group.get("size"))
    leader, worker = group.get("leaderTemplate"), group.get("workerTemplate")
    pods = [(leader if leader.is_set else worker, "leader", min(size, 1)), (worker, "worker", max(0, size - 1))]
    return tuple(
        WorkloadPods(role=role, count=count, template=_parse_template(template, "LeaderWorkerSet", namespace, name))
        for template, role, count in pods
        if count
    )


def _parse_template(root: CapturedField, kind: str, namespace: str, name: str) -> Pod:
    return _parse_pod(root, namespace=namespace, name=name, is_daemon=kind == "DaemonSet")


def _parse_pod(root: CapturedField, *, namespace: str, name: str | None, is_daemon: bool = False) -> Pod:
    """name: of a pod template, what it is called after."""
    metadata, spec, status = root.get("metadata"), root.get("spec"), root.get("status")
    if not spec.is_set:
        spec.note("is missing", "a pod without a spec asks for nothing")
    tolerations = parse_tolerations(spec.get("tolerations"))
    affinity = spec.get("affinity", "nodeAffinity", _REQUIRED)
    made = status.get("extendedResourceClaimStatus")
    return Pod(
        namespace=namespace,
        name=metadata.get("name").name() if name is None else name,
        uid=metadata.get("uid").text() if name is None else "",
        owners=_parse_owners(metadata) if name is None else (),
        replica_set=_find_replica_set(metadata) if name is None else "",
        controller=_find_controller(metadata) if name is None else ("", ""),
        labels=metadata.get("labels").text_map() if name is None else {},
        group_size=_parse_group_size(metadata) if name is None else 0,
        created=metadata.get("creationTimestamp").text(),
        is_deleted=metadata.get("deletionTimestamp").is_set,
        claims=tuple(_parse_pod_claim(entry) for entry in spec.get("resourceClaims").items()),
        containers=(
            *(_parse_container(entry, is_init=True) for entry in spec.get("initContainers").items()),
            *(_parse_container(entry, is_init=False) for entry in spec.get("containers").items()),
        ),
        node_name=spec.get("nodeName").text(),
        node_selector=spec.get("nodeSelector").text_map(),
        affinity=affinity.plain() if affinity.is_set else None,
        tolerations=default_pod_tolerations(default_daemon_tolerations(tolerations) if is_daemon else tolerations),
        scheduling_gates=tuple(gate.get("name").name() for gate in spec.get("schedulingGates").items()),
        priority=_parse_priority(spec),
        phase=status.get("phase").text(),
        claim_names={
            entry.get("name").name(): entry.get("resourceClaimName").optional_text()
            for entry in status.get("resourceClaimStatuses").items()
        },
        extended_claim=made.get("resourceClaimName").name() if made.is_set else None,
        requests=parse_requests(spec),
        unjudged=_list_unjudged(spec),
    )


def _parse_owners(metadata: CapturedField) -> tuple[str, ...]:
    return tuple(owner.get("uid").name() for owner in metadata.get("ownerReferences").items())


def _find_replica_set(metadata: CapturedField) -> str:
    owners = metadata.get("ownerReferences").items()
    return next((owner.get("name").text() for owner in owners if owner.get("kind").text() == "ReplicaSet"), "")


def _find_controller(metadata: CapturedField) -> tuple[str, str]:
    owners = metadata.get("ownerReferences").items()
    made = ((one.get("kind").text(), one.get("name").text()) for one in owners if one.get("controller").flag())
    return next(made, ("", ""))


def _parse_group_size(metadata: CapturedField) -> int:
    text = metadata.get("annotations", SIZE_ANNOTATION).text()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < MAX_DIGITS else 0


def _parse_pod_claim(entry: CapturedField) -> PodClaim:
    claim, template = entry.get("resourceClaimName"), entry.get("resourceClaimTemplateName")
    if claim.is_set == template.is_set:
        entry.note(
            f"names {'both a claim and a template' if claim.is_set else 'neither a claim nor a template'}",
            "the API server takes exactly one of resourceClaimName and resourceClaimTemplateName",
            "keep one: a claim is shared by all pods that name it, a template makes one for each pod",
        )
    return PodClaim(
        name=entry.get("name").name(), claim_name=claim.optional_text(), template_name=template.optional_text()
    )


def _parse_container(entry: CapturedField, *, is_init: bool) -> Container:
    resources, asked = entry.get("resources"), parse_container_requests(entry)
    return Container(
        name=entry.get("name").name(),
        is_init=is_init,
        is_sidecar=is_init and entry.get("restartPolicy").text() == "Always",
        claims=tuple((use.get("name").name(), use.get("request").text()) for use in resources.get("claims").items()),
        extended=_keep_extended(asked),
        resources=tuple(sorted(asked)),
    )


def _keep_extended(asked: dict[str, Quantity]) -> dict[str, Quantity]:
    """Source: kubernetes/kubernetes pkg/scheduler/util IsDRAExtendedResourceName."""
    return {
        name: amount
        for name, amount in sorted(asked.items())
        if name.startswith(CLASS_RESOURCE)
        or ("/" in name and "kubernetes.io/" not in name and not name.startswith("requests."))
    }


def _parse_priority(spec: CapturedField) -> int | None:
    priority, level = spec.get("priority"), spec.get("priorityClassName").text()
    if priority.is_set or not level:
        return priority.number() or 0
    return PRIORITIES.get(level)  # admission writes the priority of others into the pod


def _list_unjudged(spec: CapturedField) -> tuple[str, ...]:
    """What else decides on a pod's node: preferences keep it from none."""
    affinity = spec.get("affinity")
    listed = [
        f"affinity.{kind}" for kind in ("podAffinity", "podAntiAffinity") if affinity.get(kind, _REQUIRED).items()
    ]
    spread = spec.get("topologySpreadConstraints").items()
    if any(one.get("whenUnsatisfiable").text() == "DoNotSchedule" for one in spread):
        listed.append("topologySpreadConstraints")
    scheduler = spec.get("schedulerName").text() or SCHEDULER
    if scheduler != SCHEDULER:  # it may be a profile of kube-scheduler, or do as it likes
        listed.append(f"schedulerName {scheduler}")
    return tuple(listed)
