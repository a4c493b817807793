"""Attributes that devices share, configuration in the result, and requests with alternatives."""

from __future__ import annotations

import pytest
from case_values import Json
from catalogue_run import answer_row, list_runs
from catalogue_world import (
    NONE,
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
    from_claim,
    from_class,
    given,
    held,
    match,
    opaque,
    pool,
    request,
    row,
    version,
    world,
)

TWO = request("req-0", count=2)


def differing(attribute: str, first: object, second: object) -> list[Json]:
    return [pool("p1", device("d1", {attribute: first}), device("d2", {attribute: second}))]  # type: ignore[dict-item]


EQUAL = {"numa": 1, "driverVersion": version("1.0.0"), "model": "x", "linked": True}
MATCH: dict[str, Row] = {
    "with-constraint": row(
        world(
            [pool("p1", device("d1", EQUAL), device("d2", EQUAL))],
            [claim("claim-0", request("req-0"), request("req-1"), constraints=[match(name) for name in EQUAL])],
        ),
        fits(given("req-0 p1/d1", "req-1 p1/d2")),
    ),
    "with-constraint-non-existent-attribute": row(
        world([pool("p1", *devices("d", 2))], [claim("claim-0", TWO, constraints=[match("numa")])]), NONE
    ),
    "with-constraint-not-matching-int-attribute": row(
        world(differing("numa", 1, 2), [claim("claim-0", TWO, constraints=[match("numa")])]), NONE
    ),
    "with-constraint-not-matching-string-attribute": row(
        world(differing("model", "x", "y"), [claim("claim-0", TWO, constraints=[match("model")])]), NONE
    ),
    "with-constraint-not-matching-bool-attribute": row(
        world(differing("linked", True, False), [claim("claim-0", TWO, constraints=[match("linked")])]), NONE
    ),
    "with-constraint-not-matching-version-attribute": row(
        world(
            differing("driverVersion", version("1.0.0"), version("2.0.0")),
            [claim("claim-0", TWO, constraints=[match("driverVersion")])],
        ),
        NONE,
    ),
    "with-constraint-not-matching-int-attribute-all-devices": row(
        world(differing("numa", 1, 2), [claim("claim-0", request("req-0", mode="All"), constraints=[match("numa")])]),
        fails(
            "claim ns/claim-0, request req-0: cannot add device driver-a/p1/d2 because a claim constraint would not "
            "be satisfied"
        ),
    ),
    "with-constraint-for-request": row(
        world(
            differing("numa", 1, 2),
            [claim("claim-0", request("req-0"), request("req-1"), constraints=[match("numa", "req-0")])],
        ),
        fits(given("req-0 p1/d1", "req-1 p1/d2")),
    ),
    # d1 suits req-0, but nothing else has its model.
    "with-constraint-for-request-retry": row(
        world(
            [
                pool(
                    "p1",
                    device("d1", {"driverVersion": version("1.0.0"), "model": "odd"}),
                    device("d2", {"driverVersion": version("2.0.0"), "model": "x"}),
                    device("d3", {"driverVersion": version("3.0.0"), "model": "x"}),
                )
            ],
            [
                claim(
                    "claim-0",
                    request("req-0"),
                    request("req-1"),
                    constraints=[match("driverVersion", "req-0"), match("model")],
                )
            ],
        ),
        fits(given("req-0 p1/d2", "req-1 p1/d3")),
    ),
    "match-attribute-across-drivers": row(
        world(
            [
                pool("p1", device("d1", {"example.com/root": "x"})),
                pool(
                    "p1",
                    device("d1", {"example.com/root": "y"}),
                    device("d2", {"example.com/root": "x"}),
                    driver="driver-b",
                ),
            ],
            [claim("claim-0", request("req-0"), request("req-1", "b"), constraints=[match("example.com/root")])],
        ),
        fits(given("req-0 p1/d1", "req-1 driver-b/p1/d2")),
    ),
    # A bare name is one of its own driver's, so that another driver's devices don't have it.
    "match-attribute-across-drivers-bare-name": row(
        world(
            [pool("p1", device("d1", {"root": "x"})), pool("p1", device("d1", {"root": "x"}), driver="driver-b")],
            [claim("claim-0", request("req-0"), request("req-1", "b"), constraints=[match("root")])],
        ),
        NONE,
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(MATCH))
def test_match_attribute(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


P3 = [pool("p1", *devices("d", 3))]
WITH_CONFIG = [device_class("a", config=[opaque("of a")]), device_class("b", "driver-b", config=[opaque("of b")])]
THREE = [request("req-0"), request("req-1"), request("req-2")]
GOT_THREE = ("req-0 p1/d1", "req-1 p1/d2", "req-2 p1/d3")
EITHER = first_of("req-0", request("sub-0", "b"), request("sub-1"))
MORE = request("req-1")


def is_said(result: str | tuple[str, ...], *config: Json) -> Json:
    results = (result,) if isinstance(result, str) else result
    return fits(given(*results, config=config))


def until_136(answer: Json) -> dict[str, Json]:
    """Until 1.36 an entry stands once for every request it names, and keeps their names."""
    return {"1.36": answer}


CONFIG: dict[str, Row] = {
    "with-class-device-config": row(
        world(P3, [claim("claim-0", request("req-0"))], classes=WITH_CONFIG),
        is_said("req-0 p1/d1", from_class("of a")),
        at=until_136(is_said("req-0 p1/d1", from_class("of a", "req-0"))),
    ),
    "with-class-device-config-with-multiple-request-and-configs": row(
        world(
            [*P3, pool("p2", device("d1"), driver="driver-b")],
            [claim("claim-0", request("req-0"), request("req-1"), request("req-2", "b"))],
            classes=WITH_CONFIG,
        ),
        is_said(
            ("req-0 p1/d1", "req-1 p1/d2", "req-2 driver-b/p2/d1"),
            from_class("of a", "req-0", "req-1"),
            from_class("of b", "req-2"),
        ),
    ),
    "with-claim-config-for-two-requests": row(
        world(P3, [claim("claim-0", *THREE, config=[opaque("for two", "req-0", "req-1")])]),
        is_said(GOT_THREE, from_claim("for two", "req-0", "req-1")),
        at=until_136(is_said(GOT_THREE, *[from_claim("for two", "req-0", "req-1")] * 2)),
    ),
    "claim-with-device-config": row(
        world(P3, [claim("claim-0", request("req-0"), config=[opaque("for all")])]),
        is_said("req-0 p1/d1", from_claim("for all")),
    ),
    "prioritized-list-device-config": row(
        world(
            P3,
            [claim("claim-0", EITHER, config=[opaque("first", "req-0/sub-0"), opaque("second", "req-0/sub-1")])],
        ),
        is_said("req-0/sub-1 p1/d1", from_claim("second")),
        at=until_136(is_said("req-0/sub-1 p1/d1", from_claim("second", "req-0/sub-1"))),
    ),
    "prioritized-list-class-config": row(
        world(P3, [claim("claim-0", EITHER)], classes=WITH_CONFIG),
        is_said("req-0/sub-1 p1/d1", from_class("of a")),
        at=until_136(is_said("req-0/sub-1 p1/d1", from_class("of a", "req-0/sub-1"))),
    ),
    "claim-config-scoped-to-subrequests-of-one-request": row(
        world(P3, [claim("claim-0", EITHER, MORE, config=[opaque("for one", "req-0/sub-0", "req-0/sub-1")])]),
        is_said(("req-0/sub-1 p1/d1", "req-1 p1/d2"), from_claim("for one", "req-0/sub-0", "req-0/sub-1")),
    ),
    "claim-config-covering-all-requests-is-cleared": row(
        world(
            P3,
            [
                claim(
                    "claim-0",
                    first_of("req-0", request("sub-0"), request("sub-1", "b")),
                    MORE,
                    config=[opaque("for both", "req-0/sub-0", "req-1")],
                )
            ],
        ),
        is_said(("req-0/sub-0 p1/d1", "req-1 p1/d2"), from_claim("for both")),
        at=until_136(
            is_said(("req-0/sub-0 p1/d1", "req-1 p1/d2"), *[from_claim("for both", "req-0/sub-0", "req-1")] * 2)
        ),
    ),
    # Of classes in the order of the first request for each, then of the claim in its order.
    "config-order": row(
        world(
            [*P3, pool("p2", device("d1"), driver="driver-b")],
            [
                claim(
                    "claim-0",
                    request("req-0", "b"),
                    request("req-1"),
                    config=[opaque("z"), opaque("for one", "req-1"), opaque("nobody", "req-9")],
                )
            ],
            classes=[
                device_class("a", config=[opaque("of a"), opaque("more of a")]),
                device_class("b", "driver-b", config=[opaque("of b")]),
            ],
        ),
        is_said(
            ("req-0 driver-b/p2/d1", "req-1 p1/d1"),
            from_class("of b", "req-0"),
            from_class("of a", "req-1"),
            from_class("more of a", "req-1"),
            from_claim("z"),
            from_claim("for one", "req-1"),
        ),
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(CONFIG))
def test_config(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


def sized(*sizes: str) -> list[Json]:
    return [device(f"d{at}", capacity={"memory": size}) for at, size in enumerate(sizes, 1)]


def asks(*requests: Json, constraints: tuple[Json, ...] = ()) -> list[Json]:
    return [claim("claim-0", *requests, constraints=constraints)]


def of_size(name: str, least: str, count: int = 1, *, mode: str = "ExactCount") -> Json:
    return request(name, count=count, where=[at_least("memory", least)], mode=mode)


def of_kind(name: str, kind: str) -> Json:
    return request(name, where=[equals("kind", kind)])


def x_y_z(*texts: str) -> Json:
    versions = dict(zip("xyz", texts, strict=True))
    kinds = [{"kind": kind, "driverVersion": version(text)} for kind, text in versions.items()]
    return pool("p1", *(device(f"d{at}", said) for at, said in enumerate(kinds, 1)))


Y_OR_Z = first_of("req-1", of_kind("sub-0", "y"), of_kind("sub-1", "z"))
EIGHT_OR_FOUR = first_of("req-0", of_size("sub-0", "8Gi"), of_size("sub-1", "4Gi"))
ALL_OR_ONE = first_of("req-0", request("sub-0", mode="All"), request("sub-1"))
BIG_OR_SMALL = first_of("req-0", of_size("sub-0", "8Gi", mode="All"), of_size("sub-1", "4Gi", mode="All"))

ALTERNATIVES: dict[str, Row] = {
    "prioritized-list-first-unavailable": row(world(P3, asks(EITHER)), fits(given("req-0/sub-1 p1/d1"))),
    "prioritized-list-non-available": row(
        world(
            [pool("p1", device("d1")), pool("p2", device("d1"), driver="driver-b")],
            asks(first_of("req-0", request("sub-0", "b", 2), request("sub-1", "a", 2))),
        ),
        NONE,
    ),
    "prioritized-list-subrequests-with-expressions": row(
        world(
            [pool("p1", *sized("2Gi", "2Gi", "1Gi"))],
            asks(of_size("req-0", "1Gi"), first_of("req-1", of_size("sub-0", "4Gi"), of_size("sub-1", "2Gi", 2))),
        ),
        fits(given("req-0 p1/d3", "req-1/sub-1 p1/d1", "req-1/sub-1 p1/d2")),
    ),
    "prioritized-list-subrequests-with-constraints-ref-parent-request": row(
        world(
            [x_y_z("1.0.0", "2.0.0", "1.0.0")],
            asks(of_kind("req-0", "x"), Y_OR_Z, constraints=(match("driverVersion", "req-0", "req-1"),)),
        ),
        fits(given("req-0 p1/d1", "req-1/sub-1 p1/d3")),
    ),
    "prioritized-list-subrequests-with-constraints-ref-sub-request": row(
        world(
            [x_y_z("1.0.0", "2.0.0", "3.0.0")],
            asks(of_kind("req-0", "x"), Y_OR_Z, constraints=(match("driverVersion", "req-0", "req-1/sub-0"),)),
        ),
        fits(given("req-0 p1/d1", "req-1/sub-1 p1/d3")),
    ),
    "prioritized-list-subrequests-with-allocation-mode-all": row(
        world(P3, asks(ALL_OR_ONE), held=[held("p1/d1")]), fits(given("req-0/sub-1 p1/d2"))
    ),
    "prioritized-list-allocation-mode-all": row(
        world(P3, asks(ALL_OR_ONE), held=[held("p1/d2")]), fits(given("req-0/sub-1 p1/d1"))
    ),
    "prioritized-list-allocation-mode-all-multiple-requests": row(
        world([pool("p1", *devices("d", 2))], asks(request("req-1"), ALL_OR_ONE)),
        fits(given("req-1 p1/d1", "req-0/sub-1 p1/d2")),
    ),
    "prioritized-list-allocation-mode-all-with-selectors": row(
        world([pool("p1", *sized("4Gi", "4Gi"))], asks(BIG_OR_SMALL)),
        fits(given("req-0/sub-1 p1/d1", "req-0/sub-1 p1/d2")),
    ),
    "prioritized-list-allocation-mode-all-with-selectors-multiple-pools": row(
        world([pool("p1", *sized("4Gi")), pool("p2", *sized("4Gi", "2Gi"))], asks(BIG_OR_SMALL)),
        fits(given("req-0/sub-1 p1/d1", "req-0/sub-1 p2/d1")),
    ),
    "prioritized-list-allocation-mode-all-with-selectors-multiple-pools-across-nodes": row(
        world(
            [pool("p1", *sized("4Gi")), pool("p2", *sized("8Gi"), on="n2"), pool("p3", *sized("4Gi"))],
            asks(BIG_OR_SMALL),
        ),
        fits(given("req-0/sub-1 p1/d1", "req-0/sub-1 p3/d1")),
    ),
    "prioritized-list-allocation-mode-all-with-selectors-deviceclass-subset": row(
        world(
            [pool("p1", *sized("4Gi", "2Gi", "4Gi"))],
            asks(first_of("req-0", request("sub-0", "b", mode="All"), request("sub-1", mode="All"))),
            classes=[device_class("a", where=[at_least("memory", "4Gi")]), B],
        ),
        fits(given("req-0/sub-1 p1/d1", "req-0/sub-1 p1/d3")),
    ),
    "prioritized-list-multi-request": row(
        world([pool("p1", *sized("8Gi", "4Gi"))], asks(of_size("req-1", "8Gi"), EIGHT_OR_FOUR)),
        fits(given("req-1 p1/d1", "req-0/sub-1 p1/d2")),
    ),
    "prioritized-list-with-backtracking": row(
        world([pool("p1", *sized("8Gi", "4Gi"))], asks(EIGHT_OR_FOUR, of_size("req-1", "8Gi"))),
        fits(given("req-0/sub-1 p1/d2", "req-1 p1/d1")),
    ),
    # The limit goes by the alternative with the fewest devices.
    "prioritized-list-too-many-in-first-subrequest": row(
        world(P3, asks(first_of("req-0", request("sub-0", count=500), request("sub-1")))),
        fits(given("req-0/sub-1 p1/d1")),
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(ALTERNATIVES))
def test_alternatives(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)
