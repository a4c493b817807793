"""The memory that a device must publish for a deployment: what a claim asks for."""

from __future__ import annotations

from typing import Final

from poolwright.admission.deployment import Deployment
from poolwright.admission.price import GIB, MIB, Price, count_need

PUBLISHED_PERCENT: Final = 98  # of what a driver publishes, that the runtime has at least; see DeviceMemory
_MIB_OF_GIB: Final = GIB // MIB


def bound_memory(deployment: Deployment, found: Price) -> int | None:
    """MiB, as a driver publishes them, below which a device is too small; None: the load isn't declared.

    By formulas in whole GiB, so that a constant that moves a little changes no claim: for what the engine's share must
    hold the nearest, as figures may be off by more than half of one, and for what stands beside it the one below. So no
    device is left out that the deployment is admitted on. What was measured holds on devices as large as the one it was
    measured on, whose driver publishes at least what its runtime has.
    found: the price on any device: its lines don't depend on how large that is.
    """
    load, share, profile = deployment.load, deployment.memory_percent, deployment.profile
    need = count_need(deployment, found) if load.kv_budget_bytes is None else load.kv_budget_bytes
    if need is None:
        return None
    beside = found.outside_needed_bytes + deployment.beside_bytes
    gib = 0 if share == 100 else _publish(beside * 100 // (100 - share)) // GIB
    if profile is not None:
        return max(gib * _MIB_OF_GIB, -(-profile.device_bytes // MIB))
    taken = sum(one.bytes for one in found.lines) + need
    held = _publish(taken * 100 // share + found.device.total_bytes - found.shared_bytes)
    return max(gib, (held + GIB // 2) // GIB) * _MIB_OF_GIB


def _publish(total_bytes: int) -> int:
    return total_bytes * 100 // PUBLISHED_PERCENT
