"""The specs of one unit among those of many clusters: what is looked at, and what isn't."""

from __future__ import annotations

import pytest

from fleet import Files, edit, list_specs, read_fleet
from poolwright.specs.finding import SpecError
from poolwright.specs.unit_specs import parse_unit_specs

FLEET = read_fleet()
EAST, LAB = "specs/placements/east.yaml", "specs/placements/lab.yaml"


def find(files: Files, cluster: str, unit: str) -> tuple[list[str], ...]:
    """The identities of what is found, by kind."""
    specs = parse_unit_specs(list_specs(files), cluster, unit)
    kinds = (specs.stacks, specs.pools, specs.envelopes, specs.placements)
    return tuple([spec.value.identity for spec in kind] for kind in kinds)


CASES = {
    "clusters-run-units-of-one-name": (
        ("lab", "chat-70b"),
        (["operator-26-7"], ["lab-full"], ["chat-70b@2.4.0"], ["chat-70b"]),
    ),
    "another-version-elsewhere-is-not-looked-at": (
        ("east", "chat-70b"),
        (["operator-26-7"], ["h100-full"], ["chat-70b@2.3.0"], ["chat-70b"]),
    ),
    # The rules of joining need the owner of the router pool.
    "who-joins-a-router-pool-comes-with-its-owner": (
        ("east", "tenants-8b-b"),
        (["operator-26-7"], ["h100-full"], ["tenants-8b@1.5.2"], ["tenants-8b-b", "tenants-8b"]),
    ),
    # No cluster has a pool of it: so all of the name are there, for their findings to be said.
    "no-placement-of-the-cluster": (
        ("lab", "guard-1b7"),
        (["operator-26-7"], ["h200-shares", "static-mig"], ["guard-1b7@1.0.0"], ["guard-1b7", "guard-1b7"]),
    ),
    "no-placement-at-all": (("lab", "nobody"), (["operator-26-7"], [], [], [])),
}


@pytest.mark.parametrize(("unit", "found"), CASES.values(), ids=CASES)
def test_what_is_found(unit: tuple[str, str], found: tuple[list[str], ...]) -> None:
    assert find(FLEET, *unit) == found


def test_a_broken_placement_of_the_same_name_stops_only_its_own_cluster() -> None:
    broken = edit(FLEET, LAB, ("minReplicas: 1", "minReplicas: many"))
    assert find(broken, "east", "chat-70b") == find(FLEET, "east", "chat-70b")
    with pytest.raises(SpecError, match="minReplicas"):
        find(broken, "lab", "chat-70b")


def test_a_pool_that_two_clusters_have_is_found_twice() -> None:
    """So that the unit is refused: which of the two is meant can't be said."""
    twice = edit(FLEET, "specs/pools/lab-full.yaml", ("name: lab-full", "name: h100-full"))
    assert find(twice, "east", "chat-70b")[1] == ["h100-full", "h100-full"]


def test_a_pool_that_is_not_there_leaves_the_placement_to_be_told() -> None:
    lost = edit(
        FLEET,
        EAST,
        (
            "name: rag-8b}\nspec:\n  envelope: {name: rag-8b, version: 1.1.0}\n  poolName: h100-full",
            "name: rag-8b}\nspec:\n  envelope: {name: rag-8b, version: 1.1.0}\n  poolName: gone",
        ),
    )
    assert find(lost, "east", "rag-8b")[1:] == ([], ["rag-8b@1.1.0"], ["rag-8b"])
