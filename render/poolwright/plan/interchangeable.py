"""Which devices of a node would do as well for a claim as the one it has."""

from __future__ import annotations

from dataclasses import replace

from poolwright.allocation.claim import Claim
from poolwright.allocation.constraints import find_attribute
from poolwright.allocation.held import DeviceId
from poolwright.allocation.subject import Subject
from poolwright.plan.demand import Demand, Workload
from poolwright.plan.methods.acceptance import Acceptance


class Interchangeable:
    """Counts devices that are the same for every clause of a claim: class, selectors, tolerations, constraints."""

    def __init__(self, demand: Demand) -> None:
        self._acceptance = Acceptance(demand)
        self._counts: dict[tuple[str, str, str, DeviceId], int] = {}

    def count(self, workload: Workload, pod: Subject, claim: Claim, request: str, device: DeviceId, node: str) -> int:
        """How many devices of a node do as well, itself included; of those that nobody has at the start.

        claim:   one of the pod's; one that was allocated before can have no other.
        request: `request` or `request/alternative` that the device is given for: it takes all that are counted.
        """
        if claim.allocation is not None:
            return 1
        shape = self._acceptance.shape(workload, replace(pod, claims=(claim,)))
        key = shape.key, request, node, device
        if key not in self._counts:
            there = shape.on_node.get(node, frozenset())
            wanted = self._list_compared(claim, request, device)
            given = {other for other in there if (request, other) in shape.alternatives}
            alike = {other for other in given if self._list_compared(claim, request, other) == wanted}
            self._counts[key] = len(alike | {device})
        return self._counts[key]

    def is_planned(self, device: DeviceId) -> bool:
        """Whether nobody has seen a device yet."""
        known = self._acceptance.candidates.get(device)
        return known is not None and known.device.planned

    def _list_compared(self, claim: Claim, request: str, device: DeviceId) -> tuple[str, ...]:
        """What a claim's constraints compare of a device that is given for a request."""
        one = self._acceptance.candidates[device].device
        names_of_it = {request, request.partition("/")[0]}
        ties = [tie for tie in claim.constraints if not tie.requests or names_of_it & {*tie.requests}]
        if ties and _derives(claim):
            return (repr(sorted(one.attributes.items())), repr(sorted(one.capacity.items())))
        names = (name for tie in ties for name in (tie.match_attribute, tie.distinct_attribute) if name)
        return tuple(repr(find_attribute(one, name)) for name in names)


def _derives(claim: Claim) -> bool:
    """Whether a constraint may compare what is worked out from any other attribute."""
    requests = (one for entry in claim.requests for one in (entry.exactly, *entry.first_available))
    return any(one is not None and one.derived_attributes for one in requests)
