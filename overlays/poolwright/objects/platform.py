"""What a cluster needs before its first unit: namespaces and device classes."""

from __future__ import annotations

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


def build_platform(closure: PlatformClosure) -> tuple[Object, ...]:
    """Namespaces, then DeviceClasses, each by name."""
    namespaces = sorted({name for pool in closure.pools for name in pool.namespaces})
    classes = sorted(
        ((device_class, pool) for pool in closure.pools for device_class in pool.device_classes),
        key=lambda pair: pair[0].name,
    )
    return (
        *(_build_namespace(name, closure.on) for name in namespaces),
        *(_build_class(device_class, pool, closure.on) for device_class, pool in classes),
    )


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
        "spec": {"selectors": [{"cel": {"expression": expression}} for expression in device_class.selectors]},
    }
