"""How long an answer asks to wait, and whether its request was refused before anything was done."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from urllib3 import HTTPHeaderDict

from poolwright.review.limits import LIMITS
from poolwright.review.patience import build_retry, count_failure, find_pause

NOW = 1_800_000_000.0
# status, headers, body -> seconds and whether it was refused
CASES: dict[str, tuple[int, dict[str, str], bytes, tuple[float, bool] | None]] = {
    "200": (200, {"Retry-After": "9"}, b"", None),
    "404": (404, {}, b"", None),
    "429": (429, {}, b"", (0, True)),
    "429-with-a-time": (429, {"Retry-After": "9"}, b"", (9, True)),
    "in-any-case": (429, {"retry-after": "9"}, b"", (9, True)),
    "429-with-a-reset": (429, {"X-RateLimit-Reset": "1800000030"}, b"", (31, True)),
    "a-time-comes-before-a-reset": (429, {"Retry-After": "9", "x-ratelimit-reset": "1800000030"}, b"", (9, True)),
    "a-time-that-is-none": (429, {"Retry-After": "soon"}, b"", (0, True)),
    "a-date-that-has-passed": (429, {"Retry-After": formatdate(0, usegmt=True)}, b"", (0, True)),
    "a-long-time": (429, {"Retry-After": "3600"}, b"", (3600, True)),
    "403-is-a-refusal": (403, {"x-ratelimit-remaining": "4999"}, b"locked", None),
    "403-with-a-time": (403, {"Retry-After": "9"}, b"", (9, True)),
    "403-when-none-remain": (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000030"}, b"", (31, True)),
    "403-when-none-remain-and-no-reset": (403, {"x-ratelimit-remaining": "0"}, b"", (60, True)),
    "403-that-says-so": (403, {}, b"You have exceeded a secondary rate limit", (60, True)),
    # It may have been carried out.
    "502": (502, {}, b"", (0, False)),
    "503-with-a-time": (503, {"Retry-After": "9"}, b"", (9, False)),
}


@pytest.mark.parametrize("name", CASES)
def test_pauses(name: str) -> None:
    status, headers, body, pause = CASES[name]
    assert find_pause(status, HTTPHeaderDict(headers), body, NOW) == pause


def test_pauses_grow_and_come_to_an_end() -> None:
    pauses = []
    retry = count_failure(build_retry(LIMITS))
    while retry is not None:
        pauses.append(max(LIMITS.back_off_s, retry.get_backoff_time()))
        retry = count_failure(retry)
    assert pauses == [1, 2, 4, 8]
