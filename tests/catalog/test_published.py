"""Warnings about classes, zones and partitions that don't meet the devices which are captured or planned."""

from __future__ import annotations

import pytest

from fleet import FACTS
from poolwright.catalog.inventory import Inventory, parse_inventory
from poolwright.catalog.published import check_devices
from poolwright.specs.document import parse_documents
from poolwright.specs.finding import render_text, sort_findings
from small_project import CLASS, NODES, PLACEMENT, POOL, Change, read_project

FILE = "inventory/east.yaml"
GPU = """\
  - name: {name}
    attributes:
      architecture: {{string: Hopper}}
      driverVersion: {{version: 580.173.2}}
      productName: {{string: NVIDIA H100 80GB HBM3}}
      type: {{string: {type}}}
      {more}
    capacity: {{memory: {{value: 81559Mi}}}}
"""
SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: of-{node}}}
spec:
  driver: gpu.nvidia.com
  nodeName: {node}
  pool: {{name: {node}, generation: 1, resourceSliceCount: {count}}}
  devices:
"""
NODE = "apiVersion: v1\nkind: Node\nmetadata: {{name: {node}, labels: {{topology.kubernetes.io/zone: {zone}}}}}\n"
WHOLE = GPU.format(name="gpu-0", type="gpu", more="resource.kubernetes.io/pcieRoot: {string: 'pci0000:44'}")


def capture(devices: str = WHOLE, *, node: str = "node-a", zone: str = "east-a", count: int = 1) -> Inventory:
    text = "---\n".join((NODE.format(node=node, zone=zone), SLICE.format(node=node, count=count) + devices))
    return parse_inventory(parse_documents(text.encode(), FILE), FILE)


CAPTURED = capture()
NONE = (NODES, "    []\n")  # nothing planned


def judge(*changes: Change, captured: Inventory | None = CAPTURED, more: str = "") -> str:
    specs = read_project(*changes, more=more)
    inventories = {"east": captured} if captured else {}
    return render_text(sort_findings(check_devices(specs, inventories, FACTS)))


SEEN = (
    "gpu.nvidia.com/architecture, gpu.nvidia.com/driverVersion, gpu.nvidia.com/productName, gpu.nvidia.com/type, "
    "resource.kubernetes.io/pcieRoot",
    "gpu.nvidia.com/addressingMode, gpu.nvidia.com/architecture, gpu.nvidia.com/brand, "
    "gpu.nvidia.com/cudaComputeCapability, gpu.nvidia.com/cudaDriverVersion, gpu.nvidia.com/driverVersion, "
    "gpu.nvidia.com/productName, gpu.nvidia.com/type, gpu.nvidia.com/uuid, resource.kubernetes.io/numaNode, "
    "resource.kubernetes.io/pciBusID, resource.kubernetes.io/pcieRoot",
)
# Who is known, and how each is spoken of: captured and planned, only captured, only planned.
KNOWN = {
    "both": (
        (),
        CAPTURED,
        "captured or planned",
        f"captured in {FILE} or planned for the cluster",
        "captured ResourceSlices and planned nodes",
        SEEN[1],
    ),
    "captured": ((NONE,), CAPTURED, "captured", f"captured in {FILE}", "captured ResourceSlices", SEEN[0]),
    "planned": ((), None, "planned", "planned for the cluster", "planned nodes", SEEN[1]),
}


@pytest.mark.parametrize("known", KNOWN)
def test_an_attribute_that_no_device_has(known: str) -> None:
    changes, captured, kinds, where, rule, seen = KNOWN[known]
    assert judge(*changes, ("type: [gpu]", "architectur: [Hopper]"), captured=captured) == (
        f'specs/pool.yaml:14:20: warning: no {kinds} device publishes the attribute "gpu.nvidia.com/architectur"'
        "  [class-unpublished]\n  at   spec.deviceClasses[0].attributes.architectur\n"
        f"  why  the class matches none of the devices {where}, and claims on it would wait ({rule})\n"
        f'  fix  did you mean "gpu.nvidia.com/architecture"? published: {seen}\n'
    )


def changed(line: str) -> Change:
    return CLASS, f"      {line}\n"


def cel(expression: str) -> Change:
    return changed("selectors: [{cel: {expression: '" + expression + "'}}]")


PLACE = "specs/pool.yaml:14:"
WHY = (
    "  why  the class matches none of the devices captured in inventory/east.yaml, and claims on it would wait"
    " (captured ResourceSlices)\n"
)
NEVER_EQUAL = (
    "  why  values of different types are never equal: the class matches none of the devices captured in"
    " inventory/east.yaml (captured ResourceSlices)\n"
)
SAID = {
    "attribute-of-another-domain": (
        changed("attributes: {example.com/rack: [a]}"),
        f'{PLACE}20: warning: no captured device publishes the attribute "example.com/rack"  [class-unpublished]\n'
        '  at   spec.deviceClasses[0].attributes["example.com/rack"]\n' + WHY + f"  fix  published: {SEEN[0]}\n",
    ),
    "attribute-that-another-domain-has": (
        changed("attributes: {pcieRoot: [a]}"),
        f'{PLACE}20: warning: no captured device publishes the attribute "gpu.nvidia.com/pcieRoot"'
        "  [class-unpublished]\n  at   spec.deviceClasses[0].attributes.pcieRoot\n"
        + WHY
        + f'  fix  did you mean "resource.kubernetes.io/pcieRoot"? published: {SEEN[0]}\n',
    ),
    "capacity": (
        changed("capacity: {memry: {min: 1Gi}}"),
        f'{PLACE}18: warning: no captured device publishes the capacity "gpu.nvidia.com/memry"  [class-unpublished]\n'
        "  at   spec.deviceClasses[0].capacity.memry\n"
        + WHY
        + '  fix  did you mean "gpu.nvidia.com/memory"? published: gpu.nvidia.com/memory\n',
    ),
    "version": (
        changed("versions: {driverVersions: {min: 580.0.0}}"),
        f'{PLACE}18: warning: no captured device publishes the attribute "gpu.nvidia.com/driverVersions"'
        "  [class-unpublished]\n  at   spec.deviceClasses[0].versions.driverVersions\n"
        + WHY
        + f'  fix  did you mean "gpu.nvidia.com/driverVersion"? published: {SEEN[0]}\n',
    ),
    "attribute-in-cel": (
        cel('device.attributes["gpu.nvidia.com"].profile == "1g.10gb"'),
        f'{PLACE}38: warning: no captured device publishes the attribute "gpu.nvidia.com/profile"'
        "  [class-unpublished]\n  at   spec.deviceClasses[0].selectors[0].cel.expression\n"
        + WHY
        + f"  fix  published: {SEEN[0]}\n",
    ),
    "version-as-a-string": (
        changed("attributes: {driverVersion: [580.173.2]}"),
        f'{PLACE}35: warning: the attribute "gpu.nvidia.com/driverVersion" is published as version and compared as'
        " string  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.driverVersion\n"
        + NEVER_EQUAL
        + "  fix  move it to the class's versions, as {min: ..., below: ...}\n",
    ),
    "string-as-a-version": (
        changed("versions: {productName: {min: 1.0.0}}"),
        f'{PLACE}31: warning: the attribute "gpu.nvidia.com/productName" is published as string and compared as'
        " version  [class-attribute-type]\n  at   spec.deviceClasses[0].versions.productName\n"
        + NEVER_EQUAL
        + "  fix  move it to the class's attributes, with the values that it may have\n",
    ),
    "number-for-a-string": (
        changed("attributes: {productName: [100]}"),
        f'{PLACE}33: warning: the attribute "gpu.nvidia.com/productName" is published as string and compared as int'
        "  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.productName\n"
        + NEVER_EQUAL
        + "  fix  write values of type string\n",
    ),
    "true-for-a-string": (
        changed("attributes: {productName: [true]}"),
        f'{PLACE}33: warning: the attribute "gpu.nvidia.com/productName" is published as string and compared as bool'
        "  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.productName\n"
        + NEVER_EQUAL
        + "  fix  write values of type string\n",
    ),
}
QUIET = {
    "the-example": changed("attributes: {type: [gpu]}"),
    # It has an answer for devices that lack the attribute: that is a decision, not a slip.
    "guarded-by-has": cel('has(device.attributes["gpu.nvidia.com"].profile)'),
    "guarded-by-an-optional": cel('device.attributes["gpu.nvidia.com"].?profile.orValue("x") == "x"'),
    "any-name": cel('device.attributes["gpu.nvidia.com"].all(name, name != "profile")'),
    "driver-without-devices": ("      driver: gpu.nvidia.com\n", "      driver: gpu.example.com\n"),
    "several-that-one-device-has": changed(
        "attributes: {type: [gpu], architecture: [Hopper]}\n"
        "      versions: {driverVersion: {min: 580.0.0}}\n"
        "      capacity: {memory: {min: 1Gi}}"
    ),
}


@pytest.mark.parametrize(("change", "says"), SAID.values(), ids=SAID)
def test_what_is_said(change: Change, says: str) -> None:
    assert judge(NONE, change) == says


@pytest.mark.parametrize("change", QUIET.values(), ids=QUIET)
def test_nothing_is_said(change: Change) -> None:
    assert judge(change) == judge(NONE, change) == ""


def test_a_guarded_read_beside_an_unguarded_one_does_not_hide_it() -> None:
    one = 'device.attributes["gpu.nvidia.com"].profile'
    assert judge(NONE, cel(f'{one} == "a" || has({one})')).startswith(
        f'{PLACE}38: warning: no captured device publishes the attribute "gpu.nvidia.com/profile"'
    )


def test_a_list_is_never_equal_to_one_value() -> None:
    listed = capture(GPU.format(name="gpu-0", type="gpu", more="ranks: {ints: [1, 2]}"))
    assert judge(NONE, changed("attributes: {ranks: [1]}"), captured=listed) == (
        f'{PLACE}27: warning: the attribute "gpu.nvidia.com/ranks" is published as ints and compared as int'
        "  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.ranks\n"
        + NEVER_EQUAL
        + "  fix  use a raw selector that looks into the list\n"
    )


def test_a_value_of_no_known_type_is_never_equal() -> None:
    newer = GPU.format(name="gpu-0", type="gpu", more="ranks: {newer: 1}")
    change = changed("attributes: {ranks: [1]}")
    assert judge(NONE, change, captured=capture(newer)) == (
        f'{PLACE}27: warning: the attribute "gpu.nvidia.com/ranks" is published as a value of no known type and'
        " compared as int  [class-attribute-type]\n  at   spec.deviceClasses[0].attributes.ranks\n"
        "  why  a scheduler that doesn't know the value's type either fails on every selector that meets the device:"
        " the class matches none of the devices captured in inventory/east.yaml (captured ResourceSlices)\n"
        "  fix  compare another attribute\n"
    )
    known = GPU.format(name="gpu-1", type="gpu", more="ranks: {int: 1}")
    assert judge(NONE, change, captured=capture(newer + known)) == ""


def test_what_devices_of_two_kinds_have_is_not_what_one_has() -> None:
    """The first has `profile`, the second `rack`."""
    both = capture(
        GPU.format(name="gpu-0", type="mig", more="profile: {string: a}")
        + GPU.format(name="gpu-1", type="gpu", more="rack: {string: a}")
    )
    change = changed("attributes: {profile: [a], rack: [a]}\n      capacity: {memory: {min: 1Gi}}")
    assert judge(NONE, change, captured=both) == (
        'specs/pool.yaml:11:7: warning: no captured device publishes all that class "class" reads:'
        " gpu.nvidia.com/profile, gpu.nvidia.com/rack, gpu.nvidia.com/memory  [class-unpublished]\n"
        "  at   spec.deviceClasses[0]\n"
        + WHY
        + "  fix  select by what one device has: a class is for one kind of device\n"
    )


MIG = "{name: mig, count: 1, hardwareModel: h100-sxm5-80gb, devicesPerNode: 1, zone: east-a, "
CUT = "    - " + MIG + "partitions: [{devices: 1, profiles: {2g.20gb: 3}}]}\n"
CARDS = NODES.replace(
    "zone: east-a}", "zone: east-a, companions: [{driver: nic.example.com, attributes: {rdma: true}}]}"
)
PLANNED = {
    # What only captured devices lack is there once something planned has it.
    "partition-that-is-planned": ((NODES, CUT), changed("attributes: {profile: [2g.20gb]}"), 0),
    "partition-that-nobody-plans": ((NODES, NODES), changed("attributes: {profile: [2g.20gb]}"), 1),
    "attribute-that-a-device-may-have": ((NODES, NODES), changed("attributes: {addressingMode: [HMM]}"), 0),
    "card-that-is-planned": (
        (NODES, CARDS),
        (
            "driver: gpu.nvidia.com\n      attributes: {type: [gpu]}",
            "driver: nic.example.com\n      attributes: {rdma: [true]}",
        ),
        0,
    ),
    "attribute-that-no-card-has": (
        (NODES, CARDS),
        (
            "driver: gpu.nvidia.com\n      attributes: {type: [gpu]}",
            "driver: nic.example.com\n      attributes: {speed: [1]}",
        ),
        1,
    ),
    "type-that-no-card-has": (
        (NODES, CARDS),
        (
            "driver: gpu.nvidia.com\n      attributes: {type: [gpu]}",
            "driver: nic.example.com\n      attributes: {rdma: [a]}",
        ),
        1,
    ),
}


@pytest.mark.parametrize(("nodes", "change", "count"), PLANNED.values(), ids=PLANNED)
def test_planned_devices_count(nodes: Change, change: Change, count: int) -> None:
    assert judge(nodes, change).count("warning:") == count


def test_nodes_that_another_pool_plans_count() -> None:
    """A class selects devices of its cluster, whatever pool plans them."""
    other = POOL.replace("name: pool,", "name: other,").replace("name: class", "name: other").replace(NODES, CUT)
    assert judge(changed("attributes: {profile: [2g.20gb]}"), more=other) == ""
    elsewhere = other.replace("clusterName: east", "clusterName: west")
    assert judge(changed("attributes: {profile: [2g.20gb]}"), more=elsewhere).count("[class-unpublished]") == 1


def test_errors_of_planned_nodes_are_said_alone() -> None:
    """What the cluster will have isn't known then, so that nothing is said of its classes."""
    unknown = NODES.replace("h100-sxm5-80gb", "h100")
    said = judge((NODES, unknown), changed("attributes: {profile: [a]}"))
    assert [line.rpartition("  ")[2] for line in said.splitlines() if line[0] != " "] == ["[hardware-unknown]"]


# --- zones ---------------------------------------------------------------------------------------------------------

ZONE_C = (PLACEMENT, PLACEMENT.replace("zone: east-a", "zone: east-c"))
ZONES = {
    "captured": ((NONE,), CAPTURED, "captured", f"captured in {FILE}: east-a"),
    "planned": (((NODES, NODES.replace("east-a", "east-b")),), None, "planned", "planned: east-b"),
    "both": (
        ((NODES, NODES.replace("east-a", "east-b")),),
        CAPTURED,
        "captured or planned",
        f"captured in {FILE} or planned: east-a, east-b",
    ),
    "no-labels": (
        (NONE,),
        parse_inventory(parse_documents(b"kind: Node\nmetadata: {name: a}\n", FILE), FILE),
        "captured",
        f"captured in {FILE}: none",
    ),
}


@pytest.mark.parametrize(("changes", "captured", "kinds", "zones"), ZONES.values(), ids=ZONES)
def test_a_zone_without_nodes(changes: tuple[Change, ...], captured: Inventory | None, kinds: str, zones: str) -> None:
    assert judge(*changes, ZONE_C, captured=captured) == (
        f'specs/place.yaml:4:113: warning: no {kinds} node is in zone "east-c"  [zone-unknown]\n'
        "  at   spec.zone\n"
        "  why  pods that must run in a zone without nodes stay Pending (label topology.kubernetes.io/zone)\n"
        f"  fix  zones of nodes {zones}\n"
    )


def test_a_planned_zone_is_a_zone() -> None:
    assert judge((NODES, NODES.replace("east-a", "east-c")), ZONE_C) == ""


def test_of_a_cluster_without_nodes_nothing_is_said() -> None:
    assert judge(NONE, ZONE_C, captured=None) == judge(NONE, ZONE_C, captured=Inventory(file=FILE)) == ""


# --- partitions ----------------------------------------------------------------------------------------------------


def cut(*profiles: str) -> str:
    """The devices of one accelerator that is cut in these."""
    return "".join(
        GPU.format(
            name=f"gpu-0-mig-{number}",
            type="mig",
            more=f"profile: {{string: {profile}}}\n      parentUUID: {{string: GPU-0}}",
        )
        for number, profile in enumerate(profiles)
    )


EXPECTED = cut("2g.20gb", "2g.20gb", "2g.20gb")
UNEXPECTED = {
    "others": (capture(cut("3g.40gb", "2g.20gb"), node="mig-0"), "1 accelerator cut into {2g.20gb: 1, 3g.40gb: 1}"),
    "fewer": (capture(cut("2g.20gb"), node="mig-0"), "1 accelerator cut into {2g.20gb: 1}"),
    "whole": (capture(node="mig-0"), "no partitions"),
}


@pytest.mark.parametrize(("captured", "has"), UNEXPECTED.values(), ids=UNEXPECTED)
def test_a_node_that_is_cut_in_another_way(captured: Inventory, has: str) -> None:
    assert judge((NODES, CUT), captured=captured) == (
        f'specs/pool.yaml:9:105: warning: node "mig-0" has {has}, and pool "pool" expects 1 accelerator cut into'
        " {2g.20gb: 3}  [partition-unexpected]\n"
        "  at   spec.plannedNodes[0].partitions\n"
        "  why  partitions are made by the host: those in inventory/east.yaml are what can be claimed"
        " (captured ResourceSlices)\n"
        "  fix  cut the node as planned, or change the layout; the entry goes when its nodes are captured\n"
    )


def test_a_node_that_was_to_stay_whole() -> None:
    assert judge((NODES, "    - " + MIG.rstrip(", ") + "}\n"), captured=capture(EXPECTED, node="mig-0")).startswith(
        'specs/pool.yaml:9:7: warning: node "mig-0" has 1 accelerator cut into {2g.20gb: 3}, and pool "pool" expects'
        " no partitions  [partition-unexpected]\n"
    )


SILENT = {
    "as-planned": capture(EXPECTED, node="mig-0"),
    "another-name": capture(cut("7g.80gb"), node="mig-1"),
    "another-zone": capture(cut("7g.80gb"), node="mig-0", zone="east-b"),
    "slices-missing": capture(cut("7g.80gb"), node="mig-0", count=2),
    "another-accelerator": capture(cut("7g.80gb").replace("NVIDIA H100 80GB HBM3", "NVIDIA H200"), node="mig-0"),
    "made-by-the-driver": capture(
        cut("7g.80gb") + "    consumesCounters: [{counterSet: a, counters: {b: {value: 1}}}]\n", node="mig-0"
    ),
}


@pytest.mark.parametrize("captured", SILENT.values(), ids=SILENT)
def test_a_node_that_may_be_another(captured: Inventory) -> None:
    assert judge((NODES, CUT), captured=captured) == ""
