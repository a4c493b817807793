"""Warnings about classes that read what no captured device publishes, and about zones without nodes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fleet import PLACEMENTS, POOL, PROJECT, edit, list_specs, read_fleet
from poolwright.catalog.inventory import Inventory, parse_inventory
from poolwright.catalog.published import check_published
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import render_text, sort_findings
from poolwright.specs.parse import parse_specs

FLEET = read_fleet()
PUBLISHED = (
    "gpu.nvidia.com/addressingMode, gpu.nvidia.com/architecture, gpu.nvidia.com/brand, "
    "gpu.nvidia.com/cudaComputeCapability, gpu.nvidia.com/cudaDriverVersion, gpu.nvidia.com/driverVersion, "
    "gpu.nvidia.com/productName, gpu.nvidia.com/type, gpu.nvidia.com/uuid, resource.kubernetes.io/pciBusID, "
    "resource.kubernetes.io/pcieRoot"
)
NO_MATCH = (
    "  why  the class matches none of the devices in inventory/east.yaml, and claims on it would wait"
    " (captured ResourceSlices)\n"
)
NEVER_EQUAL = (
    "  why  values of different types are never equal: the class matches none of the devices in inventory/east.yaml"
    " (captured ResourceSlices)\n"
)
CEL = 'device.attributes["gpu.nvidia.com"].driverVersion'
EXPRESSION = f'{CEL}\n                .compareTo(semver("580.0.0")) >= 0'
CEL_FIELD = "  at   spec.deviceClasses[0].selectors[0].cel.expression\n"


def capture(text: bytes) -> Inventory:
    return parse_inventory(parse_documents(text, "inventory/east.yaml"), "inventory/east.yaml")


EAST = capture(FLEET["inventory/east.yaml"])


def judge(files: Mapping[str, bytes], inventories: Mapping[str, Inventory]) -> str:
    return render_text(sort_findings(check_published(parse_specs(list_specs(files)), inventories)))


SAID = {
    "misspelled-attribute": (
        (POOL, "architecture: [Hopper]", "architectur: [Hopper]"),
        'specs/pool.yaml:17:9: warning: no captured device publishes the attribute "gpu.nvidia.com/architectur"'
        "  [class-unpublished]\n  at   spec.deviceClasses[0].attributes.architectur\n"
        + NO_MATCH
        + '  fix  did you mean "gpu.nvidia.com/architecture"? published: '
        + PUBLISHED
        + "\n",
    ),
    "attribute-of-another-domain": (
        (POOL, "architecture: [Hopper]", "example.com/rack: [a]"),
        'specs/pool.yaml:17:9: warning: no captured device publishes the attribute "example.com/rack"'
        '  [class-unpublished]\n  at   spec.deviceClasses[0].attributes["example.com/rack"]\n'
        + NO_MATCH
        + "  fix  published: "
        + PUBLISHED
        + "\n",
    ),
    "capacity": (
        (POOL, "memory: {", "mem: {"),
        'specs/pool.yaml:19:9: warning: no captured device publishes the capacity "gpu.nvidia.com/mem"'
        "  [class-unpublished]\n  at   spec.deviceClasses[0].capacity.mem\n"
        + NO_MATCH
        + '  fix  did you mean "gpu.nvidia.com/memory"? published: gpu.nvidia.com/memory\n',
    ),
    "attribute-in-cel": (
        (POOL, "driverVersion", "driverVersions"),
        'specs/pool.yaml:22:25: warning: no captured device publishes the attribute "gpu.nvidia.com/driverVersions"'
        "  [class-unpublished]\n"
        + CEL_FIELD
        + NO_MATCH
        + '  fix  did you mean "gpu.nvidia.com/driverVersion"? published: '
        + PUBLISHED
        + "\n",
    ),
    "version-as-a-string": (
        (POOL, "architecture: [Hopper]", "driverVersion: [580.173.2]"),
        'specs/pool.yaml:17:24: warning: the attribute "gpu.nvidia.com/driverVersion" is published as version and'
        " compared as string  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.driverVersion\n"
        + NEVER_EQUAL
        + "  fix  use a raw selector with compareTo(semver(...))\n",
    ),
    "number-for-a-string": (
        (POOL, "architecture: [Hopper]", "productName: [100]"),
        'specs/pool.yaml:17:22: warning: the attribute "gpu.nvidia.com/productName" is published as string and'
        " compared as int  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.productName\n"
        + NEVER_EQUAL
        + "  fix  write values of type string\n",
    ),
    "true-for-a-string": (
        (POOL, "architecture: [Hopper]", "productName: [true]"),
        'specs/pool.yaml:17:22: warning: the attribute "gpu.nvidia.com/productName" is published as string and'
        " compared as bool  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.productName\n"
        + NEVER_EQUAL
        + "  fix  write values of type string\n",
    ),
    "zone": (
        (PLACEMENTS, "zone: east-a", "zone: east-c"),
        'specs/placements.yaml:22:9: warning: no captured node is in zone "east-c"  [zone-unknown]\n'
        "  at   spec.zone\n"
        "  why  pods that must run in a zone of no node in inventory/east.yaml stay Pending"
        " (captured Nodes, label topology.kubernetes.io/zone)\n"
        "  fix  captured zones: east-a, east-b\n",
    ),
}
QUIET = {
    "the-example": (PLACEMENTS, "zone: east-a", "zone: east-b"),
    # It has an answer for devices that lack the attribute: that is a decision, not a slip.
    "guarded-by-has": (
        POOL,
        EXPRESSION,
        'has(device.attributes["gpu.nvidia.com"].profile) && device.attributes["gpu.nvidia.com"].type == "gpu"',
    ),
    "guarded-by-an-optional": (POOL, EXPRESSION, 'device.attributes["gpu.nvidia.com"].?profile.orValue("x") == "x"'),
    "any-name": (POOL, EXPRESSION, 'device.attributes["gpu.nvidia.com"].all(name, name != "profile")'),
    "driver-without-captured-devices": (POOL, "driver: gpu.nvidia.com", "driver: gpu.example.com"),
    "another-domain-that-is-published": (POOL, "type: [gpu]", "resource.kubernetes.io/pcieRoot: ['pci0000:44']"),
}


@pytest.mark.parametrize(("change", "says"), SAID.values(), ids=SAID)
def test_what_is_said(change: tuple[str, str, str], says: str) -> None:
    file, old, new = change
    assert judge(edit(FLEET, file, (old, new)), {"east": EAST}) == says


@pytest.mark.parametrize("change", QUIET.values(), ids=QUIET)
def test_nothing_is_said(change: tuple[str, str, str]) -> None:
    file, old, new = change
    assert judge(edit(FLEET, file, (old, new)), {"east": EAST}) == ""


def test_a_guarded_read_beside_an_unguarded_one_does_not_hide_it() -> None:
    one = 'device.attributes["gpu.nvidia.com"].profile'
    files = edit(FLEET, POOL, (EXPRESSION, f'{one} == "a" || has({one})'))
    assert judge(files, {"east": EAST}).startswith(
        'specs/pool.yaml:22:25: warning: no captured device publishes the attribute "gpu.nvidia.com/profile"'
    )


def test_a_list_is_never_equal_to_one_value() -> None:
    text = FLEET["inventory/east.yaml"].replace(b"brand: {string: Nvidia}", b"ranks: {ints: [1, 2]}")
    files = edit(FLEET, POOL, ("architecture: [Hopper]", "ranks: [1]"))
    assert judge(files, {"east": capture(text)}) == (
        'specs/pool.yaml:17:16: warning: the attribute "gpu.nvidia.com/ranks" is published as ints and compared as int'
        "  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.ranks\n"
        + NEVER_EQUAL
        + "  fix  use a raw selector that looks into the list\n"
    )


def test_only_the_clusters_own_inventory_counts() -> None:
    files = edit(FLEET, POOL, ("architecture: [Hopper]", "architectur: [Hopper]"))
    files = edit(files, PLACEMENTS, ("zone: east-a", "zone: east-c"))
    files = edit(files, PROJECT, ("  clusters:\n", "  clusters:\n    - {name: west, stackName: kubernetes-1-36}\n"))
    assert judge(files, {"west": EAST}) == ""
    assert [line.split("  ")[-1] for line in judge(files, {"east": EAST}).splitlines() if "warning" in line] == [
        "[zone-unknown]" if "placements" in line else "[class-unpublished]"
        for line in ("specs/placements.yaml", "specs/pool.yaml")
    ]


ZONES = {
    "no-node-captured": ("kind: List\nitems: []\n", ""),
    "node-without-a-zone": ("kind: Node\nmetadata: {name: a}\n", "  fix  no captured node has a zone label"),
}


@pytest.mark.parametrize(("text", "last"), ZONES.values(), ids=ZONES)
def test_a_capture_without_zones(text: str, last: str) -> None:
    assert judge(FLEET, {"east": capture(text.encode())}).split("\n")[-2:-1] == ([last] if last else [])
