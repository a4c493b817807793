"""How long, how much and how often registries are asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Every bound. What reaches one has no answer."""

    silence_s: float = 10  # without a byte, and for a connection
    request_s: float = 60  # of one request with its body
    total_s: float = 180  # of everything
    parallel: int = 4  # connections at once
    redirects: int = 3  # of one request
    retries: int = 2  # of one request, after the first time
    back_off_s: float = 0.5  # before the first retry, twice as long before each next
    wait_s: float = 15  # the longest wait that a server may ask for by Retry-After
    manifest_bytes: int = 4 << 20  # what registries must take at least (OCI distribution 1.1)
    token_bytes: int = 64 << 10
    index_bytes: int = 32 << 20
    archive_bytes: int = 64 << 20


LIMITS: Final = Limits()
