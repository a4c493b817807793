"""Attributes that a request derives with CEL, for its constraints: alpha in 1.37."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from case_values import Json
from catalogue_run import answer_row, list_runs
from catalogue_world import (
    NONE,
    Row,
    World,
    claim,
    device,
    distinct,
    fails,
    first_of,
    fits,
    given,
    held,
    match,
    pool,
    request,
    row,
    world,
)

NODE = "derived/node"
WHERE = f"derived attribute {NODE} on device driver-a/p1/d1"


def of(attribute: str, driver: str = "driver-a") -> dict[str, str]:
    """A node that is another name for an attribute of the driver."""
    return {NODE: f'device.attributes["{driver}"].{attribute}'}


def deriving(slices: list[Json], *requests: Json, constraint: Json | None = None, **said: object) -> World:
    """A claim whose devices are on one derived node."""
    constraints = [match(NODE) if constraint is None else constraint]
    return world(slices, [claim("claim-0", *requests, constraints=constraints)], on=["derived_attributes"], **said)  # type: ignore[arg-type]


def having(*attributes: Mapping[str, str | int], driver: str = "driver-a") -> Json:
    return pool("p1", *(device(f"d{at}", said) for at, said in enumerate(attributes, 1)), driver=driver)


DERIVED: dict[str, Row] = {
    # Two drivers that call the same thing by different names.
    "derived-attributes": row(
        deriving(
            [having({"numa": "0"}, {"numa": "1"}), having({"zone": "1"}, {"zone": "2"}, driver="driver-b")],
            request("req-0", derived=of("numa")),
            request("req-1", "b", derived=of("zone", "driver-b")),
        ),
        fits(given("req-0 p1/d2", "req-1 driver-b/p1/d1")),
    ),
    "derived-attributes-cel-missing-attribute": row(
        deriving([having({"numa": "0"})], request("req-0", derived=of("gone"))),
        fails(f"evaluate {WHERE} failed: no such key: gone"),
    ),
    # What is derived comes before what is published; req-1 derives nothing.
    "derived-attributes-override": row(
        deriving(
            [having({"model": "x"}, {"model": "y"})],
            request("req-0", derived={"driver-a/model": '"y"'}),
            request("req-1"),
            constraint=match("driver-a/model"),
        ),
        fits(given("req-0 p1/d1", "req-1 p1/d2")),
    ),
    "derived-attributes-type-mismatch": row(
        deriving([having({"numa": "1"}, {"numa": 1})], request("req-0", count=2, derived=of("numa"))), NONE
    ),
    "derived-attributes-with-prioritized-list": row(
        deriving(
            [having({"near": "x", "far": "y"}), having({"zone": "y"}, driver="driver-b")],
            first_of("req-0", request("sub-0", derived=of("near")), request("sub-1", derived=of("far"))),
            request("req-1", "b", derived=of("zone", "driver-b")),
        ),
        fits(given("req-0/sub-1 p1/d1", "req-1 driver-b/p1/d1")),
    ),
    "derived-attributes-that-differ": row(
        deriving(
            [having({"numa": "0"}, {"numa": "0"}, {"numa": "1"})],
            request("req-0", count=2, derived=of("numa")),
            constraint=distinct(NODE),
        ),
        fits(given("req-0 p1/d1", "req-0 p1/d3")),
    ),
    # Who neither derives nor publishes it is never matched.
    "derived-attribute-of-one-request-only": row(
        deriving([having({"numa": "0"}, {"numa": "0"})], request("req-0", derived=of("numa")), request("req-1")), NONE
    ),
    # A device that is in use isn't looked at.
    "derived-attribute-missing-on-a-device-in-use": row(
        deriving([having({}, {"numa": "0"})], request("req-0", derived=of("numa")), held=[held("p1/d1")]),
        fits(given("req-0 p1/d2")),
    ),
    # Without a constraint that goes by it nothing is evaluated.
    "derived-attribute-that-nothing-goes-by": row(
        deriving([having({"model": "x"})], request("req-0", derived=of("gone")), constraint=match("driver-a/model")),
        fits(given("req-0 p1/d1")),
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(DERIVED))
def test_derived_attributes(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


NAMES = [
    "derived-attributes",
    "derived-attributes-cel-missing-attribute",
    "derived-attributes-override",
    "derived-attributes-type-mismatch",
    "derived-attributes-with-prioritized-list",
]


def test_every_name_has_a_row() -> None:
    assert [name for name in NAMES if name not in DERIVED] == []
