"""Attributes that devices must not share, and attributes that are lists."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from case_values import Json
from catalogue_run import answer_row, list_runs
from catalogue_world import (
    NO_VALUE,
    NONE,
    Row,
    Value,
    World,
    claim,
    device,
    distinct,
    fails,
    first_of,
    fits,
    given,
    got,
    match,
    pool,
    request,
    row,
    version,
    versions,
    world,
)

LISTS = "list_type_attributes"


def having(*values: Value | None, name: str = "numa") -> Json:
    """A pool of devices d1, d2 ... with these values; None: without one."""
    said = [None if value is None else {name: value} for value in values]
    return pool("p1", *(device(f"d{at}", attributes) for at, attributes in enumerate(said, 1)))


def one_claim(requests: Sequence[Json] | int, *constraints: Json) -> list[Json]:
    """A claim for this many devices in one request, or of these requests."""
    listed = [request("req-0", count=requests)] if isinstance(requests, int) else requests
    return [claim("claim-0", *listed, constraints=constraints)]


def apart(count: int, *values: Value | None, on: Sequence[str] = ()) -> World:
    """A request for devices that differ."""
    return world([having(*values)], one_claim(count, distinct("numa")), on=on)


def requests_of(count: int) -> list[Json]:
    return [request(f"req-{at}") for at in range(count)]


def gets(*numbers: int) -> Json:
    """One request gets these devices."""
    return fits(given(*(f"req-0 p1/d{number}" for number in numbers)))


def each_gets(*numbers: int) -> Json:
    """Requests get one of these devices each."""
    return fits(given(*(f"req-{at} p1/d{number}" for at, number in enumerate(numbers))))


def as_released(answer: Json) -> dict[str, Json]:
    """Until 1.36 a device of a request is compared with the last one of that request: kubernetes/kubernetes#140600."""
    return {f"{minor} as released": answer for minor in ("1.34", "1.35", "1.36")}


WHERE = "class a: selector #0 on device driver-a/p1/d1"
UNSUPPORTED = fails(f"{WHERE}: CEL runtime error: attribute driver-a/numa: unsupported attribute value")
# There lists are of no known type unless the gate is on.
AT_136 = {"1.36": UNSUPPORTED}
SHARED = [device("d1", {"numa": 1}, shared=True), device("d2", {"numa": 2}, shared=True)]
FOUR = [
    device("d1", {"numa": 1, "slot": "x", "port": True}),
    device("d2", {"numa": 2, "slot": "y", "port": False}),
    device("d3", {"numa": 3, "slot": "z", "port": False}),
    device("d4", {"numa": 4, "slot": "z", "port": False}),
]

DISTINCT: dict[str, Row] = {
    # All four differ in one attribute, three of them in another, two in a third.
    "with-distinct-constraints": row(
        world(
            [pool("p1", *FOUR)],
            one_claim(
                requests_of(4),
                distinct("numa"),
                distinct("slot", "req-0", "req-1", "req-2"),
                distinct("port", "req-0", "req-1"),
            ),
        ),
        each_gets(1, 2, 3, 4),
    ),
    "with-distinct-constraints-attribute-not-set": row(
        world([having(None, None)], one_claim(requests_of(2), distinct("numa"))), NONE
    ),
    "with-distinct-constraints-unknown-type-attribute": row(
        world([having(NO_VALUE, NO_VALUE)], one_claim(requests_of(2), distinct("numa"))), UNSUPPORTED
    ),
    # Of req-2 nothing is said.
    "with-distinct-constraints-with-subrequests": row(
        world(
            [pool("p1", *SHARED)],
            one_claim(
                [
                    first_of("req-0", request("sub-0"), request("sub-1")),
                    first_of("req-1", request("sub-0", "b"), request("sub-1")),
                    first_of("req-2", request("sub-0")),
                ],
                distinct("numa", "req-0", "req-1"),
            ),
        ),
        fits(
            given(
                got("req-0/sub-0", "p1/d1", consumed={}),
                got("req-1/sub-1", "p1/d2", consumed={}),
                got("req-2/sub-0", "p1/d1", consumed={}),
            )
        ),
    ),
    "distinct-constraint-one-multi-allocatable-device-with-distinct-constraint": row(
        world([pool("p1", SHARED[0])], one_claim(requests_of(2), distinct("numa"))), NONE
    ),
    "distinct-constraint-two-multi-allocatable-devices-with-distinct-constraint": row(
        world([pool("p1", *SHARED)], one_claim(requests_of(2), distinct("numa"))),
        fits(given(got("req-0", "p1/d1", consumed={}), got("req-1", "p1/d2", consumed={}))),
    ),
    "distinct-constraint-single-request-count-3-all-distinct": row(apart(3, 1, 2, 3), gets(1, 2, 3)),
    "distinct-constraint-single-request-count-3-not-distinct": row(
        apart(3, 1, 2, 1), NONE, at=as_released(gets(1, 2, 3))
    ),
    "distinct-constraint-single-request-multiple-devices-attribute-not-set": row(apart(3, None, None, None), NONE),
    "distinct-constraint-single-request-multiple-devices-attribute-set": row(
        apart(3, 1, 2, 1, 3), gets(1, 2, 4), at=as_released(gets(1, 2, 3))
    ),
    "distinct-constraint-single-request-not-enough-distinct-values": row(apart(3, 1, 2, 2, 2), NONE),
    "distinct-constraint-single-request-of-two-not-distinct": row(apart(2, 1, 1), NONE),
    "distinct-constraint-two-requests-with-count-not-distinct": row(
        world(
            [having(1, 2, 1)],
            one_claim([request("req-0", count=2), request("req-1")], distinct("numa", "req-0", "req-1")),
        ),
        NONE,
        at=as_released(fits(given("req-0 p1/d1", "req-0 p1/d2", "req-1 p1/d3"))),
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(DISTINCT))
def test_distinct_attribute(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


def alike(count: int, *values: Value | None, on: Sequence[str] = (LISTS,)) -> World:
    """A request for devices with something in common."""
    return world([having(*values)], one_claim(count, match("numa")), on=on)


NUMA_NODE = "resource.kubernetes.io/numaNode"


def on_numa_nodes(*nodes: list[int]) -> World:
    return world([having(*nodes, name=NUMA_NODE)], one_claim(2, match(NUMA_NODE)), on=[LISTS])


MATCH = "list-attributes-match-constaint"  # upstream's spelling

LISTS_MATCH: dict[str, Row] = {
    f"{MATCH}-scalar-string-values": row(alike(2, "x", "x"), gets(1, 2)),
    f"{MATCH}-list-of-string-values-with-common-elements": row(alike(2, ["1", "2", "3"], ["2", "3", "4"]), gets(1, 2)),
    # Any two of them have something in common, but not all three.
    f"{MATCH}-list-of-string-values-with-partially-common-elements": row(
        alike(3, ["1", "2"], ["2", "3"], ["3", "1"]), NONE
    ),
    f"{MATCH}-list-of-string-values-without-common-elements": row(alike(2, ["1", "2"], ["3", "4"]), NONE),
    f"{MATCH}-mixed-scalar-and-list-of-string-values-with-common-elements": row(
        alike(3, "1", ["1", "2"], ["3", "1"]), gets(1, 2, 3)
    ),
    f"{MATCH}-mixed-scalar-and-list-of-string-values-with-partially-common-elements": row(
        alike(3, "1", ["1", "2"], ["2"]), NONE
    ),
    f"{MATCH}-mixed-scalar-and-list-of-string-values-without-common-elements": row(alike(2, "1", ["2", "3"]), NONE),
    f"{MATCH}-list-of-int-values-with-common-elements": row(alike(2, [1, 2], [2, 3]), gets(1, 2)),
    f"{MATCH}-list-of-bool-values-with-common-elements": row(alike(2, [True], [True, False]), gets(1, 2)),
    f"{MATCH}-list-of-version-values-with-common-elements": row(
        alike(2, versions("1.0.0", "2.0.0"), versions("2.0.0")), gets(1, 2)
    ),
    f"{MATCH}-with-empty-or-unknown-type": row(alike(2, NO_VALUE, NO_VALUE), UNSUPPORTED),
    "list-attributes-disabled-match-constraint-with-lists": row(alike(2, ["1"], ["1"], on=()), NONE, at=AT_136),
    # 1 is not "1", and neither is true.
    "list-attributes-match-by-type": row(alike(2, [1], ["1"], [True]), NONE),
    # Until 1.36 what d1 and d2 share stayed when d2 was taken back.
    "list-attributes-match-constraint-backtrack-needs-intersection-restore": row(
        alike(3, ["1", "2"], ["1"], ["2"], ["2"]), gets(1, 3, 4), at={"1.36 as released": NONE}
    ),
    "numanode-matchattribute-disjoint-lists-are-not-allocated": row(on_numa_nodes([0], [4, 5, 6, 7]), NONE),
    "numanode-matchattribute-overlapping-lists-are-co-placed": row(on_numa_nodes([4], [4, 5, 6, 7]), gets(1, 2)),
}


@pytest.mark.parametrize(("row", "run"), list_runs(LISTS_MATCH))
def test_lists_that_match(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


APART = "list-attributes-distinct-constraint"


def two_apart(*values: Value | None, on: Sequence[str] = (LISTS,)) -> World:
    """Two requests for devices with nothing in common."""
    return world([having(*values)], one_claim(requests_of(2), distinct("numa")), on=on)


LISTS_DISTINCT: dict[str, Row] = {
    f"{APART}-scalar-string-values-all-distinct": row(two_apart("x", "x", "y"), each_gets(1, 3)),
    f"{APART}-scalar-string-values-not-distinct": row(two_apart("x", "x"), NONE),
    f"{APART}-list-of-string-values-all-distinct": row(two_apart(["1", "2"], ["2", "3"], ["3", "4"]), each_gets(1, 3)),
    f"{APART}-list-of-string-values-with-common-elements": row(two_apart(["1", "2"], ["2", "3"]), NONE),
    f"{APART}-mixed-scalar-and-list-all-distinct": row(two_apart("1", ["1", "2"], ["2", "3"]), each_gets(1, 3)),
    f"{APART}-mixed-scalar-and-list-with-common-elements": row(two_apart("1", ["1", "2"]), NONE),
    f"{APART}-list-of-int-values-all-distinct": row(two_apart([1, 2], [2, 3], [3, 4]), each_gets(1, 3)),
    f"{APART}-list-of-bool-values-all-distinct": row(two_apart([True], [True], [False]), each_gets(1, 3)),
    f"{APART}-list-of-version-values-all-distinct": row(
        two_apart(versions("1.0.0", "2.0.0"), versions("2.0.0"), version("3.0.0")), each_gets(1, 3)
    ),
    "list-attributes-distinct-constaint-with-empty-or-unknown-type": row(two_apart(NO_VALUE, NO_VALUE), UNSUPPORTED),
    "list-attributes-disabled-distinct-constraint-with-lists": row(two_apart(["1"], ["2"], on=()), NONE, at=AT_136),
    # d1 and d2 leave nothing for a third, and neither do d1 and d4.
    f"{APART}-backtrack-needs-remove": row(
        world(
            [having(["1", "2", "3"], ["3", "4", "5"], ["1", "2"], ["3", "4"], ["5", "6"])],
            one_claim(requests_of(3), distinct("numa")),
            on=[LISTS],
        ),
        each_gets(3, 4, 5),
    ),
    f"{APART}-single-request-count-3-all-distinct": row(apart(3, "1", "2", "3", on=[LISTS]), gets(1, 2, 3)),
    f"{APART}-single-request-count-3-not-distinct": row(
        apart(3, "1", "2", "1", on=[LISTS]), NONE, at={"1.36 as released": gets(1, 2, 3)}
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(LISTS_DISTINCT))
def test_lists_that_differ(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)
