"""What the allocator of a Kubernetes version does, with its feature gates as they are set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MINORS: Final = ("1.34", "1.35", "1.36", "1.37")  # others are unsupported, not approximated

# By field of Features. Binding conditions need two gates, because the driver reports them in the claim's status.
GATES: Final[Mapping[str, tuple[str, ...]]] = {
    "admin_access": ("DRAAdminAccess",),
    "prioritized_list": ("DRAPrioritizedList",),
    "partitionable_devices": ("DRAPartitionableDevices",),
    "device_taints": ("DRADeviceTaints",),
    "binding_conditions": ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
    "consumable_capacity": ("DRAConsumableCapacity",),
    "fractional_capacity_range": ("DRAFractionalCapacityRange",),
    "list_type_attributes": ("DRAListTypeAttributes",),
    "derived_attributes": ("DRADerivedAttributes",),
    "compatibility_groups": ("DRADeviceCompatibilityGroups",),
    "optional_node_operations": ("DRAOptionalNodeOperations",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """The features an allocator runs with."""

    minor: str  # of Kubernetes, one of MINORS
    admin_access: bool = False
    prioritized_list: bool = False
    partitionable_devices: bool = False
    device_taints: bool = False
    binding_conditions: bool = False
    consumable_capacity: bool = False
    fractional_capacity_range: bool = False
    list_type_attributes: bool = False
    derived_attributes: bool = False
    compatibility_groups: bool = False
    optional_node_operations: bool = False
    # Do as that release's newest patch does even where a later release mended it: for comparing, and to say when it
    # makes a difference. What each of them is stands where it is asked for.
    as_released: bool = False

    @property
    def key(self) -> int:
        """The minor release as a number that compares: 34 for 1.34."""
        return int(self.minor.partition(".")[2])


def build_features(minor: str, gates: Mapping[str, bool], *, as_released: bool = False) -> Features:
    """The features that these gates turn on.

    minor: one of MINORS.
    gates: every gate of that version as it is set, defaults included (`Facts.effective_gates`); one that isn't named
           is off, and one that the version doesn't have turns nothing on there.
    """
    on = {name: all(gates.get(gate, False) for gate in needed) for name, needed in GATES.items()}
    return Features(minor=minor, as_released=as_released, **on)
