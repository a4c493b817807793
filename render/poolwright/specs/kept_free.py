"""What a pool keeps for others, or free for a loss: what is wrong with it beyond its shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec
from poolwright.specs.pool import Pool

_RULE: Final = "poolwright.dev/v1alpha1"


def check_kept_free(pool: Spec[Pool]) -> Iterator[Finding]:
    """Reservations of classes that the pool doesn't have, and a headroom for no loss at all."""
    said = pool.value.spec
    known = sorted(device_class.name for device_class in said.device_classes)
    for index, reservation in enumerate(said.reservations):
        if reservation.device_class_name not in known:
            yield Finding(
                code="dangling-reference",
                severity="error",
                place=pool.place("spec", "reservations", index, "deviceClassName"),
                what=f'devices of the class "{reservation.device_class_name}" are reserved, which pool '
                f'"{pool.value.identity}" doesn\'t have',
                why="a reservation is of the pool's own devices: another pool's are for its owner to give",
                rule=_RULE,
                fix=f"name a device class of the pool: {', '.join(known)}",
            )
    tolerated = said.headroom.tolerate_loss if said.headroom else None
    if tolerated and tolerated.nodes is tolerated.devices is tolerated.zones is None:
        yield Finding(
            code="headroom-empty",
            severity="error",
            place=pool.place("spec", "headroom", "tolerateLoss"),
            what=f'pool "{pool.value.identity}" has a headroom and names no loss',
            why="a headroom says which losses every minReplicas survives; without one it promises nothing",
            rule=_RULE,
            fix="write nodes, devices or zones with a number, or remove headroom",
        )
