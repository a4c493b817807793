"""How long, how much and how often a server is asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Every bound. What reaches one ends the run with a reason."""

    silence_s: float = 10  # without a byte, and for a connection
    request_s: float = 60  # of one request with its answer
    total_s: float = 300  # of everything, waits included
    retries: int = 4  # of one request, after the first time
    back_off_s: float = 1  # before the first retry, about twice as long before each next
    wait_s: float = 90  # the longest single wait, also of those that a server asks for
    rounds: int = 3  # of listing comments anew after somebody else's changes or a lost answer
    answer_bytes: int = 64 << 20  # a hundred comments of 65,536 characters, each escaped
    pages: int = 100  # of one listing, a hundred entries each


LIMITS: Final = Limits()
# For every merge request of a project.
LONG: Final = replace(LIMITS, total_s=1800)
