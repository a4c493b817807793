"""Claims of snapshots: what became of each, and whether each allocation is one that the allocator can make."""

from __future__ import annotations

from typing import Any

import pytest
from captured import FILE, capture, read

from fleet import FACTS
from given_cluster import Json, ask, claim, device, device_class, exactly, gpu, holds, node, slice_of
from poolwright.snapshots.cluster import build_stored, find_features, parse_cluster
from poolwright.snapshots.fates import Fate, list_fates
from poolwright.snapshots.replay import replay_claims
from poolwright.snapshots.snapshot import render_snapshot

GPU0, GPU1 = holds("gpu-0"), holds("gpu-1")


def held(*devices: Json, uid: str = "1") -> Json:
    return claim("a", held=devices, node="node-a", uid=uid)


FATES: dict[str, tuple[list[Json], list[Json], list[tuple[str, Fate]]]] = {
    "kept": ([held(GPU0)], [held(GPU0)], [("1", "kept")]),
    # The order of results says nothing.
    "kept-in-another-order": ([held(GPU0, GPU1)], [held(GPU1, GPU0)], [("1", "kept")]),
    "moved": ([held(GPU0)], [held(GPU1)], [("1", "moved")]),
    "gained": ([held()], [held(GPU0)], [("1", "gained")]),
    "lost": ([held(GPU0)], [held()], [("1", "lost")]),
    "gone": ([held(GPU0)], [], [("1", "gone")]),
    "new": ([], [held(GPU0)], [("1", "new")]),
    # Under its old name, for another pod: on the same device, which is a chance and no memory.
    "made-anew": ([held(GPU0)], [held(GPU0, uid="2")], [("1", "gone"), ("2", "new")]),
    "never-allocated": ([held()], [held()], [("1", "neverAllocated")]),
    "new-and-never-allocated": ([], [held()], [("1", "neverAllocated")]),
    "gone-and-never-allocated": ([held()], [], [("1", "neverAllocated")]),
}


@pytest.mark.parametrize("name", FATES)
def test_what_became_of_a_claim(name: str) -> None:
    before, after, expected = FATES[name]
    assert [(fate.uid, fate.fate) for fate in list_fates(read(*before), read(*after))] == expected


def replay(*objects: Json, gates: dict[str, bool] | None = None) -> dict[str, tuple[str, str]]:
    """By claim, what the allocator says of it."""
    cluster = parse_cluster(render_snapshot(capture(objects)), FILE)
    features = find_features(cluster.snapshot, gates or {}, FACTS)
    assert not isinstance(features, str)
    stored = build_stored(cluster, features, gates or {}, FACTS)
    return {one.name: (one.possible, one.why) for one in replay_claims(stored, features)}


CLASS = device_class("gpu.nvidia.com", 'device.driver == "gpu.nvidia.com"')
MIG_CLASS = device_class("mig", 'device.attributes["gpu.nvidia.com"].type == "mig"')
NODES = [CLASS, node("node-a"), slice_of("node-a", gpu(0), gpu(1), gpu(2, product="NVIDIA L4", memory="23034Mi"))]
H100_ONLY = 'device.attributes["gpu.nvidia.com"].productName == "NVIDIA H100 80GB HBM3"'
OK = ("possible", "")


def impossible(why: str) -> tuple[str, str]:
    return "impossible", why


def partition(name: str, memory: int) -> Json:
    """A device that takes some of eight memory slices."""
    charges = [{"counterSet": "gpu-0", "counters": {"slices": {"value": str(memory)}}}]
    return device(name, attributes={"type": "mig"}, consumesCounters=charges)


def split_node(*partitions: Json) -> list[Json]:
    counters = [{"name": "gpu-0", "counters": {"slices": {"value": "8"}}}]
    return [
        MIG_CLASS,
        node("node-a"),
        slice_of("node-a", name="counters", count=2, sharedCounters=counters),
        slice_of("node-a", *partitions, name="devices", count=2),
    ]


def on(name: str, *devices: Json, requests: list[Json] | None = None, **more: Any) -> Json:
    return claim(name, *(requests or [exactly("gpu")]), held=devices, node="node-a", **more)


ALL = [{"name": "gpu", "exactly": ask(allocationMode="All")}]
L4_ONLY = 'device.attributes["gpu.nvidia.com"].productName == "NVIDIA L4"'
EITHER = [
    {
        "name": "gpu",
        "firstAvailable": [{"name": "l4", **ask("gpu.nvidia.com", L4_ONLY)}, {"name": "any", **ask()}],
    }
]
OLDER = [slice_of("node-a", gpu(0), name="old"), slice_of("node-a", gpu(1), generation=2)]
ZONED = 'device.attributes["gpu.nvidia.com"].zone == "a"'
REPLAYS: dict[str, tuple[list[Json], dict[str, tuple[str, str]]]] = {
    "first-fit-of-today": ([*NODES, on("a", GPU0)], {"a": OK}),
    # First-fit would give it gpu-0 now; when it came, somebody had that.
    "not-the-first-one": ([*NODES, on("a", GPU1)], {"a": OK}),
    "two-claims": ([*NODES, on("a", GPU1), on("b", GPU0)], {"a": OK, "b": OK}),
    "waiting-claims-are-not-asked-about": ([*NODES, claim("a")], {}),
    "not-what-it-asks-for": (
        [*NODES, on("a", holds("gpu-2"), requests=[exactly("gpu", "gpu.nvidia.com", H100_ONLY)])],
        {"a": impossible("on node-a the allocator doesn't give it gpu.nvidia.com/node-a/gpu-2")},
    ),
    "more-than-it-asks-for": (
        [*NODES, on("a", GPU0, GPU1)],
        {"a": impossible("on node-a the allocator gives it gpu.nvidia.com/node-a/gpu-0")},
    ),
    "less-than-it-asks-for": (
        [*NODES, on("a", GPU0, requests=[{"name": "gpu", "exactly": ask(count=2)}])],
        {"a": impossible("on node-a the allocator doesn't give it gpu.nvidia.com/node-a/gpu-0")},
    ),
    "taken-twice": (
        [*NODES, on("a", GPU0), on("b", GPU0)],
        dict.fromkeys("ab", impossible("another claim holds gpu.nvidia.com/node-a/gpu-0 too")),
    ),
    "not-published": (
        [*NODES, on("a", holds("gpu-9"))],
        {"a": impossible("no slice publishes gpu.nvidia.com/node-a/gpu-9")},
    ),
    "of-an-older-generation": (
        [CLASS, node("node-a"), *OLDER, on("a", GPU0)],
        {"a": impossible("no slice publishes gpu.nvidia.com/node-a/gpu-0")},
    ),
    "on-a-node-that-is-not-there": (
        [*NODES, claim("a", held=[GPU0], node="node-z")],
        {"a": impossible("no node of the snapshot is one that the allocation is for")},
    ),
    "for-any-node": ([*NODES, claim("a", held=[GPU0])], {"a": OK}),
    "no-class": (
        [node("node-a"), slice_of("node-a", gpu(0)), on("a", GPU0)],
        {"a": ("unknown", "the snapshot has no device class gpu.nvidia.com")},
    ),
    "a-selector-that-fails": (
        [
            *NODES,
            on(
                "a",
                GPU0,
                requests=[exactly("gpu", "gpu.nvidia.com", ZONED)],
            ),
        ],
        {
            "a": impossible(
                "on node-a the attempt ends: claim inference/a: selector #0 on device "
                "gpu.nvidia.com/node-a/gpu-0: CEL runtime error: no such key: zone"
            )
        },
    ),
    "all-of-a-class": ([*NODES, on("a", GPU0, GPU1, holds("gpu-2"), requests=ALL)], {"a": OK}),
    # A free device that it would get too is not taken away here.
    "not-all-of-a-class": (
        [*NODES, on("a", GPU0, GPU1, requests=ALL)],
        {
            "a": impossible(
                "on node-a the allocator gives it gpu.nvidia.com/node-a/gpu-0, gpu.nvidia.com/node-a/gpu-1, "
                "gpu.nvidia.com/node-a/gpu-2"
            )
        },
    ),
    # The L4 is free now; who had it when the claim came isn't known.
    "a-later-alternative": ([*NODES, on("a", holds("gpu-0", request="gpu/any"), requests=EITHER)], {"a": OK}),
    "an-alternative-that-it-is-not": (
        [*NODES, on("a", holds("gpu-0", request="gpu/l4"), requests=EITHER)],
        {"a": impossible("on node-a the allocator doesn't give it gpu.nvidia.com/node-a/gpu-0")},
    ),
    "counters-that-suffice": (
        [
            *split_node(partition("p0", 4), partition("p1", 4), partition("p2", 8)),
            on("a", holds("p0"), requests=[exactly("gpu", "mig")]),
            on("b", holds("p1"), requests=[exactly("gpu", "mig")]),
        ],
        {"a": OK, "b": OK},
    ),
    "counters-that-do-not": (
        [
            *split_node(partition("p0", 4), partition("p1", 5)),
            on("a", holds("p0"), requests=[exactly("gpu", "mig")]),
            on("b", holds("p1"), requests=[exactly("gpu", "mig")]),
        ],
        {
            "a": impossible("on node-a the allocator doesn't give it gpu.nvidia.com/node-a/p0"),
            "b": impossible("on node-a the allocator doesn't give it gpu.nvidia.com/node-a/p1"),
        },
    ),
}


@pytest.mark.parametrize("name", REPLAYS)
def test_whether_the_allocator_can_make_it(name: str) -> None:
    objects, expected = REPLAYS[name]
    assert replay(*objects) == expected


def test_a_kubernetes_that_is_not_modelled_is_said() -> None:
    data = render_snapshot(capture(NODES)).replace(b"v1.36.2", b"v1.20.1")
    assert find_features(parse_cluster(data, FILE).snapshot, {}, FACTS) == (
        "the allocator of Kubernetes v1.20.1 isn't modelled"
    )
