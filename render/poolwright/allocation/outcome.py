"""What the allocator answers for the claims of a pod on one node."""

from __future__ import annotations

from dataclasses import dataclass

from poolwright.allocation.claim import Allocation
from poolwright.allocation.held import DeviceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocated:
    """Every claim gets devices."""

    allocations: tuple[Allocation, ...]  # one per claim, in their order
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAllocated:
    """The node can't serve all claims at once; another may."""

    steps: int
    invalid_pools: bool = False  # a pool of the node contradicts itself: upstream names that as the reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptError:
    """The scheduling attempt of the pod ends, on whichever node this is met; it is repeated later."""

    message: str  # in upstream's words
    claim: int | None = None  # index of the claim that it is met at; None: none in particular
    device: DeviceId | None = None
    selector: str = ""  # the CEL expression, if that is what failed
    selector_of: str = ""  # "class gpu.example.com, selector 0", "request gpu, selector 1"
    hint: str = ""
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GaveUp:
    """The search took more work than it may; whether there is a solution isn't known."""

    steps: int
    looked_at: int  # candidates


Outcome = Allocated | NotAllocated | AttemptError | GaveUp
