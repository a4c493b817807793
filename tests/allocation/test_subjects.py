"""Who waits for devices, in which order, and with which claims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from given_cluster import (
    GPU,
    WHOLE,
    Json,
    answer,
    as_file,
    build,
    claim,
    device_class,
    exactly,
    gpu,
    holds,
    node,
    pod,
    slice_of,
    template,
)
from poolwright.allocation.features import Features
from poolwright.allocation.parse_objects import parse_objects
from poolwright.allocation.subjects import MAX_WORKLOAD_PODS, SubjectBuilder, Subjects, build_subjects
from poolwright.specs.document import parse_documents

FEATURES = Features(minor="1.37", extended_resource=True)
T = template("t")
USES = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}


def list_subjects(objects: Sequence[Json]) -> Subjects:
    return build_subjects(parse_objects(parse_documents(as_file(objects), "cluster.json")), FEATURES)


def aged(name: str, created: str, *, priority: int = 0) -> Json:
    return pod(name, templates={"gpu": "t"}, metadata={"creationTimestamp": created}, priority=priority)


def job(status: Json, **spec: Any) -> Json:
    return {**workload("Job", api="batch/v1", **spec), "status": status}


def workload(kind: str, name: str = "w", *, uid: str = "", api: str = "apps/v1", **spec: Any) -> Json:
    found = {"template": {"spec": USES}, **spec}
    return build(kind, name, spec=found, api=api, namespace="inference", **({"uid": uid} if uid else {}))


def cron(*, suspended: bool = False, **job_spec: Any) -> Json:
    spec = {"suspend": suspended, "jobTemplate": {"spec": {"template": {"spec": USES}, **job_spec}}}
    return build("CronJob", "w", spec=spec, api="batch/v1", namespace="inference", uid="c")


def job_of_cron() -> Json:
    owners = [{"apiVersion": "batch/v1", "kind": "CronJob", "name": "w", "uid": "c"}]
    found = workload("Job", "w-1", api="batch/v1", uid="j")
    return {**found, "metadata": {**found["metadata"], "ownerReferences": owners}}


def owned(name: str, owner: str, *, kind: str = "x", called: str = "x", **more: Any) -> Json:
    owners = [{"apiVersion": "apps/v1", "kind": kind, "name": called, "uid": owner}]
    return pod(name, templates={"gpu": "t"}, metadata={"ownerReferences": owners, "uid": name}, **more)


def group(size: int, *, leader: bool = True) -> Json:
    pods = {"workerTemplate": {"spec": USES}, **({"leaderTemplate": {"spec": {}}} if leader else {})}
    return workload(
        "LeaderWorkerSet",
        api="leaderworkerset.x-k8s.io/v1",
        replicas=2,
        leaderWorkerTemplate={"size": size, **pods},
        template=None,
    )


ON_B = {
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-b"]}]}
                ]
            }
        }
    }
}
NODES = [node("node-a"), node("node-b"), node("node-c", taints=[{"key": "down", "effect": "NoExecute"}])]

# Objects, and the names of what waits.
WAITING: dict[str, tuple[list[Json], list[str]]] = {
    "by-priority-then-age-then-as-given": (
        [
            T,
            pod("unsaid-2", templates={"gpu": "t"}),
            aged("young", "2026-11-30T02:00:00Z"),
            pod("unsaid-1", templates={"gpu": "t"}),
            aged("old", "2026-11-30T01:00:00Z"),
            aged("urgent", "2026-11-30T03:00:00Z", priority=10),
            aged("patient", "2026-11-30T00:00:00Z", priority=-10),
        ],
        ["urgent", "old", "young", "unsaid-2", "unsaid-1", "patient"],
    ),
    "claims-without-a-pod-come-last": (
        [claim("b"), claim("a"), claim("used"), pod("p", claims={"gpu": "used"})],
        ["p", "b", "a"],
    ),
    "an-allocated-claim-waits-for-nothing": ([claim("a", held=[holds("gpu-0")])], []),
    "a-reserved-claim-has-its-pod": ([claim("a", reserved=["pod-1"])], []),
    "a-pod-without-claims-is-left-out": ([pod("p")], []),
    "ended-and-deleted-pods-are-left-out": (
        [
            T,
            pod("done", templates={"gpu": "t"}, status={"phase": "Succeeded"}),
            pod("failed", templates={"gpu": "t"}, status={"phase": "Failed"}),
            pod("gone", templates={"gpu": "t"}, metadata={"deletionTimestamp": "2026-11-30T00:00:00Z"}),
        ],
        [],
    ),
    # What they used isn't wanted by anybody now.
    "claims-of-ended-and-deleted-pods-wait-for-nothing": (
        [
            claim("one"),
            claim("two"),
            pod("done", claims={"gpu": "one"}, status={"phase": "Succeeded"}),
            pod("gone", claims={"gpu": "two"}, metadata={"deletionTimestamp": "2026-11-30T00:00:00Z"}),
        ],
        [],
    ),
    "deployment": ([T, workload("Deployment", replicas=2)], ["w-0", "w-1"]),
    "replicas-default-to-one": ([T, workload("StatefulSet")], ["w-0"]),
    "none-wanted": ([T, workload("Deployment", replicas=0)], []),
    "without-claims": ([workload("Deployment", replicas=2, template={"spec": {}})], []),
    "job": ([T, workload("Job", api="batch/v1", parallelism=3, completions=2)], ["w-0", "w-1"]),
    "suspended-job": ([T, workload("Job", api="batch/v1", parallelism=3, suspend=True)], []),
    "job-that-is-done": (
        [T, job({"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]}, completions=1)],
        [],
    ),
    "job-that-failed": ([T, job({"conditions": [{"type": "Failed", "status": "True"}]}, parallelism=2)], []),
    "job-that-is-nearly-done": ([T, job({"succeeded": 4}, parallelism=3, completions=5)], ["w-0"]),
    "job-without-completions-of-which-one-is-done": ([T, job({"succeeded": 1}, parallelism=3)], []),
    "group": ([T, group(3)], ["w-0-worker-0", "w-0-worker-1", "w-1-worker-0", "w-1-worker-1"]),
    "group-of-one-kind": ([T, group(2, leader=False)], ["w-0-leader", "w-0-worker", "w-1-leader", "w-1-worker"]),
    # Two of three are there, one of them by way of its ReplicaSet.
    "pods-that-exist-are-not-made-again": (
        [
            T,
            workload("Deployment", uid="d", replicas=3),
            {
                **workload("ReplicaSet", "rs", uid="rs", replicas=3),
                "metadata": {
                    "name": "rs",
                    "namespace": "inference",
                    "uid": "rs",
                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "w", "uid": "d"}],
                },
            },
            owned("w-x", "rs"),
            owned("w-y", "d", nodeName="node-a"),
        ],
        ["w-x", "w-2"],
    ),
    # One job's, as if it were due.
    "a-cron-job-without-pods": ([T, cron(parallelism=2)], ["w-0", "w-1"]),
    "a-cron-job-whose-job-runs": ([T, cron(), job_of_cron(), owned("w-1-x", "j", nodeName="node-a")], []),
    "a-job-of-a-cron-job-is-no-other-one": ([T, cron(), job_of_cron()], ["w-0"]),
    "a-suspended-cron-job-makes-none": ([T, cron(suspended=True)], []),
    "its-job-goes-on": ([T, cron(suspended=True), job_of_cron()], ["w-1-0"]),
    # kubectl get deployments,pods: who owns web-5d9 isn't said, but Deployments name theirs so.
    "pods-of-a-replica-set-that-isn't-given": (
        [
            T,
            workload("Deployment", "web", uid="d", replicas=2),
            workload("Deployment", "web-5d9", uid="e", replicas=1),
            owned("web-5d9-x", "rs", kind="ReplicaSet", called="web-5d9"),
        ],
        ["web-5d9-x", "web-1", "web-5d9-0"],
    ),
    "an-ended-pod-is-made-again": (
        [T, workload("StatefulSet", uid="s", replicas=1), owned("w-0", "s", status={"phase": "Failed"})],
        ["w-0"],
    ),
    # node-c is down, which the set doesn't tolerate.
    "daemons-go-one-to-a-node": ([T, *NODES, workload("DaemonSet")], ["w-node-a", "w-node-b"]),
    "daemons-that-exist": (
        [T, *NODES, workload("DaemonSet", uid="ds"), owned("w-1", "ds", nodeName="node-a"), owned("w-2", "ds", **ON_B)],
        ["w-2"],
    ),
}


@pytest.mark.parametrize("name", WAITING)
def test_who_waits(name: str) -> None:
    objects, names = WAITING[name]
    assert [subject.name for subject in list_subjects(objects).waiting] == names


def test_running_pods_are_answered_and_wait_for_nothing() -> None:
    held = claim("held", held=[holds("gpu-0")], reserved=["uid"])
    found = list_subjects([held, pod("p", claims={"gpu": "held"}, nodeName="node-a")])
    assert ([one.name for one in found.running], found.waiting) == (["p"], ())


def test_running_pods_whose_claims_are_not_given_may_hold_what_is_called_free() -> None:
    status = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "r-gpu-abcde"}]}
    running = pod("r", templates={"gpu": "t"}, nodeName="node-a", status=status)
    found = answer([WHOLE, T, slice_of("node-a", gpu(0)), running, pod("w", templates={"gpu": "t"})])
    assert [(one.name, one.outcome, [reason.line for reason in one.reasons]) for one in found.subjects] == [
        ("r", "alreadyAllocated", ['resourceclaim "r-gpu-abcde" not found']),
        ("w", "allocated", []),
    ]
    said = (
        "Pod inference/r is on a node with claims that were not given: what those hold is taken to be free",
        "2 pods (Pod inference/r, Pod inference/s) are on a node with claims that were not given: what those hold is "
        "taken to be free",
    )
    assert said[0] in found.assumptions.assumed
    more = {**running, "metadata": {**running["metadata"], "name": "s"}}
    assert said[1] in answer([WHOLE, T, running, more]).assumptions.assumed


def test_a_workload_makes_at_most_so_many_pods() -> None:
    found = list_subjects([T, workload("Deployment", replicas=10**9)])
    assert len(found.waiting) == MAX_WORKLOAD_PODS
    assert found.left_out == {"Deployment inference/w": MAX_WORKLOAD_PODS}


# --- the claims of a pod ---


def generated(claim_name: str | None) -> Json:
    entry = {"name": "gpu", **({"resourceClaimName": claim_name} if claim_name else {})}
    return pod("p", templates={"gpu": "t"}, metadata={"uid": "uid-p"}, status={"resourceClaimStatuses": [entry]})


def made_for(uid: str) -> Json:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": uid, "controller": True}
    return claim("p-gpu-x7k2p", ownerReferences=[owner])


# Objects, the names of the pod's claims, and what stands against it.
CLAIMS: dict[str, tuple[list[Json], list[str], str]] = {
    "named": ([claim("c"), pod("p", claims={"gpu": "c"})], ["c"], ""),
    "named-and-missing": ([pod("p", claims={"gpu": "c"})], [], 'resourceclaim "c" not found'),
    "of-a-template": ([T, pod("p", templates={"gpu": "t"})], ["p-gpu"], ""),
    "of-a-missing-template": (
        [pod("p", templates={"gpu": "t"})],
        [],
        'resourceclaimtemplate "t" not found, so the claim isn\'t created',
    ),
    "made": ([T, made_for("uid-p"), generated("p-gpu-x7k2p")], ["p-gpu-x7k2p"], ""),
    "made-and-gone": ([T, generated("p-gpu-x7k2p")], [], 'resourceclaim "p-gpu-x7k2p" not found'),
    "made-for-another": (
        [T, made_for("uid-q"), generated("p-gpu-x7k2p")],
        ["p-gpu-x7k2p"],
        'resourceclaim "p-gpu-x7k2p" was not created for the pod: the pod is not its owner',
    ),
    "in-the-pod's-order": (
        [claim("z"), claim("a"), T, pod("p", claims={"one": "z", "two": "a"}, templates={"three": "t"})],
        ["z", "a", "p-three"],
        "",
    ),
    "gated": (
        [claim("c"), pod("p", claims={"gpu": "c"}, schedulingGates=[{"name": "a"}, {"name": "b"}])],
        ["c"],
        "the pod waits for its gates: a, b",
    ),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_of_a_pod(name: str) -> None:
    objects, names, problem = CLAIMS[name]
    subject = list_subjects(objects).waiting[0]
    assert ([one.name for one in subject.claims], subject.problem) == (names, problem)


def test_a_pod_whose_claim_turned_out_to_be_unneeded_waits_for_nothing() -> None:
    assert list_subjects([T, generated(None)]).waiting == ()


# Objects whose claims would be called alike, and the names their claims get, in the order of the pods.
ALIKE: dict[str, tuple[list[Json], list[str]]] = {
    "pod-and-entry-run-together": (
        [T, pod("a", templates={"b-c": "t"}), pod("a-b", templates={"c": "t"})],
        ["a-b-c", "a-b-c-2"],
    ),
    "workloads-of-one-name": (
        [T, workload("Deployment", replicas=1), workload("StatefulSet", replicas=1)],
        ["w-0-gpu", "w-0-gpu-2"],
    ),
    # w-0 isn't there; the one to be made is taken for the set's last one, which is.
    "a-pod-and-one-to-be-made": (
        [T, workload("StatefulSet", uid="s", replicas=2), owned("w-1", "s")],
        ["w-1-gpu", "w-1-gpu-2"],
    ),
    "a-claim-that-is-there": (
        [T, claim("p-gpu", held=[holds("gpu-0")]), pod("p", templates={"gpu": "t"})],
        ["p-gpu-2"],
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_claims_that_are_made_up_share_no_name(name: str) -> None:
    objects, names = ALIKE[name]
    assert [each.name for one in list_subjects(objects).waiting for each in one.claims] == names
    placed = answer([WHOLE, slice_of("node-a", gpu(0)), *objects]).subjects
    free = 0 if name == "a-claim-that-is-there" else 1
    assert [one.outcome for one in placed] == ["allocated"] * free + ["unsatisfied"] * (len(names) - free)


def test_what_the_server_refuses_is_an_error_for_its_pod_alone() -> None:
    twice = template("twice", exactly("gpu"), exactly("gpu"))
    found = answer(
        [
            WHOLE,
            slice_of("node-a", gpu(0)),
            T,
            twice,
            pod("bad", templates={"gpu": "twice"}),
            pod("good", templates={"gpu": "t"}),
            workload(
                "Deployment",
                replicas=1,
                template={"spec": {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "twice"}]}},
            ),
        ]
    )
    assert [(one.name, one.outcome) for one in found.subjects] == [
        ("bad", "error"),
        ("good", "allocated"),
        ("w-0", "error"),
    ]
    (reason,) = found.subjects[0].reasons
    assert reason.line == ('refused by the API server, resourceclaimtemplate "twice": 2 entries are request "gpu"')
    assert reason.hint == "rename all but one, or drop them"


def test_a_refused_claim_that_has_devices_holds_them() -> None:
    odd = claim("odd", held=[holds("gpu-0")])
    odd["spec"]["devices"]["config"] = [{"requests": ["none"], "opaque": {"driver": GPU, "parameters": {}}}]
    found = answer([WHOLE, slice_of("node-a", gpu(0)), odd, claim("c")])
    assert [(one.name, one.outcome) for one in found.subjects] == [("c", "unsatisfied")]
    assert [note.code for note in found.notes] == ["object-refused"]


# --- extended resources ---

NAMED = device_class(GPU, f"device.driver == '{GPU}'", extendedResourceName="nvidia.com/gpu")


def asks(*containers: tuple[str, int], init: Sequence[tuple[str, int]] = (), sidecars: int = 0) -> Json:
    def build_container(index: int, asked: tuple[str, int], **more: Any) -> Json:
        return {"name": f"c{index}", "resources": {"limits": {asked[0]: asked[1]}} if asked[1] else {}, **more}

    return pod(
        "p",
        initContainers=[
            build_container(n, one, **({"restartPolicy": "Always"} if n < sidecars else {}))
            for n, one in enumerate(init)
        ],
        containers=[build_container(100 + n, one) for n, one in enumerate(containers)],
    )


R = "nvidia.com/gpu"
EXTENDED: dict[str, tuple[Json, list[tuple[str, int]]]] = {
    "one": (asks((R, 2)), [("container-0-request-0", 2)]),
    "by-the-class-name": (asks((f"deviceclass.resource.kubernetes.io/{GPU}", 1)), [("container-0-request-0", 1)]),
    "each-container-its-own": (asks((R, 1), (R, 2)), [("container-0-request-0", 1), ("container-1-request-0", 2)]),
    # An init container uses what the others will have, and only what it needs beyond that is asked for.
    "init-within": (asks((R, 2), init=[(R, 2)]), [("container-1-request-0", 2)]),
    "init-beyond": (asks((R, 1), init=[(R, 3)]), [("container-0-request-0", 2), ("container-1-request-0", 1)]),
    "sidecar-goes-on": (
        asks((R, 1), init=[(R, 1)], sidecars=1),
        [("container-0-request-0", 1), ("container-1-request-0", 1)],
    ),
    "none": (asks((R, 0)), []),
    "nobody-serves-it": (asks(("example.com/other", 1)), []),
}


@pytest.mark.parametrize("name", EXTENDED)
def test_extended_resources(name: str) -> None:
    asking, requests = EXTENDED[name]
    waiting = list_subjects([NAMED, asking]).waiting
    found = [entry for one in waiting for each in one.claims for entry in each.requests]
    assert [(entry.name, entry.exactly.count) for entry in found if entry.exactly] == requests
    assert all(each.name == "p-extended-resources" for one in waiting for each in one.claims)


def test_what_a_class_serves_is_not_asked_of_the_node() -> None:
    asking = asks((R, 1), ("example.com/other", 2), ("cpu", 3))
    served = list_subjects([NAMED, asking]).waiting[0].requests
    assert {name: amount.canonical for name, amount in served.items()} == {"cpu": "3", "example.com/other": "2"}
    objects = parse_objects(parse_documents(as_file([NAMED, asking]), "cluster.json"))
    off = SubjectBuilder(objects, Features(minor="1.37"), {}).build_pod(objects.pods[0].value)
    assert sorted(off.requests) == ["cpu", "example.com/other", R]


def test_a_running_pod_without_a_claim_for_its_extended_resource_has_it_from_a_device_plugin() -> None:
    running = asks((R, 1))
    running["spec"]["nodeName"] = "node-a"
    found = list_subjects([NAMED, slice_of("node-a", gpu(0)), running])
    assert (found.running, found.waiting) == ((), ())


def test_a_node_with_a_device_plugin_is_not_judged() -> None:
    plugin = node("node-a", status={"allocatable": {R: "8"}})
    found = answer([NAMED, slice_of("node-a", gpu(0)), plugin, asks((R, 1))])
    (subject,) = found.subjects
    assert (subject.outcome, found.exit_code) == ("gaveUp", 2)
    assert subject.reasons[0].line == (
        "node-a: the node's device plugin serves nvidia.com/gpu there; what is free of it isn't known"
    )
    assert [one.line for one in subject.reasons[1:]] == [
        "node-a has the devices (gpu-0), and whether it is open to the pod isn't known"
    ]
    found = answer([NAMED, slice_of("node-a", gpu(0)), node("node-a"), asks((R, 1))])
    assert [(one.outcome, one.node) for one in found.subjects] == [("allocated", "node-a")]


def test_a_claim_that_a_pod_names_twice_is_one() -> None:
    twice = pod("p", claims={"one": "c", "two": "c"})
    (subject,) = answer([WHOLE, slice_of("node-a", gpu(0), gpu(1)), claim("c"), twice]).subjects
    assert (subject.outcome, subject.claims) == ("allocated", (("inference", "c"),))
