"""What a cluster needs before its first unit: namespaces, device classes, quotas, priorities and guard rails."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.catalog.closure import ClusterClosure, PlatformClosure, PlatformPool
from poolwright.catalog.device_class import DeviceClass
from poolwright.objects.kubernetes import (
    CLASS_WAVE,
    LANE,
    MANAGED_BY,
    NAMESPACE_WAVE,
    OWNER,
    PART_OF,
    POOL,
    POOL_VERSION,
    SYNC_OPTIONS,
    SYNC_WAVE,
    TIER,
    Object,
)
from poolwright.specs.pool import Tier
from poolwright.specs.project import TierPolicy, Tiers

QUOTA: Final = "poolwright-devices"


def build_platform(closure: PlatformClosure) -> tuple[Object, ...]:
    """Namespaces, DeviceClasses, quotas, priorities, admission policies and the dashboard, in this order, each by name.

    The namespaces are those that the pools admit and the dashboard's; the GPU operator's is its Helm Application's.
    """
    from poolwright.objects.dashboard import DASHBOARD_NAMESPACE, build_dashboard  # not for the units' start-up
    from poolwright.objects.policy import build_policies

    namespaces = sorted({namespace.name for pool in closure.pools for namespace in pool.namespaces})
    classes = sorted(
        ((device_class, pool) for pool in closure.pools for device_class in pool.device_classes),
        key=lambda pair: pair[0].name,
    )
    return (
        *(_build_namespace(name, closure.on) for name in sorted({*namespaces, DASHBOARD_NAMESPACE})),
        *(_build_class(device_class, pool, closure.on) for device_class, pool in classes),
        *_build_quotas(namespaces, closure),
        *_build_priorities(closure.tiers, closure.on),
        *build_policies(closure),
        build_dashboard(closure.on),
    )


def priority_class_name(tier: Tier) -> str:
    """The PriorityClass of a tier's pods."""
    return f"poolwright-{tier}"


def _build_namespace(name: str, on: ClusterClosure) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {**MANAGED_BY, PART_OF: on.project},
            # A namespace that leaves the specs takes everything in it along: that is a person's decision.
            "annotations": {SYNC_OPTIONS: "Prune=false", SYNC_WAVE: NAMESPACE_WAVE},
        },
    }


def _build_class(device_class: DeviceClass, pool: PlatformPool, on: ClusterClosure) -> Object:
    spec: Object = {"selectors": [{"cel": {"expression": expression}} for expression in device_class.selectors]}
    if device_class.extended_resource_name is not None:
        spec["extendedResourceName"] = device_class.extended_resource_name
    return {
        "apiVersion": f"resource.k8s.io/{on.resource_api}",
        "kind": "DeviceClass",
        "metadata": {
            "name": device_class.name,
            "labels": {
                **MANAGED_BY,
                PART_OF: on.project,
                LANE: pool.lane,
                OWNER: pool.owner,
                POOL: pool.name,
                TIER: device_class.tier,
            },
            "annotations": {POOL_VERSION: pool.version, SYNC_WAVE: CLASS_WAVE},
        },
        "spec": spec,
    }


def _build_quotas(namespaces: list[str], closure: PlatformClosure) -> Iterator[Object]:
    """One ResourceQuota per namespace that any pool limits; pools of a cluster share no class, so no two limits meet.

    Source: Kubernetes resource quotas, devices of a class; a request for the first available of several classes counts
    in each of them.
    """
    for name in namespaces:
        devices = {
            f"{class_name}.deviceclass.resource.k8s.io/devices": str(count)
            for pool in closure.pools
            for namespace in pool.namespaces
            if namespace.name == name
            for class_name, count in namespace.quota.items()
        }
        if devices:
            yield {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"namespace": name, **_metadata(QUOTA, closure.on)},
                "spec": {"hard": devices},
            }


def _build_priorities(tiers: Tiers, on: ClusterClosure) -> Iterator[Object]:
    """A PriorityClass per tier. Neither takes a device from anybody: DRA knows no preemption.

    The API server refuses another value for one that exists: whoever changes a tier's priority deletes the old class.
    """
    rows: tuple[tuple[Tier, TierPolicy, str, str], ...] = (
        ("batch", tiers.batch, "Never", "May wait in a queue; displaces nobody."),
        ("interactive", tiers.interactive, "PreemptLowerPriority", "Served while people wait."),
    )
    for tier, policy, preemption, description in rows:
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": _metadata(priority_class_name(tier), on),
            "description": description,
            "preemptionPolicy": preemption,
            "value": policy.priority,
        }


def _metadata(name: str, on: ClusterClosure) -> Object:
    return {
        "name": name,
        "labels": {**MANAGED_BY, PART_OF: on.project},
        "annotations": {SYNC_WAVE: CLASS_WAVE},
    }
