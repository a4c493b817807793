"""The platform unit: namespaces, classes, quotas and priorities, each following from the pools and the Project."""

from __future__ import annotations

import pytest

from crd_schemas import object_errors
from fleet import FACTS, PROJECT, Files, edit, load_unit, read_fleet
from kubernetes_schemas import MINORS
from poolwright.catalog.closure import PlatformClosure
from poolwright.objects.kubernetes import SYNC_WAVE, Object
from poolwright.objects.platform import build_platform, priority_class_name

FLEET = read_fleet()
H100, MIG = "specs/pools/h100-full.yaml", "specs/pools/static-mig.yaml"
CLUSTERS = ("east", "lab", "lab-alpha")


def build(files: Files, cluster: str = "east") -> tuple[Object, ...]:
    closure = load_unit(files, cluster, "platform")
    assert isinstance(closure, PlatformClosure)
    return build_platform(closure)


def of_kind(objects: tuple[Object, ...], kind: str) -> list[Object]:
    return [document for document in objects if document["kind"] == kind]


def quotas(files: Files) -> dict[str, dict[str, str]]:
    return {
        quota["metadata"]["namespace"]: {
            name.removesuffix(".deviceclass.resource.k8s.io/devices"): count
            for name, count in quota["spec"]["hard"].items()
        }
        for quota in of_kind(build(files), "ResourceQuota")
    }


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_every_known_kubernetes_takes_them(cluster: str, minor: str) -> None:
    for document in build(FLEET, cluster):
        assert object_errors(document, minor) == []
        assert document["apiVersion"] == FACTS.api_version(minor, document["kind"])


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_others_rest_on_is_applied_first(cluster: str) -> None:
    waves = [int(document["metadata"]["annotations"][SYNC_WAVE]) for document in build(FLEET, cluster)]
    assert waves == sorted(waves)


EAST_QUOTAS = {
    "chat": {"interactive-80g": "23", "rdma-nic": "2"},
    "guard": {"mig-20g": "3"},
    "offline": {"mig-40g": "8", "full-40g": "8"},
    "reasoning": {"interactive-80g": "16"},
    # Two pools admit it, and each limits its own classes.
    "search": {"interactive-80g": "2", "mig-20g": "1"},
}


def test_a_namespace_has_one_quota_over_the_classes_of_all_pools() -> None:
    assert quotas(FLEET) == EAST_QUOTAS


def test_a_quota_is_the_pools_own_word() -> None:
    assert quotas(edit(FLEET, MIG, ("mig-40g: 8", "mig-40g: 7"))) == {
        **EAST_QUOTAS,
        "offline": {"mig-40g": "7", "full-40g": "8"},
    }


def test_a_namespace_that_no_pool_limits_has_no_quota() -> None:
    files = edit(FLEET, MIG, ("{name: guard, quota: {mig-20g: 3}}", "{name: guard}"))
    assert quotas(files) == {name: quota for name, quota in EAST_QUOTAS.items() if name != "guard"}
    assert "guard" in {namespace["metadata"]["name"] for namespace in of_kind(build(files), "Namespace")}


def priorities(files: Files) -> dict[str, tuple[int, str]]:
    return {
        found["metadata"]["name"]: (found["value"], found["preemptionPolicy"])
        for found in of_kind(build(files), "PriorityClass")
    }


def test_tiers_are_priorities() -> None:
    assert priorities(FLEET) == {
        "poolwright-batch": (10_000, "Never"),
        "poolwright-interactive": (100_000, "PreemptLowerPriority"),
    }
    tiers = "spec:\n  tiers: {interactive: {priority: 7}, batch: {priority: -5}}\n"
    assert priorities(edit(FLEET, PROJECT, ("spec:\n", tiers))) == {
        "poolwright-batch": (-5, "Never"),
        "poolwright-interactive": (7, "PreemptLowerPriority"),
    }
    assert set(priorities(FLEET)) == {priority_class_name("batch"), priority_class_name("interactive")}


def test_the_operators_namespace_is_not_ours() -> None:
    assert "gpu-operator" not in {namespace["metadata"]["name"] for namespace in of_kind(build(FLEET), "Namespace")}


def test_an_extended_resource_name_stands_in_its_class_alone() -> None:
    named = edit(
        FLEET,
        H100,
        ("- name: interactive-80g\n", "- name: interactive-80g\n      extendedResourceName: example.com/h100\n"),
    )
    before, after = of_kind(build(FLEET), "DeviceClass"), of_kind(build(named), "DeviceClass")
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    ((old, new),) = changed
    assert new == {**old, "spec": {**old["spec"], "extendedResourceName": "example.com/h100"}}
    assert new["metadata"]["name"] == "interactive-80g"


def test_bounds_of_a_version_are_a_selector_of_the_class() -> None:
    files = edit(
        FLEET,
        H100,
        (
            "        architecture: [Hopper]\n",
            "        architecture: [Hopper]\n      versions: {cudaComputeCapability: {below: 10.0.0}}\n",
        ),
    )
    selectors = {
        document["metadata"]["name"]: [selector["cel"]["expression"] for selector in document["spec"]["selectors"]]
        for document in of_kind(build(files), "DeviceClass")
    }
    read = 'device.attributes["gpu.nvidia.com"].cudaComputeCapability'
    assert f'has({read}) && {read}.compareTo(semver("10.0.0")) < 0' in selectors["interactive-80g"]
