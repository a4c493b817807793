"""What one pod of an envelope claims: requests and constraints by name, before any device class is chosen."""

from __future__ import annotations

from typing import Final

from poolwright.specs.envelope import EnvelopeSpec, Topology
from poolwright.specs.model import Model

ACCELERATORS: Final = "gpu"  # the request for what the engine computes on
ENGINE_CONTAINER: Final = "engine"
# Of one claim: devices, and as many requests and constraints. k8s.io/api resource/v1.
MAX_PER_CLAIM: Final = 32


class PlannedRequest(Model, frozen=True, kw_only=True):
    """A request of the claim."""

    name: str
    count: int
    extra: int | None = None  # index of the envelope's extra request; None: accelerators


# What the devices of some requests have in common: the requests' names, and the attribute.
PlannedConstraint = tuple[tuple[str, ...], str]


def devices_per_replica(topology: Topology) -> int:
    """Accelerators of all pods of a replica."""
    return topology.tensor_parallel * topology.pipeline_parallel * topology.data_parallel


def devices_per_pod(topology: Topology) -> int:
    """Accelerators of one pod; `parallel-count` makes sure that the nodes divide them evenly."""
    return devices_per_replica(topology) // topology.nodes


def count_extra(spec: EnvelopeSpec, index: int) -> int:
    """Devices that an extra request asks for in each pod."""
    request = spec.claim.extra_requests[index]
    return request.count or (request.per_device or 0) * devices_per_pod(spec.topology)


def list_paired(spec: EnvelopeSpec) -> tuple[int, ...]:
    """The extra requests that share an attribute with one accelerator each, by index, in order of their names."""
    extra = spec.claim.extra_requests
    return tuple(i for i in _by_name(spec) if extra[i].count is None and extra[i].match_attribute is not None)


def plan_requests(spec: EnvelopeSpec) -> tuple[PlannedRequest, ...]:
    """The requests of one pod's claim, in the one order that they have.

    A constraint holds over all devices of its requests. So where something is paired with each of several
    accelerators, every accelerator has a request of its own, and stands beside what it is paired with: the allocator
    tries requests in this order, and notices a bad pair before it looks for the next one.
    Cost: linear in the number of devices where things are paired; `check_envelope` bounds it before.
    """
    extra, paired, suffixes = spec.claim.extra_requests, list_paired(spec), _list_suffixes(spec)
    requests = []
    for suffix in suffixes:
        own = devices_per_pod(spec.topology) // len(suffixes)
        requests.append(PlannedRequest(name=ACCELERATORS + suffix, count=own))
        for index in paired:
            beside = count_extra(spec, index) // len(suffixes)
            requests.append(PlannedRequest(name=extra[index].name + suffix, count=beside, extra=index))
    for index in _by_name(spec):
        if index not in paired:
            requests.append(PlannedRequest(name=extra[index].name, count=count_extra(spec, index), extra=index))
    return tuple(requests)


def plan_constraints(spec: EnvelopeSpec) -> tuple[PlannedConstraint, ...]:
    """The constraints between them: what all accelerators share, by attribute, then pair by pair."""
    suffixes = _list_suffixes(spec)
    accelerators = tuple(ACCELERATORS + suffix for suffix in suffixes)
    shared = sorted({constraint.match_attribute for constraint in spec.claim.constraints})
    pairs = [
        ((ACCELERATORS + suffix, request.name + suffix), request.match_attribute)
        for suffix in suffixes
        for request in map(spec.claim.extra_requests.__getitem__, list_paired(spec))
        if request.match_attribute is not None
    ]
    return (*((accelerators, attribute) for attribute in shared), *pairs)


def _list_suffixes(spec: EnvelopeSpec) -> list[str]:
    """What the names of an accelerator's request, and of those paired with it, end with."""
    count = devices_per_pod(spec.topology)
    return [f"-{number}" for number in range(count)] if list_paired(spec) and count > 1 else [""]


def _by_name(spec: EnvelopeSpec) -> list[int]:
    """Order means nothing in the envelope's list, so it has one order here."""
    extra = spec.claim.extra_requests
    return sorted(range(len(extra)), key=lambda index: extra[index].name)
