"""A plan against what is there: as multisets of each workload, every difference explained."""

from __future__ import annotations

import msgspec
import pytest

from given_cluster import (
    GPU,
    Json,
    device_class,
    gpu,
    node,
    slice_of,
)
from poolwright.receipts.compare import compare_planned
from poolwright.receipts.document import Receipt, Receipts, Topology
from receipt_worlds import given, observe, replica

L4 = "NVIDIA L4"
ROOT = "resource.kubernetes.io/pcieRoot"
SLICES = (
    slice_of("node-a", gpu(0), gpu(1), gpu(2, product=L4)),
    slice_of("node-b", gpu(3), gpu(4)),
)
# It reads the product, so that devices of another one are no equals.
BY_PRODUCT = device_class(GPU, f"device.attributes['{GPU}'].productName != 'none'")


def plan(*places: tuple[str, str], must: int = 9, slices: tuple[Json, ...] = SLICES) -> Receipts:
    """Slots of Deployment/chat: what an observed cluster with these devices would be, as a plan has it."""
    found = there(*places, slices=slices)
    rows = tuple(_as_slot(row, at, must) for at, row in enumerate(found.receipts))
    return msgspec.structs.replace(found, statement="planned", receipts=rows)


def _as_slot(row: Receipt, at: int, must: int) -> Receipt:
    slot = f"slot:sha256:{at:064x}"
    return msgspec.structs.replace(row, id=slot, slot=slot, ordinal=at, pod=0, must_serve=at < must, users=())


def there(
    *places: tuple[str, str], slices: tuple[Json, ...] = SLICES, classes: tuple[Json, ...] = (BY_PRODUCT,)
) -> Receipts:
    """Replicas of Deployment/chat, each with a device of a node."""
    pods = [replica(f"chat-{at}", uid=f"p{at}", node=where) for at, (where, _) in enumerate(places)]
    claims = [
        given(f"chat-{at}-gpu", name, uid=f"c{at}", of=f"p{at}", pool=where) for at, (where, name) in enumerate(places)
    ]
    return observe(node("node-a"), node("node-b"), *classes, *slices, *pods, *claims)


A0, A1, A2, B3 = ("node-a", "gpu-0"), ("node-a", "gpu-1"), ("node-a", "gpu-2"), ("node-b", "gpu-3")
RENAMED = (slice_of("node-a", {**gpu(7), "name": "gpu-0"}, gpu(1)), SLICES[1])
NO_GPU_1 = (slice_of("node-a", gpu(0)), SLICES[1])
CASES: dict[str, tuple[Receipts, Receipts, list[tuple[str, bool | None, str]], int]] = {
    # Which replica has which of the planned devices means nothing.
    "the-very-devices-in-another-order": (
        plan(A0, A1),
        there(A1, A0),
        [
            ("same", False, "claim inference/chat-1-gpu has what slot inference/Deployment/chat#0 gpu planned"),
            ("same", False, "claim inference/chat-0-gpu has what slot inference/Deployment/chat#1 gpu planned"),
        ],
        0,
    ),
    "another-device-that-does-as-well": (
        plan(A0),
        there(A1),
        [
            (
                "other-device",
                False,
                "claim inference/chat-0-gpu has gpu-1 of node-a, planned gpu-0, which are interchangeable for the "
                "claim",
            )
        ],
        0,
    ),
    "another-device-of-which-a-clause-reads-otherwise": (
        plan(A0),
        there(A2),
        [
            (
                "other-device",
                True,
                "claim inference/chat-0-gpu has gpu-2 of node-a, planned gpu-0; not interchangeable: "
                f"{GPU}/productName = NVIDIA L4 where {GPU}/productName = NVIDIA H100 80GB HBM3 was planned",
            )
        ],
        1,
    ),
    "another-node": (
        plan(A0),
        there(B3),
        [
            (
                "other-node",
                False,
                f"claim inference/chat-0-gpu is on node-b, planned on node-a: class {GPU} all the same",
            )
        ],
        0,
    ),
    "another-device-that-no-slice-publishes": (
        plan(A0),
        there(A1, slices=NO_GPU_1),
        [
            ("ghost", True, f"ghost: claim inference/chat-0-gpu holds {GPU}/node-a/gpu-1, which no slice publishes"),
            (
                "other-device",
                None,
                "claim inference/chat-0-gpu has gpu-1 of node-a, planned gpu-0; what no slice publishes can't be "
                "compared",
            ),
        ],
        1,
    ),
    "another-card-under-the-planned-name": (
        plan(A0),
        there(A0, slices=RENAMED),
        [
            (
                "other-card",
                True,
                f"claim inference/chat-0-gpu has {GPU}/node-a/gpu-0, which was GPU-0000 when planned and is "
                "GPU-0007 now",
            )
        ],
        1,
    ),
    "fewer-than-must-serve": (
        plan(A0, A1),
        there(A0),
        [
            ("same", False, "claim inference/chat-0-gpu has what slot inference/Deployment/chat#0 gpu planned"),
            (
                "missing",
                True,
                "missing: no claim stands for slot inference/Deployment/chat#1 gpu: fewer run than must serve",
            ),
        ],
        1,
    ),
    "below-the-peak": (
        plan(A0, A1, must=1),
        there(A0),
        [
            ("same", False, "claim inference/chat-0-gpu has what slot inference/Deployment/chat#0 gpu planned"),
            (
                "missing",
                False,
                "missing: no claim stands for slot inference/Deployment/chat#1 gpu: the workload is below its peak, "
                "and serves with what it has",
            ),
        ],
        0,
    ),
    "more-than-the-peak": (
        plan(A0),
        there(A0, A1),
        [
            ("same", False, "claim inference/chat-0-gpu has what slot inference/Deployment/chat#0 gpu planned"),
            (
                "extra",
                True,
                "extra: claim inference/chat-1-gpu is one more than the plan has of inference/Deployment/chat",
            ),
        ],
        1,
    ),
    "what-no-slice-publishes": (
        plan(A1),
        there(A1, slices=NO_GPU_1),
        [
            ("ghost", True, f"ghost: claim inference/chat-0-gpu holds {GPU}/node-a/gpu-1, which no slice publishes"),
            ("same", False, "claim inference/chat-0-gpu has what slot inference/Deployment/chat#0 gpu planned"),
        ],
        1,
    ),
    "nobody-plans-it": (
        plan(),
        observe(node("node-a"), BY_PRODUCT, *SLICES, given("stray", "gpu-0")),
        [
            (
                "ghost",
                True,
                f"ghost: claim inference/stray, whose pod isn't known, holds {GPU}/node-a/gpu-0, and no slot is "
                "planned for it",
            )
        ],
        1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_difference_is_explained(name: str) -> None:
    planned, observed, rows, code = CASES[name]
    found = compare_planned(planned, observed)
    assert [(row.outcome, row.matters, row.sentence) for row in found.rows] == rows
    assert found.exit_code == code


def test_an_exclusive_device_that_two_claims_have_is_no_equal() -> None:
    found = compare_planned(plan(A0, A1), there(A0, A0))
    assert [(row.outcome, row.matters) for row in found.rows] == [
        ("same", False),
        ("other-device", False),
        ("overlap", True),
    ]
    assert found.rows[-1].sentence == (
        f"double use of {GPU}/node-a/gpu-0: inference/chat-0-gpu and inference/chat-1-gpu both have it, and not as "
        "shares"
    )


def test_another_class_is_a_difference() -> None:
    observed = there(A0)
    (row,) = observed.receipts
    (request,) = row.requests
    other = msgspec.structs.replace(request, class_name="spot")
    changed = msgspec.structs.replace(observed, receipts=(msgspec.structs.replace(row, requests=(other,)),))
    found = compare_planned(plan(A1), changed)
    assert [(one.outcome, one.sentence) for one in found.rows] == [
        ("other-class", f"claim inference/chat-0-gpu is of class spot, and class {GPU} was planned")
    ]


def test_what_a_clause_read_must_be_known() -> None:
    """Without the class nothing tells whether another device does as well."""
    found = compare_planned(plan(A0), there(A1, classes=()))
    assert [(one.outcome, one.matters) for one in found.rows] == [("other-device", None)]
    assert found.rows[0].sentence.endswith(
        "; whether they do as well isn't known: what made them match wasn't captured"
    )


TIES = {"holds": ("pci0", True), "broken": ("pci1", False), "none": (None, None)}


@pytest.mark.parametrize("name", TIES)
def test_topology_is_checked_on_the_devices_that_are_there(name: str) -> None:
    value, met = TIES[name]
    observed = there(A0)
    (row,) = observed.receipts
    tie = Topology(attribute=ROOT, kind="matchAttribute", requests=(), values=("pci0", value), is_met=met)
    tied = msgspec.structs.replace(observed, receipts=(msgspec.structs.replace(row, topology=(tie,)),))
    found = [one for one in compare_planned(plan(A0), tied).rows if one.outcome == "topology"]
    said = {"holds": ": it holds", "broken": ": it is broken", "none": ", so whether it holds isn't known"}[name]
    assert [(one.matters, one.sentence) for one in found] == [
        (
            None if met is None else not met,
            f"topology: claim inference/chat-0-gpu, matchAttribute {ROOT}: its devices have pci0, "
            f"{value or 'none'}{said}",
        )
    ]
