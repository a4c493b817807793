"""The rows that are owed: what is in use, each once, and said plainly where it isn't exact."""

from __future__ import annotations

import pytest
from matrix_fleet import build_fleet_rows, build_lock, parse, read_whole_fleet
from msgspec.structs import replace

from fleet import FACTS, edit
from poolwright.matrix.build_rows import build_rows
from poolwright.matrix.fields import list_fields
from poolwright.specs.place import Place

FILES = read_whole_fleet()
EAST = {
    "a100-sxm4-40gb/full/perPod/vllm": ("east/summarise-20b",),
    "h100-sxm5-80gb/full/perPod/sglang": ("east/reason-671b",),
    "h100-sxm5-80gb/full/perPod/vllm": (
        *("east/chat-70b", "east/prefill-8b", "east/tenants-8b", "east/tenants-8b-b"),
        "lab/chat-70b",
    ),
    "h100-sxm5-80gb/full/perPodShared/vllm": ("east/rag-8b",),
    "h100-sxm5-80gb/partition/named/vllm": ("east/rewrite-0b6",),
    "h100-sxm5-80gb/partition/perPod/vllm": ("east/guard-1b7", "east/summarise-20b"),
}


def test_the_rows_of_the_example() -> None:
    rows = build_fleet_rows(FILES, build_lock())
    assert {(row.stack, row.id): row.units for row in rows} == {
        **{("operator-26-7", f"matrix[{name}]"): units for name, units in EAST.items()},
        ("operator-26-7-shares", "matrix[h200-sxm-141gb/shared/perPod/vllm]"): ("lab-alpha/guard-1b7",),
    }
    assert [row.unresolved for row in rows] == [()] * 7
    assert [(row.stack, row.id) for row in rows] == sorted((row.stack, row.id) for row in rows)
    assert list_fields(rows[6].combination) == {
        "kubernetes": "1.36.2",
        "gpuOperator": "26.7.0",
        "draDrivers.dra-driver-nvidia-gpu": "0.5.0",
        "gpuDriver": "595.91.07",
        "containerRuntime.containerd": "2.2.1",
        "containerToolkit": "1.20.0",
        "cdi": "true",
        "featureGates.dra-driver-nvidia-gpu.ConsumableShares": "true",
        "hardware.model": "h200-sxm-141gb",
        "hardware.mode": "shared",
        "claimPattern": "perPod",
        "servingImage.vllm": "0.33.0",
    }
    assert rows[5].locate("recovery") == Place(
        "specs/stacks/operator-26-7.yaml", 5, 9, "matrix[h100-sxm5-80gb/partition/perPod/vllm].recovery"
    )


def test_order_of_files_means_nothing() -> None:
    files = dict(reversed(FILES.items()))
    assert build_fleet_rows(files, build_lock()) == build_fleet_rows(FILES, build_lock())


RANGE = 'kubernetes is the range "1.36.x", and poolwright.lock'
RUNTIME = 'containerRuntime is the range "2.2.x", and poolwright.lock'
STALE_PIN = 'kubernetes is "1.36.x" in the stack, and poolwright.lock has 1.35.4'
FLOATING = 'servingImages.vllm.version is "nightly-build", which is no version: it may be another one tomorrow'


def test_without_a_lock_ranges_are_unresolved() -> None:
    for row in build_fleet_rows(FILES, None):
        assert row.unresolved == (f"{RANGE} doesn't pin the stack", f"{RUNTIME} doesn't pin the stack")
        assert row.combination.kubernetes == "1.36.x"


def test_a_pin_that_the_stack_no_longer_asks_for_is_unresolved() -> None:
    found = {row.stack: row.unresolved for row in build_fleet_rows(FILES, build_lock(kubernetes="1.35.4"))}
    assert found == {"operator-26-7": (STALE_PIN,), "operator-26-7-shares": ()}


def test_a_component_that_the_lock_forgot_is_unresolved() -> None:
    lock = build_lock()
    stacks = {name: replace(one, container_runtime=None) for name, one in lock.stacks.items()}
    for row in build_fleet_rows(FILES, replace(lock, stacks=stacks)):
        assert row.unresolved == (f"{RUNTIME} doesn't pin it",)


def test_a_version_that_floats_is_unresolved() -> None:
    files = edit(FILES, "specs/stacks/operator-26-7-shares.yaml", ("version: 0.33.0", "version: nightly-build"))
    assert build_fleet_rows(files, build_lock())[6].unresolved == (FLOATING,)


def test_exact_versions_of_a_stack_need_no_lock() -> None:
    files = FILES
    for stack in ("operator-26-7", "operator-26-7-shares"):
        changes = ("version: 1.36.x", "version: 1.36.2"), ("version: 2.2.x", "version: 2.2.1")
        files = edit(files, f"specs/stacks/{stack}.yaml", *changes)
    assert [row.unresolved for row in build_fleet_rows(files, None)] == [()] * 7
    assert [row.combination for row in build_fleet_rows(files, None)] == [
        row.combination for row in build_fleet_rows(FILES, build_lock())
    ]


UNKNOWN = "a device of gpu.nvidia.com publishes productName"
HARDWARE: dict[str, tuple[tuple[str, str], str, str]] = {
    # Captured devices are known by product name; this one isn't in the facts.
    "a-product-that-no-fact-has": (
        ("NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB-NEXT"),
        "unknown hardware NVIDIA A100-SXM4-40GB-NEXT",
        f'{UNKNOWN} "NVIDIA A100-SXM4-40GB-NEXT" with 40Gi, and the facts have no such accelerator',
    ),
    # As many Gi as no board of that name has: then it isn't the part that was looked at.
    "another-memory-than-the-fact-has": (
        ("memory: {value: 40Gi}", "memory: {value: 41Gi}"),
        "unknown hardware NVIDIA A100-SXM4-40GB",
        f'{UNKNOWN} "NVIDIA A100-SXM4-40GB" with 41Gi, and the facts have no such accelerator',
    ),
}


@pytest.mark.parametrize("name", HARDWARE)
def test_unknown_hardware_is_said_plainly(name: str) -> None:
    change, model, reason = HARDWARE[name]
    files = edit(FILES, "inventory/east.yaml", change)
    if "NEXT" in change[1]:
        classes = ("[NVIDIA A100-SXM4-40GB, ", f"[{change[1]}, ")
        files = edit(files, "specs/pools/static-mig.yaml", classes)
    found = {row.id: row.unresolved for row in build_fleet_rows(files, build_lock()) if row.unresolved}
    assert found == {f"matrix[{model}/full/perPod/vllm]": (reason,)}


def test_a_class_without_a_device_is_a_row_that_says_so() -> None:
    files = edit(
        FILES, "specs/pools/h200-shares.yaml", ("hardwareModel: h200-sxm-141gb", "hardwareModel: h100-sxm5-80gb")
    )
    files = edit(files, "specs/pools/h200-shares.yaml", ("attributes: {type: [gpu]}", "attributes: {type: [none]}"))
    row = build_fleet_rows(files, build_lock())[6]
    assert (row.id, row.unresolved) == (
        "matrix[unknown hardware of class h200-share-alpha/shared/perPod/vllm]",
        ('no captured or planned device is in class "h200-share-alpha"',),
    )


def test_the_zone_of_a_placement_decides_where_it_lands() -> None:
    """Of summarise-20b's two classes the H100's partitions are in east-a, and A100s nowhere else either."""
    files = edit(FILES, "specs/placements/east.yaml", ("minReplicas: 4", "minReplicas: 4\n  zone: east-b"))
    rows = {row.id: row for row in build_fleet_rows(files, build_lock())}
    assert rows["matrix[h100-sxm5-80gb/partition/perPod/vllm]"].units == ("east/guard-1b7",)


def test_a_class_that_says_no_type_lands_on_whole_devices_and_partitions() -> None:
    files = edit(
        FILES,
        "specs/pools/static-mig.yaml",
        (
            "attributes: {type: [mig]}\n      capacity:\n        memory: {min: 39Gi",
            "attributes: {architecture: [Hopper, Ampere]}\n      capacity:\n        memory: {min: 39Gi",
        ),
    )
    rows = {row.id for row in build_fleet_rows(files, build_lock()) if "east/summarise-20b" in row.units}
    assert rows == {
        "matrix[a100-sxm4-40gb/full/perPod/vllm]",
        "matrix[h100-sxm5-80gb/partition/perPod/vllm]",
    }


def test_a_project_without_inventories_has_rows_of_what_it_plans() -> None:
    rows = build_rows(parse(FILES), {}, build_lock(), FACTS)
    assert [row.id for row in rows if row.unresolved] == ["matrix[unknown hardware of class full-40g/full/perPod/vllm]"]
