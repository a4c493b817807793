"""From the router to the claim, as finished objects say it.

Objects may be plain manifests that nobody rendered: whatever isn't of the expected shape leads nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from poolwright.objects.kubernetes import Object
from poolwright.objects.routing import ROUTER_POOL
from poolwright.pages.document import ClaimStep, RouterStep, UnitLineage
from poolwright.plan.demand import Workload

_NOTHING: Mapping[str, object] = {}


class ObjectBook:
    """The objects of a cluster by kind and namespace."""

    def __init__(self, objects: Mapping[str, Sequence[Object]]) -> None:
        self._found: dict[tuple[str, str], list[Object]] = {}
        for unit in sorted(objects):
            for one in objects[unit]:
                self._found.setdefault((_text(one, "kind"), _text(one, "metadata", "namespace")), []).append(one)

    def list(self, kind: str, namespace: str) -> list[Object]:
        """Those of a kind, by name."""
        return sorted(self._found.get((kind, namespace), ()), key=_name)


def build_lineage(workload: Workload, book: ObjectBook) -> UnitLineage:
    """What leads to a workload's claims; of others' demand nothing does."""
    if workload.owner is None:
        return UnitLineage(router=None, services=(), workload="", claims=())
    kind, namespace, name = workload.owner
    own = next((one for one in book.list(kind, namespace) if _name(one) == name), {})
    templates = list(_list_templates(own))
    labels = [_map(_dig(one, "metadata", "labels")) for one in templates]
    services = tuple(
        _name(one) for one in book.list("Service", namespace) if _selects(_dig(one, "spec", "selector"), labels)
    )
    return UnitLineage(
        router=_build_router(book, namespace, labels, services),
        services=services,
        workload=f"{kind}/{name}",
        claims=_list_claims(workload, templates),
    )


def _build_router(
    book: ObjectBook, namespace: str, labels: Sequence[Mapping[str, object]], services: Sequence[str]
) -> RouterStep | None:
    """The pool that pods are in, and the routes to it or, without one, to a Service."""
    joined = next((pool for one in labels if isinstance(pool := one.get(ROUTER_POOL), str)), "")
    pools = [
        _name(one)
        for one in book.list("InferencePool", namespace)
        if _selects(_dig(one, "spec", "selector", "matchLabels"), labels)
    ]
    backends = {*(("InferencePool", one) for one in pools), *(("Service", one) for one in services)}
    routes = [
        (route, backend)
        for route in book.list("HTTPRoute", namespace)
        for backend in _list_backends(route)
        if backend in backends
    ]
    if not joined and not pools and not routes:
        return None
    hostnames = {
        host for route, _ in routes for host in _list(_dig(route, "spec", "hostnames")) if isinstance(host, str)
    }
    return RouterStep(
        pool=joined or (pools[0] if pools else ""),
        hostnames=tuple(sorted(hostnames)),
        route=f"HTTPRoute/{_name(routes[0][0])}" if routes else None,
        backend="/".join(routes[0][1]) if routes else None,
    )


def _list_backends(route: Object) -> Iterator[tuple[str, str]]:
    for rule in _list(_dig(route, "spec", "rules")):
        for one in _list(_dig(rule, "backendRefs")):
            yield _text(one, "kind") or "Service", _text(one, "name")


def _list_claims(workload: Workload, templates: Sequence[Mapping[str, object]]) -> tuple[ClaimStep, ...]:
    """The claims of all its pods by the name that pods call them, with the classes that may serve them."""
    objects: dict[str, dict[str, None]] = {}
    for template in templates:
        for one in _list(_dig(template, "spec", "resourceClaims")):
            for kind, key in (
                ("ResourceClaimTemplate", "resourceClaimTemplateName"),
                ("ResourceClaim", "resourceClaimName"),
            ):
                if found := _text(one, key):
                    objects.setdefault(_text(one, "name"), {})[f"{kind}/{found}"] = None
    classes: dict[str, dict[str, None]] = {}
    for pod in workload.pods:
        for claim, name in zip(pod.claims, pod.claim_names, strict=True):
            for entry in claim.requests:
                for request in (entry.exactly, *entry.first_available):
                    if request is not None and request.class_name:
                        classes.setdefault(name, {})[request.class_name] = None
            classes.setdefault(name, {})
    return tuple(
        ClaimStep(name=name, object=", ".join(objects.get(name, ())), classes=tuple(found))
        for name, found in classes.items()
    )


def _list_templates(value: object) -> Iterator[Mapping[str, object]]:
    """Whatever has a pod's spec in it, those of leaders before those of workers."""
    if isinstance(value, dict):
        if "containers" in _map(value.get("spec")):
            yield value
            return
        for key in sorted(value, key=str):
            yield from _list_templates(value[key])


def _selects(selector: object, labels: Sequence[Mapping[str, object]]) -> bool:
    """Whether it selects pods with some of these labels; an empty one selects none, as that of a Service."""
    wanted = _map(selector)
    return bool(wanted) and any(all(own.get(key) == value for key, value in wanted.items()) for own in labels)


def _name(one: object) -> str:
    return _text(one, "metadata", "name")


def _text(value: object, *keys: str) -> str:
    found = _dig(value, *keys)
    return found if isinstance(found, str) else ""


def _dig(value: object, *keys: str) -> object:
    for key in keys:
        value = _map(value).get(key)
    return value


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else _NOTHING


def _list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()
