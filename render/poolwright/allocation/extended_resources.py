"""Extended resources that are served by device classes: the one claim that the scheduler makes of a pod's requests.

Source: kube-scheduler, plugin dynamicresources, extendeddynamicresources.go; k8s.io/dynamic-resource-allocation
deviceclass/extendedresourcecache.
"""

from __future__ import annotations

from collections.abc import Sequence

from poolwright.allocation.claim import Claim, ClaimRequest, DeviceClass, Request
from poolwright.allocation.features import Features
from poolwright.allocation.pod import CLASS_RESOURCE, Container, Pod


def build_extended_claim(
    pod: Pod, classes: Sequence[DeviceClass], features: Features
) -> tuple[Claim | None, tuple[str, ...]]:
    """The claim for what a pod's containers request of devices, and the resources it is for.

    None: no request is one that a class serves, or the gate is off. Upstream leaves out those that a node's device
    plugin offers; here all are in it, and such a node isn't judged.
    """
    if not features.extended_resource:
        return None, ()
    names = sorted({name for container in pod.containers for name, amount in container.extended.items() if amount.nano})
    served = {name: found.name for name in names if (found := find_class(name, classes)) is not None}
    requests = [request for name, class_name in served.items() for request in _list_requests(pod, name, class_name)]
    if not requests:
        return None, ()
    ordered = sorted(requests, key=lambda request: request.name)
    claim = Claim(
        namespace=pod.namespace,
        name=f"{pod.name}-extended-resources",
        requests=tuple(ClaimRequest(name=request.name, exactly=request) for request in ordered),
        owner=pod.uid or None,
    )
    return claim, tuple(served)


def find_class(resource: str, classes: Sequence[DeviceClass]) -> DeviceClass | None:
    """The class that serves an extended resource; of several the newest, and of equally old ones the first by name."""
    if resource.startswith(CLASS_RESOURCE):
        return next((one for one in classes if CLASS_RESOURCE + one.name == resource), None)
    named = sorted((one for one in classes if one.extended_resource_name == resource), key=lambda one: one.name)
    return max(named, key=lambda one: one.created) if named else None


def _list_requests(pod: Pod, resource: str, class_name: str) -> list[Request]:
    """The requests for one resource.

    Containers that go on running each have their own. Those that end before the others start use what later ones will
    have, and one request together for what they need beyond that.
    """
    containers = pod.containers
    lasting: list[Request | None] = [
        None if one.is_init and not one.is_sidecar else _build_request(index, one, resource, class_name, 0)
        for index, one in enumerate(containers)
    ]
    most: Request | None = None
    for index, one in enumerate(containers):
        if not one.is_init or one.is_sidecar:
            continue
        later = sum(request.count for request in lasting[index:] if request is not None)
        extra = _build_request(index, one, resource, class_name, later)
        if extra is not None and (most is None or most.count < extra.count):
            most = extra
    return [request for request in (most, *lasting) if request is not None]


def _build_request(index: int, container: Container, resource: str, class_name: str, later: int) -> Request | None:
    """What a container needs beyond what it finds; None: nothing."""
    amount = container.extended.get(resource)
    count = 0 if amount is None else amount.value_ceil - later
    if count <= 0:
        return None
    number = container.resources.index(resource)
    return Request(name=f"container-{index}-request-{number}", class_name=class_name, count=count)
