"""What people ask about small clusters, answered whole: who gets which devices, in which order, on what assumptions.

A case's table says what becomes of each claim; `tests/golden/allocation-cases` has the whole answer as it is printed.
Of the partitions in `fabric` the driver would refuse two when it prepares them. That is another question, and no
answer of the allocator: kube-scheduler hands them out.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import jsonschema_rs
import pytest

from case_clusters import (
    build_admin,
    build_all_or_two,
    build_amounts,
    build_fabric,
    build_fragmented_asked,
    build_fragmented_two,
    build_incomplete,
    build_missing_attribute,
    build_pairs,
    build_repeated_name,
    build_same_parent,
    build_shared_name,
    build_shares,
    build_spread,
    build_tainted_half,
    build_tolerated,
)
from fleet import ROOT
from given_cluster import Json, answer
from golden import Golden
from poolwright.allocation.answer import Answer, ClaimAnswer
from poolwright.allocation.answer_json import render_answer_json
from poolwright.allocation.answer_schema import answer_schema
from poolwright.allocation.answer_text import render_answer_text
from poolwright.allocation.assumptions import Options
from poolwright.specs.finding import render_text

GOLDEN: Final = ROOT / "tests" / "golden" / "allocation-cases"
ALONE: Final = Options(each_alone=True)
ON_A: Final = Options(each_alone=True, node="node-a")
ON_B: Final = Options(each_alone=True, node="node-b")


@dataclass(frozen=True)
class Case:
    """A cluster, and what becomes of its claims: the devices by name, or why there are none."""

    objects: Callable[[], list[Json]]
    claims: dict[str, str]
    options: Options = field(default_factory=Options)
    lines: tuple[str, ...] = ()  # each is in a reason or a hint


# Asking for less than both brings a second pair: any RDMA card, or a card that is not RDMA.
PAIRS = {
    "one-root-has-both": Case(
        build_pairs,
        {"vllm-rdma-0": "gpu-0 eth1", "vllm-rdma-1": "unsatisfied", "vllm-rdma-2": "unsatisfied"},
        lines=("matchAttribute resource.kubernetes.io/pcieRoot over gpu, nic can't be met",),
    ),
    "without-the-constraint": Case(
        lambda: build_pairs(constraint=False),
        {"vllm-rdma-0": "gpu-0 eth1", "vllm-rdma-1": "gpu-1 eth3", "vllm-rdma-2": "unsatisfied"},
    ),
    "without-rdma": Case(
        lambda: build_pairs(rdma=False),
        {"vllm-rdma-0": "gpu-0 eth1", "vllm-rdma-1": "gpu-2 eth2", "vllm-rdma-2": "unsatisfied"},
    ),
}
# Five of eight memory slices are free, and summed up they would do: but a partition starts where it may.
PARTITIONS = {
    "fragmented": Case(
        build_fragmented_asked,
        {
            "want-3g": "unsatisfied",
            "want-4g": "unsatisfied",
            "want-2g": "gpu-0-mig-2g20gb-14-2",
            "want-1g": "gpu-0-mig-1g10gb-19-2",
            "want-whole": "unsatisfied",
        },
        ALONE,
        (
            "gpu-0-mig-3g40gb-9-4 without counters of gpu-0-counter-set (memory-slice-5 taken by inference/held-5)",
            "releasing claim inference/held-5 (gpu-0-mig-1g10gb-19-5) would make room: gpu-0-mig-3g40gb-9-4 on node-a",
        ),
    ),
    # Of one pod both are looked for together, so the small one makes way.
    "fragmented-one-pod": Case(
        lambda: build_fragmented_two(same_pod=True),
        {"a-small": "gpu-0-mig-1g10gb-19-4", "b-mid": "gpu-0-mig-2g20gb-14-2"},
    ),
    "fragmented-two-pods": Case(
        lambda: build_fragmented_two(same_pod=False),
        {"a-small": "gpu-0-mig-1g10gb-19-2", "b-mid": "unsatisfied"},
        lines=("not giving devices to claim inference/a-small",),
    ),
    "same-parent": Case(build_same_parent, {"mig-set": "gpu-1-mig-19-0 gpu-1-mig-19-1 gpu-1-mig-14-2 gpu-1-mig-9-4"}),
    # What the tainted half would take is given back when it is refused.
    "tainted-half": Case(build_tainted_half, {"one-half": "half-2"}),
    "fabric": Case(
        build_fabric, {"aligned": "gpu-2 gpu-3", "loose": "gpu-0 gpu-2", "wrong-size": "gpu-0 gpu-2 gpu-3"}, ALONE
    ),
}
REQUESTS = {
    # dev3 differs from dev2, and not from dev1.
    "spread": Case(build_spread, {"spread": "dev1 dev2 dev4"}),
    "all-or-two": Case(build_all_or_two, {"all-or-two": "gpu-2 gpu-3", "none-then-one": "gpu-2"}, ALONE),
    "amounts": Case(
        build_amounts,
        {
            "ge-80gi": "unsatisfied",
            "ge-79gi": "gpu-0",
            "ge-80g-decimal": "gpu-0",
            "eq-81559mi": "gpu-0",
            "eq-bytes": "gpu-0",
            "eq-fraction": "gpu-0",
            "ge-85e9": "gpu-0",
            "lt-81560mi": "gpu-0",
        },
        ALONE,
        ("81559Mi (79.65Gi) is just short of 80Gi",),
    ),
    "tolerated": Case(
        build_tolerated,
        {"brave": "gpu-0", "careful": "gpu-1", "wrong-effect": "unsatisfied"},
        ALONE,
        ("1 with the taint gpu.nvidia.com/ecc=warn:NoExecute, which the request doesn't tolerate",),
    ),
    "shares-alone": Case(
        build_shares,
        {
            "want-3": "gpu-0 4Gi",
            "want-7": "unsatisfied",
            "want-1": "gpu-0 2Gi",
            "want-nothing": "gpu-0 2Gi",
            "want-81": "unsatisfied",
            "want-6": "gpu-0 6Gi",
        },
        ALONE,
        ("takes 8Gi, free 6Gi", "memory 81Gi (have 80Gi)"),
    ),
    "shares-in-order": Case(
        build_shares,
        {
            "want-3": "gpu-0 4Gi",
            "want-7": "unsatisfied",
            "want-1": "gpu-0 2Gi",
            "want-nothing": "unsatisfied",
            "want-81": "unsatisfied",
            "want-6": "unsatisfied",
        },
    ),
    # The monitor sees both cards, and takes none of them from anybody.
    "admin-access": Case(
        build_admin,
        {
            "monitor-ok": "gpu-0 gpu-1",
            "monitor-case": "error",
            "monitor-oldlabel": "error",
            "tenant-2": "gpu-1",
            "tenant-3": "unsatisfied",
        },
        lines=(
            'it has resource.kubernetes.io/admin-access: "True"',
            'it has resource.k8s.io/admin-access: "true"',
            "2 held by inference/tenant, team-a/tenant-2",
        ),
    ),
}
POOLS = {
    "incomplete-on-a": Case(
        build_incomplete,
        {"exact-one": "unsatisfied", "every-gpu": "error"},
        ON_A,
        (
            "pool gpu.nvidia.com/node-a is incomplete: 1 of 2 slices of generation 1 are there",
            "a moment of this node: ask again once its driver has published the others",
        ),
    ),
    "incomplete-on-b": Case(build_incomplete, {"exact-one": "gpu-0", "every-gpu": "gpu-0 gpu-1"}, ON_B),
    # Up to 1.37 an error on one node ends the attempt on all.
    "incomplete": Case(
        build_incomplete,
        {"exact-one": "gpu-0", "every-gpu": "error"},
        ALONE,
        (
            "asks for all devices, but resource pool gpu.nvidia.com/node-a is currently being updated",
            "node-b could serve it; the error on node-a ends the attempt for every node",
        ),
    ),
    # gpu-0 stands once, and is not given either.
    "repeated-name": Case(
        build_repeated_name,
        {"one-gpu": "unsatisfied", "one-nic": "eth1"},
        lines=("pool gpu.nvidia.com/node-a is invalid: duplicate device name gpu-1",),
    ),
    "shared-name": Case(
        build_shared_name, {"first": "eth0", "second": "unsatisfied"}, lines=("2 held by inference/first",)
    ),
}
NO_PROFILE = "on device gpu.nvidia.com/node-a/gpu-0: CEL runtime error: no such key: profile (request g, selector #0, "
NO_NAME = "CEL runtime error: no such key: productName"
GUARD = 'guard it with has(device.attributes["gpu.nvidia.com"].profile)'
SELECTORS = {
    "missing-on-a": Case(
        build_missing_attribute,
        {"unguarded": "error", "guarded": "gpu-1-mig-9-0", "optional": "gpu-1-mig-9-0", "wrong-domain": "error"},
        ON_A,
        (NO_PROFILE, GUARD, NO_NAME),
    ),
    "missing-on-b": Case(
        build_missing_attribute,
        {
            "unguarded": "gpu-0-mig-9-0",
            "guarded": "gpu-0-mig-9-0",
            "optional": "gpu-0-mig-9-0",
            "wrong-domain": "error",
        },
        ON_B,
        (NO_NAME,),
    ),
    "missing": Case(
        build_missing_attribute,
        {"unguarded": "error", "guarded": "gpu-1-mig-9-0", "optional": "gpu-1-mig-9-0", "wrong-domain": "error"},
        ALONE,
        (NO_PROFILE, "node-b could serve it; the error on node-a ends the attempt for every node"),
    ),
}
CASES: Final = {**PAIRS, **PARTITIONS, **REQUESTS, **POOLS, **SELECTORS}


@pytest.mark.parametrize("name", CASES)
def test_who_gets_what(name: str) -> None:
    case = CASES[name]
    found = answer(case.objects(), options=case.options)
    assert {claim: describe(find(found, claim)) for claim in case.claims} == case.claims
    reasons = [text for subject in found.subjects for reason in subject.reasons for text in (reason.line, reason.hint)]
    assert [line for line in case.lines if not any(line in text for text in reasons)] == []


@pytest.mark.parametrize("name", CASES)
def test_json_is_by_the_published_schema(name: str) -> None:
    case = CASES[name]
    found = json.loads(render_answer_json(answer(case.objects(), options=case.options)))
    jsonschema_rs.validator_for(answer_schema()).validate(found)
    assert {one["name"] for one in found["claims"]} == case.claims.keys()


def test_whole_answers(golden: Golden) -> None:
    files = {f"{name}.txt": print_whole(case).encode() for name, case in CASES.items()}
    golden.compare(GOLDEN, files)


@pytest.mark.parametrize("minor", ["1.34", "1.35", "1.36"])
def test_earlier_releases_answer_the_same(minor: str) -> None:
    """With every gate on that these clusters use, and in 1.34 without slices that have counters only."""
    gates = dict.fromkeys(("DRAAdminAccess", "DRAPrioritizedList", "DRAPartitionableDevices", "DRADeviceTaints"), True)
    gates["DRAConsumableCapacity"] = True
    for name in ("without-the-constraint", "spread", "all-or-two", "tolerated", "shares-alone", "incomplete-on-b"):
        case = CASES[name]
        found = answer(case.objects(), options=case.options, minor=minor, gates=gates)
        assert {claim: describe(find(found, claim)) for claim in case.claims} == case.claims, name


@pytest.mark.parametrize(("minor", "outcome"), [("1.34", "gpu-0"), ("1.35", "unsatisfied"), ("1.36", "unsatisfied")])
def test_only_1_34_gives_from_an_incomplete_pool(minor: str, outcome: str) -> None:
    found = answer(build_incomplete(), options=ON_A, minor=minor)
    assert describe(find(found, "exact-one")) == outcome


def test_two_alternatives_are_named_with_their_request() -> None:
    found = answer(build_all_or_two(), options=ALONE)
    assert [list_requests(find(found, name)) for name in ("all-or-two", "none-then-one")] == [
        ["gpu/two-h100", "gpu/two-h100"],
        ["gpu/one-h100"],
    ]


def test_a_tolerated_taint_is_in_the_allocation() -> None:
    allocation = find(answer(build_tolerated(), options=ALONE), "brave").allocation
    assert allocation is not None
    (toleration,) = allocation.devices[0].tolerations
    assert (toleration.key, toleration.effect, toleration.seconds) == ("gpu.nvidia.com/ecc", "NoExecute", 600)


def test_one_name_on_two_nodes_is_warned_of() -> None:
    found = answer(build_shared_name())
    assert render_text(found.notes) == (
        "cluster.json:1:749: warning: device dra.net/fast/eth0 is published from 2 nodes: node-a, node-b"
        "  [device-name-shared]\n"
        "  at   items[2].spec.devices\n"
        "  why  a device is known by driver, pool and name alone: while one of these is allocated, all of them are held"
        " (k8s.io/dynamic-resource-allocation structured)\n"
        "  fix  give each node's devices a pool of their own, named after the node\n"
    )


def find(found: Answer, name: str) -> ClaimAnswer:
    return next(claim for claim in found.claims if claim.name == name)


def describe(claim: ClaimAnswer) -> str:
    if claim.allocation is None:
        return claim.outcome
    parts = []
    for one in claim.allocation.devices:
        parts += [one.device, *(amount.canonical for amount in (one.consumed_capacity or {}).values())]
    return " ".join(parts)


def list_requests(claim: ClaimAnswer) -> list[str]:
    return [] if claim.allocation is None else [one.request for one in claim.allocation.devices]


def print_whole(case: Case) -> str:
    found = answer(case.objects(), options=case.options)
    notes = render_text(found.notes)
    return "".join(f"{line}\n" for line in render_answer_text(found)) + (f"\n{notes}" if notes else "")
