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

START = "claim ns/claim-0, request req-0: checking capacity for device"
NEGATIVE = 'capacity "units": capacity value is negative'
LIMIT = 2**63 - 1


def shareable(name: str, units: str | Json) -> Json:
    return device(name, capacity={"units": units}, shared=True)


def wants(units: str, mode: str = "ExactCount") -> list[Json]:
    return [claim("claim-0", request("req-0", capacity={"units": units}, mode=mode))]


def takes(units: str) -> Json:
    return fits(given(got("req-0", "p1/d1", consumed={"units": units})))


def at_136(answer: Json) -> dict[str, Json]:
    return {"1.36": answer, "1.36 as released": answer}


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
        world([pool("p1", shareable("d1", TENTHS))], wants("250m")), takes("300m"), at=at_136(takes("1"))
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
        at={"1.36 as released": takes("-5")},
    ),
    "consumable-capacity-fractional-range-request-below-the-minimum": row(
        world([pool("p1", shareable("d1", TENTHS))], wants("1500u")), takes("200m")
    ),
    "consumable-capacity-fractional-range-request-between-thousandths": row(
        world([pool("p1", shareable("d1", amount("1", "1m", min="1m", step="1m")))], wants("1500u")),
        fails(FINER),
        at=at_136(takes("1")),
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
