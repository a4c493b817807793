"""The demand of a cluster: which workloads, how often at their peak, with which claims, on which nodes and devices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fleet import FLEET
from given_cluster import GPU, WHOLE, build, claim, exactly, gpu, slice_of, template
from given_cluster import as_file as render
from poolwright.allocation.features import build_features
from poolwright.allocation.parse_objects import parse_objects
from poolwright.allocation.subject import Subject
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.catalog.inventory import ZONE_LABEL, Node
from poolwright.cli.built_objects import Workshop
from poolwright.cli.load import load_project, read_inventories
from poolwright.plan.cluster import ClusterPlan, build_cluster_plan
from poolwright.plan.demand import Demand, Turnover, Workload, build_subjects
from poolwright.plan.engine import judge
from poolwright.plan.from_objects import Peak, Reservation, build_demand
from poolwright.specs.document import parse_documents
from poolwright.specs.resolve import resolve_cluster

Json = dict[str, Any]
FEATURES = build_features("1.37", {"DRAPrioritizedList": True, "DRAAdminAccess": True})
NODES = (Node(name="node-a"), Node(name="node-b"))


def workload(kind: str, name: str, *, claims: list[Json], replicas: int | None = None, **spec: Any) -> Json:
    pod = {"containers": [{"name": "main"}], "resourceClaims": claims, **spec}
    found: Json = {"template": {"spec": pod}, **({"replicas": replicas} if replicas is not None else {})}
    return build(kind, name, spec=found, api="apps/v1", namespace="chat")


def demand(*objects: Json, peaks: dict[tuple[str, str], Peak] | None = None, **more: Any) -> Demand:
    given = parse_objects(parse_documents(render(objects), "objects.json"))
    return build_demand(given, FEATURES, nodes=NODES, slices=(), peaks=peaks or {}, **more)


def list_rows(found: Demand) -> list[tuple[str, int, int, int, list[str]]]:
    return [(one.title, one.replicas, one.minimum, len(one.pods), _list_requests(one)) for one in found.workloads]


def _list_requests(one: Workload) -> list[str]:
    asked = []
    for found in one.pods[0].claims:
        for entry in found.requests:
            first = entry.exactly or entry.first_available[0]
            asked.append(f"{entry.name}: {first.count} {first.class_name}")
    return asked


OWN = {"name": "own", "resourceClaimTemplateName": "one"}
SHARED = {"name": "all", "resourceClaimName": "shared"}


def test_replicas_at_their_peak() -> None:
    found = demand(
        WHOLE,
        template("one", exactly("gpu"), namespace="chat"),
        workload("Deployment", "scaled", claims=[OWN], replicas=2),
        workload("StatefulSet", "fixed", claims=[OWN], replicas=3),
        workload("DaemonSet", "everywhere", claims=[OWN]),
        workload("Deployment", "without", claims=[], replicas=9),
        peaks={("chat", "scaled"): Peak(replicas=5, minimum=2)},
        reservations=[Reservation(name="training", class_name=GPU, count=2)],
    )
    assert list_rows(found) == [
        ("chat/scaled", 5, 2, 1, [f"gpu: 1 {GPU}"]),
        ("chat/fixed", 3, 3, 1, [f"gpu: 1 {GPU}"]),
        ("chat/everywhere", 1, 1, 2, [f"gpu: 1 {GPU}"]),
        ("training", 2, 2, 1, [f"reserved: 1 {GPU}"]),
    ]
    assert [one.is_reservation for one in found.workloads] == [False, False, False, True]


TWO = Peak(replicas=5, minimum=2, surge=1)
STRATEGIES: dict[str, tuple[str, Json, Peak | None, tuple[int, Turnover | None]]] = {
    "a-spec-says-the-surge": ("Deployment", {}, TWO, (5, Turnover(surge=1, unavailable=1))),
    "nothing-away-beside-it": (
        *("Deployment", {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}, TWO),
        (5, Turnover(surge=1, unavailable=0)),
    ),
    "one-of-both-is-not-zero": (
        *("Deployment", {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}),
        *(Peak(replicas=4, minimum=4), (4, Turnover(surge=0, unavailable=1))),
    ),
    # A quarter of three replicas, rounded up beside them and down of them.
    "without-a-spec-by-its-strategy": ("Deployment", {}, None, (4, Turnover(surge=1, unavailable=0))),
    "recreated": ("Deployment", {"strategy": {"type": "Recreate"}}, None, (3, Turnover(surge=0, unavailable=3))),
    "one-by-one": ("StatefulSet", {}, None, (3, Turnover(surge=0, unavailable=1))),
    "by-nodes": ("DaemonSet", {}, None, (1, None)),
}


@pytest.mark.parametrize(("kind", "strategy", "peak", "said"), STRATEGIES.values(), ids=STRATEGIES)
def test_what_a_rollout_adds(kind: str, strategy: Json, peak: Peak | None, said: tuple[int, Turnover | None]) -> None:
    given = workload(kind, "w", claims=[OWN], replicas=3)
    given["spec"] |= strategy
    peaks = {} if peak is None else {("chat", "w"): peak}
    (found,) = demand(WHOLE, template("one", exactly("gpu"), namespace="chat"), given, peaks=peaks).workloads
    assert (found.replicas, found.turnover) == said
    assert found.maximum == found.replicas - (found.turnover.surge if found.turnover else 0)


def test_a_shared_claim_is_one_for_all_replicas() -> None:
    found = demand(
        WHOLE,
        claim("shared", exactly("gpu"), namespace="chat"),
        template("one", exactly("gpu"), namespace="chat"),
        workload("StatefulSet", "both", claims=[SHARED, OWN], replicas=2),
    )
    assert found.workloads[0].shared == frozenset({("chat", "shared")})
    names = [[one.name for one in replica.pods[0].claims] for replica in build_subjects(found)]
    assert [one[0] for one in names] == ["shared", "shared"]
    assert len({one[1] for one in names}) == 2


def test_what_keeps_pods_from_nodes_comes_along() -> None:
    tolerations = [{"key": "gpu", "operator": "Exists"}]
    found = demand(
        template("one", exactly("gpu"), namespace="chat"),
        workload("Deployment", "w", claims=[OWN], nodeSelector={"zone": "a"}, tolerations=tolerations),
    )
    (pod,) = found.workloads[0].pods
    assert pod.node_selector == {"zone": "a"}
    assert pod.tolerations[0].key == "gpu"


def test_a_pod_without_its_template_can_be_placed_nowhere() -> None:
    found = demand(workload("Deployment", "w", claims=[OWN]))
    assert found.workloads[0].pods[0].problem == 'resourceclaimtemplate "one" not found, so the claim isn\'t created'


def test_pods_that_claim_nothing_stand_beside() -> None:
    """What they take of nodes counts, with their own surge; of what makes pods and isn't read, that it is there."""
    found = demand(
        WHOLE,
        template("one", exactly("gpu"), namespace="chat"),
        workload("Deployment", "served", claims=[OWN], replicas=2, containers=[asking("4", "8Gi")]),
        workload("Deployment", "router", claims=[], replicas=3, containers=[asking("500m", "1Gi")]),
        workload("DaemonSet", "agent", claims=[], containers=[asking("250m", "64Mi")]),
        cron_job("nightly", parallelism=2, containers=[asking("2", "1Gi")]),
        build("ReplicationController", "old", spec={}, api="v1", namespace="chat"),
    )
    (served,) = found.workloads
    assert (served.title, list_requested(served.pods[0])) == ("chat/served", {"cpu": "4", "memory": "8Gi"})
    assert [(one.title, one.count, list_requested(one.pod)) for one in found.bystanders] == [
        ("chat/router", 4, {"cpu": "500m", "memory": "1Gi"}),
        ("chat/agent", None, {"cpu": "250m", "memory": "64Mi"}),
        ("chat/nightly", 2, {"cpu": "2", "memory": "1Gi"}),
    ]
    assert found.unread == ("1 ReplicationController",)
    assert found.overlapping == ("CronJob chat/nightly",)


def cron_job(name: str, *claims: Json, policy: str = "Allow", parallelism: int = 1, **spec: Any) -> Json:
    pod = {"containers": [{"name": "main"}], "resourceClaims": list(claims), **spec}
    jobs = {"spec": {"parallelism": parallelism, "template": {"spec": pod}}}
    found = {"schedule": "30 2 * * *", "concurrencyPolicy": policy, "jobTemplate": jobs}
    return build("CronJob", name, spec=found, api="batch/v1", namespace="chat")


ZONES = tuple(Node(name=f"node-{zone}", labels={ZONE_LABEL: zone}) for zone in "ab")
IN_B = {"nodeSelector": {ZONE_LABEL: "b"}}
IN_A = {"nodeSelector": {ZONE_LABEL: "a"}}


def judge_zones(*objects: Json) -> list[tuple[str, str, str, str]]:
    """Verdicts where each of two zones has a node with one device."""
    slices = [slice_of(node.name, gpu(0)) for node in ZONES]
    given = parse_objects(parse_documents(render([WHOLE, *slices, *objects]), "objects.json"))
    peaks = {("chat", "w"): Peak(replicas=1, minimum=1)}
    found = build_demand(given, FEATURES, nodes=ZONES, slices=[one.value for one in given.slices], peaks=peaks)
    return [(one.workload, one.word, str(one.always), str(one.at_best)) for one in judge(found).verdicts]


NIGHTLY: dict[str, tuple[Json, list[tuple[str, str, str, str]]]] = {
    "where-the-other-may-go-too": (
        cron_job("nightly", SHARED, policy="Forbid"),
        [("chat/w", "always-fits", "1", "1"), ("chat/nightly", "always-fits", "1", "1")],
    ),
    # Whoever comes first decides where the claim's device is.
    "in-another-zone": (
        cron_job("nightly", SHARED, policy="Forbid", **IN_B),
        [("chat/w", "order-dependent", "0", "1"), ("chat/nightly", "order-dependent", "0", "1")],
    ),
    # Users of a claim that is shared are no more devices.
    "of-several-jobs-at-once": (
        cron_job("nightly", SHARED, policy="Allow"),
        [("chat/w", "always-fits", "1", "1"), ("chat/nightly", "always-fits", "1", "1")],
    ),
    "called-as-the-placement-is": (
        cron_job("w", SHARED, policy="Forbid"),
        [("chat/w", "always-fits", "1", "1"), ("chat/w (CronJob)", "always-fits", "1", "1")],
    ),
}


@pytest.mark.parametrize(("nightly", "verdicts"), NIGHTLY.values(), ids=NIGHTLY)
def test_a_cron_job_is_another_user_of_a_claim(nightly: Json, verdicts: list[tuple[str, str, str, str]]) -> None:
    served = workload("Deployment", "w", claims=[SHARED], replicas=1)
    if nightly["spec"]["jobTemplate"]["spec"]["template"]["spec"].get("nodeSelector"):
        served["spec"]["template"]["spec"] |= IN_A
    assert judge_zones(claim("shared", exactly("gpu"), namespace="chat"), served, nightly) == verdicts


ALONE: dict[str, tuple[str, list[tuple[str, str, str, str]]]] = {
    "one-job-at-a-time": ("Forbid", [("chat/w", "always-fits", "1", "1"), ("chat/nightly", "always-fits", "1", "1")]),
    # Two jobs would leave the Deployment none.
    "several": ("Allow", [("chat/w", "undecided", "0-1", "1"), ("chat/nightly", "undecided", "0-1", "0-1")]),
}


@pytest.mark.parametrize(("policy", "verdicts"), ALONE.values(), ids=ALONE)
def test_jobs_with_devices_of_their_own(policy: str, verdicts: list[tuple[str, str, str, str]]) -> None:
    """Where several may run at once it isn't known how many, and nobody who competes with them surely fits."""
    one = template("one", exactly("gpu"), namespace="chat")
    found = (one, workload("Deployment", "w", claims=[OWN], replicas=1), cron_job("nightly", OWN, policy=policy))
    assert judge_zones(*found) == verdicts


def asking(cpu: str, memory: str) -> Json:
    return {"name": "main", "resources": {"requests": {"cpu": cpu, "memory": memory}}}


def list_requested(pod: Subject) -> dict[str, str]:
    return {name: amount.canonical for name, amount in pod.requests.items()}


def test_the_example_fleet() -> None:
    plan, found = read_cluster("east")
    assert (plan.minor, len(plan.nodes), plan.planned_nodes) == ("1.36", 9, 7)
    assert sum(len(one.devices) for one in plan.slices) == 149
    assert list_rows(found) == [
        ("chat/chat-70b", 4, 2, 1, ["gpu: 4 interactive-80g"]),
        ("guard/guard-1b7", 3, 2, 1, ["gpu: 1 mig-20g"]),
        ("chat/prefill-8b", 2, 1, 1, ["gpu: 1 interactive-80g", "nic: 1 rdma-nic"]),
        ("search/rag-8b", 2, 1, 1, ["gpu: 1 interactive-80g"]),
        ("reasoning/reason-671b", 1, 1, 2, ["gpu: 8 interactive-80g"]),
        ("search/rewrite-0b6", 1, 1, 1, ["gpu: 1 mig-20g"]),
        ("search/rewrite-eval", 1, 1, 1, ["gpu: 1 mig-20g"]),
        ("offline/summarise-20b", 4, 4, 1, ["gpu: 1 mig-40g"]),
        ("chat/tenants-8b", 2, 1, 1, ["gpu: 1 interactive-80g"]),
        ("chat/tenants-8b-b", 3, 2, 1, ["gpu: 1 interactive-80g"]),
        ("reserved:team-training/interactive-80g", 2, 2, 1, ["reserved: 1 interactive-80g"]),
    ]
    place = found.workloads[-1].origin
    assert (found.workloads[-1].is_reservation, str(place)) == (True, "specs/pools/h100-full.yaml:44:7")


def read_cluster(name: str) -> tuple[ClusterPlan, Demand]:
    project = load_project(str(FLEET))
    on = resolve_cluster(project.specs, name)[0]
    assert on is not None
    plan = build_cluster_plan(project.specs, on, read_inventories(project).get(name), project.facts)
    units = [
        one for one in project.closures if isinstance(one, UnitClosure | PlatformClosure) and one.on.cluster == name
    ]
    objects = Workshop().read_objects(units, project.customs)
    given = {"nodes": plan.nodes, "slices": plan.slices, "peaks": plan.peaks, "reservations": plan.reservations}
    return plan, build_demand(objects, plan.features, **given)


def daemon(*requests: Json, devices: dict[str, int], others: int = 0) -> list[tuple[str, str, str]]:
    """Verdicts of a DaemonSet, and of as many other pods of one device each; devices: by node."""
    slices = [
        placed.value
        for node, count in devices.items()
        for placed in parse_objects(
            parse_documents(render([slice_of(node, *(gpu(n) for n in range(count)))]), "slices.json")
        ).slices
    ]
    found = demand(
        WHOLE,
        template("one", *requests, namespace="chat"),
        template("other", exactly("gpu"), namespace="chat"),
        workload("DaemonSet", "everywhere", claims=[OWN]),
        workload("StatefulSet", "other", claims=[{**OWN, "resourceClaimTemplateName": "other"}], replicas=others),
    )
    verdicts = judge(replace(found, slices=tuple(slices))).verdicts
    return [(one.word, str(one.always), str(one.at_best)) for one in verdicts if one.replicas]


def test_a_daemon_set_has_one_pod_on_each_node() -> None:
    assert daemon(exactly("gpu"), devices={"node-a": 1, "node-b": 1}) == [("always-fits", "1", "1")]
    # Two devices on one node are of no use to the other one's pod.
    assert daemon(exactly("gpu"), devices={"node-a": 2}) == [("unsatisfied", "0", "0")]
    assert daemon(exactly("gpu"), devices={"node-a": 2, "node-b": 1}, others=1)[0] == ("order-dependent", "0", "1")


def test_nobody_is_in_the_way_of_administration() -> None:
    every = exactly("gpu", allocationMode="All", adminAccess=True)
    found = daemon(every, devices={"node-a": 1, "node-b": 1}, others=2)
    assert found == [("always-fits", "1", "1"), ("always-fits", "2", "2")]
    assert daemon(every, devices={"node-a": 1}) == [("unsatisfied", "0", "0")]


def test_a_daemon_set_goes_only_where_it_may() -> None:
    """Not to a node that it doesn't select; but to one that is cordoned."""
    one = template("one", exactly("gpu"), namespace="chat")
    elsewhere = workload("DaemonSet", "d", claims=[OWN], nodeSelector={"kind": "none"})
    assert demand(WHOLE, one, elsewhere).workloads == ()
    objects = [WHOLE, one, workload("DaemonSet", "d", claims=[OWN])]
    given = parse_objects(parse_documents(render(objects), "objects.json"))
    cordoned = replace(NODES[0], unschedulable=True)
    found = build_demand(given, FEATURES, nodes=(cordoned,), slices=(), peaks={})
    assert [len(one.pods) for one in found.workloads] == [1]
