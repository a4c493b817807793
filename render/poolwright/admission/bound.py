"""The memory that a device must publish for a deployment: what a claim asks for."""

from __future__ import annotations

from typing import Final

from poolwright.admission.deployment import Deployment
from poolwright.admission.price import GIB, Price, count_need

PUBLISHED_PERCENT: Final = 98  # of what a driver publishes, that the runtime has at least; see DeviceMemory


def bound_memory(deployment: Deployment, found: Price) -> int | None:
    """Whole GiB, as a driver publishes them, from which on a device is large enough; None: the load isn't declared.

    Rounded up to whole GiB, so that a constant that moves a little changes no claim.
    found: the price on any device: its lines don't depend on how large that is.
    """
    need = choose_budget(deployment, found)
    if need is None:
        return None
    share = deployment.memory_percent
    taken = sum(one.bytes for one in found.lines) + need
    wanted = [-(-taken * 100 // share) + found.device.total_bytes - found.shared_bytes]
    if share < 100:
        beside = found.outside_needed_bytes + deployment.beside_bytes
        wanted.append(-(-beside * 100 // (100 - share)))
    return -(-max(wanted) * 100 // (PUBLISHED_PERCENT * GIB))


def choose_budget(deployment: Deployment, found: Price) -> int | None:
    """Bytes of KV cache of each device: what is declared, or what the load needs in whole GiB."""
    if deployment.load.kv_budget_bytes is not None:
        return deployment.load.kv_budget_bytes
    need = count_need(deployment, found)
    return None if need is None else -(-need // GIB) * GIB
