"""What is to be placed: a pod with its claims, or a claim that no pod is known for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from poolwright.allocation.claim import Claim, Toleration
from poolwright.specs.document import Plain
from poolwright.specs.quantity import Quantity

ClaimKey = tuple[str, str]  # namespace, name


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A pod that isn't on a node yet, or a claim on its own, which is placed as the one claim of a pod would be."""

    kind: str  # Pod | ResourceClaim | the kind of a workload, of whose pods it is one
    namespace: str
    name: str
    uid: str = ""
    claims: tuple[Claim, ...] = ()  # in the pod's order, each as it was given; shared ones are equal in name
    claim_names: tuple[str, ...] = ()  # what the pod calls each of them; empty: the one for its extended resources
    problem: str = ""  # set: it can't be placed whatever the nodes have
    is_refused: bool = False  # the problem is that the API server doesn't store it, or something that it uses
    is_unknown: bool = False  # the problem is that something wasn't given
    hint: str = ""  # how to mend the problem, if that is known
    node_selector: Mapping[str, str] = field(default_factory=dict)
    node_affinity: Mapping[str, Plain] | None = None  # the required part, a v1 NodeSelector
    tolerations: tuple[Toleration, ...] = ()  # of node taints
    # Extended resources; where a node's device plugin offers one, that serves it.
    plugin_resources: tuple[str, ...] = ()
    # What it asks of its node beside devices, by resource. Not a part of the keys below: nothing here goes by it.
    requests: Mapping[str, Quantity] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """`Pod inference/chat-0`."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @cached_property
    def node_key(self) -> str:
        """Equal for subjects that the same nodes are open to."""
        parts = (sorted(self.node_selector.items()), self.node_affinity, self.tolerations, self.plugin_resources)
        return repr(parts)

    @cached_property
    def need_key(self) -> str:
        """Equal for subjects that need the same, on the same nodes, none of it allocated yet."""
        claims = [(claim.requests, claim.constraints) for claim in self.claims]
        found = [claim_key(claim) for claim in self.claims if claim.allocation is not None]
        return repr((self.node_key, claims, found))


def claim_key(claim: Claim) -> ClaimKey:
    """What a claim is known by."""
    return claim.namespace, claim.name
