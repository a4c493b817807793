"""Basics, order, pools, and requests for all devices."""

from __future__ import annotations

import pytest
from catalogue_run import answer_row, list_runs
from catalogue_world import (
    INVALID_POOLS,
    NONE,
    Row,
    at_least,
    claim,
    device,
    fails,
    first_of,
    fits,
    given,
    got,
    held,
    named,
    node,
    pool,
    request,
    row,
    world,
)

ONE = claim("claim-0", request("req-0"))
TWO = claim("claim-0", request("req-0", count=2))
D1 = device("d1")
SMALL, LARGE = device("small", capacity={"memory": "1Gi"}), device("large", capacity={"memory": "2Gi"})
WANTS_SMALL = request("req-0", where=[at_least("memory", "1Gi")])
WANTS_LARGE = request("req-1", where=[at_least("memory", "2Gi")])
WAITS = ("driver-a/attached",)

ORDER: dict[str, Row] = {
    "empty": row(world([], [], classes=[]), fits()),
    "no-claims-to-allocate": row(world([pool("p1", D1)], []), fits()),
    "simple": row(world([pool("p1", D1)], [ONE]), fits(given("req-0 p1/d1"))),
    "other-node": row(
        world([pool("p1", D1, driver="driver-b"), pool("p2", D1, on="n2")], [ONE], node=node("n2")),
        fits(
            given(
                "req-0 p2/d1",
                on=named("n2"),
            )
        ),
    ),
    "no-slices": row(world([], [ONE]), NONE),
    "not-enough-suitable-devices": row(world([pool("p1", D1)], [ONE, claim("claim-1", request("req-0"))]), NONE),
    "small-and-large": row(
        world([pool("p1", SMALL, LARGE)], [claim("claim-0", WANTS_SMALL, WANTS_LARGE)]),
        fits(given("req-0 p1/small", "req-1 p1/large")),
    ),
    "small-and-large-backtrack-requests": row(
        world([pool("p1", LARGE, SMALL)], [claim("claim-0", WANTS_SMALL, WANTS_LARGE)]),
        fits(given("req-0 p1/small", "req-1 p1/large")),
    ),
    "small-and-large-backtrack-claims": row(
        world([pool("p1", LARGE, SMALL)], [claim("claim-0", WANTS_SMALL), claim("claim-1", WANTS_LARGE)]),
        fits(given("req-0 p1/small"), given("req-1 p1/large")),
    ),
    "devices-split-across-different-slices": row(
        world([pool("p1", D1), pool("p2", D1)], [TWO]), fits(given("req-0 p1/d1", "req-0 p2/d1"))
    ),
    "several-different-drivers": row(
        world([pool("p1", D1), pool("p1", D1, driver="driver-b")], [ONE, claim("claim-1", request("req-0", "b"))]),
        fits(given("req-0 p1/d1"), given("req-0 driver-b/p1/d1")),
    ),
    "already-allocated-devices": row(
        world([pool("p1", D1), pool("p2", D1)], [ONE], held=[held("p1/d1", "p2/d1")]), NONE
    ),
    "different-resourceslices-in-pool-can-target-different-nodes": row(
        world([pool("p1", D1, part=1, of=2), pool("p1", device("d2"), on="n2", part=2, of=2)], [TWO]), NONE
    ),
    "lexicographical-sorting-pools": row(
        world([pool("pool-3", D1), pool("pool-2", D1), pool("pool-1", D1)], [TWO]),
        fits(given("req-0 pool-1/d1", "req-0 pool-2/d1")),
    ),
    "lexicographical-sorting-pools-with-binding-conditions": row(
        world([pool("pool-3", D1), pool("pool-2", D1), pool("pool-1", device("d1", binding=WAITS))], [TWO]),
        fits(given("req-0 pool-2/d1", "req-0 pool-3/d1")),
    ),
    "lexicographical-sorting-slices": row(
        world(
            [pool("p1", device(f"d{part}"), part=part, of=3, slice_name=f"slice-{part}") for part in (3, 2, 1)], [TWO]
        ),
        fits(given("req-0 p1/d1", "req-0 p1/d2")),
    ),
    # Only whole pools wait for others.
    "lexicographical-sorting-slices-with-binding-conditions": row(
        world(
            [
                pool("p1", device(f"d{part}", binding=WAITS if part == 1 else None), part=part, of=3)
                for part in (3, 2, 1)
            ],
            [TWO],
        ),
        fits(given(got("req-0", "p1/d1", binding=WAITS), "req-0 p1/d2")),
    ),
    # As text, so that p10 comes before p2; the driver's name before the pool's.
    "pools-are-sorted-as-text-by-driver-and-name": row(
        world(
            [pool(name, D1, driver=driver) for driver in ("driver-b", "driver-a") for name in ("p2", "p10")],
            [claim("claim-0", request("req-0", "any", 3))],
            classes=[{"metadata": {"name": "any"}, "spec": {}}],
        ),
        fits(given("req-0 p10/d1", "req-0 p2/d1", "req-0 driver-b/p10/d1")),
    ),
    "devices-keep-the-order-of-their-slice": row(
        world([pool("p1", device("d3"), device("d1"), device("d2"))], [TWO]),
        fits(given("req-0 p1/d3", "req-0 p1/d1")),
    ),
    "claim-without-requests": row(world([pool("p1", D1)], [claim("claim-0")]), fits(given(on=None))),
}


@pytest.mark.parametrize(("row", "run"), list_runs(ORDER))
def test_order(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


# d1 stands in two slices of the pool.
TWICE = [pool("p1", D1, part=1, of=2), pool("p1", D1, part=2, of=2)]
LOCAL, REMOTE = "n1", "n2"
# Until 1.34 a request for some devices is given them from a pool of which slices are missing, and an invalid pool is
# the end of the attempt.
GIVEN_FROM_WHAT_IS_THERE = {"1.34": fits(given("req-0 p1/d1"))}
ENDS_THERE = {"1.34": fails("pool p1 is invalid: duplicate device name d1")}


def old_and_new(old_on: str, new_on: str, *, new_parts: int) -> list[dict[str, object]]:
    """Pool p1 of two slices in generation 1 on one node, and generation 2 on another, perhaps only half published."""
    return [
        pool("p1", device(f"d{part}"), on=on, generation=generation, part=part, of=2)
        for generation, on, parts in ((1, old_on, 2), (2, new_on, new_parts))
        for part in range(1, parts + 1)
    ]


POOLS: dict[str, Row] = {
    "obsolete-slice": row(
        world([pool("p1", D1, of=2), pool("p1", D1, generation=2, of=2)], [ONE]), NONE, at=GIVEN_FROM_WHAT_IS_THERE
    ),
    "duplicate-slice": row(world(TWICE, [ONE]), INVALID_POOLS, at=ENDS_THERE),
    "no-allocation-from-incomplete-pools": row(world([pool("p1", D1, of=2)], [ONE]), NONE, at=GIVEN_FROM_WHAT_IS_THERE),
    "invalid-pool-is-ok-if-devices-can-be-allocated-from-other": row(
        world([*TWICE, pool("p2", device("d2"))], [ONE]), fits(given("req-0 p2/d2"))
    ),
    "invalid-pool-is-error-if-no-other-device-can-be-allocated": row(
        world([*TWICE, pool("p2", device("d2"))], [ONE], held=[held("p2/d2")]), INVALID_POOLS, at=ENDS_THERE
    ),
    "multi-host-resource-pool-with-stale-slice-for-current-node": row(
        world([pool("p1", D1, of=2), pool("p1", device("d2"), on="n2", generation=2, of=2)], [ONE]),
        NONE,
        at=GIVEN_FROM_WHAT_IS_THERE,
    ),
    # A set that is complete on the node isn't compared with what other nodes have.
    "multi-host-resource-pool-complete-update-from-node-1-to-node-2": row(
        world(old_and_new(LOCAL, REMOTE, new_parts=2), [ONE]), fits(given("req-0 p1/d1"))
    ),
    "multi-host-resource-pool-complete-update-from-node-2-to-node-1": row(
        world(old_and_new(REMOTE, LOCAL, new_parts=2), [ONE]), fits(given("req-0 p1/d1"))
    ),
    "multi-host-resource-pool-incomplete-update-from-node-1-to-node-2": row(
        world(old_and_new(LOCAL, REMOTE, new_parts=1), [ONE]), fits(given("req-0 p1/d1"))
    ),
    "multi-host-resource-pool-incomplete-update-from-node-2-to-node-1": row(
        world(old_and_new(REMOTE, LOCAL, new_parts=1), [ONE]), NONE, at=GIVEN_FROM_WHAT_IS_THERE
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(POOLS))
def test_pools(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


ALL = request("req-0", mode="All")
ALL_OF_A = claim("claim-0", ALL)
ONE_OF_B = claim("claim-1", request("req-0", "b"))
ALL_THEN_B = claim("claim-0", first_of("req-0", request("sub-0", mode="All"), request("sub-1", "b")))
ALL_IN_USE = fails(
    "claim ns/claim-0, request req-0: asks for all devices, but resource pool driver-a/p1 is currently being updated"
)
OTHER = pool("p9", device("d9"), driver="driver-b")
GIVES_OTHER = given("req-0 driver-b/p9/d9")
MANY = [pool("p1", D1), pool("p2", device("d2"))]
D1_D2 = pool("p1", D1, device("d2"))

ALL_DEVICES: dict[str, Row] = {
    "all-devices-single": row(world([pool("p1", D1)], [ALL_OF_A]), fits(given("req-0 p1/d1"))),
    "all-devices-many": row(world(MANY, [ALL_OF_A]), fits(given("req-0 p1/d1", "req-0 p2/d2"))),
    "all-devices-with-consumed-counters": row(
        world(
            [
                pool("p1", device("d1", uses={"set": {"memory": "4Gi"}}), part=1, of=2),
                pool("p1", counters={"set": {"memory": "8Gi"}}, part=2, of=2),
            ],
            [ALL_OF_A],
        ),
        fits(given("req-0 p1/d1")),
    ),
    "all-devices-of-the-incomplete-pool": row(world([pool("p1", D1, of=2)], [ALL_OF_A]), ALL_IN_USE),
    "all-devices-of-the-invalid-pool": row(
        world(TWICE, [ALL_OF_A]),
        fails(
            "claim ns/claim-0, request req-0: asks for all devices, but resource pool driver-a/p1 is currently invalid"
        ),
    ),
    "all-devices-plus-another": row(
        world([pool("p1", D1), OTHER], [ALL_OF_A, ONE_OF_B]), fits(given("req-0 p1/d1"), GIVES_OTHER)
    ),
    "all-devices-plus-another-reversed": row(
        world([pool("p1", D1), OTHER], [ONE_OF_B, ALL_OF_A]), fits(GIVES_OTHER, given("req-0 p1/d1"))
    ),
    "all-devices-many-plus-another": row(
        world([*MANY, OTHER], [ALL_OF_A, ONE_OF_B]), fits(given("req-0 p1/d1", "req-0 p2/d2"), GIVES_OTHER)
    ),
    "all-devices-many-plus-another-reversed": row(
        world([*MANY, OTHER], [ONE_OF_B, ALL_OF_A]), fits(GIVES_OTHER, given("req-0 p1/d1", "req-0 p2/d2"))
    ),
    "all-devices-no-solution": row(world([pool("p1", D1)], [ALL_OF_A, claim("claim-1", request("req-0"))]), NONE),
    "all-devices-no-solution-reversed": row(
        world([pool("p1", D1)], [claim("claim-1", request("req-0")), ALL_OF_A]), NONE
    ),
    "all-devices-slice-without-devices": row(world([pool("p1")], [ALL_OF_A]), NONE),
    "all-devices-no-slices": row(world([], [ALL_OF_A]), NONE),
    "all-devices-some-allocated": row(world([D1_D2], [ALL_OF_A], held=[held("p1/d1")]), NONE),
    "all-devices-some-allocated-admin-access": row(
        world([D1_D2], [claim("claim-0", request("req-0", mode="All", admin=True))], held=[held("p1/d1")]),
        fits(given(got("req-0", "p1/d1", admin=True), got("req-0", "p1/d2", admin=True))),
    ),
    # Not even administration gets a device twice in one claim.
    "all-devices-some-allocating-admin-access": row(
        world([D1_D2], [claim("claim-0", request("req-0", admin=True), request("req-1", mode="All", admin=True))]), NONE
    ),
    "all-devices-slice-without-devices-prioritized-list": row(
        world([pool("p1"), OTHER], [ALL_THEN_B]), fits(given("req-0/sub-1 driver-b/p9/d9"))
    ),
    "all-devices-no-slices-prioritized-list": row(
        world([OTHER], [ALL_THEN_B]), fits(given("req-0/sub-1 driver-b/p9/d9"))
    ),
    "all-devices-some-allocated-prioritized-list": row(
        world([D1_D2, OTHER], [ALL_THEN_B], held=[held("p1/d1")]), fits(given("req-0/sub-1 driver-b/p9/d9"))
    ),
    "allocation-mode-all-with-multi-host-resource-pool": row(
        world([pool("p1", D1, of=2), pool("p1", device("d2"), on="n2", part=2, of=2)], [ALL_OF_A]),
        fits(given("req-0 p1/d1")),
        at={"1.34": ALL_IN_USE},  # it never looks at other nodes' slices
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(ALL_DEVICES))
def test_all_devices(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)
