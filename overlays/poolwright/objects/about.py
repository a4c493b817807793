"""What the objects about a unit's workload share: routes, monitors and alerts, applied when it serves."""

from __future__ import annotations

from typing import Final

from poolwright.catalog.closure import UnitClosure
from poolwright.objects.kubernetes import ENVELOPE, MANAGED_BY, OWNER, PART_OF, SYNC_WAVE, TIER, UNIT, Object

ABOUT_WAVE: Final = "10"  # after the workload: a route leads to what serves, and no alert waits for a first start


def build_about_metadata(closure: UnitClosure) -> Object:
    """Metadata of an object that is called like the unit and is about its workload."""
    return {
        "name": closure.unit,
        "namespace": closure.envelope.spec.namespace,
        "labels": {
            **MANAGED_BY,
            PART_OF: closure.on.project,
            ENVELOPE: closure.envelope.name,
            OWNER: closure.envelope.spec.owner,
            TIER: closure.tier,
            UNIT: closure.unit,
        },
        "annotations": {SYNC_WAVE: ABOUT_WAVE},
    }
