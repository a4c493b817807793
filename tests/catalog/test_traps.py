"""Known traps: which of the rows a stack meets as it runs, which a step from one stack to another does."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from fleet import FACTS, PROJECT, Files, edit, list_specs, read_fleet, read_small_fleet
from own_facts import OURS, merge
from poolwright.catalog.facts import Facts
from poolwright.catalog.inventory import Inventory, parse_inventory
from poolwright.catalog.trap_rules import check_traps, list_models
from poolwright.catalog.traps import When, list_move_traps, list_step_traps, list_traps, parse_when
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import render_text
from poolwright.specs.model import VersionRangeText
from poolwright.specs.parse import parse_specs
from poolwright.specs.stack import DraDriver, GpuDriver, GpuOperator, Kubernetes, ServingImage, StackSpec

IMAGES = (ServingImage(name="vllm", engine="vllm", version="0.33.0", image="registry.example.com/vllm:v0.33.0"),)


def build(
    *,
    operator: str | None = "26.7.2",
    mode: Any = "gpuCluster",
    dra: str | None = "0.5.0",
    install: Any = "gpuOperator",
    package: str = "dra-driver-nvidia-gpu",
    driver: str = "580.173.02",
    gates: tuple[str, ...] = (),
    domains: bool = False,
) -> StackSpec:
    drivers = DraDriver(
        name=package,
        version=dra or "",
        install=install,
        feature_gates=dict.fromkeys(gates, True),
        settings={} if domains else {"computeDomains": "disabled"},
    )
    return StackSpec(
        kubernetes=Kubernetes(version=VersionRangeText("1.36.2")),
        gpu_operator=GpuOperator(version=operator, mode=mode) if operator else None,
        dra_drivers=(drivers,) if dra else (),
        gpu_driver=GpuDriver(version=driver, install="host"),
        serving_images=IMAGES,
    )


NEW = {"extended-resource-lost", "gpucluster-new-only"}  # of every GPUCluster of 26.7
POLICY: dict[str, Any] = {"mode": "clusterPolicy", "install": "chart", "dra": "0.4.1", "operator": "26.3.2"}
MET: dict[str, tuple[StackSpec, set[str], set[str]]] = {
    "mode": (build(), set(), NEW),
    "mode-of-another-line": (build(**POLICY), set(), set()),
    "compute-domains": (build(domains=True), set(), {*NEW, "computedomains-crd-twice"}),
    "gate": (build(gates=("PassthroughSupport",)), set(), {*NEW, "passthrough-twice"}),
    "gate-that-is-off": (build(gates=("DynamicMIG",)), set(), NEW),
    "gate-at-a-release": (build(operator="26.7.0", gates=("MPSSupport",)), set(), {*NEW, "mps-openshift"}),
    "gate-at-the-release-that-mends-it": (build(gates=("MPSSupport",)), set(), NEW),
    "hardware": (build(driver="595.91.07"), {"gb200-nvl"}, {*NEW, "driver-595-efa"}),
    "hardware-with-another-driver": (build(), {"gb200-nvl"}, NEW),
    "other-hardware": (build(driver="595.91.07"), {"gb300-nvl"}, NEW),
    "install": (build(**{**POLICY, "dra": "0.4.0"}), set(), {"labels-twice"}),
    # They were renumbered: 25.12 is the older one.
    "install-of-the-old-numbers": (
        build(**{**POLICY, "dra": "25.12.0", "package": "nvidia-dra-driver-gpu"}),
        set(),
        {"labels-twice"},
    ),
    "driver-beside-the-dra-driver": (
        build(**{**POLICY, "dra": "25.12.0", "operator": "25.10.1", "driver": "570.172.08"}),
        set(),
        {"labels-twice", "driver-570-nvml"},
    ),
    "device-plugin": (
        build(mode="clusterPolicy", dra=None, operator="25.3.0", driver="570.124.06"),
        set(),
        {"driver-570-mixed-nodes"},
    ),
    # The operator is told not to deploy the plugin where the stack has NVIDIA's DRA driver.
    "no-device-plugin-beside-the-dra-driver": (
        build(**{**POLICY, "driver": "570.124.06"}),
        set(),
        set(),
    ),
    "nothing-of-a-range": (build(operator="26.7.x", dra="0.5.x", domains=True), set(), set()),
    "nothing-of-another-package": (build(**{**POLICY, "dra": "0.4.0", "package": "other-driver"}), set(), set()),
    "without-an-operator": (build(operator=None, install="external"), set(), set()),
}


@pytest.mark.parametrize("name", MET)
def test_what_a_stack_meets(name: str) -> None:
    stack, models, expected = MET[name]
    found = list_traps(stack, models, FACTS)
    assert {fact.trap for fact in found} == expected
    rows = [fact.trap for fact in FACTS.known_traps]
    assert [fact.trap for fact in found] == sorted(expected, key=rows.index)


STEPS = {
    "upgrade-over-the-new-numbers": (("draDriver", "25.12.0", "0.4.0"), ["chart-renamed"]),
    "upgrade-among-the-new-numbers": (("draDriver", "0.4.0", "0.5.0"), []),
    "rollback-over-the-new-numbers": (("draDriver", "0.5.0", "25.12.0"), ["rollback-0.4"]),
    "rollback-among-the-new-numbers": (("draDriver", "0.5.0", "0.4.1"), []),
    "upgrade-of-any-driver": (("gpuDriver", "580.173.02", "595.91.07"), ["plugin-keeps-nvml"]),
    "no-step": (("gpuDriver", "580.173.02", "580.173.02"), []),
    "same-version-in-other-words": (("gpuOperator", "26.7.0", "v26.7.0"), []),
}


@pytest.mark.parametrize("name", STEPS)
def test_what_a_step_meets(name: str) -> None:
    (part, before, after), expected = STEPS[name]
    assert [fact.trap for fact in list_step_traps(part, before, after, FACTS)] == expected  # type: ignore[arg-type]


MOVES: dict[str, tuple[StackSpec, StackSpec, list[str]]] = {
    "none": (build(), build(), []),
    "to-claims": (
        build(mode="clusterPolicy", dra=None),
        build(),
        ["extended-resource-lost", "gpucluster-new-only"],
    ),
    "from-claims": (build(), build(mode="clusterPolicy", dra=None), []),
    "all-parts": (
        build(operator="26.3.2", mode="clusterPolicy", dra="25.12.0", install="chart", driver="570.172.08"),
        build(),
        ["extended-resource-lost", "gpucluster-new-only", "chart-renamed", "plugin-keeps-nvml"],
    ),
    "back": (build(), build(operator="26.3.2", dra="25.12.0", install="chart", mode="clusterPolicy"), ["rollback-0.4"]),
    "new-operator": (build(operator=None, install="external"), build(), []),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_a_move_meets(name: str) -> None:
    before, after, expected = MOVES[name]
    assert [fact.trap for fact in list_move_traps(before, after, FACTS)] == expected


READ = {
    "devicePlugin": When("devicePlugin"),
    "computeDomains": When("computeDomains"),
    "upgrade": When("upgrade"),
    "upgrade:25.12.x": When("upgrade", "25.12.x"),
    "rollback:25.12.x": When("rollback", "25.12.x"),
    "draDriver:0.5.0, 0.4.x": When("draDriver", "0.5.0, 0.4.x"),
    "hardware:gb200-nvl": When("hardware", "gb200-nvl"),
    "gate:MPSSupport": When("gate", "MPSSupport"),
    "mode:clusterPolicy": When("mode", "clusterPolicy"),
    "install:external": When("install", "external"),
}
UNREAD = {
    "moon:full": '"moon" is no kind: devicePlugin, draDriver, hardware, computeDomains, gate, mode, rollback, upgrade, '
    "install",
    "": '"" is no kind',
    "devicePlugin:x": '"devicePlugin:x": devicePlugin takes no value',
    "computeDomains:": '"computeDomains:": computeDomains takes no value',
    "upgrade:": '"upgrade:": upgrade takes a value',
    "gate": '"gate": gate takes a value',
    "rollback": '"rollback": rollback takes a value',
    "draDriver:new": '"new" is not a version range',
    "mode:dra": '"mode:dra": mode is one of clusterPolicy, gpuCluster',
    "install:helm": '"install:helm": install is one of gpuOperator, chart, external',
}


@pytest.mark.parametrize("text", READ)
def test_when_is_read(text: str) -> None:
    assert parse_when(text) == READ[text]


@pytest.mark.parametrize("text", UNREAD)
def test_when_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(UNREAD[text])):
        parse_when(text)


def test_every_row_is_met_by_some_stack_or_move() -> None:
    met = {trap for _, _, traps in MET.values() for trap in traps}
    met |= {trap for _, traps in STEPS.values() for trap in traps}
    assert met == {fact.trap for fact in FACTS.known_traps}


# --- what `check` says ---

BASELINE = "specs/stacks/operator-26-7.yaml"
DOMAINS = edit(read_fleet(), BASELINE, ("{computeDomains: disabled}", "{}"))


def say(files: Files, facts: Facts = FACTS, inventories: dict[str, Inventory] | None = None) -> str:
    return render_text(check_traps(parse_specs(list_specs(files)), inventories or {}, facts))


def test_nothing_is_said_of_the_examples() -> None:
    assert (say(read_fleet()), say(read_small_fleet())) == ("", "")


def test_what_is_said_of_a_trap() -> None:
    assert say(DOMAINS) == (
        'specs/stacks/operator-26-7.yaml:10:14: warning: stack "operator-26-7" has GPU Operator 26.7.0: its copy of '
        "the CRD computedomains requires numNodes and has no default, the driver's chart has one: whoever applies last "
        "wins, and objects without numNodes are refused  [known-trap]\n"
        "  at   spec.gpuOperator.version\n"
        "  why  known trap computedomains-crd-twice, computeDomains: NVIDIA/aicr issues 2546 and 2715 (poolwright "
        "facts, known-traps.json)\n"
        "  fix  install the CRD from one place, and always write numNodes\n"
    )


TEAMS = {
    "trap": "our-nic",
    "component": "draDriver",
    "versions": ["0.5.x"],
    "when": "mode:gpuCluster",
    "effect": "our NIC is lost after a reboot",
    "remedy": "restart the plugin",
    **OURS,
}


def test_a_trap_of_the_teams_own_is_said() -> None:
    text = say(read_fleet(), merge(known_traps=[TEAMS]))
    assert text.count("[known-trap]") == 2
    assert (
        'operator-26-7.yaml:14:16: warning: stack "operator-26-7" has the DRA driver 0.5.0: our NIC is lost after a '
        "reboot  [known-trap]\n"
    ) in text
    assert "  why  known trap our-nic, mode:gpuCluster: our rehearsal of 2026-11-20 (poolwright facts" in text


def test_hardware_in_use_is_planned_or_captured() -> None:
    specs = parse_specs(list_specs(read_fleet()))
    text = read_fleet()["inventory/east.yaml"]
    east = parse_inventory(parse_documents(text, "inventory/east.yaml"), "inventory/east.yaml")
    assert list_models(specs, "lab", None, FACTS) == {"h100-sxm5-80gb"}
    assert list_models(specs, "east", None, FACTS) == {"h100-sxm5-80gb"}
    assert list_models(specs, "east", east, FACTS) == {"a100-sxm4-40gb", "h100-sxm5-80gb"}


def test_a_stack_that_no_cluster_names_has_no_hardware() -> None:
    trap = {**TEAMS, "when": "hardware:h100-sxm5-80gb"}
    facts = merge(known_traps=[trap])
    files = read_fleet()
    assert say(files, facts).count("[known-trap]") == 1
    unnamed = edit(files, PROJECT, ("stackName: operator-26-7\n", "stackName: operator-26-7-shares\n"))
    assert say(unnamed, facts).count('stack "operator-26-7" has') == 0


def test_rows_are_values_of_their_file() -> None:
    assert json.loads(msgspec.json.encode(FACTS.known_traps[0]))["trap"] == "driver-570-mixed-nodes"
