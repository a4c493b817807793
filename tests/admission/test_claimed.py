"""What a unit's claim asks for, and the classes that its engine can't start on: its own cluster's, and no other's."""

from __future__ import annotations

import pytest

from fleet import FACTS, PLACEMENTS, POOL, PROJECT, Files, edit, list_specs, load_unit, read_fleet, read_small_fleet
from poolwright.admission.claimed import admit_claim, bound_claim
from poolwright.catalog.closure import UnitClosure
from poolwright.catalog.units import build_closure
from poolwright.specs.finding import SpecError
from poolwright.specs.parse import parse_specs

SMALL = ("memory: {min: 79Gi, below: 90Gi}", "memory: {min: 10Gi, below: 16Gi}")
OTHER_NAMES = (("clusterName: east", "clusterName: west"), ("name: h100-full", "name: a-pool"))


def add_west(files: Files, *changes: tuple[str, str]) -> dict[str, bytes]:
    """The fleet and a second cluster, whose pool, class and unit stand before the first one's and have its names."""
    west = edit(files, POOL, *OTHER_NAMES, *changes)[POOL]
    placement = files[PLACEMENTS].split(b"---")[0].replace(b"poolName: h100-full", b"poolName: a-pool")
    cluster = "    - name: west\n      stackName: kubernetes-1-36\n      destination: {name: west}\n"
    project = edit(files, PROJECT, ("    - name: east\n", f"{cluster}    - name: east\n"))
    return {**project, "specs/a-placement.yaml": placement, "specs/a-pool.yaml": west}


def admit(files: Files, cluster: str) -> UnitClosure:
    specs = parse_specs(list_specs(files))
    closure = build_closure(specs, cluster, "chat-70b", files, FACTS)
    assert isinstance(closure, UnitClosure)
    admitted = admit_claim(specs, closure, files, FACTS)
    assert admitted == bound_claim(closure, files, FACTS) != closure
    return admitted


def test_a_class_of_another_cluster_is_another_class() -> None:
    files = add_west(read_small_fleet(), SMALL)
    assert admit(files, "east").alternatives[0].memory is not None
    with pytest.raises(SpecError) as refused:
        admit(files, "west")
    (found,) = refused.value.findings
    assert (found.code, found.place.file) == ("price-refused", "specs/a-placement.yaml")


def test_a_refusal_names_the_placement_of_its_own_cluster() -> None:
    files = edit(add_west(read_small_fleet()), POOL, SMALL)
    assert admit(files, "west").alternatives[0].memory is not None
    with pytest.raises(SpecError) as refused:
        admit(files, "east")
    (found,) = refused.value.findings
    assert (found.code, found.place.file) == ("price-refused", PLACEMENTS)


def is_priced(files: Files) -> bool:
    closure = load_unit(files, "lab-alpha", "guard-1b7")
    assert isinstance(closure, UnitClosure)
    return closure.is_priced


def test_what_shares_a_device_is_not_priced_whatever_its_class_says() -> None:
    """With the gate the driver lets several pods have every GPU; a class needn't ask for that."""
    pool = "specs/pools/h200-shares.yaml"
    said = ("      selectors:\n        - cel: {expression: device.allowMultipleAllocations}\n", "")
    assert not is_priced(read_fleet())
    assert not is_priced(edit(read_fleet(), pool, said))


def test_a_class_that_rules_shares_out_is_priced() -> None:
    pool = "specs/pools/h100-full.yaml"
    files = edit(
        read_fleet(),
        pool,
        ('device.attributes["gpu', 'device.allowMultipleAllocations == false && device.attributes["gpu'),
    )
    closure = load_unit(files, "east", "chat-70b")
    assert isinstance(closure, UnitClosure)
    assert closure.is_priced
