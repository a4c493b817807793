"""Every gate of NVIDIA's driver at every release, alone and in pairs: refused, allowed or disputed.

The expectations are written out from the driver's own sources and not taken from the fact tables: pkg/featuregates at
the tags v25.8.0, v25.12.0, v0.4.0, v0.4.1 and main of 2026-08-07 (0.5.0), and the documentation of the operator 26.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from types import MappingProxyType

import msgspec
import pytest

from fleet import FACTS, list_specs, read_fleet
from poolwright.catalog.gates import build_driver_gates, check_driver_gates, list_experiments
from poolwright.specs.finding import Finding
from poolwright.specs.parse import Spec, parse_specs
from poolwright.specs.stack import Stack

NVIDIA = "dra-driver-nvidia-gpu"
RELEASES = ("25.8.0", "25.12.0", "0.4.0", "0.4.1", "0.5.0")
# Alpha gates are off by default and beta ones on; `-`: the release doesn't know the gate, and exits when it is set.
STAGES = {
    "TimeSlicingSettings": ("alpha", "alpha", "alpha", "alpha", "alpha"),
    "MPSSupport": ("alpha", "alpha", "alpha", "alpha", "alpha"),
    "IMEXDaemonsWithDNSNames": ("beta", "beta", "beta", "beta", "beta"),
    "PassthroughSupport": ("-", "alpha", "alpha", "alpha", "alpha"),
    "DynamicMIG": ("-", "alpha", "alpha", "alpha", "alpha"),
    "NVMLDeviceHealthCheck": ("-", "alpha", "alpha", "alpha", "alpha"),
    "ComputeDomainCliques": ("-", "beta", "beta", "beta", "beta"),
    "CrashOnNVLinkFabricErrors": ("-", "beta", "beta", "beta", "beta"),
    "DeviceMetadata": ("-", "-", "alpha", "alpha", "alpha"),
    "FabricManagerPartitioning": ("-", "-", "-", "-", "alpha"),
    "HostManagedIMEXDaemon": ("-", "-", "-", "-", "alpha"),
    "DRAListTypeAttributes": ("-", "-", "-", "-", "alpha"),
    "ConsumableShares": ("-", "-", "-", "-", "alpha"),
    "VGPUSupport": ("-", "-", "-", "-", "-"),
    "DRADeviceCompatibilityGroups": ("-", "-", "-", "-", "-"),
}
# Two that may not be on together, from the release on.
EXCLUDED = {
    ("DynamicMIG", "MPSSupport"): "25.12.0",
    ("DynamicMIG", "NVMLDeviceHealthCheck"): "25.12.0",
    ("DynamicMIG", "PassthroughSupport"): "25.12.0",
    ("NVMLDeviceHealthCheck", "PassthroughSupport"): "0.4.0",  # 25.12 doesn't check it
}
DISPUTED = {("MPSSupport", "NVMLDeviceHealthCheck")}  # written down, never checked, later withdrawn
NEEDS = {"ComputeDomainCliques": "IMEXDaemonsWithDNSNames", "DeviceMetadata": "PassthroughSupport"}
GUIDE = (  # the seven that the guide names
    "DynamicMIG",
    "MPSSupport",
    "ConsumableShares",
    "NVMLDeviceHealthCheck",
    "PassthroughSupport",
    "DeviceMetadata",
    "TimeSlicingSettings",
)
NO_SETTINGS: Mapping[str, str | int] = MappingProxyType({})

SPECS = parse_specs(list_specs(read_fleet()))
SHARES = next(spec for spec in SPECS.stacks if spec.value.identity == "operator-26-7-shares")
# All that gates need of Kubernetes is on.
KUBERNETES = {"DRAListTypeAttributes": True}


def with_gates(
    release: str,
    gates: Mapping[str, bool],
    settings: Mapping[str, str | int] = NO_SETTINGS,
    install: str = "gpuOperator",
) -> Spec[Stack]:
    """The experiment stack with this release of the driver and these gates."""
    stack = SHARES.value
    driver = msgspec.structs.replace(
        stack.spec.dra_drivers[0], version=release, feature_gates=dict(gates), settings=dict(settings), install=install
    )
    kubernetes = msgspec.structs.replace(stack.spec.kubernetes, feature_gates=KUBERNETES)
    spec = msgspec.structs.replace(stack.spec, dra_drivers=(driver,), kubernetes=kubernetes)
    return Spec(value=msgspec.structs.replace(stack, spec=spec), document=SHARES.document)


def judge(release: str, gates: Mapping[str, bool], settings: Mapping[str, str | int] = NO_SETTINGS) -> list[Finding]:
    return check_driver_gates(with_gates(release, gates, settings), 0, "1.36", FACTS)


def verdict(findings: list[Finding]) -> str:
    if any(finding.severity == "error" for finding in findings):
        return "refused"
    return "disputed" if findings else "allowed"


def stage(gate: str, release: str) -> str:
    return STAGES[gate][RELEASES.index(release)]


def test_no_gate_and_no_release_is_left_out() -> None:
    assert {fact.name for fact in FACTS.nvidia_gates} == set(STAGES)
    read = {fact.release for fact in FACTS.nvidia_gate_releases if fact.release[0].isdigit()}
    assert {release.removesuffix(".0") if release[0] == "2" else release for release in RELEASES} == read


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("gate", STAGES)
def test_a_gate_alone(gate: str, release: str) -> None:
    fact, expected = FACTS.nvidia_gate(release, gate), stage(gate, release)
    assert fact is not None
    default = {"-": None, "alpha": False, "beta": True}[expected]
    assert (fact.stage, fact.default) == ("absent" if expected == "-" else expected, default)
    driver = with_gates(release, {}).value.spec.dra_drivers[0]
    assert build_driver_gates(driver, FACTS).get(gate) == default
    needs = NEEDS.get(gate)
    alone, off = judge(release, {gate: True}), judge(release, {gate: False})
    if expected == "-":
        assert {finding.code for finding in alone} == {finding.code for finding in off} == {"gate-unknown"}
        return
    missing = needs is not None and stage(needs, release) != "beta"
    assert [finding.code for finding in alone] == (["gate-conflict"] if missing else [])
    needed = [one for one, other in NEEDS.items() if other == gate and stage(one, release) == "beta"]
    # A gate that is on by default needs it, and nobody wrote that one.
    assert [finding.code for finding in off] == ["gate-conflict"] * len(needed)


@pytest.mark.parametrize("release", RELEASES)
def test_every_pair(release: str) -> None:
    known = [gate for gate in STAGES if stage(gate, release) != "-"]
    found = {}
    for pair in combinations(sorted(known), 2):
        gates = dict.fromkeys(pair, True)
        for gate in pair:  # what a gate needs besides is there
            gates |= {NEEDS[gate]: True} if gate in NEEDS else {}
        found[pair] = verdict(judge(release, gates))
    wanted = {}
    for pair in found:
        gates = {*pair, *(NEEDS[gate] for gate in pair if gate in NEEDS)}
        together = set(combinations(sorted(gates), 2))
        since = [EXCLUDED[two] for two in together if two in EXCLUDED]
        refused = any(RELEASES.index(release) >= RELEASES.index(one) for one in since)
        wanted[pair] = "refused" if refused else "disputed" if together & DISPUTED else "allowed"
    assert found == wanted


@pytest.mark.parametrize("gate", GUIDE)
def test_the_gates_of_the_guide_are_alpha_and_off_in_the_operator_26_7(gate: str) -> None:
    (pinned,) = (
        fact.version
        for fact in FACTS.operator_components
        if fact.release == "26.7.0" and fact.component == "draDriver" and fact.version is not None
    )
    fact = FACTS.nvidia_gate(pinned, gate)
    assert fact is not None
    assert (pinned.removeprefix("v"), fact.stage, fact.default) == ("0.5.0", "alpha", False)
    on = list(list_experiments(with_gates("0.5.0", {gate: True}), "1.36", FACTS))
    assert [one.said for one in on if one.driver == 0] == [f"the gate {gate} (alpha) of {NVIDIA} 0.5.0"]


@pytest.mark.parametrize("gate", [gate for gate in STAGES if STAGES[gate][-1] == "beta"])
def test_what_the_documentation_calls_stable_is_beta_in_the_code(gate: str) -> None:
    fact = FACTS.nvidia_gate("0.5.0", gate)
    assert fact is not None
    assert (fact.stage, [(one.field, one.value) for one in fact.disagreements]) == ("beta", [("stage", "ga")])


SETTINGS: dict[str, tuple[dict[str, bool], dict[str, str | int], str]] = {
    "shares-without-the-gate": ({}, {"consumableShares": "unlimited"}, "refused"),
    "shares-with-the-gate": ({"ConsumableShares": True}, {"consumableShares": "unlimited"}, "allowed"),
    "number-of-shares-without-the-gate": ({}, {"consumableShares": 4}, "refused"),
    "shares-that-are-disabled": ({}, {"consumableShares": "disabled"}, "allowed"),
    "imex-of-the-host-without-the-gate": ({}, {"imexMode": "hostManaged"}, "refused"),
    "imex-of-the-host": ({"HostManagedIMEXDaemon": True}, {"imexMode": "hostManaged"}, "allowed"),
    # Asked for, and turned off without a word: a warning.
    "imex-of-the-host-and-cliques": (
        {"HostManagedIMEXDaemon": True, "ComputeDomainCliques": True},
        {"imexMode": "hostManaged"},
        "disputed",
    ),
    "imex-of-the-driver": ({}, {"imexMode": "driverManaged"}, "allowed"),
    "isolation-by-channel": ({}, {"imexIsolation": "channel"}, "refused"),
    "isolation-by-domain": ({}, {"imexIsolation": "domain"}, "allowed"),
}


@pytest.mark.parametrize(("gates", "settings", "expected"), SETTINGS.values(), ids=SETTINGS)
def test_settings(gates: dict[str, bool], settings: dict[str, str | int], expected: str) -> None:
    stack = with_gates("0.5.0", gates, settings, install="chart")
    assert verdict(check_driver_gates(stack, 0, "1.36", FACTS)) == expected


NEEDED = {
    "DynamicMIG": "DRAPartitionableDevices",
    "NVMLDeviceHealthCheck": "DRADeviceTaints",
    "DRAListTypeAttributes": "DRAListTypeAttributes",
    "ConsumableShares": "DRAConsumableCapacity",
}


@pytest.mark.parametrize("gate", STAGES)
def test_what_a_gate_needs_of_kubernetes(gate: str) -> None:
    if stage(gate, "0.5.0") == "-":
        return
    stack = with_gates("0.5.0", {gate: True, **({NEEDS[gate]: True} if gate in NEEDS else {})})
    off = {name: False for name in NEEDED.values() if name != "DRAListTypeAttributes"}
    kubernetes = msgspec.structs.replace(stack.value.spec.kubernetes, feature_gates=off)
    spec = msgspec.structs.replace(stack.value.spec, kubernetes=kubernetes)
    changed = Spec(value=msgspec.structs.replace(stack.value, spec=spec), document=stack.document)
    found = [finding.code for finding in check_driver_gates(changed, 0, "1.36", FACTS)]
    assert found == (["gate-kubernetes"] if gate in NEEDED else [])


# Sets of gates at 0.5.0 that were judged by hand: case 38.
SETS: dict[str, tuple[dict[str, bool], str]] = {
    "a": ({"DynamicMIG": True, "MPSSupport": True}, "refused"),
    "b-of-which-one-config-picks-one": ({"MPSSupport": True, "TimeSlicingSettings": True}, "allowed"),
    "c": ({"DynamicMIG": True, "NVMLDeviceHealthCheck": True}, "refused"),
    "d": ({"PassthroughSupport": True, "NVMLDeviceHealthCheck": True}, "refused"),
    "e-without-the-gate-that-it-needs": ({"DeviceMetadata": True}, "refused"),
    "f-by-a-gate-that-is-on-by-default": ({"IMEXDaemonsWithDNSNames": False}, "refused"),
    "g": ({"MPSSupport": True, "NVMLDeviceHealthCheck": True}, "disputed"),
    "h": ({"DynamicMIG": True, "PassthroughSupport": True}, "refused"),
    "i": ({"DynamicMIG": True, "TimeSlicingSettings": True}, "allowed"),
    "j-unknown": ({"DynamicMig": True}, "refused"),
    "k": ({"DeviceMetadata": True, "PassthroughSupport": True}, "allowed"),
}


@pytest.mark.parametrize(("gates", "expected"), SETS.values(), ids=SETS)
def test_case_38(gates: dict[str, bool], expected: str) -> None:
    findings = judge("0.5.0", gates)
    assert verdict(findings) == expected
    if "DynamicMig" in gates:
        assert findings[0].fix.startswith("did you mean DynamicMIG? ")


def test_case_38_l_a_quoted_value_is_no_boolean() -> None:
    files = list_specs(read_fleet())
    path = "specs/stacks/operator-26-7-shares.yaml"
    quoted = files[path].replace(b"{ConsumableShares: true}", b"{ConsumableShares: 'true'}")
    with pytest.raises(Exception, match=r"featureGates|boolean") as caught:
        parse_specs({**files, path: quoted})
    assert [finding.code for finding in caught.value.findings] == ["wrong-type"]  # type: ignore[attr-defined]
