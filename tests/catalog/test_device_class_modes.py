"""How much of a device a class gives, and which gates its fields need. Whole refusals are in tests/specs/placing."""

from __future__ import annotations

import pytest

from fleet import FACTS, edit, list_specs, read_fleet
from poolwright.catalog.class_gates import check_extended_resources, check_first_available
from poolwright.catalog.device_mode import device_mode
from poolwright.specs.envelope import Isolation
from poolwright.specs.parse import parse_specs
from poolwright.specs.pool import AttributeValue, CelSelector, DeviceClassSpec, Selector
from poolwright.specs.resolve import resolve_placement

GPU, OTHER = "gpu.nvidia.com", "gpu.example.com"
TYPE = 'device.attributes["gpu.nvidia.com"].type'
Row = tuple[str, dict[str, tuple[AttributeValue, ...]], tuple[str, ...], Isolation]
MODES: dict[str, Row] = {
    "whole": (GPU, {"type": ("gpu",)}, (), "exclusive"),
    "partition": (GPU, {"type": ("mig",)}, (), "partition"),
    "either": (GPU, {"type": ("gpu", "mig")}, (), "partition"),
    "type-with-its-domain": (GPU, {"gpu.nvidia.com/type": ("gpu",)}, (), "exclusive"),
    "type-of-another-domain": (GPU, {"example.com/type": ("gpu",)}, (), "partition"),
    # What isn't said of NVIDIA's devices leaves partitions in.
    "nothing-said": (GPU, {}, (), "partition"),
    "nothing-said-of-the-type": (GPU, {"architecture": ("Hopper",)}, (), "partition"),
    # Of another driver no partitions are known.
    "nothing-said-of-another-driver": (OTHER, {}, (), "exclusive"),
    "word-of-another-driver": (OTHER, {"type": ("mig",)}, (), "partition"),
    "whole-in-cel": (GPU, {}, (f'{TYPE} == "gpu"',), "exclusive"),
    "whole-in-cel-the-other-way-round": (GPU, {}, (f'"gpu" == {TYPE}',), "exclusive"),
    "whole-by-key-in-cel": (GPU, {}, ('device.attributes["gpu.nvidia.com"]["type"] == "gpu"',), "exclusive"),
    "whole-among-other-conditions": (
        GPU,
        {},
        (f'has({TYPE}) && {TYPE} == "gpu" && device.driver == "gpu.nvidia.com"',),
        "exclusive",
    ),
    "list-in-cel": (GPU, {}, (f'{TYPE} in ["gpu", "vfio"]',), "exclusive"),
    "list-with-partitions-in-cel": (GPU, {}, (f'{TYPE} in ["gpu", "mig"]',), "partition"),
    "one-of-two-in-cel": (GPU, {}, (f'{TYPE} == "gpu" || {TYPE} == "mig"',), "partition"),
    "not-a-partition-in-cel": (GPU, {}, (f'{TYPE} != "mig"',), "exclusive"),
    "not-a-partition-by-not": (GPU, {}, (f'!({TYPE} == "mig")',), "exclusive"),
    "not-a-whole-one": (GPU, {}, (f'!({TYPE} in ["gpu"]) && {TYPE} != "vfio"',), "partition"),
    "by-its-beginning": (GPU, {}, (f'{TYPE}.startsWith("g")',), "exclusive"),
    "by-its-end": (GPU, {}, (f'{TYPE}.endsWith("ig")',), "partition"),
    "or-nothing": (GPU, {}, (f'{TYPE} == "gpu" || false',), "exclusive"),
    "or-everything": (GPU, {}, (f'{TYPE} == "gpu" || true',), "partition"),
    "or-something-else": (GPU, {}, (f'{TYPE} == "gpu" || device.driver == "x"',), "partition"),
    "not-both": (GPU, {}, (f'!({TYPE} == "mig" && device.driver == "x")',), "partition"),
    "whether-there-is-a-type": (GPU, {}, (f"has({TYPE}) == true",), "partition"),
    "whether-there-is-a-type-in-a-list": (GPU, {}, (f"has({TYPE}) in [true]",), "partition"),
    "list-with-a-text-that-is-put-together": (GPU, {}, (f'{TYPE} in ["gpu", "m" + "ig"]',), "partition"),
    "list-with-itself": (GPU, {}, (f"{TYPE} in [{TYPE}]",), "partition"),
    "in-words-that-are-not-followed": (GPU, {}, (f'{TYPE}.matches("^gpu$")',), "partition"),
    "field-and-cel": (GPU, {"type": ("gpu", "mig")}, (f'{TYPE} == "gpu"',), "exclusive"),
    "shares": (GPU, {"type": ("gpu",)}, ("device.allowMultipleAllocations",), "shared"),
    "shares-among-other-conditions": (
        GPU,
        {"type": ("mig",)},
        ('device.driver == "x" && device.allowMultipleAllocations',),
        "shared",
    ),
    "no-shares": (GPU, {"type": ("gpu",)}, ("!device.allowMultipleAllocations",), "exclusive"),
    "no-shares-by-a-comparison": (GPU, {"type": ("gpu",)}, ("device.allowMultipleAllocations == false",), "exclusive"),
    "no-shares-in-another-selector": (
        GPU,
        {"type": ("gpu",)},
        ("true != device.allowMultipleAllocations", "device.allowMultipleAllocations || device.driver != ''"),
        "exclusive",
    ),
    "shares-by-a-comparison": (GPU, {"type": ("gpu",)}, ("device.allowMultipleAllocations != false",), "shared"),
    "shares-or-nothing": (GPU, {"type": ("gpu",)}, ("device.allowMultipleAllocations || false",), "shared"),
    "shares-by-not-not": (GPU, {"type": ("gpu",)}, ("!(!device.allowMultipleAllocations)",), "shared"),
    "shares-or-not": (
        GPU,
        {"type": ("gpu",)},
        ("device.allowMultipleAllocations ? device.driver != '' : true",),
        "shared",
    ),
}


@pytest.mark.parametrize(("driver", "attributes", "selectors", "mode"), MODES.values(), ids=MODES)
def test_device_mode(
    driver: str, attributes: dict[str, tuple[AttributeValue, ...]], selectors: tuple[str, ...], mode: Isolation
) -> None:
    device_class = DeviceClassSpec(
        name="a",
        tier="batch",
        driver=driver,
        attributes=attributes,
        selectors=tuple(Selector(cel=CelSelector(expression=text)) for text in selectors),
    )
    assert device_mode(device_class, FACTS) == mode


FLEET = read_fleet()
STACK, H100 = "specs/stacks/operator-26-7.yaml", "specs/pools/h100-full.yaml"
NAMED = edit(
    FLEET, H100, ("- name: interactive-80g\n", "- name: interactive-80g\n      extendedResourceName: example.com/a\n")
)
ON, OFF = "\n    featureGates: {DRAExtendedResource: true}", "\n    featureGates: {DRAExtendedResource: false}"
EXTENDED = {
    "alpha-and-off": ("1.34", "", ["interactive-80g"]),
    "alpha-and-turned-on": ("1.35", ON, []),
    "beta-and-on": ("1.36", "", []),
    "beta-and-turned-off": ("1.36", OFF, ["interactive-80g"]),
    # What can't be turned off isn't.
    "locked": ("1.37", OFF, []),
}


@pytest.mark.parametrize(("minor", "gates", "named"), EXTENDED.values(), ids=EXTENDED)
def test_extended_resources(minor: str, gates: str, named: list[str]) -> None:
    specs = parse_specs(list_specs(edit(NAMED, STACK, ("version: 1.36.x", f"version: {minor}.x{gates}"))))
    stack = next(stack for stack in specs.stacks if stack.value.identity == "operator-26-7")
    pool = next(pool for pool in specs.pools if pool.value.identity == "h100-full")
    found = check_extended_resources(pool, stack, minor, FACTS)
    assert [finding.what.split('"')[1] for finding in found] == named
    assert check_extended_resources(pool, stack, minor, FACTS, only="interactive-80g") == found
    assert check_extended_resources(pool, stack, minor, FACTS, only="rdma-nic") == []


PRIORITIZED = "\n    featureGates: {DRAPrioritizedList: false}"
ALTERNATIVES = {
    "several-and-on": ("summarise-20b", "", []),
    "several-and-turned-off": ("summarise-20b", PRIORITIZED, ["alternatives-gate"]),
    "one-and-turned-off": ("rag-8b", PRIORITIZED, []),
}


@pytest.mark.parametrize(("unit", "gates", "codes"), ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_first_available(unit: str, gates: str, codes: list[str]) -> None:
    specs = parse_specs(list_specs(edit(FLEET, STACK, ("version: 1.36.x", f"version: 1.35.x{gates}"))))
    placement = next(placement for placement in specs.placements if placement.value.identity == unit)
    resolved, problems = resolve_placement(specs, placement)
    assert resolved is not None, problems
    assert [finding.code for finding in check_first_available(resolved, "1.35", FACTS)] == codes
