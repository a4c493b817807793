"""Admission policies: where they apply, and what their CEL says of objects, by the official evaluator.

test_policy_verdicts.py has what the API server's own code says of whole requests, and of the expressions' types.
"""

from __future__ import annotations

from typing import Any

import pytest

from crd_schemas import object_errors
from fleet import FACTS, load_closures, load_unit, read_fleet
from kubernetes_schemas import MINORS
from poolwright.catalog.cel.environment import declare_environment
from poolwright.catalog.closure import PlatformClosure, UnitClosure
from poolwright.objects.kubernetes import ZONE_LABEL, Object
from poolwright.objects.policy import ADMIN_POLICY, LANE_POLICY, NODE_POLICY, PRICE_POLICY, build_policies
from poolwright.objects.priced import PRICED_DIGEST
from poolwright.objects.unit import build_objects

ENVIRONMENT = declare_environment(dict.fromkeys(("object", "params", "request"), "dyn"))


def build(cluster: str) -> dict[tuple[str, str], Object]:
    closure = load_unit(read_fleet(), cluster, "platform")
    assert isinstance(closure, PlatformClosure)
    return {(policy["kind"], policy["metadata"]["name"]): policy for policy in build_policies(closure)}


BASELINE, EXPERIMENT = build("east"), build("lab-alpha")
NAMES = (LANE_POLICY, ADMIN_POLICY, NODE_POLICY, PRICE_POLICY)
POLICY, BINDING = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"


@pytest.mark.parametrize("minor", MINORS)
def test_every_known_kubernetes_takes_them(minor: str) -> None:
    for policy in (*BASELINE.values(), *EXPERIMENT.values()):
        assert object_errors(policy, minor) == []
        assert policy["apiVersion"] == FACTS.api_version(minor, policy["kind"])


def test_each_policy_stands_before_its_binding() -> None:
    expected = [(kind, name) for name in NAMES for kind in (POLICY, BINDING)]
    assert list(BASELINE) == list(EXPERIMENT) == expected


def test_policies_of_all_clusters_are_the_same_and_only_bindings_differ() -> None:
    assert all(
        BASELINE[POLICY, name] == EXPERIMENT[POLICY, name]
        for name in (LANE_POLICY, ADMIN_POLICY, NODE_POLICY, PRICE_POLICY)
    )


def test_experiment_classes_are_denied_everywhere_but_where_an_experiment_pool_admits_claims() -> None:
    spec = EXPERIMENT[BINDING, LANE_POLICY]["spec"]
    assert spec == {
        "policyName": "poolwright-experiment-lane",
        "paramRef": {
            "selector": {"matchLabels": {"poolwright.dev/lane": "experiment"}},
            "parameterNotFoundAction": "Allow",
        },
        "matchResources": {
            "matchPolicy": "Equivalent",
            "namespaceSelector": {
                "matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["guard"]}]
            },
            "objectSelector": {},
        },
        "validationActions": ["Deny"],
    }
    # No experiment pool: whatever class is labelled so is denied in every namespace.
    everywhere = {**spec, "matchResources": {**spec["matchResources"], "namespaceSelector": {}}}
    assert BASELINE[BINDING, LANE_POLICY]["spec"] == everywhere


def test_the_rest_warns_and_audits_in_the_pools_namespaces() -> None:
    for name in (ADMIN_POLICY, NODE_POLICY, PRICE_POLICY):
        assert BASELINE[BINDING, name]["spec"] == {
            "policyName": name,
            "matchResources": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": {
                    "matchExpressions": [
                        {
                            "key": "kubernetes.io/metadata.name",
                            "operator": "In",
                            "values": ["chat", "guard", "offline", "reasoning", "search"],
                        }
                    ]
                },
                "objectSelector": {},
            },
            "validationActions": ["Warn", "Audit"],
        }


def claim(*requests: Object) -> Object:
    return {"kind": "ResourceClaim", "spec": {"devices": {"requests": list(requests)}}}


def template(*requests: Object) -> Object:
    return {"kind": "ResourceClaimTemplate", "spec": {"spec": {"devices": {"requests": list(requests)}}}}


def exactly(name: str, **more: object) -> Object:
    return {"name": "gpu", "exactly": {"deviceClassName": name, **more}}


def first_of(*names: str) -> Object:
    return {"name": "gpu", "firstAvailable": [{"name": name, "deviceClassName": name} for name in names]}


def pod(**spec: object) -> Object:
    return {"kind": "Pod", "metadata": {}, "spec": {"containers": [{"name": "a"}], **spec}}


def deployment(**spec: object) -> Object:
    return {"kind": "Deployment", "metadata": {}, "spec": {"template": {"spec": pod(**spec)["spec"]}}}


def groups(leader: Object | None = None, **spec: object) -> Object:
    templates = {"workerTemplate": {"spec": pod(**spec)["spec"]}}
    if leader is not None:
        templates["leaderTemplate"] = {"spec": pod(**leader)["spec"]}
    return {"kind": "LeaderWorkerSet", "metadata": {}, "spec": {"leaderWorkerTemplate": templates}}


def cron_job(**spec: object) -> Object:
    job = {"spec": {"template": {"spec": pod(**spec)["spec"]}}}
    return {"kind": "CronJob", "metadata": {}, "spec": {"jobTemplate": job}}


def priced(judged: Object, digest: str = "sha256:" + "0" * 64) -> Object:
    return {**judged, "metadata": {"annotations": {PRICED_DIGEST: digest}}}


def gpus(name: str) -> list[Object]:
    return [{"name": "a", "resources": {"limits": {"cpu": "1", name: "1"}}}]


def required(label: str) -> Object:
    terms = [{"matchExpressions": [{"key": label, "operator": "Exists"}]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def preferred(label: str) -> Object:
    terms = [{"weight": 1, "preference": {"matchExpressions": [{"key": label, "operator": "Exists"}]}}]
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}


FIELD = {"key": "metadata.name", "operator": "In", "values": ["node-7"]}
NAMED_NODE = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [FIELD]}]}
    }
}
GUARDED = ("Deployment", "LeaderWorkerSet", "ResourceClaim")
CLAIMS = [{"name": "devices", "resourceClaimTemplateName": "x"}]
DAEMON = {"ownerReferences": [{"kind": "DaemonSet", "name": "x"}]}
OTHER_OWNER = {"ownerReferences": [{"kind": "RayCluster", "name": "x"}]}
REPLICAS = {"ownerReferences": [{"kind": "ReplicaSet", "name": "x"}]}
# A policy, an object, and which of the policy's validations it fails.
VERDICTS: dict[str, tuple[str, Object, tuple[int, ...]]] = {
    "another-class": (LANE_POLICY, claim(exactly("baseline")), ()),
    "experiment-class": (LANE_POLICY, claim(exactly("experiment")), (0,)),
    "experiment-class-of-a-template": (LANE_POLICY, template(exactly("experiment")), (0,)),
    "experiment-class-of-a-later-request": (LANE_POLICY, claim(exactly("baseline"), exactly("experiment")), (0,)),
    "experiment-class-as-a-last-choice": (LANE_POLICY, template(first_of("baseline", "experiment")), (0,)),
    "other-choices": (LANE_POLICY, template(first_of("baseline", "other")), ()),
    "claim-without-requests": (LANE_POLICY, {"kind": "ResourceClaim", "spec": {"devices": {}}}, ()),
    "no-admin-access": (ADMIN_POLICY, claim(exactly("a"), first_of("a", "b")), ()),
    "admin-access": (ADMIN_POLICY, claim(exactly("a"), exactly("b", adminAccess=True)), (0,)),
    "admin-access-of-a-template": (ADMIN_POLICY, template(exactly("a", adminAccess=True)), (0,)),
    "admin-access-that-is-not-asked-for": (ADMIN_POLICY, template(exactly("a", adminAccess=False)), ()),
    "plain-pod": (NODE_POLICY, pod(), ()),
    "claim-alone": (NODE_POLICY, pod(resourceClaims=CLAIMS), ()),
    "gpu-alone": (NODE_POLICY, pod(containers=gpus("nvidia.com/gpu")), ()),
    "claim-and-gpu": (NODE_POLICY, pod(resourceClaims=CLAIMS, containers=gpus("nvidia.com/gpu")), (0,)),
    "claim-and-partition": (
        NODE_POLICY,
        deployment(resourceClaims=CLAIMS, containers=gpus("nvidia.com/mig-1g.10gb")),
        (0,),
    ),
    "claim-and-gpu-of-an-init-container": (
        NODE_POLICY,
        deployment(resourceClaims=CLAIMS, initContainers=gpus("nvidia.com/gpu")),
        (0,),
    ),
    "claim-and-another-resource": (NODE_POLICY, pod(resourceClaims=CLAIMS, containers=gpus("example.com/nic")), ()),
    "node-name": (NODE_POLICY, deployment(nodeName="node-7"), (1,)),
    "zone": (NODE_POLICY, deployment(nodeSelector={"topology.kubernetes.io/zone": "a"}), ()),
    "zone-and-another-label": (
        NODE_POLICY,
        pod(nodeSelector={"topology.kubernetes.io/zone": "a", "kubernetes.io/hostname": "node-7"}),
        (2,),
    ),
    "required-affinity": (NODE_POLICY, pod(affinity=required("gpu")), (2,)),
    "required-affinity-to-the-zone": (NODE_POLICY, pod(affinity=required(ZONE_LABEL)), ()),
    "preferred-affinity": (NODE_POLICY, deployment(affinity=preferred("gpu")), (2,)),
    "preferred-affinity-to-the-zone": (NODE_POLICY, deployment(affinity=preferred(ZONE_LABEL)), ()),
    "affinity-to-a-named-node": (NODE_POLICY, pod(affinity=NAMED_NODE), (2,)),
    "affinity-to-pods": (NODE_POLICY, pod(affinity={"podAffinity": {}}), ()),
    "everything": (
        NODE_POLICY,
        pod(resourceClaims=CLAIMS, containers=gpus("nvidia.com/gpu"), nodeName="n", nodeSelector={"a": "b"}),
        (0, 1, 2),
    ),
    "pod-of-a-daemon-set": (NODE_POLICY, {**pod(nodeName="node-7"), "metadata": DAEMON}, ()),
    "pod-of-a-replica-set": (NODE_POLICY, {**pod(nodeName="node-7"), "metadata": REPLICAS}, (1,)),
    "takes-no-devices": (PRICE_POLICY, deployment(), ()),
    "not-priced": (PRICE_POLICY, deployment(resourceClaims=CLAIMS), (0,)),
    "priced": (PRICE_POLICY, priced(deployment(resourceClaims=CLAIMS)), ()),
    "priced-by-hand": (PRICE_POLICY, priced(deployment(resourceClaims=CLAIMS), "yes"), (0,)),
    "other-annotations": (
        PRICE_POLICY,
        {**deployment(resourceClaims=CLAIMS), "metadata": {"annotations": {"a": "b"}}},
        (0,),
    ),
    "pod-not-priced": (PRICE_POLICY, pod(resourceClaims=CLAIMS), (0,)),
    # It was judged with what made it; a controller of another kind was not.
    "pod-of-what-is-judged": (PRICE_POLICY, {**pod(resourceClaims=CLAIMS), "metadata": REPLICAS}, ()),
    "pod-of-what-is-not-judged": (PRICE_POLICY, {**pod(resourceClaims=CLAIMS), "metadata": OTHER_OWNER}, (0,)),
    "gpu-without-a-claim": (PRICE_POLICY, deployment(containers=gpus("nvidia.com/gpu")), (0,)),
    "gpu-of-an-init-container": (PRICE_POLICY, pod(initContainers=gpus("nvidia.com/mig-1g.10gb")), (0,)),
    "another-resource": (PRICE_POLICY, pod(containers=gpus("example.com/nic")), ()),
    "uses-a-claim-that-is-there": (PRICE_POLICY, pod(resourceClaims=[{"name": "a", "resourceClaimName": "b"}]), ()),
    "cron-job-not-priced": (
        PRICE_POLICY,
        {
            "kind": "CronJob",
            "metadata": {},
            "spec": {"jobTemplate": {"spec": deployment(resourceClaims=CLAIMS)["spec"]}},
        },
        (0,),
    ),
    "groups-not-priced": (PRICE_POLICY, groups(resourceClaims=CLAIMS), (0,)),
    "groups-whose-leader-alone-takes": (PRICE_POLICY, groups(leader={"resourceClaims": CLAIMS}), (0,)),
    "groups-priced": (PRICE_POLICY, priced(groups(resourceClaims=CLAIMS)), ()),
    "claim-not-priced": (PRICE_POLICY, {**claim(exactly("a")), "metadata": {}}, (0,)),
    "claim-priced": (PRICE_POLICY, priced({**claim(exactly("a")), "metadata": {}}), ()),
    "claim-of-a-pod": (PRICE_POLICY, {**claim(exactly("a")), "metadata": {"ownerReferences": [{"kind": "Pod"}]}}, ()),
}


@pytest.mark.parametrize(("name", "judged", "failed"), VERDICTS.values(), ids=VERDICTS)
def test_verdicts(name: str, judged: Object, failed: tuple[int, ...]) -> None:
    assert evaluate_policy(BASELINE[POLICY, name]["spec"], judged) == failed


def test_the_refusal_names_class_and_namespace() -> None:
    (validation,) = BASELINE[POLICY, LANE_POLICY]["spec"]["validations"]
    data = {"params": {"metadata": {"name": "shares"}}, "request": {"namespace": "chat"}}
    assert evaluate(validation["messageExpression"], data) == (
        "class shares is of the experiment lane, which admits no claims from namespace chat"
    )


def evaluate_policy(spec: Any, judged: Object) -> tuple[int, ...]:
    """The validations that fail; none where a match condition leaves the object out."""
    data = {
        "object": judged,
        "params": {"metadata": {"name": "experiment"}},
        "request": {"kind": {"kind": judged["kind"]}},
    }
    if not all(evaluate(condition["expression"], data) for condition in spec.get("matchConditions", ())):
        return ()
    expressions = [expand(rule["expression"], spec["variables"]) for rule in spec["validations"]]
    return tuple(number for number, expression in enumerate(expressions) if evaluate(expression, data) is False)


def expand(expression: str, variables: list[dict[str, str]]) -> str:
    """The expression with each variable's own in its place: a variable sees those before it."""
    for variable in reversed(variables):
        expression = expression.replace(f"variables.{variable['name']}", f"({variable['expression']})")
    return expression


def evaluate(expression: str, data: dict[str, Any]) -> Any:
    found = ENVIRONMENT.compile(expression).eval(data=data)
    assert str(found.type()) != "ERROR", found.value()
    return found.value()


def test_every_unit_that_has_a_price_passes_the_guard() -> None:
    """Of the example: all but the one whose devices several pods share."""
    guard, refused = BASELINE[POLICY, PRICE_POLICY]["spec"], []
    for closure in load_closures(read_fleet()):
        if isinstance(closure, UnitClosure):
            objects = [one for one in build_objects(closure) if one["kind"] in GUARDED]
            refused += [(closure.unit, one["kind"]) for one in objects if evaluate_policy(guard, one)]
    assert refused == [("guard-1b7", "Deployment")]
