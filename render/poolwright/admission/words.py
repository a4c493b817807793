"""An admission in the model owner's words: which dimension is too large, by how much, and what would make it fit."""

from __future__ import annotations

from collections.abc import Sequence

from poolwright.admission.admit import Admission, Refusal
from poolwright.admission.mends import Mend
from poolwright.admission.price import GIB

WORDS = {
    "admitted": "admitted",
    "refused": "refused",
    "tooClose": "too close to call: measure",
    "unsupported": "unsupported: needs a measured profile",
}
_FAILURES = {
    "willNotStart": "it won't start",
    "cannotCarryLoad": "it starts and can't carry the declared load",
    "diesLater": "it starts and may run out of memory later",
}
_NAMES = {
    "concurrency": "lower concurrency to {now}",
    "contextTokens": "lower contextTokens to {now}",
    "kvCache": "{now} KV cache",
    "tensorParallel": "tensorParallel {now}",
    "maxSequences": "lower batch.maxSequences to {now}",
    "adapterSlots": "lower adapters.slots to {now}",
    "memoryPercent": "deviceMemoryPercent {now}",
    "kvBudget": "kvBudget {now}",
}


def say_bytes(number: int) -> str:
    """`37.28 GiB`."""
    return f"{number / GIB:.2f} GiB"


def say_refusal(one: Refusal) -> str:
    """What stands against it, with its figures."""
    figures = ""
    if one.needed_bytes is not None and one.available_bytes is not None:
        there = say_bytes(max(0, one.available_bytes))
        figures = f": {say_bytes(one.needed_bytes)} needed, {there} there on each device"
    return f"{_FAILURES[one.failure]}: {one.what}{figures}"


def say_mends(mends: Sequence[Mend]) -> str:
    """The changes that are enough, and those that help with what still misses; "": there are none."""
    enough = [_NAMES[one.field].format(now=one.now) for one in mends if one.is_enough]
    helping = [_say_rest(one) for one in mends if not one.is_enough]
    said = [", or ".join(enough)] if enough else []
    said += [f"not enough alone: {'; '.join(helping)}"] if helping else []
    return "; ".join(said)


def say_reason(admission: Admission) -> str:
    """What decides first."""
    if admission.word == "unsupported":
        return admission.reason
    return say_refusal(admission.refusals[0]) if admission.refusals else ""


def say_band(admission: Admission) -> str:
    """How far off the figures may be; "": nobody asks."""
    if admission.price is None or admission.word != "tooClose":
        return ""
    first = admission.refusals[0]
    band = admission.price.outside_band_bytes if first.failure == "diesLater" else admission.price.band_bytes
    return f"figures may be off by {say_bytes(band)}"


def _say_rest(one: Mend) -> str:
    left = one.left
    said = _NAMES[one.field].format(now=one.now)
    if left is None or left.needed_bytes is None or left.available_bytes is None:
        return said
    room = "" if one.max_concurrency is None else f", {one.max_concurrency} concurrent"
    misses = left.needed_bytes - left.available_bytes
    return f"{said} ({say_bytes(left.needed_bytes)}, still {say_bytes(misses)} too much{room})" if misses > 0 else said
