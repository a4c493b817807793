"""The devices that an NVIDIA driver release would publish for an accelerator nobody has captured yet.

Every value comes from the facts. What they don't say (uuid, PCI address, NUMA node, brand) stays unknown, and what no
source confirms is named in `unverified`: a planned device never looks as if somebody had measured it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from poolwright.catalog.facts import Facts
from poolwright.catalog.gates import build_driver_gates
from poolwright.catalog.mig_layout import Partition
from poolwright.catalog.resource_slice import (
    AttributeOnDevice,
    CapacityOnDevice,
    Counters,
    Device,
    QualifiedKey,
    RequestPolicy,
    ValidRange,
)
from poolwright.catalog.tables.driver_release import is_within
from poolwright.catalog.tables.hardware import HardwareFact, MigProfileFact
from poolwright.catalog.tables.published import DeviceTypeFact
from poolwright.specs.quantity import Quantity, parse_quantity
from poolwright.specs.stack import DraDriver, Stack

PCIE_ROOT: Final = ("resource.kubernetes.io", "pcieRoot")
# Names of static partitions before `namePatternSince`; kubernetes-sigs/dra-driver-nvidia-gpu v25.3.2 and v25.8.0,
# cmd/gpu-kubelet-plugin/deviceinfo.go.
_OLD_MIG_NAME: Final = "gpu-<minor>-mig-<gi-profile-id>-<placement-start>-<placement-size>"
_SPLIT_WITH_WHOLE: Final = 9  # compute capability (Hopper) from which DynamicMIG publishes a GPU and its partitions
_MIB: Final = parse_quantity("1Mi").nano

Value = str | int | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverPlan:
    """What decides what an NVIDIA DRA driver publishes: its release, its gates, and the GPU driver beside it."""

    release: str
    gates: Collection[str]  # that are on
    shares: str  # disabled | unlimited | memory, or a number: how many claims one device takes
    host_imex: bool  # the host runs the IMEX daemon
    gpu_driver: str | None  # semantic version, as published; None: the stack doesn't say


def build_driver_plan(driver: DraDriver, stack: Stack, facts: Facts) -> DriverPlan:
    """What the stack says of its NVIDIA DRA driver."""
    gates = frozenset(name for name, is_on in build_driver_gates(driver, facts).items() if is_on)
    gpu_driver = stack.spec.gpu_driver
    return DriverPlan(
        release=driver.version,
        gates=gates,
        shares=str(driver.settings.get("consumableShares", "disabled")) if "ConsumableShares" in gates else "disabled",
        host_imex=driver.settings.get("imexMode") == "hostManaged",
        gpu_driver=normalize_version(gpu_driver.version) if gpu_driver else None,
    )


def normalize_version(text: str) -> str | None:
    """A release as drivers publish it, a semantic version: 580.173.02 gives 580.173.2; None: it can't be said so."""
    match = re.fullmatch(r"v?(\d+)(?:\.(\d+))?(?:\.(\d+))?", text)
    return ".".join(str(int(part or 0)) for part in match.groups()) if match else None


class AcceleratorPlan:
    """Builds the devices of one accelerator model. All accelerators of a model are alike but for name and PCIe root."""

    def __init__(
        self, hardware: HardwareFact, profiles: Collection[MigProfileFact], driver: DriverPlan, facts: Facts
    ) -> None:
        self.hardware = hardware
        self.profiles = tuple(profiles)
        self.driver = driver
        self._facts = facts
        self._types = {fact.id: fact for fact in facts.device_types if is_within(driver.release, fact.since, None)}
        self._alike: dict[tuple[str, Partition | None], Device] = {}  # without name, pool and PCIe root

    @property
    def is_split(self) -> bool:
        """Whether the driver itself publishes every possible partition (DynamicMIG).

        On parts before Hopper it does so only in MIG mode, which is the host's choice; whole GPUs are planned there.
        """
        major = int(self.hardware.cuda_compute_capability.partition(".")[0])
        return "DynamicMIG" in self.driver.gates and bool(self.profiles) and major >= _SPLIT_WITH_WHOLE

    def build_whole(self, pool: str, minor: int, root: str) -> tuple[Device, ...]:
        """The accelerator as one device; with PassthroughSupport also as one for virtual machines."""
        names = {"minor": str(minor), "index": str(minor)}
        gpu = self._build("gpu", pool, root, names)
        if "PassthroughSupport" not in self.driver.gates or "vfio" not in self._types or self.is_split:
            return (gpu,)
        return (gpu, self._build("vfio", pool, root, names))

    def build_partition(self, pool: str, minor: int, root: str, partition: Partition) -> Device:
        """A partition; one that the driver makes itself if it splits the accelerator."""
        profile = partition.profile
        names = {
            "minor": str(minor),
            "profile": re.sub(r"[^a-z0-9-]", "-", profile.name.lower().replace(".", "")),
            "gi-profile-id": str(profile.gi_profile_id),
            "placement-start": str(partition.start),
            "placement-size": str(partition.size),
        }
        return self._build("mig-dynamic" if self.is_split else "mig-static", pool, root, names, partition)

    def build_counters(self, minor: int) -> Counters:
        """The counter set of a split accelerator: what its devices take from."""
        capacity = self._build_capacity(self._types["gpu"], self._list_values("gpu", None), range(0))
        return Counters(counter_set=_counter_set(minor), counters=self._build_amounts(capacity, None))

    def _build(
        self, kind: str, pool: str, root: str, names: Mapping[str, str], partition: Partition | None = None
    ) -> Device:
        alike = self._alike.get((kind, partition)) or self._build_alike(kind, partition)
        self._alike[kind, partition] = alike
        name = _fill(self._pattern(self._types[kind]), names)
        attributes = {**alike.attributes, PCIE_ROOT: AttributeOnDevice(type="string", value=root)}
        consumes = tuple(replace(c, counter_set=_counter_set(int(names["minor"]))) for c in alike.consumes)
        return replace(alike, pool=pool, name=name, attributes=attributes, consumes=consumes)

    def _build_alike(self, kind: str, partition: Partition | None) -> Device:
        fact, values = self._types[kind], self._list_values(kind, partition)
        capacity = self._build_capacity(fact, values, partition.slices if partition else range(0))
        amounts = self._build_amounts(capacity, partition) if self.is_split else None
        return Device(
            driver=fact.driver,
            pool="",
            name="",
            attributes=self._build_attributes(fact, values),
            capacity=capacity,
            consumes=() if amounts is None else (Counters(counter_set="", counters=amounts),),
            allow_multiple_allocations=self.driver.shares != "disabled" and kind != "vfio",
            planned=True,
            unverified=tuple(self._list_doubts(kind, partition)),
        )

    def _pattern(self, fact: DeviceTypeFact) -> str:
        return fact.name_pattern if is_within(self.driver.release, fact.name_pattern_since, None) else _OLD_MIG_NAME

    def _build_attributes(
        self, fact: DeviceTypeFact, values: Mapping[str, Value]
    ) -> dict[QualifiedKey, AttributeOnDevice]:
        known: dict[QualifiedKey, Value] = {(fact.driver, name): value for name, value in values.items()}
        known[fact.driver, "type"] = fact.type_attribute
        attributes = {}
        for row in self._facts.published_attributes(fact.id, self.driver.release):
            if row.gate is None or row.gate in self.driver.gates:
                value = known.get((row.domain, row.name))
                attributes[row.domain, row.name] = AttributeOnDevice(
                    type=f"{row.type}s" if row.list_gate in self.driver.gates else row.type,
                    value=value,
                    certain=row.presence == "always" or value is not None,
                )
        return attributes

    def _build_capacity(
        self, fact: DeviceTypeFact, values: Mapping[str, Value], slices: range
    ) -> dict[QualifiedKey, CapacityOnDevice]:
        shares = self.driver.shares
        values = {**values, "memorySlice": 1, "shares": int(shares) if shares.isdecimal() else None}
        capacity = {}
        for row in self._facts.published_capacities(fact.id, self.driver.release):
            if row.gate == "DynamicMIG" and not self.is_split:
                continue
            if row.gate not in (None, *self.driver.gates) or (row.name == "shares" and not shares.isdecimal()):
                continue
            value = values.get(row.name)
            quantity = None if value is None else parse_quantity(str(value))
            for name in [f"{row.name}{number}" for number in slices] if row.indexed else [row.name]:
                capacity[fact.driver, name] = CapacityOnDevice(
                    name=name, value=quantity, request_policy=_share_policy(row.name, quantity, shares)
                )
        return capacity

    def _build_amounts(
        self, capacity: Mapping[QualifiedKey, CapacityOnDevice], partition: Partition | None
    ) -> dict[str, Quantity]:
        """A device's capacities as counters, and one for each memory slice it lies on; the whole has all of them."""
        counters = {
            re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", name): on.value
            for (_, name), on in capacity.items()
            if on.value is not None and name != "shares"
        }
        size = max(placement.size for profile in self.profiles for placement in profile.placements)
        slices = partition.slices if partition else range(size)
        return dict(sorted({**counters, **{f"memory-slice-{n}": parse_quantity("1") for n in slices}}.items()))

    def _list_values(self, kind: str, partition: Partition | None) -> dict[str, Value]:
        """What is known of a device: attributes of the driver's domain and capacities, by name."""
        if kind == "vfio":  # its product name is the PCI database's
            ids = self.hardware.pci_device_ids
            return {"deviceID": ids[0] if len(ids) == 1 else None}
        board: dict[str, Value] = {
            "productName": self.hardware.product_name,
            "architecture": self.hardware.architecture,
            "cudaComputeCapability": self.hardware.cuda_compute_capability,
            "driverVersion": self.driver.gpu_driver,
        }
        if partition:
            return {**board, "profile": partition.profile.name, **_list_amounts(partition.profile)}
        if not self.is_split:
            return {**board, "memory": self.hardware.memory}
        largest: dict[str, Value] = {}  # a GPU that is split has no more than its partitions can
        for profile in self.profiles:
            for name, value in _list_amounts(profile).items():
                if value is not None and _nano(value) > _nano(largest.get(name)):
                    largest[name] = value
        return {**board, **largest}

    def _list_doubts(self, kind: str, partition: Partition | None) -> Iterator[str]:
        """What a device rests on that no source confirms."""
        if kind == "vfio":
            return
        hardware = self.hardware
        checked = {
            "product name": hardware.product_name_verified,
            "architecture": hardware.architecture_verified,
            "compute capability": hardware.cuda_compute_capability_verified,
            "memory": hardware.memory_verified or partition is not None or self.is_split,
        }
        yield from (f"{hardware.model}: {name}" for name, is_verified in checked.items() if not is_verified)
        profiles = (partition.profile,) if partition else self.profiles if self.is_split else ()
        for profile in profiles:
            if not profile.verified:
                yield f"{profile.model}: profile {profile.name}"


def build_domain_devices(driver: str, pool: str, plan: DriverPlan, facts: Facts) -> tuple[Device, ...]:
    """What the compute-domain part of the driver publishes on each node: the first channel, and a daemon."""
    devices = []
    for fact in facts.device_types:
        is_left_out = fact.id == "daemon" and plan.host_imex
        if fact.driver == driver and fact.id in ("channel", "daemon") and not is_left_out:
            values: dict[str, Value] = {"type": fact.type_attribute, "id": 0}
            rows = facts.published_attributes(fact.id, plan.release)
            attributes = {
                (row.domain, row.name): AttributeOnDevice(type=row.type, value=values.get(row.name)) for row in rows
            }
            name = _fill(fact.name_pattern, {"id": "0"})
            devices.append(Device(driver=driver, pool=pool, name=name, attributes=attributes, planned=True))
    return tuple(devices)


def _counter_set(minor: int) -> str:
    return f"gpu-{minor}-counter-set"


def _list_amounts(profile: MigProfileFact) -> dict[str, Value]:
    engines = profile.engines
    return {
        "memory": profile.memory,
        "multiprocessors": profile.multiprocessors,
        "copyEngines": engines.copy if engines else None,
        "decoders": engines.decoders if engines else None,
        "encoders": engines.encoders if engines else None,
        "jpegEngines": engines.jpeg if engines else None,
        "ofaEngines": engines.ofa if engines else None,
    }


def _share_policy(name: str, value: Quantity | None, shares: str) -> RequestPolicy | None:
    """How a claim may ask for a part of a shared device.

    Source: kubernetes-sigs/dra-driver-nvidia-gpu cmd/gpu-kubelet-plugin/consumable_shares.go, main of 2026-08-07.
    """
    if shares == "disabled" or value is None or name not in ("memory", "shares"):
        return None
    if name == "shares":
        default, least, most, step = parse_quantity("1"), "1", value, "1"
    else:
        most = Quantity(value.nano // _MIB * _MIB, "BinarySI")
        default, least, step = (most, "1Mi", "1Mi") if shares == "memory" else (parse_quantity("0"), "0", "1Mi")
    bounds = ValidRange(min=parse_quantity(least), max=most, step=parse_quantity(step))
    return RequestPolicy(default=default, valid_range=bounds)


def _nano(value: Value) -> int:
    return -1 if value is None else parse_quantity(str(value)).nano


def _fill(pattern: str, names: Mapping[str, str]) -> str:
    return re.sub(r"<([a-z-]+)>", lambda match: names[match[1]], pattern)
