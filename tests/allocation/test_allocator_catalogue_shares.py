"""Devices that take several allocations: what each of them consumes, and who gets one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from case_values import Json
from catalogue_run import answer_row, list_runs
from catalogue_world import (
    NONE,
    Row,
    World,
    amount,
    claim,
    device,
    device_class,
    equals,
    first_of,
    fits,
    given,
    got,
    held,
    held_share,
    match,
    pool,
    request,
    row,
    world,
)

RANGE = {"min": "2", "step": "2", "max": "4"}
ONLY_SHARED = device_class("a", where=["device.allowMultipleAllocations"])
NEVER_SHARED = device_class("a", where=["device.allowMultipleAllocations == false"])


def shareable(name: str, *capacity: str | Json, **said: object) -> Json:
    """A device that takes several allocations; of this many units, if any."""
    return device(name, capacity=dict(zip(("units",), capacity, strict=False)), shared=True, **said)  # type: ignore[arg-type]


def wants(units: str | None = None, name: str = "req-0", **said: object) -> Json:
    return request(name, capacity=None if units is None else {"units": units}, **said)  # type: ignore[arg-type]


def claims(*units: str | None) -> list[Json]:
    """A claim for each of these amounts."""
    return [claim(f"claim-{at}", wants(asked)) for at, asked in enumerate(units)]


def each_gets(*devices_and_units: tuple[str, str | None]) -> Json:
    """What each claim gets: a share of a device, and how much of it; None: nothing that could be counted."""
    return fits(
        *(
            given(got("req-0", device_id, consumed={} if units is None else {"units": units}))
            for device_id, units in devices_and_units
        )
    )


def on(devices: Json | Sequence[Json], *asked: str | None, held: Sequence[Json] = ()) -> World:
    """Claims for these amounts, of devices in one pool."""
    listed = [devices] if isinstance(devices, dict) else devices
    return world([pool("p1", *listed)], claims(*asked), held=held)


D1 = "p1/d1"
TWO_SHARES = fits(given(*[got("req-0", D1, consumed={"units": "1"})] * 2))
OF_DRIVER_A = claim("claim-0", request("req-0", capacity={"driver-a/units": "1"}))
SHARES: dict[str, Row] = {
    "consumable-capacity-multi-allocatable-device-with-missing-capacity-request": row(
        world([pool("p1", shareable("d1", "4"))], [claim("claim-0", request("req-0", capacity={"gone": "1"}))]), NONE
    ),
    "consumable-capacity-multi-allocatable-device-without-capacity-without-capacity-request": row(
        on(shareable("d1"), None, None), each_gets((D1, None), (D1, None))
    ),
    # Who doesn't say how much takes all of it.
    "consumable-capacity-multi-allocatable-device-without-policy-without-capacity-request": row(
        on([shareable("d1", "1"), shareable("d2", "1")], None, None), each_gets((D1, "1"), ("p1/d2", "1"))
    ),
    "consumable-capacity-multi-allocatable-device-without-policy-without-capacity-request-block": row(
        on(shareable("d1", "1"), None, None), NONE
    ),
    "consumable-capacity-multi-allocatable-device-without-policy-with-capacity-request": row(
        on(shareable("d1", "2"), "1", "1"), each_gets((D1, "1"), (D1, "1"))
    ),
    "consumable-capacity-multi-allocatable-device-with-policy-without-capacity-request": row(
        on(shareable("d1", amount("4", "2", **RANGE)), None, None), each_gets((D1, "2"), (D1, "2"))
    ),
    "consumable-capacity-multi-allocatable-device-with-zero-request-policy": row(
        on(shareable("d1", amount("1", "0", values=["0"])), None, "0"), each_gets((D1, "0"), (D1, "0"))
    ),
    "consumable-capacity-multi-allocatable-device-violates-zero-request-policy": row(
        on(shareable("d1", amount("1", "0", values=["0"])), "1"), NONE
    ),
    "consumable-capacity-multi-allocatable-device-with-range-policy-with-capacity-request": row(
        on(shareable("d1", amount("4", "2", **RANGE)), "1", "1"), each_gets((D1, "2"), (D1, "2"))
    ),
    "consumable-capacity-multi-allocatable-device-with-range-policy-step": row(
        on(shareable("d1", amount("4", "2", **RANGE)), "3"), each_gets((D1, "4"))
    ),
    "consumable-capacity-multi-allocatable-device-with-valid-values-policy": row(
        on(shareable("d1", amount("4", "1", values=["1", "2"])), "2"), each_gets((D1, "2"))
    ),
    "consumable-capacity-multi-allocatable-device-with-valid-values-policy-round-up": row(
        on(shareable("d1", amount("4", "1", values=["1", "3"])), "2"), each_gets((D1, "3"))
    ),
    "consumable-capacity-multi-allocatable-device-with-exceeded-consumable-capacity-request": row(
        on(shareable("d1", amount("2", "2", **RANGE)), "1", "2"), NONE
    ),
    "consumable-capacity-multi-allocatable-device-with-request-over-max-sharing-policy": row(
        on(shareable("d1", amount("10", "2", **RANGE)), "6"), NONE
    ),
    "consumable-capacity-multi-allocatable-device-with-allocated-capacity-use-remaining": row(
        on(shareable("d1", "4"), "2", held=[held_share(D1, "1", {"units": "2"})]), each_gets((D1, "2"))
    ),
    "consumable-capacity-multi-allocatable-device-with-allocated-capacity-next-device": row(
        on([shareable("d1", "2"), shareable("d2", "2")], "2", held=[held_share(D1, "1", {"units": "2"})]),
        each_gets(("p1/d2", "2")),
    ),
    # claim-0 wants two shares of devices alike: d1 has room for one beside what is held, d2 and d3 for one each.
    "consumable-capacity-with-multi-allocatable-device-backtrack": row(
        world(
            [
                pool(
                    "p1",
                    shareable("d1", "2", attributes={"color": "red"}),
                    shareable("d2", "4", attributes={"color": "blue"}),
                    shareable("d3", "2", attributes={"color": "red"}),
                )
            ],
            [
                claim("claim-0", wants("2"), wants("2", "req-1"), constraints=[match("color")]),
                claim("claim-1", wants("2")),
            ],
            held=[held_share(D1, "1", {"units": "1"})],
        ),
        fits(
            given(got("req-0", "p1/d2", consumed={"units": "2"}), got("req-1", "p1/d2", consumed={"units": "2"})),
            given(got("req-0", "p1/d3", consumed={"units": "2"})),
        ),
    ),
    "consumable-capacity-multi-allocatable-device-with-subrequest": row(
        world(
            [pool("p1", shareable("d1", "2"))],
            [claim("claim-0", first_of("req-0", wants("4", "sub-0"), wants("2", "sub-1"), wants(None, "sub-2")))],
        ),
        fits(given(got("req-0/sub-1", D1, consumed={"units": "2"}))),
    ),
    "consumable-capacity-multi-allocatable-device-with-no-available-consumable-capacity": row(
        on(shareable("d1", "2"), "1", held=[held_share(D1, "1", {"units": "2"})]), NONE
    ),
    # A device that can't be shared is all or nothing: the amount only says how large it must be.
    "consumable-capacity-dedicated-device-with-consumable-capacity-request": row(
        world([pool("p1", device("d1", capacity={"units": "1"}))], claims("1")), fits(given("req-0 p1/d1"))
    ),
    "consumable-capacity-dedicated-device-with-multiple-consumable-capacity-request": row(
        world([pool("p1", device("d1", capacity={"units": "2"}))], claims("1", "1")), NONE
    ),
    "allow-multiple-allocations-exclude-multi-allocatable-device-by-class-selector": row(
        world([pool("p1", shareable("d1", "2"))], claims("1"), classes=[NEVER_SHARED]), NONE
    ),
    "allow-multiple-allocations-include-multi-allocatable-device-by-class-selector": row(
        world([pool("p1", device("d1"), shareable("d2", "2"))], claims("1"), classes=[ONLY_SHARED]),
        each_gets(("p1/d2", "1")),
    ),
    "allow-multiple-allocations-not-allocate-multi-allocatable-device-which-already-dedicated": row(
        on(shareable("d1", "2"), "1", held=[held(D1)]), NONE
    ),
    "allow-multiple-allocations-not-allocate-dedicated-device-which-change-from-multi-allocatable": row(
        world(
            [pool("p1", device("d1", capacity={"units": "2"}))], claims("1"), held=[held_share(D1, "1", {"units": "2"})]
        ),
        NONE,
    ),
    # Two requests may take a share each of a device; one request takes two of them only until 1.35.
    "one-request-takes-a-shareable-device-once": row(
        world([pool("p1", shareable("d1", "4"))], [claim("claim-0", wants("1", count=2))]),
        NONE,
        at={"1.35": TWO_SHARES},
    ),
    "two-requests-take-a-share-each": row(
        world([pool("p1", shareable("d1", "4"))], [claim("claim-0", wants("1"), wants("1", "req-1"))]),
        fits(given(got("req-0", D1, consumed={"units": "1"}), got("req-1", D1, consumed={"units": "1"}))),
    ),
    # A name is compared as it stands, and goes into the result as it was published.
    "capacity-names-are-compared-as-written": row(
        world(
            [pool("p1", shareable("d1", "4"))], [claim("claim-0", request("req-0", capacity={"driver-a/units": "1"}))]
        ),
        NONE,
    ),
    "capacity-names-are-kept-as-published": row(
        world(
            [pool("p1", device("d1", capacity={"driver-a/units": "4"}, shared=True))],
            [OF_DRIVER_A],
        ),
        fits(given(got("req-0", D1, consumed={"driver-a/units": "1"}))),
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(SHARES))
def test_shares(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


def all_of(units: str | None, name: str = "req-0") -> Json:
    return wants(units, name, mode="All")


ALL_1 = claim("claim-0", all_of("1"))
BOTH_SHARED = fits(
    given(got("req-0", "p1/d1", consumed={"units": "1"}), got("req-0", "p1/d2", consumed={"units": "1"}))
)
TWO_SHARED = [pool("p1", shareable("d1", "2"), shareable("d2", "2"))]
ONLY_D2 = fits(given(got("req-0", "p1/d2", consumed={"units": "1"})))
PREFIX = "consumable-capacity-multi-allocatable-device-allocation-mode-all"

SHARES_OF_ALL: dict[str, Row] = {
    f"{PREFIX}-with-missing-capacity-request": row(
        world(TWO_SHARED, [claim("claim-0", request("req-0", mode="All", capacity={"gone": "1"}))]), NONE
    ),
    f"{PREFIX}-filter-out-no-capacity": row(
        world([pool("p1", shareable("d1"), shareable("d2", "2"))], [ALL_1]),
        fits(given(got("req-0", "p1/d2", consumed={"units": "1"}))),
    ),
    f"{PREFIX}-filter-out-insufficient-capacity": row(
        world([pool("p1", shareable("d1", "1"), shareable("d2", "2"))], [claim("claim-0", all_of("2"))]),
        fits(given(got("req-0", "p1/d2", consumed={"units": "2"}))),
    ),
    f"{PREFIX}-allocating-sufficient": row(
        world(TWO_SHARED, [claim("claim-0", wants("1", "req-1"), all_of("1"))]),
        fits(
            given(
                got("req-1", "p1/d1", consumed={"units": "1"}),
                got("req-0", "p1/d1", consumed={"units": "1"}),
                got("req-0", "p1/d2", consumed={"units": "1"}),
            )
        ),
    ),
    f"{PREFIX}-in-use-sufficient": row(
        world(TWO_SHARED, [ALL_1], held=[held_share("p1/d1", "1", {"units": "1"})]), BOTH_SHARED
    ),
    f"{PREFIX}-allocating-insufficient": row(
        world(TWO_SHARED, [claim("claim-0", wants("2", "req-1"), all_of("1"))]), NONE
    ),
    # kubernetes/kubernetes#140431: 1.36 leaves out what is full.
    f"{PREFIX}-in-use-insufficient": row(
        world(TWO_SHARED, [ALL_1], held=[held_share("p1/d1", "1", {"units": "2"})]),
        NONE,
        at={"1.36 as released": ONLY_D2, "1.35 as released": ONLY_D2},
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(SHARES_OF_ALL))
def test_shares_of_all_devices(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


def counted(world: World, answer: Json, *, at: Mapping[str, Json] | None = None) -> Row:
    """A row about counters in a slice of their own, which 1.34 never looks for."""
    return row(world, answer, at=at, since="1.35")


def shareable_partition(name: str, units: str, memory: str, kind: str = "shared") -> Json:
    return shareable(name, units, attributes={"kind": kind}, uses={"set": {"memory": memory}})


def with_counters(*devices: Json, memory: str = "1") -> list[Json]:
    return [pool("p1", *devices, part=1, of=2), pool("p1", counters={"set": {"memory": memory}}, part=2, of=2)]


def of_kind(name: str, *kinds: str) -> Json:
    return request(name, where=[" || ".join(equals("kind", kind) for kind in kinds)])


TAKES = {"set": {"memory": "1"}}
ALL_X = wants("2", "sub-0", mode="All", where=[equals("kind", "x")])
RED, BLUE = {"color": "red"}, {"color": "blue"}

SHARES_AND_COUNTERS: dict[str, Row] = {
    # d2 would take more than d1 leaves, and a second share of d1 takes nothing more of the counters.
    "consumable-capacity-with-partitionable-device-multiple-capacity-pools": counted(
        world(
            with_counters(
                shareable("d1", amount("2", "1", values=["1", "2"]), uses={"set": {"memory": "4"}}),
                shareable("d2", amount("6", "1", values=["1", "6"]), uses={"set": {"memory": "6"}}),
                shareable("d3", amount("2", "2", values=["2"]), uses={"set": {"memory": "4"}}),
                memory="8",
            ),
            [
                claim(
                    "claim-0",
                    wants("1"),
                    wants("2", "req-1"),
                    first_of("req-2", wants("6", "sub-0"), wants("1", "sub-1")),
                )
            ],
        ),
        fits(
            given(
                got("req-0", "p1/d1", consumed={"units": "1"}),
                got("req-1", "p1/d3", consumed={"units": "2"}),
                got("req-2/sub-1", "p1/d1", consumed={"units": "1"}),
            )
        ),
    ),
    "allow-multiple-allocations-with-partitionable-device": counted(
        world(
            with_counters(*(shareable_partition(f"d{at}", size, size) for at, size in enumerate("464", 1)), memory="8"),
            [claim("claim-0", wants("4"), first_of("req-1", wants("6", "sub-0"), wants("4", "sub-1")))],
        ),
        fits(
            given(
                got("req-0", "p1/d1", consumed={"units": "4"}),
                got("req-1/sub-1", "p1/d3", consumed={"units": "4"}),
            )
        ),
    ),
    "allow-multiple-allocations-with-shared-device-counter-cross-cycle": counted(
        world(
            with_counters(
                shareable_partition("d1", "2", "1", "held"), shareable_partition("d2", "2", "1", "wanted"), memory="1"
            ),
            [claim("claim-0", of_kind("req-0", "wanted"))],
            held=[held_share("p1/d1", "1", {"units": "1"})],
        ),
        NONE,
        # kubernetes/kubernetes#139034: until 1.35 shares that are held were forgotten.
        at={"1.35 as released": each_gets(("p1/d2", "2"))},
    ),
    # kubernetes/kubernetes#140433: until 1.36 this share was charged a second time, as nothing says what it consumes.
    "partitionable-consumable-capacity-shared-device-counter-not-recharged": counted(
        world(
            with_counters(device("d1", shared=True, uses=TAKES)),
            claims(None),
            held=[held_share("p1/d1", "1")],
        ),
        each_gets((D1, None)),
        at={"1.36 as released": NONE},
    ),
    # kubernetes/kubernetes#140431: taking a share back gives the counters back, but not those of another share.
    "partitionable-consumable-capacity-backtrack-releases-counter": counted(
        world(
            with_counters(
                device("d1", {"kind": "x"}, shared=True, uses=TAKES),
                device("d2", {"kind": "x"}),
                device("d3", {"kind": "y"}, uses=TAKES),
            ),
            [claim("claim-0", of_kind("req-0", "x"), of_kind("req-1", "y"))],
        ),
        fits(given("req-0 p1/d2", "req-1 p1/d3")),
    ),
    "partitionable-empty-capacity-multiple-share-backtrack-keeps-counter-ownership": counted(
        world(
            with_counters(
                device("d1", {"kind": "x", **RED}, shared=True, uses=TAKES),
                device("d2", {"kind": "y", **BLUE}),
                device("d3", {"kind": "z", **BLUE}),
            ),
            [
                claim("claim-0", of_kind("req-0", "x")),
                claim(
                    "claim-1",
                    of_kind("req-1", "x", "y"),
                    of_kind("req-2", "z"),
                    of_kind("req-3", "x"),
                    constraints=[match("color", "req-1", "req-2")],
                ),
            ],
        ),
        fits(
            given(got("req-0", D1, consumed={})),
            given("req-1 p1/d2", "req-2 p1/d3", got("req-3", D1, consumed={})),
        ),
    ),
    # d1 is full by then, and isn't remembered as one that others must match.
    "consumable-capacity-rejection-rolls-back-constraints": row(
        world(
            [pool("p1", shareable("d1", "2", attributes={"kind": "x"}), device("d2", {"kind": "y"}))],
            [
                claim("claim-0", wants("2", where=[equals("kind", "x")])),
                claim(
                    "claim-1",
                    first_of(
                        "req-0", wants("2", "sub-0", mode="All", where=[equals("kind", "x")]), of_kind("sub-1", "y")
                    ),
                    constraints=[match("kind")],
                ),
            ],
        ),
        fits(given(got("req-0", D1, consumed={"units": "2"})), given("req-0/sub-1 p1/d2")),
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(SHARES_AND_COUNTERS))
def test_shares_and_counters(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)
