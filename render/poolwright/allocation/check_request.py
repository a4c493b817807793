"""A claim's requests and constraints, checked as the allocator does before it looks for devices."""

from __future__ import annotations

from poolwright.allocation.claim import ALL, EXACT_COUNT, Claim, ClaimRequest, DeviceClass, Request
from poolwright.allocation.features import Features


def check_gates(claim: Claim, entry: ClaimRequest, features: Features) -> str | None:
    """What a request uses that is off, in upstream's words; None: nothing."""
    start = f"claim {claim.title}, request {entry.name}"
    if entry.first_available and not features.prioritized_list:
        return f"{start}: has subrequests, but the DRAPrioritizedList feature is disabled"
    if features.knows_shares and not features.consumable_capacity:
        rest = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
        if entry.exactly is not None and entry.exactly.capacity is not None:
            return f"{start}: {rest}"
        for alternative in entry.first_available:
            if alternative.capacity is not None:
                return f"claim {claim.title}, subrequest {alternative.name}: {rest}"
    return None


def check_request(claim: Claim, request: Request, device_class: DeviceClass | None, features: Features) -> str | None:
    """What makes a request, or one of its alternatives, meaningless to the allocator; None: nothing does."""
    start = f"claim {claim.title}, request {request.name}"
    if request.derived_attributes and not features.derived_attributes:
        return f"{start}: cannot handle request with derived attributes, the feature is disabled"
    if None in request.selectors:
        index = request.selectors.index(None)
        return f"{start}, selector #{index}: CEL expression empty (unsupported selector type?)"
    if request.admin_access is not None and not features.admin_access:
        return f"{start}: admin access is requested, but the feature is disabled"
    if not request.class_name:
        return f"{start}: missing device class name (unsupported request type?)"
    if device_class is None:
        return f"{start}: could not retrieve device class {request.class_name}: it does not exist"
    if request.mode not in (EXACT_COUNT, ALL):
        return f"{start}: unsupported count mode {request.mode}"
    return None
