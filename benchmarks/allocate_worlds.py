"""The clusters that the allocator is measured on, as the oracle in tests/oracle/allocator reads them.

Nothing is drawn at random: where things are to lie mixed, a digest of their names decides.

- `whole`: nodes of 8 GPUs that are all alike; each claim asks for one.
- `pairs`: nodes of 8 GPUs and 8 network cards; a claim asks for one of each under the same PCIe root. Some roots have
  no card and some cards no GPU, so a search takes GPUs back.
- `mig`:   nodes of 4 to 8 GPUs that can be split, with a counter set for each; claims ask for partitions of four sizes
  and for whole GPUs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from poolwright.allocation.features import GATES, build_features

Json = dict[str, Any]

MINOR: Final = "1.37"
GPU, NIC, MIG = "gpu.nvidia.com", "nic.example.com", "mig.nvidia.com"
PCIE_ROOT: Final = "resource.kubernetes.io/pcieRoot"
ROOTS: Final = 10  # of a node in `pairs`: 8 with a GPU, two without, and any of them with no card, one, or several
# (profile, multiprocessors, memory, memory slices, where it may start); of an H100 with 80 GB.
PROFILES: Final = (
    ("1g.10gb", 16, "9984Mi", 1, (0, 1, 2, 3, 4, 5, 6)),
    ("1g.10gb+me", 16, "9984Mi", 1, (0, 1, 2, 3, 4, 5, 6)),
    ("1g.20gb", 26, "20096Mi", 2, (0, 2, 4, 6)),
    ("2g.20gb", 32, "20096Mi", 2, (0, 2, 4)),
    ("3g.40gb", 60, "40448Mi", 4, (0, 4)),
    ("4g.40gb", 64, "40448Mi", 4, (0,)),
    ("7g.80gb", 132, "81152Mi", 8, (0,)),
)
MEMORY_SLICES: Final = 8
# What claims of `mig` ask for, and how often in ten.
WANTED: Final = ("1g.10gb",) * 4 + ("2g.20gb",) * 2 + ("3g.40gb",) * 2 + ("7g.80gb", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How large a world is."""

    nodes: int
    claims: int

    def part(self, divisor: int) -> Size:
        """A part of it; at least one of each."""
        return Size(nodes=max(1, self.nodes // divisor), claims=max(1, self.claims // divisor))


# By world: 10,000 devices; 16,000 devices; about 3,000 GPUs with 26 devices each.
SIZES: Final[Mapping[str, Size]] = {
    "whole": Size(nodes=1250, claims=5000),
    "pairs": Size(nodes=1000, claims=1000),
    "mig": Size(nodes=500, claims=1000),
}


def build_world(name: str, size: Size, gates: Mapping[str, bool]) -> Json:
    """A world of `SIZES` in some size; nodes and claims are in the order they are to be tried and served in.

    gates: every gate of Kubernetes 1.37 as it is set.
    """
    build_slices, build_claim = _BUILDERS[name]
    nodes = [f"node-{number:05d}" for number in range(size.nodes)]
    features = build_features(MINOR, gates)
    return {
        "minor": MINOR,
        "features": {field: getattr(features, field) for field in GATES},
        "nodes": [{"metadata": {"name": node, "labels": {"kubernetes.io/hostname": node}}} for node in nodes],
        "classes": [
            _build_class(GPU, f"device.driver == '{GPU}' && device.attributes['{GPU}'].type == 'gpu'"),
            _build_class(MIG, f"device.driver == '{GPU}' && device.attributes['{GPU}'].type == 'mig'"),
            _build_class(NIC, f"device.driver == '{NIC}'"),
        ],
        "slices": [one for node in nodes for one in build_slices(node)],
        "claims": [_build_claim(number, build_claim(number)) for number in range(size.claims)],
    }


def _slices_of_whole(node: str) -> Iterator[Json]:
    devices = [_build_gpu(node, index, f"pci0000:{index:02x}") for index in range(8)]
    yield _build_slice(GPU, node, 0, 1, devices=devices)


def _slices_of_pairs(node: str) -> Iterator[Json]:
    roots = [f"pci0000:{root:02x}" for root in range(ROOTS)]
    with_gpu = sorted(roots, key=lambda root: _digest(node, root))[:8]
    yield _build_slice(GPU, node, 0, 1, devices=[_build_gpu(node, at, root) for at, root in enumerate(with_gpu)])
    cards = [_build_card(node, at, roots[_digest(node, f"card {at}") % ROOTS]) for at in range(8)]
    yield _build_slice(NIC, node, 0, 1, devices=cards)


def _slices_of_mig(node: str) -> Iterator[Json]:
    """As a driver publishes since 1.35: the counter sets in a slice of their own, then one slice for each GPU."""
    gpus = 4 + _digest(node, "gpus") % 5
    sets = [{"name": _counter_set(gpu), "counters": _build_counters(132, "81559Mi", range(8))} for gpu in range(gpus)]
    yield _build_slice(GPU, node, 0, 1 + gpus, sharedCounters=sets)
    for gpu in range(gpus):
        yield _build_slice(GPU, node, 1 + gpu, 1 + gpus, devices=list(_build_split_gpu(node, gpu)))


def _claim_of_whole(_: int) -> Json:
    memory = f"device.capacity['{GPU}'].memory.compareTo(quantity('40Gi')) >= 0"
    return {"requests": [_build_request("gpu", GPU, memory)]}


def _claim_of_pairs(_: int) -> Json:
    rdma = f"device.attributes['{NIC}'].rdma && device.attributes['{NIC}'].linkType == 'infiniband'"
    return {
        "requests": [_build_request("gpu", GPU), _build_request("nic", NIC, rdma)],
        "constraints": [{"requests": ["gpu", "nic"], "matchAttribute": PCIE_ROOT}],
    }


def _claim_of_mig(number: int) -> Json:
    wanted = WANTED[_digest("claim", str(number)) % len(WANTED)]
    if not wanted:
        return {"requests": [_build_request("gpu", GPU)]}
    return {"requests": [_build_request("mig", MIG, f"device.attributes['{GPU}'].profile == '{wanted}'")]}


_BUILDERS: Final = {
    "whole": (_slices_of_whole, _claim_of_whole),
    "pairs": (_slices_of_pairs, _claim_of_pairs),
    "mig": (_slices_of_mig, _claim_of_mig),
}


def _build_class(name: str, selector: str) -> Json:
    return {"metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": selector}}]}}


def _build_request(name: str, device_class: str, *selectors: str) -> Json:
    exactly: Json = {"deviceClassName": device_class, "allocationMode": "ExactCount", "count": 1}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": selector}} for selector in selectors]
    return {"name": name, "exactly": exactly}


def _build_claim(number: int, devices: Json) -> Json:
    name = f"claim-{number:05d}"
    return {"metadata": {"name": name, "namespace": "bench", "uid": name}, "spec": {"devices": devices}}


def _build_slice(driver: str, node: str, number: int, count: int, **content: list[Json]) -> Json:
    return {
        "metadata": {"name": f"{node}-{driver}-{number}"},
        "spec": {
            "driver": driver,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": count},
            **content,
        },
    }


def _build_gpu(node: str, index: int, root: str) -> Json:
    attributes = {**_build_common(index, root), "type": {"string": "gpu"}, "uuid": _uuid("GPU", node, index)}
    return {"name": f"gpu-{index}", "attributes": attributes, "capacity": {"memory": {"value": "81559Mi"}}}


def _build_card(node: str, index: int, root: str) -> Json:
    return {
        "name": f"nic-{index}",
        "attributes": {
            "rdma": {"bool": True},
            "linkType": {"string": "infiniband"},
            "firmware": {"version": "28.43.1014"},
            "guid": _uuid("NIC", node, index),
            PCIE_ROOT: {"string": root},
        },
        "capacity": {"bandwidth": {"value": "400G"}},
    }


def _build_split_gpu(node: str, gpu: int) -> Iterator[Json]:
    """The whole GPU and every partition that it can have, each with what it takes of the GPU's counters."""
    root = f"pci0000:{gpu:02x}"
    whole = _build_gpu(node, gpu, root)
    yield {**whole, "consumesCounters": [_consume(gpu, 132, "81559Mi", range(MEMORY_SLICES))]}
    for at, (profile, processors, memory, slices, starts) in enumerate(PROFILES):
        for start in starts:
            attributes = {
                **_build_common(gpu, root),
                "type": {"string": "mig"},
                "profile": {"string": profile},
                "parentUUID": _uuid("GPU", node, gpu),
            }
            yield {
                "name": f"gpu-{gpu}-mig-{profile.replace('.', '').replace('+', '-')}-{at}-{start}",
                "attributes": attributes,
                "capacity": {"memory": {"value": memory}, "multiprocessors": {"value": str(processors)}},
                "consumesCounters": [_consume(gpu, processors, memory, range(start, start + slices))],
            }


def _build_common(index: int, root: str) -> Json:
    return {
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "brand": {"string": "Nvidia"},
        "architecture": {"string": "Hopper"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "cudaDriverVersion": {"version": "13.0.0"},
        "driverVersion": {"version": "580.173.2"},
        "resource.kubernetes.io/pciBusID": {"string": f"0000:{index:02x}:00.0"},
        PCIE_ROOT: {"string": root},
    }


def _consume(gpu: int, processors: int, memory: str, slices: Sequence[int]) -> Json:
    return {"counterSet": _counter_set(gpu), "counters": _build_counters(processors, memory, slices)}


def _build_counters(processors: int, memory: str, slices: Sequence[int]) -> Json:
    counters = {"multiprocessors": {"value": str(processors)}, "memory": {"value": memory}}
    return {**counters, **{f"memory-slice-{number}": {"value": "1"} for number in slices}}


def _counter_set(gpu: int) -> str:
    return f"gpu-{gpu}-counter-set"


def _uuid(kind: str, node: str, index: int) -> Json:
    return {"string": f"{kind}-{_digest(node, f'{kind} {index}'):032x}"}


def _digest(*names: str) -> int:
    return int.from_bytes(hashlib.sha256("\n".join(names).encode()).digest()[:16], "big")
