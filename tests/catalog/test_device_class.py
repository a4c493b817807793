"""Device classes as lists of selectors: guarded, in one order, and in the normal form that CEL is printed in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolwright.catalog.cel import CelError, parse_cel, render_cel
from poolwright.catalog.device_class import (
    DeviceClass,
    attribute_selector,
    build_device_class,
    capacity_selector,
    version_range_selector,
    version_selector,
)
from poolwright.specs.model import QuantityText
from poolwright.specs.pool import (
    AttributeValue,
    CapacityRange,
    CelSelector,
    DeviceClassSpec,
    Selector,
    VersionRangeOfAttribute,
)

D = "gpu.nvidia.com"
ATTRIBUTES: dict[str, tuple[str, tuple[AttributeValue, ...], str]] = {
    "one-string": (
        "type",
        ("gpu",),
        'has(device.attributes["gpu.nvidia.com"].type) && device.attributes["gpu.nvidia.com"].type == "gpu"',
    ),
    "several-are-sorted-and-said-once": (
        "type",
        ("mig", "gpu", "mig"),
        'has(device.attributes["gpu.nvidia.com"].type) && device.attributes["gpu.nvidia.com"].type in ["gpu", "mig"]',
    ),
    "integer": (
        "index",
        (-3,),
        'has(device.attributes["gpu.nvidia.com"].index) && device.attributes["gpu.nvidia.com"].index == -3',
    ),
    "true": ("ecc", (True,), 'has(device.attributes["gpu.nvidia.com"].ecc) && device.attributes["gpu.nvidia.com"].ecc'),
    "false": (
        "ecc",
        (False,),
        'has(device.attributes["gpu.nvidia.com"].ecc) && !device.attributes["gpu.nvidia.com"].ecc',
    ),
    "either-is-being-published": ("ecc", (False, True), 'has(device.attributes["gpu.nvidia.com"].ecc)'),
    "another-domain": (
        "resource.kubernetes.io/numaNode",
        (0,),
        'has(device.attributes["resource.kubernetes.io"].numaNode)'
        ' && device.attributes["resource.kubernetes.io"].numaNode == 0',
    ),
    # A word that CEL reserves can't stand behind a dot.
    "reserved-word": (
        "package",
        ("a",),
        '"package" in device.attributes["gpu.nvidia.com"] && device.attributes["gpu.nvidia.com"]["package"] == "a"',
    ),
    "what-is-not-ascii-is-escaped": (
        "a",
        ("é\u00a0", "b"),
        'has(device.attributes["gpu.nvidia.com"].a)'
        ' && device.attributes["gpu.nvidia.com"].a in ["\\u00e9\\u00a0", "b"]',
    ),
    "quotes-are-escaped": (
        "a",
        ('"\\\n',),
        'has(device.attributes["gpu.nvidia.com"].a) && device.attributes["gpu.nvidia.com"].a == "\\"\\\\\\n"',
    ),
}


@pytest.mark.parametrize(("name", "values", "selector"), ATTRIBUTES.values(), ids=ATTRIBUTES)
def test_attribute_selector(name: str, values: tuple[AttributeValue, ...], selector: str) -> None:
    assert attribute_selector(D, name, values) == selector


READ = 'device.capacity["gpu.nvidia.com"].memory'
CAPACITIES = {
    "both-bounds": (
        CapacityRange(min=QuantityText("79Gi"), below=QuantityText("90Gi")),
        f'has({READ}) && {READ}.compareTo(quantity("79Gi")) >= 0 && {READ}.compareTo(quantity("90Gi")) < 0',
    ),
    "min-alone": (
        CapacityRange(min=QuantityText("79Gi")),
        f'has({READ}) && {READ}.compareTo(quantity("79Gi")) >= 0',
    ),
    "below-alone": (
        CapacityRange(below=QuantityText("90Gi")),
        f'has({READ}) && {READ}.compareTo(quantity("90Gi")) < 0',
    ),
}


@pytest.mark.parametrize(("bounds", "selector"), CAPACITIES.values(), ids=CAPACITIES)
def test_capacity_selector(bounds: CapacityRange, selector: str) -> None:
    assert capacity_selector(D, "memory", bounds) == selector


def test_version_selector() -> None:
    read = 'device.attributes["gpu.nvidia.com"].cudaComputeCapability'
    assert version_selector(D, "cudaComputeCapability", "8.9.0") == (
        f'has({read}) && {read}.compareTo(semver("8.9.0")) >= 0'
    )


VERSION = 'device.attributes["gpu.nvidia.com"].driverVersion'
VERSIONS = {
    "both-bounds": (
        VersionRangeOfAttribute(min="580.0.0", below="600.0.0"),
        f'has({VERSION}) && {VERSION}.compareTo(semver("580.0.0")) >= 0 && {VERSION}.compareTo(semver("600.0.0")) < 0',
    ),
    "min-alone": (
        VersionRangeOfAttribute(min="580.0.0"),
        f'has({VERSION}) && {VERSION}.compareTo(semver("580.0.0")) >= 0',
    ),
    "below-alone": (
        VersionRangeOfAttribute(below="600.0.0-rc.1+x"),
        f'has({VERSION}) && {VERSION}.compareTo(semver("600.0.0-rc.1+x")) < 0',
    ),
}


@pytest.mark.parametrize(("bounds", "selector"), VERSIONS.values(), ids=VERSIONS)
def test_version_range_selector(bounds: VersionRangeOfAttribute, selector: str) -> None:
    assert version_range_selector(D, "driverVersion", bounds) == selector
    assert render_cel(parse_cel(selector)) == selector


SPEC = DeviceClassSpec(
    name="a",
    tier="batch",
    driver=D,
    attributes={"type": ("gpu",), "example.com/rack": (1,)},
    versions={"driverVersion": VersionRangeOfAttribute(min="580.0.0")},
    capacity={"memory": CapacityRange(min=QuantityText("1Gi"))},
    extended_resource_name="example.com/a",
    selectors=tuple(Selector(cel=CelSelector(expression=text)) for text in ("true  ||false", "device.driver=='x'")),
)
WHOLE = DeviceClass(
    name="a",
    tier="batch",
    driver=D,
    selectors=(
        'device.driver == "gpu.nvidia.com"',
        'has(device.attributes["example.com"].rack) && device.attributes["example.com"].rack == 1',
        'has(device.attributes["gpu.nvidia.com"].type) && device.attributes["gpu.nvidia.com"].type == "gpu"',
        f'has({VERSION}) && {VERSION}.compareTo(semver("580.0.0")) >= 0',
        f'has({READ}) && {READ}.compareTo(quantity("1Gi")) >= 0',
        # Raw ones keep their order: a first one that is false spares the rest.
        "true || false",
        'device.driver == "x"',
    ),
    extended_resource_name="example.com/a",
)


def test_the_driver_then_attributes_then_versions_then_capacities_then_raw_ones() -> None:
    assert build_device_class(SPEC) == WHOLE


def test_a_raw_selector_that_is_none_is_refused() -> None:
    spec = DeviceClassSpec(name="a", tier="batch", driver=D, selectors=(Selector(cel=CelSelector(expression="1 +")),))
    with pytest.raises(CelError):
        build_device_class(spec)


_NAMES = st.from_regex(r"([a-z]{1,5}\.[a-z]{1,3}/)?[a-zA-Z_][a-zA-Z0-9_]{0,31}", fullmatch=True) | st.sampled_from(
    ["in", "true", "null", "package", "has", "_", "a.b/for", "type", "string", "all"]
)
_LETTERS = st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Zl", "Zp"))
_TEXTS = st.text(_LETTERS, max_size=12) | st.sampled_from(["\n", "\t", "\\n", '"', "'", "${x}", "\\", "é\u0301"])
_VALUES = st.one_of(
    st.lists(_TEXTS, min_size=1, max_size=3),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3),
    st.lists(st.booleans(), min_size=1, max_size=3),
)


@given(_NAMES, _VALUES)
def test_structured_lines_are_cel_in_normal_form(name: str, values: list[AttributeValue]) -> None:
    selector = attribute_selector(D, name, tuple(values))
    assert render_cel(parse_cel(selector)) == selector
    assert attribute_selector(D, name, tuple(reversed(values))) == selector
    capacity = capacity_selector(D, name, CapacityRange(min=QuantityText("1Gi"), below=QuantityText("2Gi")))
    assert render_cel(parse_cel(capacity)) == capacity
    version = version_range_selector(D, name, VersionRangeOfAttribute(min="8.9.0", below="9.0.0"))
    assert render_cel(parse_cel(version)) == version
