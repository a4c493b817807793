"""Amounts of capacity: fractions, numbers that don't fit, and the rules that requests are rounded by."""

from __future__ import annotations

import pytest
from case_values import Json
from catalogue_run import answer_row, list_runs
from catalogue_world import (
    Row,
    amount,
    claim,
    device,
    fails,
    fits,
    given,
    got,
    pool,
    request,
    row,
    world,
)

from poolwright.allocation.capacity import CapacityError, find_consumed, has_room
from poolwright.allocation.features import Features
from poolwright.catalog.resource_slice import CapacityOnDevice, Device, RequestPolicy, ValidRange
from poolwright.specs.quantity import Quantity, parse_quantity

START = "claim ns/claim-0, request req-0: checking capacity for device"
NEGATIVE = 'capacity "units": capacity value is negative'
LIMIT = 2**63 - 1


def shareable(name: str, units: str | Json) -> Json:
    return device(name, capacity={"units": units}, shared=True)


def wants(units: str, mode: str = "ExactCount") -> list[Json]:
    return [claim("claim-0", request("req-0", capacity={"units": units}, mode=mode))]


def takes(units: str) -> Json:
    return fits(given(got("req-0", "p1/d1", consumed={"units": units})))


def as_released(answer: Json) -> dict[str, Json]:
    """Until 1.36 releases take amounts as they are."""
    return {f"{minor} as released": answer for minor in ("1.34", "1.35", "1.36")}


STEPS_OF_2 = amount("4", "2", min="2", max="4", step="2")
TENTHS = amount("1", "200m", min="200m", step="100m")
FRACTIONS = "fractional_capacity_range"
UNFIT = (
    f'{START} driver-a/p1/d1: capacity "units": capacity request cannot be represented in the device\'s range '
    "arithmetic"
)
TOO_LARGE = f"{UNFIT}: request 18446744073709551616 exceeds MaxInt64"
ROUNDS_TOO_FAR = f"{UNFIT}: rounding request {LIMIT} up to the next step passes MaxInt64"
FINER = f"{UNFIT}: request 1500u is not a representable milli value"
WRAPS = ["1.36 as released"]  # its numbers of 64 bits start again below zero, ours never do
WITHOUT_STEP = shareable("d2", "36893488147419103232")

AMOUNTS: dict[str, Row] = {
    "consumable-capacity-fractional-range-gate-disabled": row(
        world([pool("p1", shareable("d1", TENTHS))], wants("200m"), off=[FRACTIONS]), takes("1")
    ),
    "consumable-capacity-fractional-range-gate-enabled-round-up": row(
        world([pool("p1", shareable("d1", TENTHS))], wants("250m")), takes("300m"), at={"1.36": takes("1")}
    ),
    "rounded-to-the-next-step-of-a-million": row(
        world([pool("p1", shareable("d1", amount("10M", "1M", min="1M", step="1M")))], wants("1500k")), takes("2M")
    ),
    "consumable-capacity-requests-are-not-modified": row(
        world(
            [pool("p1", shareable("d1", amount("1000000000000000000003", "1000000000000000000001", min="2")))],
            [
                claim(
                    "claim-0",
                    request("req-0", capacity={"units": "2"}),
                    request("req-1", capacity={"units": "1000000000000000000001"}),
                )
            ],
        ),
        fits(
            given(
                got("req-0", "p1/d1", consumed={"units": "2"}),
                got("req-1", "p1/d1", consumed={"units": "1000000000000000000001"}),
            )
        ),
        unlike=["1.36 as released"],  # it adds up what doesn't fit into 64 bits in the request itself
    ),
    # kubernetes/kubernetes#140468 and #140441: what can't be counted with ends the attempt.
    "consumable-capacity-negative-request-aborts": row(
        world([pool("p1", shareable("d1", "10"))], wants("-5")),
        fails(f"{START} driver-a/p1/d1: {NEGATIVE}"),
        at=as_released(takes("-5")),
    ),
    "consumable-capacity-fractional-range-request-below-the-minimum": row(
        world([pool("p1", shareable("d1", TENTHS))], wants("1500u")), takes("200m")
    ),
    "consumable-capacity-fractional-range-request-between-thousandths": row(
        world([pool("p1", shareable("d1", amount("1", "1m", min="1m", step="1m")))], wants("1500u")),
        fails(FINER),
        at={"1.36": takes("1")},
    ),
    # A device of less than nothing, too, if all of it is taken.
    "consumable-capacity-negative-device-aborts": row(
        world([pool("p1", shareable("d1", "-1"))], [claim("claim-0", request("req-0"))]),
        fails(f"{START} driver-a/p1/d1: {NEGATIVE}"),
        at=as_released(takes("-1")),
    ),
    "consumable-capacity-range-policy-request-above-int64-rejected": row(
        world([pool("p1", shareable("d1", STEPS_OF_2))], wants("18446744073709551616"), off=[FRACTIONS]),
        fails(TOO_LARGE),
        unlike=WRAPS,
    ),
    "consumable-capacity-range-policy-rounded-value-overflow-rejected": row(
        world([pool("p1", shareable("d1", STEPS_OF_2))], wants(str(LIMIT)), off=[FRACTIONS]),
        fails(ROUNDS_TOO_FAR),
        unlike=WRAPS,
    ),
    "consumable-capacity-range-policy-overflow-aborts-not-skip": row(
        world([pool("p1", shareable("d1", STEPS_OF_2), WITHOUT_STEP)], wants("18446744073709551616"), off=[FRACTIONS]),
        fails(TOO_LARGE),
        unlike=WRAPS,
    ),
    "consumable-capacity-range-policy-allocation-mode-all-overflow-aborts": row(
        world([pool("p1", shareable("d1", STEPS_OF_2))], wants("18446744073709551616", "All"), off=[FRACTIONS]),
        fails(TOO_LARGE),
        unlike=WRAPS,
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(AMOUNTS))
def test_amounts(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


def q(text: str) -> Quantity:
    return parse_quantity(text)


def ranged(
    least: str, step: str | None = None, most: str | None = None, *, default: str | None = None
) -> RequestPolicy:
    bounds = ValidRange(min=q(least), step=None if step is None else q(step), max=None if most is None else q(most))
    return RequestPolicy(default=None if default is None else q(default), valid_range=bounds)


def listed(default: str, *values: str) -> RequestPolicy:
    return RequestPolicy(default=q(default), valid_values=tuple(map(q, values)))


def with_capacity(**capacity: tuple[str, RequestPolicy | None]) -> Device:
    published = {
        ("driver-a", name): CapacityOnDevice(name=name, value=q(value), request_policy=policy)
        for name, (value, policy) in capacity.items()
    }
    return Device(driver="driver-a", pool="p1", name="d1", capacity=published, allow_multiple_allocations=True)


V37 = Features(minor="1.37", consumable_capacity=True, fractional_capacity_range=True)
WHOLE = Features(minor="1.37", consumable_capacity=True)

# What is asked for (None: nothing), the device's policy, and what that comes to (None: the device can't serve it).
CONSUMED: dict[str, tuple[str | None, RequestPolicy | None, str | None]] = {
    "nothing-asked-no-policy-takes-all": (None, None, "10"),
    "nothing-asked-takes-the-default": (None, ranged("1", default="3"), "3"),
    "asked-no-policy-is-taken-as-it-is": ("7", None, "7"),
    "asked-more-than-there-is": ("11", None, None),
    "less-than-min-is-min": ("1", ranged("2"), "2"),
    "no-step-is-taken-as-it-is": ("3", ranged("2"), "3"),
    "between-steps-is-the-next-one": ("2", ranged("1", "2"), "3"),
    "on-a-step-is-left-alone": ("3", ranged("1", "2"), "3"),
    "more-than-max": ("5", ranged("1", None, "4"), None),
    "rounded-to-more-than-max": ("4", ranged("1", "2", "4"), None),
    "next-valid-value": ("2", listed("1", "1", "3"), "3"),
    "a-valid-value": ("3", listed("1", "1", "3"), "3"),
    "more-than-every-valid-value": ("4", listed("1", "1", "3"), None),
    # Even where rules would have it otherwise.
    "the-default-is-always-right": ("5", ranged("1", "2", "4", default="5"), "5"),
    "fractions-of-a-step": ("250m", ranged("200m", "100m"), "300m"),
}


@pytest.mark.parametrize(("asked", "policy", "consumed"), CONSUMED.values(), ids=CONSUMED)
def test_what_a_request_comes_to(asked: str | None, policy: RequestPolicy | None, consumed: str | None) -> None:
    requested = None if asked is None else {"units": q(asked)}
    found = find_consumed(requested, with_capacity(units=("10", policy)), V37)
    assert found == (None if consumed is None else {"units": q(consumed)})


# With the gate on, thousandths are counted only if every bound is a whole number of them.
UNITS: dict[str, tuple[RequestPolicy, Features, str]] = {
    "thousandths": (ranged("1m", "1m"), V37, "2m"),
    "without-the-gate-each-number-is-rounded-up": (ranged("1m", "1m"), WHOLE, "1"),
    "a-bound-is-finer": (ranged("1100u", "1m"), V37, "1"),
    "the-step-is-finer": (ranged("1m", "100u"), V37, "1"),
    "whole-numbers-are-thousandths-too": (ranged("0", "1"), V37, "1"),
}


@pytest.mark.parametrize(("policy", "features", "consumed"), UNITS.values(), ids=UNITS)
def test_unit_of_a_range(policy: RequestPolicy, features: Features, consumed: str) -> None:
    found = find_consumed({"units": q("2m")}, with_capacity(units=("10", policy)), features)
    assert found == {"units": q(consumed)}


# An amount that can't be counted with ends the attempt, whatever else stands against the device and in which order.
@pytest.mark.parametrize("names", [("bad", "small"), ("small", "bad")])
def test_fatal_beats_soft(names: tuple[str, str]) -> None:
    capacity = {"bad": ("10", None), "small": ("1", None)}
    device = with_capacity(**{name: capacity[name] for name in names})
    with pytest.raises(CapacityError, match=r'^capacity "bad": capacity value is negative$'):
        find_consumed({"bad": q("-1"), "small": q("2")}, device, V37)


# Upstream names whichever it comes upon; here it is the first by name.
@pytest.mark.parametrize("names", [("bad", "worse"), ("worse", "bad")])
def test_first_of_two_errors(names: tuple[str, str]) -> None:
    device = with_capacity(**dict.fromkeys(names, ("10", None)))
    with pytest.raises(CapacityError, match=r'^capacity "bad": capacity value is negative$'):
        find_consumed({"bad": q("-1"), "worse": q("-2")}, device, V37)


ROOM: dict[str, tuple[tuple[dict[str, int], ...], bool]] = {
    "nothing-taken": ((), True),
    "all-that-is-left": (({"units": 4},), True),
    "of-two-takers": (({"units": 2}, {"units": 2}), True),
    "one-too-many": (({"units": 2}, {"units": 3}), False),
    "something-else-is-taken": (({"other": 100},), True),
}


@pytest.mark.parametrize(("taken", "has"), ROOM.values(), ids=ROOM)
def test_room_beside_what_is_taken(taken: tuple[dict[str, int], ...], has: bool) -> None:
    amounts = [{name: amount * 10**9 for name, amount in one.items()} for one in taken]
    assert has_room(with_capacity(units=("10", None)), {"units": q("6")}, *amounts) is has
