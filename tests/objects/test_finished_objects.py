"""Finished objects: what a unit's objects owe the API server, each other and the cluster's platform."""

from __future__ import annotations

from typing import Any

import pytest

from crd_schemas import object_errors
from fleet import load_closures, read_fleet
from fleet_variants import VARIANTS
from kubernetes_schemas import MINORS, rule_errors
from poolwright.catalog.closure import BaseClosure, Closure, PlatformClosure, UnitClosure
from poolwright.objects.built import list_leaves
from poolwright.objects.kubernetes import SYNC_WAVE, UNIT, Object, identify
from poolwright.objects.unit import build_objects
from poolwright.trees.tree import unit_name

EXAMPLE = "example"
CLOSURES = {
    **{name: load_closures(files) for name, (files, _) in VARIANTS.items()},
    EXAMPLE: load_closures(read_fleet()),
}
# Of the small fleet's forms: one workload, one template of one request. The example's units have tests of their own.
UNITS = [
    pytest.param(closure, id=f"{name}: {unit_name(closure)}")
    for name, closures in CLOSURES.items()
    for closure in closures
    if isinstance(closure, UnitClosure) and name != EXAMPLE
]
ALL = [
    pytest.param(closure, id=f"{name}: {unit_name(closure)}")
    for name, closures in CLOSURES.items()
    for closure in closures
]


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("variant", CLOSURES)
def test_every_known_kubernetes_takes_them(variant: str, minor: str) -> None:
    finished = [closure for closure in CLOSURES[variant] if not isinstance(closure, BaseClosure)]
    wrong = {
        (unit_name(closure), *identify(document)): problems
        for closure in finished
        for document in build_objects(closure)
        if (problems := [*object_errors(document, minor), *rule_errors(document)])
    }
    assert wrong == {}


def test_the_variants_are_of_every_known_kubernetes() -> None:
    assert MINORS == ("1.34", "1.35", "1.36", "1.37")


@pytest.mark.parametrize("closure", ALL)
def test_no_two_have_one_name(closure: Closure) -> None:
    identities = [identify(document) for document in build_objects(closure)]
    assert len(set(identities)) == len(identities)


# What the API server has there too: its defaults of admission policies, and the core group's name.
MEANT: list[tuple[str, str, str, Any]] = [
    *(
        (kind, under, selector, {})
        for kind, under in (
            ("ValidatingAdmissionPolicy", "matchConstraints"),
            ("ValidatingAdmissionPolicyBinding", "matchResources"),
        )
        for selector in ("namespaceSelector", "objectSelector")
    ),
    ("ValidatingAdmissionPolicy", "apiGroups", "*", ""),
    ("InferencePool", "endpointPickerRef", "group", ""),
    ("AppProject", "*", "group", ""),
]


def _last_steps(pointer: str) -> tuple[str, str]:
    """The last two steps, list positions as `*`."""
    first, last = pointer.split("/")[-2:]
    return "*" if first.isdecimal() else first, "*" if last.isdecimal() else last


@pytest.mark.parametrize("closure", ALL)
def test_nothing_is_written_that_says_nothing(closure: Closure) -> None:
    """Argo CD would compare an empty list or null with what the API server left out."""
    empty = [
        (document["kind"], pointer, value)
        for document in build_objects(closure)
        for pointer, value in list_leaves(document).items()
        if value in ({}, [], "", None) and (document["kind"], *_last_steps(pointer), value) not in MEANT
    ]
    assert empty == []


@pytest.mark.parametrize("closure", ALL)
def test_they_are_listed_in_the_order_of_their_waves(closure: Closure) -> None:
    waves = [
        int(document["metadata"].get("annotations", {}).get(SYNC_WAVE, "0")) for document in build_objects(closure)
    ]
    assert waves == sorted(waves)


@pytest.mark.parametrize("closure", UNITS)
def test_containers_claim_what_the_pod_has_and_the_pod_what_the_unit_has(closure: UnitClosure) -> None:
    objects = build_objects(closure)
    pod = _pod(objects)
    templates = {document["metadata"]["name"]: document for document in _of_kind(objects, "ResourceClaimTemplate")}
    claims = {claim["name"]: claim["resourceClaimTemplateName"] for claim in pod["resourceClaims"]}
    claimed = {claim["name"] for container in pod["containers"] for claim in container["resources"]["claims"]}
    assert claimed == set(claims)
    assert set(claims.values()) == set(templates)
    for template in templates.values():
        (request,) = template["spec"]["spec"]["devices"]["requests"]
        assert request["exactly"]["count"] == closure.envelope.spec.topology.tensor_parallel
        assert f"--tensor-parallel-size={request['exactly']['count']}" in pod["containers"][0]["args"]


@pytest.mark.parametrize("closure", UNITS)
def test_selectors_volumes_and_ports_lead_somewhere(closure: UnitClosure) -> None:
    objects = build_objects(closure)
    (deployment,), (service,) = _of_kind(objects, "Deployment"), _of_kind(objects, "Service")
    template, pod = deployment["spec"]["template"], _pod(objects)
    selector = {UNIT: closure.unit}
    assert deployment["spec"]["selector"]["matchLabels"] == service["spec"]["selector"] == selector
    assert selector.items() <= template["metadata"]["labels"].items()
    volumes = {volume["name"] for volume in pod["volumes"]}
    ports = {port["name"] for container in pod["containers"] for port in container["ports"]}
    for container in pod["containers"]:
        assert {mount["name"] for mount in container["volumeMounts"]} == volumes
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            assert container[probe]["httpGet"]["port"] in ports
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports


@pytest.mark.parametrize("variant", CLOSURES)
def test_units_stand_in_namespaces_and_claim_classes_of_their_cluster(variant: str) -> None:
    platforms = {c.on.cluster: build_objects(c) for c in CLOSURES[variant] if isinstance(c, PlatformClosure)}
    for closure in CLOSURES[variant]:
        if isinstance(closure, UnitClosure):
            platform, objects = platforms[closure.on.cluster], build_objects(closure)
            namespaces = {document["metadata"]["name"] for document in _of_kind(platform, "Namespace")}
            assert {document["metadata"]["namespace"] for document in objects} <= namespaces
            specs = [template["spec"]["spec"] for template in _of_kind(objects, "ResourceClaimTemplate")]
            specs += [claim["spec"] for claim in _of_kind(objects, "ResourceClaim")]
            claimed = {
                choice["deviceClassName"]
                for spec in specs
                for request in spec["devices"]["requests"]
                for choice in request.get("firstAvailable", [request.get("exactly")])
            }
            classes = {document["metadata"]["name"] for document in _of_kind(platform, "DeviceClass")}
            assert claimed
            assert claimed <= classes


@pytest.mark.parametrize("closure", UNITS)
def test_an_update_can_always_go_on(closure: UnitClosure) -> None:
    """Without a surge one pod must be let go; with one none need be."""
    (deployment,) = _of_kind(build_objects(closure), "Deployment")
    surge = closure.placement.surge
    assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxSurge": surge, "maxUnavailable": 0 if surge else 1}


def _of_kind(objects: tuple[Object, ...], kind: str) -> list[Object]:
    return [document for document in objects if document["kind"] == kind]


def _pod(objects: tuple[Object, ...]) -> Any:
    (deployment,) = _of_kind(objects, "Deployment")
    return deployment["spec"]["template"]["spec"]
