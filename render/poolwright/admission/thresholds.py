"""How much more a deployment would carry: the loads above which it isn't admitted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from poolwright.admission.admit import admit
from poolwright.admission.deployment import Deployment, DeviceMemory
from poolwright.admission.mends import CONTEXT_STEP
from poolwright.admission.price import Constants

_MOST: Final = 1 << 24  # of either: no specs say more


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The largest of each that is admitted while the other stays as it is declared."""

    concurrency: int | None  # requests; None: no concurrency is declared, so that any is admitted
    context_tokens: int  # of each request, in steps of CONTEXT_STEP above what is declared, or the model's positions


def find_thresholds(deployment: Deployment, device: DeviceMemory, constants: Constants) -> Thresholds | None:
    """Of a deployment that is admitted; None: it isn't.

    Cost: about twenty prices for each of the two.
    """
    load = deployment.load

    def holds(**changed: int) -> bool:
        return admit(replace(deployment, load=replace(load, **changed)), device, constants).word == "admitted"

    if not holds():
        return None
    tokens, longest = load.context_tokens, deployment.architecture.max_positions
    steps = _find_most(lambda more: holds(context_tokens=tokens + more * CONTEXT_STEP), _MOST // CONTEXT_STEP)
    most = tokens + steps * CONTEXT_STEP
    if most < longest < most + CONTEXT_STEP and holds(context_tokens=longest):
        most = longest
    return Thresholds(
        concurrency=_count_requests(load.concurrency, lambda number: holds(concurrency=number)),
        context_tokens=most,
    )


def _count_requests(declared: int | None, holds: Callable[[int], bool]) -> int | None:
    return None if declared is None else declared + _find_most(lambda more: holds(declared + more), _MOST)


def _find_most(holds: Callable[[int], bool], limit: int) -> int:
    """The largest number up to a limit that holds, where every smaller one does; 0 holds."""
    low, high = 0, 1
    while high < limit and holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low
