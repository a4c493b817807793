"""From the router to the claim: as objects say it, whoever wrote them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from plan_world import pod_of
from poolwright.allocation.claim import EXACT_COUNT, Claim, ClaimRequest, Request
from poolwright.pages.document import ClaimStep, RouterStep, UnitLineage
from poolwright.pages.lineage import ObjectBook, build_lineage
from poolwright.plan.demand import Workload

Json = dict[str, Any]
ROUTED = {"app": "chat", "poolwright.dev/router-pool": "chat"}
CLAIMED = [{"name": "devices", "resourceClaimTemplateName": "chat-devices"}]
CLAIM = ClaimStep(name="devices", object="ResourceClaimTemplate/chat-devices", classes=("big", "small"))

UNNAMED = ClaimStep(name="devices", object="", classes=("big", "small"))
REQUESTS = tuple(Request(name=one, class_name=one, mode=EXACT_COUNT, count=1) for one in ("big", "small"))
PROTOTYPE = Claim(namespace="t", name="c", requests=(ClaimRequest(name="gpu", first_available=REQUESTS),))
WORKLOAD = Workload(
    title="t/chat",
    replicas=1,
    pods=(replace(pod_of("chat", PROTOTYPE), claim_names=("devices",)),),
    owner=("Deployment", "t", "chat"),
)


def made(kind: str, name: str, spec: object, namespace: str = "t") -> Json:
    return {"kind": kind, "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def deployment(labels: object = None, claims: object = None) -> Json:
    pod = {"containers": [{}], "resourceClaims": CLAIMED if claims is None else claims}
    labels = ROUTED if labels is None else labels
    return made("Deployment", "chat", {"template": {"metadata": {"labels": labels}, "spec": pod}})


def service(name: str, selector: object, namespace: str = "t") -> Json:
    return made("Service", name, {"selector": selector}, namespace)


def route(name: str, hostnames: object, *backends: object) -> Json:
    return made("HTTPRoute", name, {"hostnames": hostnames, "rules": [{"backendRefs": list(backends)}]})


def pool(name: str, labels: object) -> Json:
    return made("InferencePool", name, {"selector": {"matchLabels": labels}})


def group() -> Json:
    leader = {"metadata": {"labels": ROUTED}, "spec": {"containers": [], "resourceClaims": CLAIMED}}
    worker = {"metadata": {"labels": {"app": "chat"}}, "spec": {"containers": [], "resourceClaims": CLAIMED}}
    return made("Deployment", "chat", {"leaderWorkerTemplate": {"workerTemplate": worker, "leaderTemplate": leader}})


ALL = [
    deployment(),
    service("chat", {"app": "chat"}),
    pool("chat", {"poolwright.dev/router-pool": "chat"}),
    route("chat", ["b.example.com", "a.example.com"], {"kind": "InferencePool", "name": "chat"}),
]
IN_POOL = RouterStep(pool="chat", hostnames=(), route=None, backend=None)
CASES: dict[str, tuple[list[Any], UnitLineage]] = {
    "a-route-leads-to-a-pool-and-that-to-pods": (
        ALL,
        UnitLineage(
            router=RouterStep(
                pool="chat",
                hostnames=("a.example.com", "b.example.com"),
                route="HTTPRoute/chat",
                backend="InferencePool/chat",
            ),
            services=("chat",),
            workload="Deployment/chat",
            claims=(CLAIM,),
        ),
    ),
    "without-a-picker-the-route-leads-to-the-service": (
        [
            deployment({"app": "chat"}),
            service("chat", {"app": "chat"}),
            route("r", ["c.example.com"], {"name": "chat"}),
        ],
        UnitLineage(
            router=RouterStep(pool="", hostnames=("c.example.com",), route="HTTPRoute/r", backend="Service/chat"),
            services=("chat",),
            workload="Deployment/chat",
            claims=(CLAIM,),
        ),
    ),
    "the-label-of-a-pool-that-another-unit-owns": (
        [deployment()],
        UnitLineage(router=IN_POOL, services=(), workload="Deployment/chat", claims=(CLAIM,)),
    ),
    "of-a-group-the-leader-is-in-the-pool": (
        [group(), service("leaders", ROUTED)],
        UnitLineage(router=IN_POOL, services=("leaders",), workload="Deployment/chat", claims=(CLAIM,)),
    ),
    "others-and-those-of-other-namespaces-lead-elsewhere": (
        [
            deployment({"app": "chat"}, [{"name": "devices", "resourceClaimName": "mine"}]),
            *(service("other", {"app": "rag"}), service("far", {"app": "chat"}, "u"), service("none", {})),
            *(pool("other", {"app": "rag"}), route("other", ["x"], {"kind": "InferencePool", "name": "other"})),
        ],
        UnitLineage(
            router=None,
            services=(),
            workload="Deployment/chat",
            claims=(ClaimStep(name="devices", object="ResourceClaim/mine", classes=("big", "small")),),
        ),
    ),
    "no-object-no-name": (
        [],
        UnitLineage(router=None, services=(), workload="Deployment/chat", claims=(UNNAMED,)),
    ),
    # Nobody rendered them: plain manifests may hold anything.
    "shapes-that-are-none-lead-nowhere": (
        [
            deployment(["app"], {"name": 1}),
            *(service("list", ["app"]), service("none", None), made("Service", "text", "x")),
            *(route("a", "x", "y"), route("b", [1], {"kind": 2, "name": 3}), made("HTTPRoute", "c", {"rules": {}})),
            *(made("InferencePool", "p", {"selector": []}), {"kind": "Service", "metadata": None}, {"kind": []}),
        ],
        UnitLineage(router=None, services=(), workload="Deployment/chat", claims=(UNNAMED,)),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_leads_to_a_claim(name: str) -> None:
    objects, expected = CASES[name]
    assert build_lineage(WORKLOAD, ObjectBook({"chat": tuple(objects)})) == expected
    assert build_lineage(WORKLOAD, ObjectBook({"chat": tuple(reversed(objects))})) == expected


def test_nothing_leads_to_what_is_reserved_for_others() -> None:
    reserved = replace(WORKLOAD, owner=None, is_reservation=True)
    expected = UnitLineage(router=None, services=(), workload="", claims=())
    assert build_lineage(reserved, ObjectBook({"chat": tuple(ALL)})) == expected
