"""How far the search goes, compatibility groups, and operations that a node may leave out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from case_values import Json
from catalogue_run import allocate, answer_row, list_runs
from catalogue_world import (
    NONE,
    Row,
    claim,
    device,
    devices,
    equals,
    first_of,
    fits,
    given,
    got,
    held,
    node,
    pool,
    request,
    row,
    taint,
    world,
)

from poolwright.allocation.outcome import Allocated, GaveUp

FIVE = [claim("claim-0", request("req-0", count=5))]
D1, D2, D3, D4 = devices("d", 4)
X, Y, Z = (device(f"d{at}", {"kind": kind}) for at, kind in enumerate(("x", "y", "y"), 1))
WANTS_X = [equals("kind", "x")]
TWO_AND_X = [claim("claim-0", request("req-1", count=2), request("req-2", where=WANTS_X))]
NEEDS_READY = ("driver-a/ready",)
FULL = 32
HUGE = 2**63 - 1


def numbered(name: str, numbers: Sequence[int]) -> list[str]:
    return [f"{name} p1/d{number}" for number in numbers]


SEARCH: dict[str, Row] = {
    # Of four devices there are 16 choices, however they are spread; devices are only looked for behind the last one.
    "check-combinations-within-single-request-single-pool-single-slice": row(
        world([pool("p1", D1, D2, D3, D4)], FIVE), NONE, steps=16
    ),
    "check-combinations-within-single-request-single-pool-multiple-slices": row(
        world([pool("p1", D1, D2, part=1, of=2), pool("p1", D3, D4, part=2, of=2)], FIVE), NONE, steps=16
    ),
    "check-combinations-within-single-request-multiple-pools-multiple-slices": row(
        world([pool("p1", D1, part=1, of=2), pool("p1", D2, part=2, of=2), pool("p2", D3, D4)], FIVE), NONE, steps=16
    ),
    "check-combinations-within-single-request-many-pools": row(
        world([pool(f"p{at}", one) for at, one in enumerate((D1, D2, D3, D4), 1)], FIVE), NONE, steps=16
    ),
    "check-combinations-with-backtracking": row(
        world([pool("p1", X, Y, Z)], TWO_AND_X), fits(given("req-1 p1/d2", "req-1 p1/d3", "req-2 p1/d1")), steps=12
    ),
    "check-combinations-with-backtracking-across-slices-and-pools": row(
        world(
            [
                pool("p1", X, part=1, of=2),
                pool("p1", Y, part=2, of=2),
                pool("p2", {**Z, "bindingConditions": list(NEEDS_READY)}),
            ],
            TWO_AND_X,
        ),
        fits(given("req-1 p1/d2", got("req-1", "p2/d3", binding=NEEDS_READY), "req-2 p1/d1")),
        steps=12,
    ),
    "check-combinations-with-prioritized-list": row(
        world(
            [pool("p1", X, Y, Z)],
            [
                claim(
                    "claim-0",
                    first_of(
                        "req-1", request("sub-0", count=3, where=[equals("kind", "y")]), request("sub-1", count=2)
                    ),
                    first_of("req-2", request("sub-0", count=2), request("sub-1", where=WANTS_X)),
                )
            ],
        ),
        fits(given("req-1/sub-1 p1/d2", "req-1/sub-1 p1/d3", "req-2/sub-1 p1/d1")),
        steps=26,
    ),
    # What a claim can't hold isn't looked for: 32 and 16 devices fail at once, and so do 16 and 32.
    "prioritized-list-max-allocation-limit-request": row(
        world(
            [pool("p1", *devices("d", 2 * FULL))],
            [
                claim(
                    "claim-0",
                    *(
                        first_of(name, request("sub-0", count=FULL), request("sub-1", count=FULL // 2))
                        for name in ("req-0", "req-1")
                    ),
                )
            ],
        ),
        fits(given(*numbered("req-0/sub-1", range(1, 17)), *numbered("req-1/sub-1", range(17, 33)))),
        steps=75,
    ),
    "prioritized-list-max-allocation-allocation-mode-all": row(
        world(
            [pool("p1", *devices("d", FULL - 1)), pool("p2", D1, D2, driver="driver-b")],
            [
                claim(
                    "claim-0",
                    first_of("req-0", request("sub-0", mode="All"), request("sub-1", count=2)),
                    request("req-1", "b", 2),
                )
            ],
        ),
        fits(given(*numbered("req-0/sub-1", (1, 2)), "req-1 driver-b/p2/d1", "req-1 driver-b/p2/d2")),
        steps=42,
    ),
    "prioritized-list-overflowing-first-subrequest-is-pruned": row(
        world(
            [pool("p1", D1, D2)],
            [claim("claim-0", request("req-0"), first_of("req-1", request("sub-0", count=HUGE), request("sub-1")))],
        ),
        fits(given("req-0 p1/d1", "req-1/sub-1 p1/d2")),
        steps=8,
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(SEARCH))
def test_search(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


# Upstream has a deadline; ours is a number of candidates, so that it is the same one everywhere. By upstream's names:
# the bound, and how many calls had been made by then; None: it isn't reached.
INTERRUPT = {"off": (4, None), "timeout": (1, 2), "deadline": (2, 3), "cancel": (3, 4)}


@pytest.mark.parametrize(("max_looks", "steps"), INTERRUPT.values(), ids=INTERRUPT)
def test_interrupt(max_looks: int, steps: int | None) -> None:
    case = world([pool("p1", D1, D2, D3, D4)], [claim("claim-0", request("req-0", count=4))]).build_case("1.37")
    outcome = allocate(case, max_looks=max_looks)
    if steps is None:
        assert isinstance(outcome, Allocated)
    else:
        assert outcome == GaveUp(steps=steps, looked_at=max_looks)


GROUPS = "compatibility_groups"


def part(name: str, *groups: str, sets: Sequence[str] = ("set-1",), **said: object) -> Json:
    """A device that takes from counter sets, and that shares them with devices of these groups only."""
    uses = {counter_set: {"slots": "1"} for counter_set in sets}
    return device(name, uses=uses, groups=groups, **said)  # type: ignore[arg-type]


def grouped(*parts: Json, name: str = "p1") -> list[Json]:
    """A pool of two slices, with counters for four devices in each of two sets."""
    sets = {"set-1": {"slots": "4"}, "set-2": {"slots": "4"}}
    return [pool(name, *parts, part=1, of=2), pool(name, counters=sets, part=2, of=2)]


ONE, OTHER = claim("claim-0", request("req-0")), claim("claim-1", request("req-0"))
TWO = claim("claim-0", request("req-0"), request("req-1"))
MIG_MIG = grouped(part("d1", "mig"), part("d2", "mig"))
MIG_VGPU = grouped(part("d1", "mig"), part("d2", "vgpu"))
BOTH = fits(given("req-0 p1/d1", "req-1 p1/d2"))

COMPATIBILITY: dict[str, Row] = {
    "compatibility-groups-compatible": row(world(MIG_MIG, [TWO], on=[GROUPS]), BOTH),
    "compatibility-groups-incompatible": row(world(MIG_VGPU, [TWO], on=[GROUPS]), NONE),
    "compatibility-groups-compatible-with-allocated-peer": row(
        world(MIG_MIG, [ONE], held=[held("p1/d1")], on=[GROUPS]), fits(given("req-0 p1/d2"))
    ),
    "compatibility-groups-incompatible-with-allocated-peer": row(
        world(MIG_VGPU, [ONE], held=[held("p1/d1")], on=[GROUPS]), NONE
    ),
    "compatibility-groups-multiple-claims": row(
        world(MIG_MIG, [ONE, OTHER], on=[GROUPS]), fits(given("req-0 p1/d1"), given("req-0 p1/d2"))
    ),
    "compatibility-groups-multiple-claims-incompatible": row(world(MIG_VGPU, [ONE, OTHER], on=[GROUPS]), NONE),
    # Each set has groups of its own.
    "compatibility-groups-multiple-counter-sets": row(
        world(grouped(part("d1", "mig"), part("d2", "vgpu", sets=["set-2"])), [TWO], on=[GROUPS]), BOTH
    ),
    "compatibility-groups-multiple-counter-sets-spanning-device": row(
        world(grouped(part("d1", "mig"), part("d2", "vgpu", sets=["set-1", "set-2"])), [TWO], on=[GROUPS]), NONE
    ),
    # What is common to all narrows down: d1 and d2 leave only "y", which d3 doesn't name.
    "compatibility-groups-narrow-down": row(
        world(
            grouped(part("d1", "x", "y"), part("d2", "y", "z"), part("d3", "x", "z"), part("d4", "y")),
            [claim("claim-0", request("req-0", count=3))],
            on=[GROUPS],
        ),
        fits(given("req-0 p1/d1", "req-0 p1/d2", "req-0 p1/d4")),
    ),
    "compatibility-groups-never-with-ungrouped": row(
        world(grouped(part("d1", "mig"), part("d2")), [TWO], on=[GROUPS]), NONE
    ),
    "compatibility-groups-ungrouped-among-themselves": row(
        world(grouped(part("d1"), part("d2")), [TWO], on=[GROUPS]), BOTH
    ),
    "compatibility-groups-taint-rollback": row(
        world(
            grouped(part("d1", "mig", taints=[taint("soiled", "NoSchedule")]), part("d2", "vgpu")), [ONE], on=[GROUPS]
        ),
        fits(given("req-0 p1/d2")),
    ),
    "compatibility-groups-with-prioritized-list": row(
        world(
            grouped(part("d1", "mig"), part("d2", "mig"), part("d3", "vgpu")),
            [claim("claim-0", request("req-0"), first_of("req-1", request("sub-0", count=2), request("sub-1")))],
            on=[GROUPS],
        ),
        fits(given("req-0 p1/d1", "req-1/sub-1 p1/d2")),
    ),
    # d1 is full, d2 is of another group.
    "compatibility-groups-with-consumable-capacity": row(
        world(
            grouped(
                *(
                    part(f"d{at}", group, shared=True, capacity={"units": "1"})
                    for at, group in enumerate(("mig", "vgpu", "mig"), 1)
                )
            ),
            [
                claim(
                    "claim-0",
                    request("req-0", capacity={"units": "1"}),
                    request("req-1", capacity={"units": "1"}),
                )
            ],
            on=[GROUPS],
        ),
        fits(
            given(
                got("req-0", "p1/d1", consumed={"units": "1"}),
                got("req-1", "p1/d3", consumed={"units": "1"}),
            )
        ),
    ),
    # Without the gate a slice that has groups is as if it weren't there, and its pool stays incomplete.
    "compatibility-groups-disabled-skips-grouped-pool": row(
        world([*grouped(part("d1", "mig")), *grouped(part("d2"), name="p2")], [ONE]),
        fits(given("req-0 p2/d2")),
        since="1.37",  # whose API has no groups
    ),
    "compatibility-groups-disabled-skips-ungrouped-device-in-grouped-pool": row(
        world(
            [
                pool("p1", part("d1", "mig"), part=1, of=3),
                pool("p1", part("d2"), part=2, of=3),
                pool("p1", counters={"set-1": {"slots": "4"}}, part=3, of=3),
            ],
            [ONE],
        ),
        NONE,
        since="1.37",
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(COMPATIBILITY))
def test_compatibility_groups(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


OPERATIONS = "optional_node_operations"
SKIPS = [pool("p1", D1, skips=["*"])]
ABLE = node("n1", "DRAOptionalNodeOperations")

NODE_OPERATIONS: dict[str, Row] = {
    "optional-node-operations": row(
        world(SKIPS, [ONE], node=ABLE, on=[OPERATIONS]), fits(given(got("req-0", "p1/d1", skips=["*"])))
    ),
    "optional-node-operations-missing-feature": row(world(SKIPS, [ONE], on=[OPERATIONS]), NONE),
    # The implementation that runs by default has never heard of them, unlike the one that runs with other alpha gates.
    "optional-node-operations-disabled": row(world(SKIPS, [ONE], node=ABLE), fits(given("req-0 p1/d1")), since="1.37"),
    "optional-node-operations-disabled-beside-another-alpha-gate": row(
        world(SKIPS, [ONE], node=ABLE, on=[GROUPS]), NONE
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(NODE_OPERATIONS))
def test_node_operations(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)
