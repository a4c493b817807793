"""Where releases before 1.36 are known to be wrong, or to depend on chance, and later ones aren't: by case.

The allocator follows the mended behaviour there, so an answer may differ from such a release's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from poolwright.specs.quantity import parse_quantity

Json = dict[str, Any]


def list_deviations(case: Json) -> set[str]:
    """The known mistakes that a case can run into, in words."""
    return set(_list_deviations(case))


def has_overflow(case: Json) -> bool:
    """Whether a request for capacity is beyond what 64 bits hold once it is rounded: before 1.37 it wraps around."""
    amounts = [text for request in _requests(case) for text in _amounts(request)]
    return any(parse_quantity(text).value_ceil >= 2**62 for text in amounts)


def _list_deviations(case: Json) -> Iterator[str]:
    devices = [(one["spec"], device) for one in case["slices"] for device in one["spec"].get("devices", ())]
    features = case["features"]
    if features.get("consumable_capacity") and any(device.get("allowMultipleAllocations") for _, device in devices):
        yield "shares leak when taken back, and are charged to counters once each (#140431, #140433)"
    if features.get("consumable_capacity"):
        yield "negative and overflowing capacity counts on (#140441, #140468)"
    claims = [claim["spec"]["devices"] for claim in case["claims"]]
    constraints = [constraint for claim in claims for constraint in claim.get("constraints", ())]
    if any("distinctAttribute" in constraint for constraint in constraints):
        yield "distinctAttribute compares by request, or not at all (#140438)"
    for claim in claims:
        for request in claim["requests"]:
            if any(one.get("allocationMode") == "All" for one in request.get("firstAvailable", ())):
                yield "All in an alternative is mixed up with the first one (mended in 1.36)"
    if any(device.get("consumesCounters") for _, device in devices):
        yield "counters of rejected devices leak, and are kept by pool name alone (#140431, #140435)"
    if len({(spec["driver"], spec["pool"]["name"]) for spec, _ in devices}) > 1:
        yield "which pool is met first is chance: an error may be met or not"


def _requests(case: Json) -> Iterator[Json]:
    for claim in case["claims"]:
        for request in claim["spec"]["devices"]["requests"]:
            if "exactly" in request:
                yield request["exactly"]
            yield from request.get("firstAvailable", ())


def _amounts(request: Json) -> Iterator[str]:
    yield from (request.get("capacity") or {}).get("requests", {}).values()
