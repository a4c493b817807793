"""A request as the search works on it: checked, with its class and what it may be given."""

from __future__ import annotations

from dataclasses import dataclass

from poolwright.allocation.capacity import CapacityError
from poolwright.allocation.claim import DeviceClass, Request
from poolwright.allocation.constraints import ConstraintState
from poolwright.allocation.pools import Candidate, Pool
from poolwright.allocation.selectors import SelectorProblem
from poolwright.specs.quantity import Quantity

# What is known of a device, whoever asks for it: whether selectors take it, and what it would give of its capacity.
Matches = dict[Candidate, bool | tuple[str, str, SelectorProblem]]  # of what the selector is, its text, the problem
Consumption = dict[Candidate, dict[str, Quantity] | CapacityError | None]


@dataclass(slots=True, kw_only=True, eq=False)
class Need:
    """One request, or one alternative of a request."""

    claim: int
    request: Request
    base: str  # the name of the request
    alternative: str = ""  # the alternative's; "": the request has none
    device_class: DeviceClass
    constraints: tuple[ConstraintState, ...] = ()  # those that apply, in the claim's order
    count: int = 0
    all_devices: tuple[tuple[Pool, Candidate], ...] | None = None  # of All: exactly these
    matches: Matches  # shared by all needs with the same selectors
    consumption: Consumption  # shared by all needs that ask for the same capacity

    @property
    def name(self) -> str:
        """`request` or `request/alternative`."""
        return f"{self.base}/{self.alternative}" if self.alternative else self.base

    @property
    def admin(self) -> bool:
        """Whether it is for administration: it may have devices that others hold."""
        return bool(self.request.admin_access)


NeedsOfClaim = tuple[tuple[Need, ...], ...]  # by request; several needs are alternatives, in their order
