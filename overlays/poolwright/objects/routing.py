"""How requests reach a unit's replicas: the pool that a picker chooses from, its priority, and the route to it."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import UnitClosure
from poolwright.objects.about import build_about_metadata
from poolwright.objects.envelope import SERVICE_PORT
from poolwright.objects.kubernetes import Object
from poolwright.specs.envelope import EndpointPicker
from poolwright.specs.pool import Tier
from poolwright.specs.project import GatewayReference

ROUTER_POOL: Final = "poolwright.dev/router-pool"
_POOL_GROUP: Final = "inference.networking.k8s.io"
_GATEWAY_GROUP: Final = "gateway.networking.k8s.io"
# Which requests are shed first when a pool is full: those of the lower number.
_PRIORITY: Final[dict[Tier, int]] = {"interactive": 10, "batch": -10}
# Without its picker a pool answers 503, or spreads requests blindly. Blind choice overruns the KV cache of some
# replica: what may wait survives that, what people wait for is refused instead.
_FAILURE_MODE: Final[dict[Tier, str]] = {"interactive": "FailClose", "batch": "FailOpen"}


def build_routing(closure: UnitClosure) -> tuple[Object, ...]:
    """InferencePool, InferenceObjective and HTTPRoute, in this order, each where the specs ask for it.

    A router pool has one owner, and only that unit renders them: replicas of a unit that joins carry the owner's name
    in their label, and the owner's objects find them by it. Defaults of the API server are written out, so that
    Argo CD sees no difference.
    """
    if closure.router_pool != closure.unit:
        return ()
    router, placed = closure.envelope.spec.router, closure.placement.router
    objects: list[Object] = []
    if router:
        objects += [_build_pool(closure, router.endpoint_picker), _build_objective(closure)]
    if placed and placed.hostnames and closure.on.gateway:
        objects.append(_build_route(closure, closure.on.gateway, sorted(set(placed.hostnames))))
    return tuple(objects)


def _build_pool(closure: UnitClosure, picker: EndpointPicker) -> Object:
    return {
        "apiVersion": f"{_POOL_GROUP}/v1",
        "kind": "InferencePool",
        "metadata": build_about_metadata(closure),
        "spec": {
            # Only pods that take requests have the label: of a LeaderWorkerSet's groups the leaders.
            "selector": {"matchLabels": {ROUTER_POOL: closure.unit}},
            "targetPorts": [{"number": SERVICE_PORT}],
            "endpointPickerRef": {
                "group": "",
                "kind": "Service",
                "name": picker.service_name,
                "port": {"number": picker.port},
                "failureMode": _FAILURE_MODE[closure.tier],
            },
        },
    }


def _build_objective(closure: UnitClosure) -> Object:
    return {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha2",
        "kind": "InferenceObjective",
        "metadata": build_about_metadata(closure),
        "spec": {
            "priority": _PRIORITY[closure.tier],
            "poolRef": {"group": _POOL_GROUP, "kind": "InferencePool", "name": closure.unit},
        },
    }


def _build_route(closure: UnitClosure, gateway: GatewayReference, hostnames: list[str]) -> Object:
    """To the pool where a picker chooses, else to the Service, which spreads connections evenly."""
    picked = closure.envelope.spec.router is not None
    backend = {
        "group": _POOL_GROUP if picked else "",
        "kind": "InferencePool" if picked else "Service",
        "name": closure.unit,
        "port": SERVICE_PORT,
        "weight": 1,
    }
    parent = {"group": _GATEWAY_GROUP, "kind": "Gateway", "name": gateway.name, "namespace": gateway.namespace}
    return {
        "apiVersion": f"{_GATEWAY_GROUP}/v1",
        "kind": "HTTPRoute",
        "metadata": build_about_metadata(closure),
        "spec": {
            "parentRefs": [parent],
            "hostnames": hostnames,
            "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}], "backendRefs": [backend]}],
        },
    }
