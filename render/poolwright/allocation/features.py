"""What the allocator of a Kubernetes version does, with its feature gates as they are set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

Channel = Literal["stable", "incubating", "experimental"]
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
_OTHER_GATES: Final[Mapping[str, tuple[str, ...]]] = {
    "device_taint_rules": ("DRADeviceTaintRules",),
    "extended_resource": ("DRAExtendedResource",),
}

# What `plan` alone has to know of.
_PLAN_GATES: Final[Mapping[str, tuple[str, ...]]] = {"node_allocatable": ("DRANodeAllocatableResources",)}

JUDGED_GATES: Final = frozenset(gate for gates in (*GATES.values(), *_OTHER_GATES.values()) for gate in gates)


@dataclass(frozen=True, kw_only=True)  # no slots: what follows from the fields is worked out once, and asked for often
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
    # Not of the allocator, but of what is handed to it.
    device_taint_rules: bool = False
    extended_resource: bool = False
    node_allocatable: bool = False  # devices may take of a node's CPU and memory, which isn't modelled
    as_released: bool = False  # do as the release does even where a later one mended it; see `mended`

    @cached_property
    def key(self) -> int:
        """The minor release as a number that compares: 34 for 1.34."""
        return int(self.minor.partition(".")[2])

    @cached_property
    def mended(self) -> bool:
        """Whether what 1.37 does is done where an earlier release is known to be wrong.

        So a claim isn't called allocatable because of a mistake that a patch may mend any day. Each such place says
        which report it rests on.
        """
        return self.key >= 37 or not self.as_released

    @property
    def applies_taint_rules(self) -> bool:
        """Whether DeviceTaintRules taint devices; in 1.34 they have no gate of their own."""
        return self.device_taints and (self.key == 34 or self.device_taint_rules)

    @property
    def is_mended(self) -> bool:
        """Whether something is done otherwise than the release does it."""
        return self.key < 37 and not self.as_released

    @property
    def released(self) -> Features:
        """The same, as the release does it."""
        return replace(self, as_released=True)

    @cached_property
    def channel(self) -> Channel:
        """Which of its three implementations the release runs: the first that knows every feature that is on."""
        on = {name for name in GATES if getattr(self, name)}
        for channel, known in _KNOWN[self.minor]:
            if on <= known:
                return channel
        return "experimental"

    @cached_property
    def knows_shares(self) -> bool:
        """Whether the implementation that runs knows what came with shares of devices, whatever the gates say."""
        return self.channel == "experimental" if self.key < 36 else self.channel != "stable"

    @cached_property
    def spreads_counters(self) -> bool:
        """Whether slices with counter sets are looked at from every node, whichever they are for."""
        return self.key in (35, 36) or (self.key == 37 and self.channel == "stable")

    @cached_property
    def is_ordered(self) -> bool:
        """Whether pools and slices are tried in an order of names; else in an order that differs from run to run."""
        return self.key >= 36 and self.channel != "stable"


_OLD: Final = frozenset(("admin_access", "prioritized_list", "partitionable_devices", "device_taints"))
_SHARING: Final = _OLD | {"binding_conditions", "consumable_capacity"}
# k8s.io/dynamic-resource-allocation structured, SupportedFeatures. 1.34 counts a gate that is on by default and that
# nothing but its experimental implementation knows, so that one always runs.
_KNOWN: Final[Mapping[str, tuple[tuple[Channel, frozenset[str]], ...]]] = {
    "1.34": (),
    "1.35": (("stable", frozenset()), ("incubating", _OLD)),
    "1.36": (("stable", _OLD), ("incubating", _SHARING)),
    "1.37": (("stable", _OLD), ("incubating", _SHARING | {"fractional_capacity_range"})),
}


def build_features(minor: str, gates: Mapping[str, bool], *, as_released: bool = False) -> Features:
    """The features that these gates turn on.

    minor: one of MINORS.
    gates: every gate of that version as it is set, defaults included (`Facts.effective_gates`); one that isn't named
           is off, and one that the version doesn't have turns nothing on there.
    """
    needs = {**GATES, **_OTHER_GATES, **_PLAN_GATES}
    on = {name: all(gates.get(gate, False) for gate in needed) for name, needed in needs.items()}
    return Features(minor=minor, as_released=as_released, **on)
