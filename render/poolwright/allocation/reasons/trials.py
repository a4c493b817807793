"""What would have come of it if something were otherwise: each is tried with the allocator itself before it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from poolwright.allocation.claim import EXACT_COUNT, Claim, ClaimRequest
from poolwright.allocation.outcome import Allocated
from poolwright.allocation.placing import Placer
from poolwright.allocation.subject import ClaimKey
from poolwright.catalog.inventory import Node

MAX_TRIALS: Final = 200  # for one subject; beyond them nothing more is said
_MAX_LOOKS: Final = 20_000  # of one trial


@dataclass(frozen=True, slots=True)
class Served:
    """A trial that came out well."""

    node: str
    devices: tuple[str, ...]  # names, in the order they were given


class Trials:
    """Tries changes for the claims of one subject."""

    def __init__(self, placer: Placer) -> None:
        self._placer = placer
        self._left = MAX_TRIALS

    @property
    def is_spent(self) -> bool:
        """Whether the trials are used up: what didn't come out well may not have been tried."""
        return self._left <= 0

    def serve(self, claims: Sequence[Claim], nodes: Sequence[Node]) -> Served | None:
        """The first of the nodes that can serve these claims; None: none can, or the trials are used up."""
        for node in nodes:
            if self._left <= 0:
                return None
            self._left -= 1
            outcome = self._placer.allocator.allocate(node, claims, self._placer.held, max_looks=_MAX_LOOKS)
            if isinstance(outcome, Allocated):
                return Served(node.name, tuple(one.device for given in outcome.allocations for one in given.devices))
        return None

    def serve_without(
        self, holders: Sequence[ClaimKey], claims: Sequence[Claim], nodes: Sequence[Node]
    ) -> Served | None:
        """As serve, if other claims gave back what they hold."""
        allocations = [self._placer.allocations[holder] for holder in holders]
        for allocation in allocations:
            self._placer.held.remove(allocation)
        try:
            return self.serve(claims, nodes)
        finally:
            for allocation in allocations:
                self._placer.held.add(allocation)


def drop_constraint(claims: Sequence[Claim], at: int, number: int) -> tuple[Claim, ...]:
    """The claims without one constraint of the claim at this index."""
    claim = claims[at]
    kept = claim.constraints[:number] + claim.constraints[number + 1 :]
    return (*claims[:at], replace(claim, constraints=kept), *claims[at + 1 :])


def keep_request(claim: Claim, number: int) -> Claim:
    """The claim with one of its requests alone."""
    return replace(claim, requests=claim.requests[number : number + 1])


def lower_count(claim: Claim, number: int, count: int) -> Claim:
    """The claim with fewer devices in one request."""
    entry = claim.requests[number]
    if entry.exactly is None or entry.exactly.mode != EXACT_COUNT:
        return claim
    lowered: ClaimRequest = replace(entry, exactly=replace(entry.exactly, count=count))
    return replace(claim, requests=(*claim.requests[:number], lowered, *claim.requests[number + 1 :]))
