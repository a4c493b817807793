"""The memory that a device must publish for a deployment: what a claim asks for."""

from __future__ import annotations

from typing import Final

from poolwright.admission.deployment import Deployment
from poolwright.admission.price import GIB, MIB, Price, count_need

PUBLISHED_PERCENT: Final = 98  # of what a driver publishes, that the runtime has at least; see DeviceMemory


def bound_memory(deployment: Deployment, found: Price) -> int | None:
    """MiB, as a driver publishes them, from which on a device is large enough; None: the load isn't declared.

    By formulas in whole GiB, rounded up, so that a constant that moves a little changes no claim. What was measured
    holds on devices as large as the one it was measured on, whose driver publishes at least what its runtime has.
    found: the price on any device: its lines don't depend on how large that is.
    """
    need = choose_budget(deployment, found)
    if need is None:
        return None
    share = deployment.memory_percent
    wanted = []
    if deployment.profile is None:
        taken = sum(one.bytes for one in found.lines) + need
        wanted.append(-(-taken * 100 // share) + found.device.total_bytes - found.shared_bytes)
    if share < 100:
        beside = found.outside_needed_bytes + deployment.beside_bytes
        wanted.append(-(-beside * 100 // (100 - share)))
    gib = -(-max(wanted, default=0) * 100 // (PUBLISHED_PERCENT * GIB))
    measured = 0 if deployment.profile is None else -(-deployment.profile.device_bytes // MIB)
    return max(gib * (GIB // MIB), measured)


def choose_budget(deployment: Deployment, found: Price) -> int | None:
    """Bytes of KV cache of each device: what is declared, or what the load needs in whole GiB."""
    if deployment.load.kv_budget_bytes is not None:
        return deployment.load.kv_budget_bytes
    need = count_need(deployment, found)
    return None if need is None else -(-need // GIB) * GIB
