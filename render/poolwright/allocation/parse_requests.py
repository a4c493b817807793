"""What a pod asks of its node, as the scheduler counts it.

Source: k8s.io/component-helpers resource PodRequests and AggregateContainerRequests; of defaults,
kubernetes/kubernetes pkg/apis/core/v1 SetDefaults_Pod and defaultPodRequests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from poolwright.catalog.captured import CapturedField
from poolwright.specs.quantity import Quantity

_HUGE: Final = "hugepages-"
_Amounts = Mapping[str, Quantity]


def parse_requests(spec: CapturedField) -> dict[str, Quantity]:
    """A pod's effective requests by resource, sorted by its name.

    spec: of a pod or a template. What admission adds (LimitRanges, the overhead of a RuntimeClass) isn't in it.
    """
    containers = [parse_container_requests(entry) for entry in spec.get("containers").items()]
    inits = [
        (parse_container_requests(entry), entry.get("restartPolicy").text() == "Always")
        for entry in spec.get("initContainers").items()
    ]
    total = _sum_containers(containers, inits)
    for name, amount in _default_pod_requests(spec.get("resources"), total).items():
        # Of other resources the API server refuses a pod's own request; the scheduler looks at none.
        if _is_pod_level(name):
            total[name] = amount
    return dict(sorted(_add(total, _read(spec.get("overhead"), "overhead")).items()))


def parse_container_requests(container: CapturedField) -> dict[str, Quantity]:
    """The requests of a container; a limit is the request where there is none."""
    resources = container.get("resources")
    return {**_read(resources.get("limits"), "limit"), **_read(resources.get("requests"), "request")}


def _sum_containers(containers: Iterable[_Amounts], inits: Iterable[tuple[_Amounts, bool]]) -> dict[str, Quantity]:
    """All that run together, or the most while one starts: an init container beside the sidecars before it.

    inits: in their order, each with whether it is a sidecar, which goes on running.
    """
    total: dict[str, Quantity] = {}
    for one in containers:
        total = _add(total, one)
    sidecars: dict[str, Quantity] = {}
    starting: dict[str, Quantity] = {}
    for one, is_sidecar in inits:
        now = _add(sidecars, one)
        if is_sidecar:
            total, sidecars = _add(total, one), now
        starting = _take_larger(starting, now)
    return _take_larger(total, starting)


def _default_pod_requests(resources: CapturedField, total: _Amounts) -> dict[str, Quantity]:
    """The pod's own requests. Where it has limits, those that aren't written are its containers', or else the limits.

    total: what its containers request.
    """
    given, limits = _read(resources.get("requests"), "request"), _read(resources.get("limits"), "limit")
    if not limits:
        return given
    defaults = {name: amount for name, amount in total.items() if _is_pod_level(name) and not name.startswith(_HUGE)}
    return {**limits, **defaults, **given}


def _is_pod_level(name: str) -> bool:
    return name in ("cpu", "memory") or name.startswith(_HUGE)


def _read(field: CapturedField, what: str) -> dict[str, Quantity]:
    amounts = field.quantities(what)
    for name, amount in amounts.items():
        if amount.nano < 0:
            field.get(name).note("is negative", "a pod can't ask for less than nothing")
    return amounts


def _add(one: _Amounts, other: _Amounts) -> dict[str, Quantity]:
    both = dict(one)
    for name, amount in other.items():
        known = both.get(name)
        both[name] = amount if known is None else Quantity(known.nano + amount.nano, known.format)
    return both


def _take_larger(one: _Amounts, other: _Amounts) -> dict[str, Quantity]:
    both = dict(one)
    for name, amount in other.items():
        if name not in both or amount > both[name]:
            both[name] = amount
    return both
