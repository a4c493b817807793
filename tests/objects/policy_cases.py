"""Requests that people and controllers send, and what the rendered policies must say of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from policy_objects import (
    SHARED,
    TEMPLATE,
    affinity,
    annotated,
    apps,
    claim,
    cron_job,
    deployment,
    exactly,
    first_of,
    flat,
    groups,
    job,
    limits,
    on_field,
    on_label,
    owned,
    pod,
    priced,
    replication_controller,
    scale,
    template,
)

from poolwright.objects.kubernetes import ZONE_LABEL, Object
from poolwright.objects.policy import ADMIN_POLICY, LANE_POLICY, NODE_POLICY, PRICE_POLICY

# Clusters of the example; the last is east with two classes that somebody else has labelled.
EAST, LAB, LAB_ALPHA, LABELLED = "east", "lab", "lab-alpha", "east-labelled"
ALPHA: Final = "h200-share-alpha"  # lab-alpha's class of the experiment lane, which only namespace guard may use
THEIRS: Final = ("somebody-elses-a", "somebody-elses-b")
PLAIN: Final = "interactive-80g"

Rule = tuple[str, int]  # a policy and the place of a validation in it
ADMIN: Final[Rule] = (ADMIN_POLICY, 0)
BOTH: Final[Rule] = (NODE_POLICY, 0)
NODE_NAME: Final[Rule] = (NODE_POLICY, 1)
NODE_LABELS: Final[Rule] = (NODE_POLICY, 2)
UNPRICED: Final[Rule] = (PRICE_POLICY, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request to a cluster's API server, and what must come of it."""

    cluster: str
    object: Object | None  # None: a deletion
    refused: tuple[str, ...] = ()  # what is wrong, as it may be said; with several the API server says one of them
    code: int = 403  # of a refusal
    warned: tuple[Rule, ...] = ()
    old: Object | None = None
    subresource: str = ""
    user: str = "somebody"
    groups: tuple[str, ...] = ()

    @property
    def operation(self) -> str:
        if self.object is None:
            return "DELETE"
        return "UPDATE" if self.old is not None else "CREATE"


def _lane(judged: Object, *names: str, warned: tuple[Rule, ...] = (), user: str = "somebody") -> Case:
    """A request of lab-alpha, or of east with labelled classes if it is for chat, refused because of these classes."""
    namespace = judged["metadata"]["namespace"]
    said = tuple(
        f"ValidatingAdmissionPolicy '{LANE_POLICY}' with binding '{LANE_POLICY}' denied request: class {name} is of"
        f" the experiment lane, which admits no claims from namespace {namespace}"
        for name in names
    )
    cluster = LABELLED if namespace == "chat" else LAB_ALPHA
    return Case(cluster=cluster, object=judged, refused=said, warned=warned, user=user)


def _east(judged: Object, *warned: Rule, old: Object | None = None, subresource: str = "") -> Case:
    return Case(cluster=EAST, object=judged, warned=warned, old=old, subresource=subresource)


def _of_pod(*requests: Object, namespace: str = "chat", version: str = "v1") -> Object:
    """A claim that was made for a pod, so that nobody asks for its price."""
    return owned(claim(*requests, namespace=namespace, version=version), "Pod")


LANE_CASES = {
    "lane-claim": _lane(claim(exactly(ALPHA), namespace="team"), ALPHA),
    "lane-template": _lane(template(exactly(ALPHA), namespace="team"), ALPHA),
    "lane-later-request": _lane(claim(exactly(PLAIN), {**exactly(ALPHA), "name": "b"}, namespace="team"), ALPHA),
    "lane-last-choice-of-a-claim": _lane(claim(first_of(PLAIN, ALPHA), namespace="team"), ALPHA),
    "lane-last-choice-of-a-template": _lane(template(first_of(PLAIN, ALPHA), namespace="team"), ALPHA),
    "lane-choice-after-another-request": _lane(
        template(exactly(PLAIN), {**first_of(ALPHA), "name": "b"}, namespace="team"), ALPHA
    ),
    # Older versions are converted first: in v1beta1 a request's class stands beside its name.
    "lane-claim-in-v1beta1": _lane(claim(flat(ALPHA), namespace="team", version="v1beta1"), ALPHA),
    "lane-choice-in-v1beta1": _lane(claim(first_of(PLAIN, ALPHA), namespace="team", version="v1beta1"), ALPHA),
    "lane-template-in-v1beta2": _lane(template(exactly(ALPHA), namespace="team", version="v1beta2"), ALPHA),
    # The binding leaves out only the experiment pools' namespaces, and so it holds in those of the system.
    "lane-system-namespace": _lane(claim(exactly(ALPHA), namespace="kube-system"), ALPHA),
    # The template may be older than the policy: then its pods' claims are refused, and the pods stay pending.
    "lane-claim-that-a-controller-makes": _lane(
        _of_pod(exactly(ALPHA), namespace="team"),
        ALPHA,
        user="system:serviceaccount:kube-system:resource-claim-controller",
    ),
    # A pod that asks for the class as an extended resource passes; the claim that kube-scheduler makes of it doesn't.
    "lane-pod-with-extended-resource": _lane(pod(namespace="team", containers=limits("example.com/share"))),
    "lane-claim-that-the-scheduler-makes": _lane(
        _of_pod(exactly(ALPHA), namespace="team"), ALPHA, user="system:kube-scheduler"
    ),
    "lane-cluster-admin": Case(
        cluster=LAB_ALPHA,
        object=claim(exactly(ALPHA), namespace="team"),
        refused=_lane(claim(namespace="team"), ALPHA).refused,
        user="admin",
        groups=("system:masters",),
    ),
    "lane-class-that-somebody-else-labelled": _lane(_of_pod(first_of(PLAIN, THEIRS[0])), THEIRS[0]),
    # The API server looks at the classes in no fixed order, and says only the first.
    "lane-two-classes": _lane(_of_pod(first_of(*THEIRS)), *THEIRS),
    # A refusal doesn't keep the other policies' warnings back.
    "lane-and-warnings": _lane(
        claim(exactly(THEIRS[0], adminAccess=True), namespace="chat"), THEIRS[0], warned=(ADMIN, UNPRICED)
    ),
    # Never seen in a cluster, which refuses this before; it shows that this policy alone is closed when it can't tell.
    "lane-namespace-that-is-not-there": Case(
        cluster=LAB_ALPHA,
        object=claim(exactly(PLAIN), namespace="gone"),
        refused=(
            f"ValidatingAdmissionPolicy '{LANE_POLICY}' with binding '{LANE_POLICY}' denied request: failed to"
            ' configure binding: namespaces "gone" not found',
        ),
        code=422,
    ),
    "lane-another-class": _lane(claim(exactly(PLAIN), namespace="team")),
    "lane-other-choices": _lane(template(first_of(PLAIN, "mig-20g"), namespace="team")),
    "lane-class-that-is-not-there": _lane(claim(exactly("nowhere"), namespace="team")),
    "lane-claim-without-requests": _lane(claim(namespace="team")),
    "lane-template-of-the-pool": _lane(template(exactly(ALPHA), namespace="guard")),
    "lane-claim-of-the-pool": _lane(_of_pod(first_of(PLAIN, ALPHA), namespace="guard")),
    "lane-cluster-without-such-classes": _east(template(exactly(ALPHA), namespace="team")),
    # A claim's spec can't be changed, so that only new ones are judged.
    "lane-update-of-a-claim": Case(
        cluster=LAB_ALPHA,
        object=annotated(claim(exactly(ALPHA), namespace="team"), {"a": "b"}),
        old=claim(exactly(ALPHA), namespace="team"),
    ),
    "lane-status-of-a-claim": Case(
        cluster=LAB_ALPHA,
        object=claim(exactly(ALPHA), namespace="team"),
        old=claim(exactly(ALPHA), namespace="team"),
        subresource="status",
    ),
    "lane-deletion-of-a-claim": Case(cluster=LAB_ALPHA, object=None, old=claim(exactly(ALPHA), namespace="team")),
}

ADMIN_CASES = {
    "admin-template": _east(template(exactly(PLAIN, adminAccess=True), namespace="chat"), ADMIN),
    "admin-claim": _east(priced(claim(exactly(PLAIN, adminAccess=True), namespace="chat")), ADMIN),
    "admin-claim-of-a-pod": _east(_of_pod(exactly(PLAIN, adminAccess=True)), ADMIN),
    "admin-later-request": _east(_of_pod(first_of(PLAIN), {**exactly(PLAIN, adminAccess=True), "name": "b"}), ADMIN),
    "admin-claim-in-v1beta1": _east(_of_pod(flat(PLAIN, adminAccess=True), version="v1beta1"), ADMIN),
    "admin-not-asked-for": _east(template(exactly(PLAIN, adminAccess=False), namespace="chat")),
    "admin-system-namespace": _east(claim(exactly(PLAIN, adminAccess=True), namespace="kube-system")),
    "admin-other-namespace": _east(template(exactly(PLAIN, adminAccess=True), namespace="team")),
}

NODE_CASES = {
    "node-plain-pod": _east(pod()),
    # Priced, for whoever takes a GPU as an extended resource needs that too.
    "node-claim-and-gpu": _east(priced(pod(resourceClaims=SHARED, containers=limits("nvidia.com/gpu"))), BOTH),
    "node-claim-and-shared-gpu": _east(
        priced(pod(resourceClaims=SHARED, containers=limits("nvidia.com/gpu.shared"))), BOTH
    ),
    "node-claim-and-partition": _east(
        priced(deployment(resourceClaims=SHARED, containers=limits("nvidia.com/mig-1g.10gb"))), BOTH
    ),
    "node-claim-and-gpu-of-an-init-container": _east(
        priced(job(resourceClaims=SHARED, initContainers=limits("nvidia.com/gpu"))), BOTH
    ),
    "node-claim-and-another-resource": _east(pod(resourceClaims=SHARED, containers=limits("example.com/nic"))),
    # The contract forbids it; this policy only says where the two are added up.
    "node-gpu-alone": _east(priced(pod(containers=limits("nvidia.com/gpu")))),
    "node-name-of-a-pod": _east(pod(nodeName="node-7"), NODE_NAME),
    "node-name-of-a-deployment": _east(deployment(nodeName="node-7"), NODE_NAME),
    "node-name-of-a-stateful-set": _east(apps("StatefulSet", nodeName="node-7"), NODE_NAME),
    "node-name-of-a-job": _east(job(nodeName="node-7"), NODE_NAME),
    "node-empty-name": _east(pod(nodeName="")),
    "node-name-in-an-update": _east(deployment(nodeName="node-7"), NODE_NAME, old=deployment()),
    # A Job's pods can't be changed.
    "node-update-of-a-job": _east(job(nodeName="node-7"), old=job(nodeName="node-7")),
    "node-status": _east(deployment(nodeName="node-7"), old=deployment(nodeName="node-7"), subresource="status"),
    "node-scale": _east(scale(), old=scale(), subresource="scale"),
    "node-label": _east(pod(nodeSelector={"kubernetes.io/hostname": "node-7"}), NODE_LABELS),
    "node-zone": _east(deployment(nodeSelector={ZONE_LABEL: "a"})),
    "node-zone-and-label": _east(deployment(nodeSelector={ZONE_LABEL: "a", "gpu": "h100"}), NODE_LABELS),
    "node-required-affinity": _east(deployment(affinity=affinity(required=on_label("gpu"))), NODE_LABELS),
    "node-preferred-affinity": _east(pod(affinity=affinity(preferred=on_label("gpu"))), NODE_LABELS),
    "node-affinity-to-a-field": _east(pod(affinity=affinity(required=on_field("node-7"))), NODE_LABELS),
    "node-affinity-to-the-zone": _east(
        pod(affinity=affinity(required=on_label(ZONE_LABEL), preferred=on_label(ZONE_LABEL)))
    ),
    "node-affinity-of-pods": _east(pod(affinity={"podAntiAffinity": {}})),
    "node-everything": _east(
        priced(pod(resourceClaims=SHARED, containers=limits("nvidia.com/gpu"), nodeName="n", nodeSelector={"a": "b"})),
        BOTH,
        NODE_NAME,
        NODE_LABELS,
    ),
    # Two policies warn, and only one of them, whichever is asked first, gets into the audit log.
    "node-name-and-no-price": _east(pod(resourceClaims=TEMPLATE, nodeName="node-7"), NODE_NAME, UNPRICED),
    # How the DaemonSet controller binds its pods.
    "node-pod-of-a-daemon-set": _east(owned(pod(affinity=affinity(required=on_field("node-7"))), "DaemonSet")),
    "node-pod-of-a-replica-set": _east(owned(pod(nodeName="node-7"), "ReplicaSet"), NODE_NAME),
    "node-name-of-a-daemon-set": _east(apps("DaemonSet", nodeSelector={"gpu": "h100"})),
    # Judged with the jobs that it makes.
    "node-name-of-a-cron-job": _east(cron_job(nodeName="node-7")),
    "node-name-of-a-cron-job's-job": _east(owned(job(nodeName="node-7"), "CronJob"), NODE_NAME),
    # Judged with the StatefulSets and pods that it makes.
    "node-name-of-groups": _east(groups(nodeName="node-7")),
    "node-other-namespace": _east(pod(namespace="team", nodeName="node-7")),
    "node-system-namespace": _east(pod(namespace="kube-system", nodeName="node-7")),
}

PRICE_CASES = {
    "price-pod": _east(pod(resourceClaims=TEMPLATE), UNPRICED),
    "price-deployment": _east(deployment(resourceClaims=TEMPLATE), UNPRICED),
    "price-stateful-set": _east(apps("StatefulSet", resourceClaims=TEMPLATE), UNPRICED),
    "price-daemon-set": _east(apps("DaemonSet", resourceClaims=TEMPLATE), UNPRICED),
    "price-replica-set": _east(apps("ReplicaSet", resourceClaims=TEMPLATE), UNPRICED),
    "price-replication-controller": _east(replication_controller(resourceClaims=TEMPLATE), UNPRICED),
    "price-job": _east(job(resourceClaims=TEMPLATE), UNPRICED),
    "price-cron-job": _east(cron_job(resourceClaims=TEMPLATE), UNPRICED),
    "price-groups": _east(groups(resourceClaims=TEMPLATE), UNPRICED),
    "price-leaders": _east(groups(leader={"resourceClaims": TEMPLATE}), UNPRICED),
    "price-workers-alone": _east(groups(leader={}, resourceClaims=TEMPLATE), UNPRICED),
    "price-claim": _east(claim(exactly(PLAIN), namespace="chat"), UNPRICED),
    "price-claim-in-v1beta1": _east(claim(flat(PLAIN), namespace="chat", version="v1beta1"), UNPRICED),
    "price-gpu": _east(deployment(containers=limits("nvidia.com/gpu")), UNPRICED),
    "price-partition-of-an-init-container": _east(job(initContainers=limits("nvidia.com/mig-1g.10gb")), UNPRICED),
    "price-gpu-of-a-leader": _east(groups(leader={"containers": limits("nvidia.com/gpu")}), UNPRICED),
    "price-another-resource": _east(deployment(containers=limits("example.com/nic"))),
    # What nobody judged made them: the API server knows nothing of the pods in a custom resource.
    "price-pod-of-an-unknown-controller": _east(owned(pod(resourceClaims=TEMPLATE), "RayCluster"), UNPRICED),
    "price-claim-of-an-unknown-controller": _east(
        owned(claim(exactly(PLAIN), namespace="chat"), "RayCluster"), UNPRICED
    ),
    "price-second-claim": _east(
        pod(resourceClaims=[*SHARED, {"name": "more", "resourceClaimTemplateName": "x"}]), UNPRICED
    ),
    "price-other-annotations": _east(annotated(deployment(resourceClaims=TEMPLATE), {"a": "b"}), UNPRICED),
    "price-by-hand": _east(priced(deployment(resourceClaims=TEMPLATE), "yes"), UNPRICED),
    "price-in-capitals": _east(priced(deployment(resourceClaims=TEMPLATE), "sha256:" + "A" * 64), UNPRICED),
    "price-taken-off": _east(
        deployment(resourceClaims=TEMPLATE), UNPRICED, old=priced(deployment(resourceClaims=TEMPLATE))
    ),
    "price-in-another-namespace": _east(deployment(namespace="team", resourceClaims=TEMPLATE)),
    "priced-deployment": _east(priced(deployment(resourceClaims=TEMPLATE))),
    "priced-cron-job": _east(priced(cron_job(resourceClaims=TEMPLATE))),
    "priced-groups": _east(priced(groups(leader={"resourceClaims": TEMPLATE}, resourceClaims=TEMPLATE))),
    "priced-claim": _east(priced(claim(exactly(PLAIN), namespace="chat"))),
    "price-of-no-devices": _east(deployment()),
    "price-of-groups-without-devices": _east(groups(leader={})),
    "price-of-a-claim-that-is-there": _east(deployment(resourceClaims=SHARED)),
    # A template takes nothing yet.
    "price-of-a-template": _east(template(exactly(PLAIN), namespace="chat")),
    # Judged with what made them.
    "price-of-a-pod-that-is-owned": _east(owned(pod(resourceClaims=TEMPLATE), "ReplicaSet")),
    "price-of-a-replica-set-that-is-owned": _east(owned(apps("ReplicaSet", resourceClaims=TEMPLATE), "Deployment")),
    "price-of-a-pod-of-a-daemon-set": _east(owned(pod(containers=limits("nvidia.com/gpu")), "DaemonSet")),
    "price-of-a-stateful-set-that-is-owned": _east(
        owned(apps("StatefulSet", resourceClaims=TEMPLATE), "LeaderWorkerSet")
    ),
    "price-of-a-job-that-is-owned": _east(owned(job(resourceClaims=TEMPLATE), "CronJob")),
    "price-of-a-claim-that-is-owned": _east(_of_pod(exactly(PLAIN))),
    # The policy is open when it can't tell, and says nothing of that: this has no workers to look at.
    "price-of-broken-groups": _east({**groups(), "spec": {"leaderWorkerTemplate": {"size": 2}}}),
}

CASES: Final = {**LANE_CASES, **ADMIN_CASES, **NODE_CASES, **PRICE_CASES}
