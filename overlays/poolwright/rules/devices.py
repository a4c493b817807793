"""What NVIDIA's DRA drivers publish of each type of device, as far as rules on selectors rest on it.

Here and not taken from the fact tables, since what objects may say must not depend on which facts somebody passes. A
test compares every entry with those tables.
Source: kubernetes-sigs/dra-driver-nvidia-gpu cmd/gpu-kubelet-plugin, releases 0.4 and 0.5.
"""

from __future__ import annotations

from typing import Final, Literal

ReadName = tuple[str, str]  # domain, identifier
AttributeType = Literal["string", "int", "bool", "version"]

GPU: Final = "gpu.nvidia.com"
COMPUTE_DOMAIN: Final = "compute-domain.nvidia.com"
STANDARD: Final = "resource.kubernetes.io"

# The classes that the driver's installers create, by what their selectors let through.
CLASSES: Final = {
    "gpu.nvidia.com": (GPU, "gpu"),
    "mig.nvidia.com": (GPU, "mig"),
    "vfio.gpu.nvidia.com": (GPU, "vfio"),
    "compute-domain-daemon.nvidia.com": (COMPUTE_DOMAIN, "daemon"),
    "compute-domain-default-channel.nvidia.com": (COMPUTE_DOMAIN, "channel"),
}
_BOARD: Final = (
    "type",
    "productName",
    "brand",
    "architecture",
    "cudaComputeCapability",
    "driverVersion",
    "cudaDriverVersion",
)
_ALWAYS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    GPU: {
        "gpu": (*_BOARD, "uuid"),
        # A dynamic partition has no uuid before it exists.
        "mig": (*_BOARD, "parentUUID", "profile"),
        "vfio": ("type", "uuid", "deviceID", "vendorID", "productName", "iommuFDEnabled"),
    },
    COMPUTE_DOMAIN: {"channel": ("type", "id"), "daemon": ("type", "id")},
}
_ENGINES: Final = ("multiprocessors", "copyEngines", "decoders", "encoders", "jpegEngines", "ofaEngines")
_ALWAYS_CAPACITY: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    GPU: {"gpu": (), "mig": ("memory", *_ENGINES), "vfio": ("addressableMemory",)},
    COMPUTE_DOMAIN: {"channel": (), "daemon": ()},
}

_STRINGS: Final = (
    *("type", "uuid", "productName", "brand", "architecture", "parentUUID", "profile", "addressingMode"),
    *("pcieBusID", "deviceID", "vendorID"),
)
_VERSIONS: Final = ("cudaComputeCapability", "driverVersion", "cudaDriverVersion")
_INTS: Final = (
    *("gpuModuleID", "partition1", "partition2", "partition4", "partition8"),
    *("minor", "index", "parentIndex", "numa"),  # of earlier releases
)
TYPES: Final[dict[ReadName, AttributeType]] = {
    **{(GPU, name): "string" for name in _STRINGS},
    **{(GPU, name): "version" for name in _VERSIONS},
    **{(GPU, name): "int" for name in _INTS},
    (GPU, "iommuFDEnabled"): "bool",
    (STANDARD, "pciBusID"): "string",
    (STANDARD, "pcieRoot"): "string",
    (STANDARD, "numaNode"): "int",
    (COMPUTE_DOMAIN, "type"): "string",
    (COMPUTE_DOMAIN, "id"): "int",
}
CAPACITIES: Final = frozenset(
    (GPU, name) for name in ("memory", *_ENGINES, "shares", "addressableMemory", *(f"memorySlice{n}" for n in range(8)))
)
# Texts an attribute can have, where that is known; case counts. `type` has no others.
VALUES: Final[dict[ReadName, tuple[str, ...]]] = {
    (GPU, "type"): ("gpu", "mig", "vfio"),
    (GPU, "architecture"): ("Turing", "Ampere", "Ada Lovelace", "Hopper", "Blackwell"),
    (GPU, "brand"): ("Nvidia", "Tesla", "GeForce", "GeForceRTX", "NvidiaRTX", "QuadroRTX", "Quadro"),
    (GPU, "addressingMode"): ("HMM", "ATS", "None"),
    (COMPUTE_DOMAIN, "type"): ("channel", "daemon"),
}
# What names one device, or moves with repairs and restarts.
IDENTITIES: Final = frozenset(
    {
        *((GPU, name) for name in ("uuid", "parentUUID", "pcieBusID", "gpuModuleID", "minor", "index", "parentIndex")),
        *((GPU, name) for name in ("partition1", "partition2", "partition4", "partition8")),
        (STANDARD, "pciBusID"),
    }
)
# Sold as so many GB, product, memory that it publishes in Mi: each less than that number of Gi.
# Source: NVML's totals as published in slices or printed by nvidia-smi.
PARTS: Final = (
    (16, "Tesla T4", 15360),
    (24, "NVIDIA L4", 23034),
    (48, "NVIDIA L40S", 46068),
    (80, "NVIDIA H100 80GB HBM3", 81559),
    (94, "NVIDIA H100 NVL", 95830),
    (96, "NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887),
    (141, "NVIDIA H200", 143771),
    (180, "NVIDIA B200", 183359),
)


def list_types(driver: str) -> frozenset[str]:
    """The types of device that a driver publishes; none of a driver that isn't known here."""
    return frozenset(_ALWAYS.get(driver, ()))


def is_always_published(driver: str, types: frozenset[str], kind: str, domain: str, name: str) -> bool:
    """Whether every device of the driver that is of one of these types has the attribute or capacity."""
    if not types:
        return False
    if domain == STANDARD:
        return driver == GPU and (kind, name) == ("attribute", "pciBusID")
    table = _ALWAYS if kind == "attribute" else _ALWAYS_CAPACITY
    return domain == driver and all(name in table[driver][device_type] for device_type in types)


def is_ever_published(driver: str, kind: str, domain: str, name: str) -> bool:
    """Whether some device of the driver may have it; true of any driver that isn't known here."""
    if driver not in _ALWAYS:
        return True
    return (domain, name) in (TYPES if kind == "attribute" else CAPACITIES) and domain in (driver, STANDARD)
