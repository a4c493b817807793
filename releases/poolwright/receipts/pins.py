"""What a cluster's lock pins, as receipts name it."""

from __future__ import annotations

from poolwright.receipts.document import Pin
from poolwright.specs.lock import Choice, Lock


def list_pins(lock: Lock | None, stack: str) -> tuple[Pin, ...]:
    """The exact versions of a stack, by component; without a lock, or of a stack that it hasn't, none is known."""
    found = None if lock is None else lock.stacks.get(stack)
    if found is None:
        return ()
    choices: dict[str, Choice | None] = {
        "kubernetes": found.kubernetes,
        "gpuOperator": found.gpu_operator,
        "gpuDriver": found.gpu_driver,
        "containerRuntime": found.container_runtime,
        "containerToolkit": found.container_toolkit,
        **{f"draDriver/{name}": one for name, one in found.dra_drivers.items()},
    }
    pins = [
        Pin(component=name, version=str(one.version), digest=None) for name, one in choices.items() if one is not None
    ]
    pins += [
        Pin(component=f"chart/{name}", version=chart.version, digest=chart.digest)
        for name, chart in found.charts.items()
    ]
    pins += [
        Pin(component=f"image/{name}", version=image.image, digest=image.digest) for name, image in found.images.items()
    ]
    return tuple(sorted(pins, key=lambda pin: pin.component))
