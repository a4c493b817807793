"""The structured allocator of kube-scheduler: the devices that a pod's claims would get on a node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from poolwright.allocation.attempt import Attempt
from poolwright.allocation.claim import Claim, DeviceClass
from poolwright.allocation.features import Features
from poolwright.allocation.held import Held
from poolwright.allocation.knowledge import Knowledge
from poolwright.allocation.outcome import Outcome
from poolwright.allocation.pools import NodePools
from poolwright.catalog.inventory import Node
from poolwright.catalog.resource_slice import ResourceSlice

# Candidates that one attempt on one node looks at: some seconds of work here, as kube-scheduler gives a node ten.
MAX_LOOKS: Final = 2_000_000


class Allocator:
    """The allocator of one Kubernetes version over the slices and classes of a cluster.

    One value serves any number of attempts: what doesn't depend on what is held is worked out once.
    Source: k8s.io/dynamic-resource-allocation structured of v0.34 to v0.37. Where a release is known to be wrong and a
            later one mends it, the later one is followed unless `Features.as_released` says otherwise.
    """

    def __init__(
        self,
        slices: Iterable[ResourceSlice],
        classes: Mapping[str, DeviceClass],
        features: Features,
        *,
        max_looks: int = MAX_LOOKS,
    ) -> None:
        self.features = features
        self.knowledge = Knowledge(slices, classes, features)
        self._max_looks = max_looks

    def pools(self, node: Node) -> NodePools:
        """The pools that a node can reach, in the order they are tried."""
        return self.knowledge.pools(node)

    def allocate(self, node: Node, claims: Sequence[Claim], held: Held, *, max_looks: int | None = None) -> Outcome:
        """Devices on this node for all of the claims, or none at all.

        claims:    without an allocation, in the pod's order, which decides who chooses first.
        held:      what all claims of the cluster hold; not changed.
        max_looks: a bound of its own for this attempt.
        Cost:      exponential at worst; GaveUp after `max_looks` candidates.
        """
        return Attempt(self.knowledge, node, claims, held, max_looks or self._max_looks).run()
