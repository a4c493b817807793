"""Stacks against the facts: every finding, its whole text in data/stack-rules/ID.txt, and what passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet import FACTS, Files, edit, list_specs, load_closures, load_unit, read_fleet
from golden import Golden
from poolwright.catalog.closure import digest_closure
from poolwright.catalog.stack_rules import check_stacks
from poolwright.specs.codes import CODES
from poolwright.specs.finding import Finding, SpecError, render_text, sort_findings
from poolwright.specs.parse import parse_specs

TEXTS = Path(__file__).parent / "data" / "stack-rules"
FLEET = read_fleet()
BASELINE = "specs/stacks/operator-26-7.yaml"
SHARES = "specs/stacks/operator-26-7-shares.yaml"
FULL, SHARED = "specs/pools/h100-full.yaml", "specs/pools/h200-shares.yaml"

GATES = "{ConsumableShares: true}"
RAW = '.compareTo(semver("580.0.0")) >= 0'
KUBERNETES = "version: 1.36.x"
SETTINGS = "settings: {computeDomains: disabled}"
NO_OPERATOR = ("  gpuOperator:\n    version: 26.7.0\n    mode: gpuCluster\n", "")
BY_CHART = ("install: gpuOperator", "install: chart")
BY_POLICY = ("mode: gpuCluster", "mode: clusterPolicy")
HOST = ("install: nvidiaDriver", "install: host")


def gates(text: str) -> tuple[str, str, str]:
    """The experiment stack with these gates of its driver."""
    return SHARES, GATES, "{ConsumableShares: true, " + text + "}"


def kubernetes_gates(text: str) -> tuple[str, str, str]:
    return SHARES, KUBERNETES, f"{KUBERNETES}\n    featureGates: {{{text}}}"


# Edits of the example: file, then pairs of old and new text.
REFUSED: dict[str, tuple[str, ...]] = {
    # The operator's release, and what it is listed with.
    "operator-not-known": (BASELINE, "version: 26.7.0", "version: 26.8.0"),
    "operator-whose-chart-was-not-read": (BASELINE, "version: 26.7.0", "version: 26.3.3"),
    # Another patch of a line that was read is only a warning; so is a component that nobody saw.
    "operator-of-a-line-that-was-read": (BASELINE, "version: 26.7.0", "version: 26.7.1"),
    "driver-is-not-the-one-the-operator-carries": (BASELINE, "version: 0.5.0", "version: 0.5.1"),
    # What it carries comes from a preview: the rule says so.
    "driver-is-not-the-one-a-preview-carries": (BASELINE, "version: 26.7.0", "version: 26.7.2"),
    "kubernetes-that-a-later-line-lists": (BASELINE, "version: 26.7.0", "version: 25.10.1", *BY_POLICY, *BY_CHART),
    # Only a later patch of the line lists it.
    "kubernetes-that-a-later-patch-lists": (
        *(BASELINE, "version: 26.7.0", "version: 26.3.1", *BY_POLICY, *BY_CHART, "version: 0.5.0", "version: 0.4.1"),
    ),
    # The end of the matrix is neither a yes nor a no.
    "kubernetes-that-no-line-lists": (BASELINE, KUBERNETES, "version: 1.37.x"),
    "kubernetes-patch-too-old": (BASELINE, KUBERNETES, "version: 1.34.1"),
    "kubernetes-line-with-patches-too-old": (BASELINE, KUBERNETES, "version: 1.34.x"),
    "gpu-driver-of-a-branch-that-is-not-listed": (BASELINE, "580.173.02", "590.48.01"),
    "gpu-driver-patch-that-is-not-listed": (BASELINE, "580.173.02", "580.126.20"),
    # Listed for the operator, and too old for claims.
    "gpu-driver-too-old-for-claims": (BASELINE, "580.173.02", "535.309.01"),
    "runtime-that-is-not-listed": (BASELINE, "version: 2.2.x}", "version: 1.6.x}"),
    "cdi-off": (BASELINE, "cdi: {enabled: true}", "cdi: {enabled: false}"),
    "toolkit-too-old": (BASELINE, "version: 1.20.0", "version: 1.17.8"),
    "version-that-is-none": (BASELINE, "580.173.02", "latest"),
    "driver-not-listed-with-the-operator": (BASELINE, "version: 26.7.0", "version: 26.3.3", *BY_POLICY, *BY_CHART),
    # Who installs what.
    "driver-by-an-operator-that-brings-none": (BASELINE, *BY_POLICY),
    "driver-by-two": (BASELINE, *BY_CHART),
    "gpu-driver-by-the-resource-that-is-not-there": (BASELINE, "install: nvidiaDriver", "install: clusterPolicy"),
    "toolkit-by-the-resource-that-is-not-there": (BASELINE, "1.20.0, install: host", "1.20.0, install: clusterPolicy"),
    "gpu-driver-by-nobody": (BASELINE, "  gpuDriver: {version: 580.173.02, install: nvidiaDriver}\n", ""),
    "driver-that-the-operator-brings-unsaid": (
        *(BASELINE, "name: dra-driver-nvidia-gpu\n      version: 0.5.0\n      install: gpuOperator\n", ""),
        *("      settings: {computeDomains: disabled}   # no multi-node NVLink here\n    - ", ""),
    ),
    "everything-by-an-operator-that-is-not-there": (
        *(BASELINE, *NO_OPERATOR, "1.20.0, install: host", "1.20.0, install: clusterPolicy"),
    ),
    # Drivers.
    "driver-release-not-known": (BASELINE, "version: 0.5.0", "version: 0.6.0"),
    "driver-twice": (BASELINE, "name: nic-dra-driver", "name: dra-driver-nvidia-gpu"),
    "driver-without-a-name-in-slices": (BASELINE, "      driverNames: [nic.example.com]\n", ""),
    "driver-of-others-by-a-chart": (BASELINE, "install: external", "install: chart"),
    "driver-whose-chart-is-nowhere": (BASELINE, *NO_OPERATOR, *BY_CHART, "version: 0.5.0", "version: 25.12.0", *HOST),
    "class-of-a-driver-that-the-stack-has-not": (FULL, "nic.example.com", "nic.example.org"),
    "class-of-compute-domains-that-are-disabled": (FULL, "nic.example.com", "compute-domain.nvidia.com"),
    "setting-not-known": (BASELINE, "{computeDomains: disabled}", "{computeDomain: disabled}"),
    "setting-of-another-installer": (BASELINE, "{computeDomains: disabled}", "{imexMode: driverManaged}"),
    "word-not-known": (SHARES, "consumableShares: unlimited", "consumableShares: 0"),
    "setting-of-a-driver-by-others": (
        *(BASELINE, "driverNames: [nic.example.com]", "driverNames: [nic.example.com]\n      settings: {rdma: yes}"),
    ),
    # Gates of the driver.
    "gate-misspelled": gates("DynamicMig: true"),
    "gate-of-a-later-release": (BASELINE, "version: 0.5.0", "version: 0.4.1", SETTINGS, f"featureGates: {GATES}"),
    "gate-of-a-release-that-was-not-read": (
        *(BASELINE, "version: 0.5.0", "version: 0.5.1", SETTINGS, f"featureGates: {GATES}"),
    ),
    "gates-that-exclude-each-other": gates("DynamicMIG: true, MPSSupport: true"),
    "gates-that-exclude-each-other-at-start": gates("DynamicMIG: true, NVMLDeviceHealthCheck: true"),
    "gates-of-which-one-passes-devices-through": gates("PassthroughSupport: true, NVMLDeviceHealthCheck: true"),
    # One source says so, and the code doesn't: a warning.
    "gates-that-exclude-each-other-on-paper": gates("MPSSupport: true, NVMLDeviceHealthCheck: true"),
    "gate-without-the-one-it-needs": gates("DeviceMetadata: true"),
    # Nobody wrote ComputeDomainCliques: it is on by default.
    "default-gate-without-the-one-it-needs": gates("IMEXDaemonsWithDNSNames: false"),
    "setting-without-its-gate": (SHARES, GATES, "{}"),
    "setting-that-is-always-refused": (
        *(SHARES, *NO_OPERATOR, *BY_CHART, *HOST, "computeDomains: disabled", "imexIsolation: channel"),
    ),
    "setting-that-turns-gates-off": (
        *(SHARES, *NO_OPERATOR, *BY_CHART, *HOST, "computeDomains: disabled", "imexMode: hostManaged"),
        *(GATES, "{ConsumableShares: true, HostManagedIMEXDaemon: true, ComputeDomainCliques: true}"),
    ),
    "gate-that-needs-one-of-kubernetes": kubernetes_gates("DRAConsumableCapacity: false"),
    "gate-that-needs-a-later-kubernetes": (
        *(SHARES, KUBERNETES, "version: 1.35.x", GATES, "{ConsumableShares: true, DRAListTypeAttributes: true}"),
    ),
    # Gates of Kubernetes.
    "kubernetes-gate-misspelled": kubernetes_gates("DRAconsumableCapacity: true"),
    "kubernetes-gate-of-a-later-release": kubernetes_gates("DRADerivedAttributes: true"),
    "kubernetes-gate-that-is-locked": kubernetes_gates("DynamicResourceAllocation: false"),
    # Lanes.
    "baseline-pool-under-a-gate": (SHARED, "lane: experiment", "lane: baseline"),
    "baseline-pools-under-a-gate-of-kubernetes": (
        *(BASELINE, KUBERNETES, f"{KUBERNETES}\n    featureGates: {{DRAListTypeAttributes: true}}"),
    ),
    "baseline-pools-under-a-gate-nobody-knows": (
        *(BASELINE, "install: external", "install: external\n      featureGates: {FastRings: true}"),
    ),
    # Nobody wrote `features`: what the class selects says it.
    "baseline-class-of-shares": (FULL, RAW, '.compareTo(semver("580.0.0")) >= 0 && device.allowMultipleAllocations'),
    "baseline-class-of-shares-in-other-words": (
        *(FULL, RAW, '.compareTo(semver("580.0.0")) >= 0 && !(!device.allowMultipleAllocations || false)'),
    ),
    "baseline-class-that-says-so": (FULL, "attributes: {rdma: [true]}", "features: [FastRings]"),
    "baseline-class-for-virtual-machines": (FULL, "type: [gpu]", "type: [vfio]"),
    "baseline-class-of-a-capacity-that-a-gate-brings": (FULL, "memory: {min", "multiprocessors: {min"),
    "class-for-virtual-machines-whose-gate-is-off": (
        *(SHARED, "type: [gpu]", "type: [vfio]", "      selectors:\n", ""),
        *("        - cel: {expression: device.allowMultipleAllocations}\n", ""),
        *("      features: [ConsumableShares]     # without this gate the class matches nothing\n", ""),
    ),
    "class-whose-gate-is-off": (SHARED, "features: [ConsumableShares]", "features: [DynamicMIG]"),
}
PASSED: dict[str, tuple[str, ...]] = {
    "example": (BASELINE, "26.7.0", "26.7.0"),
    "suffix-of-a-cloud": (BASELINE, KUBERNETES, "version: v1.34.4-gke.1047000"),
    "gates-of-which-a-claim-picks-one": gates("MPSSupport: true, TimeSlicingSettings: true"),
    "gates-that-go-together": gates("DynamicMIG: true, TimeSlicingSettings: true"),
    "gate-with-the-one-it-needs": gates("DeviceMetadata: true, PassthroughSupport: true"),
    "any-number-of-shares": (SHARES, "consumableShares: unlimited", "consumableShares: 4"),
    "gpu-driver-of-the-host": (BASELINE, *HOST),
    "gate-of-kubernetes-that-is-beta": (
        *(BASELINE, KUBERNETES, f"{KUBERNETES}\n    featureGates: {{DRADeviceTaintRules: true}}"),
    ),
    "gate-that-is-on-by-default": (BASELINE, SETTINGS, "featureGates: {CrashOnNVLinkFabricErrors: true}"),
    "gate-that-is-turned-off": (BASELINE, SETTINGS, "featureGates: {CrashOnNVLinkFabricErrors: false}"),
    # Gates that are on by default go off with it, and nobody asked for them.
    "compute-domains-of-the-host": (
        *(SHARES, *NO_OPERATOR, *BY_CHART, *HOST, "computeDomains: disabled", "imexMode: hostManaged"),
        *(GATES, "{ConsumableShares: true, HostManagedIMEXDaemon: true}"),
    ),
    "chart-beside-a-cluster-policy": (
        *(BASELINE, *BY_POLICY, *BY_CHART, "1.20.0, install: host", "1.20.0, install: clusterPolicy"),
    ),
    "chart-without-an-operator": (BASELINE, *NO_OPERATOR, *BY_CHART, *HOST),
}


def change(case: tuple[str, ...]) -> Files:
    path, *texts = case
    return edit(FLEET, path, *zip(texts[::2], texts[1::2], strict=True))


def judge(case: tuple[str, ...]) -> tuple[Finding, ...]:
    return sort_findings(check_stacks(parse_specs(list_specs(change(case))), FACTS))


def test_what_is_said(golden: Golden) -> None:
    golden.compare(TEXTS, {f"{name}.txt": render_text(judge(case)).encode() for name, case in REFUSED.items()})


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_something_is_said_and_errors_stop_everything(case: tuple[str, ...]) -> None:
    findings = judge(case)
    assert findings
    if any(finding.severity == "error" for finding in findings):
        with pytest.raises(SpecError) as caught:
            load_closures(change(case))
        assert set(findings) <= set(caught.value.findings)
    else:
        load_closures(change(case))


@pytest.mark.parametrize("case", PASSED.values(), ids=PASSED)
def test_nothing_is_said(case: tuple[str, ...]) -> None:
    assert judge(case) == ()
    load_closures(change(case))


def test_every_code_of_these_rules_is_shown() -> None:
    found = {finding.code for case in REFUSED.values() for finding in judge(case)}
    families = ("chart-", "cdi-", "driver-", "gate-", "operator-", "lane-feature", "lane-stack", "class-driver-")
    assert found - {"duplicate-name", "invalid-value"} == {code for code in CODES if code.startswith(families)}


# A change, the units of the cluster for which `generate` refuses it, and the code; other units' bytes stay the same.
STOPPED = {
    # The placement consents to a lane that the pool then isn't in: that is said first.
    "lane": ((SHARED, "lane: experiment", "lane: baseline"), ("platform",), "lane-stack"),
    "feature": ((SHARED, "[ConsumableShares]", "[DynamicMIG]"), ("platform", "guard-1b7"), "gate-off"),
    "gate-of-the-stack": ((SHARES, GATES, "{}"), ("platform", "guard-1b7"), "gate-off"),
}


@pytest.mark.parametrize(("case", "units", "code"), STOPPED.values(), ids=STOPPED)
def test_what_stops_one_unit(case: tuple[str, ...], units: tuple[str, ...], code: str) -> None:
    for unit in units:
        with pytest.raises(SpecError) as caught:
            load_unit(change(case), "lab-alpha", unit)
        assert code in {finding.code for finding in caught.value.findings}
    for unit in ("platform", "chat-70b"):
        assert digest_closure(load_unit(change(case), "lab", unit)) == digest_closure(load_unit(FLEET, "lab", unit))


def test_what_only_the_charts_need_stops_no_unit() -> None:
    """A rollback of a model must not wait for the operator's matrix."""
    files = change((BASELINE, "version: 26.7.0", "version: 26.8.0"))
    assert load_unit(files, "lab", "chat-70b") == load_unit(FLEET, "lab", "chat-70b")
