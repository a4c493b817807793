"""What devices take of their pool's counters, taints, and binding conditions."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from case_values import Json
from catalogue_run import answer_row, list_runs
from catalogue_world import (
    INVALID_POOLS,
    NONE,
    PER_DEVICE,
    Row,
    World,
    at_least,
    claim,
    device,
    equals,
    fails,
    first_of,
    fits,
    given,
    got,
    held,
    match,
    named,
    node,
    pool,
    request,
    row,
    taint,
    tolerate,
    world,
)

Counters = Mapping[str, Mapping[str, str]]
ONE, TWO = claim("claim-0", request("req-0")), claim("claim-0", request("req-0"), request("req-1"))
MEMORY_8: Counters = {"set": {"memory": "8Gi"}}


def counted(world: World, answer: Json) -> Row:
    """A row about counters in a slice of their own, which 1.34 never looks for."""
    return row(world, answer, since="1.35")


def uses(memory: str, counter_set: str = "set") -> Counters:
    return {counter_set: {"memory": memory}}


def partition(name: str, memory: str, **said: object) -> Json:
    """A device of this much memory, which it takes from the pool's."""
    return device(name, capacity={"memory": memory}, uses=uses(memory), **said)  # type: ignore[arg-type]


def partitioned(name: str, counters: Counters, *devices: Json, driver: str = "driver-a") -> list[Json]:
    """A pool of two slices: its devices, and its counters."""
    return [
        pool(name, *devices, part=1, of=2, driver=driver),
        pool(name, counters=counters, part=2, of=2, driver=driver),
    ]


def of_size(name: str, least: str) -> Json:
    return request(name, where=[at_least("memory", least)])


def one_then(*alternatives: Json) -> Json:
    return claim("claim-0", request("req-0"), first_of("req-1", *alternatives))


def split_over(first: str, second: str, *, counters_on: str) -> list[Json]:
    """A pool of three slices: 6Gi on one node, 2Gi on the other, and 8Gi to take them from."""
    return [
        pool("p1", partition("d1", "6Gi"), on=first, part=1, of=3),
        pool("p1", partition("d2", "2Gi"), on=second, part=2, of=3),
        pool("p1", counters=MEMORY_8, on=counters_on, part=3, of=3),
    ]


FOUR_SIX_FOUR = (partition("d1", "4Gi"), partition("d2", "6Gi"), partition("d3", "4Gi"))
THREE_SMALL = (partition("d1", "2Gi"), partition("d2", "2Gi"), partition("d3", "2Gi"))
FOUR_OR_TWO = claim("claim-0", first_of("req-0", of_size("sub-0", "4Gi"), of_size("sub-1", "2Gi")))
TWO_SETS: Counters = {"set": {"memory": "18Gi"}, "cpus": {"cpus": "8"}}


def with_cpus(name: str, memory: str, cpus: str) -> Json:
    taken = {"set": {"memory": memory}, "cpus": {"cpus": cpus}}
    return device(name, capacity={"memory": memory}, uses=taken)


NEEDS_2_CPUS = device("d2", uses={"cpus": {"cpus": "2"}})

PARTITIONS: dict[str, Row] = {
    "partitionable-devices-single-device": counted(
        world(partitioned("p1", MEMORY_8, partition("d1", "4Gi")), [ONE]), fits(given("req-0 p1/d1"))
    ),
    "partitionable-devices-multiple-devices": counted(
        world(partitioned("p1", MEMORY_8, *FOUR_SIX_FOUR), [TWO]), fits(given("req-0 p1/d1", "req-1 p1/d3"))
    ),
    "partitionable-devices-prioritized-list": counted(
        world(
            partitioned("p1", MEMORY_8, *FOUR_SIX_FOUR), [one_then(of_size("sub-0", "6Gi"), of_size("sub-1", "4Gi"))]
        ),
        fits(given("req-0 p1/d1", "req-1/sub-1 p1/d3")),
    ),
    # There is memory for d1 and d2, but not cpus.
    "partitionable-devices-multiple-capacity-pools": counted(
        world(
            partitioned(
                "p1", TWO_SETS, with_cpus("d1", "4Gi", "4"), with_cpus("d2", "6Gi", "6"), with_cpus("d3", "4Gi", "4")
            ),
            [one_then(of_size("sub-0", "6Gi"), of_size("sub-1", "4Gi"))],
        ),
        fits(given("req-0 p1/d1", "req-1/sub-1 p1/d3")),
    ),
    # d1 takes cpus of the one set, and memory of the other, so that there is nothing beside it.
    "partitionable-devices-multiple-counters": counted(
        world(
            partitioned(
                "p1",
                {"set-0": {"memory": "8Gi", "cpus": "4"}, "set-1": {"memory": "8Gi", "cpus": "4"}},
                device("d1", uses={"set-0": {"memory": "1Gi", "cpus": "3"}, "set-1": {"memory": "6Gi", "cpus": "1"}}),
                device("d2", uses={"set-0": {"memory": "1Gi", "cpus": "2"}}),
                device("d3", uses={"set-1": {"memory": "4Gi", "cpus": "1"}}),
            ),
            [TWO],
        ),
        fits(given("req-0 p1/d2", "req-1 p1/d3")),
    ),
    "partitionable-devices-multiple-pools": counted(
        world(
            [
                *partitioned("p1", MEMORY_8, *FOUR_SIX_FOUR),
                *partitioned("p2", MEMORY_8, *(partition(f"d{at}", "2Gi") for at in (1, 2, 3, 4))),
            ],
            [TWO],
            held=[held("p1/d1", "p1/d3"), held("p2/d1", "p2/d4")],
        ),
        fits(given("req-0 p2/d2", "req-1 p2/d3")),
    ),
    "partitionable-devices-unused-counters-in-counter-set": counted(
        world(partitioned("p1", {"set": {"memory": "8Gi", "unused": "1"}}, *THREE_SMALL), [TWO], held=[held("p1/d1")]),
        fits(given("req-0 p1/d2", "req-1 p1/d3")),
    ),
    "partitionable-devices-no-capacity-available": counted(
        world(
            partitioned("p1", {"set": {"memory": "18Gi"}}, partition("d1", "16Gi"), partition("d2", "4Gi")),
            [ONE],
            held=[held("p1/d1")],
        ),
        NONE,
    ),
    "partitionable-devices-overallocated-capacity-pool": counted(
        world(
            partitioned("p1", {"set": {"memory": "18Gi"}}, partition("d1", "20Gi"), partition("d2", "4Gi")),
            [ONE],
            held=[held("p1/d1")],
        ),
        NONE,
    ),
    "partitionable-devices-disabled-device-consumes-counters": row(
        world([pool("p1", partition("d1", "4Gi"))], [ONE], off=["partitionable_devices"]), NONE
    ),
    "partitionable-devices-disabled-other-device-do-not-consume-counters": row(
        world([pool("p1", partition("d1", "4Gi"), device("d2"))], [ONE], off=["partitionable_devices"]),
        fits(given("req-0 p1/d2")),
    ),
    "partitionable-devices-with-attribute-selector": counted(
        world(
            partitioned(
                "p1",
                {"set": {"memory": "12Gi"}},
                device("d1", {"kind": "special"}, uses=uses("4Gi")),
                device("d2", {"kind": "x"}, uses=uses("4Gi")),
                device("d3", {"kind": "x"}, uses=uses("4Gi")),
            ),
            [claim("claim-0", request("req-0", count=2), request("req-1", where=[equals("kind", "special")]))],
        ),
        fits(given("req-0 p1/d2", "req-0 p1/d3", "req-1 p1/d1")),
    ),
    "partitionable-devices-same-counter-set-name-in-different-resource-slices": counted(
        world(
            [
                pool("p1", partition("d1", "4Gi"), part=1, of=3),
                pool("p1", counters=MEMORY_8, part=2, of=3),
                pool("p1", counters=MEMORY_8, part=3, of=3),
            ],
            [ONE],
        ),
        INVALID_POOLS,
    ),
    "partitionable-devices-device-counter-consumption-references-unknown-counter-set": counted(
        world(partitioned("p1", MEMORY_8, device("d1", uses=uses("4Gi", "gone"))), [ONE]), INVALID_POOLS
    ),
    "partitionable-devices-device-counter-consumption-references-unknown-counter-in-counter-set": counted(
        world(partitioned("p1", MEMORY_8, device("d1", uses={"set": {"gone": "4Gi"}})), [ONE]), INVALID_POOLS
    ),
    "partitionable-devices-device-counter-consumption-references-counter-set-in-other-pool": counted(
        world([pool("p1", partition("d1", "4Gi")), pool("p2", counters=MEMORY_8)], [ONE]), INVALID_POOLS
    ),
    "partitionable-devices-validation-error-on-non-targeting-slice": counted(
        world(
            [
                pool("p1", partition("d1", "4Gi"), part=1, of=3),
                pool("p1", device("d2", uses=uses("4Gi", "gone")), on="n2", part=2, of=3),
                pool("p1", counters=MEMORY_8, part=3, of=3),
            ],
            [ONE],
        ),
        INVALID_POOLS,
    ),
    "partitionable-devices-devices-on-different-nodes-consume-same-counter-set": counted(
        world(
            [
                pool(
                    "p1",
                    partition("d1", "6Gi", on="n2"),
                    partition("d2", "4Gi", on="n1"),
                    partition("d3", "2Gi", on="n1"),
                    on=PER_DEVICE,
                    part=1,
                    of=2,
                ),
                pool("p1", counters=MEMORY_8, part=2, of=2),
            ],
            [FOUR_OR_TWO],
            held=[held("p1/d1")],
        ),
        fits(given("req-0/sub-1 p1/d3")),
    ),
    "partitionable-devices-devices-consume-counter-set-in-different-nodes": counted(
        world(split_over("n1", "n2", counters_on="n1"), [FOUR_OR_TWO], held=[held("p1/d1")], node=node("n2")),
        fits(given("req-0/sub-1 p1/d2", on=named("n2"))),
    ),
    "partitionable-devices-counter-quantities-are-not-modified": counted(
        world(
            partitioned("p1", {"set": {"memory": "10E"}}, partition("d1", "9E"), partition("d2", "1")),
            [ONE],
            held=[held("p1/d1")],
        ),
        fits(given("req-0 p1/d2")),
    ),
    # kubernetes/kubernetes#140435: until 1.35 two drivers' pools of one name had one set of counters.
    "partitionable-devices-counter-cache-scoped-by-pool-ID": counted(
        world(
            [
                *partitioned("p1", {"set": {"memory": "1Gi"}}, device("d1", uses=uses("1Gi"))),
                *partitioned("p1", {"set": {"memory": "2Gi"}}, device("d2", uses=uses("2Gi")), driver="driver-b"),
            ],
            [ONE, claim("claim-1", request("req-1", "b"))],
        ),
        fits(given("req-0 p1/d1"), given("req-1 driver-b/p1/d2")),
    ),
    "partitionable-devices-counter-cache-not-crossed-between-driver-schemas": counted(
        world(
            [
                *partitioned("p1", {"set": {"memory": "1Gi"}}, device("d1", uses=uses("1Gi"))),
                *partitioned("p1", {"cpus": {"cpus": "1"}}, NEEDS_2_CPUS, driver="driver-b"),
            ],
            [ONE, claim("claim-1", request("req-1", "b"))],
        ),
        NONE,
    ),
    # kubernetes/kubernetes#140431: a device that is turned down takes nothing.
    "partitionable-devices-taint-releases-counter": counted(
        world(
            partitioned(
                "p1",
                {"set": {"memory": "1Gi"}},
                partition("d1", "1Gi", taints=[taint("soiled", "NoSchedule")]),
                partition("d2", "1Gi"),
            ),
            [ONE],
        ),
        fits(given("req-0 p1/d2")),
    ),
    "partitionable-devices-constraint-releases-counter": counted(
        world(
            partitioned(
                "p1",
                {"set": {"memory": "2Gi"}},
                device("d1", {"color": "red"}, uses=uses("1Gi")),
                device("d2", {"color": "blue"}, uses=uses("1Gi")),
                device("d3", {"color": "blue"}, uses=uses("1Gi")),
            ),
            [claim("claim-0", request("req-0", count=2), constraints=[match("color")])],
        ),
        fits(given("req-0 p1/d2", "req-0 p1/d3")),
    ),
    "partitionable-all-mode-constraint-must-error-with-reserved-counter": row(
        world(
            partitioned("p1", MEMORY_8, device("d1", {"numa": 1}), device("d2", {"numa": 2}, uses=uses("8Gi"))),
            [claim("claim-0", request("req-0", mode="All"), constraints=[match("numa")])],
        ),
        fails(
            "claim ns/claim-0, request req-0: cannot add device driver-a/p1/d2 because a claim constraint would not "
            "be satisfied"
        ),
    ),
    # Until 1.34 they stand in the slice of the devices, and nowhere else.
    "partitionable-devices-counters-in-the-slice-of-the-devices": row(
        world([pool("p1", *FOUR_SIX_FOUR, counters=MEMORY_8)], [TWO]),
        NONE,
        at={"1.34": fits(given("req-0 p1/d1", "req-1 p1/d3"))},
    ),
    "partitionable-devices-counters-elsewhere": row(
        world(partitioned("p1", MEMORY_8, *FOUR_SIX_FOUR), [TWO]),
        fits(given("req-0 p1/d1", "req-1 p1/d3")),
        at={"1.34": fits(given("req-0 p1/d1", "req-1 p1/d2"))},
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(PARTITIONS))
def test_partitions(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


CALM, PANIC = taint("calm", "NoSchedule"), taint("panic", "NoExecute")
STANDS_CALM, STANDS_PANIC = tolerate("calm"), tolerate("panic", "NoExecute")
ONE_OF_EACH = pool("p1", device("d1", taints=[CALM]), device("d2", taints=[PANIC]))
BOTH_ON_ONE = pool("p1", device("d1", taints=[CALM, PANIC]))


def tolerant(*tolerations: Json) -> list[Json]:
    return [claim("claim-0", request("req-0", tolerates=tolerations))]


LATER_TOLERANT = claim("claim-0", first_of("req-0", request("sub-0"), request("sub-1", tolerates=[STANDS_CALM])))
ALL = claim("claim-0", request("req-0", mode="All"))

TAINTS: dict[str, Row] = {
    "tainted-two-devices": row(world([ONE_OF_EACH], [ONE]), NONE),
    "tainted-one-device-two-taints": row(world([BOTH_ON_ONE], [ONE]), NONE),
    "tainted-one-device-two-taints-one-tolerated": row(world([BOTH_ON_ONE], tolerant(STANDS_PANIC)), NONE),
    "tainted-two-devices-tolerated": row(
        world([ONE_OF_EACH], tolerant(STANDS_PANIC)), fits(given(got("req-0", "p1/d2", tolerations=[STANDS_PANIC])))
    ),
    "tainted-two-devices-prioritized-list-tolerated": row(
        world([ONE_OF_EACH], [LATER_TOLERANT]), fits(given(got("req-0/sub-1", "p1/d1", tolerations=[STANDS_CALM])))
    ),
    "tainted-no-effect": row(
        world([pool("p1", device("d1", taints=[taint("watched", "None")]))], [ONE]), fits(given("req-0 p1/d1"))
    ),
    "tainted-one-device-two-taints-both-tolerated": row(
        world([BOTH_ON_ONE], tolerant(STANDS_CALM, STANDS_PANIC)),
        fits(given(got("req-0", "p1/d1", tolerations=[STANDS_CALM, STANDS_PANIC]))),
    ),
    "tainted-disabled": row(world([ONE_OF_EACH], [ONE], off=["device_taints"]), fits(given("req-0 p1/d1"))),
    "tainted-prioritized-list": row(
        world([pool("p1", device("d1", taints=[CALM]))], [claim("claim-0", first_of("req-0", request("sub-0")))]), NONE
    ),
    "tainted-prioritized-list-disabled": row(
        world([ONE_OF_EACH], [LATER_TOLERANT], off=["device_taints"]), fits(given("req-0/sub-0 p1/d1"))
    ),
    "tainted-all-devices-single": row(world([BOTH_ON_ONE], [ALL]), NONE),
    "tainted-all-devices-single-disabled": row(
        world([BOTH_ON_ONE], [ALL], off=["device_taints"]), fits(given("req-0 p1/d1"))
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(TAINTS))
def test_taints(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)


READY, BROKEN = ("driver-a/ready",), ("driver-a/broken",)
COUNT_2 = claim("claim-0", request("req-0", count=2))


def binding(name: str, memory: str = "", **said: object) -> Json:
    """A device that has to be made ready first."""
    taken = uses(memory) if memory else None
    return device(name, uses=taken, binding=READY, failing=BROKEN, **said)  # type: ignore[arg-type]


def bound(request_name: str, device_id: str, **said: object) -> Json:
    return got(request_name, device_id, binding=READY, failing=BROKEN, **said)  # type: ignore[arg-type]


BINDING: dict[str, Row] = {
    "device-binding-conditions": row(world([pool("p1", binding("d1"))], [ONE]), fits(given(bound("req-0", "p1/d1")))),
    "binding-conditions-multiple-devices": row(
        world([pool("p1", binding("d1"), binding("d2"))], [COUNT_2]),
        fits(given(bound("req-0", "p1/d1"), bound("req-0", "p1/d2"))),
    ),
    "binding-conditions-with-and-without": row(
        world([pool("p1", binding("d1"), device("d2"))], [COUNT_2]),
        fits(given(bound("req-0", "p1/d1"), "req-0 p1/d2")),
    ),
    "binding-conditions-without-feature-gate": row(
        world([pool("p1", binding("d1"))], [ONE], off=["binding_conditions"]), NONE
    ),
    "partitionable-devices-with-binding-conditions": row(
        world(partitioned("p1", MEMORY_8, binding("d1", "4Gi")), [ONE]), fits(given(bound("req-0", "p1/d1")))
    ),
    "partitionable-devices-with-binding-conditions-multiple": row(
        world(partitioned("p1", MEMORY_8, binding("d1", "4Gi"), binding("d2", "4Gi")), [COUNT_2]),
        fits(given(bound("req-0", "p1/d1"), bound("req-0", "p1/d2"))),
    ),
    "partitionable-devices-with-binding-conditions-some-devices-no-conditions": row(
        world(partitioned("p1", MEMORY_8, binding("d1", "4Gi"), partition("d2", "4Gi")), [COUNT_2]),
        fits(given(bound("req-0", "p1/d1"), "req-0 p1/d2")),
    ),
    "partitionable-devices-with-binding-conditions-multi-slices": row(
        world(
            [
                pool("p1", binding("d1", "4Gi"), part=1, of=3),
                pool("p1", binding("d2", "4Gi"), part=2, of=3),
                pool("p1", counters=MEMORY_8, part=3, of=3),
            ],
            [COUNT_2],
        ),
        fits(given(bound("req-0", "p1/d1"), bound("req-0", "p1/d2"))),
    ),
    "partitionable-devices-with-binding-conditions-and-taints": row(
        world(partitioned("p1", MEMORY_8, binding("d1", "4Gi", taints=[CALM]), binding("d2", "4Gi")), [COUNT_2]), NONE
    ),
    "partitionable-devices-with-binding-conditions-and-taints-tolerated": row(
        world(
            partitioned("p1", MEMORY_8, binding("d1", "4Gi", taints=[CALM]), binding("d2", "4Gi")),
            [claim("claim-0", request("req-0", count=2, tolerates=[STANDS_CALM]))],
        ),
        fits(
            given(
                bound("req-0", "p1/d1", tolerations=[STANDS_CALM]), bound("req-0", "p1/d2", tolerations=[STANDS_CALM])
            )
        ),
    ),
}


@pytest.mark.parametrize(("row", "run"), list_runs(BINDING))
def test_binding_conditions(row: Row, run: str) -> None:
    assert answer_row(row, run) == row.expected(run)
