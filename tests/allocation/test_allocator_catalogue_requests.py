"""Administration, the nodes an allocation is for, and what ends an attempt before anything is searched."""

from __future__ import annotations

import pytest
from catalogue_run import answer_row, list_runs
from catalogue_world import (
    ALL_NODES,
    NONE,
    PER_DEVICE,
    B,
    Row,
    at_least,
    claim,
    device,
    device_class,
    devices,
    equals,
    fails,
    first_of,
    fits,
    given,
    got,
    held,
    labelled,
    named,
    node,
    pool,
    request,
    row,
    taint,
    world,
)

ONE = claim("claim-0", request("req-0"))
D1 = device("d1")
ADMIN = claim("claim-0", request("req-0", admin=True))
OTHER_ADMIN = claim("claim-1", request("req-0", admin=True))
BY_ADMIN = given(got("req-0", "p1/d1", admin=True))
SOILED = pool("p1", device("d1", taints=[taint("soiled", "NoSchedule")]))

ADMINISTRATION: dict[str, Row] = {
    "admin-access-disabled": row(
        world([pool("p1", D1)], [ADMIN], off=["admin_access"]),
        fails("claim ns/claim-0, request req-0: admin access is requested, but the feature is disabled"),
    ),
    # Not asking for it is saying something of it too.
    "admin-access-declined-while-disabled": row(
        world([pool("p1", D1)], [claim("claim-0", request("req-0", admin=False))], off=["admin_access"]),
        fails("claim ns/claim-0, request req-0: admin access is requested, but the feature is disabled"),
    ),
    "admin-access-enabled": row(world([pool("p1", D1)], [ADMIN], held=[held("p1/d1")]), fits(BY_ADMIN)),
    "count-devices-some-allocated-admin-access": row(
        world(
            [pool("p1", D1, device("d2"))],
            [claim("claim-0", request("req-0", count=2, admin=True))],
            held=[held("p1/d1")],
        ),
        fits(given(got("req-0", "p1/d1", admin=True), got("req-0", "p1/d2", admin=True))),
    ),
    "separate-claims-share-device-admin-access": row(
        world([pool("p1", D1)], [ADMIN, OTHER_ADMIN]), fits(BY_ADMIN, BY_ADMIN)
    ),
    "admin-access-claims-device-allocating-for-non-admin-access": row(
        world([pool("p1", D1)], [ONE, OTHER_ADMIN]), fits(given("req-0 p1/d1"), BY_ADMIN)
    ),
    # The other way round a device that administration looks at isn't there for others of the same pod.
    "admin-access-first-then-non-admin-access": row(
        world([pool("p1", D1)], [ADMIN, claim("claim-1", request("req-0"))]), NONE
    ),
    "admin-access-request-first-then-non-admin-access-request": row(
        world([pool("p1", D1)], [claim("claim-0", request("req-0", admin=True), request("req-1"))]), NONE
    ),
    "tainted-admin-access": row(world([SOILED], [ADMIN]), NONE),
    "tainted-admin-access-disabled": row(world([SOILED], [ADMIN], off=["device_taints"]), fits(BY_ADMIN)),
}


@pytest.mark.parametrize(("row", "run"), list_runs(ADMINISTRATION))
def test_administration(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


REGION, PLANET = labelled("region", "r1"), labelled("planet", "earth")
UNION = {
    "nodeSelectorTerms": [
        {
            "matchExpressions": [
                {"key": "region", "operator": "In", "values": ["r1"]},
                {"key": "planet", "operator": "In", "values": ["earth"]},
            ],
            "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
        }
    ]
}
SIX_OR_FOUR = claim(
    "claim-0",
    first_of(
        "req-0",
        request("sub-0", where=[at_least("memory", "6Gi")]),
        request("sub-1", where=[at_least("memory", "4Gi")]),
    ),
)
SIX_AND_FOUR = pool(
    "p1",
    device("d1", capacity={"memory": "6Gi"}, on="n2"),
    device("d2", capacity={"memory": "4Gi"}, on="n1"),
    on=PER_DEVICE,
)

NODES: dict[str, Row] = {
    "network-attached-device": row(world([pool("p1", D1, on=REGION)], [ONE]), fits(given("req-0 p1/d1", on=REGION))),
    "unsuccessful-allocation-network-attached-device": row(
        world([pool("p1", D1, on=REGION)], [ONE], node=node("n1", region="r2")), NONE
    ),
    "many-network-attached-devices": row(
        world(
            [
                pool("p1", D1, on=REGION),
                pool("p2", D1, on=ALL_NODES),
                pool("p3", D1, on=PLANET),
                pool("p4", D1, on=named("n1")),
            ],
            [claim("claim-0", request("req-0", count=4))],
        ),
        fits(given("req-0 p1/d1", "req-0 p2/d1", "req-0 p3/d1", "req-0 p4/d1", on=UNION)),
    ),
    "local-and-network-attached-devices": row(
        world([pool("p1", D1, on=REGION), pool("p2", D1)], [claim("claim-0", request("req-0", count=2))]),
        fits(given("req-0 p1/d1", "req-0 p2/d1")),
    ),
    "node-restriction": row(
        world([pool("p1", device("d1", binds=True), on=REGION)], [ONE]), fits(given("req-0 p1/d1", on=named("n1")))
    ),
    # Every node adds nothing to what a selector says; alone it leaves the claim free.
    "every-node-and-a-selector": row(
        world([pool("p1", D1, on=ALL_NODES), pool("p2", D1, on=REGION)], [claim("claim-0", request("req-0", count=2))]),
        fits(given("req-0 p1/d1", "req-0 p2/d1", on=REGION)),
    ),
    "every-node": row(world([pool("p1", D1, on=ALL_NODES)], [ONE]), fits(given("req-0 p1/d1", on=None))),
    "partitionable-devices-per-device-node-selection-nodename": row(
        world([SIX_AND_FOUR], [SIX_OR_FOUR]), fits(given("req-0/sub-1 p1/d2"))
    ),
    "partitionable-devices-per-device-node-selection-node-selector": row(
        world([pool("p1", device("d1", on=REGION), on=PER_DEVICE)], [ONE]), fits(given("req-0 p1/d1", on=REGION))
    ),
    "partitionable-devices-per-device-node-selection-node-selector-multiple-devices": row(
        world(
            [
                pool("p1", device("d1", on=REGION), device("d2", on="n1"), device("d3", on=ALL_NODES), on=PER_DEVICE),
                pool("p2", *devices("d", 3), driver="driver-b"),
            ],
            [claim("claim-0", request("req-0", count=3), request("req-1", "b", 3))],
        ),
        fits(
            given(
                *("req-0 p1/d1", "req-0 p1/d2", "req-0 p1/d3"),
                *("req-1 driver-b/p2/d1", "req-1 driver-b/p2/d2", "req-1 driver-b/p2/d3"),
            )
        ),
    ),
    "partitionable-devices-disabled-per-device-node-selection": row(
        world([SIX_AND_FOUR], [SIX_OR_FOUR], off=["partitionable_devices"]), NONE, at={"1.34": NONE}
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(NODES))
def test_nodes(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


UNDECLARED = "noSuchVar"
START = "claim ns/claim-0, request req-0"
NO_CLASS = f"{START}: could not retrieve device class a: it does not exist"
WANTS_CAPACITY = request("req-0", capacity={"memory": "1Gi"})
CAPACITY_IS_OFF = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
HALF_OF_MANY = 2**62


def too_many(count: int, *, before: int = 0, request: str = "req-0") -> dict[str, object]:
    return fails(
        f"claim ns/claim-0, request {request}: adding {count} devices exceeds the claim limit of 32, "
        f"with {before} already accounted for"
    )


def counts(*numbers: int) -> list[dict[str, object]]:
    return [claim("claim-0", *(request(f"req-{at}", count=number) for at, number in enumerate(numbers)))]


def wants(**said: object) -> list[dict[str, object]]:
    return [claim("claim-0", request("req-0", **said))]  # type: ignore[arg-type]


def undeclared(owner: str) -> dict[str, object]:
    why = "noSuchVar is neither a variable nor a function here; of variables there is only device"
    return fails(f"{owner}: CEL compile error: compilation failed: line 1, column 1: {why}")


IS_X = equals("kind", "x")

ERRORS: dict[str, Row] = {
    "no-classes": row(world([pool("p1", D1)], [ONE], classes=[]), fails(NO_CLASS)),
    "unknown-class": row(world([pool("p1", D1)], [ONE], classes=[B]), fails(NO_CLASS)),
    "empty-class": row(
        world([pool("p1", D1)], wants(class_name="")),
        fails(f"{START}: missing device class name (unsupported request type?)"),
    ),
    "unknown-selector": row(
        world([pool("p1", D1)], wants(where=[None])),
        fails(f"{START}, selector #0: CEL expression empty (unsupported selector type?)"),
    ),
    "unknown-allocation-mode": row(
        world([pool("p1", D1)], wants(mode="future-mode")), fails(f"{START}: unsupported count mode future-mode")
    ),
    "unknown-constraint": row(
        world([pool("p1", D1)], [claim("claim-0", request("req-0"), constraints=[{}])]),
        fails("claim ns/claim-0, constraint #0: empty constraint (unsupported constraint type?)"),
    ),
    "invalid-CEL-one-device": row(
        world([pool("p1", D1)], wants(where=[UNDECLARED])), undeclared("claim ns/claim-0: selector #0")
    ),
    "invalid-CEL-one-device-class": row(
        world([pool("p1", D1)], [ONE], classes=[device_class("a", where=[UNDECLARED])]),
        undeclared("class a: selector #1"),
    ),
    "invalid-CEL-all-devices": row(
        world([pool("p1", D1)], wants(mode="All", where=[UNDECLARED])), undeclared("claim ns/claim-0: selector #0")
    ),
    # The name is upstream's; the count is what is wrong with it.
    "all-devices-invalid-CEL": row(world([pool("p1", D1)], wants(count=500, where=[UNDECLARED])), too_many(500)),
    "too-many-devices-single-request": row(world([pool("p1", D1)], counts(500)), too_many(500)),
    "too-many-devices-total": row(world([pool("p1", D1)], counts(32, 1)), too_many(1, before=32, request="req-1")),
    "many-devices-okay": row(world([pool("p1", D1)], counts(32)), NONE),
    "max-number-devices": row(
        world([pool("p1", *devices("d", 32))], counts(32)),
        fits(given(*(f"req-0 p1/d{number}" for number in range(1, 33)))),
    ),
    "exact-count-sum-exactly-fills-claim-limit": row(
        world([pool("p1", *devices("d", 32))], counts(16, 16)),
        fits(given(*(f"req-{number // 16} p1/d{number + 1}" for number in range(32)))),
    ),
    "exact-count-sum-exceeds-claim-limit": row(world([], counts(20, 20)), too_many(20, before=20, request="req-1")),
    # Where numbers have 64 bits these would add up to less than nothing, or to nothing.
    "exact-count-total-overflows-claim-limit": row(
        world([], counts(HALF_OF_MANY, HALF_OF_MANY)), too_many(HALF_OF_MANY)
    ),
    "exact-count-total-would-wrap-to-zero": row(world([], counts(*[HALF_OF_MANY] * 4)), too_many(HALF_OF_MANY)),
    "prioritized-list-minimum-sum-exceeds-claim-limit": row(
        world(
            [],
            [
                claim(
                    "claim-0",
                    request("req-0", count=20),
                    first_of("req-1", request("sub-0", count=20), request("sub-1", count=24)),
                )
            ],
        ),
        too_many(20, before=20, request="req-1"),
    ),
    "prioritized-list-disabled": row(
        world([pool("p1", D1)], [claim("claim-0", first_of("req-0", request("sub-0")))], off=["prioritized_list"]),
        fails(f"{START}: has subrequests, but the DRAPrioritizedList feature is disabled"),
    ),
    "consumable-capacity-disabled-feature": row(
        world([pool("p1", D1)], [claim("claim-0", WANTS_CAPACITY)], off=["consumable_capacity"]),
        fails(f"{START}: {CAPACITY_IS_OFF}"),
    ),
    "consumable-capacity-disabled-feature-with-prioritized-list": row(
        world(
            [pool("p1", D1)],
            [claim("claim-0", first_of("req-0", request("sub-0", capacity={"memory": "1Gi"})))],
            off=["consumable_capacity"],
        ),
        fails(f"claim ns/claim-0, subrequest sub-0: {CAPACITY_IS_OFF}"),
    ),
    "derived-attributes-disabled": row(
        world([pool("p1", D1)], wants(derived={"driver-a/node": "1"})),
        fails(f"{START}: cannot handle request with derived attributes, the feature is disabled"),
        since="1.37",  # whose API has none
    ),
    # A device that comes before the solution is looked at, and its error ends the attempt; one that comes after isn't.
    "CEL-error-before-the-solution": row(
        world([pool("p1", D1, device("d2", {"kind": "x"}))], wants(where=[IS_X])),
        fails("claim ns/claim-0: selector #0 on device driver-a/p1/d1: CEL runtime error: no such key: kind"),
    ),
    "CEL-error-after-the-solution": row(
        world([pool("p1", device("d2", {"kind": "x"}), D1)], wants(where=[IS_X])),
        fits(given("req-0 p1/d2")),
    ),
    "CEL-error-on-a-device-in-use": row(
        world(
            [pool("p1", D1, device("d2", {"kind": "x"}))],
            wants(where=[IS_X]),
            held=[held("p1/d1")],
        ),
        fits(given("req-0 p1/d2")),
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(ERRORS))
def test_errors(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)
