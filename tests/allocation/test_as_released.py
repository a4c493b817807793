"""Where a release is wrong and a later one mends it, the answer is the mended one and says what the release gives."""

from __future__ import annotations

from case_clusters import build_shares, build_spread
from given_cluster import answer
from poolwright.allocation.answer_text import render_answer_text

SPREAD = "claim inference/spread would get node-a/dev1, node-a/dev2, node-a/dev3"


def test_the_release_would_give_other_devices() -> None:
    """1.36 compares a device of one request with the last one only: the third has the first one's NUMA node again."""
    found = answer(build_spread(), minor="1.36")
    assert [one.device for claim in found.claims if claim.allocation for one in claim.allocation.devices] == [
        "dev1",
        "dev2",
        "dev4",
    ]
    assert found.as_released == (SPREAD,)
    assert f"as released, 1.36 is mistaken: {SPREAD}" in render_answer_text(found)


def test_a_release_that_is_right_says_nothing() -> None:
    assert answer(build_spread(), minor="1.37").as_released == ()
    assert answer(build_shares(), minor="1.36").as_released == ()
