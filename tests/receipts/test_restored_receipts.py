"""Before against after: by name a claim may look fine on another card; times of use on one device."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from given_cluster import WHOLE, Json, device, gpu, node, slice_of
from poolwright.receipts.comparison import Comparison
from poolwright.receipts.document import Receipts
from poolwright.receipts.overlaps import list_overlaps
from poolwright.receipts.restore import compare_restored
from receipt_worlds import given, observe


def lab(slices: Json, *claims: Json) -> Receipts:
    return observe(node("node-a"), WHOLE, slices, *claims)


def card(number: int, name: str) -> Json:
    return {**gpu(number), "name": name}


def three(devices: Sequence[str] = ("gpu-0", "gpu-1", "gpu-2")) -> tuple[Json, ...]:
    return tuple(given(f"rag-{at}", name, uid=f"c{at}") for at, name in enumerate(devices))


BEFORE = lab(slice_of("node-a", gpu(0), gpu(1), gpu(2), generation=7), *three())


def say(found: Comparison) -> list[tuple[str, bool | None, str]]:
    return [(row.outcome, row.matters, row.sentence) for row in found.rows]


def test_admin_access_takes_nobody_s_card() -> None:
    """A monitor sees the card that another claim has: neither collides with the other."""
    monitor = given("monitor", "gpu-0", uid="m", adminAccess=True)
    found = lab(slice_of("node-a", gpu(0), gpu(1), gpu(2), generation=7), *three(), monitor)
    assert [device.mode for row in found.receipts for device in row.devices] == ["admin", "full", "full", "full"]
    compared = compare_restored(found, found)
    assert [row.outcome for row in compared.rows] == ["intact"] * 4
    assert (compared.action, compared.exit_code) == (None, 0)


def test_numbering_closes_the_gap_of_a_dead_card() -> None:
    """The second of three cards dies, and the third takes its name: by name two claims look fine, by uuid one is."""
    after = lab(slice_of("node-a", gpu(0), card(2, "gpu-1"), generation=8), *three())
    found = compare_restored(BEFORE, after)
    assert say(found) == [
        ("intact", False, "inference/rag-0: intact: gpu-0 is the same card, published anew in generation 8"),
        (
            "moved",
            True,
            "inference/rag-1: moved: the name gpu-1 is now another card (the former gpu-2, GPU-0002); the card that it "
            "had is gone",
        ),
        (
            "gone",
            True,
            "inference/rag-2: gone: gpu-2 is no longer published; its card now appears as gpu-1",
        ),
        (
            "collision",
            True,
            "collision: inference/rag-1 would be prepared on the card that inference/rag-2 used (GPU-0002)",
        ),
    ]
    assert found.action == "drain node-a, release inference/rag-1 and inference/rag-2, allocate again, new receipts"
    assert found.exit_code == 1


NAMELESS = slice_of("node-a", device("gpu-0", attributes={"type": "gpu"}), generation=7)
MIG = {"type": "gpu", "profile": "3g.40gb"}
AFTER = {
    "nothing-changed": (BEFORE, BEFORE, ["intact", "intact", "intact"], 0),
    "two-cards-swap-their-names": (
        BEFORE,
        lab(slice_of("node-a", gpu(0), card(2, "gpu-1"), card(1, "gpu-2"), generation=7), *three()),
        ["intact", "moved", "moved", "collision", "collision"],
        1,
    ),
    "a-claim-was-given-back": (
        BEFORE,
        lab(slice_of("node-a", gpu(0)), *three()[:1]),
        ["intact", "released", "released"],
        0,
    ),
    "a-new-claim-has-no-receipt": (
        lab(slice_of("node-a", gpu(0), gpu(1)), *three()[:1]),
        lab(slice_of("node-a", gpu(0), gpu(1)), *three()[:2]),
        ["intact", "new"],
        0,
    ),
    # The name and the generation are the same, and still nothing tells the card.
    "without-a-uuid-nothing-is-proven": (
        lab(NAMELESS, given("rag-0", "gpu-0", uid="c0")),
        lab(NAMELESS, given("rag-0", "gpu-0", uid="c0")),
        ["unproven"],
        2,
    ),
    "a-partition-of-another-card": (
        lab(slice_of("node-a", device("m", attributes={**MIG, "parentUUID": "GPU-1"})), given("rag-0", "m", uid="c0")),
        lab(slice_of("node-a", device("m", attributes={**MIG, "parentUUID": "GPU-2"})), given("rag-0", "m", uid="c0")),
        ["moved"],
        1,
    ),
    "allocated-anew": (
        BEFORE,
        lab(slice_of("node-a", gpu(0), gpu(1), gpu(3), generation=8), *three(("gpu-0", "gpu-1", "gpu-3"))),
        ["intact", "intact", "reallocated"],
        0,
    ),
    # A claim that was deleted and made anew under its old name is another one.
    "another-claim-of-the-same-name": (
        lab(slice_of("node-a", gpu(0)), given("rag-0", "gpu-0", uid="old")),
        lab(slice_of("node-a", gpu(0)), given("rag-0", "gpu-0", uid="new")),
        ["released", "new"],
        0,
    ),
}


@pytest.mark.parametrize("name", AFTER)
def test_a_card_is_known_by_its_uuid(name: str) -> None:
    before, after, outcomes, code = AFTER[name]
    found = compare_restored(before, after)
    assert ([row.outcome for row in found.rows], found.exit_code) == (outcomes, code)
    assert (found.action is None) == (code != 1)


def timed(*uses: tuple[str, str | None, str | None], share: str | None = None) -> Receipts:
    """Claims of one device, each with when it was prepared and unprepared."""
    shares = [{} if share is None else {"shareID": f"00000000-0000-4000-8000-00000000000{at}"} for at in range(9)]
    more = {} if share is None else {"allowMultipleAllocations": True}
    slices = slice_of("node-a", gpu(0, **more))
    claims = [given(name, "gpu-0", uid=name, **of) for (name, _, _), of in zip(uses, shares, strict=False)]
    return observe(node("node-a"), WHOLE, slices, *claims, prepared={name: (start, end) for name, start, end in uses})


OVERLAPS = {
    "prepared-before-the-first-was-unprepared": (
        timed(("a", "2026-11-30T10:00:00Z", "2026-11-30T10:05:02.470Z"), ("b", "2026-11-30T10:05:00.420Z", None)),
        [
            "double use of gpu.nvidia.com/node-a/gpu-0: it was prepared for inference/b while inference/a had it for "
            "2050 ms"
        ],
    ),
    "one-after-the-other": (
        timed(("a", "2026-11-30T10:00:00Z", "2026-11-30T10:05:00Z"), ("b", "2026-11-30T10:05:00Z", None)),
        [],
    ),
    "never-unprepared": (
        timed(("a", "2026-11-30T10:00:00Z", None), ("b", "2026-11-30T10:05:00+01:00", None)),
        [
            "double use of gpu.nvidia.com/node-a/gpu-0: it was prepared for inference/a while inference/b had it and "
            "neither is unprepared"
        ],
    ),
    "shares-are-meant-to": (
        timed(("a", "2026-11-30T10:00:00Z", None), ("b", "2026-11-30T10:05:00Z", None), share="yes"),
        [],
    ),
    "not-observed": (timed(("a", None, None), ("b", "2026-11-30T10:05:00Z", None)), []),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_a_device_is_free_only_once_it_is_unprepared(name: str) -> None:
    receipts, sentences = OVERLAPS[name]
    assert [row.sentence for row in list_overlaps([receipts])] == sentences


def test_the_later_document_knows_more_of_a_claim() -> None:
    """Before, nobody had seen it unprepared."""
    start, end = "2026-11-30T10:00:00Z", "2026-11-30T10:05:00Z"
    before, after = timed(("a", start, None)), timed(("a", start, end), ("b", "2026-11-30T10:06:00Z", None))
    assert list_overlaps([before, after]) == ()
