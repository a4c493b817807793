"""When a request is sent again, and after how long.

urllib3's Retry counts and backs off. It doesn't drive: it would read what a failing server sends to its end, send a
POST twice, and take GitHub's 403 for a refusal where it is a request for patience.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from urllib3.exceptions import InvalidHeader, MaxRetryError, ProtocolError
from urllib3.util import Retry

from poolwright.review.limits import Limits

_MINUTE_S: Final = 60.0  # what GitHub asks for where it names no time
_SOON_S: Final = 1.0  # its clock and ours are not one


def build_retry(limits: Limits) -> Retry:
    """The patience for one request."""
    return Retry(
        total=limits.retries, backoff_factor=limits.back_off_s, backoff_max=limits.wait_s, allowed_methods=None
    )


def count_failure(retry: Retry) -> Retry | None:
    """What is left after one more failure; None: nothing."""
    try:
        return retry.increment(method="GET", url="", error=ProtocolError())
    except MaxRetryError:
        return None


def find_pause(status: int, headers: Mapping[str, str], body: bytes, now: float) -> tuple[float, bool] | None:
    """The seconds that an answer asks to wait for, and whether the request was refused before anything was done.

    now:     seconds since 1970.
    Returns: None for an answer that waiting doesn't change.
    Source:  docs.github.com: rate limits for the REST API, exceeding the rate limit.
    """
    asked = _read_retry_after(headers)
    if status == 429:
        return asked if asked is not None else _read_reset(headers, now) or 0.0, True
    if status == 403:
        if asked is not None:
            return asked, True
        if headers.get("x-ratelimit-remaining") == "0":
            return _read_reset(headers, now) or _MINUTE_S, True
        return (_MINUTE_S, True) if b"secondary rate limit" in body else None
    return (asked or 0.0, False) if status >= 500 else None


def _read_retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("Retry-After")
    if text is None:
        return None
    try:
        return Retry().parse_retry_after(text[:64])
    except (InvalidHeader, ValueError, OverflowError):
        return None


def _read_reset(headers: Mapping[str, str], now: float) -> float | None:
    text = headers.get("x-ratelimit-reset", "")
    if not (text.isascii() and text.isdecimal()):
        return None
    return max(0.0, float(text[:12]) - now) + _SOON_S
