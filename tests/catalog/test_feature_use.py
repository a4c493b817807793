"""Which gates a project uses: those that its stacks turn on, and those that classes, claims and other gates need."""

from __future__ import annotations

import pytest

from fleet import FACTS, edit, list_specs, read_fleet
from poolwright.catalog.feature_use import list_uses
from poolwright.specs.parse import parse_specs

FLEET = read_fleet()
BASELINE, SHARES = "specs/stacks/operator-26-7.yaml", "specs/stacks/operator-26-7-shares.yaml"
FULL, SHARED = "specs/pools/h100-full.yaml", "specs/pools/h200-shares.yaml"
CHAT = "specs/envelopes/chat-70b/2.3.0.yaml"
NVIDIA = "dra-driver-nvidia-gpu"
GATES = "{ConsumableShares: true}"
KUBERNETES = "version: 1.36.x"
NAME = "- name: interactive-80g\n"
SHARE_NAME = "- name: h200-share-alpha\n"

# Text edits of one file after another, and what is used beside what the example uses: component, feature, stack.
Edits = tuple[tuple[str, str, str], ...]
LIST = ("kubernetes", "DRAPrioritizedList", "operator-26-7")
EXAMPLE = {
    (NVIDIA, "ConsumableShares", "operator-26-7-shares"),
    ("kubernetes", "DRAConsumableCapacity", "operator-26-7-shares"),
    LIST,  # stable in 1.36
}
CASES: dict[str, tuple[Edits, set[tuple[str, str, str]]]] = {
    "the-example": ((), set()),
    "gate-of-the-stack": (
        ((SHARES, GATES, "{ConsumableShares: true, TimeSlicingSettings: true}"),),
        {(NVIDIA, "TimeSlicingSettings", "operator-26-7-shares")},
    ),
    "gate-that-is-turned-off-is-none": (((SHARES, GATES, "{ConsumableShares: true, MPSSupport: false}"),), set()),
    "gate-of-kubernetes": (
        ((BASELINE, KUBERNETES, f"{KUBERNETES}\n    featureGates: {{DRADeviceTaintRules: true}}"),),
        {("kubernetes", "DRADeviceTaintRules", "operator-26-7")},
    ),
    "partitions-that-the-driver-makes": (
        ((SHARES, GATES, "{DynamicMIG: true, ConsumableShares: true}"),),
        {
            (NVIDIA, "DynamicMIG", "operator-26-7-shares"),
            ("kubernetes", "DRAPartitionableDevices", "operator-26-7-shares"),
        },
    ),
    "health-as-taints": (
        ((SHARES, GATES, "{NVMLDeviceHealthCheck: true, ConsumableShares: true}"),),
        {
            (NVIDIA, "NVMLDeviceHealthCheck", "operator-26-7-shares"),
            ("kubernetes", "DRADeviceTaints", "operator-26-7-shares"),
        },
    ),
    "extended-resource": (
        ((FULL, NAME, f"{NAME}      extendedResourceName: example.com/gpu\n"),),
        {("kubernetes", "DRAExtendedResource", "operator-26-7")},
    ),
    # Nobody wrote the gate: the class takes only what it publishes.
    "devices-for-virtual-machines": (
        ((SHARED, "{type: [gpu]}", "{type: [vfio]}"),),
        {(NVIDIA, "PassthroughSupport", "operator-26-7-shares")},
    ),
    # Nobody wrote these either: they are on by default, and a class of compute domains goes by them.
    "compute-domains": (
        (
            (SHARES, "computeDomains: disabled, ", ""),
            (
                SHARED,
                SHARE_NAME,
                "- {name: channel, tier: batch, driver: compute-domain.nvidia.com}\n    " + SHARE_NAME,
            ),
        ),
        {
            (NVIDIA, gate, "operator-26-7-shares")
            for gate in ("IMEXDaemonsWithDNSNames", "ComputeDomainCliques", "CrashOnNVLinkFabricErrors")
        },
    ),
    "compute-domains-that-no-class-is-of": (((SHARES, "computeDomains: disabled, ", ""),), set()),
    "gate-of-a-driver-that-no-fact-is-about": (
        ((BASELINE, "install: external", "install: external\n      featureGates: {FastRings: true}"),),
        {("nic-dra-driver", "FastRings", "operator-26-7")},
    ),
    "constraint-on-what-a-gate-publishes": (
        ((CHAT, "  topology:", "  claim: {constraints: [{matchAttribute: gpu.nvidia.com/partition4}]}\n  topology:"),),
        {(NVIDIA, "FabricManagerPartitioning", "operator-26-7")},
    ),
}


def uses(edits: Edits) -> set[tuple[str, str, str]]:
    files = FLEET
    for path, old, new in edits:
        files = edit(files, path, (old, new))
    return {(one.component, one.feature, one.stack) for one in list_uses(parse_specs(list_specs(files)), FACTS)}


@pytest.mark.parametrize(("edits", "more"), CASES.values(), ids=CASES)
def test_what_is_used(edits: Edits, more: set[tuple[str, str, str]]) -> None:
    assert uses(edits) == EXAMPLE | more


def test_a_use_says_who_and_where() -> None:
    found = list_uses(parse_specs(list_specs(FLEET)), FACTS)
    assert [(one.feature, one.clusters, one.pools, one.reasons, str(one.place)) for one in found] == [
        (
            "ConsumableShares",
            ("lab-alpha",),
            ("h200-shares",),
            (
                "class lab-alpha/h200-share-alpha: its features name it",
                "stack operator-26-7-shares turns it on",
            ),
            "specs/stacks/operator-26-7-shares.yaml:16:22",
        ),
        (
            "DRAConsumableCapacity",
            ("lab-alpha",),
            ("h200-shares",),
            (
                "ConsumableShares of dra-driver-nvidia-gpu needs it",
                "class lab-alpha/h200-share-alpha asks for devices that several claims may have",
            ),
            "specs/pools/h200-shares.yaml:14:7",
        ),
        (
            "DRAPrioritizedList",
            ("east", "lab"),
            ("static-mig",),
            ("placement east/summarise-20b names several classes",),
            "specs/placements/east.yaml:94:21",
        ),
    ]


def test_a_stack_that_no_cluster_runs_uses_nothing() -> None:
    files = edit(FLEET, "poolwright.yaml", ("stackName: operator-26-7-shares", "stackName: operator-26-7"))
    found = list_uses(parse_specs(list_specs(files)), FACTS)
    assert {one.stack for one in found} == {"operator-26-7"}
