"""Up to which load something is admitted."""

from __future__ import annotations

from typing import Any

import pytest
from deployed import H100, LLAMA_8B, LLAMA_70B, MEASURED, constants_of, vary

from poolwright.admission.admit import admit
from poolwright.admission.thresholds import Thresholds, find_thresholds

# The 37.28 GiB of cache that a log printed are 15,269 blocks of 16 tokens: 1,526 for each of ten requests, 1,090 of 14.
CASES: dict[str, tuple[Any, Thresholds | None]] = {
    "fourteen": (
        vary(LLAMA_70B, profile=MEASURED, concurrency=10),
        Thresholds(concurrency=14, context_tokens=24416),
    ),
    "at-the-threshold": (
        vary(LLAMA_70B, profile=MEASURED, concurrency=14),
        Thresholds(concurrency=14, context_tokens=17440),
    ),
    "above-it": (vary(LLAMA_70B, profile=MEASURED, concurrency=15), None),
    # Any number of requests is admitted, and the model's positions end the context.
    "no-concurrency-declared": (
        vary(LLAMA_8B, concurrency=None),
        Thresholds(concurrency=None, context_tokens=131072),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_largest_load_that_is_admitted(name: str) -> None:
    deployment, expected = CASES[name]
    constants = constants_of(deployment)
    assert find_thresholds(deployment, H100, constants) == expected
    if expected is not None:
        more = {"context_tokens": expected.context_tokens + 16}, {"concurrency": (expected.concurrency or 0) + 1}
        for changed in more if expected.concurrency else more[:1]:
            assert admit(vary(deployment, **changed), H100, constants).word != "admitted"
